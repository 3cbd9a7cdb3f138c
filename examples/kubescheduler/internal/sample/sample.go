// Package sample has nodes and pods for a control plane: GPUs, MIG instances, a
// scarce device, and cpu alone.
package sample

import (
	"fmt"
	"strconv"
	"strings"

	corev1 "k8s.io/api/core/v1"
	schedulingv1 "k8s.io/api/scheduling/v1"
	"k8s.io/apimachinery/pkg/api/resource"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
)

// Kinds of nodes and pods, the label kind of both.
const (
	GPU  = "gpu"
	MIG  = "mig"
	FPGA = "fpga"
	CPU  = "cpu"
)

// H100 is a card.
const H100 = "NVIDIA-H100-80GB-HBM3"

// QueueLabel is the label that names a pod's queue.
const QueueLabel = "example.com/queue"

// Priorities.
const (
	Low  = "low"
	High = "high"
)

// PriorityClasses returns those that pods can be of.
func PriorityClasses() []*schedulingv1.PriorityClass {
	return []*schedulingv1.PriorityClass{
		{ObjectMeta: metav1.ObjectMeta{Name: Low}, Value: -100},
		{ObjectMeta: metav1.ObjectMeta{Name: High}, Value: 100},
	}
}

// nodeKinds are what nodes have, and labels that vendors put on them. Of twenty
// nodes the first five have GPUs, the next two MIG instances, and so on.
var nodeKinds = []struct {
	kind    string
	until   int
	labels  map[string]string
	amounts string
}{
	{GPU, 4, map[string]string{
		"nvidia.com/gpu.product": H100, "nvidia.com/gpu.count": "8", "nvidia.com/gpu.memory": "81559",
	}, "cpu=96 memory=768Gi nvidia.com/gpu=8"},
	{GPU, 5, map[string]string{
		"nvidia.com/gpu.product": "NVIDIA-L40S", "nvidia.com/gpu.count": "8", "nvidia.com/gpu.memory": "46068",
	}, "cpu=96 memory=768Gi nvidia.com/gpu=8"},
	{MIG, 7, map[string]string{
		"nvidia.com/gpu.product": "NVIDIA-A100-SXM4-40GB", "nvidia.com/gpu.count": "4", "nvidia.com/gpu.memory": "40960",
		"nvidia.com/mig.strategy": "mixed",
	}, "cpu=48 memory=384Gi nvidia.com/mig-1g.5gb=8 nvidia.com/mig-2g.10gb=4 nvidia.com/mig-3g.20gb=4"},
	{FPGA, 8, map[string]string{
		"example.com/fpga.product": "Agilex-7", "example.com/fpga.count": "4", "example.com/fpga.memory": "32768",
	}, "cpu=32 memory=128Gi example.com/fpga=4"},
	{CPU, 20, nil, "cpu=32 memory=128Gi"},
}

// Nodes returns n nodes.
func Nodes(n int) []*corev1.Node {
	nodes := make([]*corev1.Node, n)
	for i := range nodes {
		for _, k := range nodeKinds {
			if i%20 < k.until {
				nodes[i] = newNode(fmt.Sprintf("%s-%03d", k.kind, i), k.kind, k.labels, k.amounts)
				break
			}
		}
	}
	return nodes
}

func newNode(name, kind string, labels map[string]string, amounts string) *corev1.Node {
	node := &corev1.Node{ObjectMeta: metav1.ObjectMeta{Name: name, Labels: map[string]string{
		"kind": kind, corev1.LabelHostname: name,
	}}}
	for key, value := range labels {
		node.Labels[key] = value
	}
	node.Status.Allocatable = Amounts(amounts + " pods=110 ephemeral-storage=100Gi")
	node.Status.Capacity = node.Status.Allocatable
	node.Status.Conditions = []corev1.NodeCondition{{Type: corev1.NodeReady, Status: corev1.ConditionTrue}}
	return node
}

// Amounts reads a list such as "cpu=1 memory=2Gi".
func Amounts(text string) corev1.ResourceList {
	list := corev1.ResourceList{}
	for _, field := range strings.Fields(text) {
		name, amount, _ := strings.Cut(field, "=")
		list[corev1.ResourceName(name)] = resource.MustParse(amount)
	}
	return list
}

