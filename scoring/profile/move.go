package profile

import (
	"maps"
	"slices"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/labels"
)

// Spread is the verdict of PodTopologySpread for one pod. Move adds other pods to nodes on
// trial, or removes them: for preemption, and for nominated pods. It is made by
// [Profile.Spread] and holds until a node or a pod in the cluster changes. Several goroutines
// may call Check and Clone at a time. While one calls Move, no other may use the value.
type Spread struct {
	pod   *corev1.Pod
	s     *shape
	p     *Profile
	moved []map[string]int64 // by constraint: what was moved, by value of the label
}

// Spread returns the verdict for a pod, nil for one without constraints of DoNotSchedule. Errors
// are those of [Profile.Feasible].
func (p *Profile) Spread(pod *corev1.Pod) (*Spread, error) {
	s, err := p.begin(pod)
	if err != nil || len(s.hard) == 0 {
		return nil, err
	}
	return &Spread{pod: pod, s: s, p: p, moved: make([]map[string]int64, len(s.hard))}, nil
}

// Clone returns a copy. Move of one does not change the other.
func (t *Spread) Clone() *Spread {
	c := *t
	c.moved = slices.Clone(t.moved)
	for i := range c.moved {
		c.moved[i] = maps.Clone(c.moved[i])
	}
	return &c
}

// Move adds a pod to a node on trial (sign 1), or removes it (sign -1).
func (t *Spread) Move(node *corev1.Node, pod *corev1.Pod, sign int) {
	if pod.Namespace != t.pod.Namespace || slices.ContainsFunc(t.s.hard, func(c constraint) bool {
		_, ok := node.Labels[c.key]
		return !ok
	}) {
		return
	}
	for i := range t.s.hard {
		c := &t.s.hard[i]
		sum := c.sum
		// As in kube-scheduler an empty selector counts here, and a pod that is being deleted.
		if !c.selector.Matches(labels.Set(pod.Labels)) ||
			sum.affinity != nil && !sum.affinity.required(node) ||
			sum.taints != nil && !sum.taints.allows(t.p, node.Spec.Taints) {
			continue
		}
		if t.moved[i] == nil {
			t.moved[i] = map[string]int64{}
		}
		t.moved[i][node.Labels[c.key]] += int64(sign)
	}
}

// Check returns [Fits], [SpreadLabelMissing] or [SpreadSkew].
func (t *Spread) Check(node *corev1.Node) Reason {
	for i := range t.s.hard {
		c := &t.s.hard[i]
		value, ok := node.Labels[c.key]
		if !ok {
			return SpreadLabelMissing
		}
		moved := t.moved[i]
		if c.sum.of(value)+moved[value]+c.self-c.leastMoved(moved) > int64(c.maxSkew) {
			return SpreadSkew
		}
	}
	return Fits
}

// of returns the sum of a domain.
func (a *sumAspect) of(value string) int64 {
	if domain, ok := a.key.ids[value]; ok && int(domain) < len(a.sums) {
		return a.sums[domain]
	}
	return 0
}

// leastMoved is least with sums that have moved.
func (c *constraint) leastMoved(moved map[string]int64) int64 {
	if len(moved) == 0 {
		return c.least()
	}
	sum, domains := c.sum, c.sum.domains
	least := domainSum{domain: missing}
	lower := func(domain int32, x int64) {
		if least.domain == missing || x < least.sum {
			least = domainSum{domain, x}
		}
	}
	for value, by := range moved {
		domain, known := sum.key.ids[value]
		if !known || int(domain) >= len(sum.nodes) || sum.nodes[domain] == 0 {
			domains++
			lower(0, by)
			continue
		}
		lower(domain, sum.sums[domain]+by)
	}
	isMoved := func(domain int32) bool {
		for value := range moved {
			if id, ok := sum.key.ids[value]; ok && id == domain {
				return true
			}
		}
		return false
	}
	// Of the other domains the least is one of the two in sum.least, unless both have moved.
	switch {
	case sum.least[0].domain == missing:
	case !isMoved(sum.least[0].domain):
		lower(sum.least[0].domain, sum.least[0].sum)
	case sum.least[1].domain == missing:
	case !isMoved(sum.least[1].domain):
		lower(sum.least[1].domain, sum.least[1].sum)
	default:
		for d, n := range sum.nodes {
			if n > 0 && !isMoved(int32(d)) {
				lower(int32(d), sum.sums[d])
			}
		}
	}
	return leastOf(least, domains, c.minDomains)
}

