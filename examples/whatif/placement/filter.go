package placement

import (
	"cmp"
	"fmt"
	"maps"
	"slices"
	"strings"

	"github.com/resvec/resvec/device"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	helpers "k8s.io/component-helpers/scheduling/corev1"
	"k8s.io/component-helpers/scheduling/corev1/nodeaffinity"
	"k8s.io/klog/v2"
)

// A Host is a node as filters see it.
type Host struct {
	Node    *corev1.Node
	Taints  []corev1.Taint  // of the node, and of what its status says
	Devices []device.Device // as its labels describe them
	Closed  string          // a field that can't be read, so that no pod may go there; empty: none

	selected *corev1.Node // what selectors see, if that isn't Node
}

// Hosts returns what filters look at, in the order of the nodes. A cordoned node has the
// taint node.kubernetes.io/unschedulable, and one that is not Ready not-ready or
// unreachable, as controllers set them: files may lack them.
func Hosts(nodes []*corev1.Node) ([]Host, error) {
	inventory, err := device.FromNodes(nodes, nil, device.Options{})
	if err != nil {
		return nil, err
	}
	hosts := make([]Host, len(nodes))
	for i, node := range nodes {
		hosts[i] = Host{Node: node}
		if known, ok := inventory.Node(node.Name); ok {
			hosts[i].Devices = known.Devices
		}
		add := func(key string) {
			hosts[i].Taints = append(hosts[i].Taints, corev1.Taint{Key: key, Effect: corev1.TaintEffectNoSchedule})
		}
		if node.Spec.Unschedulable {
			add(corev1.TaintNodeUnschedulable)
		}
		for _, c := range node.Status.Conditions {
			switch {
			case c.Type != corev1.NodeReady:
			case c.Status == corev1.ConditionFalse:
				add(corev1.TaintNodeNotReady)
			case c.Status == corev1.ConditionUnknown:
				add(corev1.TaintNodeUnreachable)
			}
		}
		hosts[i].Taints = append(hosts[i].Taints, node.Spec.Taints...)
	}
	return hosts, nil
}

// newName is the name of a new node for selectors. No pod can name it, as it is no name.
const newName = "a new node"

// New returns a host like h that has just joined the cluster and is ready: without the name
// and the taints that say how a node is at present. Selectors see a name that is none of a node
// that is there. startup are the keys of more taints that a node loses once it is ready.
func (h *Host) New(startup ...string) Host {
	h2 := Host{Node: &corev1.Node{ObjectMeta: metav1.ObjectMeta{Labels: maps.Clone(h.Node.Labels)}}, Devices: h.Devices, Closed: h.Closed}
	delete(h2.Node.Labels, corev1.LabelHostname)
	h2.selected = &corev1.Node{ObjectMeta: metav1.ObjectMeta{Name: newName, Labels: map[string]string{corev1.LabelHostname: newName}}}
	maps.Copy(h2.selected.Labels, h2.Node.Labels)
	for _, taint := range h.Taints {
		if !isPassing(taint.Key) && !slices.Contains(startup, taint.Key) {
			h2.Taints = append(h2.Taints, taint)
		}
	}
	return h2
}

// Object returns the host as the object of a node that is called name, for [State.SetObjects]: with
// its taints. A new one gets a hostname of its own, and the images of none.
func (h *Host) Object(name string) *corev1.Node {
	object := *h.Node
	object.Name, object.Spec.Taints = name, h.Taints
	if h.selected != nil {
		object.Labels = maps.Clone(h.selected.Labels)
		object.Labels[corev1.LabelHostname] = name
	}
	return &object
}

// passing are the taints that a node has while it starts, is ill or goes, by key or, with a
// slash at the end, the beginning of it. README.md has the sources.
var passing = []string{
	"node.kubernetes.io/", "node.cloudprovider.kubernetes.io/",
	"ToBeDeletedByClusterAutoscaler", "DeletionCandidateOfClusterAutoscaler",
	"startup-taint.cluster-autoscaler.kubernetes.io/", "ignore-taint.cluster-autoscaler.kubernetes.io/",
	"status-taint.cluster-autoscaler.kubernetes.io/",
	"karpenter.sh/disrupted", "karpenter.sh/disruption", "karpenter.sh/unregistered",
	"node.cluster.x-k8s.io/uninitialized", "node.cluster.x-k8s.io/outdated-revision",
	"cni.istio.io/not-ready", "cloud.google.com/impending-node-termination", "aws-node-termination-handler/",
}

// isPassing reports whether a taint says how a node is at present, and not what it is. Agents
// of networks and volumes have one of a common form, such as ebs.csi.aws.com/agent-not-ready.
func isPassing(key string) bool {
	return strings.HasSuffix(key, "/agent-not-ready") || slices.ContainsFunc(passing, func(p string) bool {
		return key == p || strings.HasSuffix(p, "/") && strings.HasPrefix(key, p)
	})
}

// NameOf returns the name of the only node to which a pod may go by its required affinity, as
// the DaemonSet controller writes it; "" where it names none or several.
func NameOf(pod *corev1.Pod) (name string) {
	a := pod.Spec.Affinity
	if a == nil || a.NodeAffinity == nil || a.NodeAffinity.RequiredDuringSchedulingIgnoredDuringExecution == nil {
		return ""
	}
	for _, term := range a.NodeAffinity.RequiredDuringSchedulingIgnoredDuringExecution.NodeSelectorTerms {
		of := ""
		for _, f := range term.MatchFields {
			if f.Key == metav1.ObjectNameField && f.Operator == corev1.NodeSelectorOpIn && len(f.Values) == 1 {
				of = f.Values[0]
			}
		}
		if of == "" || name != "" && of != name {
			return ""
		}
		name = of
	}
	return name
}

