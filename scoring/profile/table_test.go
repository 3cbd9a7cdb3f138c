package profile_test

import (
	"fmt"
	"maps"
	"math"
	"reflect"
	"slices"
	"strings"
	"testing"

	"github.com/resvec/resvec/internal/testkit"
	. "github.com/resvec/resvec/scoring/profile"
	"github.com/resvec/resvec/vector"
	"github.com/resvec/resvec/vectormap"
	appsv1 "k8s.io/api/apps/v1"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
)

const (
	zoneKey = corev1.LabelTopologyZone
	hostKey = corev1.LabelHostname

	noSchedule = corev1.TaintEffectNoSchedule
	noExecute  = corev1.TaintEffectNoExecute
	preferNo   = corev1.TaintEffectPreferNoSchedule

	exists = corev1.TolerationOpExists
)

// Objects of the tables. What changes one is applied in order.

func newNode(name string, change ...func(*corev1.Node)) *corev1.Node {
	n := &corev1.Node{ObjectMeta: metav1.ObjectMeta{Name: name, Labels: map[string]string{hostKey: name}}}
	for _, f := range change {
		f(n)
	}
	return n
}

func labeled(key, value string) func(*corev1.Node) {
	return func(n *corev1.Node) { n.Labels[key] = value }
}

func zone(value string) func(*corev1.Node) { return labeled(zoneKey, value) }

func without(key string) func(*corev1.Node) { return func(n *corev1.Node) { delete(n.Labels, key) } }

func tainted(effects ...corev1.TaintEffect) func(*corev1.Node) {
	return func(n *corev1.Node) {
		for i, e := range effects {
			n.Spec.Taints = append(n.Spec.Taints, corev1.Taint{Key: fmt.Sprint("t", i), Value: "5", Effect: e})
		}
	}
}

func cordoned(n *corev1.Node) { n.Spec.Unschedulable = true }

func image(name string, mebibytes int64) func(*corev1.Node) {
	return func(n *corev1.Node) {
		n.Status.Images = append(n.Status.Images, corev1.ContainerImage{Names: []string{name}, SizeBytes: mebibytes << 20})
	}
}

// newPod returns a pod of namespace a with the label app=web.
func newPod(name string, change ...func(*corev1.Pod)) *corev1.Pod {
	p := &corev1.Pod{ObjectMeta: metav1.ObjectMeta{Namespace: "a", Name: name, Labels: map[string]string{"app": "web"}}}
	for _, f := range change {
		f(p)
	}
	return p
}

func on(node string) func(*corev1.Pod) { return func(p *corev1.Pod) { p.Spec.NodeName = node } }

func of(namespace string) func(*corev1.Pod) { return func(p *corev1.Pod) { p.Namespace = namespace } }

func app(value string) func(*corev1.Pod) { return func(p *corev1.Pod) { p.Labels["app"] = value } }

func terminating(p *corev1.Pod) { p.DeletionTimestamp = &metav1.Time{} }

func tolerates(t ...corev1.Toleration) func(*corev1.Pod) {
	return func(p *corev1.Pod) { p.Spec.Tolerations = t }
}

func spreads(c ...corev1.TopologySpreadConstraint) func(*corev1.Pod) {
	return func(p *corev1.Pod) { p.Spec.TopologySpreadConstraints = c }
}

func affinity(a corev1.Affinity) func(*corev1.Pod) {
	return func(p *corev1.Pod) { p.Spec.Affinity = &a }
}

func images(names ...string) func(*corev1.Pod) {
	return func(p *corev1.Pod) {
		for _, name := range names {
			p.Spec.Containers = append(p.Spec.Containers, corev1.Container{Image: name})
		}
	}
}

func volume(name string) func(*corev1.Pod) {
	return func(p *corev1.Pod) {
		p.Spec.Volumes = append(p.Spec.Volumes,
			corev1.Volume{VolumeSource: corev1.VolumeSource{Image: &corev1.ImageVolumeSource{Reference: name}}})
	}
}

func port(number int32, ip string, protocol corev1.Protocol) func(*corev1.Pod) {
	return func(p *corev1.Pod) {
		p.Spec.Containers = append(p.Spec.Containers,
			corev1.Container{Ports: []corev1.ContainerPort{{HostPort: number, HostIP: ip, Protocol: protocol}}})
	}
}

// initial makes the last container an init container, one that goes on if policy is set.
func initial(policy *corev1.ContainerRestartPolicy) func(*corev1.Pod) {
	return func(p *corev1.Pod) {
		last := len(p.Spec.Containers) - 1
		p.Spec.Containers[last].RestartPolicy = policy
		p.Spec.InitContainers = append(p.Spec.InitContainers, p.Spec.Containers[last])
		p.Spec.Containers = p.Spec.Containers[:last]
	}
}

var (
	web  = &metav1.LabelSelector{MatchLabels: map[string]string{"app": "web"}}
	db   = &metav1.LabelSelector{MatchLabels: map[string]string{"app": "db"}}
	all  = &metav1.LabelSelector{}
	bad  = &metav1.LabelSelector{MatchExpressions: []metav1.LabelSelectorRequirement{{Key: "app", Operator: "Bad"}}}
	none = &metav1.LabelSelector{MatchExpressions: []metav1.LabelSelectorRequirement{{Key: "team",
		Operator: metav1.LabelSelectorOpDoesNotExist}}}
	red = &metav1.LabelSelector{MatchLabels: map[string]string{"team": "red"}}
)

func hard(key string, skew int32, s *metav1.LabelSelector) corev1.TopologySpreadConstraint {
	return corev1.TopologySpreadConstraint{MaxSkew: skew, TopologyKey: key, WhenUnsatisfiable: corev1.DoNotSchedule,
		LabelSelector: s}
}

func soft(key string, skew int32, s *metav1.LabelSelector) corev1.TopologySpreadConstraint {
	return corev1.TopologySpreadConstraint{MaxSkew: skew, TopologyKey: key, WhenUnsatisfiable: corev1.ScheduleAnyway,
		LabelSelector: s}
}

func term(key string, s *metav1.LabelSelector) corev1.PodAffinityTerm {
	return corev1.PodAffinityTerm{TopologyKey: key, LabelSelector: s}
}

func requires(t ...corev1.PodAffinityTerm) func(*corev1.Pod) {
	return affinity(corev1.Affinity{PodAffinity: &corev1.PodAffinity{RequiredDuringSchedulingIgnoredDuringExecution: t}})
}

func avoids(t ...corev1.PodAffinityTerm) func(*corev1.Pod) {
	return affinity(corev1.Affinity{
		PodAntiAffinity: &corev1.PodAntiAffinity{RequiredDuringSchedulingIgnoredDuringExecution: t}})
}

func likes(weight int32, t corev1.PodAffinityTerm) func(*corev1.Pod) {
	return affinity(corev1.Affinity{PodAffinity: &corev1.PodAffinity{
		PreferredDuringSchedulingIgnoredDuringExecution: []corev1.WeightedPodAffinityTerm{{Weight: weight,
			PodAffinityTerm: t}}}})
}

func dislikes(weight int32, t corev1.PodAffinityTerm) func(*corev1.Pod) {
	return affinity(corev1.Affinity{PodAntiAffinity: &corev1.PodAntiAffinity{
		PreferredDuringSchedulingIgnoredDuringExecution: []corev1.WeightedPodAffinityTerm{{Weight: weight,
			PodAffinityTerm: t}}}})
}

func labelIn(key string, values ...string) corev1.NodeSelectorTerm {
	return corev1.NodeSelectorTerm{MatchExpressions: []corev1.NodeSelectorRequirement{{Key: key,
		Operator: corev1.NodeSelectorOpIn, Values: values}}}
}

func selecting(t ...corev1.NodeSelectorTerm) *corev1.NodeAffinity {
	return &corev1.NodeAffinity{RequiredDuringSchedulingIgnoredDuringExecution: &corev1.NodeSelector{NodeSelectorTerms: t}}
}

func weighing(weight int32, t corev1.NodeSelectorTerm) corev1.PreferredSchedulingTerm {
	return corev1.PreferredSchedulingTerm{Weight: weight, Preference: t}
}

func preferring(t ...corev1.PreferredSchedulingTerm) *corev1.NodeAffinity {
	return &corev1.NodeAffinity{PreferredDuringSchedulingIgnoredDuringExecution: t}
}

func nodeAffinity(a *corev1.NodeAffinity) func(*corev1.Pod) {
	return affinity(corev1.Affinity{NodeAffinity: a})
}

func service(selector map[string]string) *corev1.Service {
	return &corev1.Service{ObjectMeta: metav1.ObjectMeta{Namespace: "a", Name: "s"},
		Spec: corev1.ServiceSpec{Selector: selector}}
}

func namespace(name string, labels map[string]string) *corev1.Namespace {
	return &corev1.Namespace{ObjectMeta: metav1.ObjectMeta{Name: name, Labels: labels}}
}

func pointer[T any](x T) *T { return &x }

// newCluster returns a cluster of these objects. Nodes have cpu 10 (in thousandths).
func newCluster(objects ...any) *Cluster {
	m := testkit.Must(vectormap.New(nil))
	nodes := m.NewNodes(vector.WithScored())
	c := NewCluster(nodes)
	for _, o := range objects {
		if n, ok := o.(*corev1.Node); ok {
			_, _, err := nodes.Set(n.Name, 0, vector.NodeAmounts{Allocatable: vector.ResourceVector{10}})
			testkit.Check(err)
		}
		testkit.Check(c.Set(o))
	}
	return c
}

