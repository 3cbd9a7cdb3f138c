package profile_test

import (
	"fmt"
	"maps"
	"math/rand/v2"
	"reflect"
	"slices"
	"strconv"
	"strings"
	"testing"

	"github.com/resvec/resvec/internal/testkit"
	. "github.com/resvec/resvec/scoring/profile"
	"github.com/resvec/resvec/vector"
	"github.com/resvec/resvec/vectormap"
	appsv1 "k8s.io/api/apps/v1"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/component-helpers/scheduling/corev1/nodeaffinity"
)

// dice returns a number from 0 to n-1. All that is random comes from it.
type dice func(n int) int

// in reports true in one of n cases.
func (d dice) in(n int) bool { return d(n) == 0 }

func pick[T any](d dice, list ...T) T { return list[d(len(list))] }

// Random objects. Names and values are few, so that they meet.

const rackLabel = "rack"

var (
	spaceNames = []string{"a", "b", "c"}
	keys       = []string{corev1.LabelHostname, corev1.LabelTopologyZone, rackLabel}
)

func (d dice) node(name string) *corev1.Node {
	n := &corev1.Node{ObjectMeta: metav1.ObjectMeta{Name: name}}
	if !d.in(15) {
		n.Labels = map[string]string{}
		for _, key := range keys {
			switch value := key[:1] + pick(d, "1", "2", "1", "2", "3"); d(16) {
			case 0:
			case 1:
				n.Labels[key] = ""
			default:
				if key == corev1.LabelHostname && !d.in(8) {
					value = name
				}
				n.Labels[key] = value
			}
		}
		if d.in(3) {
			n.Labels["size"] = strconv.Itoa(d(4))
		}
	}
	n.Spec.Unschedulable = d.in(25)
	for range max(d(6)-4, 0) {
		n.Spec.Taints = append(n.Spec.Taints, d.taint())
	}
	for range d(4) {
		names := []string{d.image()}
		if d.in(3) {
			names = append(names, d.image())
		}
		n.Status.Images = append(n.Status.Images, corev1.ContainerImage{Names: names, SizeBytes: int64(d(2000)) << 20})
	}
	return n
}

// nodeLike returns a new node, or a node with one difference.
func (d dice) nodeLike(old *corev1.Node, name string) *corev1.Node {
	if old == nil || d.in(2) {
		return d.node(name)
	}
	n, other := old.DeepCopy(), d.node(name)
	switch d(6) {
	case 0:
		n.Spec.Unschedulable = !n.Spec.Unschedulable
	case 1:
		n.Status = other.Status
	case 2:
		key := pick(d, keys...)
		if n.Labels == nil {
			n.Labels = map[string]string{}
		}
		if value, ok := other.Labels[key]; ok {
			n.Labels[key] = value
		} else {
			delete(n.Labels, key)
		}
	case 3:
		n.Spec.Taints = other.Spec.Taints
	default:
		taint := d.taint()
		if len(n.Spec.Taints) == 0 {
			n.Spec.Taints = []corev1.Taint{taint}
			break
		}
		first := &n.Spec.Taints[0]
		switch d(3) {
		case 0:
			first.Key = taint.Key
		case 1:
			first.Value = taint.Value
		case 2:
			first.Effect = taint.Effect
		}
	}
	return n
}

func (d dice) taint() corev1.Taint {
	return corev1.Taint{
		Key: pick(d, "k", "l", corev1.TaintNodeUnschedulable), Value: pick(d, "", "1", "5", "v"),
		Effect: pick(d, corev1.TaintEffectNoSchedule, corev1.TaintEffectNoExecute, corev1.TaintEffectPreferNoSchedule,
			corev1.TaintEffectPreferNoSchedule, corev1.TaintEffectPreferNoSchedule),
	}
}

func (d dice) image() string {
	return pick(d, "one:latest", "one:latest", "two:2", "reg:5000/three:latest", "four@sha256:1", "five")
}

func (d dice) labels() map[string]string {
	l := map[string]string{}
	if !d.in(6) {
		l["app"] = pick(d, "web", "web", "web", "db", "cache")
	}
	if d.in(2) {
		l["tier"] = pick(d, "1", "2")
	}
	if len(l) == 0 && d.in(2) {
		return nil
	}
	return l
}

// selector returns a selector of labels of pods, or of namespaces.
func (d dice) selector(key string, values ...string) *metav1.LabelSelector {
	s := &metav1.LabelSelector{}
	switch d(10) {
	case 0:
		return nil
	case 1:
	case 2, 3, 4, 5, 6:
		s.MatchLabels = map[string]string{key: pick(d, values...)}
	default:
		e := metav1.LabelSelectorRequirement{Key: pick(d, key, key, "tier"),
			Operator: pick(d, metav1.LabelSelectorOpIn, metav1.LabelSelectorOpNotIn, metav1.LabelSelectorOpExists,
				metav1.LabelSelectorOpDoesNotExist)}
		if e.Operator == metav1.LabelSelectorOpIn || e.Operator == metav1.LabelSelectorOpNotIn {
			e.Values = []string{pick(d, values...), pick(d, values...)}
		}
		if d.in(30) {
			e.Operator = "Bad"
		}
		s.MatchExpressions = []metav1.LabelSelectorRequirement{e}
	}
	return s
}

func (d dice) podSelector() *metav1.LabelSelector { return d.selector("app", "web", "web", "db") }

func (d dice) term() corev1.PodAffinityTerm {
	t := corev1.PodAffinityTerm{LabelSelector: d.podSelector(), TopologyKey: pick(d, keys...)}
	if d.in(20) {
		t.TopologyKey = "nowhere"
	}
	if d.in(4) {
		t.Namespaces = []string{pick(d, spaceNames...)}
	}
	if d.in(3) {
		t.NamespaceSelector = d.selector("team", "red", "blue")
	}
	return t
}

func (d dice) terms() (list []corev1.PodAffinityTerm) {
	for range max(d(4)-1, 0) {
		list = append(list, d.term())
	}
	return list
}

