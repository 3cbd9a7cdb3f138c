package profile

import (
	"math"
	"slices"

	"github.com/resvec/resvec/vector"
	corev1 "k8s.io/api/core/v1"
)

// feasible clears the rows of fits that a filter rejects.
func (p *Profile) feasible(fits *vector.Mask, s *shape, pod *corev1.Pod) {
	fits.And(fits, &s.taints.both) // of nodes that are known only
	if p.added != nil {
		fits.And(fits, &p.added.match)
	}
	if s.affinity != nil {
		fits.And(fits, &s.affinity.match)
	}
	if name := pod.Spec.NodeName; name != "" {
		only, ok := p.cluster.nodes.Row(name)
		ok = ok && fits.Test(only)
		if fits.Reset(fits.Len()); ok {
			fits.Set(only)
		}
	}
	if len(s.ports) > 0 {
		for r := range fits.All() {
			if portTaken(s.ports, p.cluster.rows[r]) {
				fits.Clear(r)
			}
		}
	}
	for i := range s.hard {
		s.hard[i].filter(fits)
	}
	s.filterRequired(fits)
	for i := range s.anti {
		s.anti[i].filter(fits, func(count int64) bool { return count > 0 })
	}
	p.filterExisting(fits, s)
}

// portTaken reports whether a pod of the row has a port that conflicts.
func portTaken(ports []hostPort, r *row) bool {
	return slices.ContainsFunc(r.ports, func(taken hostPort) bool { return slices.ContainsFunc(ports, taken.conflicts) })
}

// least returns the count of the domain that has the fewest pods, as skew counts it.
func (c *constraint) least() int64 {
	return leastOf(c.sum.least[0], c.sum.domains, c.minDomains)
}

func leastOf(least domainSum, domains int, minDomains int32) int64 {
	switch {
	case domains < int(minDomains):
		return 0
	case least.domain == missing:
		return math.MaxInt32
	}
	return least.sum
}

// filter clears the rows on which the pod would be too many, or that have no domain.
func (c *constraint) filter(fits *vector.Mask) {
	most := int64(c.maxSkew) + c.least() - c.self
	values, sums := c.column.values, c.sum.sums
	for r := range fits.All() {
		if domain := values[r]; domain == missing || sums[domain] > most {
			fits.Clear(r)
		}
	}
}

// filterRequired clears the rows that the pod's required affinity rejects.
func (s *shape) filterRequired(fits *vector.Mask) {
	if len(s.required) == 0 {
		return
	}
	first := s.first()
	for i := range s.required {
		t := &s.required[i]
		values := t.sum.key.values
		for r := range fits.All() {
			if domain := values[r]; domain == missing || !first && t.sum.sums[domain] <= 0 {
				fits.Clear(r)
			}
		}
	}
}

// first reports whether no pod matches what the pod requires but the pod itself: then any
// node with the labels will do.
func (s *shape) first() bool {
	return s.requiredSelf && !slices.ContainsFunc(s.required, func(t podTerm) bool { return t.sum.total > 0 })
}

// filter clears the rows whose domain has a count that is refused.
func (t *podTerm) filter(fits *vector.Mask, refused func(count int64) bool) {
	if t.sum.total == 0 {
		return
	}
	values, sums := t.sum.key.values, t.sum.sums
	for r := range fits.All() {
		if domain := values[r]; domain != missing && refused(sums[domain]) {
			fits.Clear(r)
		}
	}
}

// filterExisting clears the rows that the anti-affinity of existing pods rejects.
func (p *Profile) filterExisting(fits *vector.Mask, s *shape) {
	for key, sums := range s.existing.anti {
		column := s.existing.columns[key]
		dense := p.spread(column, sums)
		for r := range fits.All() {
			if domain := column.values[r]; domain != missing && dense[domain] > 0 {
				fits.Clear(r)
			}
		}
	}
}

// spread returns sums by domain of a column, valid until the next call.
func (p *Profile) spread(column *keyColumn, sums map[string]int64) []int64 {
	dense := resized(p.work.dense, len(column.ids))
	clear(dense)
	for value, sum := range sums {
		dense[column.ids[value]] = sum
	}
	p.work.dense = dense
	return dense
}

// Reason says why a row is not feasible: the first filter, in the order of
// kube-scheduler's default profile, that rejects the node.
type Reason uint8

// The reasons. Their texts are kube-scheduler's.
const (
	Fits                  Reason = iota // feasible
	NodeUnknown                         // there is no node object
	Unschedulable                       // NodeUnschedulable
	NodeNameMismatch                    // NodeName
	UntoleratedTaint                    // TaintToleration
	AddedAffinityMismatch               // NodeAffinity, of Config.AddedAffinity
	AffinityMismatch                    // NodeAffinity
	HostPortTaken                       // NodePorts
	ResourcesShort                      // NodeResourcesFit; vectormap's Explain says of what
	SpreadLabelMissing                  // PodTopologySpread, the node is in no domain
	SpreadSkew                          // PodTopologySpread
	PodAffinityMismatch                 // InterPodAffinity, the pod's required affinity
	PodAntiAffinity                     // InterPodAffinity, the pod's anti-affinity
	ExistingAntiAffinity                // InterPodAffinity, that of pods on nodes
	reasons
)

