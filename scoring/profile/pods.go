package profile

import (
	"encoding/binary"
	"maps"
	"slices"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/labels"
	"k8s.io/apimachinery/pkg/util/validation/field"
)

// podOf is a pod of a row.
type podOf struct {
	*corev1.Pod
	class *class
	terms *terms // nil: none
	ports []hostPort
}

// class is what all selectors see of a pod.
type class struct {
	id        int32 // of no other class at a time
	namespace string
	labels    labels.Set

	key  string
	refs int // the writer's
}

// classCount says how many pods of a class are on a row.
type classCount struct {
	class            *class
	all, terminating int32
}

// terms are the terms of pods of one namespace that are the same.
type terms struct {
	required, requiredAnti   []term
	preferred, preferredAnti []term

	key  string
	refs int // the writer's
}

// termsCount says how many pods of a row have terms.
type termsCount struct {
	terms *terms
	count int32
}

// term is a term of pod affinity: the pods that it selects, and the label whose values
// are its domains.
type term struct {
	topologyKey string
	weight      int64 // of a preferred term
	namespaces  map[string]bool
	of          labels.Selector // of namespaces
	selector    labels.Selector
}

// matches reports whether a term selects pods of a class, whose namespace has labels.
func (t *term) matches(c *class, namespace labels.Set) bool {
	return (t.namespaces[c.namespace] || t.of.Matches(namespace)) && t.selector.Matches(c.labels)
}

// hostPort is a port of the host that a pod takes.
type hostPort struct {
	ip, protocol string
	port         int32
}

const anyIP = "0.0.0.0"

// conflicts reports whether two pods can't have these ports on one node.
func (p hostPort) conflicts(q hostPort) bool {
	return p.port == q.port && p.protocol == q.protocol && (p.ip == q.ip || p.ip == anyIP || q.ip == anyIP)
}

// hostPorts returns the ports that a pod takes: of containers, and of init containers that
// keep running.
func hostPorts(pod *corev1.Pod) (ports []hostPort) {
	add := func(c *corev1.Container) {
		for _, p := range c.Ports {
			if p.HostPort <= 0 {
				continue
			}
			ip, protocol := p.HostIP, string(p.Protocol)
			if ip == "" {
				ip = anyIP
			}
			if protocol == "" {
				protocol = string(corev1.ProtocolTCP)
			}
			ports = append(ports, hostPort{ip, protocol, p.HostPort})
		}
	}
	for i := range pod.Spec.InitContainers {
		c := &pod.Spec.InitContainers[i]
		if c.RestartPolicy != nil && *c.RestartPolicy == corev1.ContainerRestartPolicyAlways {
			add(c)
		}
	}
	for i := range pod.Spec.Containers {
		add(&pod.Spec.Containers[i])
	}
	return ports
}

// newRow returns a row of a node and its pods.
func newRow(node *corev1.Node, of *images, pods []*podOf) *row {
	r := &row{node: node, images: of, pods: pods}
	for _, p := range pods {
		r.addClass(p)
		if p.terms != nil {
			r.addTerms(p.terms)
		}
		r.ports = append(r.ports, p.ports...)
	}
	return r
}

func (r *row) addClass(p *podOf) {
	i := slices.IndexFunc(r.classes, func(c classCount) bool { return c.class == p.class })
	if i < 0 {
		i = len(r.classes)
		r.classes = append(r.classes, classCount{class: p.class})
	}
	r.classes[i].all++
	if p.DeletionTimestamp != nil {
		r.classes[i].terminating++
	}
}

func (r *row) addTerms(t *terms) {
	i := slices.IndexFunc(r.terms, func(c termsCount) bool { return c.terms == t })
	if i < 0 {
		i = len(r.terms)
		r.terms = append(r.terms, termsCount{terms: t})
	}
	r.terms[i].count++
}

// interned are the classes and terms of the pods of a cluster, one of each.
type interned struct {
	classes map[string]*class
	terms   map[string]*terms
	free    []int32 // ids of classes that are gone
	next    int32
	buffer  keyBuffer
}

func newInterned() interned {
	return interned{classes: map[string]*class{}, terms: map[string]*terms{}}
}

// pod returns a pod with its class and terms.
func (n *interned) pod(pod *corev1.Pod) *podOf {
	return &podOf{Pod: pod, class: n.class(pod), terms: n.termsOf(pod), ports: hostPorts(pod)}
}

// release is the reverse of pod.
func (n *interned) release(p *podOf) {
	if p.class.refs--; p.class.refs == 0 {
		delete(n.classes, p.class.key)
		n.free = append(n.free, p.class.id)
	}
	if t := p.terms; t != nil {
		if t.refs--; t.refs == 0 {
			delete(n.terms, t.key)
		}
	}
}

func (n *interned) class(pod *corev1.Pod) *class {
	b := n.buffer.reset()
	b.string(pod.Namespace)
	b.labels(pod.Labels)
	c := n.classes[string(b.bytes)]
	if c == nil {
		c = &class{namespace: pod.Namespace, labels: pod.Labels, key: string(b.bytes), id: n.next}
		if last := len(n.free) - 1; last >= 0 {
			c.id, n.free = n.free[last], n.free[:last]
		} else {
			n.next++
		}
		n.classes[c.key] = c
	}
	c.refs++
	return c
}

