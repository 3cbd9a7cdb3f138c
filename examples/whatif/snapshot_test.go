package main

import (
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/resvec/resvec/internal/testkit"
	"github.com/resvec/resvec/vector"
)

func mustAsk(text string) *cluster {
	return testkit.Must(question(text))
}

// nodeYAML and podYAML return an item of a list.
func nodeYAML(name, instance, allocatable, spec string) string {
	labels := ""
	if instance != "" {
		labels = ", labels: {node.kubernetes.io/instance-type: " + instance + "}"
	}
	return fmt.Sprintf("- {apiVersion: v1, kind: Node, metadata: {name: %s%s}, spec: {%s}, status: {allocatable: {%s}}}\n", name, labels, spec, allocatable)
}

// daemonYAML returns a pod of a DaemonSet, or of a node by itself if that is its name.
func daemonYAML(name, owner, requests, spec string) string {
	kind := "DaemonSet"
	if owner == "" {
		kind = "Node"
	}
	return fmt.Sprintf("- {apiVersion: v1, kind: Pod, metadata: {name: %s, ownerReferences: [{kind: %s, name: %q, controller: true, apiVersion: apps/v1, uid: d}]}, spec: {containers: [{name: c, resources: {requests: {%s}}}], %s}}\n",
		name, kind, owner, requests, spec)
}

// attached is what the DaemonSet controller writes into the spec of a pod.
func attached(node string) string {
	return "affinity: {nodeAffinity: {requiredDuringSchedulingIgnoredDuringExecution: {nodeSelectorTerms: [{matchFields: [{key: metadata.name, operator: In, values: [" + node + "]}]}]}}}"
}

func podYAML(name, requests, spec string) string {
	if spec != "" {
		spec = ", " + spec
	}
	return fmt.Sprintf("- {apiVersion: v1, kind: Pod, metadata: {name: %s}, spec: {containers: [{name: c, resources: {requests: {%s}}}]%s}}\n", name, requests, spec)
}

// Which pods count, and which are the queue.
func TestSorting(t *testing.T) {
	item := func(name, meta, spec, status string) string {
		return fmt.Sprintf("- {apiVersion: v1, kind: Pod, metadata: {name: %s, %s}, spec: {containers: [{name: c, resources: {requests: {cpu: 1}}}], %s}, status: {%s}}\n", name, meta, spec, status)
	}
	c := mustAsk(both +
		nodeYAML("here", "", "cpu: 8, pods: 9", "") +
		nodeYAML("closed", "", "cpu: 8, pods: 9", "unschedulable: true") +
		item("waits", "", "", "phase: Pending") +
		item("waits-without-status", "", "", "") +
		item("runs", "", "nodeName: here", "phase: Running") +
		item("starts", "", "nodeName: here", "phase: Pending") +
		item("ends", `deletionTimestamp: "2026-01-01T00:00:00Z"`, "nodeName: here", "phase: Running") +
		item("unknown", "", "nodeName: here", "phase: Unknown") +
		item("done", "", "nodeName: here", "phase: Succeeded") +
		item("failed", "", "nodeName: here", "phase: Failed") +
		item("failed-without-node", "", "", "phase: Failed") +
		item("gone", `deletionTimestamp: "2026-01-01T00:00:00Z"`, "", "phase: Pending") +
		item("gated", "", "schedulingGates: [{name: x}]", "phase: Pending") +
		item("elsewhere", "", "nodeName: nowhere", "phase: Running") +
		item("on-cordoned", "", "nodeName: closed", "phase: Running"))
	for _, g := range []struct {
		name string
		pods []pod
		want string
	}{
		{"queue", c.queue, "default/waits default/waits-without-status"},
		{"running", c.running, "default/runs default/starts default/ends default/unknown default/on-cordoned"},
		{"ended", c.ended, "default/done default/failed default/failed-without-node"},
		{"deleting", c.deleting, "default/gone"},
		{"gated", c.gated, "default/gated"},
		{"orphans", c.orphans, "default/elsewhere"},
	} {
		if got := strings.Join(keys(g.pods), " "); got != g.want {
			t.Errorf("%s: got %s, want %s", g.name, got, g.want)
		}
	}
	if got := c.state.Nodes().Requested().At(0, 0); got != 4000 {
		t.Errorf("%v of cpu in use, want 4000", got)
	}
}