// zones are three nodes in zones x, x and y.
func zones(more ...any) []any {
	return append([]any{newNode("n0", zone("x")), newNode("n1", zone("x")), newNode("n2", zone("y"))}, more...)
}

func TestScores(t *testing.T) {
	listed := Config{DefaultConstraints: []corev1.TopologySpreadConstraint{soft(hostKey, 3, nil), soft(zoneKey, 5, nil)}}
	webs := []any{service(web.MatchLabels), newPod("p0", on("n0")), newPod("p1", on("n0")), newPod("p2", on("n2"))}
	taintedZone := []any{newNode("n0", zone("x")), newNode("n1", zone("x"), tainted(noSchedule)), newNode("n2", zone("y")),
		newPod("p0", on("n1")), newPod("p1", on("n1"))}
	honoring := soft(zoneKey, 1, web)
	honoring.NodeTaintsPolicy = pointer(corev1.NodeInclusionPolicyHonor)
	keyed := soft(zoneKey, 1, all)
	keyed.MatchLabelKeys = []string{"app", "no"}
	for _, c := range []struct {
		name    string
		plugin  Plugin
		cfg     Config
		objects []any
		pod     *corev1.Pod
		raw     []int64 // by row
		score   []int64
	}{
		{"no taint is 100", TaintToleration, Config{}, []any{newNode("n0"), newNode("n1")}, newPod("p"), []int64{0, 0},
			[]int64{100, 100}},
		{"0, 1 and 3 taints of 3", TaintToleration, Config{},
			[]any{newNode("n0"), newNode("n1", tainted(preferNo)), newNode("n2", tainted(preferNo, preferNo, preferNo))},
			newPod("p"), []int64{0, 1, 3}, []int64{100, 67, 0}},
		{"a toleration of NoSchedule isn't one of PreferNoSchedule", TaintToleration, Config{},
			[]any{newNode("n0"), newNode("n1", tainted(preferNo))},
			newPod("p", tolerates(corev1.Toleration{Operator: exists, Effect: noSchedule})), []int64{0, 1}, []int64{100, 0}},
		{"a toleration of all effects is", TaintToleration, Config{},
			[]any{newNode("n0"), newNode("n1", tainted(preferNo, preferNo))},
			newPod("p", tolerates(corev1.Toleration{Key: "t1", Operator: exists})), []int64{0, 1}, []int64{100, 0}},

		{"29 of 50 is 58", NodeAffinity, Config{}, zones(), newPod("p", nodeAffinity(preferring(
			weighing(29, labelIn(zoneKey, "x", "y")),
			weighing(21, labelIn(zoneKey, "y"))))), []int64{29, 29, 50}, []int64{58, 58, 100}},
		{"nothing matches", NodeAffinity, Config{}, zones(), newPod("p", nodeAffinity(preferring(
			weighing(29, labelIn(zoneKey, "z"))))), []int64{0, 0, 0}, []int64{0, 0, 0}},
		{"nothing is preferred", NodeAffinity, Config{}, zones(), newPod("p"), []int64{0, 0, 0}, []int64{0, 0, 0}},
		{"added affinity", NodeAffinity, Config{AddedAffinity: preferring(weighing(3, labelIn(zoneKey, "x")))},
			zones(), newPod("p", nodeAffinity(preferring(weighing(4, labelIn(zoneKey, "y"))))),
			[]int64{3, 3, 4}, []int64{75, 75, 100}},
		{"an empty term prefers nothing", NodeAffinity, Config{}, zones(),
			newPod("p", nodeAffinity(preferring(weighing(4, corev1.NodeSelectorTerm{})))),
			[]int64{0, 0, 0}, []int64{0, 0, 0}},

		// n0: 2·ln 5 + 2 + 2·ln 4 + 4 = 11.99; n1: 0 + 2 + 2·ln 4 + 4 = 8.77; n2: ln 5 + 2 + ln 4 + 4 = 9.00.
		{"system defaults", PodTopologySpread, Config{}, zones(webs...), newPod("p"), []int64{12, 9, 9},
			[]int64{75, 100, 100}},
		// Sizes are 4 and 3: "" is a value. n0: 2·ln 6 + 2 + 2·ln 5 + 4 = 12.80; n1: 9.22; n2: 9.40; n3: 2.
		{"a node without zone has its hostname", PodTopologySpread, Config{}, append(zones(webs...), newNode("n3")),
			newPod("p"),
			[]int64{13, 9, 9, 2}, []int64{15, 46, 46, 100}},
		{"but not with a list", PodTopologySpread, listed, append(zones(webs...), newNode("n3")), newPod("p"),
			[]int64{12, 9, 9, 0}, []int64{75, 100, 100, 0}},
		// The node without zone adds to the zone "": n3 has 1·ln 4 + 4 = 5.39 and 2.
		{"a missing zone counts as the empty one", PodTopologySpread, Config{},
			[]any{newNode("n0", zone("")), newNode("n1"), newPod("p0", on("n1")), service(web.MatchLabels)},
			newPod("p"), []int64{7, 3}, []int64{42, 100}},
		{"an empty list has no constraints", PodTopologySpread,
			Config{DefaultConstraints: []corev1.TopologySpreadConstraint{}}, zones(webs...), newPod("p"),
			[]int64{0, 0, 0}, []int64{0, 0, 0}},
		{"no service, no owner", PodTopologySpread, Config{}, zones(webs[1:]...), newPod("p"), []int64{0, 0, 0},
			[]int64{0, 0, 0}},
		{"a service that selects nothing selects nothing", PodTopologySpread, Config{},
			zones(append(webs[1:], service(nil))...), newPod("p"), []int64{0, 0, 0}, []int64{0, 0, 0}},
		{"other namespace, and terminating", PodTopologySpread, Config{},
			zones(service(web.MatchLabels), newPod("p0", on("n0"), of("b")), newPod("p1", on("n2"), terminating)),
			newPod("p"), []int64{6, 6, 6}, []int64{100, 100, 100}},
		{"no pods, no skew", PodTopologySpread, Config{}, zones(), newPod("p", spreads(soft(zoneKey, 1, web))),
			[]int64{0, 0, 0}, []int64{100, 100, 100}},
		{"an empty selector counts nothing", PodTopologySpread, Config{}, zones(webs...),
			newPod("p", spreads(soft(zoneKey, 2, all))),
			[]int64{1, 1, 1}, []int64{100, 100, 100}},
		{"with a key it isn't empty", PodTopologySpread, Config{}, zones(webs...), newPod("p", spreads(keyed)),
			[]int64{3, 3, 1}, []int64{33, 33, 100}},
		{"no selector selects nothing", PodTopologySpread, Config{}, zones(webs...),
			newPod("p", spreads(soft(zoneKey, 1, nil))),
			[]int64{0, 0, 0}, []int64{100, 100, 100}},
		// Zone y isn't admitted, so it counts 0, but is a value. x: 2·ln 4 = 2.77.
		{"nodes with taints count", PodTopologySpread, Config{}, taintedZone, newPod("p", spreads(soft(zoneKey, 1, web))),
			[]int64{3, 0, 0}, []int64{0, 0, 100}},
		{"or not", PodTopologySpread, Config{}, taintedZone, newPod("p", spreads(honoring)), []int64{0, 0, 0},
			[]int64{100, 0, 100}},

		{"29 of 50 is 57", InterPodAffinity, Config{},
			[]any{newNode("n0", zone("x")), newNode("n1", zone("y")), newNode("n2"),
				newPod("p0", on("n0"), likes(50, term(zoneKey, web))), newPod("p1", on("n1"), likes(29, term(zoneKey, web)))},
			newPod("p"), []int64{50, 29, 0}, []int64{100, 57, 0}},
		{"what the pod prefers", InterPodAffinity, Config{},
			zones(newPod("p0", on("n0"), app("db")), newPod("p1", on("n1"), app("db"), terminating)),
			newPod("p", likes(10, term(zoneKey, db))), []int64{20, 20, 0}, []int64{100, 100, 0}},
		{"and what not", InterPodAffinity, Config{}, zones(newPod("p0", on("n0"), app("db"))),
			newPod("p", dislikes(10, term(hostKey, db))),
			[]int64{-10, 0, 0}, []int64{0, 100, 100}},
		{"required of others counts 1", InterPodAffinity, Config{},
			zones(newPod("p0", on("n2"), requires(term(zoneKey, web)))), newPod("p"),
			[]int64{0, 0, 1}, []int64{0, 0, 100}},
		{"or what is configured", InterPodAffinity, Config{HardPodAffinityWeight: pointer[int32](7)},
			zones(newPod("p0", on("n2"), requires(term(zoneKey, web))),
				newPod("p1", on("n0"), likes(14, term(zoneKey, web)))), newPod("p"),
			[]int64{14, 14, 7}, []int64{100, 100, 0}},
		{"or nothing", InterPodAffinity, Config{HardPodAffinityWeight: pointer[int32](0)},
			zones(newPod("p0", on("n2"), requires(term(zoneKey, web)))), newPod("p"),
			[]int64{0, 0, 0}, []int64{0, 0, 0}},
		{"others are ignored", InterPodAffinity, Config{IgnorePreferredTermsOfExistingPods: true},
			zones(newPod("p0", on("n0"), likes(5, term(hostKey, web)))),
			newPod("p"), []int64{0, 0, 0}, []int64{0, 0, 0}},
		{"unless the pod prefers something", InterPodAffinity, Config{IgnorePreferredTermsOfExistingPods: true},
			zones(newPod("p0", on("n0"), likes(5, term(hostKey, web)))),
			newPod("p", likes(1, term(hostKey, db))), []int64{5, 0, 0}, []int64{100, 0, 0}},
		{"terms that can't be parsed", InterPodAffinity, Config{},
			zones(newPod("p0", on("n0"), affinity(corev1.Affinity{PodAffinity: &corev1.PodAffinity{
				PreferredDuringSchedulingIgnoredDuringExecution: []corev1.WeightedPodAffinityTerm{{Weight: 5,
					PodAffinityTerm: term(hostKey, web)}, {Weight: 5, PodAffinityTerm: term(hostKey, bad)}},
				RequiredDuringSchedulingIgnoredDuringExecution: []corev1.PodAffinityTerm{term(hostKey, web)}}}))), newPod("p"),
			[]int64{1, 0, 0}, []int64{100, 0, 0}},

		// 500 · ½ = 250 MiB: 100 · 227 / 977.
		{"on one of two nodes", ImageLocality, Config{}, []any{newNode("n0", image("one:latest", 500)), newNode("n1")},
			newPod("p", images("one")), []int64{23, 0}, []int64{23, 0}},
		// On both: 500 MiB of 2,000: 100 · 477 / 1977.
		{"of two containers", ImageLocality, Config{},
			[]any{newNode("n0", image("h:5/one:latest", 500)), newNode("n1", image("h:5/one:latest", 500))},
			newPod("p", images("h:5/one", "two")), []int64{24, 24}, []int64{24, 24}},
		{"twice", ImageLocality, Config{}, []any{newNode("n0", image("one:1", 500))}, newPod("p", images("one:1", "one:1")),
			[]int64{49}, []int64{49}},
		{"less than 23 MiB, and much", ImageLocality, Config{},
			[]any{newNode("n0", image("one:1", 22<<1)), newNode("n1", image("two:1", 5000))},
			newPod("p", images("one:1", "two:1")), []int64{0, 100}, []int64{0, 100}},
		{"an image volume in v1.37", ImageLocality, Config{}, []any{newNode("n0", image("one:1", 500))},
			newPod("p", images("two"), volume("one:1")), []int64{24}, []int64{24}},
		{"in v1.36 it is no part of the number", ImageLocality, Config{Minor: 36}, []any{newNode("n0", image("one:1", 500))},
			newPod("p", images("two"), volume("one:1")), []int64{48}, []int64{48}},
	} {
		t.Run(c.name, func(t *testing.T) {
			cluster := newCluster(c.objects...)
			p := testkit.Must(Bind(c.cfg, cluster))
			for row := range cluster.Nodes().Len() {
				e := testkit.Must(p.Explain(Question{Pod: c.pod}, row))
				if e.Reason != Fits {
					if c.score[row] != 0 {
						t.Errorf("row %d: %v", row, e.Reason)
					}
					continue
				}
				for _, s := range e.Plugins {
					if s.Plugin == c.plugin && (s.Raw != c.raw[row] || s.Score != c.score[row]) {
						t.Errorf("row %d is %d and %d, want %d and %d", row, s.Raw, s.Score, c.raw[row], c.score[row])
					}
				}
			}
		})
	}
}