// weight is a small one in every second case, so that sums are equal or near.
func (d dice) weight() int32 { return int32(1 + pick(d, d(3), d(100))) }

func (d dice) weighted() (list []corev1.WeightedPodAffinityTerm) {
	for _, t := range d.terms() {
		list = append(list, corev1.WeightedPodAffinityTerm{Weight: d.weight(), PodAffinityTerm: t})
	}
	return list
}

func (d dice) nodeTerm() (t corev1.NodeSelectorTerm) {
	for range d(3) {
		e := corev1.NodeSelectorRequirement{
			Key: pick(d, append(keys, "size")...),
			Operator: pick(d, corev1.NodeSelectorOpIn, corev1.NodeSelectorOpNotIn, corev1.NodeSelectorOpExists,
				corev1.NodeSelectorOpDoesNotExist),
		}
		switch e.Operator {
		case corev1.NodeSelectorOpIn, corev1.NodeSelectorOpNotIn:
			e.Values = []string{e.Key[:1] + pick(d, "1", "2"), ""}
		}
		if d.in(8) {
			e.Key, e.Values = "size", []string{strconv.Itoa(d(4))}
			e.Operator = pick(d, corev1.NodeSelectorOpGt, corev1.NodeSelectorOpLt)
		}
		if d.in(30) {
			e.Operator = "Bad"
		}
		t.MatchExpressions = append(t.MatchExpressions, e)
	}
	if d.in(6) {
		t.MatchFields = []corev1.NodeSelectorRequirement{{
			Key: metav1.ObjectNameField, Values: []string{d.nodeName()},
			Operator: pick(d, corev1.NodeSelectorOpIn, corev1.NodeSelectorOpNotIn),
		}}
	}
	return t
}

func (d dice) nodeName() string { return "n" + strconv.Itoa(d(8)) }

func (d dice) nodeAffinity() *corev1.NodeAffinity {
	a := &corev1.NodeAffinity{}
	if d.in(4) {
		a.RequiredDuringSchedulingIgnoredDuringExecution = &corev1.NodeSelector{}
		for range 1 + d(2) {
			s := a.RequiredDuringSchedulingIgnoredDuringExecution
			s.NodeSelectorTerms = append(s.NodeSelectorTerms, d.nodeTerm())
		}
	}
	for range d(3) {
		a.PreferredDuringSchedulingIgnoredDuringExecution = append(a.PreferredDuringSchedulingIgnoredDuringExecution,
			corev1.PreferredSchedulingTerm{Weight: d.weight(), Preference: d.nodeTerm()})
	}
	return a
}

func (d dice) constraint() corev1.TopologySpreadConstraint {
	c := corev1.TopologySpreadConstraint{
		MaxSkew: pick[int32](d, 1, 1, 2, 3), TopologyKey: pick(d, keys...), LabelSelector: d.podSelector(),
		WhenUnsatisfiable: pick(d, corev1.DoNotSchedule, corev1.ScheduleAnyway),
	}
	if d.in(3) {
		c.MinDomains = new(int32)
		*c.MinDomains = int32(d(5))
	}
	policy := func() *corev1.NodeInclusionPolicy {
		p := pick(d, corev1.NodeInclusionPolicyHonor, corev1.NodeInclusionPolicyIgnore)
		return pick(d, nil, &p)
	}
	c.NodeAffinityPolicy, c.NodeTaintsPolicy = policy(), policy()
	if d.in(3) {
		c.MatchLabelKeys = []string{pick(d, "tier", "app", "nothing")}
	}
	return c
}

func (d dice) container() corev1.Container {
	c := corev1.Container{Image: pick(d, "one", "one:latest", "two:2", "reg:5000/three", "four@sha256:1", "five", "")}
	for range max(d(5)-3, 0) {
		c.Ports = append(c.Ports, corev1.ContainerPort{
			HostPort: pick[int32](d, 0, 1, 80), HostIP: pick(d, "", "0.0.0.0", "10.0.0.1", "10.0.0.2"),
			Protocol: pick(d, "", corev1.ProtocolTCP, corev1.ProtocolUDP),
		})
	}
	return c
}

var always = corev1.ContainerRestartPolicyAlways

// pod returns a pod without a node.
func (d dice) pod(name string) *corev1.Pod {
	space := pick(d, spaceNames...)
	p := &corev1.Pod{ObjectMeta: metav1.ObjectMeta{Namespace: space, Name: name, UID: types.UID(space + "/" + name),
		Labels: d.labels()}}
	if d.in(6) {
		p.DeletionTimestamp = &metav1.Time{}
	}
	if d.in(2) {
		p.OwnerReferences = []metav1.OwnerReference{{
			APIVersion: pick(d, "apps/v1", "apps/v1", "v1", "apps/v1beta1", "x/y/z"), Name: pick(d, "o1", "o1", "o1", "o2"),
			Kind:       pick(d, "ReplicaSet", "ReplicaSet", "StatefulSet", "ReplicationController"),
			Controller: pick(d, &yes, &yes, &yes, nil),
		}}
	}
	s := &p.Spec
	for range max(d(5)-1, 0) {
		s.Containers = append(s.Containers, d.container())
	}
	if d.in(4) {
		c := d.container()
		c.RestartPolicy = pick(d, nil, &always)
		s.InitContainers = append(s.InitContainers, c)
	}
	if d.in(8) {
		volume(d.image())(p)
		s.Volumes = append(s.Volumes, corev1.Volume{})
	}
	for range max(d(5)-2, 0) {
		s.Tolerations = append(s.Tolerations, corev1.Toleration{
			Key: pick(d, "k", "l", "", corev1.TaintNodeUnschedulable), Value: pick(d, "", "1", "3", "v"),
			Operator: pick(d, "", corev1.TolerationOpEqual, corev1.TolerationOpExists, corev1.TolerationOpExists,
				corev1.TolerationOpLt, corev1.TolerationOpGt),
			Effect: pick(d, "", "", corev1.TaintEffectNoSchedule, corev1.TaintEffectNoExecute,
				corev1.TaintEffectPreferNoSchedule),
		})
	}
	if d.in(12) {
		key := pick(d, corev1.LabelTopologyZone, rackLabel)
		s.NodeSelector = map[string]string{key: pick(d, key[:1]+"1", key[:1]+"2", "")}
	}
	for range max(d(6)-2, 0) {
		s.TopologySpreadConstraints = append(s.TopologySpreadConstraints, d.constraint())
	}
	if d.in(2) {
		s.Affinity = &corev1.Affinity{}
		if d.in(2) {
			s.Affinity.NodeAffinity = d.nodeAffinity()
		}
		if d.in(2) {
			s.Affinity.PodAffinity = &corev1.PodAffinity{
				PreferredDuringSchedulingIgnoredDuringExecution: d.weighted(),
			}
			if d.in(2) {
				s.Affinity.PodAffinity.RequiredDuringSchedulingIgnoredDuringExecution = d.terms()
			}
		}
		if d.in(2) {
			s.Affinity.PodAntiAffinity = &corev1.PodAntiAffinity{
				RequiredDuringSchedulingIgnoredDuringExecution:  d.terms(),
				PreferredDuringSchedulingIgnoredDuringExecution: d.weighted(),
			}
		}
	}
	return p
}