func TestQueueOrder(t *testing.T) {
	pod := func(name, created, priority string) string {
		return fmt.Sprintf("- {apiVersion: v1, kind: Pod, metadata: {name: %s, creationTimestamp: %s}, spec: {priority: %s}}\n", name, created, priority)
	}
	text := both + pod("late", `"2026-01-02T00:00:00Z"`, "null") + pod("early", `"2026-01-01T00:00:00Z"`, "0") +
		pod("urgent", `"2026-01-03T00:00:00Z"`, "5") + pod("low", "null", "-1") + pod("never", "null", "0") + pod("early-too", `"2026-01-01T00:00:00Z"`, "0")
	c := mustAsk(text)
	if got, want := list(keys(c.queue), 9), "default/urgent, default/early, default/early-too, default/late, default/never, default/low"; got != want {
		t.Errorf("got %s, want %s", got, want)
	}
	given, err := newSnapshot(&objects{pods: slices.Concat(c.queue)}, new(objects), true)
	if err != nil || given.queue[0].Name != "urgent" {
		t.Errorf("the given order is not kept: %v", err)
	}
}

// What kube-scheduler looks at besides, and this program does not, is reported.
func TestConstraints(t *testing.T) {
	for _, c := range []struct{ spec, want string }{
		{"", ""},
		{"nodeSelector: {a: b}", ""},
		{"affinity: {nodeAffinity: {}}", ""},
		{"affinity: {nodeAffinity: {preferredDuringSchedulingIgnoredDuringExecution: [{weight: 1, preference: {}}]}}", "preferred node affinity"},
		{"affinity: {podAffinity: {preferredDuringSchedulingIgnoredDuringExecution: [{weight: 1, podAffinityTerm: {topologyKey: zone}}]}}", "preferred podAffinity"},
		{"affinity: {podAntiAffinity: {preferredDuringSchedulingIgnoredDuringExecution: [{weight: 1, podAffinityTerm: {topologyKey: zone}}]}}", "preferred podAntiAffinity"},
		{"affinity: {podAffinity: {requiredDuringSchedulingIgnoredDuringExecution: [{topologyKey: zone}]}}", ""},
		{"affinity: {podAntiAffinity: {requiredDuringSchedulingIgnoredDuringExecution: [{topologyKey: zone}]}}", ""},
		{"affinity: {}", ""},
		{"topologySpreadConstraints: [{maxSkew: 1, topologyKey: zone, whenUnsatisfiable: DoNotSchedule}]", ""},
		{"topologySpreadConstraints: [{maxSkew: 1, topologyKey: zone, whenUnsatisfiable: ScheduleAnyway}]", "topologySpreadConstraints of ScheduleAnyway"},
		{"hostNetwork: true", ""},
		{"initContainers: [{name: i, ports: [{containerPort: 80, hostPort: 80}]}]", ""},
		{"volumes: [{name: v, emptyDir: {}}, {name: w, configMap: {name: x}}, {name: s, secret: {secretName: x}}, {name: p, projected: {}}]", ""},
		{"volumes: [{name: v, persistentVolumeClaim: {claimName: x}}]", "volumes that bind to nodes"},
		{"volumes: [{name: v, ephemeral: {}}]", "volumes that bind to nodes"},
		{"volumes: [{name: v, csi: {driver: x}}]", "volumes that bind to nodes"},
		{"resourceClaims: [{name: x}]", "resourceClaims"},
		{"priorityClassName: high", "priorityClassName, but no priority: 0 is taken"},
		{"priorityClassName: high, priority: 5", ""},
		{"schedulerName: volcano", "another scheduler"},
		{"schedulerName: default-scheduler", ""},
	} {
		got := mustAsk(both + nodeYAML("a", "", "cpu: 4", "") + podYAML("p", "cpu: 1", c.spec)).remarks()
		if (len(got) > 0) != (c.want != "") || len(got) > 0 && (got[0].constraint != c.want || got[0].pods[0] != "default/p") {
			t.Errorf("%s: got %v, want %s", c.spec, got, c.want)
		}
	}
	running := mustAsk(both + nodeYAML("a", "", "cpu: 4", "") + podYAML("p", "cpu: 1", "nodeName: a, resourceClaims: [{name: x}]")).remarks()
	if len(running) != 1 || running[0].constraint != "resourceClaims of pods that run, in no status" {
		t.Errorf("a running pod: got %v", running)
	}
}