// TestTopologySizes has the logarithm of a size, where it decides.
// TestSkips: InterPodAffinity skips a pod where no term selects a pod, or the other way round,
// on a node that has the term's label. It doesn't where terms add up to 0.
func TestSkips(t *testing.T) {
	likesWeb := likes(5, term(corev1.LabelTopologyZone, web))
	dislikesWeb := dislikes(5, term(corev1.LabelTopologyZone, web))
	away := newNode("away", without(corev1.LabelHostname))
	for name, c := range map[string]struct {
		pod     func(*corev1.Pod)
		objects []any
		scored  bool
	}{
		"no terms":                    {app("web"), []any{newPod("old", on("n0"))}, false},
		"nobody is selected":          {likesWeb, []any{newPod("old", on("n0"), app("db"))}, false},
		"on a node without the label": {likesWeb, []any{newPod("old", on("away"))}, false},
		"selected":                    {likesWeb, []any{newPod("old", on("n0"))}, true},
		"selected by an existing pod": {app("web"), []any{newPod("old", on("n0"), likesWeb)}, true},
		"by one without the label":    {app("web"), []any{newPod("old", on("away"), likesWeb)}, false},
		"by two that add up to 0": {
			app("web"), []any{newPod("one", on("n0"), likesWeb), newPod("other", on("n1"), dislikesWeb)}, true,
		},
		"by one that selects others": {app("db"), []any{newPod("old", on("n0"), likesWeb)}, false},
	} {
		p := testkit.Must(Bind(Config{}, newCluster(append(zones(away), c.objects...)...)))
		scored, err := p.RawScores(make([]int64, 4), InterPodAffinity, newPod("new", c.pod), nil)
		if testkit.Check(err); scored != c.scored {
			t.Errorf("%s: it scores: %v", name, scored)
		}
	}
}

func TestTopologySizes(t *testing.T) {
	for size := 1; size < 200; size++ {
		objects := []any{newPod("p", on("n0"))}
		for i := range size {
			objects = append(objects, newNode(fmt.Sprint("n", i), labeled(rackLabel, fmt.Sprint(i))))
		}
		for i := range 12 {
			objects = append(objects, newPod(fmt.Sprint("p", i), on("n0")))
		}
		p := testkit.Must(Bind(Config{}, newCluster(objects...)))
		e := testkit.Must(p.Explain(Question{Pod: newPod("q", spreads(soft(rackLabel, 3, web)))}, 0))
		want := int64(math.Round(float64(13*math.Log(float64(size+2))) + 2))
		i := slices.IndexFunc(e.Plugins, func(s PluginScore) bool { return s.Plugin == PodTopologySpread })
		if e.Plugins[i].Raw != want {
			t.Errorf("size %d: %d, want %d", size, e.Plugins[i].Raw, want)
		}
	}
}

