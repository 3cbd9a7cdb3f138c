package resvecfit

import (
	"context"
	"fmt"
	"math"

	"github.com/resvec/resvec/scoring"
	"github.com/resvec/resvec/vector"
	"github.com/resvec/resvec/vectormap"
	corev1 "k8s.io/api/core/v1"
	fwk "k8s.io/kube-scheduler/framework"
)

// scorer scores nodes by terms: what the plugins [Plugin] and [Balanced] share. It
// holds the scores of one cycle at a time.
type scorer struct {
	handle   fwk.Handle
	key      fwk.StateKey // of the state of a cycle
	podLevel bool
	terms    []term

	cluster *cluster                     // that bound is bound to
	m       *vectormap.ResourceVectorMap // that the terms are compiled against
	bound   *scoring.Bound
	whole   *scoring.Kube // the only term, if that is one of kube-scheduler's
	own     bool          // annotations of a pod can change its scores

	last   lastRead[*scoreState]
	scores []int64 // by row
	sums   []float64
}

// compile compiles the terms against the map of a cluster and binds them to its nodes,
// unless that is done.
func (s *scorer) compile(c *cluster) error {
	if s.cluster == c && s.m == c.m {
		return nil
	}
	var terms []scoring.Term
	s.whole, s.own = nil, false
	for i := range s.terms {
		t := &s.terms[i]
		compiled, err := t.compile(c.m)
		if err != nil {
			return fmt.Errorf("compiling scoring[%d]: %w", i, err)
		}
		weight := float64(t.weight)
		switch k := compiled.(type) {
		case *scoring.Strategy:
			s.own = true
		case *scoring.Kube:
			if len(s.terms) == 1 && t.normalize == "" {
				s.whole, weight = k, 1
			}
		}
		terms = append(terms, scoring.Term{Scorer: compiled, Weight: weight, Normalize: t.normalize, Scored: t.scored})
	}
	sum, err := scoring.Combine(terms)
	if err != nil {
		return err
	}
	s.bound, s.cluster, s.m = scoring.Bind(sum, c.table), c, c.m
	return nil
}

// names returns the resources that the terms name.
func (s *scorer) names() []string {
	var names []string
	for i := range s.terms {
		names = append(names, s.terms[i].names...)
	}
	return names
}

// boundFor returns the scores of a pod, which may bring its own rules.
// Annotations that are wrong make the pod score 0, as in Volcano.
func (s *scorer) boundFor(pod *corev1.Pod) (*scoring.Bound, error) {
	if !s.own {
		return s.bound, nil
	}
	override, _, err := scoring.ParsePodOverride(pod.Annotations, s.m, scoring.Lenient)
	if err != nil {
		return nil, err
	}
	return s.bound.WithOverride(override), nil
}

// score sets s.scores of the given rows.
func (s *scorer) score(c *cluster, pod *corev1.Pod, rows *vector.Mask) error {
	n := len(c.nodes)
	if len(s.scores) < n {
		s.scores, s.sums = make([]int64, n), make([]float64, n)
	}
	amounts := s.podAmounts(c, pod)
	if s.whole != nil {
		if err := s.bound.ScorePercent(s.scores, amounts, rows); err != nil {
			return err
		}
		return s.scoreLarge(c, amounts, rows)
	}
	bound, err := s.boundFor(pod)
	if err != nil {
		return err
	}
	if err := bound.Score(s.sums, amounts, rows); err != nil {
		return err
	}
	weights := 0.0
	for i := range s.terms {
		weights += float64(s.terms[i].weight)
	}
	for row := range rows.All() {
		s.scores[row] = wholeScore(s.sums[row] / weights)
	}
	return nil
}

// scoreLarge scores the nodes with amounts that the table does not have.
func (s *scorer) scoreLarge(c *cluster, amounts vector.PodAmounts, rows *vector.Mask) error {
	for name, node := range c.large {
		row, _ := c.names.Row(name)
		if !rows.Test(row) {
			continue
		}
		var err error
		if s.scores[row], err = s.scoreOne(c, amounts, node); err != nil {
			return err
		}
	}
	return nil
}

// wholeScore returns a score as kube-scheduler wants it.
func wholeScore(score float64) int64 {
	if math.IsNaN(score) {
		return fwk.MinScore
	}
	return int64(min(max(score, float64(fwk.MinScore)), float64(fwk.MaxScore)))
}

// scoreState says which scores belong to a cycle.
type scoreState struct {
	cluster *cluster
	version uint64       // of the cluster
	rows    *vector.Mask // that are scored
	scores  []int64      // by row

	// added are the scores that have been added, less what the least sum was.
	added *scorer
	least int64
}

// Clone returns s.
func (s *scoreState) Clone() fwk.StateData { return s }

