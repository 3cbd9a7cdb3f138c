package main

import (
	"fmt"
	"math/rand/v2"
	"slices"
	"strings"

	appsv1 "k8s.io/api/apps/v1"
	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/resource"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
)

// town makes the objects of random clusters: all that the plugins of the default profile look
// at, of few values each, so that most of them meet.
type town struct {
	*rand.Rand
	made        int
	comparisons bool    // tolerations may have the operators Lt and Gt
	unique      bool    // each node has a hostname of its own
	sizes       []int64 // of images; nil: each node has others
}

const rackKey, diskKey, rankKey = "example.com/rack", "disk", "rank"

func (w *town) chance(percent int) bool { return w.IntN(100) < percent }

func (w *town) pick(list ...string) string { return list[w.IntN(len(list))] }

// some returns some of a list, in its order.
func (w *town) some(list ...string) []string {
	kept := make([]string, 0, len(list))
	for _, x := range list {
		if w.chance(50) {
			kept = append(kept, x)
		}
	}
	return kept
}

var (
	spaces  = []string{"default", "team", "foreign", "nowhere"} // nowhere has no object
	apps    = []string{"web", "db", "cache"}
	domains = []string{corev1.LabelTopologyZone, corev1.LabelTopologyZone, corev1.LabelHostname, rackKey, "missing"}
	images  = [][]string{ // by their names
		{"web:latest", "web:v2"}, {"registry:5000/db:latest", "registry:5000/db:v1"}, {"cache@sha256:12ab"}, {"large:latest"},
	}
)

// name returns a new name.
func (w *town) name(kind string) string {
	w.made++
	return fmt.Sprint(kind, "-", w.made)
}

func (w *town) node(name string) *corev1.Node {
	node := &corev1.Node{ObjectMeta: metav1.ObjectMeta{Name: name, UID: types.UID(name), Labels: map[string]string{}}}
	w.change(node)
	node.Status.Allocatable = corev1.ResourceList{
		corev1.ResourceCPU:              *resource.NewQuantity(2+w.Int64N(15), resource.DecimalSI),
		corev1.ResourceMemory:           *resource.NewQuantity((4+w.Int64N(60))<<30, resource.BinarySI),
		corev1.ResourceEphemeralStorage: *resource.NewQuantity(100<<30, resource.BinarySI),
		corev1.ResourcePods:             *resource.NewQuantity(4+w.Int64N(30), resource.DecimalSI),
	}
	if w.chance(40) {
		node.Status.Allocatable["nvidia.com/gpu"] = *resource.NewQuantity(w.Int64N(9), resource.DecimalSI)
	}
	return node
}

// change draws again what a node has besides resources.
func (w *town) change(node *corev1.Node) {
	labels := map[string]string{}
	if w.chance(90) {
		labels[corev1.LabelTopologyZone] = w.pick("a", "b", "c", "")
	}
	if w.unique || w.chance(92) {
		labels[corev1.LabelHostname] = node.Name
		if !w.unique && w.chance(8) {
			labels[corev1.LabelHostname] = w.pick("twin", "")
		}
	}
	if w.chance(60) {
		labels[rackKey] = w.pick("1", "2", "")
	}
	if w.chance(50) {
		labels[diskKey] = w.pick("ssd", "hdd", "")
	}
	if w.chance(40) {
		labels[rankKey] = w.pick("1", "5", "9", "many")
	}
	node.Labels = labels
	node.Spec.Taints = nil
	for w.chance(25) {
		node.Spec.Taints = append(node.Spec.Taints, corev1.Taint{Key: w.pick("gpu", "team", "level"), Value: w.pick("", "x", "5"),
			Effect: corev1.TaintEffect(w.pick("NoSchedule", "NoExecute", "PreferNoSchedule", "PreferNoSchedule"))})
	}
	node.Spec.Unschedulable = w.chance(8)
	if node.Spec.Unschedulable && w.chance(70) {
		node.Spec.Taints = append(node.Spec.Taints, corev1.Taint{Key: corev1.TaintNodeUnschedulable, Effect: corev1.TaintEffectNoSchedule})
	}
	node.Status.Images = nil
	for w.chance(50) {
		i := w.IntN(len(images))
		image := corev1.ContainerImage{Names: []string{images[i][0]}, SizeBytes: w.Int64N(1 << w.IntN(34))}
		if w.sizes != nil {
			image.SizeBytes = w.sizes[i]
		}
		if w.chance(50) {
			image.Names = append(image.Names, images[i][len(images[i])-1])
		}
		node.Status.Images = append(node.Status.Images, image)
	}
}

