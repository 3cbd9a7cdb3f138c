package resvecfit

import (
	"context"
	"fmt"

	"github.com/resvec/resvec/scoring/profile"
	"github.com/resvec/resvec/vector"
	"github.com/resvec/resvec/vectormap"
	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/util/sets"
	fwk "k8s.io/kube-scheduler/framework"
)

// replacement is what [TopologySpread] and [InterPodAffinity] share: they ask package
// scoring/profile, which keeps counts of pods on the table of a [Plugin].
type replacement[T verdict[T]] struct {
	handle   fwk.Handle
	name     string
	replaces profile.Plugin
	config   profile.Config
	events   *objectEvents // nil: the cluster has them

	filterKey, scoreKey fwk.StateKey

	world   *world // that profile is bound to
	profile *profile.Profile

	filters lastRead[*filterState[T]]
	scores  lastRead[*replacedScores]
	raw     []int64 // by row, of the last scores
}

// verdict is what a filter says of nodes: a [*profile.Spread] or a [*profile.Affinity].
type verdict[T any] interface {
	comparable
	Check(*corev1.Node) profile.Reason
	Move(node *corev1.Node, pod *corev1.Pod, sign int)
	Clone() T
}

// filterState is a verdict that pods are moved in on trial.
type filterState[T verdict[T]] struct{ verdict T }

// Clone returns a copy that is moved by itself.
func (s *filterState[T]) Clone() fwk.StateData { return &filterState[T]{s.verdict.Clone()} }

// replacedScores says which raw scores belong to a cycle.
type replacedScores struct {
	cluster *cluster
	version uint64
	rows    *vector.Mask     // that are scored
	leftOut sets.Set[string] // nodes of these that the plugin doesn't score
}

// Clone returns s.
func (s *replacedScores) Clone() fwk.StateData { return s }

// newReplacement checks a configuration and follows what selects pods.
func newReplacement[T verdict[T]](handle fwk.Handle, name string, replaces profile.Plugin,
	config profile.Config) (replacement[T], error) {
	r := replacement[T]{handle: handle, name: name, replaces: replaces, config: config}
	r.filterKey, r.scoreKey = fwk.StateKey("PreFilter"+name), fwk.StateKey("PreScore"+name)
	// Faults are found now, not in the first cycle.
	if _, err := profile.Bind(config, profile.NewCluster(vector.NewNodes(vector.Schema{}, 1))); err != nil {
		return r, vectormap.Faults(nil, err).ToAggregate()
	}
	var err error
	r.events, err = newObjectEvents(handle)
	return r, err
}

// Name returns the name of the plugin in the configuration of kube-scheduler.
func (r *replacement[T]) Name() string { return r.name }

// begin brings the profile in step with the snapshot of a cycle.
func (r *replacement[T]) begin(cycle fwk.CycleState) (*cluster, error) {
	var none lastRead[*state]
	s, err := none.read(cycle, stateKey)
	if err != nil {
		return nil, fmt.Errorf("%s needs %s before it at preFilter: %w", r.name, Name, err)
	}
	p := s.plugin
	if r.events != nil {
		if err := p.cluster.keepObjects(r.events); err != nil {
			return nil, err
		}
		r.events, p.shared = nil, true
	}
	if s.behind { // in the first cycle only: from now on PreFilter brings all rows in step
		nodes, err := r.handle.SnapshotSharedLister().NodeInfos().List()
		if err != nil {
			return nil, err
		}
		if err := p.refresh(nodes); err != nil {
			return nil, err
		}
	}
	w := p.cluster.world
	if err := w.apply(); err != nil {
		return nil, err
	}
	if r.world != w {
		if r.profile, err = w.profile(r.config); err != nil {
			return nil, err
		}
		r.world = w
	}
	return p.cluster, nil
}

// preFilter asks for the verdict about a pod, and skips one of which there is none.
func (r *replacement[T]) preFilter(cycle fwk.CycleState, pod *corev1.Pod,
	ask func(*profile.Profile, *corev1.Pod) (T, error)) *fwk.Status {
	if _, err := r.begin(cycle); err != nil {
		return fwk.AsStatus(err)
	}
	var none T
	switch v, err := ask(r.profile, pod); {
	case err != nil:
		return fwk.AsStatus(err)
	case v == none:
		return fwk.NewStatus(fwk.Skip)
	default:
		s := &filterState[T]{v}
		cycle.Write(r.filterKey, s)
		r.filters.set(cycle, s)
		return nil
	}
}

// Filter says whether the plugin that is replaced accepts a node, with its code and reason.
func (r *replacement[T]) Filter(_ context.Context, cycle fwk.CycleState, _ *corev1.Pod, node fwk.NodeInfo) *fwk.Status {
	s, err := r.filters.read(cycle, r.filterKey)
	if err != nil {
		return fwk.AsStatus(err)
	}
	switch why := s.verdict.Check(node.Node()); {
	case why == profile.Fits:
		return nil
	case why.Resolvable():
		return fwk.NewStatus(fwk.Unschedulable, why.String())
	default:
		return fwk.NewStatus(fwk.UnschedulableAndUnresolvable, why.String())
	}
}