// add adds the scores that another scorer has for the same rows, less the least
// sum. It reports false, and adds nothing, when the sums then aren't all scores.
func (s *scoreState) add(other *scorer) bool {
	if s.rows != other.last.value.rows || s.version != other.last.value.version || !s.rows.Any() {
		return false
	}
	least, most := int64(math.MaxInt64), int64(math.MinInt64)
	for row := range s.rows.All() {
		sum := s.scores[row] + other.scores[row]
		least, most = min(least, sum), max(most, sum)
	}
	if most-least > fwk.MaxScore-fwk.MinScore {
		return false
	}
	for row := range s.rows.All() {
		s.scores[row] += other.scores[row] - least + fwk.MinScore
	}
	s.added, s.least = other, least
	return true
}

// rowsToScore returns rows that include the rows of the nodes, as far as they are known.
// It returns the same for all who ask while the table stays as it is.
func (s *state) rowsToScore(nodes []fwk.NodeInfo) *vector.Mask {
	c := s.plugin.cluster
	if s.version == c.version && s.fits.Count() <= 4*len(nodes) {
		return &s.fits // finding the rows of the nodes would take longer
	}
	if s.scored == nil || s.scoredVersion != c.version {
		s.scored, _ = c.rowsOf(nodes)
		s.scoredVersion = c.version
	}
	return s.scored
}

// preScore scores rows of a cycle.
func (s *scorer) preScore(c *cluster, cycle fwk.CycleState, pod *corev1.Pod, rows *vector.Mask) error {
	if err := s.score(c, pod, rows); err != nil {
		return err
	}
	state := &scoreState{cluster: c, version: c.version, rows: rows, scores: s.scores}
	cycle.Write(s.key, state)
	s.last.set(cycle, state)
	return nil
}

// lookUp returns the score of a node. Where preScore has not scored it, it is
// scored by itself, if that is possible.
func (s *scorer) lookUp(cycle fwk.CycleState, pod *corev1.Pod, node fwk.NodeInfo) (int64, *fwk.Status) {
	state, err := s.last.read(cycle, s.key)
	if err == nil && state == s.last.value && state.version == state.cluster.version {
		if row, ok := state.cluster.rowOf(node); ok && state.rows.Test(row) {
			return s.scores[row], nil
		}
	}
	if err != nil || s.whole == nil {
		return 0, fwk.NewStatus(fwk.Error, "a node is scored that PreScore was not given")
	}
	c := state.cluster
	score, err := s.scoreOne(c, s.podAmounts(c, pod), node)
	if err == nil && state.added != nil {
		var more int64
		more, err = state.added.scoreOne(c, state.added.podAmounts(c, pod), node)
		score = min(max(score+more-state.least+fwk.MinScore, fwk.MinScore), fwk.MaxScore)
	}
	return score, fwk.AsStatus(err)
}

// scoreOne returns the score of a node by s.whole.
func (s *scorer) scoreOne(c *cluster, pod vector.PodAmounts, node fwk.NodeInfo) (int64, error) {
	v, n := c.amountsOf(node), s.m.Len()
	request, requested := pod.Requested, v.Requested
	if s.terms[0].scored {
		request, requested = pod.Scored, v.Scored
	}
	score, err := s.whole.Score(request[:n], requested[:n], v.Allocatable[:n])
	return int64(score), err
}

// PreScore scores all nodes that can hold the pod.
func (p *Plugin) PreScore(_ context.Context, cycle fwk.CycleState, pod *corev1.Pod, nodes []fwk.NodeInfo) *fwk.Status {
	c := p.cluster
	s, err := p.last.read(cycle, stateKey)
	if err == nil {
		if err := p.beforeScores(s); err != nil {
			return fwk.AsStatus(err)
		}
		if err := p.compile(); err != nil { // another plugin may have widened the map
			return fwk.AsStatus(err)
		}
		if p.scorer.whole != nil {
			return fwk.AsStatus(p.scorer.preScore(c, cycle, pod, s.rowsToScore(nodes)))
		}
	}
	// Some scores depend on which other nodes there are; or the plugin is not enabled at
	// preFilter.
	rows, all := c.rowsOf(nodes)
	if !all {
		snapshot, err := p.handle.SnapshotSharedLister().NodeInfos().List()
		if err != nil {
			return fwk.AsStatus(err)
		}
		if err := p.refresh(snapshot); err != nil {
			return fwk.AsStatus(err)
		}
		rows, _ = c.rowsOf(nodes)
	}
	return fwk.AsStatus(p.scorer.preScore(c, cycle, pod, rows))
}

// Score returns what PreScore found out.
func (p *Plugin) Score(_ context.Context, cycle fwk.CycleState, pod *corev1.Pod, node fwk.NodeInfo) (int64, *fwk.Status) {
	return p.scorer.lookUp(cycle, pod, node)
}

// ScoreExtensions returns nil: scores are from 0 to 100 already.
func (p *Plugin) ScoreExtensions() fwk.ScoreExtensions { return nil }