var yes = true

// config returns a configuration that has no faults.
func (d dice) config() (cfg Config) {
	cfg.Minor = pick(d, 0, 36, 37)
	if d.in(2) {
		cfg.Weights = map[Plugin]int64{}
		for _, name := range weighed {
			if !d.in(4) {
				cfg.Weights[name] = int64(d(5))
			}
		}
	}
	switch d(4) {
	case 0:
		cfg.DefaultConstraints = []corev1.TopologySpreadConstraint{}
		for _, key := range keys {
			for _, kind := range []corev1.UnsatisfiableConstraintAction{corev1.DoNotSchedule, corev1.ScheduleAnyway} {
				c := d.constraint()
				c.TopologyKey, c.WhenUnsatisfiable, c.LabelSelector = key, kind, nil
				if kind == corev1.ScheduleAnyway {
					c.MinDomains = nil
				}
				if d.in(4) {
					cfg.DefaultConstraints = append(cfg.DefaultConstraints, c)
				}
			}
		}
	}
	if d.in(2) {
		cfg.HardPodAffinityWeight = new(int32)
		*cfg.HardPodAffinityWeight = int32(d(3) * 50)
	}
	cfg.IgnorePreferredTermsOfExistingPods, cfg.ComparisonOperators = d.in(4), d.in(3)
	for d.in(8) && cfg.AddedAffinity == nil {
		if a := d.nodeAffinity(); parses(a) {
			cfg.AddedAffinity = a
		}
	}
	return cfg
}

// parses reports whether all terms can be parsed.
func parses(a *corev1.NodeAffinity) bool {
	if required := a.RequiredDuringSchedulingIgnoredDuringExecution; required != nil {
		if _, err := nodeaffinity.NewNodeSelector(required); err != nil {
			return false
		}
	}
	_, err := nodeaffinity.NewPreferredSchedulingTerms(a.PreferredDuringSchedulingIgnoredDuringExecution)
	return err == nil
}

// counted is a score of resources that shows which rows it was asked for.
type counted int

func (c counted) ScorePercent(dst []int64, _ vector.PodAmounts, rows *vector.Mask) error {
	for row := range rows.All() {
		dst[row] = int64(row*37+rows.Count()*11+int(c)) % 101
	}
	return nil
}

// story is a cluster that changes, next to its golden model.
type story struct {
	testing.TB
	dice
	title string
	log   []string

	m       *vectormap.ResourceVectorMap
	nodes   *vector.Nodes
	cluster *Cluster
	places  map[string]*place // also of nodes without a row, or pods only
	pods    int               // how many pods there were, for names
	spaces  map[string]*corev1.Namespace
	service map[string]*corev1.Service
	owners  map[string]any
	assumed []assumedPod

	first, width int  // the numbers of the nodes that come
	limited      bool // the cache gets limits now and then

	profiles  []bound
	questions []Question
	frozen    []bound // of a snapshot, with what the model was then
	copied    *Cluster
}

type assumedPod struct {
	node    string
	pod     *corev1.Pod
	amounts vector.PodAmounts
}

// bound is a profile and what it is compared with.
type bound struct {
	*Profile
	cfg      Config
	extra    []Term // besides the default terms
	default_ bool
	golden   *golden // of a snapshot
}

// newStory begins a story with nodes of so many names.
func newStory(t testing.TB, title string, width int, d dice) *story {
	m := testkit.Must(vectormap.New([]string{"nvidia.com/gpu"}))
	s := &story{TB: t, dice: d, title: title, width: width, limited: true, m: m}
	s.nodes = s.m.NewNodes(vector.WithScored())
	s.cluster = NewCluster(s.nodes)
	s.places, s.spaces = map[string]*place{}, map[string]*corev1.Namespace{}
	s.service, s.owners = map[string]*corev1.Service{}, map[string]any{}
	for range 2 {
		b := bound{cfg: d.config(), default_: d.in(2)}
		if d.in(2) {
			b.extra = []Term{{Plugin: "Other", Weight: int64(d(4)), Scores: counted(d(100))}}
		}
		b.Profile = testkit.Must(Bind(b.cfg, s.cluster, s.termsOf(b, s.nodes)...))
		s.profiles = append(s.profiles, b)
	}
	for range 4 {
		s.questions = append(s.questions, s.question())
	}
	for range width/2 + d(width/2+1) {
		s.setNode()
	}
	for range d(4 * width) {
		s.setPod()
	}
	return s
}

func (s *story) nodeName() string { return "n" + strconv.Itoa(s.first+s.dice(s.width)) }

