package profile_test

import (
	"math"
	"slices"
	"strconv"
	"strings"

	. "github.com/resvec/resvec/scoring/profile"
	"github.com/resvec/resvec/vector"
	appsv1 "k8s.io/api/apps/v1"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/labels"
	"k8s.io/component-helpers/scheduling/corev1/nodeaffinity"
)

// The golden model: what the filters and scores of kube-scheduler v1.36.3 and v1.37.2 say,
// read from the objects for each question anew.

// place is a node as the model knows it.
type place struct {
	name                           string
	node                           *corev1.Node // nil: unknown
	pods                           []*corev1.Pod
	images                         ImageStates // nil: those of the node's status
	allocatable, requested, scored vector.ResourceVector
}

// golden is a cluster and a configuration.
type golden struct {
	Config
	places     []*place // by row
	namespaces map[string]*corev1.Namespace
	services   map[string]*corev1.Service
	owners     map[string]any // by kind, namespace and name
	terms      []Term
}

// known returns the nodes that there are objects of.
func (g *golden) known() []*place {
	return slices.DeleteFunc(slices.Clone(g.places), func(p *place) bool { return p.node == nil })
}

// answer is all that is asked of one pod.
type answer struct {
	reasons  []Reason // by row
	feasible []int
	raw      map[Plugin][]int64 // by index of feasible
	score    map[Plugin][]int64
	total    []int64
}

var weighed = []Plugin{TaintToleration, NodeAffinity, PodTopologySpread, InterPodAffinity, ImageLocality}

func (g *golden) weight(name Plugin) int64 {
	if g.Weights == nil {
		return []int64{3, 2, 2, 2, 1}[slices.Index(weighed, name)]
	}
	return g.Weights[name]
}

func (g *golden) ask(q Question) (a answer) {
	spread, affinity := g.spread(q.Pod), g.affinity(q.Pod)
	for row, p := range g.places {
		why := g.verdict(q, p, spread, affinity)
		a.reasons = append(a.reasons, why)
		if why == Fits && (q.Rows == nil || q.Rows.Test(row)) {
			a.feasible = append(a.feasible, row)
		}
	}
	a.scores(g, q)
	return a
}

// scores sets what is asked of the feasible rows.
func (a *answer) scores(g *golden, q Question) {
	a.raw, a.score, a.total = map[Plugin][]int64{}, map[Plugin][]int64{}, make([]int64, len(a.feasible))
	var on []*place
	mask := vector.NewMask(len(g.places))
	for _, row := range a.feasible {
		on = append(on, g.places[row])
		mask.Set(row)
	}
	for _, name := range weighed {
		a.raw[name], a.score[name] = g.scoresOf(name, q.Pod, on)
		for i, s := range a.score[name] {
			a.total[i] += g.weight(name) * s
		}
	}
	for _, t := range g.terms {
		dst := make([]int64, len(g.places))
		if err := t.Scores.ScorePercent(dst, q.Amounts, mask); err != nil {
			panic(err)
		}
		for i, row := range a.feasible {
			a.raw[t.Plugin] = append(a.raw[t.Plugin], dst[row])
			a.total[i] += t.Weight * dst[row]
		}
		a.score[t.Plugin] = a.raw[t.Plugin]
	}
}

// scoresOf returns what a plugin scores on some nodes, before and after it is normalized.
func (g *golden) scoresOf(name Plugin, pod *corev1.Pod, on []*place) (raw, score []int64) {
	switch name {
	case TaintToleration:
		return g.taintScores(pod, on)
	case NodeAffinity:
		return g.nodeScores(pod, on)
	case PodTopologySpread:
		return g.spreadScores(pod, on)
	case InterPodAffinity:
		return g.podScores(pod, on)
	}
	return g.imageScores(pod, on)
}