// podKinds are what twenty-five pods request.
var podKinds = []struct {
	kind, queue string
	pods        []string
}{
	{GPU, "research", []string{gpus(1), gpus(1), gpus(1), gpus(1), gpus(2), gpus(1), gpus(1), gpus(4)}},
	{MIG, "inference", []string{
		"cpu=1 memory=8Gi nvidia.com/mig-1g.5gb=1", "cpu=1 memory=8Gi nvidia.com/mig-1g.5gb=1",
		"cpu=2 memory=16Gi nvidia.com/mig-2g.10gb=1", "cpu=3 memory=24Gi nvidia.com/mig-3g.20gb=1",
	}},
	{FPGA, "", []string{"cpu=2 memory=4Gi example.com/fpga=1"}},
	{CPU, "", []string{
		"cpu=1 memory=2Gi", "cpu=2 memory=4Gi", "cpu=500m memory=1Gi", "cpu=4 memory=16Gi", "cpu=1 memory=8Gi", "cpu=250m memory=512Mi",
		"cpu=2 memory=2Gi", "cpu=1 memory=1Gi", "cpu=4 memory=8Gi", "cpu=3 memory=6Gi", "cpu=2 memory=12Gi", "cpu=1 memory=4Gi",
	}},
}

func gpus(n int) string {
	return fmt.Sprintf("cpu=%d memory=%dGi nvidia.com/gpu=%d", 4*n, 48*n, n)
}

// Pods returns n pods. Two and a half times as many as nodes have room.
func Pods(n int) []*corev1.Pod {
	var all []*corev1.Pod
	for len(all) < n {
		for _, k := range podKinds {
			for _, amounts := range k.pods {
				pod := Pod(k.kind+"-"+strconv.Itoa(len(all)), amounts)
				pod.Labels = map[string]string{"kind": k.kind}
				if k.queue != "" {
					pod.Labels[QueueLabel] = k.queue
				}
				all = append(all, pod)
			}
		}
	}
	return all[:n]
}

// Refused returns pods of which the second and the third are refused: the first
// takes all cards of its queue, the second is of the same queue, and the third
// would leave idle GPUs without cpu.
func Refused() []*corev1.Pod {
	return []*corev1.Pod{
		inQueue(Pod("students-0", gpus(4)), "students", H100),
		inQueue(Pod("students-1", gpus(1)), "students", H100),
		Pod("hog", "cpu=70 memory=8Gi"),
	}
}

// Preemption returns a node and two pods for it, of which the first is the victim
// of the second.
func Preemption() (*corev1.Node, []*corev1.Pod) {
	node := newNode("pool", CPU, nil, "cpu=32 memory=128Gi")
	taint := corev1.Taint{Key: "pool", Effect: corev1.TaintEffectNoSchedule}
	node.Spec.Taints = []corev1.Taint{taint}
	pods := []*corev1.Pod{Pod("victim", "cpu=24 memory=8Gi"), Pod("preemptor", "cpu=16 memory=8Gi")}
	for i, class := range []string{Low, High} {
		pods[i].Spec.PriorityClassName = class
		pods[i].Spec.NodeSelector = map[string]string{corev1.LabelHostname: node.Name}
		pods[i].Spec.Tolerations = []corev1.Toleration{{Key: taint.Key, Operator: corev1.TolerationOpExists}}
	}
	return node, pods
}

// Pod returns a pod with one container.
func Pod(name, amounts string) *corev1.Pod {
	requests, none := Amounts(amounts), int64(0)
	limits := corev1.ResourceList{} // devices need one
	for name, amount := range requests {
		if strings.Contains(string(name), "/") {
			limits[name] = amount
		}
	}
	return &corev1.Pod{
		ObjectMeta: metav1.ObjectMeta{Name: name, Namespace: "default"},
		Spec: corev1.PodSpec{
			TerminationGracePeriodSeconds: &none, // no kubelet would end them
			Containers: []corev1.Container{{
				Name: "main", Image: "example.com/none",
				Resources: corev1.ResourceRequirements{Requests: requests, Limits: limits},
			}},
		},
	}
}

// inQueue puts a pod into a queue and names the card that it takes.
func inQueue(pod *corev1.Pod, queue, card string) *corev1.Pod {
	pod.Labels = map[string]string{QueueLabel: queue}
	pod.Annotations = map[string]string{"volcano.sh/card.name": card}
	return pod
}