func (s *story) termsOf(b bound, nodes *vector.Nodes) (terms []Term) {
	if b.default_ {
		terms = testkit.Must(DefaultTerms(s.m, nodes))
	}
	return append(terms, b.extra...)
}

// amounts returns random amounts, whole ones.
func (s *story) amounts(most int) vector.ResourceVector {
	v := s.m.NewVector()
	for j := range v {
		v[j] = float64(s.dice(most))
	}
	return v
}

func (s *story) podAmounts() vector.PodAmounts {
	a := vector.PodAmounts{Requested: s.amounts(3)}
	if s.in(2) {
		a.Scored = s.amounts(4)
	}
	return a
}

func (s *story) question() Question {
	q := Question{Pod: s.pod("asked"), Amounts: s.podAmounts()}
	if len(s.questions) > 0 && s.in(2) { // the same as another, but for one thing
		other := q.Pod
		q.Pod = pick(s.dice, s.questions...).Pod.DeepCopy()
		switch s.dice(8) {
		case 0:
			q.Pod.Labels = other.Labels
		case 1:
			q.Pod.Namespace = other.Namespace
		case 2:
			q.Pod.OwnerReferences = other.OwnerReferences
		case 3:
			q.Pod.Spec.Tolerations = other.Spec.Tolerations
		case 4:
			q.Pod.Spec.NodeSelector = other.Spec.NodeSelector
		case 5:
			q.Pod.Spec.Affinity = other.Spec.Affinity
		case 6:
			q.Pod.Spec.Containers = other.Spec.Containers
		case 7:
			if list := q.Pod.Spec.TopologySpreadConstraints; len(list) > 0 {
				list[0].NodeAffinityPolicy = pick(s.dice, nil, pointer(corev1.NodeInclusionPolicyIgnore))
				list[0].NodeTaintsPolicy = pick(s.dice, nil, pointer(corev1.NodeInclusionPolicyHonor))
			}
		}
	}
	if s.in(20) {
		q.Pod.Spec.NodeName = s.nodeName()
	}
	return q
}

func (s *story) place(name string) *place {
	if s.places[name] == nil {
		s.places[name] = &place{name: name}
	}
	return s.places[name]
}

// setAmounts writes a row of the nodes.
func (s *story) setAmounts(name string) {
	s.note("amounts", name)
	p := s.place(name)
	p.allocatable, p.requested, p.scored = s.amounts(40), s.amounts(15), s.amounts(15)
	for j := range p.allocatable {
		p.allocatable[j] += 10
	}
	_, _, err := s.nodes.Set(name, int64(s.dice(1<<30)),
		vector.NodeAmounts{Allocatable: p.allocatable, Requested: p.requested, Scored: p.scored})
	testkit.Check(err)
}

func (s *story) setNode() {
	name := s.nodeName()
	if _, ok := s.nodes.Row(name); !ok && !s.in(20) {
		s.setAmounts(name)
	}
	if !s.in(40) {
		s.note("node", name)
		p := s.place(name)
		p.node, p.images = s.nodeLike(p.node, name), nil
		testkit.Check(s.cluster.Set(p.node))
	}
	if _, ok := s.nodes.Row(name); !ok && !s.in(20) {
		s.setAmounts(name)
	}
}

func (s *story) dropNode(name string) {
	if !s.in(3) {
		s.note("drop node", name)
		p := s.place(name)
		p.node, p.images = nil, nil
		testkit.Check(s.cluster.Delete(&corev1.Node{ObjectMeta: metav1.ObjectMeta{Name: name}}))
	}
	if !s.in(4) {
		s.note("drop row", name)
		s.nodes.Delete(name)
	}
	if _, ok := s.nodes.Row(name); !ok && s.place(name).node == nil && len(s.place(name).pods) == 0 {
		delete(s.places, name)
	}
}

// same returns whether a pod has the name of another.
func same(pod *corev1.Pod) func(*corev1.Pod) bool {
	return func(o *corev1.Pod) bool { return o.Namespace == pod.Namespace && o.Name == pod.Name }
}

// remove takes a pod from where it is.
func (s *story) remove(pod *corev1.Pod) {
	for _, p := range s.places {
		p.pods = slices.DeleteFunc(slices.Clone(p.pods), same(pod))
	}
}

// newPod returns a new pod on a node, or one that replaces another.
func (s *story) newPod(node string) *corev1.Pod {
	s.pods++
	name := "p" + strconv.Itoa(s.pods)
	if s.in(3) {
		name = "p" + strconv.Itoa(1+s.dice(s.pods))
	}
	pod := s.pod(name)
	if s.in(2) { // a replica of what is asked
		pod = pick(s.dice, s.questions...).Pod.DeepCopy()
		pod.Name, pod.UID = name, types.UID(pod.Namespace+"/"+name)
	}
	pod.Spec.NodeName = node
	return pod
}

func (s *story) setPod() {
	pod := s.newPod(s.nodeName())
	if s.in(15) {
		pod.Spec.NodeName = ""
	}
	pod.Status.Phase = pick(s.dice, "", "", corev1.PodRunning, corev1.PodRunning, corev1.PodPending, corev1.PodRunning,
		corev1.PodSucceeded, corev1.PodFailed)
	if old := s.anyPod(); old != nil && s.in(4) { // an update: it ends, moves or gets labels
		pod = old.DeepCopy()
		switch s.dice(4) {
		case 0:
			pod.DeletionTimestamp = &metav1.Time{}
		case 1:
			pod.Labels = s.labels()
		case 2:
			pod.Spec.NodeName = s.nodeName()
		case 3:
			pod.Status.Phase = corev1.PodFailed
		}
	}
	s.note("pod", pod.Namespace, pod.Name, "on", pod.Spec.NodeName)
	s.remove(pod)
	if pod.Spec.NodeName != "" && pod.Status.Phase != corev1.PodSucceeded && pod.Status.Phase != corev1.PodFailed {
		p := s.place(pod.Spec.NodeName)
		p.pods = append(p.pods, pod)
	}
	testkit.Check(s.cluster.Set(pod))
}