// A Filter is what a pod demands of its node besides room: that it tolerates the taints,
// that its node selector and its required node affinity match, and that it gets the card
// that these name.
type Filter struct {
	tolerations []corev1.Toleration
	selector    map[string]string
	affinity    nodeaffinity.RequiredNodeAffinity // with the selector
	cards       []string                          // labels whose value it names, of a product of which it requests whole devices
}

// NewFilter returns what a pod demands.
func NewFilter(pod *corev1.Pod) *Filter {
	f := &Filter{tolerations: pod.Spec.Tolerations, selector: pod.Spec.NodeSelector, affinity: nodeaffinity.GetRequiredNodeAffinity(pod)}
	keys := labels(pod, func(o corev1.NodeSelectorOperator) bool { return o == corev1.NodeSelectorOpIn })
	requested := make(map[corev1.ResourceName]bool)
	for _, containers := range [][]corev1.Container{pod.Spec.InitContainers, pod.Spec.Containers} {
		for _, c := range containers {
			for _, list := range []corev1.ResourceList{c.Resources.Requests, c.Resources.Limits} {
				for name, q := range list {
					requested[name] = requested[name] || !q.IsZero()
				}
			}
		}
	}
	for _, rule := range device.DefaultRules() {
		domain, isPattern := strings.CutPrefix(rule.Product, "*")
		for _, key := range keys {
			kind, ok := strings.CutSuffix(key, domain)
			if isPattern && !ok || !isPattern && key != rule.Product {
				continue
			}
			if slices.ContainsFunc(rule.Whole, func(whole corev1.ResourceName) bool {
				return requested[corev1.ResourceName(strings.Replace(string(whole), "*", kind, 1))]
			}) {
				f.cards = append(f.cards, key)
			}
		}
	}
	return f
}

// Keys returns the keys of labels that a pod's node selector and its required node
// affinity name, sorted.
func Keys(pod *corev1.Pod) []string {
	return labels(pod, func(corev1.NodeSelectorOperator) bool { return true })
}

// labels returns the keys of a pod's node selector, and of its affinity with some operators.
func labels(pod *corev1.Pod, by func(corev1.NodeSelectorOperator) bool) []string {
	keys := slices.Collect(maps.Keys(pod.Spec.NodeSelector))
	if a := pod.Spec.Affinity; a != nil && a.NodeAffinity != nil && a.NodeAffinity.RequiredDuringSchedulingIgnoredDuringExecution != nil {
		for _, term := range a.NodeAffinity.RequiredDuringSchedulingIgnoredDuringExecution.NodeSelectorTerms {
			for _, r := range term.MatchExpressions {
				if by(r.Operator) {
					keys = append(keys, r.Key)
				}
			}
		}
	}
	slices.Sort(keys)
	return slices.Compact(keys)
}

// A Refusal says why a pod may not go to a node.
type Refusal struct {
	Reason string // in kube-scheduler's words, for a number of nodes
	Detail string // which constraint it is, for people
}

// Refuse says why the pod may not go to a host, however much room there is. The zero
// value says that it may.
func (f *Filter) Refuse(h *Host) Refusal {
	if h.Closed != "" {
		return Refusal{"node(s) had a malformed field", "malformed " + h.Closed}
	}
	blocking := func(t *corev1.Taint) bool { return t.Effect != corev1.TaintEffectPreferNoSchedule }
	if taint, found := helpers.FindMatchingUntoleratedTaint(klog.Logger{}, h.Taints, f.tolerations, blocking, true); found {
		switch taint.Key {
		case corev1.TaintNodeUnschedulable:
			return Refusal{"node(s) were unschedulable", "cordoned"}
		case corev1.TaintNodeNotReady, corev1.TaintNodeUnreachable:
			return Refusal{"node(s) had untolerated taint(s)", "not ready"}
		}
		return Refusal{"node(s) had untolerated taint(s)", "taint " + strings.TrimSuffix(taint.Key+"="+taint.Value, "=")}
	}
	node := cmp.Or(h.selected, h.Node)
	const unmatched = "node(s) didn't match Pod's node affinity/selector"
	for _, key := range slices.Sorted(maps.Keys(f.selector)) {
		if value, has := node.Labels[key]; !has || value != f.selector[key] {
			return Refusal{unmatched, fmt.Sprintf("nodeSelector %s=%s", key, f.selector[key])}
		}
	}
	if ok, _ := f.affinity.Match(node); !ok { // what does not parse matches nothing, as in kube-scheduler
		return Refusal{unmatched, "required node affinity"}
	}
	for _, label := range f.cards {
		if product := node.Labels[label]; !hasWhole(h.Devices, product) {
			return Refusal{"node(s) had no whole " + product, "whole card " + product}
		}
	}
	return Refusal{}
}

// hasWhole reports whether a host has a whole device of a product, and not only shares and
// MIG instances. Of a host whose labels don't say what its devices are the selector is
// enough. A product that names shares or instances is what was asked for.
func hasWhole(devices []device.Device, product string) bool {
	known := false
	for _, d := range devices {
		if d.Product == product {
			known = true
			if d.Sharing == device.SharingNone {
				return true
			}
		}
	}
	return !known || strings.HasSuffix(product, "-SHARED") || strings.Contains(product, "-MIG-")
}