// verdict returns why the first filter that rejects a node does.
func (g *golden) verdict(q Question, p *place, spread *goldenSpread, affinity *goldenAffinity) Reason {
	pod, node := q.Pod, p.node
	named := pod.Spec.NodeName == "" || node != nil && pod.Spec.NodeName == node.Name
	switch {
	case node == nil:
		return NodeUnknown
	case !named && g.Minor != 36: // v1.37 asks before it filters
		return NodeNameMismatch
	case node.Spec.Unschedulable && !g.tolerated(pod, unschedulable):
		return Unschedulable
	case !named:
		return NodeNameMismatch
	case !g.enters(pod, node):
		return UntoleratedTaint
	case g.AddedAffinity != nil && !matches(g.AddedAffinity.RequiredDuringSchedulingIgnoredDuringExecution, node):
		return AddedAffinityMismatch
	case !selects(pod, node):
		return AffinityMismatch
	case slices.ContainsFunc(p.pods, func(other *corev1.Pod) bool { return portsCollide(pod, other) }):
		return HostPortTaken
	case !q.Amounts.Requested.FitsIn(minus(p.allocatable, p.requested)):
		return ResourcesShort
	}
	if spread != nil {
		if why := spread.check(node); why != Fits {
			return why
		}
	}
	if affinity != nil {
		return affinity.check(node)
	}
	return Fits
}

func minus(a, b vector.ResourceVector) vector.ResourceVector {
	a = a.Clone()
	a.Sub(b)
	return a
}

// Taints.

var unschedulable = corev1.Taint{Key: corev1.TaintNodeUnschedulable, Effect: corev1.TaintEffectNoSchedule}

func (g *golden) tolerated(pod *corev1.Pod, taint corev1.Taint) bool {
	return slices.ContainsFunc(pod.Spec.Tolerations, func(t corev1.Toleration) bool {
		if t.Effect != "" && t.Effect != taint.Effect || t.Key != "" && t.Key != taint.Key {
			return false
		}
		switch t.Operator {
		case "", corev1.TolerationOpEqual:
			return t.Value == taint.Value
		case corev1.TolerationOpExists:
			return true
		case corev1.TolerationOpLt, corev1.TolerationOpGt:
			limit, err := strconv.ParseInt(t.Value, 10, 64)
			value, err2 := strconv.ParseInt(taint.Value, 10, 64)
			plain := err == nil && err2 == nil &&
				strconv.FormatInt(limit, 10) == t.Value && strconv.FormatInt(value, 10) == taint.Value
			less := t.Operator == corev1.TolerationOpLt
			return g.ComparisonOperators && plain && (less && value < limit || !less && value > limit)
		}
		return false
	})
}

// enters reports whether no taint keeps the pod off the node.
func (g *golden) enters(pod *corev1.Pod, node *corev1.Node) bool {
	return !slices.ContainsFunc(node.Spec.Taints, func(t corev1.Taint) bool {
		return (t.Effect == corev1.TaintEffectNoSchedule || t.Effect == corev1.TaintEffectNoExecute) && !g.tolerated(pod, t)
	})
}

func (g *golden) taintScores(pod *corev1.Pod, on []*place) (raw, score []int64) {
	for _, p := range on {
		x := int64(0)
		for _, t := range p.node.Spec.Taints {
			if t.Effect == corev1.TaintEffectPreferNoSchedule && !g.tolerated(pod, t) {
				x++
			}
		}
		raw = append(raw, x)
	}
	for _, x := range raw {
		if most := slices.Max(raw); most > 0 {
			score = append(score, 100-100*x/most)
		} else {
			score = append(score, 100)
		}
	}
	return raw, score
}

// Node affinity.

func matches(selector *corev1.NodeSelector, node *corev1.Node) bool {
	if selector == nil {
		return true
	}
	ok, _ := nodeaffinity.NewLazyErrorNodeSelector(selector).Match(node)
	return ok
}

func selects(pod *corev1.Pod, node *corev1.Node) bool {
	for key, want := range pod.Spec.NodeSelector {
		if value, ok := node.Labels[key]; !ok || value != want {
			return false
		}
	}
	a := pod.Spec.Affinity
	return a == nil || a.NodeAffinity == nil ||
		matches(a.NodeAffinity.RequiredDuringSchedulingIgnoredDuringExecution, node)
}

func preferred(a *corev1.NodeAffinity, node *corev1.Node) (sum int64) {
	if a == nil {
		return 0
	}
	for _, term := range a.PreferredDuringSchedulingIgnoredDuringExecution {
		one := corev1.NodeSelector{NodeSelectorTerms: []corev1.NodeSelectorTerm{term.Preference}}
		if term.Weight != 0 && matches(&one, node) {
			sum += int64(term.Weight)
		}
	}
	return sum
}