// count returns how many pods there are.
func (s *story) count() (n int) {
	for _, p := range s.places {
		n += len(p.pods)
	}
	return n
}

// anyPod returns a pod of the cluster, nil if there is none.
func (s *story) anyPod() *corev1.Pod {
	var all []*corev1.Pod
	for _, name := range slices.Sorted(maps.Keys(s.places)) {
		all = append(all, s.places[name].pods...)
	}
	if len(all) == 0 {
		return nil
	}
	return pick(s.dice, all...)
}

func (s *story) dropPod() {
	if pod := s.anyPod(); pod != nil {
		s.note("drop pod", pod.Namespace, pod.Name)
		s.remove(pod)
		testkit.Check(s.cluster.Delete(pod))
	}
}

// setRow writes a node and its pods at once, as it is or changed.
func (s *story) setRow() {
	name := s.nodeName()
	p := s.place(name)
	node, pods := p.node, slices.Clone(p.pods)
	if node == nil || s.in(2) {
		node = s.nodeLike(node, name)
	}
	if len(pods) > 0 && s.in(2) {
		i := s.dice(len(pods))
		pods = slices.Delete(pods, i, i+1)
	}
	if len(pods) > 0 && s.in(3) { // one with a new object
		i := s.dice(len(pods))
		pods[i] = pods[i].DeepCopy()
		pods[i].Labels = s.labels()
	}
	for range s.dice(3) {
		pod := s.newPod(pick(s.dice, name, ""))
		if !slices.ContainsFunc(pods, same(pod)) {
			pods = append(pods, pod)
		}
	}
	var images ImageStates
	if s.in(2) {
		images = s.imageStates()
	}
	s.note("row", name, "of", len(pods), "pods", "images", images != nil)
	for _, pod := range pods {
		s.remove(pod)
	}
	p.node, p.pods, p.images = node, pods, images
	testkit.Check(s.cluster.SetRow(node, slices.Clone(pods), images))
}

// imageStates returns images with numbers that nobody counts.
func (s *story) imageStates() ImageStates {
	type state struct {
		size  int64
		nodes int
	}
	states := map[string]state{}
	for range 3 {
		states[s.image()] = state{int64(s.dice(2000)) << 20, s.dice(9)}
	}
	return func(name string) (int64, int, bool) {
		i, ok := states[name]
		return i.size, i.nodes, ok
	}
}

func (s *story) setNamespace() {
	name := pick(s.dice, spaceNames...)
	n := &corev1.Namespace{ObjectMeta: metav1.ObjectMeta{Name: name}}
	if s.in(4) {
		s.note("drop namespace", name)
		delete(s.spaces, name)
		testkit.Check(s.cluster.Delete(n))
		return
	}
	if !s.in(4) {
		n.Labels = map[string]string{"team": pick(s.dice, "red", "blue", "green")}
	}
	s.note("namespace", name, n.Labels)
	s.spaces[name] = n
	testkit.Check(s.cluster.Set(n))
}

func (s *story) setService() {
	space := pick(s.dice, spaceNames...)
	v := &corev1.Service{ObjectMeta: metav1.ObjectMeta{Namespace: space, Name: pick(s.dice, "s1", "s2", "s3")}}
	key := v.Namespace + "/" + v.Name
	if s.in(3) && len(s.service) > 0 {
		key = pick(s.dice, slices.Sorted(maps.Keys(s.service))...)
		s.note("drop service", key)
		testkit.Check(s.cluster.Delete(s.service[key]))
		delete(s.service, key)
		return
	}
	v.Spec.Selector = pick(s.dice, nil, map[string]string{}, map[string]string{"app": "web"},
		map[string]string{"app": "db"}, map[string]string{"tier": "1"}, s.labels())
	s.note("service", key, v.Spec.Selector)
	s.service[key] = v
	testkit.Check(s.cluster.Set(v))
}

func (s *story) setOwner() {
	meta := metav1.ObjectMeta{Namespace: pick(s.dice, spaceNames...), Name: pick(s.dice, "o1", "o1", "o1", "o2")}
	var o any
	var kind string
	switch s.dice(4) {
	case 0:
		rc := &corev1.ReplicationController{ObjectMeta: meta}
		rc.Spec.Selector = pick(s.dice, nil, s.labels())
		o, kind = rc, "v1 ReplicationController"
	case 1:
		o, kind = &appsv1.StatefulSet{ObjectMeta: meta,
			Spec: appsv1.StatefulSetSpec{Selector: s.podSelector()}}, "apps/v1 StatefulSet"
	default:
		o, kind = &appsv1.ReplicaSet{ObjectMeta: meta,
			Spec: appsv1.ReplicaSetSpec{Selector: s.podSelector()}}, "apps/v1 ReplicaSet"
	}
	key := kind + " " + meta.Namespace + " " + meta.Name
	if s.in(3) && len(s.owners) > 0 {
		key = pick(s.dice, slices.Sorted(maps.Keys(s.owners))...)
		s.note("drop", key)
		testkit.Check(s.cluster.Delete(s.owners[key]))
		delete(s.owners, key)
		return
	}
	s.note("owner", key)
	s.owners[key] = o
	testkit.Check(s.cluster.Set(o))
}

// assume adds a pod to a row, as after a decision.
func (s *story) assume() {
	if s.nodes.Len() == 0 {
		return
	}
	row := s.dice(s.nodes.Len())
	a := assumedPod{s.nodes.Name(row), s.newPod(""), s.podAmounts()}
	s.note("assume", a.pod.Namespace, a.pod.Name, "on", a.node)
	s.remove(a.pod)
	p := s.place(a.node)
	p.pods = append(p.pods, a.pod)
	p.add(a.amounts, 1)
	s.assumed = append(s.assumed, a)
	testkit.Check(s.cluster.Assume(row, a.pod, a.amounts))
}