// Nodes of one instance type are one shape, unless they have other devices.
func TestShapes(t *testing.T) {
	c := mustAsk(both +
		nodeYAML("a1", "big", "cpu: 8, memory: 100, pods: 10", "") +
		nodeYAML("a2", "big", "cpu: 7, memory: 120, pods: 10", "unschedulable: true") +
		nodeYAML("a3", "big", "cpu: 8, memory: 100, pods: 10, nvidia.com/gpu: 1", "") +
		nodeYAML("b1", "small", "cpu: 2, memory: 10, pods: 10", "") +
		nodeYAML("c1", "", "cpu: 2, memory: 10, pods: 10", "") +
		nodeYAML("c2", "", "cpu: 2, memory: 10, pods: 10", "") +
		nodeYAML("c3", "", "cpu: 2, memory: 11, pods: 10", "") +
		daemonYAML("d1", "d", "cpu: 1, memory: 10", "nodeName: a1") +
		daemonYAML("d2", "d", "cpu: 500m, memory: 20", "nodeName: a2") +
		daemonYAML("e2", "e", "cpu: 200m", "nodeName: a2") +
		podYAML("p", "cpu: 3", "nodeName: a1"))
	var got []string
	for i := range c.shapes {
		s := &c.shapes[i]
		got = append(got, fmt.Sprintf("%s (%s): %g cpu, %g memory, %g pods", s.name, list(s.nodes, 9), s.room()[0], s.room()[1], s.room()[3]))
	}
	want := []string{
		"big as a1 (a1, a2): 6000 cpu, 80 memory, 8 pods",
		"big as a3 (a3): 8000 cpu, 100 memory, 10 pods",
		"small (b1): 2000 cpu, 10 memory, 10 pods",
		"as c1 (c1, c2): 2000 cpu, 10 memory, 10 pods",
		"as c3 (c3): 2000 cpu, 11 memory, 10 pods",
	}
	if !slices.Equal(got, want) {
		t.Errorf("got\n%s\nwant\n%s", strings.Join(got, "\n"), strings.Join(want, "\n"))
	}
	for name, want := range map[string]string{"a2": "big as a1", "big as a3": "big as a3", "a3": "big as a3", "small": "small", "c2": "as c1"} {
		if s, err := c.findShape(name); err != nil || s.name != want {
			t.Errorf("%s: got %v, error %v", name, s, err)
		}
	}
	if _, err := c.findShape("big"); err == nil {
		t.Error("a name of two shapes is no error")
	}
}

