package profile

import (
	"container/list"
	"fmt"
	"maps"
	"slices"
	"strings"

	"github.com/resvec/resvec/vectormap"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/labels"
	"k8s.io/apimachinery/pkg/util/validation/field"
	"k8s.io/component-helpers/scheduling/corev1/nodeaffinity"
)

// shape is all that plugins look at of a pod, compiled. Pods that are alike share it.
type shape struct {
	key  string
	used *list.Element // in the order of use
	uses []aspect

	// What it was compiled with, besides the pod.
	space      *space
	namespaces uint64

	class    class
	affinity *affinityAspect // nil: all nodes
	taints   *taintAspect
	images   *imageAspect // nil: none
	ports    []hostPort

	hard []constraint // DoNotSchedule
	soft []constraint // ScheduleAnyway
	all  bool         // rows that lack the label of a soft constraint aren't scored

	required     []podTerm // the pod's required affinity: one count, a sum for each key
	requiredSelf bool      // the pod matches it itself
	anti         []podTerm
	preferred    []podTerm // with weights, negative for anti-affinity
	existing     *existingAspect
	scoreNone    bool // existing pods' terms don't score
}

// constraint is a topology spread constraint.
type constraint struct {
	key        string
	maxSkew    int32
	minDomains int32
	selector   labels.Selector
	self       int64 // 1: the pod counts itself

	column *keyColumn
	count  *countAspect
	sum    *sumAspect // nil: of a hostname that is scored by the row's own count
}

// podTerm is a term of the pod's own.
type podTerm struct {
	term
	sum *sumAspect
}

// compiler makes a shape.
type compiler struct {
	p   *Profile
	s   *shape
	pod *corev1.Pod
}

// use acquires an aspect for the shape.
func use[T aspect](c *compiler, key string, create func() T) T {
	a := acquire(c.p, key, create)
	c.s.uses = append(c.s.uses, a)
	return a
}

// keyOfShape writes what a shape is made of, as its key.
func keyOfShape(b *keyBuffer, pod *corev1.Pod) {
	b.reset()
	b.string(pod.Namespace)
	b.labels(pod.Labels)
	b.affinity(pod)
	b.tolerations(pod.Spec.Tolerations)
	b.podAffinity(pod)
	b.number(len(pod.Spec.TopologySpreadConstraints))
	for i := range pod.Spec.TopologySpreadConstraints {
		b.message(&pod.Spec.TopologySpreadConstraints[i])
	}
	if owner := metav1.GetControllerOfNoCopy(pod); owner != nil {
		b.string(owner.APIVersion)
		b.string(owner.Kind)
		b.string(owner.Name)
	} else {
		b.number(-1)
	}
	b.number(len(pod.Spec.InitContainers))
	b.number(len(pod.Spec.Containers))
	for name := range imagesOf(pod) {
		b.string(name)
	}
	b.number(-1)
	for _, port := range hostPorts(pod) {
		b.string(port.ip)
		b.string(port.protocol)
		b.number(int(port.port))
	}
}

// affinity writes what selects nodes.
func (b *keyBuffer) affinity(pod *corev1.Pod) {
	b.labels(pod.Spec.NodeSelector)
	if a := pod.Spec.Affinity; a != nil && a.NodeAffinity != nil {
		b.message(a.NodeAffinity)
	} else {
		b.number(-1)
	}
}

func (b *keyBuffer) podAffinity(pod *corev1.Pod) {
	a := pod.Spec.Affinity
	if a == nil {
		a = &corev1.Affinity{}
	}
	if a.PodAffinity != nil {
		b.message(a.PodAffinity)
	} else {
		b.number(-1)
	}
	if a.PodAntiAffinity != nil {
		b.message(a.PodAntiAffinity)
	} else {
		b.number(-1)
	}
}

func (b *keyBuffer) tolerations(list []corev1.Toleration) {
	b.number(len(list))
	for i := range list {
		t := &list[i]
		b.string(t.Key)
		b.string(string(t.Operator))
		b.string(t.Value)
		b.string(string(t.Effect))
	}
}

// imagesOf iterates over the images of a pod as nodes name them: true for those of
// containers, false for those of volumes.
func imagesOf(pod *corev1.Pod) func(yield func(string, bool) bool) {
	return func(yield func(string, bool) bool) {
		for _, list := range [][]corev1.Container{pod.Spec.InitContainers, pod.Spec.Containers} {
			for i := range list {
				if !yield(imageName(list[i].Image), true) {
					return
				}
			}
		}
		for i := range pod.Spec.Volumes {
			if v := pod.Spec.Volumes[i].Image; v != nil && !yield(imageName(v.Reference), false) {
				return
			}
		}
	}
}

// imageName returns a name with a tag: latest where it has none.
func imageName(name string) string {
	if strings.LastIndex(name, ":") <= strings.LastIndex(name, "/") {
		name += ":latest"
	}
	return name
}