// forget takes an assumed pod back, unless its node has gone.
func (s *story) forget() {
	if len(s.assumed) == 0 {
		return
	}
	i := s.dice(len(s.assumed))
	a := s.assumed[i]
	s.assumed = slices.Delete(s.assumed, i, i+1)
	row, ok := s.nodes.Row(a.node)
	if !ok {
		return
	}
	s.note("forget", a.pod.Namespace, a.pod.Name, "on", a.node)
	p := s.place(a.node)
	p.pods = slices.DeleteFunc(slices.Clone(p.pods), same(a.pod))
	p.add(a.amounts, -1)
	testkit.Check(s.cluster.Forget(row, a.pod, a.amounts))
}

func (p *place) add(a vector.PodAmounts, sign float64) {
	scored := a.Scored
	if scored == nil {
		scored = a.Requested
	}
	p.requested, p.scored = p.requested.Clone(), p.scored.Clone()
	for j := range p.requested {
		p.requested[j] += sign * a.Requested[j]
		p.scored[j] += sign * scored[j]
	}
}

// snapshot brings a copy up to date, and keeps what the model says now.
func (s *story) snapshot() {
	s.note("snapshot")
	fresh := s.copied == nil
	if fresh {
		s.copied = NewCluster(new(vector.Nodes))
	}
	s.cluster.Snapshot(s.copied)
	if fresh {
		for _, b := range s.profiles {
			b.Profile = testkit.Must(Bind(b.cfg, s.copied, s.termsOf(b, s.copied.Nodes())...))
			s.frozen = append(s.frozen, b)
		}
	}
	for i := range s.frozen {
		s.frozen[i].golden = s.golden(s.frozen[i])
	}
}

// golden returns the model as it is now, for one of the profiles.
func (s *story) golden(b bound) *golden {
	g := &golden{Config: b.cfg, namespaces: maps.Clone(s.spaces), services: maps.Clone(s.service),
		owners: maps.Clone(s.owners)}
	nodes := s.m.NewNodes(vector.WithScored())
	for row := range s.nodes.Len() {
		p := *s.place(s.nodes.Name(row))
		g.places = append(g.places, &p)
		_, _, err := nodes.Set(p.name, 0,
			vector.NodeAmounts{Allocatable: p.allocatable, Requested: p.requested, Scored: p.scored})
		testkit.Check(err)
	}
	g.terms = s.termsOf(b, nodes)
	return g
}

func (s *story) note(what ...any) { s.log = append(s.log, fmt.Sprintln(what...)) }

func (s *story) fatal(what ...any) {
	s.Helper()
	s.Fatalf("%s after %d events, the last\n%s%s", s.title, len(s.log),
		strings.Join(s.log[max(len(s.log)-20, 0):], ""), fmt.Sprintln(what...))
}

// change changes something that a copy has nothing to do with.
func (s *story) change() {
	pick(s.dice, s.setNode, s.setNode, func() { s.dropNode(s.nodeName()) }, s.setPod, s.setPod, s.setPod, s.setPod,
		s.dropPod, s.dropPod,
		s.setRow, s.setRow, s.setNamespace, s.setNamespace, s.setService, s.setService,
		s.setOwner, s.setOwner, s.setOwner, s.assume, s.assume, s.forget,
		func() { s.setAmounts(s.nodeName()) },
		func() { s.questions[s.dice(len(s.questions))] = s.question() })()
}

// step changes something, and compares the answers to a question.
func (s *story) step() {
	for range 1 + s.dice(3) {
		switch s.dice(12) {
		case 0:
			s.snapshot()
		case 1:
			if limit := int64(s.dice(3) * 20_000); s.limited {
				s.note("limit", limit)
				pick(s.dice, s.profiles...).LimitCache(limit)
			}
		default:
			s.change()
		}
	}
	q := pick(s.dice, s.questions...)
	if s.in(3) && s.nodes.Len() > 0 {
		q.Rows = vector.NewMask(s.nodes.Len())
		for row := range s.nodes.Len() {
			if !s.in(3) {
				q.Rows.Set(row)
			}
		}
	}
	b := pick(s.dice, s.profiles...)
	s.compare(b, s.golden(b), q)
	if len(s.frozen) > 0 && s.in(3) {
		b := pick(s.dice, s.frozen...)
		q := pick(s.dice, s.questions...)
		s.compare(b, b.golden, q)
	}
}

// compare compares all answers to a question, in any order: the first one brings what is kept in
// step.
func (s *story) compare(b bound, g *golden, q Question) {
	s.Helper()
	if broken(q.Pod) {
		s.compareBroken(b, q, len(g.places))
		return
	}
	a := g.ask(q)
	fits, all := vector.NewMask(len(g.places)), make([]int64, len(g.places)) // by row
	for i, row := range a.feasible {
		fits.Set(row)
		all[row] = a.total[i]
	}
	comparisons := []func(){
		func() { s.compareFeasible(b, q, a, fits) },
		func() { s.compareTotals(b, q, a, fits) },
		func() { s.compareBest(b, q, fits, all) },
		func() { s.compareExplained(b, q, a) },
		func() { s.compareRaw(b, g, q, nil) },
		func() { s.compareRaw(b, g, q, fits) },
		func() { s.compareHard(b, g, q) },
	}
	first := s.dice(len(comparisons))
	for i := range comparisons {
		comparisons[(first+i)%len(comparisons)]()
	}
}

func (s *story) compareFeasible(b bound, q Question, a answer, fits *vector.Mask) {
	s.Helper()
	var mask vector.Mask
	s.check(b.Feasible(&mask, q))
	if !mask.Equal(fits) {
		s.fatal("feasible ", slices.Collect(mask.All()), ", want ", a.feasible, " of ", a.reasons, q.Pod)
	}
}

func (s *story) compareTotals(b bound, q Question, a answer, fits *vector.Mask) {
	s.Helper()
	var mask vector.Mask
	totals := make([]int64, fits.Len())
	s.check(b.Totals(totals, &mask, q))
	if !mask.Equal(fits) {
		s.fatal("feasible with totals: ", slices.Collect(mask.All()), ", want ", a.feasible)
	}
	for i, row := range a.feasible {
		if totals[row] != a.total[i] {
			e, err := b.Explain(q, row)
			s.fatal("total of row ", row, " is ", totals[row], ", want ", a.total[i], " of ", a.score, e, err)
		}
	}
}