// image returns an image as pods name it.
func (w *town) image() string {
	names := images[w.IntN(len(images))]
	return strings.TrimSuffix(w.pick(names...), w.pick(":latest", ""))
}

func (w *town) labels() map[string]string {
	if w.chance(10) {
		return nil
	}
	labels := map[string]string{"app": w.pick(apps...)}
	if w.chance(40) {
		labels["version"] = w.pick("1", "2", "")
	}
	return labels
}

// selector returns a selector of pods by labels, of all, or of none.
func (w *town) selector() *metav1.LabelSelector {
	s := &metav1.LabelSelector{}
	switch {
	case w.chance(4):
		return nil
	case w.chance(6):
		return s
	case w.chance(60):
		s.MatchLabels = map[string]string{"app": w.pick(apps...)}
	}
	for w.chance(30) || len(s.MatchLabels)+len(s.MatchExpressions) == 0 {
		s.MatchExpressions = append(s.MatchExpressions, w.expression("app", "version", apps[0], apps[1], "1", ""))
	}
	return s
}

// expression returns a term on one of two keys.
func (w *town) expression(key, other string, values ...string) metav1.LabelSelectorRequirement {
	e := metav1.LabelSelectorRequirement{Key: w.pick(key, other), Operator: metav1.LabelSelectorOperator(w.pick("In", "NotIn", "Exists", "DoesNotExist"))}
	if e.Operator == metav1.LabelSelectorOpIn || e.Operator == metav1.LabelSelectorOpNotIn {
		e.Values = append(w.some(values...), w.pick(values...))
	}
	return e
}

func (w *town) constraint() corev1.TopologySpreadConstraint {
	c := corev1.TopologySpreadConstraint{
		MaxSkew:           1 + w.Int32N(3),
		TopologyKey:       w.pick(domains...),
		WhenUnsatisfiable: corev1.UnsatisfiableConstraintAction(w.pick("DoNotSchedule", "ScheduleAnyway", "ScheduleAnyway")),
		LabelSelector:     w.selector(),
	}
	if c.TopologyKey == "missing" && w.chance(80) {
		c.TopologyKey = corev1.LabelHostname
	}
	if c.WhenUnsatisfiable == corev1.DoNotSchedule && w.chance(30) {
		domains := 1 + w.Int32N(5)
		c.MinDomains = &domains
	}
	policy := func() *corev1.NodeInclusionPolicy {
		if w.chance(60) {
			return nil
		}
		policy := corev1.NodeInclusionPolicy(w.pick("Honor", "Ignore"))
		return &policy
	}
	c.NodeAffinityPolicy, c.NodeTaintsPolicy = policy(), policy()
	if w.chance(20) {
		c.MatchLabelKeys = w.some("version", "app", "absent")
	}
	return c
}

func (w *town) podTerm() corev1.PodAffinityTerm {
	t := corev1.PodAffinityTerm{TopologyKey: w.pick(domains...), LabelSelector: w.selector()}
	if w.chance(30) {
		t.Namespaces = w.some(spaces...)
	}
	if w.chance(30) {
		t.NamespaceSelector = &metav1.LabelSelector{}
		switch {
		case w.chance(50):
			t.NamespaceSelector.MatchExpressions = []metav1.LabelSelectorRequirement{w.expression("env", "owner", "prod", "", "x")}
		case w.chance(60):
			t.NamespaceSelector.MatchLabels = map[string]string{"env": w.pick("prod", "test", "")}
		}
	}
	return t
}

func (w *town) podTerms(percent int) (terms []corev1.PodAffinityTerm) {
	for w.chance(percent) {
		terms = append(terms, w.podTerm())
		percent = 35
	}
	return terms
}