func TestReasons(t *testing.T) {
	const tcp, udp = corev1.ProtocolTCP, corev1.ProtocolUDP
	elsewhere := term(zoneKey, db)
	elsewhere.NamespaceSelector = none
	reds := term(zoneKey, db)
	reds.NamespaceSelector = red
	anywhere := term(zoneKey, db)
	anywhere.NamespaceSelector = all
	listed := term(zoneKey, db)
	listed.Namespaces = []string{"b"}
	domains := hard(zoneKey, 1, web)
	domains.MinDomains = pointer[int32](3)
	admitting := hard(zoneKey, 1, web)
	admitting.NodeAffinityPolicy = pointer(corev1.NodeInclusionPolicyIgnore)
	tainting := hard(zoneKey, 1, web)
	tainting.NodeTaintsPolicy = pointer(corev1.NodeInclusionPolicyHonor)
	keyed := hard(zoneKey, 1, all)
	keyed.MatchLabelKeys = []string{"app"}
	onX := func(p *corev1.Pod) { p.Spec.NodeSelector = map[string]string{zoneKey: "x"} }
	three := func(more ...any) []any { // web pods: two in zone x, none in y
		return zones(append(more, newPod("p0", on("n0")), newPod("p1", on("n1")))...)
	}
	for _, c := range []struct {
		name    string
		cfg     Config
		objects []any
		pod     *corev1.Pod
		want    []Reason // by row
	}{
		{"cordoned", Config{}, []any{newNode("n0", cordoned), newNode("n1")}, newPod("p"), []Reason{Unschedulable, Fits}},
		{"cordoned, tolerated", Config{}, []any{newNode("n0", cordoned)},
			newPod("p", tolerates(corev1.Toleration{Key: corev1.TaintNodeUnschedulable, Operator: exists})), []Reason{Fits}},
		{"name", Config{}, []any{newNode("n0"), newNode("n1", cordoned)}, newPod("p", on("n1")),
			[]Reason{NodeNameMismatch, Unschedulable}},
		{"taints", Config{}, []any{newNode("n0", tainted(noSchedule)), newNode("n1", tainted(noExecute)),
			newNode("n2", tainted(preferNo))},
			newPod("p"), []Reason{UntoleratedTaint, UntoleratedTaint, Fits}},
		{"tolerations", Config{}, []any{newNode("n0", tainted(noSchedule)), newNode("n1", tainted(noExecute))},
			newPod("p", tolerates(corev1.Toleration{Key: "t0", Value: "5", Effect: noExecute})), []Reason{UntoleratedTaint,
				Fits}},
		{"no comparison", Config{}, []any{newNode("n0", tainted(noSchedule))},
			newPod("p", tolerates(corev1.Toleration{Key: "t0", Operator: corev1.TolerationOpLt,
				Value: "6"})), []Reason{UntoleratedTaint}},
		{"comparison", Config{ComparisonOperators: true}, []any{newNode("n0", tainted(noSchedule))},
			newPod("p", tolerates(corev1.Toleration{Key: "t0", Operator: corev1.TolerationOpLt, Value: "6"})), []Reason{Fits}},
		{"selector", Config{}, zones(), newPod("p", onX), []Reason{Fits, Fits, AffinityMismatch}},
		{"one of two terms", Config{}, zones(),
			newPod("p", nodeAffinity(selecting(labelIn(hostKey, "n0"), labelIn(zoneKey, "y")))),
			[]Reason{Fits, AffinityMismatch, Fits}},
		{"terms of nothing", Config{}, zones(), newPod("p", nodeAffinity(selecting(corev1.NodeSelectorTerm{}))),
			[]Reason{AffinityMismatch, AffinityMismatch, AffinityMismatch}},
		{"a term that can't be parsed", Config{}, zones(), newPod("p", nodeAffinity(selecting(
			corev1.NodeSelectorTerm{MatchExpressions: []corev1.NodeSelectorRequirement{{Key: "x",
				Operator: "Bad"}}}, labelIn(hostKey, "n1")))),
			[]Reason{AffinityMismatch, Fits, AffinityMismatch}},
		{"added affinity comes first", Config{AddedAffinity: selecting(labelIn(zoneKey, "y"))}, zones(), newPod("p", onX),
			[]Reason{AddedAffinityMismatch, AddedAffinityMismatch, AffinityMismatch}},

		{"port", Config{}, zones(newPod("p0", on("n0"), port(80, "", ""))), newPod("p", port(80, "10.0.0.1", tcp)),
			[]Reason{HostPortTaken, Fits, Fits}},
		{"port of another address, protocol or number", Config{},
			zones(newPod("p0", on("n0"), port(80, "10.0.0.1", tcp)), newPod("p1", on("n1"), port(80, "", udp)),
				newPod("p2", on("n2"), port(81, "", tcp))),
			newPod("p", port(80, "10.0.0.2", tcp)), []Reason{Fits, Fits, Fits}},
		{"port of all addresses", Config{}, zones(newPod("p0", on("n0"), port(80, "10.0.0.1", tcp))),
			newPod("p", port(80, "0.0.0.0", "")), []Reason{HostPortTaken, Fits, Fits}},
		{"port of init containers", Config{},
			zones(newPod("p0", on("n0"), port(80, "", ""), initial(nil)),
				newPod("p1", on("n1"), port(80, "", ""), initial(&always))),
			newPod("p", port(80, "", "")), []Reason{Fits, HostPortTaken, Fits}},
		{"port of a terminating pod", Config{}, zones(newPod("p0", on("n0"), terminating, port(80, "", ""))),
			newPod("p", port(80, "", "")), []Reason{HostPortTaken, Fits, Fits}},

		{"skew", Config{}, three(), newPod("p", spreads(hard(zoneKey, 2, web))), []Reason{SpreadSkew, SpreadSkew, Fits}},
		{"skew of one more", Config{}, three(), newPod("p", spreads(hard(zoneKey, 3, web))), []Reason{Fits, Fits, Fits}},
		{"skew over the least", Config{}, append(three(), newPod("p2", on("n2"))),
			newPod("p", spreads(hard(zoneKey, 2, web))), []Reason{Fits, Fits, Fits}},
		{"skew over the least, of one less", Config{}, append(three(), newPod("p2", on("n2"))),
			newPod("p", spreads(hard(zoneKey, 1, web))), []Reason{SpreadSkew, SpreadSkew, Fits}},
		{"skew without itself", Config{}, three(), newPod("p", app("db"), spreads(hard(zoneKey, 2, web))),
			[]Reason{Fits, Fits, Fits}},
		{"skew of terminating pods", Config{}, zones(newPod("p0", on("n0"), terminating), newPod("p1", on("n0"))),
			newPod("p", spreads(hard(zoneKey, 1, web))), []Reason{SpreadSkew, SpreadSkew, Fits}},
		{"an empty selector matches itself only", Config{}, three(), newPod("p", spreads(hard(zoneKey, 1, all))),
			[]Reason{Fits, Fits, Fits}},
		{"with a key it isn't empty", Config{}, three(), newPod("p", spreads(keyed)), []Reason{SpreadSkew, SpreadSkew, Fits}},
		{"label", Config{}, zones(newNode("n3")), newPod("p", spreads(hard(zoneKey, 1, web))),
			[]Reason{Fits, Fits, Fits, SpreadLabelMissing}},
		{"an empty label", Config{}, zones(newNode("n3", zone(""))), newPod("p", spreads(hard(zoneKey, 1, web))),
			[]Reason{Fits, Fits, Fits, Fits}},
		{"pods of a node without the other key", Config{},
			[]any{newNode("n0", zone("x"), without(hostKey)), newNode("n1", zone("x")), newNode("n2", zone("y")),
				newPod("p0", on("n0"))},
			newPod("p", spreads(hard(zoneKey, 1, web), hard(hostKey, 1, web))), []Reason{SpreadLabelMissing, Fits, Fits}},
		{"minDomains", Config{}, zones(newPod("p0", on("n0")), newPod("p2", on("n2"))), newPod("p", spreads(domains)),
			[]Reason{SpreadSkew, SpreadSkew, SpreadSkew}},
		{"zones that aren't selected", Config{}, three(), newPod("p", onX, spreads(hard(zoneKey, 1, web))),
			[]Reason{Fits, Fits, AffinityMismatch}},
		{"but count", Config{}, three(), newPod("p", onX, spreads(admitting)),
			[]Reason{SpreadSkew, SpreadSkew, AffinityMismatch}},
		{"tainted zones count", Config{},
			append(three()[:2:2], newNode("n2", zone("y"), tainted(noSchedule)), newPod("p0", on("n0"))),
			newPod("p", spreads(hard(zoneKey, 1, web))),
			[]Reason{SpreadSkew, SpreadSkew, UntoleratedTaint}},
		{"or not", Config{}, append(three()[:2:2], newNode("n2", zone("y"), tainted(noSchedule)), newPod("p0", on("n0"))),
			newPod("p", spreads(tainting)),
			[]Reason{Fits, Fits, UntoleratedTaint}},
		{"default constraints", Config{DefaultConstraints: []corev1.TopologySpreadConstraint{hard(zoneKey, 1, nil)}},
			three(service(web.MatchLabels)), newPod("p"),
			[]Reason{SpreadSkew, SpreadSkew, Fits}},
		{"not for others", Config{DefaultConstraints: []corev1.TopologySpreadConstraint{hard(zoneKey, 1, nil)}},
			three(service(db.MatchLabels)), newPod("p"), []Reason{Fits, Fits, Fits}},

		{"affinity", Config{}, zones(newPod("p0", on("n0"), app("db"))), newPod("p", requires(term(zoneKey, db))),
			[]Reason{Fits, Fits, PodAffinityMismatch}},
		{"one pod that all terms match", Config{}, zones(newPod("p0", on("n0"), app("db")), newPod("p1", on("n0"))),
			newPod("p", requires(term(zoneKey, db), term(hostKey, web))), []Reason{PodAffinityMismatch, PodAffinityMismatch,
				PodAffinityMismatch}},
		{"the first of its kind", Config{}, zones(newNode("n3")), newPod("p", requires(term(zoneKey, web))),
			[]Reason{Fits, Fits, Fits, PodAffinityMismatch}},
		{"not the first", Config{}, zones(newPod("p0", on("n2"), terminating)), newPod("p", requires(term(zoneKey, web))),
			[]Reason{PodAffinityMismatch, PodAffinityMismatch, Fits}},
		{"one that counts nowhere", Config{}, zones(newNode("n3"), newPod("p0", on("n3"))),
			newPod("p", requires(term(zoneKey, web))), []Reason{Fits, Fits, Fits, PodAffinityMismatch}},
		{"other namespaces", Config{}, zones(newPod("p0", on("n0"), app("db"), of("b"))),
			newPod("p", avoids(term(zoneKey, db))), []Reason{Fits, Fits, Fits}},
		{"listed", Config{}, zones(newPod("p0", on("n0"), app("db"), of("b")), newPod("p1", on("n2"), app("db"))),
			newPod("p", avoids(listed)), []Reason{PodAntiAffinity, PodAntiAffinity, Fits}},
		{"selected", Config{}, zones(newPod("p0", on("n0"), app("db"), of("b")), namespace("b", red.MatchLabels)),
			newPod("p", avoids(reds)), []Reason{PodAntiAffinity, PodAntiAffinity, Fits}},
		{"not known", Config{}, zones(newPod("p0", on("n0"), app("db"), of("b"))), newPod("p", avoids(reds)),
			[]Reason{Fits, Fits, Fits}},
		{"all, known or not", Config{}, zones(newPod("p0", on("n0"), app("db"), of("b"))), newPod("p", avoids(anywhere)),
			[]Reason{PodAntiAffinity, PodAntiAffinity, Fits}},
		{"those without a label", Config{},
			zones(newPod("p0", on("n0"), app("db"), of("b")), namespace("b", red.MatchLabels)), newPod("p", avoids(elsewhere)),
			[]Reason{Fits, Fits, Fits}},
		{"in v1.36 all", Config{Minor: 36},
			zones(newPod("p0", on("n0"), app("db"), of("b")), namespace("b", red.MatchLabels)), newPod("p", avoids(elsewhere)),
			[]Reason{PodAntiAffinity, PodAntiAffinity, Fits}},
		{"anti-affinity of others", Config{}, zones(newPod("p0", on("n2"), avoids(term(zoneKey, web)))), newPod("p"),
			[]Reason{Fits, Fits, ExistingAntiAffinity}},
		{"by namespace", Config{Minor: 36},
			zones(newPod("p0", on("n2"), app("web"), of("b"), avoids(elsewhere)), namespace("a", red.MatchLabels)),
			newPod("p", app("db")), []Reason{Fits, Fits, Fits}},
		{"of one that isn't known", Config{}, zones(newPod("p0", on("n2"), app("web"), of("b"), avoids(elsewhere))),
			newPod("p", app("db")), []Reason{Fits, Fits, ExistingAntiAffinity}},
		{"that can't be parsed", Config{}, zones(newPod("p0", on("n2"), avoids(term(zoneKey, web), term("k", bad)))),
			newPod("p"), []Reason{Fits, Fits, Fits}},
		{"own anti-affinity comes first", Config{}, zones(newPod("p0", on("n2"), avoids(term(zoneKey, web)))),
			newPod("p", avoids(term(zoneKey, web))),
			[]Reason{Fits, Fits, PodAntiAffinity}},
	} {
		t.Run(c.name, func(t *testing.T) {
			p := testkit.Must(Bind(c.cfg, newCluster(c.objects...)))
			for row, want := range c.want {
				if e := testkit.Must(p.Explain(Question{Pod: c.pod}, row)); e.Reason != want {
					t.Errorf("row %d: %v, want %v", row, e.Reason, want)
				}
			}
		})
	}
}