func (g *golden) nodeScores(pod *corev1.Pod, on []*place) (raw, score []int64) {
	for _, p := range on {
		x := preferred(g.AddedAffinity, p.node)
		if a := pod.Spec.Affinity; a != nil {
			x += preferred(a.NodeAffinity, p.node)
		}
		raw = append(raw, x)
	}
	for _, x := range raw {
		score = append(score, 100*x/max(slices.Max(raw), 1))
	}
	return raw, score
}

// Host ports.

func hostPorts(pod *corev1.Pod) (ports []corev1.ContainerPort) {
	all := func(containers []corev1.Container, sidecars bool) {
		for _, c := range containers {
			if sidecars && (c.RestartPolicy == nil || *c.RestartPolicy != corev1.ContainerRestartPolicyAlways) {
				continue
			}
			for _, p := range c.Ports {
				if p.HostIP == "" {
					p.HostIP = "0.0.0.0"
				}
				if p.Protocol == "" {
					p.Protocol = corev1.ProtocolTCP
				}
				if p.HostPort > 0 {
					ports = append(ports, p)
				}
			}
		}
	}
	all(pod.Spec.InitContainers, true)
	all(pod.Spec.Containers, false)
	return ports
}

func portsCollide(a, b *corev1.Pod) bool {
	for _, p := range hostPorts(a) {
		for _, q := range hostPorts(b) {
			if p.HostPort == q.HostPort && p.Protocol == q.Protocol &&
				(p.HostIP == q.HostIP || p.HostIP == "0.0.0.0" || q.HostIP == "0.0.0.0") {
				return true
			}
		}
	}
	return false
}

// Topology spread.

type goldenConstraint struct {
	corev1.TopologySpreadConstraint
	selector labels.Selector
}

// constraints returns the pod's of one kind, and whether a node must have all their keys.
func (g *golden) constraints(
	pod *corev1.Pod, kind corev1.UnsatisfiableConstraintAction,
) (list []goldenConstraint, all bool) {
	if own := pod.Spec.TopologySpreadConstraints; len(own) > 0 {
		for _, c := range own {
			if c.WhenUnsatisfiable != kind {
				continue
			}
			selector, _ := metav1.LabelSelectorAsSelector(c.LabelSelector)
			for _, key := range c.MatchLabelKeys {
				if value, ok := pod.Labels[key]; ok {
					exact, _ := labels.SelectorFromSet(labels.Set{key: value}).Requirements()
					selector = selector.Add(exact...)
				}
			}
			list = append(list, goldenConstraint{c, selector})
		}
		return list, true
	}
	defaults := g.DefaultConstraints
	if defaults == nil {
		defaults = []corev1.TopologySpreadConstraint{
			{MaxSkew: 3, TopologyKey: corev1.LabelHostname, WhenUnsatisfiable: corev1.ScheduleAnyway},
			{MaxSkew: 5, TopologyKey: corev1.LabelTopologyZone, WhenUnsatisfiable: corev1.ScheduleAnyway},
		}
	}
	selector := g.defaultSelector(pod)
	for _, c := range defaults {
		if c.WhenUnsatisfiable == kind && !selector.Empty() {
			list = append(list, goldenConstraint{c, selector})
		}
	}
	return list, g.DefaultConstraints != nil
}

// defaultSelector is what services and the owner select the pod by.
func (g *golden) defaultSelector(pod *corev1.Pod) labels.Selector {
	set := labels.Set{}
	for _, s := range g.services {
		if s.Namespace == pod.Namespace && s.Spec.Selector != nil &&
			labels.SelectorFromSet(s.Spec.Selector).Matches(labels.Set(pod.Labels)) {
			set = labels.Merge(set, s.Spec.Selector)
		}
	}
	selector := labels.SelectorFromSet(set)
	owner := metav1.GetControllerOf(pod)
	if owner == nil {
		return selector
	}
	var other *metav1.LabelSelector
	switch o := g.owners[owner.APIVersion+" "+owner.Kind+" "+pod.Namespace+" "+owner.Name].(type) {
	case *corev1.ReplicationController:
		return labels.SelectorFromSet(labels.Merge(set, o.Spec.Selector))
	case *appsv1.ReplicaSet:
		other = o.Spec.Selector
	case *appsv1.StatefulSet:
		other = o.Spec.Selector
	}
	if parsed, err := metav1.LabelSelectorAsSelector(other); err == nil {
		more, _ := parsed.Requirements()
		selector = selector.Add(more...)
	}
	return selector
}