// Affinity is the verdict of InterPodAffinity for one pod, with the rules of [Spread]. It is
// made by [Profile.Affinity].
type Affinity struct {
	p *Profile
	s *shape

	required keyedSums // what was moved, by key and value
	total    int64
	anti     keyedSums
	existing keyedSums
}

// Affinity returns the verdict for a pod, nil where the pod requires no affinity and no
// anti-affinity, and no existing pod's anti-affinity selects it. Errors are those of
// [Profile.Feasible].
func (p *Profile) Affinity(pod *corev1.Pod) (*Affinity, error) {
	s, err := p.begin(pod)
	if err != nil || len(s.required) == 0 && len(s.anti) == 0 && len(s.existing.anti) == 0 {
		return nil, err
	}
	return &Affinity{p: p, s: s, required: keyedSums{}, anti: keyedSums{}, existing: keyedSums{}}, nil
}

// Clone returns a copy. Move of one does not change the other.
func (t *Affinity) Clone() *Affinity {
	c := *t
	c.required, c.anti, c.existing = t.required.clone(), t.anti.clone(), t.existing.clone()
	return &c
}

func (s keyedSums) clone() keyedSums {
	c := make(keyedSums, len(s))
	for key, sums := range s {
		c[key] = maps.Clone(sums)
	}
	return c
}

// Move adds a pod to a node on trial (sign 1), or removes it (sign -1).
func (t *Affinity) Move(node *corev1.Node, pod *corev1.Pod, sign int) {
	by, of := int64(sign), class{namespace: pod.Namespace, labels: pod.Labels}
	if len(t.s.required) > 0 && !slices.ContainsFunc(t.s.required, func(r podTerm) bool { return !r.matches(&of, nil) }) {
		for i := range t.s.required {
			key := t.s.required[i].topologyKey
			if value, ok := node.Labels[key]; ok {
				t.required.add(key, value, by)
				t.total += by
			}
		}
	}
	for i := range t.s.anti {
		term := &t.s.anti[i]
		if value, ok := node.Labels[term.topologyKey]; ok && term.matches(&of, nil) {
			t.anti.add(term.topologyKey, value, by)
		}
	}
	existing := t.s.existing
	own, _ := parseTerms(pod)
	for i := range own.requiredAnti {
		term := &own.requiredAnti[i]
		if value, ok := node.Labels[term.topologyKey]; ok && term.matches(&existing.class, existing.namespace) {
			t.existing.add(term.topologyKey, value, by)
		}
	}
}

// Check returns [Fits], [PodAffinityMismatch], [PodAntiAffinity] or [ExistingAntiAffinity].
func (t *Affinity) Check(node *corev1.Node) Reason {
	// Terms with one key count together, as in kube-scheduler.
	total, met := t.total, true
	for i := range t.s.required {
		total += t.s.required[i].sum.total
	}
	for i := range t.s.required {
		r := &t.s.required[i]
		value, ok := node.Labels[r.topologyKey]
		if !ok {
			return PodAffinityMismatch
		}
		sum := t.required[r.topologyKey][value]
		for k := range t.s.required {
			if same := &t.s.required[k]; same.topologyKey == r.topologyKey {
				sum += same.sum.of(value)
			}
		}
		met = met && sum > 0
	}
	if !met && !(total == 0 && t.s.requiredSelf) {
		return PodAffinityMismatch
	}
	for i := range t.s.anti {
		key := t.s.anti[i].topologyKey
		value, ok := node.Labels[key]
		if !ok {
			continue
		}
		sum := t.anti[key][value]
		for k := range t.s.anti {
			if same := &t.s.anti[k]; same.topologyKey == key {
				sum += same.sum.of(value)
			}
		}
		if sum > 0 {
			return PodAntiAffinity
		}
	}
	if t.rejectedBy(node, t.s.existing.anti) || t.rejectedBy(node, t.existing) {
		return ExistingAntiAffinity
	}
	return Fits
}

// rejectedBy reports whether the anti-affinity of existing pods rejects a node.
func (t *Affinity) rejectedBy(node *corev1.Node, sums keyedSums) bool {
	for key := range sums {
		if value, ok := node.Labels[key]; ok && t.s.existing.anti[key][value]+t.existing[key][value] > 0 {
			return true
		}
	}
	return false
}