func (n *interned) termsOf(pod *corev1.Pod) *terms {
	a := pod.Spec.Affinity
	if a == nil || a.PodAffinity == nil && a.PodAntiAffinity == nil {
		return nil
	}
	b := n.buffer.reset()
	b.string(pod.Namespace)
	b.message(&corev1.Affinity{PodAffinity: a.PodAffinity, PodAntiAffinity: a.PodAntiAffinity})
	t := n.terms[string(b.bytes)]
	if t == nil {
		// Of a group of terms that can't be parsed kube-scheduler counts none.
		t, _ = parseTerms(pod)
		t.key = string(b.bytes)
		n.terms[t.key] = t
	}
	t.refs++
	return t
}

// parseTerms returns the terms of a pod, groups without fault only, and all faults.
func parseTerms(pod *corev1.Pod) (t *terms, faults field.ErrorList) {
	t = &terms{}
	a := pod.Spec.Affinity
	if a == nil {
		return t, nil
	}
	const (
		required  = "requiredDuringSchedulingIgnoredDuringExecution"
		preferred = "preferredDuringSchedulingIgnoredDuringExecution"
	)
	path := field.NewPath("spec", "affinity")
	hard := func(path *field.Path, list []corev1.PodAffinityTerm) (parsed []term) {
		for i := range list {
			t, err := parseTerm(path.Child(required).Index(i), pod.Namespace, &list[i], 0)
			if err != nil {
				faults = append(faults, err)
				return nil
			}
			parsed = append(parsed, t)
		}
		return parsed
	}
	soft := func(path *field.Path, list []corev1.WeightedPodAffinityTerm) (parsed []term) {
		for i := range list {
			at := path.Child(preferred).Index(i).Child("podAffinityTerm")
			t, err := parseTerm(at, pod.Namespace, &list[i].PodAffinityTerm, int64(list[i].Weight))
			if err != nil {
				faults = append(faults, err)
				return nil
			}
			parsed = append(parsed, t)
		}
		return parsed
	}
	if with := a.PodAffinity; with != nil {
		at := path.Child("podAffinity")
		t.required = hard(at, with.RequiredDuringSchedulingIgnoredDuringExecution)
		t.preferred = soft(at, with.PreferredDuringSchedulingIgnoredDuringExecution)
	}
	if without := a.PodAntiAffinity; without != nil {
		at := path.Child("podAntiAffinity")
		t.requiredAnti = hard(at, without.RequiredDuringSchedulingIgnoredDuringExecution)
		t.preferredAnti = soft(at, without.PreferredDuringSchedulingIgnoredDuringExecution)
	}
	return t, faults
}

// parseTerm returns a term of a pod of a namespace.
func parseTerm(path *field.Path, namespace string, of *corev1.PodAffinityTerm, weight int64) (term, *field.Error) {
	t := term{topologyKey: of.TopologyKey, weight: weight, namespaces: map[string]bool{}}
	var err error
	if t.selector, err = metav1.LabelSelectorAsSelector(of.LabelSelector); err != nil {
		return t, field.Invalid(path.Child("labelSelector"), of.LabelSelector, err.Error())
	}
	if t.of, err = metav1.LabelSelectorAsSelector(of.NamespaceSelector); err != nil {
		return t, field.Invalid(path.Child("namespaceSelector"), of.NamespaceSelector, err.Error())
	}
	if len(of.Namespaces) == 0 && of.NamespaceSelector == nil {
		t.namespaces[namespace] = true
	}
	for _, name := range of.Namespaces {
		t.namespaces[name] = true
	}
	return t, nil
}

// keyBuffer writes what is compared as a string of bytes that no other value has.
type keyBuffer struct {
	bytes []byte
	names []string
}

func (b *keyBuffer) reset() *keyBuffer {
	b.bytes = b.bytes[:0]
	return b
}

func (b *keyBuffer) number(x int) { b.bytes = binary.AppendVarint(b.bytes, int64(x)) }

func (b *keyBuffer) string(s string) {
	b.number(len(s))
	b.bytes = append(b.bytes, s...)
}

func (b *keyBuffer) labels(set map[string]string) {
	b.names = b.names[:0]
	for name := range set {
		b.names = append(b.names, name)
	}
	slices.Sort(b.names)
	b.number(len(b.names))
	for _, name := range b.names {
		b.string(name)
		b.string(set[name])
	}
}

// message writes an API object.
func (b *keyBuffer) message(m interface {
	Size() int
	MarshalToSizedBuffer([]byte) (int, error)
}) {
	n := m.Size()
	b.number(n)
	from := len(b.bytes)
	b.bytes = slices.Grow(b.bytes, n)[:from+n]
	if _, err := m.MarshalToSizedBuffer(b.bytes[from:]); err != nil {
		panic("profile: an API object does not marshal")
	}
}

func sortedKeys[K ~string, V any](m map[K]V) []K { return slices.Sorted(maps.Keys(m)) }