// hasKeys reports whether a node has the keys of all constraints.
func hasKeys(node *corev1.Node, list []goldenConstraint) bool {
	return !slices.ContainsFunc(list, func(c goldenConstraint) bool {
		_, ok := node.Labels[c.TopologyKey]
		return !ok
	})
}

// admits reports whether a node counts by the constraint's policies.
func (g *golden) admits(c goldenConstraint, pod *corev1.Pod, node *corev1.Node) bool {
	affinity, taints := corev1.NodeInclusionPolicyHonor, corev1.NodeInclusionPolicyIgnore
	if c.NodeAffinityPolicy != nil {
		affinity = *c.NodeAffinityPolicy
	}
	if c.NodeTaintsPolicy != nil {
		taints = *c.NodeTaintsPolicy
	}
	return (affinity != corev1.NodeInclusionPolicyHonor || selects(pod, node)) &&
		(taints != corev1.NodeInclusionPolicyHonor || g.enters(pod, node))
}

// count is how many pods a constraint counts.
func (c goldenConstraint) count(pods []*corev1.Pod, namespace string) (n int) {
	for _, p := range pods {
		if !c.selector.Empty() && p.DeletionTimestamp == nil && p.Namespace == namespace &&
			c.selector.Matches(labels.Set(p.Labels)) {
			n++
		}
	}
	return n
}

// goldenSpread is what a pod's DoNotSchedule constraints say.
type goldenSpread struct {
	g    *golden
	pod  *corev1.Pod
	list []goldenConstraint
	sums []map[string]int // of each constraint by value
}

func (g *golden) spread(pod *corev1.Pod) *goldenSpread {
	list, _ := g.constraints(pod, corev1.DoNotSchedule)
	if len(list) == 0 {
		return nil
	}
	s := &goldenSpread{g: g, pod: pod, list: list}
	for _, c := range list {
		sums := map[string]int{}
		for _, p := range g.known() {
			if hasKeys(p.node, list) && g.admits(c, pod, p.node) {
				sums[p.node.Labels[c.TopologyKey]] += c.count(p.pods, pod.Namespace)
			}
		}
		s.sums = append(s.sums, sums)
	}
	return s
}

// move adds or removes a pod; it looks neither at terminating pods nor at empty selectors.
func (s *goldenSpread) move(node *corev1.Node, pod *corev1.Pod, sign int) {
	for i, c := range s.list {
		if pod.Namespace == s.pod.Namespace && hasKeys(node, s.list) && s.g.admits(c, s.pod, node) &&
			c.selector.Matches(labels.Set(pod.Labels)) {
			s.sums[i][node.Labels[c.TopologyKey]] += sign
		}
	}
}

func (s *goldenSpread) check(node *corev1.Node) Reason {
	for i, c := range s.list {
		value, ok := node.Labels[c.TopologyKey]
		if !ok {
			return SpreadLabelMissing
		}
		least := math.MaxInt32
		for _, n := range s.sums[i] {
			least = min(least, n)
		}
		domains := 1
		if c.MinDomains != nil {
			domains = int(*c.MinDomains)
		}
		if len(s.sums[i]) < domains {
			least = 0
		}
		self := 0
		if c.selector.Matches(labels.Set(s.pod.Labels)) {
			self = 1
		}
		if s.sums[i][value]+self-least > int(c.MaxSkew) {
			return SpreadSkew
		}
	}
	return Fits
}