// TestReasonOrder has a node that fails all filters, which are then mended one after another.
func TestReasonOrder(t *testing.T) {
	n := newNode("n0", cordoned, tainted(noSchedule))
	c := newCluster(n, newPod("p0", on("n0"), port(80, "", ""), avoids(term(hostKey, web))))
	p := testkit.Must(Bind(Config{Minor: 36, AddedAffinity: selecting(labelIn("x", "y"))}, c))
	pod := newPod("p", on("n9"), port(80, "", ""), spreads(hard(zoneKey, 1, web), hard(rackLabel, 1, all)),
		func(p *corev1.Pod) {
			p.Spec.NodeSelector = map[string]string{"s": "s"}
			requires(term("m", db))(p)
			both := p.Spec.Affinity
			avoids(term(hostKey, web))(p)
			both.PodAntiAffinity, p.Spec.Affinity = p.Spec.Affinity.PodAntiAffinity, both
		})
	q := Question{Pod: pod, Amounts: vector.PodAmounts{Requested: vector.ResourceVector{11}}}
	n, pod = n.DeepCopy(), pod.DeepCopy()
	q.Pod = pod
	want := func(r Reason, resolvable bool) {
		t.Helper()
		testkit.Check(c.Set(n.DeepCopy()))
		q.Pod = pod.DeepCopy()
		if e := testkit.Must(p.Explain(q, 0)); e.Reason != r || r != Fits && e.Reason.Resolvable() != resolvable {
			t.Errorf("%v (%t), want %v (%t)", e.Reason, e.Reason.Resolvable(), r, resolvable)
		}
	}
	want(Unschedulable, false)
	n.Spec.Unschedulable = false
	want(NodeNameMismatch, false)
	pod.Spec.NodeName = ""
	want(UntoleratedTaint, false)
	n.Spec.Taints = nil
	want(AddedAffinityMismatch, false)
	n.Labels["x"] = "y"
	want(AffinityMismatch, false)
	n.Labels["s"] = "s"
	want(HostPortTaken, true)
	pod.Spec.Containers = nil
	want(ResourcesShort, true)
	q.Amounts.Requested[0] = 10
	want(SpreadLabelMissing, false)
	n.Labels[zoneKey], n.Labels[rackLabel] = "x", "r"
	pod.Spec.TopologySpreadConstraints[0].MinDomains = pointer[int32](2)
	want(SpreadSkew, true)
	pod.Spec.TopologySpreadConstraints = nil
	want(PodAffinityMismatch, false)
	pod.Spec.Affinity.PodAffinity = nil
	want(PodAntiAffinity, true)
	pod.Spec.Affinity = nil
	want(ExistingAntiAffinity, true)
	testkit.Check(c.Delete(newPod("p0")))
	want(Fits, true)
}

// TestSpreadMoves has all counts of pods up to 2 in up to three zones, and all pairs of moves in
// these and two more.
func TestSpreadMoves(t *testing.T) {
	const most = 3
	spread := hard(zoneKey, 1, web)
	names := []string{"z0", "z1", "z2", "y0", "y1"}
	nodes := make([]*corev1.Node, len(names))
	for i, name := range names {
		nodes[i] = newNode("n"+name, zone(name))
	}
	for state := range 64 { // in each of three digits: no zone, or the number of its pods
		var objects []any
		counts := map[string]int{}
		for i, left := 0, state; i < most; i, left = i+1, left/4 {
			if left%4 == 0 {
				continue
			}
			objects = append(objects, nodes[i])
			counts[names[i]] = left%4 - 1
			for k := range counts[names[i]] {
				objects = append(objects, newPod(fmt.Sprint("p", i, k), on(nodes[i].Name)))
			}
		}
		c := newCluster(objects...)
		for domains := range int32(4) {
			spread.MinDomains = pointer(domains + 1)
			s := testkit.Must(testkit.Must(Bind(Config{}, c)).Spread(newPod("p", spreads(spread))))
			for moves := range 100 {
				moved, now := s.Clone(), maps.Clone(counts)
				for left := moves; left > 0; left /= 10 {
					i, sign := left%10/2, 2*(left%2)-1
					moved.Move(nodes[i], newPod("q"), sign)
					now[names[i]] += sign
				}
				least := 0
				if len(now) > int(domains) {
					least = slices.Min(slices.Collect(maps.Values(now)))
				}
				for i, name := range names {
					want := Fits
					if now[name]+1-least > 1 {
						want = SpreadSkew
					}
					if got := moved.Check(nodes[i]); got != want {
						t.Fatalf("%v, in %s of %v (minDomains %d): %v, want %v", counts, name, now, domains+1, got, want)
					}
				}
			}
		}
	}
}

// TestVerdictHolds has a label of which so many values have gone that they are numbered anew:
// not while a verdict is used, between two questions.
func TestVerdictHolds(t *testing.T) {
	c := newCluster(newNode("n0"), newNode("n1", zone("y")), newPod("old", on("n0"), app("web")))
	p := testkit.Must(Bind(Config{}, c))
	for i := range 200 {
		node := newNode("n0", zone(fmt.Sprint("x", i)))
		testkit.Check(c.Set(node))
		verdict := testkit.Must(p.Spread(newPod("p", app("web"), spreads(hard(zoneKey, 1, web)))))
		other := Question{Pod: newPod("other", spreads(hard(zoneKey, 1, nil)))}
		testkit.Check(p.Feasible(new(vector.Mask), other))
		if got := verdict.Check(node); got != SpreadSkew {
			t.Fatalf("change %d: %q", i, got)
		}
	}
}

// TestDefaultSelector has what services and owners select a pod by: which of the pods on n0
// count.
func TestDefaultSelector(t *testing.T) {
	pod := func(name string, labels map[string]string) *corev1.Pod {
		p := newPod(name, on("n0"))
		p.Labels = labels
		return p
	}
	meta := metav1.ObjectMeta{Namespace: "a", Name: "o"}
	replicas := func(s *metav1.LabelSelector) *appsv1.ReplicaSet {
		return &appsv1.ReplicaSet{ObjectMeta: meta, Spec: appsv1.ReplicaSetSpec{Selector: s}}
	}
	stateful := &appsv1.StatefulSet{ObjectMeta: meta,
		Spec: appsv1.StatefulSetSpec{Selector: &metav1.LabelSelector{MatchLabels: map[string]string{"tier": "1"}}}}
	controller := &corev1.ReplicationController{ObjectMeta: meta,
		Spec: corev1.ReplicationControllerSpec{Selector: map[string]string{"app": "db"}}}
	second := service(map[string]string{"tier": "1"})
	second.Name = "s2"
	foreign := service(map[string]string{"tier": "1"})
	foreign.Namespace = "b"
	tier := &metav1.LabelSelector{MatchExpressions: []metav1.LabelSelectorRequirement{{Key: "tier",
		Operator: metav1.LabelSelectorOpExists}}}
	for _, c := range []struct {
		name       string
		apiVersion string
		kind       string
		objects    []any
		want       int64 // of web; web, 1; web, 2; db
	}{
		{"nothing", "", "", nil, -1},
		{"a service", "", "", []any{service(web.MatchLabels)}, 3},
		{"two", "", "", []any{service(web.MatchLabels), second}, 1},
		{"a service of another pod", "", "", []any{service(db.MatchLabels)}, -1},
		{"of another namespace", "", "", []any{service(web.MatchLabels), foreign}, 3},
		{"of all", "", "", []any{service(map[string]string{})}, -1},
		{"a ReplicaSet", "apps/v1", "ReplicaSet", []any{replicas(tier)}, 2},
		{"and a service", "apps/v1", "ReplicaSet", []any{second, replicas(web)}, 1},
		{"of no selector", "apps/v1", "ReplicaSet", []any{replicas(nil)}, -1},
		{"that can't be parsed", "apps/v1", "ReplicaSet", []any{replicas(bad), service(web.MatchLabels)}, 3},
		{"a StatefulSet", "apps/v1", "StatefulSet", []any{stateful}, 1},
		{"a ReplicationController replaces labels", "v1", "ReplicationController",
			[]any{service(web.MatchLabels), controller}, 1},
		{"of another version", "apps/v1beta1", "ReplicaSet", []any{replicas(web)}, -1},
		{"of another kind", "apps/v1", "StatefulSet", []any{replicas(web)}, -1},
		{"of no version", "a/b/c", "ReplicaSet", []any{replicas(web), service(web.MatchLabels)}, 3},
	} {
		t.Run(c.name, func(t *testing.T) {
			objects := append(zones(pod("p0", map[string]string{"app": "web"}),
				pod("p1", map[string]string{"app": "web", "tier": "1"}),
				pod("p2", map[string]string{"app": "web", "tier": "2"}), pod("p3", map[string]string{"app": "db"})), c.objects...)
			asked := pod("p", map[string]string{"app": "web", "tier": "1"})
			asked.Spec.NodeName = ""
			if c.kind != "" {
				asked.OwnerReferences = []metav1.OwnerReference{{APIVersion: c.apiVersion, Kind: c.kind, Name: "o",
					Controller: &yes}}
			}
			// With one rack for all nodes the raw score of a constraint is the count times ln 3.
			cfg := Config{DefaultConstraints: []corev1.TopologySpreadConstraint{soft("all", 1, nil)}}
			for _, o := range objects {
				if n, ok := o.(*corev1.Node); ok {
					n.Labels["all"] = "all"
				}
			}
			p := testkit.Must(Bind(cfg, newCluster(objects...)))
			e := testkit.Must(p.Explain(Question{Pod: asked}, 0))
			i := slices.IndexFunc(e.Plugins, func(s PluginScore) bool { return s.Plugin == PodTopologySpread })
			got := e.Plugins[i]
			if want := int64(math.Round(float64(c.want) * math.Log(3))); c.want < 0 && got.Score != 0 || c.want >= 0 &&
				got.Raw != want {
				t.Errorf("%d and %d, want %d", got.Raw, got.Score, want)
			}
		})
	}
}