func (s *story) compareBest(b bound, q Question, fits *vector.Mask, totals []int64) {
	s.Helper()
	seed := uint64(s.dice(100))
	cursor := s.dice(fits.Len() + 1)
	cursor2 := cursor
	for _, tie := range [][2]vector.Tie{
		{vector.TieLowest(), vector.TieLowest()}, {vector.TieSeeded(seed), vector.TieSeeded(seed)},
		{vector.TieRoundRobin(&cursor), vector.TieRoundRobin(&cursor2)},
	} {
		row, ok, err := b.Best(q, tie[0])
		s.check(err)
		if best := vector.ArgMax(totals, fits, tie[1]); ok != (best >= 0) || ok && row != best {
			s.fatal("best is ", row, ok, ", want ", best)
		}
		k := 1 + s.dice(fits.Len()+1)
		top, err := b.TopK(nil, q, k, tie[0])
		s.check(err)
		if best := vector.TopK(nil, totals, fits, k, tie[1]); !slices.Equal(top, best) {
			s.fatal("top ", k, " are ", top, ", want ", best)
		}
	}
}

func (s *story) check(err error) {
	s.Helper()
	if err != nil {
		s.fatal("error: ", err)
	}
}

// compareBroken wants errors.
func (s *story) compareBroken(b bound, q Question, n int) {
	s.Helper()
	if _, _, err := b.Best(q, vector.TieLowest()); err == nil {
		s.fatal("no error of best for ", q.Pod)
	}
	mask := vector.NewMask(n)
	mask.SetAll()
	if err := b.Totals(make([]int64, n), mask, q); err == nil {
		s.fatal("no error of totals for ", q.Pod)
	}
}

// compareExplained compares the reasons and scores of all rows.
func (s *story) compareExplained(b bound, q Question, a answer) {
	s.Helper()
	count := map[Reason]int{}
	for row, why := range a.reasons {
		if q.Rows != nil && !q.Rows.Test(row) {
			continue
		}
		if why != Fits {
			count[why]++
		}
		e, err := b.Explain(q, row)
		s.check(err)
		if e.Reason != why {
			s.fatal("row ", row, ": ", e.Reason, ", want ", why, q.Pod)
		}
		i := slices.Index(a.feasible, row)
		if i < 0 {
			continue
		}
		if e.Total != a.total[i] {
			s.fatal("explained total of row ", row, " is ", e.Total, ", want ", a.total[i])
		}
		sum := int64(0)
		for _, p := range e.Plugins {
			if p.Score != a.score[p.Plugin][i] || p.Raw != a.raw[p.Plugin][i] {
				s.fatal("row ", row, ": ", p, ", want ", a.raw[p.Plugin][i], a.score[p.Plugin][i], " of ", a.raw[p.Plugin])
			}
			sum += p.Weight * p.Score
		}
		if sum != e.Total {
			s.fatal("row ", row, ": plugins add up to ", sum, ", want ", e.Total)
		}
	}
	rejections, err := b.Rejections(q)
	s.check(err)
	got := map[Reason]int{}
	for _, r := range rejections {
		got[r.Reason] += r.Rows
	}
	if !maps.Equal(got, count) {
		s.fatal("rejections ", got, ", want ", count)
	}
}

// compareRaw compares the raw scores of some rows, and what they become.
func (s *story) compareRaw(b bound, g *golden, q Question, rows *vector.Mask) {
	s.Helper()
	var on []*place
	var index []int
	for row, p := range g.places {
		if p.node != nil && (rows == nil || rows.Test(row)) {
			on, index = append(on, p), append(index, row)
		}
	}
	for _, name := range weighed {
		dst := make([]int64, len(g.places))
		scored, err := b.RawScores(dst, name, q.Pod, rows)
		s.check(err)
		raw, score := g.scoresOf(name, q.Pod, on)
		var got []int64
		for _, row := range index {
			got = append(got, dst[row])
		}
		normalized := slices.Clone(got)
		if scored {
			Normalize(name, normalized)
		}
		for i, x := range got {
			if x == Unscored && name == PodTopologySpread {
				got[i] = 0
			}
		}
		if !slices.Equal(got, raw) || !slices.Equal(normalized, score) {
			s.fatal(name, scored, " of ", index, ": ", got, normalized, ", want ", raw, score)
		}
	}
}