func (g *golden) spreadScores(pod *corev1.Pod, on []*place) (raw, score []int64) {
	raw, score = make([]int64, len(on)), make([]int64, len(on))
	list, all := g.constraints(pod, corev1.ScheduleAnyway)
	if len(list) == 0 {
		return raw, score
	}
	ignored := func(p *place) bool { return all && !hasKeys(p.node, list) }
	least, most := int64(math.MaxInt64), int64(0)
	for i, p := range on {
		if ignored(p) {
			continue
		}
		sum := 0.0
		for _, c := range list {
			value, ok := p.node.Labels[c.TopologyKey]
			if !ok {
				continue
			}
			size, count := 0, 0
			if c.TopologyKey == corev1.LabelHostname {
				for _, other := range on {
					if !ignored(other) {
						size++
					}
				}
				count = c.count(p.pods, pod.Namespace)
			} else {
				values := map[string]bool{} // a missing label is an empty one
				for _, other := range on {
					if !ignored(other) {
						values[other.node.Labels[c.TopologyKey]] = true
					}
				}
				size = len(values)
				for _, other := range g.known() {
					if !ignored(other) && g.admits(c, pod, other.node) && other.node.Labels[c.TopologyKey] == value {
						count += c.count(other.pods, pod.Namespace)
					}
				}
			}
			sum += float64(float64(count)*math.Log(float64(size+2))) + float64(c.MaxSkew-1)
		}
		raw[i] = int64(math.Round(sum))
		least, most = min(least, raw[i]), max(most, raw[i])
	}
	for i, p := range on {
		switch {
		case ignored(p):
		case most == 0:
			score[i] = 100
		default:
			score[i] = 100 * (most + least - raw[i]) / most
		}
	}
	return raw, score
}

// Inter-pod affinity.

type goldenTerm struct {
	key      string
	weight   int64
	names    map[string]bool
	spaces   labels.Selector
	selector labels.Selector
}

// matches reports whether a term matches a pod of a namespace with these labels.
func (t goldenTerm) matches(pod *corev1.Pod, namespace labels.Set) bool {
	return (t.names[pod.Namespace] || t.spaces.Matches(namespace)) && t.selector.Matches(labels.Set(pod.Labels))
}

// group is a list of terms of a pod: none if one can't be parsed.
type group func(a *corev1.Affinity) []corev1.WeightedPodAffinityTerm

func required(terms []corev1.PodAffinityTerm) (list []corev1.WeightedPodAffinityTerm) {
	for _, t := range terms {
		list = append(list, corev1.WeightedPodAffinityTerm{PodAffinityTerm: t})
	}
	return list
}

func requiredAffinity(a *corev1.Affinity) (list []corev1.WeightedPodAffinityTerm) {
	if a != nil && a.PodAffinity != nil {
		list = required(a.PodAffinity.RequiredDuringSchedulingIgnoredDuringExecution)
	}
	return list
}

func requiredAnti(a *corev1.Affinity) (list []corev1.WeightedPodAffinityTerm) {
	if a != nil && a.PodAntiAffinity != nil {
		list = required(a.PodAntiAffinity.RequiredDuringSchedulingIgnoredDuringExecution)
	}
	return list
}

func preferredAffinity(a *corev1.Affinity) (list []corev1.WeightedPodAffinityTerm) {
	if a != nil && a.PodAffinity != nil {
		list = a.PodAffinity.PreferredDuringSchedulingIgnoredDuringExecution
	}
	return list
}

func preferredAnti(a *corev1.Affinity) (list []corev1.WeightedPodAffinityTerm) {
	if a != nil && a.PodAntiAffinity != nil {
		list = a.PodAntiAffinity.PreferredDuringSchedulingIgnoredDuringExecution
	}
	return list
}

func (of group) parse(pod *corev1.Pod) (list []goldenTerm, err error) {
	for _, t := range of(pod.Spec.Affinity) {
		parsed := goldenTerm{key: t.PodAffinityTerm.TopologyKey, weight: int64(t.Weight), names: map[string]bool{}}
		if parsed.selector, err = metav1.LabelSelectorAsSelector(t.PodAffinityTerm.LabelSelector); err != nil {
			return nil, err
		}
		if parsed.spaces, err = metav1.LabelSelectorAsSelector(t.PodAffinityTerm.NamespaceSelector); err != nil {
			return nil, err
		}
		for _, name := range t.PodAffinityTerm.Namespaces {
			parsed.names[name] = true
		}
		if len(t.PodAffinityTerm.Namespaces) == 0 && t.PodAffinityTerm.NamespaceSelector == nil {
			parsed.names[pod.Namespace] = true
		}
		list = append(list, parsed)
	}
	return list, nil
}

