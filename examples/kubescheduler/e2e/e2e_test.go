// Package e2e tests the scheduler in a control plane of real processes, built of each
// minor version of Kubernetes.
package e2e

import (
	"bytes"
	"context"
	"debug/buildinfo"
	"fmt"
	"net"
	"net/url"
	"os"
	"os/signal"
	"path/filepath"
	"strings"
	"sync"
	"syscall"
	"testing"
	"time"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/resource"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/client-go/kubernetes"

	"github.com/resvec/resvec/examples/kubescheduler/internal/controlplane"
	"github.com/resvec/resvec/examples/kubescheduler/internal/sample"
	"github.com/resvec/resvec/internal/testkit"
)

// cluster is a control plane under test.
type cluster struct {
	ctx    context.Context // ends when the test is interrupted
	plane  *controlplane.ControlPlane
	client kubernetes.Interface
}

// interruptible returns a context that ends with the test and when it is interrupted.
func interruptible(t *testing.T) context.Context {
	t.Helper()
	if testing.Short() {
		t.Skip("builds and starts a control plane")
	}
	ctx, release := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
	t.Cleanup(release)
	return ctx
}

// build builds the commands of a minor version and returns their folder.
func build(t *testing.T, ctx context.Context, minor string) string {
	t.Helper()
	binaries := testkit.Must(controlplane.DefaultBinaries(minor))
	var output bytes.Buffer
	began := time.Now()
	if err := controlplane.Build(ctx, minor, binaries, &output, "cmd/playground"); err != nil {
		t.Fatalf("%v\n%s", err, &output)
	}
	t.Logf("built after %v", time.Since(began).Round(time.Second))
	for _, name := range []string{"kubescheduler", "kube-apiserver"} {
		if version := versionOf(t, filepath.Join(binaries, name)); !strings.HasPrefix(version, "v"+minor+".") {
			t.Fatalf("%s is of Kubernetes %s, want %s", name, version, minor)
		}
	}
	return binaries
}

// versionOf returns which version of Kubernetes a command is built of.
func versionOf(t *testing.T, file string) string {
	t.Helper()
	info := testkit.Must(buildinfo.ReadFile(file))
	for _, dependency := range info.Deps {
		if dependency.Path == "k8s.io/kubernetes" {
			return dependency.Version
		}
	}
	return ""
}

// eachMinor runs a test with the commands of each minor version.
func eachMinor(t *testing.T, test func(t *testing.T, ctx context.Context, binaries string)) {
	ctx := interruptible(t)
	for _, minor := range controlplane.Minors {
		t.Run(minor, func(t *testing.T) { test(t, ctx, build(t, ctx, minor)) })
	}
}

// start starts a control plane that writes to a folder. It ends with the test.
func start(t *testing.T, ctx context.Context, binaries, folder string, o controlplane.Options) *cluster {
	t.Helper()
	began := time.Now()
	plane := testkit.Must(controlplane.Start(ctx, binaries, folder, o))
	t.Cleanup(func() { _ = plane.Stop() })
	t.Logf("started after %v", time.Since(began).Round(time.Millisecond))
	config := testkit.Must(plane.Client())
	client := testkit.Must(kubernetes.NewForConfig(config))
	return &cluster{ctx, plane, client}
}

// stop stops a control plane and looks whether anything is left of it.
func stop(t *testing.T, plane *controlplane.ControlPlane, folder string) {
	began := time.Now()
	if err := plane.Stop(); err != nil {
		t.Error(err)
	}
	t.Logf("stopped after %v", time.Since(began).Round(time.Millisecond))
	isGone(t, plane.URL)
	isGone(t, plane.Etcd)
	if left := processes(t, folder); len(left) > 0 {
		t.Errorf("still running: %v", left)
	}
}

// isGone looks whether anybody listens at a URL.
func isGone(t *testing.T, text string) {
	t.Helper()
	at := testkit.Must(url.Parse(text))
	if connection, err := net.Dial("tcp", at.Host); err == nil {
		connection.Close()
		t.Errorf("somebody still listens on %s", at.Host)
	}
}

