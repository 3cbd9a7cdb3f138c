package main

import (
	"context"
	"fmt"
	"strings"
	"testing"

	"github.com/resvec/resvec/internal/testkit"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
)

const cardQuota = "cardQuota: {queueLabel: queue, missing: Unlimited, queues: [{name: lab, cards: {H100: 1, A100: 1}}]}"

// cardNode returns a node with GPUs.
func cardNode(name, product string) *corev1.Node {
	node := aNode(name, "z", "cpu=32", "memory=64Gi", "pods=100", "nvidia.com/gpu=8")
	for key, value := range map[string]string{"product": product, "count": "8", "memory": "40960"} {
		node.Labels["nvidia.com/gpu."+key] = value
	}
	return node
}

func inLab(name, cards string) *corev1.Pod {
	pod := aPod(name, 0, "cpu=1", "nvidia.com/gpu=1")
	pod.Labels = map[string]string{"queue": "lab"}
	pod.Annotations = map[string]string{"volcano.sh/card.name": cards}
	return pod
}

// TestCardQuota hands one card on from pod to pod: each is refused while the one
// before has the card, and gets it when that goes. A pod that takes another card,
// too, gets that.
func TestCardQuota(t *testing.T) {
	sim := running(t, example(t, cardQuota), nil, cardNode("h", "H100"), cardNode("a", "A100"))
	sim.create(t, inLab("pod-0", "H100"))
	eventually(t, "the first pod is placed", func() bool { return sim.pods(t)["pod-0"] == "h" })
	sim.create(t, inLab("either", "H100|A100"))
	eventually(t, "the other card is taken", func() bool { return sim.pods(t)["either"] == "a" })
	for i := range 40 {
		last, next := fmt.Sprintf("pod-%d", i), fmt.Sprintf("pod-%d", i+1)
		sim.create(t, inLab(next, "H100"))
		eventually(t, next+" was refused", func() bool { return refused(t, sim, next) })
		testkit.Check(sim.client.CoreV1().Pods("default").Delete(context.Background(), last, metav1.DeleteOptions{}))
		eventually(t, next+" is placed", func() bool { return sim.pods(t)[next] == "h" })
	}
	pod := testkit.Must(sim.client.CoreV1().Pods("default").Get(context.Background(), "pod-40", metav1.GetOptions{}))
	if why := pod.Status.Conditions[0].Message; !strings.Contains(why, `queue "lab": insufficient quota of card H100: requested 1 card`) {
		t.Error(why)
	}
}

// gangInLab returns pods that take a card each.
func gangInLab(name string, size int) []*corev1.Pod {
	pods := make([]*corev1.Pod, size)
	for i := range pods {
		pods[i] = inLab(fmt.Sprint(name, "-", i), "H100")
	}
	return pods
}

// TestGang: of a gang that the queue has cards for in part no pod is bound, and it
// holds no cards while it waits.
func TestGang(t *testing.T) {
	withGangs(t, false)
	sim := running(t, example(t, strings.Replace(cardQuota, "H100: 1", "H100: 3", 1)), nil, cardNode("h", "H100"))
	gang := func(name string, size int) { sim.createGang(t, name, size, 0, gangInLab(name, size)) }
	gang("four", 4)
	eventually(t, "the gang of four was refused", func() bool { return refused(t, sim, "four-0") })
	gang("two", 2)
	eventually(t, "the gang of two is placed", func() bool { return sim.pods(t)["two-0"] == "h" && sim.pods(t)["two-1"] == "h" })
	sim.create(t, inLab("alone", "H100"))
	eventually(t, "the last card is taken", func() bool { return sim.pods(t)["alone"] == "h" })
	for i := range 4 {
		if node := sim.pods(t)[fmt.Sprint("four-", i)]; node != "" {
			t.Errorf("pod %d of the gang of four is on %s", i, node)
		}
	}
}

// TestQuotaAndPreemption: a pod whose queue has room takes the device of a less
// important one; without room it preempts nothing, not even in its own queue.
func TestQuotaAndPreemption(t *testing.T) {
	device := func(name, queue string, priority int32) *corev1.Pod {
		pod := inLab(name, "H100")
		pod.Labels["queue"], pod.Spec.Priority = queue, &priority
		return pod
	}
	queues := "cardQuota: {queueLabel: queue, missing: Unlimited, queues: [{name: lab, cards: {H100: 1}}, {name: others, cards: {H100: 8}}]}"
	objects := []runtime.Object{cardNode("h", "H100")}
	for i := range 8 {
		objects = append(objects, bound(device(fmt.Sprint("other-", i), "others", 0), "h"))
	}
	sim := running(t, example(t, queues), nil, objects...)
	sim.create(t, device("first", "lab", 10))
	eventually(t, "a device is taken", func() bool { return sim.pods(t)["first"] == "h" })
	sim.create(t, device("second", "lab", 20))
	eventually(t, "the queue has no room", func() bool { return refused(t, sim, "second") })
	if pods := sim.pods(t); len(pods) != 9 || pods["first"] != "h" || pods["second"] != "" {
		t.Errorf("one of the others should be gone, and nobody else: %v", pods)
	}
}

// TestGangQuotaAndPreemption: a gang that takes the devices of others is charged once,
// although the trials of workload-aware preemption reserve its pods, too.
func TestGangQuotaAndPreemption(t *testing.T) {
	withGangs(t, true)
	queues := "cardQuota: {queueLabel: queue, missing: Unlimited, queues: [{name: lab, cards: {H100: 2}}, {name: others, cards: {H100: 8}}]}"
	objects := []runtime.Object{cardNode("h", "H100")}
	for i := range 8 {
		pod := inLab(fmt.Sprint("other-", i), "H100")
		pod.Labels["queue"] = "others"
		objects = append(objects, bound(pod, "h"))
	}
	sim := running(t, example(t, "gangScheduling: true", queues), nil, objects...)
	important := func(pods ...*corev1.Pod) []*corev1.Pod {
		priority := int32(10)
		for _, pod := range pods {
			pod.Labels["queue"], pod.Spec.Priority = "lab", &priority
		}
		return pods
	}
	sim.createGang(t, "two", 2, 10, important(gangInLab("two", 2)...))
	eventually(t, "the gang takes two devices", func() bool { return placed(sim.pods(t), "two-") == 2 })
	sim.create(t, important(inLab("third", "H100"))[0])
	eventually(t, "the queue has no room", func() bool { return refused(t, sim, "third") })
	testkit.Check(sim.client.CoreV1().Pods("default").Delete(context.Background(), "two-0", metav1.DeleteOptions{}))
	eventually(t, "a card is handed on", func() bool { return sim.pods(t)["third"] == "h" })
}
