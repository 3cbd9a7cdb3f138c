package profile

import (
	"github.com/resvec/resvec/vector"
	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/labels"
	schedulinghelpers "k8s.io/component-helpers/scheduling/corev1"
	"k8s.io/component-helpers/scheduling/corev1/nodeaffinity"
	"k8s.io/klog/v2"
)

// An aspect is a column by row of one thing that plugins look at. Shapes of pods share it
// where it is the same for them.
type aspect interface {
	// update brings the aspect in step with the cluster. What it depends on is in step.
	update(p *Profile)

	// bytes returns about how much memory it takes.
	bytes() int64

	shared() *sharedAspect
}

// sharedAspect is what is kept of every aspect.
type sharedAspect struct {
	key   string
	refs  int
	uses  []aspect // that it depends on
	size  int64    // in bytes, as counted last
	epoch uint64   // of the question that it was brought in step for
	as    uint64   // the version of the log that it is in step with
	begun bool
}

// acquire returns the aspect of a key, and makes it where there is none.
func acquire[T aspect](p *Profile, key string, create func() T) T {
	if a, ok := p.aspects[key]; ok {
		a.shared().refs++
		return a.(T)
	}
	a := create()
	s := a.shared()
	s.key, s.refs = key, 1
	p.aspects[key] = a
	return a
}

// share makes an aspect depend on one that is held already, which stays as long.
func (s *sharedAspect) share(a aspect) {
	a.shared().refs++
	s.uses = append(s.uses, a)
}

// release is the reverse of acquire.
func (p *Profile) release(a aspect) {
	s := a.shared()
	if s.refs--; s.refs > 0 {
		return
	}
	delete(p.aspects, s.key)
	p.bytes -= s.size
	for _, u := range s.uses {
		p.release(u)
	}
}

// smallBytes is about what an aspect or a shape takes besides what it counts: pods that all
// have a label of their own must not fill the memory of a small cluster either.
const smallBytes = 1 << 9

// bring brings an aspect in step, and before it what it depends on.
func (p *Profile) bring(a aspect) {
	s := a.shared()
	if s.epoch == p.epoch {
		return
	}
	s.epoch = p.epoch
	for _, u := range s.uses {
		p.bring(u)
	}
	a.update(p)
	size := a.bytes() + smallBytes + int64(len(s.key))
	p.bytes += size - s.size
	s.size = size
}

func (s *sharedAspect) shared() *sharedAspect { return s }

// stale calls each for the rows that may have changed since the last time, all of them the
// first time.
func (s *sharedAspect) stale(log *rowLog, rows int, each func(r int)) {
	changed, all := log.since(s.as)
	if s.as = log.version; all || !s.begun {
		s.begun = true
		for r := range rows {
			each(r)
		}
		return
	}
	for _, r := range changed {
		if int(r) < rows {
			each(int(r))
		}
	}
}

// keyColumn has the values of a label by row. Values are numbered, "" is 0.
type keyColumn struct {
	sharedAspect
	name   string
	values []int32 // missing where the node has no such label
	ids    map[string]int32
	round  int // moves when values are numbered anew
}

const missing = -1

func (k *keyColumn) bytes() int64 { return int64(4*len(k.values) + 48*len(k.ids)) }

func (k *keyColumn) update(p *Profile) {
	rows := p.cluster.rows
	// Values of nodes that are gone stay numbered; when most are, the numbers begin again, but
	// only with a change, until which a Spread and an Affinity hold.
	if k.ids == nil || len(k.ids) > 64+2*len(rows) && k.as != p.cluster.facts.version {
		k.ids, k.begun = map[string]int32{"": 0}, false
		k.round++
	}
	k.values = resized(k.values, len(rows))
	k.stale(&p.cluster.facts, len(rows), func(r int) {
		k.values[r] = missing
		if row := rows[r]; row != nil && row.node != nil {
			if value, ok := row.node.Labels[k.name]; ok {
				k.values[r] = k.id(value)
			}
		}
	})
}