func (of group) terms(pod *corev1.Pod) []goldenTerm {
	list, _ := of.parse(pod)
	return list
}

// own returns a group of the pod in question: its namespace selectors are replaced by the
// namespaces that there are now, but those of v1.36 stay, and are asked without labels.
func (g *golden) own(pod *corev1.Pod, of group) []goldenTerm {
	list := of.terms(pod)
	for i, t := range list {
		if t.spaces.Empty() {
			continue
		}
		for name, n := range g.namespaces {
			if t.spaces.Matches(labels.Set(n.Labels)) {
				t.names[name] = true
			}
		}
		if g.Minor != 36 {
			list[i].spaces = labels.Nothing()
		}
	}
	return list
}

// labelsOf returns the labels of a namespace, nil if it isn't there.
func (g *golden) labelsOf(namespace string) labels.Set {
	if n := g.namespaces[namespace]; n != nil {
		return n.Labels
	}
	return nil
}

type pair struct{ key, value string }

// count adds n to the value that a node has of a term's key, if any.
func count(m map[pair]int64, node *corev1.Node, key string, n int64) {
	if value, ok := node.Labels[key]; ok {
		m[pair{key, value}] += n
	}
}

// goldenAffinity is what required affinity and anti-affinity say.
type goldenAffinity struct {
	pod            *corev1.Pod
	labels         labels.Set // of its namespace
	affinity, anti []goldenTerm
	// How many pods all affinity terms match, an anti-affinity term matches, and have
	// an anti-affinity term that matches the pod.
	met, hit, kept map[pair]int64
}

func (g *golden) affinity(pod *corev1.Pod) *goldenAffinity {
	a := &goldenAffinity{
		pod: pod, labels: g.labelsOf(pod.Namespace), affinity: g.own(pod, requiredAffinity), anti: g.own(pod, requiredAnti),
		met: map[pair]int64{}, hit: map[pair]int64{}, kept: map[pair]int64{},
	}
	for _, p := range g.known() {
		for _, other := range p.pods {
			a.move(p.node, other, 1)
		}
	}
	if len(a.affinity)+len(a.anti)+len(a.kept) == 0 {
		return nil
	}
	return a
}

func (a *goldenAffinity) matchesAll(pod *corev1.Pod) bool {
	return len(a.affinity) > 0 && !slices.ContainsFunc(a.affinity, func(t goldenTerm) bool { return !t.matches(pod, nil) })
}

func (a *goldenAffinity) move(node *corev1.Node, pod *corev1.Pod, sign int) {
	if a.matchesAll(pod) {
		for _, t := range a.affinity {
			count(a.met, node, t.key, int64(sign))
		}
	}
	for _, t := range a.anti {
		if t.matches(pod, nil) {
			count(a.hit, node, t.key, int64(sign))
		}
	}
	for _, t := range group(requiredAnti).terms(pod) {
		if t.matches(a.pod, a.labels) {
			count(a.kept, node, t.key, int64(sign))
		}
	}
}

func (a *goldenAffinity) check(node *corev1.Node) Reason {
	met := true
	for _, t := range a.affinity {
		value, ok := node.Labels[t.key]
		if !ok {
			return PodAffinityMismatch
		}
		met = met && a.met[pair{t.key, value}] > 0
	}
	none := true // nothing is counted anywhere
	for _, n := range a.met {
		none = none && n == 0
	}
	if !met && !(none && a.matchesAll(a.pod)) {
		return PodAffinityMismatch
	}
	for _, t := range a.anti {
		if value, ok := node.Labels[t.key]; ok && a.hit[pair{t.key, value}] > 0 {
			return PodAntiAffinity
		}
	}
	for key, value := range node.Labels {
		if a.kept[pair{key, value}] > 0 {
			return ExistingAntiAffinity
		}
	}
	return Fits
}