// eventually waits until a condition holds.
func (c *cluster) eventually(t *testing.T, what string, holds func() bool) {
	t.Helper()
	for deadline := time.After(3 * time.Minute); !holds(); {
		select {
		case <-time.After(50 * time.Millisecond):
		case err := <-c.plane.Failed():
			t.Fatal(err)
		case <-c.ctx.Done():
			t.Fatal("interrupted")
		case <-deadline:
			t.Fatalf("waited in vain until %s", what)
		}
	}
}

// create creates pods, sixteen at a time.
func (c *cluster) create(t *testing.T, pods ...*corev1.Pod) {
	t.Helper()
	work := make(chan *corev1.Pod)
	var wait sync.WaitGroup
	for range 16 {
		wait.Go(func() {
			for pod := range work {
				if _, err := c.client.CoreV1().Pods(pod.Namespace).Create(c.ctx, pod, metav1.CreateOptions{}); err != nil {
					t.Error(err)
				}
			}
		})
	}
	for _, pod := range pods {
		work <- pod
	}
	close(work)
	if wait.Wait(); t.Failed() {
		t.FailNow()
	}
}

func (c *cluster) createNode(t *testing.T, node *corev1.Node) {
	t.Helper()
	testkit.Must(c.client.CoreV1().Nodes().Create(c.ctx, node, metav1.CreateOptions{}))
}

// pods returns the pods by name.
func (c *cluster) pods(t *testing.T) map[string]*corev1.Pod {
	t.Helper()
	list := testkit.Must(c.client.CoreV1().Pods("").List(c.ctx, metav1.ListOptions{}))
	found := map[string]*corev1.Pod{}
	for i := range list.Items {
		found[list.Items[i].Name] = &list.Items[i]
	}
	return found
}

// nodeOf returns the node that a pod is bound to; empty for none, and for a pod that
// is gone.
func (c *cluster) nodeOf(t *testing.T, name string) string {
	t.Helper()
	if pod := c.pods(t)[name]; pod != nil {
		return pod.Spec.NodeName
	}
	return ""
}

// hasEvent reports whether there is an event about a pod for this reason, with this
// text in it.
func (c *cluster) hasEvent(t *testing.T, pod, reason, text string) bool {
	t.Helper()
	list := testkit.Must(c.client.EventsV1().Events("").List(c.ctx, metav1.ListOptions{}))
	for i := range list.Items {
		if e := &list.Items[i]; e.Regarding.Name == pod && e.Reason == reason && strings.Contains(e.Note, text) {
			return true
		}
	}
	return false
}

// isRefused waits for the events of a refusal: ours with amounts, and the one of
// kube-scheduler.
func (c *cluster) isRefused(t *testing.T, pod, ours, theirs string) {
	t.Helper()
	c.eventually(t, "there is an event: "+ours, func() bool { return c.hasEvent(t, pod, "ResourcesRefused", ours) })
	c.eventually(t, "there is an event: "+theirs, func() bool { return c.hasEvent(t, pod, "FailedScheduling", theirs) })
	if node := c.nodeOf(t, pod); node != "" {
		t.Errorf("%s is on %s", pod, node)
	}
}

// checkRoom looks whether the pods of any node request more than it has.
func (c *cluster) checkRoom(t *testing.T) {
	t.Helper()
	nodes := testkit.Must(c.client.CoreV1().Nodes().List(c.ctx, metav1.ListOptions{}))
	left := map[string]corev1.ResourceList{}
	for i := range nodes.Items {
		left[nodes.Items[i].Name] = nodes.Items[i].Status.Allocatable
	}
	for _, pod := range c.pods(t) {
		if pod.Spec.NodeName == "" {
			continue
		}
		take(left[pod.Spec.NodeName], corev1.ResourcePods, resource.MustParse("1"))
		for name, amount := range pod.Spec.Containers[0].Resources.Requests {
			take(left[pod.Spec.NodeName], name, amount)
		}
	}
	for node, amounts := range left {
		for name, amount := range amounts {
			if amount.Sign() < 0 {
				t.Errorf("%s: %s is exceeded by %s", node, name, amount.String())
			}
		}
	}
}

func take(left corev1.ResourceList, name corev1.ResourceName, amount resource.Quantity) {
	rest := left[name]
	rest.Sub(amount)
	left[name] = rest
}