// column acquires the column of a label.
func (p *Profile) column(name string) *keyColumn {
	return acquire(p, "key "+name, func() *keyColumn { return &keyColumn{name: name} })
}

// id returns the number of a value, and gives it one.
func (k *keyColumn) id(value string) int32 {
	id, ok := k.ids[value]
	if !ok {
		id = int32(len(k.ids))
		k.ids[value] = id
	}
	return id
}

// affinityAspect says which nodes a selector and node affinity select, and how far nodes
// are preferred.
type affinityAspect struct {
	sharedAspect
	required  func(*corev1.Node) bool // nil: all
	preferred func(*corev1.Node) int64

	match vector.Mask
	raw   []int64 // nil: nothing is preferred
}

func (a *affinityAspect) bytes() int64 { return int64(a.match.Len()/8 + 8*len(a.raw)) }

func (a *affinityAspect) update(p *Profile) {
	rows := p.cluster.rows
	resizeMask(&a.match, len(rows))
	if a.preferred != nil {
		a.raw = resized(a.raw, len(rows))
	}
	a.stale(&p.cluster.facts, len(rows), func(r int) {
		row := rows[r]
		known := row != nil && row.node != nil
		put(&a.match, r, known && (a.required == nil || a.required(row.node)))
		if a.preferred != nil {
			a.raw[r] = 0
			if known {
				a.raw[r] = a.preferred(row.node)
			}
		}
	})
}

// requiredAffinity returns whether a pod's selector and required affinity select a node.
// Terms that can't be parsed match no node, as in kube-scheduler.
func requiredAffinity(pod *corev1.Pod) func(*corev1.Node) bool {
	required := nodeaffinity.GetRequiredNodeAffinity(pod)
	return func(n *corev1.Node) bool {
		ok, _ := required.Match(n)
		return ok
	}
}

// taintAspect says which nodes tolerations allow, and how many taints of PreferNoSchedule
// they don't tolerate.
type taintAspect struct {
	sharedAspect
	tolerations []corev1.Toleration
	preferring  []corev1.Toleration // those that can tolerate PreferNoSchedule

	schedulable vector.Mask // by the node's unschedulable
	tolerated   vector.Mask // by its taints
	both        vector.Mask
	raw         []int64
	preferred   int // rows where raw isn't 0
}

func (a *taintAspect) bytes() int64 { return int64(3*a.both.Len()/8 + 8*len(a.raw)) }

var unschedulableTaint = corev1.Taint{Key: corev1.TaintNodeUnschedulable, Effect: corev1.TaintEffectNoSchedule}

func (a *taintAspect) update(p *Profile) {
	rows := p.cluster.rows
	if len(rows) < len(a.raw) {
		for _, x := range a.raw[len(rows):] {
			if x != 0 {
				a.preferred--
			}
		}
	}
	a.raw = resized(a.raw, len(rows))
	for _, m := range []*vector.Mask{&a.schedulable, &a.tolerated, &a.both} {
		resizeMask(m, len(rows))
	}
	a.stale(&p.cluster.facts, len(rows), func(r int) {
		if a.raw[r] != 0 {
			a.preferred--
		}
		a.raw[r] = 0
		row := rows[r]
		known := row != nil && row.node != nil
		schedulable := known && (!row.node.Spec.Unschedulable || tolerates(p, a.tolerations, &unschedulableTaint))
		tolerated := known && a.allows(p, row.node.Spec.Taints)
		put(&a.schedulable, r, schedulable)
		put(&a.tolerated, r, tolerated)
		put(&a.both, r, schedulable && tolerated)
		if !known {
			return
		}
		for i := range row.node.Spec.Taints {
			t := &row.node.Spec.Taints[i]
			if t.Effect == corev1.TaintEffectPreferNoSchedule && !tolerates(p, a.preferring, t) {
				a.raw[r]++
			}
		}
		if a.raw[r] != 0 {
			a.preferred++
		}
	})
}

// allows reports whether taints of NoSchedule and NoExecute are tolerated.
func (a *taintAspect) allows(p *Profile, taints []corev1.Taint) bool {
	for i := range taints {
		t := &taints[i]
		rejects := t.Effect == corev1.TaintEffectNoSchedule || t.Effect == corev1.TaintEffectNoExecute
		if rejects && !tolerates(p, a.tolerations, t) {
			return false
		}
	}
	return true
}