func (g *golden) podScores(pod *corev1.Pod, on []*place) (raw, score []int64) {
	raw, score = make([]int64, len(on)), make([]int64, len(on))
	affinity, anti := g.own(pod, preferredAffinity), g.own(pod, preferredAnti)
	if g.IgnorePreferredTermsOfExistingPods && len(affinity)+len(anti) == 0 {
		return raw, score
	}
	hard := int64(1)
	if g.HardPodAffinityWeight != nil {
		hard = int64(*g.HardPodAffinityWeight)
	}
	sums := map[pair]int64{}
	for _, p := range g.known() {
		for _, other := range p.pods {
			add := func(list []goldenTerm, pod *corev1.Pod, space labels.Set, weight func(t goldenTerm) int64) {
				for _, t := range list {
					if t.matches(pod, space) {
						count(sums, p.node, t.key, weight(t))
					}
				}
			}
			space := g.labelsOf(pod.Namespace)
			add(affinity, other, nil, func(t goldenTerm) int64 { return t.weight })
			add(anti, other, nil, func(t goldenTerm) int64 { return -t.weight })
			add(group(requiredAffinity).terms(other), pod, space, func(goldenTerm) int64 { return hard })
			add(group(preferredAffinity).terms(other), pod, space, func(t goldenTerm) int64 { return t.weight })
			add(group(preferredAnti).terms(other), pod, space, func(t goldenTerm) int64 { return -t.weight })
		}
	}
	for i, p := range on {
		for key, value := range p.node.Labels {
			raw[i] += sums[pair{key, value}]
		}
	}
	for i, x := range raw {
		if least, most := slices.Min(raw), slices.Max(raw); least < most {
			score[i] = int64(100 * (float64(x-least) / float64(most-least)))
		}
	}
	return raw, score
}

// Images.

func (g *golden) imageScores(pod *corev1.Pod, on []*place) (raw, score []int64) {
	var names []string
	for _, c := range pod.Spec.InitContainers {
		names = append(names, c.Image)
	}
	for _, c := range pod.Spec.Containers {
		names = append(names, c.Image)
	}
	images := len(names)
	for _, v := range pod.Spec.Volumes {
		if v.Image != nil {
			names = append(names, v.Image.Reference)
		}
	}
	if g.Minor != 36 {
		images = len(names)
	}
	for _, p := range on {
		sum := int64(0)
		for _, name := range names {
			if strings.LastIndex(name, ":") <= strings.LastIndex(name, "/") {
				name += ":latest"
			}
			if size, nodes, ok := g.image(p, name); ok {
				sum += int64(float64(size) * (float64(nodes) / float64(len(g.known()))))
			}
		}
		least, most := int64(23<<20), int64(images)*(1000<<20)
		if sum < least {
			sum = least
		} else if sum > most {
			sum = most
		}
		raw = append(raw, 100*(sum-least)/(most-least))
	}
	return raw, raw
}

// image returns the size of an image on a node, and how many nodes have it.
func (g *golden) image(p *place, name string) (size int64, nodes int, ok bool) {
	if p.images != nil {
		return p.images(name)
	}
	for _, other := range g.known() {
		if _, has := statusImage(other.node, name); has && other.images == nil {
			nodes++
		}
	}
	size, ok = statusImage(p.node, name)
	return size, nodes, ok
}

func statusImage(node *corev1.Node, name string) (size int64, ok bool) {
	for _, image := range node.Status.Images {
		if slices.Contains(image.Names, name) {
			return image.SizeBytes, true
		}
	}
	return 0, false
}

// broken reports whether the pod has terms or constraints that can't be parsed.
func broken(pod *corev1.Pod) bool {
	for _, of := range []group{requiredAffinity, requiredAnti, preferredAffinity, preferredAnti} {
		if _, err := of.parse(pod); err != nil {
			return true
		}
	}
	for _, c := range pod.Spec.TopologySpreadConstraints {
		if _, err := metav1.LabelSelectorAsSelector(c.LabelSelector); err != nil {
			return true
		}
	}
	if a := pod.Spec.Affinity; a != nil && a.NodeAffinity != nil {
		_, err := nodeaffinity.NewPreferredSchedulingTerms(a.NodeAffinity.PreferredDuringSchedulingIgnoredDuringExecution)
		return err != nil
	}
	return false
}