// compile makes the shape of a pod. Its errors name a field of the pod; then nothing is
// kept.
func (p *Profile) compile(key string, pod *corev1.Pod) (*shape, error) {
	s := &shape{key: key, class: class{namespace: pod.Namespace, labels: maps.Clone(pod.Labels)}, ports: hostPorts(pod)}
	c := &compiler{p: p, s: s, pod: pod}
	s.space, s.namespaces = p.cluster.space(pod.Namespace), p.cluster.moved.namespaces
	own, faults := parseTerms(pod)
	preferred, err := preferredAffinity(pod)
	faults = append(faults, err...)
	hard, soft, err := c.constraints()
	if faults = append(faults, err...); len(faults) > 0 {
		return nil, fmt.Errorf("pod %s/%s: %w", pod.Namespace, pod.Name, faults.ToAggregate())
	}
	c.nodes(preferred)
	c.spread(hard, soft)
	c.pods(own)
	return s, nil
}

// bytes returns about how much memory a shape takes: its key holds what its pod says.
func (s *shape) bytes() int64 { return 2 * (smallBytes + int64(len(s.key))) }

// drop forgets a shape.
func (p *Profile) drop(s *shape) {
	p.order.Remove(s.used)
	delete(p.shapes, s.key)
	p.bytes -= s.bytes()
	for _, a := range s.uses {
		p.release(a)
	}
}

// preferredAffinity returns the preferred terms of node affinity, nil for none.
func preferredAffinity(pod *corev1.Pod) (*nodeaffinity.PreferredSchedulingTerms, field.ErrorList) {
	a := pod.Spec.Affinity
	if a == nil || a.NodeAffinity == nil || a.NodeAffinity.PreferredDuringSchedulingIgnoredDuringExecution == nil {
		return nil, nil
	}
	path := field.NewPath("spec", "affinity", "nodeAffinity", "preferredDuringSchedulingIgnoredDuringExecution")
	preferred := a.NodeAffinity.PreferredDuringSchedulingIgnoredDuringExecution
	terms, err := nodeaffinity.NewPreferredSchedulingTerms(preferred, field.WithPath(path))
	if err != nil {
		return nil, vectormap.Faults(nil, err)
	}
	return terms, nil
}

// nodes compiles what plugins look at of nodes alone.
func (c *compiler) nodes(preferred *nodeaffinity.PreferredSchedulingTerms) {
	b := &c.p.buffer
	pod, set := c.pod, &c.p.settings
	a := pod.Spec.Affinity
	required := len(pod.Spec.NodeSelector) > 0 ||
		a != nil && a.NodeAffinity != nil && a.NodeAffinity.RequiredDuringSchedulingIgnoredDuringExecution != nil
	if required || preferred != nil || set.preferred != nil {
		b.reset().affinity(pod)
		c.s.affinity = use(c, "affinity "+string(b.bytes), func() *affinityAspect {
			made := &affinityAspect{}
			if required {
				made.required = requiredAffinity(pod)
			}
			if preferred != nil || set.preferred != nil {
				made.preferred = func(n *corev1.Node) (score int64) {
					if set.preferred != nil {
						score = set.preferred.Score(n)
					}
					if preferred != nil {
						score += preferred.Score(n)
					}
					return score
				}
			}
			return made
		})
	}
	b.reset().tolerations(pod.Spec.Tolerations)
	c.s.taints = use(c, "taints "+string(b.bytes), func() *taintAspect {
		made := &taintAspect{tolerations: slices.Clone(pod.Spec.Tolerations)}
		for _, t := range made.tolerations {
			if t.Effect == "" || t.Effect == corev1.TaintEffectPreferNoSchedule {
				made.preferring = append(made.preferring, t)
			}
		}
		return made
	})
	c.s.images = c.images()
}

// images compiles the images of a pod, nil where it has none.
func (c *compiler) images() *imageAspect {
	b := c.p.buffer.reset()
	made := &imageAspect{}
	for name, container := range imagesOf(c.pod) {
		made.images = append(made.images, name)
		b.string(name)
		if container || c.p.settings.minor > 36 {
			made.number++
		}
	}
	if len(made.images) == 0 {
		return nil
	}
	b.number(int(made.number))
	made.counts = make([]int, len(made.images))
	return use(c, "images "+string(b.bytes), func() *imageAspect { return made })
}