func tolerates(p *Profile, tolerations []corev1.Toleration, t *corev1.Taint) bool {
	return schedulinghelpers.TolerationsTolerateTaint(klog.Logger{}, tolerations, t, p.settings.comparisons)
}

// imageAspect has the scores of images.
type imageAspect struct {
	sharedAspect
	images []string // as nodes name them, one as often as the pod has it
	number int64    // by which the score is divided

	scores []int64
	scored int // rows where they aren't 0
	nodes  int // of which the scores are
	counts []int
}

func (a *imageAspect) bytes() int64 { return int64(8 * len(a.scores)) }

const (
	imageMin = 23 << 20
	imageMax = 1000 << 20 // for each image
)

func (a *imageAspect) update(p *Profile) {
	c := p.cluster
	known := p.known.Count()
	moved := known != a.nodes
	for i, name := range a.images {
		moved = moved || a.counts[i] != c.images[name]
		a.counts[i] = c.images[name]
	}
	if a.nodes = known; moved {
		a.begun = false
	}
	if len(c.rows) < len(a.scores) {
		for _, x := range a.scores[len(c.rows):] {
			if x != 0 {
				a.scored--
			}
		}
	}
	a.scores = resized(a.scores, len(c.rows))
	a.stale(&c.changed, len(c.rows), func(r int) {
		if a.scores[r] != 0 {
			a.scored--
		}
		if a.scores[r] = a.score(c, c.rows[r]); a.scores[r] != 0 {
			a.scored++
		}
	})
}

func (a *imageAspect) score(c *Cluster, r *row) int64 {
	if r == nil || r.node == nil {
		return 0
	}
	var sum int64
	for _, name := range a.images {
		if size, nodes, ok := c.imageState(r, name); ok {
			spread := float64(nodes) / float64(a.nodes)
			sum += int64(float64(size) * spread)
		}
	}
	most := imageMax * a.number // 0 for volumes alone, of v1.36
	if sum < imageMin {
		return 0
	}
	return 100 * (min(sum, most) - imageMin) / (most - imageMin)
}

// countAspect counts the pods that a selector selects.
type countAspect struct {
	sharedAspect
	selects     func(*class) bool
	terminating bool // pods that are being deleted count, too

	counts  []int32
	classes []classVerdict // by id
}

type classVerdict struct {
	class    *class // nil: not known
	selected bool
}

func (a *countAspect) bytes() int64 { return int64(4*len(a.counts) + 16*len(a.classes)) }

func (a *countAspect) update(p *Profile) {
	rows := p.cluster.rows
	a.counts = resized(a.counts, len(rows))
	a.stale(&p.cluster.changed, len(rows), func(r int) { a.counts[r] = a.count(rows[r]) })
}

func (a *countAspect) count(r *row) (n int32) {
	if r == nil || r.node == nil {
		return 0
	}
	for i := range r.classes {
		c := &r.classes[i]
		if !a.selected(c.class) {
			continue
		}
		if n += c.all; !a.terminating {
			n -= c.terminating
		}
	}
	return n
}

// selected is selects, asked once for each class.
func (a *countAspect) selected(c *class) bool {
	if int(c.id) >= len(a.classes) {
		a.classes = append(a.classes, make([]classVerdict, int(c.id)+1-len(a.classes))...)
	}
	v := &a.classes[c.id]
	if v.class != c { // ids are used again
		*v = classVerdict{c, a.selects(c)}
	}
	return v.selected
}

// sumAspect sums up counts by domain: the nodes that have one value of a label.
type sumAspect struct {
	sharedAspect
	count    *countAspect
	key      *keyColumn
	keys     []*keyColumn    // a node counts only if it has them all
	affinity *affinityAspect // and if it is selected; nil: all
	taints   *taintAspect    // and if its taints are tolerated; nil: all
	lacking  bool            // nodes without the label are of the domain ""

	at    []int32 // the domain that a row is counted in, or missing
	in    []int32 // and how much
	sums  []int64 // by domain
	nodes []int32 // by domain: rows that count
	round int     // of key
	total int64

	// The least two sums of domains that have nodes, and how many those are.
	least   [2]domainSum
	domains int
}

