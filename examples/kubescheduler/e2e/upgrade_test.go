package e2e

import (
	"fmt"
	"os"
	"path/filepath"
	"testing"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/resvec/resvec/examples/kubescheduler/internal/controlplane"
	"github.com/resvec/resvec/examples/kubescheduler/internal/sample"
	"github.com/resvec/resvec/internal/testkit"
)

// TestUpgrade: the scheduler is replaced by the newer one, and taken back, while the API
// server is the newer one. Each charges what another has bound, no more and no less.
func TestUpgrade(t *testing.T) {
	ctx := interruptible(t)
	older, newer := build(t, ctx, controlplane.Minors[0]), build(t, ctx, controlplane.Minors[1])
	folder, binaries := t.TempDir(), t.TempDir()
	link := func(from, name string) {
		t.Helper()
		to := filepath.Join(binaries, name)
		_ = os.Remove(to)
		testkit.Check(os.Symlink(filepath.Join(from, name), to))
	}
	link(newer, "etcd")
	link(newer, "kube-apiserver")

	// The queue has four cards, which this pod takes.
	first := sample.Refused()[0]
	var waiting []*corev1.Pod
	for i, from := range []string{older, newer, older} {
		link(from, "kubescheduler")
		c := start(t, ctx, binaries, folder, controlplane.Options{})
		if i == 0 {
			for _, node := range sample.Nodes(20) {
				c.createNode(t, node)
			}
			c.create(t, first)
			c.eventually(t, "the first pod is bound", func() bool { return c.nodeOf(t, first.Name) != "" })
		}
		// Its name is new: an event about it is of this scheduler.
		pod := sample.Refused()[1]
		pod.Name = fmt.Sprint("waiting-", i)
		waiting = append(waiting, pod)
		c.create(t, pod)
		const full = "requested 1 card, room for 0 cards of 4 cards"
		c.isRefused(t, pod.Name, full, full)

		if i == 2 {
			c.testReleased(t, first, waiting)
		}
		stop(t, c.plane, folder)
	}
}

// testReleased deletes the pod that fills its queue: those that wait are bound, and then
// there is room for one card more.
func (c *cluster) testReleased(t *testing.T, first *corev1.Pod, waiting []*corev1.Pod) {
	t.Helper()
	testkit.Check(c.client.CoreV1().Pods(first.Namespace).Delete(c.ctx, first.Name, metav1.DeleteOptions{}))
	for _, pod := range waiting {
		c.eventually(t, pod.Name+" is bound", func() bool { return c.nodeOf(t, pod.Name) != "" })
	}
	again := sample.Refused()[0]
	again.Name = "again"
	c.create(t, again)
	const full = "requested 4 cards, room for 1 card of 4 cards"
	c.isRefused(t, again.Name, full, full)
}
