package placement_test

import (
	"fmt"
	"testing"

	"github.com/resvec/resvec/examples/whatif/placement"
	"github.com/resvec/resvec/internal/testkit"
	corev1 "k8s.io/api/core/v1"
	"sigs.k8s.io/yaml"
)

// decode reads a YAML text into an object.
func decode[T any](t *testing.T, text string) *T {
	t.Helper()
	object := new(T)
	if err := yaml.UnmarshalStrict([]byte(text), object); err != nil {
		t.Fatalf("%s: %v", text, err)
	}
	return object
}

// Which pods may go to which node, by what is written in both.
func TestRefuse(t *testing.T) {
	const (
		cordoned  = "cordoned"
		notReady  = "not ready"
		affinity  = "required node affinity"
		noTaint   = "{}"
		h100      = "metadata: {labels: {nvidia.com/gpu.product: H100, nvidia.com/gpu.count: '8', nvidia.com/gpu.memory: '81559'}}\n"
		whole     = h100 + "status: {allocatable: {nvidia.com/gpu: 8}}"
		sliced    = "metadata: {labels: {nvidia.com/gpu.product: H100, nvidia.com/gpu.count: '8', nvidia.com/gpu.memory: '81559', nvidia.com/gpu.replicas: '4'}}\nstatus: {allocatable: {nvidia.com/gpu: 32}}"
		slicedBy  = "metadata: {labels: {nvidia.com/gpu.product: H100-SHARED, nvidia.com/gpu.count: '8', nvidia.com/gpu.memory: '81559', nvidia.com/gpu.replicas: '4'}}\nstatus: {allocatable: {nvidia.com/gpu: 32}}"
		single    = "metadata: {labels: {nvidia.com/gpu.product: A100-MIG-1g.5gb, nvidia.com/gpu.count: '56', nvidia.com/gpu.memory: '4864', nvidia.com/mig.strategy: single}}\nstatus: {allocatable: {nvidia.com/gpu: 56}}"
		wantsH100 = "nodeSelector: {nvidia.com/gpu.product: H100}\ncontainers: [{name: c, resources: {limits: {nvidia.com/gpu: 1}}}]"
		anyH100   = "affinity: {nodeAffinity: {requiredDuringSchedulingIgnoredDuringExecution: {nodeSelectorTerms: [{matchExpressions: [{key: nvidia.com/gpu.product, operator: In, values: [H100, H200]}]}]}}}\ncontainers: [{name: c, resources: {limits: {nvidia.com/gpu: 1}}}]"
	)
	taint := func(text string) string { return "spec: {taints: [" + text + "]}" }
	tolerate := func(text string) string { return "tolerations: [" + text + "]" }
	require := func(term string) string {
		return "affinity: {nodeAffinity: {requiredDuringSchedulingIgnoredDuringExecution: {nodeSelectorTerms: [" + term + "]}}}"
	}
	for _, c := range []struct{ node, pod, want string }{
		{noTaint, noTaint, ""},
		{taint("{key: a, effect: NoSchedule}"), noTaint, "taint a"},
		{taint("{key: a, effect: PreferNoSchedule}"), noTaint, ""},
		{taint("{key: a, effect: NoSchedule}"), tolerate("{key: a}"), ""},
		{taint("{key: a, value: v, effect: NoSchedule}"), tolerate("{key: a}"), "taint a=v"},
		{taint("{key: a, value: v, effect: NoSchedule}"), tolerate("{key: a, operator: Equal, value: v}"), ""},
		{taint("{key: a, value: v, effect: NoSchedule}"), tolerate("{key: a, operator: Exists}"), ""},
		{taint("{key: a, value: v, effect: NoSchedule}"), tolerate("{operator: Exists}"), ""},
		{taint("{key: a, effect: NoSchedule}"), tolerate("{key: a, effect: NoExecute}"), "taint a"},
		{taint("{key: a, effect: NoExecute}"), tolerate("{key: a, effect: NoExecute}"), ""},
		{taint("{key: a, effect: NoExecute}"), noTaint, "taint a"},
		{taint("{key: a, effect: NoSchedule}, {key: b, effect: NoSchedule}"), tolerate("{key: a}"), "taint b"},
		{taint("{key: a, effect: NoSchedule}, {key: b, effect: NoSchedule}"), tolerate("{key: b}, {key: a}"), ""},
		{taint("{key: a, value: '5', effect: NoSchedule}"), tolerate("{key: a, operator: Gt, value: '3'}"), ""},
		{taint("{key: a, value: '5', effect: NoSchedule}"), tolerate("{key: a, operator: Lt, value: '3'}"), "taint a=5"},

		{"spec: {unschedulable: true}", noTaint, cordoned},
		{"spec: {unschedulable: true, taints: [{key: a, effect: NoSchedule}]}", noTaint, cordoned},
		{"spec: {unschedulable: true}", tolerate("{key: node.kubernetes.io/unschedulable, operator: Exists, effect: NoSchedule}"), ""},
		{"status: {conditions: [{type: Ready, status: 'True'}]}", noTaint, ""},
		{"status: {conditions: [{type: Ready, status: 'False'}]}", noTaint, notReady},
		{"status: {conditions: [{type: Ready, status: Unknown}]}", noTaint, notReady},
		{"status: {conditions: [{type: DiskPressure, status: Unknown}]}", noTaint, ""},
		{"status: {conditions: [{type: Ready, status: Unknown}]}", tolerate("{key: node.kubernetes.io/not-ready, operator: Exists}"), notReady},
		{"status: {conditions: [{type: Ready, status: Unknown}]}", tolerate("{key: node.kubernetes.io/unreachable, operator: Exists}"), ""},

		{"metadata: {labels: {a: b}}", "nodeSelector: {a: b}", ""},
		{"metadata: {labels: {a: c}}", "nodeSelector: {a: b}", "nodeSelector a=b"},
		{noTaint, "nodeSelector: {a: ''}", "nodeSelector a="},
		{"metadata: {labels: {a: b}}", require("{matchExpressions: [{key: a, operator: In, values: [x, b]}]}"), ""},
		{"metadata: {labels: {a: b}}", require("{matchExpressions: [{key: a, operator: NotIn, values: [x, b]}]}"), affinity},
		{"metadata: {labels: {a: b}}", require("{matchExpressions: [{key: a, operator: Exists}, {key: c, operator: Exists}]}"), affinity},
		{"metadata: {labels: {a: b}}", require("{matchExpressions: [{key: c, operator: Exists}]}, {matchExpressions: [{key: a, operator: Exists}]}"), ""},
		{"metadata: {labels: {a: '7'}}", require("{matchExpressions: [{key: a, operator: Gt, values: ['5']}]}"), ""},
		{"metadata: {labels: {a: '7'}}", require("{matchExpressions: [{key: a, operator: Gt, values: [five]}]}"), affinity},
		{"metadata: {name: n}", require("{matchFields: [{key: metadata.name, operator: In, values: [n]}]}"), ""},
		{"metadata: {name: n}", require("{matchFields: [{key: metadata.name, operator: In, values: [m]}]}"), affinity},
		{"metadata: {labels: {a: b}}", require("{}"), affinity},
		{"metadata: {labels: {a: b}}", "nodeSelector: {a: b}\n" + require("{matchExpressions: [{key: a, operator: NotIn, values: [b]}]}"), affinity},

		{whole, wantsH100, ""},
		{whole, anyH100, ""},
		{h100 + "status: {allocatable: {cpu: 1}}", wantsH100, ""}, // the resource decides
		{sliced, wantsH100, "whole card H100"},
		{sliced, anyH100, "whole card H100"},
		{sliced, "containers: [{name: c, resources: {limits: {nvidia.com/gpu: 1}}}]", ""}, // any card
		{sliced, "nodeSelector: {nvidia.com/gpu.product: H100}", ""},                      // no card
		{sliced, require("{matchExpressions: [{key: nvidia.com/gpu.product, operator: NotIn, values: [A100]}]}") + "\ncontainers: [{name: c, resources: {limits: {nvidia.com/gpu: 1}}}]", ""}, // any but one
		{slicedBy, wantsH100, "nodeSelector nvidia.com/gpu.product=H100"},
		{slicedBy, "nodeSelector: {nvidia.com/gpu.product: H100-SHARED}\ncontainers: [{name: c, resources: {limits: {nvidia.com/gpu: 1}}}]", ""},
		{single, wantsH100, "nodeSelector nvidia.com/gpu.product=H100"},
		{single, "nodeSelector: {nvidia.com/gpu.product: A100-MIG-1g.5gb}\ncontainers: [{name: c, resources: {limits: {nvidia.com/gpu: 1}}}]", ""},
	} {
		hosts := testkit.Must(placement.Hosts([]*corev1.Node{decode[corev1.Node](t, c.node)}))
		pod := &corev1.Pod{Spec: *decode[corev1.PodSpec](t, c.pod)}
		if got := placement.NewFilter(pod).Refuse(&hosts[0]); got.Detail != c.want || (got.Reason == "") != (got.Detail == "") {
			t.Errorf("%s\n%s\ngot %+v, want %q", c.node, c.pod, got, c.want)
		}
	}
}

