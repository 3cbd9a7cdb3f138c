package main

import (
	"context"
	"fmt"
	"strings"
	"testing"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
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
	sim := simulate(t, example(t, cardQuota), nil, cardNode("h", "H100"), cardNode("a", "A100"))
	sim.run(t)
	sim.create(t, inLab("pod-0", "H100"))
	eventually(t, "the first pod is placed", func() bool { return sim.pods(t)["pod-0"] == "h" })
	sim.create(t, inLab("either", "H100|A100"))
	eventually(t, "the other card is taken", func() bool { return sim.pods(t)["either"] == "a" })
	for i := range 40 {
		last, next := fmt.Sprintf("pod-%d", i), fmt.Sprintf("pod-%d", i+1)
		sim.create(t, inLab(next, "H100"))
		eventually(t, next+" was refused", func() bool { return refused(t, sim, next) })
		if err := sim.client.CoreV1().Pods("default").Delete(context.Background(), last, metav1.DeleteOptions{}); err != nil {
			t.Fatal(err)
		}
		eventually(t, next+" is placed", func() bool { return sim.pods(t)[next] == "h" })
	}
	pod, err := sim.client.CoreV1().Pods("default").Get(context.Background(), "pod-40", metav1.GetOptions{})
	if err != nil {
		t.Fatal(err)
	}
	if why := pod.Status.Conditions[0].Message; !strings.Contains(why, `queue "lab": insufficient quota of card H100: requested 1 card`) {
		t.Error(why)
	}
}