// A node that has joined before its devices is a shape of its own, which is said.
func TestHints(t *testing.T) {
	const gpus = "nvidia.com/gpu.product: H100, nvidia.com/gpu.count: '8', nvidia.com/gpu.memory: '81559'"
	node := func(name, instance, labels, allocatable string) string {
		return fmt.Sprintf("- {apiVersion: v1, kind: Node, metadata: {name: %s, labels: {node.kubernetes.io/instance-type: %s, %s}}, status: {allocatable: {cpu: 8, pods: 9, %s}}}\n", name, instance, labels, allocatable)
	}
	ready := "is the device plugin ready?"
	for name, c := range map[string]struct{ nodes, want string }{
		"all have them":                   {node("a", "t", "", "nvidia.com/gpu: 8") + node("b", "t", "", "nvidia.com/gpu: 4"), ""},
		"none has them":                   {node("a", "t", "", "") + node("b", "t", "", ""), ""},
		"another type":                    {node("a", "t", "", "nvidia.com/gpu: 8") + node("b", "u", "", ""), ""},
		"instances in the place of GPUs":  {node("a", "t", "", "nvidia.com/gpu: 8") + node("b", "t", "", "nvidia.com/mig-1g.5gb: 7"), ""},
		"one of two":                      {node("a", "t", "", "nvidia.com/gpu: 8") + node("b", "t", "", ""), "b: no nvidia.com resource, as a has, of the same type t: " + ready},
		"0 of them":                       {node("a", "t", "", "") + node("b", "t", "", "amd.com/gpu: 8") + node("c", "t", "", "amd.com/gpu: 0"), "a, c: no amd.com resource, as b has, of the same type t: " + ready},
		"another size":                    {node("a", "k3s", "", "nvidia.com/gpu: 8") + nodeYAML("b", "k3s", "cpu: 16, pods: 9", ""), ""},
		"labels alone":                    {node("a", "t", gpus, ""), "a: no nvidia.com resource, though labels name H100: " + ready},
		"labels, and all announce them":   {node("a", "t", gpus, "nvidia.com/gpu: 8"), ""},
		"a resource of no device plugin":  {node("a", "t", "", "attachable-volumes-x: 5") + node("b", "t", "", ""), ""},
		"a resource of Kubernetes itself": {node("a", "t", "", "beta.kubernetes.io/x: 5") + node("b", "t", "", ""), ""},
	} {
		if got := strings.Join(mustAsk(both+c.nodes).hints(), "\n"); got != c.want {
			t.Errorf("%s: got %q, want %q", name, got, c.want)
		}
	}
}

// Nodes that start or stop, all of a type, are of the shape that they have when they are ready.
func TestPassingTaints(t *testing.T) {
	for taint, stays := range map[string]bool{
		"startup-taint.cluster-autoscaler.kubernetes.io/gpu": false, "ignore-taint.cluster-autoscaler.kubernetes.io/x": false,
		"status-taint.cluster-autoscaler.kubernetes.io/x": false, "node.cilium.io/agent-not-ready": false, "ebs.csi.aws.com/agent-not-ready": false,
		"disk.csi.azure.com/agent-not-ready": false, "karpenter.sh/disrupted": false, "karpenter.sh/disruption": false, "karpenter.sh/unregistered": false,
		"ToBeDeletedByClusterAutoscaler": false, "node.cluster.x-k8s.io/uninitialized": false, "cni.istio.io/not-ready": false,
		"aws-node-termination-handler/spot-itn": false, "cloud.google.com/impending-node-termination": false, "example.com/warming": false,
		"example.com/warming-up": true, "nvidia.com/gpu": true, "karpenter.sh/other": true, "agent-not-ready": true, "node-role.kubernetes.io/control-plane": true,
	} {
		o := new(objects)
		testkit.Check(o.read("f", strings.NewReader(both+nodeYAML("n1", "t", "cpu: 4, pods: 9", "taints: [{key: "+taint+", effect: NoSchedule}, {key: example.com/warming, effect: NoSchedule}]")+podYAML("p", "cpu: 1", "")), kinds{node: true, pod: true}))
		s := testkit.Must(newSnapshot(o, new(objects), false))
		testkit.Check(s.loseTaints([]string{"example.com/warming"}))
		c := testkit.Must(newCluster(s, kubeTerms))
		d := testkit.Must(c.demandOf(testkit.Must(c.simulate(nil, vector.TieLowest()))))
		if len(d.pods) == 1 == stays || len(d.never) == 1 != stays {
			t.Errorf("%s: %d pods need a new node, %d fit on none", taint, len(d.pods), len(d.never))
		}
	}
}

func TestList(t *testing.T) {
	for n, want := range []string{"", "a", "a, b", "a, b and 1 more", "a, b and 2 more"} {
		if got := list([]string{"a", "b", "c", "d"}[:n], 2); got != want {
			t.Errorf("%d: got %q, want %q", n, got, want)
		}
	}
}