// compareHard compares the hard states, while pods come and go in thought.
func (s *story) compareHard(b bound, g *golden, q Question) {
	s.Helper()
	spread, err := b.Spread(q.Pod)
	s.check(err)
	affinity, err := b.Affinity(q.Pod)
	s.check(err)
	goldenSpread, goldenAffinity := g.spread(q.Pod), g.affinity(q.Pod)
	if (spread == nil) != (goldenSpread == nil) || (affinity == nil) != (goldenAffinity == nil) {
		s.fatal("hard states: ", spread != nil, affinity != nil, ", want ", goldenSpread != nil, goldenAffinity != nil, q.Pod)
	}
	known := g.known()
	check := func(spread *Spread, affinity *Affinity) {
		s.Helper()
		for _, p := range known {
			if spread != nil {
				if got, want := spread.Check(p.node), goldenSpread.check(p.node); got != want {
					s.fatal("spread on ", p.name, ": ", got, ", want ", want, q.Pod)
				}
			}
			if affinity != nil {
				if got, want := affinity.Check(p.node), goldenAffinity.check(p.node); got != want {
					s.fatal("affinity on ", p.name, ": ", got, ", want ", want, q.Pod)
				}
			}
		}
	}
	check(spread, affinity)
	if len(known) == 0 || !s.in(2) {
		return
	}
	move := func(spread *Spread, affinity *Affinity, node *corev1.Node, pod *corev1.Pod, sign int) {
		if spread != nil {
			spread.Move(node, pod, sign)
		}
		if affinity != nil {
			affinity.Move(node, pod, sign)
		}
	}
	clone := func(spread *Spread, affinity *Affinity) (*Spread, *Affinity) {
		if spread != nil {
			spread = spread.Clone()
		}
		if affinity != nil {
			affinity = affinity.Clone()
		}
		return spread, affinity
	}
	known = append(known, &place{name: "foreign", node: s.node("foreign")})
	moved, movedAffinity := clone(spread, affinity)
	gone := map[*corev1.Pod]bool{}
	for range 1 + s.dice(5) {
		p := pick(s.dice, known...)
		pod, sign := s.newPod(p.name), 1
		if len(p.pods) > 0 && s.in(2) {
			if pod, sign = pick(s.dice, p.pods...), -1; gone[pod] {
				continue
			}
			gone[pod] = true
		}
		if spread != nil {
			goldenSpread.move(p.node, pod, sign)
		}
		if affinity != nil {
			goldenAffinity.move(p.node, pod, sign)
		}
		move(moved, movedAffinity, p.node, pod, sign)
		check(moved, movedAffinity)
		other, otherAffinity := clone(moved, movedAffinity) // what moves leaves what it is a copy of
		move(other, otherAffinity, p.node, pod, -sign)
		move(other, otherAffinity, pick(s.dice, known...).node, s.newPod(""), 1)
		check(moved, movedAffinity)
	}
	goldenSpread, goldenAffinity = g.spread(q.Pod), g.affinity(q.Pod)
	check(spread, affinity)
}

// seeded are dice that fall as a seed says.
func seeded(seed uint64) dice { return rand.New(rand.NewPCG(seed, 0)).IntN }

// TestGolden compares random stories with the golden model: RESVEC_STORIES of them, from the
// seed RESVEC_SEED on.
func TestGolden(t *testing.T) {
	n := testkit.Environment(t, "RESVEC_STORIES", uint64(testkit.Amount(t, 30, 300, 10_000)))
	first := testkit.Environment(t, "RESVEC_SEED", 1)
	for seed := first; seed < first+n; seed++ {
		s := newStory(t, fmt.Sprint("seed ", seed), 8, seeded(seed))
		for range 20 {
			s.step()
		}
	}
}

// TestGoldenWide has more rows than a word has bits.
func TestGoldenWide(t *testing.T) {
	for seed := range testkit.Amount(t, 5, 30, 1000) {
		s := newStory(t, fmt.Sprint("wide seed ", seed), 150, seeded(uint64(seed)))
		for range 10 {
			s.step()
		}
	}
}

// TestGoldenLong has nodes with new names again and again, so that numbers of labels and of
// classes are used anew.
func TestGoldenLong(t *testing.T) {
	for seed := range testkit.Amount(t, 1, 3, 50) {
		s := newStory(t, fmt.Sprint("long seed ", seed), 8, seeded(uint64(seed)))
		s.limited = false
		for range 1000 {
			s.first += s.dice(3)
			for range s.dice(3) {
				s.setNode()
			}
			for s.nodes.Len() > 10 {
				s.dropNode(s.nodes.Name(s.dice(s.nodes.Len())))
			}
			for s.count() > 30 {
				s.dropPod()
			}
			s.step()
		}
	}
}

// TestGoldenCopy has a copy that is read while the cluster is written.
func TestGoldenCopy(t *testing.T) {
	for seed := range testkit.Amount(t, 5, 30, 1000) {
		s := newStory(t, fmt.Sprint("copied seed ", seed), 8, seeded(uint64(seed)))
		for range 5 {
			s.snapshot()
			reader := *s
			reader.log, reader.dice, reader.questions = nil, seeded(uint64(seed)), slices.Clone(s.questions)
			done := make(chan bool)
			go func() {
				defer close(done)
				for range 5 {
					b := pick(reader.dice, reader.frozen...)
					reader.compare(b, b.golden, pick(reader.dice, reader.questions...))
				}
			}()
			for range 50 {
				s.change()
			}
			<-done
		}
	}
}

// TestGoldenEnd deletes everything in the end: then nothing is left in any map of a cluster.
func TestGoldenEnd(t *testing.T) {
	for seed := range testkit.Amount(t, 5, 30, 1000) {
		s := newStory(t, fmt.Sprint("ended seed ", seed), 8, seeded(uint64(seed)))
		for range 200 {
			s.change()
		}
		for s.count() > 0 {
			s.dropPod()
		}
		for _, key := range slices.Sorted(maps.Keys(s.places)) {
			testkit.Check(s.cluster.Delete(newNode(key)))
		}
		for _, n := range s.spaces {
			testkit.Check(s.cluster.Delete(n))
		}
		for _, v := range s.service {
			testkit.Check(s.cluster.Delete(v))
		}
		for _, o := range s.owners {
			testkit.Check(s.cluster.Delete(o))
		}
		left(t, reflect.ValueOf(s.cluster).Elem())
	}
}

// left wants the maps of a struct to be empty.
func left(t *testing.T, v reflect.Value) {
	for i := range v.NumField() {
		switch f := v.Field(i); f.Kind() {
		case reflect.Map:
			if f.Len() > 0 {
				t.Errorf("%s.%s has %d elements", v.Type(), v.Type().Field(i).Name, f.Len())
			}
		case reflect.Struct:
			left(t, f)
		}
	}
}

// TestGoldenBacklog has more changes between two questions than logs remember.
func TestGoldenBacklog(t *testing.T) {
	for seed := range testkit.Amount(t, 1, 1, 10) {
		s := newStory(t, fmt.Sprint("backlog seed ", seed), 8, seeded(uint64(seed)))
		s.snapshot()
		for range 3 {
			for range 5 {
				s.step()
			}
			for range 10_000 {
				s.setPod()
				s.dropPod()
			}
			s.snapshot()
		}
	}
}