func (w *town) weightedPodTerms(percent int) (terms []corev1.WeightedPodAffinityTerm) {
	for w.chance(percent) {
		terms = append(terms, corev1.WeightedPodAffinityTerm{Weight: 1 + w.Int32N(100), PodAffinityTerm: w.podTerm()})
		percent = 40
	}
	return terms
}

// nodeTerm returns a term on labels or names of nodes, sometimes one that can't be parsed,
// which kube-scheduler leaves out of required terms.
func (w *town) nodeTerm(broken bool) (term corev1.NodeSelectorTerm) {
	for range w.IntN(3) {
		e := corev1.NodeSelectorRequirement{Key: w.pick(corev1.LabelTopologyZone, diskKey, rankKey),
			Operator: corev1.NodeSelectorOperator(w.pick("In", "NotIn", "Exists", "DoesNotExist", "Gt", "Lt"))}
		switch e.Operator {
		case corev1.NodeSelectorOpIn, corev1.NodeSelectorOpNotIn:
			e.Values = append(w.some("a", "ssd", ""), w.pick("a", "b", "ssd", "5"))
		case corev1.NodeSelectorOpGt, corev1.NodeSelectorOpLt:
			e.Key, e.Values = rankKey, []string{"4"}
			if broken && w.chance(5) {
				e.Values[0] = "four"
			}
		}
		term.MatchExpressions = append(term.MatchExpressions, e)
	}
	if w.chance(15) {
		term.MatchFields = []corev1.NodeSelectorRequirement{{Key: metav1.ObjectNameField,
			Operator: corev1.NodeSelectorOperator(w.pick("In", "NotIn")), Values: []string{fmt.Sprint("node-", 1+w.IntN(6))}}}
	}
	return term
}

func (w *town) nodeAffinity(broken bool) *corev1.NodeAffinity {
	a := &corev1.NodeAffinity{}
	if w.chance(40) {
		a.RequiredDuringSchedulingIgnoredDuringExecution = &corev1.NodeSelector{}
		for range 1 + w.IntN(3) {
			required := a.RequiredDuringSchedulingIgnoredDuringExecution
			required.NodeSelectorTerms = append(required.NodeSelectorTerms, w.nodeTerm(broken))
		}
	}
	for w.chance(60) {
		a.PreferredDuringSchedulingIgnoredDuringExecution = append(a.PreferredDuringSchedulingIgnoredDuringExecution,
			corev1.PreferredSchedulingTerm{Weight: 1 + w.Int32N(100), Preference: w.nodeTerm(false)})
	}
	return a
}

func (w *town) toleration() corev1.Toleration {
	if w.chance(10) {
		return corev1.Toleration{Operator: corev1.TolerationOpExists}
	}
	t := corev1.Toleration{Key: w.pick("gpu", "team", "level", corev1.TaintNodeUnschedulable),
		Effect: corev1.TaintEffect(w.pick("", "NoSchedule", "NoExecute", "PreferNoSchedule")), Operator: corev1.TolerationOperator(w.pick("Exists", "Equal", ""))}
	if t.Operator != corev1.TolerationOpExists {
		t.Value = w.pick("", "x", "5")
	}
	if w.comparisons && w.chance(40) {
		t.Key, t.Operator, t.Value = w.pick("level", "gpu"), corev1.TolerationOperator(w.pick("Lt", "Gt")), w.pick("4", "6", "five")
	}
	return t
}

func (w *town) container() corev1.Container {
	c := corev1.Container{Image: w.image(), Resources: corev1.ResourceRequirements{Requests: corev1.ResourceList{}}}
	if w.chance(80) {
		c.Resources.Requests[corev1.ResourceCPU] = *resource.NewMilliQuantity(w.Int64N(600), resource.DecimalSI)
	}
	if w.chance(60) {
		c.Resources.Requests[corev1.ResourceMemory] = *resource.NewQuantity(w.Int64N(2<<30), resource.BinarySI)
	}
	if w.chance(8) {
		c.Resources.Requests["nvidia.com/gpu"] = *resource.NewQuantity(1+w.Int64N(3), resource.DecimalSI)
	}
	for w.chance(12) {
		c.Ports = append(c.Ports, corev1.ContainerPort{ContainerPort: 80, HostPort: []int32{0, 80, 80, 81}[w.IntN(4)],
			HostIP: w.pick("", "0.0.0.0", "127.0.0.1", "10.0.0.1"), Protocol: corev1.Protocol(w.pick("", "TCP", "UDP", "SCTP"))})
	}
	return c
}