// A node that says only its capacity has that, as in a cluster.
func TestNodeWithoutAllocatable(t *testing.T) {
	for status, want := range map[string]string{
		"status: {capacity: {cpu: 4}}":                        "cpu 4",
		"status: {capacity: {cpu: 4}, allocatable: {cpu: 3}}": "cpu 3",
		"status: {capacity: {cpu: 4}, allocatable: {}}":       "nothing",
		"spec: {}": "nothing",
	} {
		c := mustAsk(both + "- {apiVersion: v1, kind: Node, metadata: {name: a}, " + status + "}")
		if got := (&report{cluster: c}).amounts(c.shapes[0].allocatable); got != want {
			t.Errorf("%s: got %q, want %q", status, got, want)
		}
	}
}

// A pod that requests more than can be computed with is left out, and is one of its gang.
func TestVastPod(t *testing.T) {
	c := mustAsk(both + nodeYAML("a", "", "cpu: 3, memory: 8Gi, pods: 9", "") +
		podYAML("p", "cpu: 1", "schedulingGroup: {podGroupName: g}") + podYAML("q", "memory: 8Pi", "schedulingGroup: {podGroupName: g}"))
	c.findGangs(nil)
	if got := strings.Join(keys(c.vast), " "); got != "default/q" || len(c.queue) != 1 || len(c.requests) != 1 || c.gangs[0].least != 2 {
		t.Errorf("left out is %q, of %d pods and %d requests; the gang takes %d", got, len(c.queue), len(c.requests), c.gangs[0].least)
	}
	if len(c.problems) != 1 || c.problems[0] != "f: items[2] (Pod default/q): its requests: memory: amount 8Pi is too large: want less than 2^53 bytes" {
		t.Errorf("problems %q", c.problems)
	}
}

// A pod that asks KAI for a part of a GPU isn't placed, also where a node has room for its requests,
// and is one of its gang. What one that runs has of a GPU isn't seen, and said.
func TestPartsOfGPUs(t *testing.T) {
	half := func(name, spec string) string {
		return strings.Replace(podYAML(name, "cpu: 1", spec), "metadata: {", "metadata: {annotations: {gpu-fraction: '0.5'}, ", 1)
	}
	c := mustAsk(both + nodeYAML("a", "", "cpu: 3, memory: 8Gi, pods: 9", "") + podYAML("p", "cpu: 1", "schedulingGroup: {podGroupName: g}") +
		half("q", "schedulingGroup: {podGroupName: g}") + half("r", "nodeName: a"))
	c.findGangs(nil)
	if got := strings.Join(keys(c.parts), " "); got != "default/q" || len(c.queue) != 1 || len(c.requests) != 1 || c.gangs[0].least != 2 {
		t.Errorf("left out is %q, of %d pods and %d requests; the gang takes %d", got, len(c.queue), len(c.requests), c.gangs[0].least)
	}
	if got, want := fmt.Sprint(c.remarks()), "[{parts of GPUs that pods of KAI-Scheduler have, which count as free [default/r]}]"; got != want {
		t.Errorf("remarks %s", got)
	}
}

// Amounts of bytes have three digits where they would have many, whatever resource they are of.
func TestFormat(t *testing.T) {
	c := mustAsk(both + nodeYAML("a", "", "cpu: 3, memory: 263856640Ki, ephemeral-storage: 1e9, x/memory: 640Gi, x/count: 1234567", "") +
		nodeYAML("b", "", "memory: 1536Mi, x/memory: 1144320Mi", ""))
	r := &report{cluster: c}
	for row, want := range []string{"cpu 3, memory 251Gi, ephemeral-storage 953Mi, x/count 1234567, x/memory 640Gi", "memory 1536Mi, x/memory 1.09Ti"} {
		if got := r.amounts(c.state.Nodes().Allocatable().Row(nil, row)); got != want {
			t.Errorf("got %q, want %q", got, want)
		}
	}
}