func TestConfigFaults(t *testing.T) {
	badTerm := corev1.NodeSelectorTerm{MatchExpressions: []corev1.NodeSelectorRequirement{{Key: "x", Operator: "Bad"}}}
	cfg := Config{
		Minor: 35,
		Weights: map[Plugin]int64{TaintToleration: -1, ImageLocality: math.MaxInt64, NodeResourcesFit: 1, "Foreign": 2,
			NodeAffinity: 0},
		DefaultConstraints: []corev1.TopologySpreadConstraint{
			{}, soft("x", 1, nil), soft("x", 2, nil), hard("x", 1, web), soft("no label", 1, nil),
		},
		HardPodAffinityWeight: pointer[int32](101),
		AddedAffinity: &corev1.NodeAffinity{
			RequiredDuringSchedulingIgnoredDuringExecution:  selecting(badTerm).RequiredDuringSchedulingIgnoredDuringExecution,
			PreferredDuringSchedulingIgnoredDuringExecution: []corev1.PreferredSchedulingTerm{{Weight: 1, Preference: badTerm}},
		},
	}
	p, err := Bind(cfg, newCluster(), Term{Weight: 1}, Term{Weight: -1})
	if p != nil || err == nil {
		t.Fatal("no error")
	}
	for _, want := range []string{
		"minor: ", "weights[TaintToleration]: ", "weights[ImageLocality]: ", "weights[NodeResourcesFit]: ",
		"weights[Foreign]: ",
		"defaultConstraints[0].maxSkew: ", "defaultConstraints[0].topologyKey: ", "defaultConstraints[0].whenUnsatisfiable: ",
		"defaultConstraints[2]: ", "defaultConstraints[3].labelSelector: ", "defaultConstraints[4].topologyKey: ",
		"hardPodAffinityWeight: ", "terms[0].scores: ", "terms[1].scores: ", "terms[1].weight: ",
		"addedAffinity.requiredDuringSchedulingIgnoredDuringExecution.nodeSelectorTerms[0].matchExpressions[0].operator: ",
		"addedAffinity.preferredDuringSchedulingIgnoredDuringExecution[0].matchExpressions[0].operator: ",
	} {
		if !strings.Contains(err.Error(), want) {
			t.Errorf("no %q in %v", want, err)
		}
	}
	for _, not := range []string{"weights[NodeAffinity]", "defaultConstraints[1]"} {
		if strings.Contains(err.Error(), not) {
			t.Errorf("%q in %v", not, err)
		}
	}
	for _, w := range []int32{-1, 101} {
		if _, err := Bind(Config{HardPodAffinityWeight: &w}, newCluster()); err == nil {
			t.Error("no error for ", w)
		}
	}
	const most = (1<<63 - 1) / 100 / 64
	for _, w := range []int64{0, most, most + 1} {
		if _, err := Bind(Config{Weights: map[Plugin]int64{ImageLocality: w}}, newCluster()); (err != nil) != (w > most) {
			t.Errorf("weight %d: %v", w, err)
		}
	}
	for _, w := range []int32{0, 100} {
		if _, err := Bind(Config{HardPodAffinityWeight: &w, Minor: 36}, newCluster()); err != nil {
			t.Error(err)
		}
	}
}

// TestPodFaults has what can't be parsed of the pod in question, and the field that errors
// name.
func TestPodFaults(t *testing.T) {
	badNode := corev1.NodeSelectorTerm{MatchExpressions: []corev1.NodeSelectorRequirement{{Key: "x", Operator: "Bad"}}}
	spaced := term("k", web)
	spaced.NamespaceSelector = bad
	for _, c := range []struct {
		field  string
		change func(*corev1.Pod)
	}{
		{"spec.affinity.podAffinity.requiredDuringSchedulingIgnoredDuringExecution[1].labelSelector",
			requires(term("k", web), term("k", bad))},
		{"spec.affinity.podAffinity.requiredDuringSchedulingIgnoredDuringExecution[0].namespaceSelector", requires(spaced)},
		{"spec.affinity.podAntiAffinity.requiredDuringSchedulingIgnoredDuringExecution[0].labelSelector",
			avoids(term("k", bad))},
		{"spec.affinity.podAffinity.preferredDuringSchedulingIgnoredDuringExecution[0].podAffinityTerm.labelSelector",
			likes(1, term("k", bad))},
		{"spec.affinity.podAntiAffinity.preferredDuringSchedulingIgnoredDuringExecution[0].podAffinityTerm.labelSelector",
			dislikes(1, term("k", bad))},
		{"spec.topologySpreadConstraints[1].labelSelector", spreads(hard("k", 1, web), hard("k", 1, bad))},
		{"spec.topologySpreadConstraints[0].labelSelector", spreads(soft("k", 1, bad))},
		{"spec.affinity.nodeAffinity.preferredDuringSchedulingIgnoredDuringExecution[0]",
			nodeAffinity(preferring(weighing(1, badNode)))},
	} {
		cluster := newCluster(zones()...)
		p := testkit.Must(Bind(Config{}, cluster))
		q := Question{Pod: newPod("p", c.change)}
		mask := vector.NewMask(3)
		mask.SetAll()
		for name, ask := range map[string]func() error{
			"feasible":   func() error { return p.Feasible(vector.NewMask(3), q) },
			"totals":     func() error { return p.Totals(make([]int64, 3), mask, q) },
			"best":       func() error { _, _, err := p.Best(q, vector.TieLowest()); return err },
			"top":        func() error { _, err := p.TopK(nil, q, 1, vector.TieLowest()); return err },
			"explain":    func() error { _, err := p.Explain(q, 0); return err },
			"rejections": func() error { _, err := p.Rejections(q); return err },
		} {
			if err := ask(); err == nil || !strings.Contains(err.Error(), c.field) {
				t.Errorf("%s: %v, want %s", name, err, c.field)
			}
		}
		if shapes, _ := p.Kept(); shapes != 0 {
			t.Errorf("%d shapes are kept for %s", shapes, c.field)
		}
	}
}

// TestObjects has objects that a cluster refuses, and ones that aren't there.
func TestObjects(t *testing.T) {
	c := newCluster(zones()...)
	for _, o := range []any{
		nil, 3, "node", corev1.Node{}, &corev1.Node{}, &corev1.Pod{}, &corev1.Namespace{}, &corev1.Service{},
		&corev1.ReplicationController{}, &appsv1.ReplicaSet{}, &appsv1.StatefulSet{}, (*corev1.Node)(nil),
		(*corev1.Pod)(nil), (*corev1.Namespace)(nil), (*corev1.Service)(nil), (*corev1.ReplicationController)(nil),
		(*appsv1.ReplicaSet)(nil), (*appsv1.StatefulSet)(nil),
		&corev1.ConfigMap{ObjectMeta: metav1.ObjectMeta{Name: "c"}},
		&appsv1.Deployment{ObjectMeta: metav1.ObjectMeta{Name: "d"}},
	} {
		if c.Set(o) == nil {
			t.Errorf("%T is set", o)
		}
		if c.Delete(o) == nil {
			t.Errorf("%T is deleted", o)
		}
	}
	if c.SetRow(nil, nil, nil) == nil || c.SetRow(&corev1.Node{}, nil, nil) == nil {
		t.Error("a row without a name")
	}
	for _, pod := range []*corev1.Pod{nil, {}} {
		if c.SetRow(newNode("n0", cordoned), []*corev1.Pod{newPod("p0"), pod}, nil) == nil {
			t.Error("a row with a pod without a name")
		}
		if c.Assume(0, pod, vector.PodAmounts{}) == nil || c.Forget(0, pod, vector.PodAmounts{}) == nil {
			t.Error("a pod without a name is assumed")
		}
	}
	if p := testkit.Must(Bind(Config{}, c)); testkit.Must(p.Explain(Question{Pod: newPod("p")}, 0)).Reason != Fits {
		t.Error("what is refused has changed a row")
	}
	for _, o := range []any{newNode("n9"), newPod("p9"), namespace("n9", nil), service(nil),
		&appsv1.ReplicaSet{ObjectMeta: metav1.ObjectMeta{Name: "r"}}} {
		if err := c.Delete(o); err != nil {
			t.Error(err)
		}
	}
	if c.Nodes().Len() != 3 {
		t.Error("rows went")
	}
}

