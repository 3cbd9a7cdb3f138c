package profile

import (
	"container/list"
	"fmt"

	"github.com/resvec/resvec/vector"
	corev1 "k8s.io/api/core/v1"
)

// Profile answers what kube-scheduler's default profile says of all nodes of a cluster, for
// one pod after another. It is made by [Bind].
//
// It keeps columns by row. Pods share a column where a plugin looks at the same of them. A
// question updates the rows that have changed. What was used least recently is forgotten, see
// [Profile.LimitCache].
//
// One goroutine uses a Profile: the one that writes the cluster. Others bind their own to a
// copy of the cluster ([Cluster.Snapshot]).
type Profile struct {
	cluster  *Cluster
	settings settings
	terms    []Term

	aspects map[string]aspect
	shapes  map[string]*shape
	order   list.List // of shapes, the one used last in front
	bytes   int64
	limit   int64
	epoch   uint64 // moves with each question
	buffer  keyBuffer

	base  affinityAspect  // nodes that are known
	known *vector.Mask    // of base
	added *affinityAspect // Config.AddedAffinity's; nil: none

	work workspace
}

// Question is what a Profile is asked: about which pod, and which rows. Plugins read the
// pod, which must not be nil; [vector.Fit] and scores of resources read its amounts: those
// of vectormap's PodRequestBoth, since scores count another request. Empty amounts request
// nothing. A pod that is on a row already counts there: ask before [Cluster.Assume].
type Question struct {
	Pod     *corev1.Pod
	Amounts vector.PodAmounts
	Rows    *vector.Mask // the rows that are selected; nil: all
}

// cacheBytes is the default of [Profile.LimitCache].
const cacheBytes = 256 << 20

// Bind binds a configuration to a cluster, and scores of resources of its nodes. Without
// terms no resource is scored; kube-scheduler's default is [DefaultTerms]. The error has all
// faults of the configuration, each a *field.Error.
func Bind(cfg Config, cluster *Cluster, terms ...Term) (*Profile, error) {
	set, faults := cfg.check()
	faults = append(faults, checkTerms(terms)...)
	if len(faults) > 0 {
		return nil, fmt.Errorf("profile: %w", faults.ToAggregate())
	}
	p := &Profile{
		cluster: cluster, settings: set, terms: terms, limit: cacheBytes,
		aspects: map[string]aspect{}, shapes: map[string]*shape{},
	}
	p.known = &p.base.match
	if set.added != nil {
		p.added = &affinityAspect{required: set.added.Match}
	}
	return p, nil
}

// Rebind replaces the scores of resources: after [vector.Nodes.Widen] they are of another
// map. What is kept stays. Terms that Bind would refuse panic.
func (p *Profile) Rebind(terms ...Term) {
	if len(checkTerms(terms)) > 0 {
		panic(panicTerms)
	}
	p.terms = terms
}

// LimitCache limits what is kept, in bytes; the default is 256 MiB. What the last pod needs
// is always kept.
func (p *Profile) LimitCache(bytes int64) {
	p.limit = bytes
	p.evict()
}

// Kept returns the number of shapes of pods that are kept, and about how many bytes they take.
func (p *Profile) Kept() (shapes int, bytes int64) { return len(p.shapes), p.bytes }

const (
	panicMask  = "profile: mask of another number of rows than the nodes"
	panicTerms = "profile: term without scores, or with a weight out of range"
	panicDst   = "profile: dst has too few elements"
)

// workspace is the working memory of a question.
type workspace struct {
	fits   vector.Mask
	totals []int64
	raw    []int64
	table  []int64
	dense  []int64

	// Of spreadScores: the rows that are scored, by row, by domain.
	scored  vector.Mask
	sums    []float64
	domains []float64
	seen    []uint64
}

// begin brings what is known in step, and returns the shape of a pod.
func (p *Profile) begin(pod *corev1.Pod) (*shape, error) {
	p.cluster.align()
	p.epoch++
	p.bring(&p.base)
	if p.added != nil {
		p.bring(p.added)
	}
	return p.shapeOf(pod)
}

// ask begins a question about rows, and sets work.fits to those that are feasible.
func (p *Profile) ask(q Question) (*shape, error) {
	if q.Rows != nil && q.Rows.Len() != p.cluster.nodes.Len() {
		panic(panicMask)
	}
	s, err := p.begin(q.Pod)
	if err != nil {
		return nil, err
	}
	fits := &p.work.fits
	vector.FitAmong(fits, p.cluster.nodes.Free(), q.Amounts.Requested, q.Rows)
	p.feasible(fits, s, q.Pod)
	return s, nil
}

// Feasible sets dst to the selected rows on which all filters admit the pod: its amounts
// fit by [vector.Fit], and NodeUnschedulable, NodeName, TaintToleration, NodeAffinity,
// NodePorts, PodTopologySpread and InterPodAffinity accept the node. A row without
// a node object is not feasible. A pod with terms or constraints that can't be parsed is
// an error that names the field.
func (p *Profile) Feasible(dst *vector.Mask, q Question) error {
	if _, err := p.ask(q); err != nil {
		return err
	}
	dst.CopyFrom(&p.work.fits)
	return nil
}

// Totals sets feasible as [Profile.Feasible] does, and dst[r] for every feasible row r to
// what kube-scheduler sums up: the scores of all plugins, each normalized over the
// feasible rows, times their weights. Other elements of dst are not touched; it has an
// element a row at least. Errors are those of Feasible and of the scores of resources.
func (p *Profile) Totals(dst []int64, feasible *vector.Mask, q Question) error {
	n := p.cluster.nodes.Len()
	if len(dst) < n {
		panic(panicDst)
	}
	s, err := p.ask(q)
	if err != nil {
		return err
	}
	if err := p.total(s, q.Amounts); err != nil {
		return err
	}
	feasible.CopyFrom(&p.work.fits)
	for r := range feasible.All() {
		dst[r] = p.work.totals[r]
	}
	return nil
}

// Best returns the feasible row with the highest total, ties by tie, and whether there is a
// feasible row. Errors are those of [Profile.Totals].
func (p *Profile) Best(q Question, tie vector.Tie) (row int, ok bool, err error) {
	s, err := p.ask(q)
	if err != nil || !p.work.fits.Any() {
		return -1, false, err
	}
	if err := p.total(s, q.Amounts); err != nil {
		return -1, false, err
	}
	row = vector.ArgMax(p.work.totals, &p.work.fits, tie)
	return row, row >= 0, nil
}

// TopK sets dst to the k feasible rows with the highest totals, the best first, ties by tie,
// and returns it; there are fewer where fewer are feasible. Errors are those of [Profile.Totals].
func (p *Profile) TopK(dst []int32, q Question, k int, tie vector.Tie) ([]int32, error) {
	s, err := p.ask(q)
	if err != nil {
		return dst[:0], err
	}
	if err := p.total(s, q.Amounts); err != nil {
		return dst[:0], err
	}
	return vector.TopK(dst, p.work.totals, &p.work.fits, k, tie), nil
}