// What passes on to a new node like one that is there.
func TestNewHost(t *testing.T) {
	hosts := testkit.Must(placement.Hosts([]*corev1.Node{decode[corev1.Node](t, `
metadata: {name: n, labels: {kubernetes.io/hostname: n, zone: a}}
spec: {unschedulable: true, taints: [{key: gpu, effect: NoSchedule}, {key: node.kubernetes.io/disk-pressure, effect: NoSchedule}]}
status: {conditions: [{type: Ready, status: Unknown}]}`)}))
	h := hosts[0].New()
	if len(h.Taints) != 1 || h.Taints[0].Key != "gpu" || len(h.Node.Labels) != 1 || h.Node.Labels["zone"] != "a" || h.Node.Name != "" {
		t.Errorf("got %+v of %v", h.Taints, h.Node.ObjectMeta)
	}
	const name = "affinity: {nodeAffinity: {requiredDuringSchedulingIgnoredDuringExecution: {nodeSelectorTerms: [{%s: [{key: %s, operator: %s}]}]}}}"
	for pod, admits := range map[string]bool{
		fmt.Sprintf(name, "matchFields", "metadata.name", "In, values: [n]"):                  false,
		fmt.Sprintf(name, "matchFields", "metadata.name", "NotIn, values: [n]"):               true,
		fmt.Sprintf(name, "matchExpressions", "kubernetes.io/hostname", "In, values: [n]"):    false,
		fmt.Sprintf(name, "matchExpressions", "kubernetes.io/hostname", "NotIn, values: [n]"): true,
		fmt.Sprintf(name, "matchExpressions", "kubernetes.io/hostname", "Exists"):             true,
		"nodeSelector: {kubernetes.io/hostname: n}":                                           false,
		"nodeSelector: {zone: a}": true,
	} {
		tolerant := *decode[corev1.PodSpec](t, pod+"\ntolerations: [{operator: Exists}]")
		if got := placement.NewFilter(&corev1.Pod{Spec: tolerant}).Refuse(&h); (got.Reason == "") != admits {
			t.Errorf("%s: %+v", pod, got)
		}
	}
}

// By what a pod is pinned to a node.
func TestNameOf(t *testing.T) {
	field := func(name string) string {
		return "matchFields: [{key: metadata.name, operator: In, values: [" + name + "]}]"
	}
	for terms, want := range map[string]string{
		"":                        "",
		"{" + field("a") + "}":    "a",
		"{" + field("a, b") + "}": "",
		"{" + field("a") + "}, {matchFields: []}":                                                    "",
		"{" + field("a") + ", matchExpressions: [{key: x, operator: Exists}]}, {" + field("a") + "}": "a",
		"{" + field("a") + "}, {" + field("b") + "}":                                                 "",
		"{matchFields: [{key: metadata.name, operator: NotIn, values: [a]}]}":                        "",
	} {
		spec := "affinity: {nodeAffinity: {requiredDuringSchedulingIgnoredDuringExecution: {nodeSelectorTerms: [" + terms + "]}}}"
		if got := placement.NameOf(&corev1.Pod{Spec: *decode[corev1.PodSpec](t, spec)}); got != want {
			t.Errorf("%s: got %q, want %q", terms, got, want)
		}
	}
}