// TestControlPlane has 200 nodes and 500 pods of all kinds, and then what is refused
// or preempted. The control plane has to be gone in the end.
func TestControlPlane(t *testing.T) { eachMinor(t, testControlPlane) }

func testControlPlane(t *testing.T, ctx context.Context, binaries string) {
	folder := t.TempDir()
	c := start(t, ctx, binaries, folder, controlplane.Options{})
	t.Cleanup(func() { stop(t, c.plane, folder) })
	for _, class := range sample.PriorityClasses() {
		testkit.Must(c.client.SchedulingV1().PriorityClasses().Create(c.ctx, class, metav1.CreateOptions{}))
	}
	pool, contenders := sample.Preemption()
	for _, node := range append(sample.Nodes(199), pool) {
		c.createNode(t, node)
	}
	for _, step := range []struct {
		what string
		test func(*testing.T)
	}{
		{"all pods of a mixture are placed", c.testMixture},
		{"a pod of high priority preempts another", func(t *testing.T) { c.testPreemption(t, contenders) }},
		{"refusals are events", c.testRefusals},
	} {
		if !t.Run(step.what, step.test) {
			break
		}
	}
	c.checkRoom(t)
}

func (c *cluster) testMixture(t *testing.T) {
	began := time.Now()
	pods := sample.Pods(500)
	c.create(t, pods...)
	created := time.Since(began)
	c.eventually(t, "all pods are bound", func() bool {
		for _, pod := range c.pods(t) {
			if pod.Spec.NodeName == "" {
				return false
			}
		}
		return true
	})
	took := time.Since(began)
	t.Logf("%d pods created after %v and bound after %v, %.0f pods/s", len(pods), created.Round(time.Millisecond), took.Round(time.Millisecond), float64(len(pods))/took.Seconds())
	c.checkRoom(t)
	// A pod of a kind is on a node of that kind: those with devices because they must
	// be, the others because scarce devices are avoided.
	placed := map[string]int{}
	for _, pod := range c.pods(t) {
		kind, _, _ := strings.Cut(pod.Spec.NodeName, "-")
		placed[fmt.Sprintf("%s on %s", pod.Labels["kind"], kind)]++
	}
	t.Log(placed)
	for _, kind := range []string{sample.GPU, sample.FPGA} {
		if n := placed[sample.CPU+" on "+kind]; n > 0 {
			t.Errorf("%d pods without devices are on nodes with %s", n, kind)
		}
	}
}

func (c *cluster) testPreemption(t *testing.T, contenders []*corev1.Pod) {
	for _, pod := range contenders {
		c.create(t, pod)
		c.eventually(t, pod.Name+" is bound", func() bool { return c.nodeOf(t, pod.Name) == "pool" })
	}
	if c.pods(t)["victim"] != nil {
		t.Error("the victim is still there")
	}
	if !c.hasEvent(t, "victim", "Preempted", "") {
		t.Error("there is no event about the victim")
	}
}

func (c *cluster) testRefusals(t *testing.T) {
	pods := sample.Refused()
	c.create(t, pods[0])
	c.eventually(t, "students-0 is bound", func() bool { return c.nodeOf(t, "students-0") != "" })
	node := testkit.Must(c.client.CoreV1().Nodes().Get(c.ctx, c.nodeOf(t, "students-0"), metav1.GetOptions{}))
	if card := node.Labels["nvidia.com/gpu.product"]; card != sample.H100 {
		t.Errorf("students-0 has %s", card)
	}
	c.create(t, pods[1:]...)
	const refusal = `queue "students": insufficient quota of card NVIDIA-H100-80GB-HBM3: requested 1 card`
	c.isRefused(t, "students-1", refusal, refusal)
	c.isRefused(t, "hog", "have the room, but keep it for idle devices", "Too little cpu left for idle nvidia.com/gpu")

	testkit.Check(c.client.CoreV1().Pods("default").Delete(c.ctx, "students-0", metav1.DeleteOptions{}))
	c.eventually(t, "students-1 is bound", func() bool { return c.nodeOf(t, "students-1") != "" })
}