type domainSum struct {
	domain int32 // missing: there is none
	sum    int64
}

func (a *sumAspect) bytes() int64 { return int64(8*len(a.at) + 12*len(a.sums)) }

func (a *sumAspect) update(p *Profile) {
	rows := len(p.cluster.rows)
	if a.round != a.key.round {
		a.at, a.in, a.begun = a.at[:0], a.in[:0], false
		clear(a.sums)
		clear(a.nodes)
		a.round, a.total = a.key.round, 0
	}
	moved := false
	for r := rows; r < len(a.at); r++ {
		a.remove(r)
		moved = true
	}
	for old := len(a.at); old < rows; old++ {
		a.at, a.in = append(a.at, missing), append(a.in, 0)
	}
	a.at, a.in = a.at[:rows], a.in[:rows]
	if n := len(a.key.ids); n > len(a.sums) {
		a.sums = append(a.sums, make([]int64, n-len(a.sums))...)
		a.nodes = append(a.nodes, make([]int32, n-len(a.nodes))...)
	}
	a.stale(&p.cluster.changed, rows, func(r int) {
		domain := a.domain(p, r)
		if a.at[r] == domain && (domain == missing || a.in[r] == a.count.counts[r]) {
			return
		}
		a.remove(r)
		if a.at[r] = domain; domain != missing {
			a.in[r] = a.count.counts[r]
			a.sums[domain] += int64(a.in[r])
			a.nodes[domain]++
			a.total += int64(a.in[r])
		}
		moved = true
	})
	if moved || a.domains == 0 {
		a.findLeast()
	}
}

func (a *sumAspect) remove(r int) {
	if domain := a.at[r]; domain != missing {
		a.sums[domain] -= int64(a.in[r])
		a.nodes[domain]--
		a.total -= int64(a.in[r])
		a.at[r] = missing
	}
}

// domain returns in which domain a row counts.
func (a *sumAspect) domain(p *Profile, r int) int32 {
	if !p.known.Test(r) || a.affinity != nil && !a.affinity.match.Test(r) ||
		a.taints != nil && !a.taints.tolerated.Test(r) {
		return missing
	}
	for _, k := range a.keys {
		if k.values[r] == missing {
			return missing
		}
	}
	if domain := a.key.values[r]; domain != missing || !a.lacking {
		return domain
	}
	return 0
}

func (a *sumAspect) findLeast() {
	a.least, a.domains = [2]domainSum{{domain: missing}, {domain: missing}}, 0
	for d, n := range a.nodes {
		if n == 0 {
			continue
		}
		a.domains++
		now := domainSum{int32(d), a.sums[d]}
		switch {
		case a.least[0].domain == missing || now.sum < a.least[0].sum:
			a.least[0], a.least[1] = now, a.least[0]
		case a.least[1].domain == missing || now.sum < a.least[1].sum:
			a.least[1] = now
		}
	}
}

// existingAspect sums up, by domain, what the terms of existing pods say of pods of one
// class.
type existingAspect struct {
	sharedAspect
	class     class
	namespace labels.Set // the labels of its namespace
	hard      int64      // what required affinity scores

	columns map[string]*keyColumn // of the keys of sums
	rows    map[int32]*row        // those with terms, as they were counted
	length  int                   // how many rows there were
	matched map[*terms]*matchedTerms
	anti    keyedSums // how many required anti-affinity terms select the class
	scores  keyedSums // what is preferred
	scoring int64     // terms that score in a domain, also where they add up to 0
}

// keyedSums are sums by value of a label.
type keyedSums map[string]map[string]int64

func (s keyedSums) add(key, value string, x int64) {
	if s[key] == nil {
		s[key] = map[string]int64{}
	}
	if s[key][value] += x; s[key][value] == 0 {
		if delete(s[key], value); len(s[key]) == 0 {
			delete(s, key)
		}
	}
}