// pod returns a pod of a few hundred kinds that is not on a node.
func (w *town) pod() *corev1.Pod {
	name := w.name("pod")
	pod := &corev1.Pod{ObjectMeta: metav1.ObjectMeta{Name: name, UID: types.UID(name), Labels: w.labels(), OwnerReferences: w.owner()}}
	pod.Namespace = spaces[max(0, w.IntN(10)-6)]
	pod.Spec.SchedulerName = corev1.DefaultSchedulerName
	for range 1 + w.IntN(2) {
		pod.Spec.Containers = append(pod.Spec.Containers, w.container())
	}
	for w.chance(15) {
		init := w.container()
		if w.chance(50) {
			always := corev1.ContainerRestartPolicyAlways
			init.RestartPolicy = &always
		}
		pod.Spec.InitContainers = append(pod.Spec.InitContainers, init)
	}
	if w.chance(10) {
		pod.Spec.Volumes = append(pod.Spec.Volumes, corev1.Volume{Name: "image",
			VolumeSource: corev1.VolumeSource{Image: &corev1.ImageVolumeSource{Reference: w.image()}}})
	}
	for w.chance(40) {
		pod.Spec.Tolerations = append(pod.Spec.Tolerations, w.toleration())
	}
	if w.chance(12) {
		pod.Spec.NodeSelector = map[string]string{w.pick(diskKey, corev1.LabelTopologyZone): w.pick("ssd", "a", "")}
	}
	for w.chance(30) {
		c := w.constraint()
		if !slices.ContainsFunc(pod.Spec.TopologySpreadConstraints, func(x corev1.TopologySpreadConstraint) bool {
			return x.TopologyKey == c.TopologyKey && x.WhenUnsatisfiable == c.WhenUnsatisfiable
		}) {
			pod.Spec.TopologySpreadConstraints = append(pod.Spec.TopologySpreadConstraints, c)
		}
	}
	if w.chance(60) {
		a := &corev1.Affinity{}
		if w.chance(40) {
			a.NodeAffinity = w.nodeAffinity(true)
		}
		if w.chance(40) {
			a.PodAffinity = &corev1.PodAffinity{RequiredDuringSchedulingIgnoredDuringExecution: w.podTerms(30),
				PreferredDuringSchedulingIgnoredDuringExecution: w.weightedPodTerms(60)}
		}
		if w.chance(40) {
			a.PodAntiAffinity = &corev1.PodAntiAffinity{RequiredDuringSchedulingIgnoredDuringExecution: w.podTerms(20),
				PreferredDuringSchedulingIgnoredDuringExecution: w.weightedPodTerms(60)}
		}
		pod.Spec.Affinity = a
	}
	return pod
}

// plain takes away what keeps a pod from most nodes.
func (w *town) plain(pod *corev1.Pod) *corev1.Pod {
	pod.Spec.NodeSelector = nil
	if a := pod.Spec.Affinity; a != nil {
		if a.NodeAffinity != nil {
			a.NodeAffinity.RequiredDuringSchedulingIgnoredDuringExecution = nil
		}
		if a.PodAffinity != nil {
			a.PodAffinity.RequiredDuringSchedulingIgnoredDuringExecution = nil
		}
		if a.PodAntiAffinity != nil {
			a.PodAntiAffinity.RequiredDuringSchedulingIgnoredDuringExecution = nil
		}
	}
	for i := range pod.Spec.TopologySpreadConstraints {
		c := &pod.Spec.TopologySpreadConstraints[i]
		c.WhenUnsatisfiable, c.MinDomains = corev1.ScheduleAnyway, nil
	}
	return pod
}