// constraints returns the constraints of a pod, its own or the default ones, with their
// selectors.
func (c *compiler) constraints() (hard, soft []spreadOf, faults field.ErrorList) {
	set := &c.p.settings
	list, own := c.pod.Spec.TopologySpreadConstraints, true
	if len(list) == 0 {
		list, own = set.defaults, false
	}
	c.s.all = own || !set.system
	var selector labels.Selector
	if !own && len(list) > 0 {
		if selector = c.s.space.defaultSelector(c.pod); selector.Empty() {
			return nil, nil, nil
		}
	}
	for i := range list {
		of := spreadOf{TopologySpreadConstraint: &list[i], selector: selector}
		if own {
			var err error
			if of.selector, err = metav1.LabelSelectorAsSelector(list[i].LabelSelector); err != nil {
				path := field.NewPath("spec", "topologySpreadConstraints").Index(i).Child("labelSelector")
				faults = append(faults, field.Invalid(path, list[i].LabelSelector, err.Error()))
				continue
			}
			of.selector = withLabelKeys(of.selector, list[i].MatchLabelKeys, c.pod.Labels)
		}
		if list[i].WhenUnsatisfiable == corev1.DoNotSchedule {
			hard = append(hard, of)
		} else if list[i].WhenUnsatisfiable == corev1.ScheduleAnyway {
			soft = append(soft, of)
		}
	}
	return hard, soft, faults
}

// spreadOf is a constraint with its selector.
type spreadOf struct {
	*corev1.TopologySpreadConstraint
	selector labels.Selector
}

// withLabelKeys adds that labels are as the pod's.
func withLabelKeys(selector labels.Selector, keys []string, pod labels.Set) labels.Selector {
	own := labels.Set{}
	for _, key := range keys {
		if value, ok := pod[key]; ok {
			own[key] = value
		}
	}
	requirements, selectable := selector.Requirements()
	if len(own) == 0 || !selectable {
		return selector
	}
	return labels.SelectorFromSet(own).Add(requirements...)
}

// spread compiles constraints.
func (c *compiler) spread(hard, soft []spreadOf) {
	keysOf := func(list []spreadOf) (keys []string) {
		for _, of := range list {
			keys = append(keys, of.TopologyKey)
		}
		slices.Sort(keys)
		return slices.Compact(keys)
	}
	for _, of := range hard {
		k := c.constraint(of)
		k.sum = c.sum(k.count, of.TopologyKey, sumOptions{policies: of.TopologySpreadConstraint, keys: keysOf(hard)})
		c.s.hard = append(c.s.hard, k)
	}
	for _, of := range soft {
		k := c.constraint(of)
		if of.TopologyKey != corev1.LabelHostname {
			options := sumOptions{policies: of.TopologySpreadConstraint, lacking: !c.s.all}
			if c.s.all {
				options.keys = keysOf(soft)
			}
			k.sum = c.sum(k.count, of.TopologyKey, options)
		}
		c.s.soft = append(c.s.soft, k)
	}
}

func (c *compiler) constraint(of spreadOf) constraint {
	k := constraint{key: of.TopologyKey, maxSkew: of.MaxSkew, minDomains: 1, selector: of.selector}
	if of.MinDomains != nil {
		k.minDomains = *of.MinDomains
	}
	if of.selector.Matches(labels.Set(c.pod.Labels)) {
		k.self = 1
	}
	namespace, selector := c.pod.Namespace, of.selector
	k.column = c.p.column(of.TopologyKey)
	c.s.uses = append(c.s.uses, k.column)
	k.count = use(c, countKey("live", namespace, selector), func() *countAspect {
		return &countAspect{selects: func(of *class) bool {
			// An empty selector selects all pods and counts none.
			return !selector.Empty() && of.namespace == namespace && selector.Matches(of.labels)
		}}
	})
	return k
}

// countKey returns the key of a count. A selector that selects nothing and an empty one are
// both written as "", so the key says which one it is.
func countKey(what, namespace string, selector labels.Selector) string {
	return fmt.Sprintf("count %s %q %t %s", what, namespace, selector.Empty(), selector)
}

// sumOptions say which rows are summed up.
type sumOptions struct {
	policies *corev1.TopologySpreadConstraint // nil: all
	keys     []string
	lacking  bool
}

// sum compiles the sums of a count by domain.
func (c *compiler) sum(count *countAspect, key string, o sumOptions) *sumAspect {
	var affinity, taints bool
	if o.policies != nil {
		affinity = o.policies.NodeAffinityPolicy == nil || *o.policies.NodeAffinityPolicy == corev1.NodeInclusionPolicyHonor
		taints = o.policies.NodeTaintsPolicy != nil && *o.policies.NodeTaintsPolicy == corev1.NodeInclusionPolicyHonor
	}
	// Only what is required restricts, and preferences are in the same aspect.
	affinity = affinity && c.s.affinity != nil && c.s.affinity.required != nil
	name := fmt.Sprintf("sum %q %q %t %q", key, o.keys, o.lacking, count.sharedAspect.key)
	if affinity {
		name += " " + c.s.affinity.sharedAspect.key
	}
	if taints {
		name += " " + c.s.taints.sharedAspect.key
	}
	return use(c, name, func() *sumAspect {
		made := &sumAspect{count: count, key: c.p.column(key), lacking: o.lacking}
		made.uses = append(made.uses, made.key)
		made.share(count)
		for _, k := range o.keys {
			column := c.p.column(k)
			made.keys, made.uses = append(made.keys, column), append(made.uses, column)
		}
		if affinity {
			made.affinity = c.s.affinity
			made.share(made.affinity)
		}
		if taints {
			made.taints = c.s.taints
			made.share(made.taints)
		}
		return made
	})
}