// TestUnknown has a row that no node object is known of.
func TestUnknown(t *testing.T) {
	c := newCluster(zones(newPod("p0", on("n3"), avoids(term(zoneKey, web))))...)
	_, _, err := c.Nodes().Set("n3", 0, vector.NodeAmounts{Allocatable: vector.ResourceVector{10}})
	testkit.Check(err)
	p := testkit.Must(Bind(Config{}, c))
	want := func(r Reason) {
		t.Helper()
		if e := testkit.Must(p.Explain(Question{Pod: newPod("p")}, 3)); e.Reason != r {
			t.Errorf("%v, want %v", e.Reason, r)
		}
	}
	want(NodeUnknown)
	n := newNode("n3", zone("z"))
	testkit.Check(c.Set(n))
	want(ExistingAntiAffinity)
	testkit.Check(c.Delete(n))
	want(NodeUnknown)
	testkit.Check(c.Set(n)) // its pods are still known
	want(ExistingAntiAffinity)
	testkit.Check(c.Delete(newPod("p0")))
	want(Fits)
}

// TestRowsMoved has a cluster without rows, and one whose rows go, come and get columns.
func TestRowsMoved(t *testing.T) {
	c := newCluster()
	nodes := c.Nodes()
	p := testkit.Must(Bind(Config{}, c))
	q := Question{Pod: newPod("p", requires(term(hostKey, web))),
		Amounts: vector.PodAmounts{Requested: vector.ResourceVector{1}}}
	want := func(rows ...int32) {
		t.Helper()
		got := testkit.Must(p.TopK(nil, q, 9, vector.TieLowest()))
		if !slices.Equal(got, rows) {
			t.Errorf("%v, want %v", got, rows)
		}
		row, ok, err := p.Best(q, vector.TieLowest())
		if testkit.Check(err); ok != (len(rows) > 0) || ok && row != int(rows[0]) || !ok && row != -1 {
			t.Errorf("%d %t, want %v", row, ok, rows)
		}
		var mask vector.Mask // takes the size that is needed
		if testkit.Check(p.Feasible(&mask, q)); mask.Len() != nodes.Len() || mask.Count() != len(rows) {
			t.Errorf("%v", mask)
		}
	}
	want()
	set := func(name string) {
		_, _, err := nodes.Set(name, 0, vector.NodeAmounts{Allocatable: vector.ResourceVector{10}})
		testkit.Check(err)
	}
	for _, name := range []string{"n0", "n1", "n2"} {
		set(name)
		testkit.Check(c.Set(newNode(name)))
	}
	want(0, 1, 2)
	pod := newPod("p0")
	testkit.Check(c.Assume(2, pod, q.Amounts))
	want(2)
	nodes.Delete("n0") // n2 takes its place
	want(0)
	set("n0") // what is known of it is known still
	want(0)
	nodes.Delete("n2")
	want(0, 1)
	set("n2")
	want(2)

	m := testkit.Must(testkit.Must(vectormap.New(nil)).Extend([]string{"nvidia.com/gpu"}))
	testkit.Check(m.Widen(nodes))
	p.Rebind(testkit.Must(DefaultTerms(m, nodes))...)
	want(2)
	row, _ := nodes.Row("n2")
	testkit.Check(c.Forget(row, pod, q.Amounts))
	want(0, 1, 2)
	testkit.Check(c.Forget(row, newPod("unknown"), vector.PodAmounts{}))
	want(0, 1, 2)
}

// TestAssumeErrors has amounts that the nodes refuse: then the pod isn't there either.
func TestAssumeErrors(t *testing.T) {
	c := newCluster(newNode("n0"))
	p := testkit.Must(Bind(Config{}, c))
	nan := vector.PodAmounts{Requested: vector.ResourceVector{math.NaN()}}
	pod := newPod("p0", avoids(term(hostKey, web)))
	why := func() Reason { return testkit.Must(p.Explain(Question{Pod: newPod("p")}, 0)).Reason }
	if c.Assume(0, pod, nan) == nil || why() != Fits {
		t.Errorf("assumed: %v", why())
	}
	testkit.Check(c.Assume(0, pod, vector.PodAmounts{}))
	if c.Forget(0, pod, nan) == nil || why() != ExistingAntiAffinity {
		t.Errorf("forgotten: %v", why())
	}
	for _, row := range []int{-1, 1} {
		for _, f := range []func(int, *corev1.Pod, vector.PodAmounts) error{c.Assume, c.Forget} {
			text, _ := testkit.Recovered(func() { f(row, pod, vector.PodAmounts{}) }).(string)
			if !strings.HasPrefix(text, "profile: ") {
				t.Errorf("row %d: %q", row, text)
			}
		}
	}
}

// TestPanics has sizes that don't fit.
func TestPanics(t *testing.T) {
	p := testkit.Must(Bind(Config{}, newCluster(zones()...)))
	q, two := Question{Pod: newPod("p")}, vector.NewMask(2)
	of := func(rows *vector.Mask) Question { return Question{Pod: q.Pod, Rows: rows} }
	for name, f := range map[string]func(){
		"feasible":     func() { p.Feasible(new(vector.Mask), of(two)) },
		"best":         func() { p.Best(of(two), vector.TieLowest()) },
		"rejections":   func() { p.Rejections(of(two)) },
		"totals":       func() { p.Totals(make([]int64, 2), new(vector.Mask), q) },
		"terms":        func() { p.Rebind(Term{Weight: 1}) },
		"row":          func() { p.Explain(q, 3) },
		"row below":    func() { p.Explain(q, -1) },
		"not selected": func() { p.Explain(of(vector.NewMask(3)), 1) },
		"explain":      func() { p.Explain(of(two), 2) },
		"raw":          func() { p.RawScores(make([]int64, 2), TaintToleration, q.Pod, nil) },
		"raw rows":     func() { p.RawScores(make([]int64, 3), TaintToleration, q.Pod, two) },
		"raw plugin":   func() { p.RawScores(make([]int64, 3), NodeName, q.Pod, nil) },
		"normalize":    func() { Normalize("Foreign", nil) },
	} {
		if text, ok := testkit.Recovered(f).(string); !ok || !strings.HasPrefix(text, "profile: ") {
			t.Errorf("%s: %v", name, text)
		}
	}
}

// TestCopyPanics: a copy is written by Snapshot only, and of one cluster.
func TestCopyPanics(t *testing.T) {
	c, dst := newCluster(zones()...), NewCluster(new(vector.Nodes))
	c.Snapshot(dst)
	for name, f := range map[string]func(){
		"set":     func() { dst.Set(newNode("n0", cordoned)) },
		"service": func() { dst.Set(service(nil)) },
		"delete":  func() { dst.Delete(newNode("n0")) },
		"row":     func() { dst.SetRow(newNode("n0"), nil, nil) },
		"assume":  func() { dst.Assume(0, newPod("p0"), vector.PodAmounts{}) },
		"forget":  func() { dst.Forget(0, newPod("p0"), vector.PodAmounts{}) },
		"another": func() { newCluster().Snapshot(dst) },
	} {
		if text, ok := testkit.Recovered(f).(string); !ok || !strings.HasPrefix(text, "profile: ") {
			t.Errorf("%s: %v", name, text)
		}
	}
	row, ok, err := testkit.Must(Bind(Config{}, dst)).Best(Question{Pod: newPod("p")}, vector.TieLowest())
	if err != nil || !ok || row != 0 {
		t.Error(row, ok, err)
	}
}

// TestDefaultTerms has 10 of cpu and memory, and a pod that requests 1 of each and is scored as 2.
func TestDefaultTerms(t *testing.T) {
	m := testkit.Must(vectormap.New(nil))
	nodes := m.NewNodes(vector.WithScored())
	ten := m.NewVector()
	ten[vectormap.CPU], ten[vectormap.Memory] = 10, 10
	_, _, err := nodes.Set("n0", 0, vector.NodeAmounts{Allocatable: ten})
	testkit.Check(err)
	pod := vector.PodAmounts{Requested: m.NewVector(), Scored: m.NewVector()}
	for _, j := range []int{vectormap.CPU, vectormap.Memory} {
		pod.Requested[j], pod.Scored[j] = 1, 2
	}
	// Least allocated: 80 of 100. Balanced before and after: 50 + 50/2.
	want := []Term{{Plugin: NodeResourcesFit, Weight: 1}, {Plugin: NodeResourcesBalancedAllocation, Weight: 1}}
	terms := testkit.Must(DefaultTerms(m, nodes))
	if len(terms) != len(want) {
		t.Fatalf("%d terms", len(terms))
	}
	for i, term := range terms {
		var dst [1]int64
		testkit.Check(term.Scores.ScorePercent(dst[:], pod, nil))
		if term.Plugin != want[i].Plugin || term.Weight != 1 || dst[0] != []int64{80, 75}[i] {
			t.Errorf("%s, weight %d: %d", term.Plugin, term.Weight, dst[0])
		}
	}
}

// TestReasonTexts has a text for each reason.
func TestReasonTexts(t *testing.T) {
	seen := map[string]Reason{"": Fits}
	for r := Fits + 1; r <= ExistingAntiAffinity; r++ {
		if other, ok := seen[r.String()]; ok {
			t.Errorf("%d and %d are %q", r, other, r.String())
		}
		seen[r.String()] = r
	}
	if Fits.String() != "" || (ExistingAntiAffinity+1).String() == "" {
		t.Errorf("%q and %q", Fits, ExistingAntiAffinity+1)
	}
}