// spoil gives a pod something that can't be parsed.
func (w *town) spoil(pod *corev1.Pod) {
	bad := &metav1.LabelSelector{MatchExpressions: []metav1.LabelSelectorRequirement{{Key: "app", Operator: "In"}}}
	a := &corev1.Affinity{}
	switch pod.Spec.Affinity = a; w.IntN(4) {
	case 0:
		a.PodAffinity = &corev1.PodAffinity{RequiredDuringSchedulingIgnoredDuringExecution: append(w.podTerms(50),
			corev1.PodAffinityTerm{TopologyKey: rackKey, LabelSelector: bad})}
	case 1:
		a.PodAntiAffinity = &corev1.PodAntiAffinity{PreferredDuringSchedulingIgnoredDuringExecution: append(w.weightedPodTerms(50),
			corev1.WeightedPodAffinityTerm{Weight: 1, PodAffinityTerm: corev1.PodAffinityTerm{TopologyKey: rackKey, NamespaceSelector: bad}})}
		a.PodAntiAffinity.RequiredDuringSchedulingIgnoredDuringExecution = w.podTerms(50)
	case 2:
		c := w.constraint()
		c.LabelSelector = bad
		pod.Spec.TopologySpreadConstraints = []corev1.TopologySpreadConstraint{c}
	case 3:
		term := corev1.NodeSelectorTerm{MatchExpressions: []corev1.NodeSelectorRequirement{{Key: rankKey, Operator: "Gt", Values: []string{"four"}}}}
		a.NodeAffinity = &corev1.NodeAffinity{PreferredDuringSchedulingIgnoredDuringExecution: []corev1.PreferredSchedulingTerm{{Weight: 1, Preference: term}}}
	}
}

// owner returns references to owners, of which the controller counts.
func (w *town) owner() []metav1.OwnerReference {
	if w.chance(40) {
		return nil
	}
	controls := w.chance(90)
	ref := metav1.OwnerReference{APIVersion: "apps/v1", Kind: w.pick("ReplicaSet", "ReplicaSet", "StatefulSet", "ReplicationController", "Job"),
		Name: w.pick(apps...), Controller: &controls}
	switch {
	case w.chance(5):
		ref.APIVersion = w.pick("apps/v1beta2", "a/b/c")
	case ref.Kind == "ReplicationController":
		ref.APIVersion = "v1"
	}
	return []metav1.OwnerReference{ref}
}

func (w *town) namespace(name string) *corev1.Namespace {
	space := &corev1.Namespace{ObjectMeta: metav1.ObjectMeta{Name: name}}
	if w.chance(80) {
		space.Labels = map[string]string{}
		if w.chance(70) {
			space.Labels["env"] = w.pick("prod", "test", "")
		}
		if w.chance(30) {
			space.Labels["owner"] = w.pick("x", "")
		}
	}
	return space
}

// group returns a service or an owner of pods; few are of each kind and namespace.
func (w *town) group() any {
	meta := metav1.ObjectMeta{Name: w.pick(apps...), Namespace: w.pick(spaces[:3]...)}
	byLabels := func() map[string]string {
		switch {
		case w.chance(5):
			return nil
		case w.chance(5):
			return map[string]string{}
		}
		labels := map[string]string{"app": meta.Name}
		if w.chance(25) {
			labels["version"] = w.pick("1", "2", "")
		}
		return labels
	}
	selector := func() *metav1.LabelSelector {
		if w.chance(70) {
			return &metav1.LabelSelector{MatchLabels: byLabels()}
		}
		return w.selector()
	}
	switch w.IntN(6) {
	case 0:
		return &corev1.ReplicationController{ObjectMeta: meta, Spec: corev1.ReplicationControllerSpec{Selector: byLabels()}}
	case 1, 2:
		return &appsv1.ReplicaSet{ObjectMeta: meta, Spec: appsv1.ReplicaSetSpec{Selector: selector()}}
	case 3:
		return &appsv1.StatefulSet{ObjectMeta: meta, Spec: appsv1.StatefulSetSpec{Selector: selector()}}
	}
	if w.chance(30) {
		meta.Name = "all"
	}
	return &corev1.Service{ObjectMeta: meta, Spec: corev1.ServiceSpec{Selector: byLabels()}}
}