// pods compiles pod affinity.
func (c *compiler) pods(own *terms) {
	s := c.s
	for _, list := range [][]term{own.required, own.requiredAnti, own.preferred, own.preferredAnti} {
		for i := range list {
			c.unroll(&list[i])
		}
	}
	if len(own.required) > 0 {
		all := func(of *class) bool {
			return !slices.ContainsFunc(own.required, func(t term) bool { return !t.matches(of, nil) })
		}
		s.requiredSelf = all(&s.class)
		key := "count all"
		for i := range own.required {
			key += " " + own.required[i].text()
		}
		count := use(c, key, func() *countAspect { return &countAspect{selects: all, terminating: true} })
		for _, t := range own.required {
			s.required = append(s.required, podTerm{t, c.sum(count, t.topologyKey, sumOptions{})})
		}
	}
	s.anti = c.podTerms(own.requiredAnti, 1)
	s.preferred = append(c.podTerms(own.preferred, 1), c.podTerms(own.preferredAnti, -1)...)
	// Terms that are there count, also those that can't score.
	s.scoreNone = c.p.settings.ignore && len(own.preferred)+len(own.preferredAnti) == 0
	b := c.p.buffer.reset()
	b.string(s.class.namespace)
	b.labels(s.class.labels)
	b.labels(s.space.labels)
	s.existing = use(c, "existing "+string(b.bytes), func() *existingAspect {
		return &existingAspect{
			class: s.class, namespace: s.space.labels, hard: c.p.settings.hardWeight,
			columns: map[string]*keyColumn{}, rows: map[int32]*row{}, matched: map[*terms]*matchedTerms{},
			anti: keyedSums{}, scores: keyedSums{},
		}
	})
}

// podTerms compiles terms of the pod's own that count alone.
func (c *compiler) podTerms(list []term, sign int64) (compiled []podTerm) {
	for _, t := range list {
		count := use(c, "count one "+t.text(), func() *countAspect {
			return &countAspect{selects: func(of *class) bool { return t.matches(of, nil) }, terminating: true}
		})
		t.weight *= sign
		compiled = append(compiled, podTerm{t, c.sum(count, t.topologyKey, sumOptions{})})
	}
	return compiled
}

// unroll adds the namespaces that a term of the pod's own selects to those that it lists. An
// empty selector stays, and selects all.
func (c *compiler) unroll(t *term) {
	if t.of.Empty() {
		return
	}
	for name, s := range c.p.cluster.spaces {
		if s.known && t.of.Matches(s.labels) {
			t.namespaces[name] = true
		}
	}
	// v1.36 goes on asking the selector, for a namespace without labels.
	if c.p.settings.minor > 36 {
		t.of = labels.Nothing()
	}
}

// text is the key of the pods that a term selects.
func (t *term) text() string {
	names := sortedKeys(t.namespaces)
	return fmt.Sprintf("%q %t %t %q %t",
		names, t.of.Empty(), t.of.Matches(labels.Set(nil)), t.selector.String(), t.selector.Empty())
}

// shapeOf returns the shape of a pod, in step with the cluster.
func (p *Profile) shapeOf(pod *corev1.Pod) (*shape, error) {
	keyOfShape(&p.buffer, pod)
	s := p.shapes[string(p.buffer.bytes)]
	if s == nil || !p.current(s) {
		// The new one comes first, so that what both use stays.
		now, err := p.compile(string(p.buffer.bytes), pod)
		if err != nil {
			return nil, err
		}
		if s != nil {
			p.drop(s)
		}
		s = now
		p.shapes[s.key] = s
		p.bytes += s.bytes()
		s.used = p.order.PushFront(s)
	} else {
		p.order.MoveToFront(s.used)
	}
	for _, a := range s.uses {
		p.bring(a)
	}
	p.evict()
	return s, nil
}

// current reports whether a shape was compiled with what is known of namespaces now.
func (p *Profile) current(s *shape) bool {
	return s.space == p.cluster.space(s.class.namespace) && s.namespaces == p.cluster.moved.namespaces
}

// evict forgets the shapes that were used least recently, while they take too much memory.
func (p *Profile) evict() {
	for p.bytes > p.limit && p.order.Len() > 1 {
		p.drop(p.order.Back().Value.(*shape))
	}
}