// PreFilterExtensions returns the plugin.
func (r *replacement[T]) PreFilterExtensions() fwk.PreFilterExtensions { return r }

// AddPod adds a pod to a node on trial.
func (r *replacement[T]) AddPod(_ context.Context, cycle fwk.CycleState, _ *corev1.Pod, pod fwk.PodInfo,
	node fwk.NodeInfo) *fwk.Status {
	return r.move(cycle, pod, node, 1)
}

// RemovePod removes a pod from a node on trial.
func (r *replacement[T]) RemovePod(_ context.Context, cycle fwk.CycleState, _ *corev1.Pod, pod fwk.PodInfo,
	node fwk.NodeInfo) *fwk.Status {
	return r.move(cycle, pod, node, -1)
}

func (r *replacement[T]) move(cycle fwk.CycleState, pod fwk.PodInfo, node fwk.NodeInfo, sign int) *fwk.Status {
	s, err := r.filters.read(cycle, r.filterKey)
	if err != nil {
		return fwk.AsStatus(err)
	}
	s.verdict.Move(node.Node(), pod.GetPod(), sign)
	return nil
}

// preScore scores nodes, and skips a pod that the plugin has nothing to say of.
func (r *replacement[T]) preScore(cycle fwk.CycleState, pod *corev1.Pod, nodes []fwk.NodeInfo) *fwk.Status {
	c, err := r.begin(cycle)
	if err != nil {
		return fwk.AsStatus(err)
	}
	rows, all := c.rowsOf(nodes)
	if !all {
		return fwk.NewStatus(fwk.Error, "a node is scored that was not in the snapshot at preFilter")
	}
	if n := len(c.nodes); len(r.raw) < n {
		r.raw = make([]int64, n)
	}
	scored, err := r.profile.RawScores(r.raw, r.replaces, pod, rows)
	switch {
	case err != nil:
		return fwk.AsStatus(err)
	case !scored:
		return fwk.NewStatus(fwk.Skip)
	}
	s := &replacedScores{cluster: c, version: c.version, rows: rows}
	for row := range rows.All() {
		if r.raw[row] == profile.Unscored {
			if s.leftOut == nil {
				s.leftOut = sets.New[string]()
			}
			s.leftOut.Insert(c.names.Name(row))
			r.raw[row] = 0
		}
	}
	cycle.Write(r.scoreKey, s)
	r.scores.set(cycle, s)
	return nil
}

// Score returns the raw score of a node, which PreScore has found out.
func (r *replacement[T]) Score(_ context.Context, cycle fwk.CycleState, _ *corev1.Pod, node fwk.NodeInfo) (
	int64, *fwk.Status) {
	s, err := r.scores.read(cycle, r.scoreKey)
	if err != nil {
		return 0, fwk.AsStatus(err)
	}
	if row, ok := s.cluster.rowOf(node); ok && s == r.scores.value && s.version == s.cluster.version && s.rows.Test(row) {
		return r.raw[row], nil
	}
	return 0, fwk.NewStatus(fwk.Error, "a node is scored that PreScore was not given")
}

// ScoreExtensions returns the plugin.
func (r *replacement[T]) ScoreExtensions() fwk.ScoreExtensions { return r }

// NormalizeScore replaces raw scores by scores from 0 to 100.
func (r *replacement[T]) NormalizeScore(_ context.Context, cycle fwk.CycleState, _ *corev1.Pod,
	scores fwk.NodeScoreList) *fwk.Status {
	s, err := r.scores.read(cycle, r.scoreKey)
	if err != nil {
		return fwk.AsStatus(err)
	}
	list := make([]int64, len(scores))
	for i := range scores {
		if list[i] = scores[i].Score; s.leftOut.Has(scores[i].Name) {
			list[i] = profile.Unscored
		}
	}
	profile.Normalize(r.replaces, list)
	for i := range scores {
		scores[i].Score = list[i]
	}
	return nil
}

// warnings returns the likely mistakes of a profile about the plugin.
func (r *replacement[T]) warnings(l *lists) []string {
	points := map[string]point{"preFilter": l.PreFilter, "filter": l.Filter, "preScore": l.PreScore, "score": l.Score}
	warnings := twice(points, r.name, string(r.replaces))
	own, fit := l.PreFilter.find(r.name), l.PreFilter.find(Name)
	switch {
	case fit < 0 || own >= 0 && own < fit:
		warnings = append(warnings, fmt.Sprintf("%s needs %s at preFilter before it, where it is not enabled: "+
			"every pod will fail", r.name, Name))
	case l.Filter.has(r.name) && own < 0:
		warnings = append(warnings, r.name+" is enabled at filter, but not at preFilter: every pod will fail")
	}
	if l.Score.has(r.name) && !l.PreScore.has(r.name) {
		warnings = append(warnings, r.name+" is enabled at score, but not at preScore: every pod will fail")
	}
	return warnings
}

// warn logs the warnings, once, when the scheduler starts.
func (r *replacement[T]) warn(ctx context.Context) {
	if l := listsOf(r.handle); l != nil {
		warn(ctx, r.name, r.warnings(l))
	}
}