// TestManyTerms has many different terms, one after another: what is kept of them is bounded.
func TestManyTerms(t *testing.T) {
	c := newCluster(zones()...)
	p := testkit.Must(Bind(Config{}, c))
	most := int64(0)
	for i := range 10_000 {
		name := "n" + fmt.Sprint(i%3)
		testkit.Check(c.Set(newPod("p0", on(name), avoids(term(hostKey, web), term(fmt.Sprint("key", i), web)))))
		row, ok, err := p.Best(Question{Pod: newPod("p")}, vector.TieLowest())
		free := 0
		if i%3 == 0 {
			free = 1
		}
		if testkit.Check(err); !ok || row != free {
			t.Fatalf("%d: row %d", i, row)
		}
		_, bytes := p.Kept()
		if most = max(most, bytes); i == 6_000 && bytes > 10<<20 {
			t.Fatalf("%d bytes are kept of terms that are gone", bytes)
		}
	}
	if most > 10<<20 {
		t.Errorf("%d bytes are kept of terms that are gone", most)
	}
}

// TestChangedPod asks about a pod object that is changed between questions.
func TestChangedPod(t *testing.T) {
	p := testkit.Must(Bind(Config{}, newCluster(zones(newPod("p0", on("n0"), avoids(term(hostKey, web))))...)))
	pod := newPod("p")
	for _, c := range []struct {
		app  string
		want Reason
	}{{"web", ExistingAntiAffinity}, {"db", Fits}, {"web", ExistingAntiAffinity}, {"db", Fits}} {
		pod.Labels["app"] = c.app
		if e := testkit.Must(p.Explain(Question{Pod: pod}, 0)); e.Reason != c.want {
			t.Errorf("%s: %v, want %v", c.app, e.Reason, c.want)
		}
	}
}

// TestOwnerChanges has the selector of an owner change under a profile that has been asked.
func TestOwnerChanges(t *testing.T) {
	c := newCluster(zones(newPod("p0", on("n0")), newPod("p1", on("n0"), app("db")), newPod("p2", on("n0"), app("db")))...)
	cfg := Config{DefaultConstraints: []corev1.TopologySpreadConstraint{hard(hostKey, 1, nil)}}
	p := testkit.Must(Bind(cfg, c))
	pod := newPod("p")
	meta := metav1.ObjectMeta{Namespace: "a", Name: "o"}
	replicas := func(s *metav1.LabelSelector) *appsv1.ReplicaSet {
		return &appsv1.ReplicaSet{ObjectMeta: meta, Spec: appsv1.ReplicaSetSpec{Selector: s}}
	}
	pod.OwnerReferences = []metav1.OwnerReference{{APIVersion: "apps/v1", Kind: "ReplicaSet", Name: "o", Controller: &yes}}
	want := func(r Reason) {
		t.Helper()
		if e := testkit.Must(p.Explain(Question{Pod: pod}, 0)); e.Reason != r {
			t.Errorf("%v, want %v", e.Reason, r)
		}
	}
	want(Fits)
	testkit.Check(c.Set(replicas(web)))
	want(SpreadSkew)
	testkit.Check(c.Set(replicas(all)))
	want(Fits)
	testkit.Check(c.Set(replicas(web)))
	want(SpreadSkew)
	testkit.Check(c.Set(replicas(bad)))
	want(Fits)
	testkit.Check(c.Set(service(web.MatchLabels)))
	want(SpreadSkew)
	testkit.Check(c.Set(service(db.MatchLabels)))
	want(Fits)
	testkit.Check(c.Set(replicas(web)))
	want(SpreadSkew)
	testkit.Check(c.Delete(replicas(nil)))
	want(Fits)
	testkit.Check(c.Set(service(web.MatchLabels)))
	want(SpreadSkew)
	testkit.Check(c.Delete(service(nil)))
	want(Fits)

	pod.OwnerReferences[0].APIVersion, pod.OwnerReferences[0].Kind = "v1", "ReplicationController"
	testkit.Check(c.Set(&corev1.ReplicationController{ObjectMeta: meta,
		Spec: corev1.ReplicationControllerSpec{Selector: web.MatchLabels}}))
	want(SpreadSkew)
	testkit.Check(c.Set(&corev1.ReplicationController{ObjectMeta: meta,
		Spec: corev1.ReplicationControllerSpec{Selector: map[string]string{"app": "no"}}}))
	want(Fits)
}

// TestTwins has pods that differ in one thing, asked in turn: they share nothing that they must
// not.
func TestTwins(t *testing.T) {
	c := newCluster(append(zones(newPod("p0", on("n0")), newPod("p1", on("n1"), app("db")), newPod("p2", on("n3"))),
		newNode("n3", zone("w"), tainted(noSchedule), image("one:1", 900)), newNode("n4", zone("z"), tainted(preferNo)))...)
	tolerant := tolerates(corev1.Toleration{Key: "t0", Operator: exists})
	onX := func(p *corev1.Pod) { p.Spec.NodeSelector = map[string]string{zoneKey: "x"} }
	none := func(*corev1.Pod) {}
	policies := func(affinity, taints corev1.NodeInclusionPolicy, c corev1.TopologySpreadConstraint) func(*corev1.Pod) {
		c.NodeAffinityPolicy, c.NodeTaintsPolicy = &affinity, &taints
		return spreads(c)
	}
	const honor, ignore = corev1.NodeInclusionPolicyHonor, corev1.NodeInclusionPolicyIgnore
	other := term(zoneKey, db)
	other.Namespaces = []string{"b"}
	keyed := hard(zoneKey, 1, all)
	keyed.MatchLabelKeys = []string{"app"}
	bases := []func(*corev1.Pod){
		none, policies(honor, honor, hard(zoneKey, 1, web)), policies(honor, honor, soft(zoneKey, 1, web)),
		policies(ignore, ignore, hard(zoneKey, 1, web)), policies(ignore, honor, soft(zoneKey, 1, db)), spreads(keyed),
		spreads(hard(zoneKey, 1, web), hard(hostKey, 1, web)), spreads(soft(zoneKey, 1, web), soft(hostKey, 1, web)),
		spreads(hard(hostKey, 1, all)), spreads(hard(hostKey, 1, nil)),
	}
	for _, base := range bases {
		changes := append([]func(*corev1.Pod){
			none, tolerant, onX, of("b"), app("db"), images("one:1"), port(80, "", ""),
			requires(term(zoneKey, db)), requires(other), avoids(term(zoneKey, db)), likes(1, term(zoneKey, db)),
			likes(2, term(zoneKey, db)), likes(2, term(hostKey, db)), dislikes(1, term(zoneKey, db)),
			nodeAffinity(preferring(weighing(1, labelIn(zoneKey, "x")))), nodeAffinity(selecting(labelIn(zoneKey, "x"))),
		}, bases...)
		p := testkit.Must(Bind(Config{}, c))
		for range 2 {
			for i, change := range changes {
				fresh := testkit.Must(Bind(Config{}, c))
				for row := range c.Nodes().Len() {
					q := Question{Pod: newPod("p", base, change)}
					got, want := testkit.Must(p.Explain(q, row)), testkit.Must(fresh.Explain(q, row))
					if !reflect.DeepEqual(got, want) {
						t.Errorf("change %d: row %d is %+v, want %+v", i, row, got, want)
					}
				}
			}
		}
	}
}

// TestLimitCache has more shapes than the cache has room for.
func TestLimitCache(t *testing.T) {
	p := testkit.Must(Bind(Config{}, newCluster(zones(service(web.MatchLabels))...)))
	ask := func(i int) {
		pod := newPod("p", app(fmt.Sprint(i)), spreads(hard(hostKey, 1, web)))
		testkit.Must(p.Explain(Question{Pod: pod}, 0))
	}
	for i := range 100 {
		ask(i)
	}
	shapes, all := p.Kept()
	if shapes != 100 || all <= 0 {
		t.Errorf("%d shapes, %d bytes", shapes, all)
	}
	p.LimitCache(all / 2)
	if shapes, bytes := p.Kept(); bytes > all/2 || shapes < 20 || shapes > 80 {
		t.Errorf("%d shapes, %d of %d bytes", shapes, bytes, all)
	}
	for i := range 200 {
		ask(i)
		if _, bytes := p.Kept(); bytes > all/2 {
			t.Errorf("%d of %d bytes", bytes, all)
		}
	}
	p.LimitCache(0)
	if shapes, bytes := p.Kept(); shapes != 1 || bytes <= 0 {
		t.Errorf("%d shapes, %d bytes", shapes, bytes)
	}
}

// TestForgotten has all that is kept for random pods forgotten: what is left is what a new
// profile keeps.
func TestForgotten(t *testing.T) {
	for seed := range uint64(testkit.Amount(t, 5, 50, 1000)) {
		d := seeded(seed)
		cluster := newCluster(zones(newPod("p0", on("n0")), service(web.MatchLabels))...)
		bare := func(p *Profile) int64 {
			testkit.Must(p.Explain(Question{Pod: newPod("bare")}, 0))
			_, bytes := p.Kept()
			return bytes
		}
		cfg := d.config()
		p, fresh := testkit.Must(Bind(cfg, cluster)), testkit.Must(Bind(cfg, cluster))
		for range 50 {
			p.Explain(Question{Pod: d.pod("p")}, 0)
		}
		p.LimitCache(0)
		if got, want := bare(p), bare(fresh); got != want {
			t.Errorf("seed %d: %d bytes are kept, want %d", seed, got, want)
		}
	}
}