// matchedTerms are those of terms that select the class.
type matchedTerms struct {
	anti   []string // their keys
	scores []keyWeight
}

type keyWeight struct {
	key    string
	weight int64
}

func (a *existingAspect) bytes() int64 {
	values := 0
	for _, sums := range []keyedSums{a.anti, a.scores} {
		for _, of := range sums {
			values += len(of)
		}
	}
	return int64(64*len(a.rows) + 128*len(a.matched) + 64*values)
}

// manyTerms is from how many terms on those that have gone are forgotten.
const manyTerms = 1 << 12

func (a *existingAspect) update(p *Profile) {
	rows := p.cluster.rows
	if len(a.matched) > manyTerms+2*len(a.rows) {
		clear(a.matched)
	}
	if len(rows) < a.length {
		for r, old := range a.rows {
			if int(r) >= len(rows) {
				a.add(old, -1)
				delete(a.rows, r)
			}
		}
	}
	a.length = len(rows)
	a.stale(&p.cluster.changed, len(rows), func(r int) {
		now, old := rows[r], a.rows[int32(r)]
		if now != nil && (now.node == nil || len(now.terms) == 0) {
			now = nil
		}
		if now == old {
			return
		}
		if old != nil {
			a.add(old, -1)
			delete(a.rows, int32(r))
		}
		if now != nil {
			a.add(now, 1)
			a.rows[int32(r)] = now
		}
	})
	for _, sums := range []keyedSums{a.anti, a.scores} {
		for key := range sums {
			if a.columns[key] == nil {
				a.columns[key] = p.column(key)
				a.uses = append(a.uses, a.columns[key])
				p.bring(a.columns[key])
			}
		}
	}
}

// add adds the terms of a row's pods, sign times.
func (a *existingAspect) add(r *row, sign int64) {
	for _, t := range r.terms {
		a.addTerms(t.terms, r.node, sign*int64(t.count))
	}
}

func (a *existingAspect) addTerms(t *terms, n *corev1.Node, times int64) {
	m := a.match(t)
	for _, key := range m.anti {
		if value, ok := n.Labels[key]; ok {
			a.anti.add(key, value, times)
		}
	}
	for _, s := range m.scores {
		if value, ok := n.Labels[s.key]; ok {
			a.scores.add(s.key, value, times*s.weight)
			a.scoring += times
		}
	}
}

// match returns those of the terms that select the class.
func (a *existingAspect) match(t *terms) *matchedTerms {
	if m := a.matched[t]; m != nil {
		return m
	}
	m := &matchedTerms{}
	score := func(list []term, weight func(*term) int64) {
		for i := range list {
			if w := weight(&list[i]); w != 0 && list[i].matches(&a.class, a.namespace) {
				m.scores = append(m.scores, keyWeight{list[i].topologyKey, w})
			}
		}
	}
	score(t.required, func(*term) int64 { return a.hard })
	score(t.preferred, func(t *term) int64 { return t.weight })
	score(t.preferredAnti, func(t *term) int64 { return -t.weight })
	for i := range t.requiredAnti {
		if t.requiredAnti[i].matches(&a.class, a.namespace) {
			m.anti = append(m.anti, t.requiredAnti[i].topologyKey)
		}
	}
	a.matched[t] = m
	return m
}

// put sets or clears a bit.
func put(m *vector.Mask, r int, set bool) {
	if set {
		m.Set(r)
	} else {
		m.Clear(r)
	}
}

// resized returns s with length n, its elements kept, new ones zero.
func resized[T any](s []T, n int) []T {
	if n <= len(s) {
		return s[:n]
	}
	return append(s, make([]T, n-len(s))...)
}

// resizeMask gives a mask so many rows, and keeps its bits.
func resizeMask(m *vector.Mask, n int) {
	if m.Len() == n {
		return
	}
	var old vector.Mask
	old.CopyFrom(m)
	m.Reset(n)
	for r := range old.All() {
		if r < n {
			m.Set(r)
		}
	}
}