var reasonTexts = [reasons]string{
	NodeUnknown:           "node(s) unknown",
	Unschedulable:         "node(s) were unschedulable",
	NodeNameMismatch:      "node(s) didn't match the requested node name",
	UntoleratedTaint:      "node(s) had untolerated taint(s)",
	AddedAffinityMismatch: "node(s) didn't match scheduler-enforced node affinity",
	AffinityMismatch:      "node(s) didn't match Pod's node affinity/selector",
	HostPortTaken:         "node(s) didn't have free ports for the requested pod ports",
	ResourcesShort:        "Insufficient resources",
	SpreadLabelMissing:    "node(s) didn't match pod topology spread constraints (missing required label)",
	SpreadSkew:            "node(s) didn't match pod topology spread constraints",
	PodAffinityMismatch:   "node(s) didn't match pod affinity rules",
	PodAntiAffinity:       "node(s) didn't match pod anti-affinity rules",
	ExistingAntiAffinity:  "node(s) didn't satisfy existing pods anti-affinity rules",
}

// String returns the reason in the words of kube-scheduler, "" for [Fits].
func (r Reason) String() string {
	if r >= reasons {
		return "unknown reason"
	}
	return reasonTexts[r]
}

// Resolvable reports whether kube-scheduler's preemption may make the node feasible: the
// status of the filter is Unschedulable, not UnschedulableAndUnresolvable.
func (r Reason) Resolvable() bool {
	switch r {
	case HostPortTaken, ResourcesShort, SpreadSkew, PodAntiAffinity, ExistingAntiAffinity:
		return true
	}
	return false
}

// Rejection says how many rows a reason rejects.
type Rejection struct {
	Reason Reason
	Rows   int
}

// Rejections returns how many of the selected rows are not feasible, by reason, in the
// order of reasons. Errors are those of [Profile.Feasible].
func (p *Profile) Rejections(q Question) ([]Rejection, error) {
	s, err := p.ask(q)
	if err != nil {
		return nil, err
	}
	var counts [reasons]int
	var capable vector.Mask
	vector.FitAmong(&capable, p.cluster.nodes.Free(), q.Amounts.Requested, q.Rows)
	for r := range p.cluster.rows {
		if q.Rows == nil || q.Rows.Test(r) {
			counts[p.reason(s, q.Pod, r, capable.Test(r))]++
		}
	}
	var list []Rejection
	for reason := Fits + 1; reason < reasons; reason++ {
		if counts[reason] > 0 {
			list = append(list, Rejection{reason, counts[reason]})
		}
	}
	return list, nil
}

// reason returns why a row is not feasible. capable says that the amounts fit.
func (p *Profile) reason(s *shape, pod *corev1.Pod, r int, capable bool) Reason {
	row := p.cluster.rows[r]
	if !p.known.Test(r) {
		return NodeUnknown
	}
	elsewhere := pod.Spec.NodeName != "" && pod.Spec.NodeName != row.node.Name
	if elsewhere && p.settings.minor > 36 { // v1.37 asks NodeName first
		return NodeNameMismatch
	}
	switch {
	case !s.taints.schedulable.Test(r):
		return Unschedulable
	case elsewhere:
		return NodeNameMismatch
	case !s.taints.tolerated.Test(r):
		return UntoleratedTaint
	case p.added != nil && !p.added.match.Test(r):
		return AddedAffinityMismatch
	case s.affinity != nil && !s.affinity.match.Test(r):
		return AffinityMismatch
	case portTaken(s.ports, row):
		return HostPortTaken
	case !capable:
		return ResourcesShort
	}
	for i := range s.hard {
		c := &s.hard[i]
		switch domain := c.column.values[r]; {
		case domain == missing:
			return SpreadLabelMissing
		case c.sum.sums[domain]+c.self-c.least() > int64(c.maxSkew):
			return SpreadSkew
		}
	}
	return p.podReason(s, r)
}

// podReason is reason for InterPodAffinity.
func (p *Profile) podReason(s *shape, r int) Reason {
	first := s.first()
	for i := range s.required {
		sum := s.required[i].sum
		if domain := sum.key.values[r]; domain == missing || !first && sum.sums[domain] <= 0 {
			return PodAffinityMismatch
		}
	}
	for i := range s.anti {
		sum := s.anti[i].sum
		if domain := sum.key.values[r]; domain != missing && sum.sums[domain] > 0 {
			return PodAntiAffinity
		}
	}
	labels := p.cluster.rows[r].node.Labels
	for key, sums := range s.existing.anti {
		if value, ok := labels[key]; ok && sums[value] > 0 {
			return ExistingAntiAffinity
		}
	}
	return Fits
}
