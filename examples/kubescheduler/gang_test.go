package main

import (
	"context"
	"encoding/json"
	"fmt"
	"math/rand/v2"
	"os"
	"strings"
	"sync/atomic"
	"testing"

	"github.com/resvec/resvec/internal/testkit"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/schema"
	utilfeature "k8s.io/apiserver/pkg/util/feature"
	"k8s.io/client-go/kubernetes/scheme"
	"k8s.io/component-base/featuregate"
	featuregatetesting "k8s.io/component-base/featuregate/testing"
	"k8s.io/kubernetes/pkg/features"
)

// withGangs turns gangs on for a test, with or without workload-aware preemption. From
// Kubernetes v1.37 on one gate has all of it.
func withGangs(t *testing.T, workloadAware bool) {
	gates := featuregatetesting.FeatureOverrides{features.GenericWorkload: true}
	known := utilfeature.DefaultMutableFeatureGate.GetAll()
	for gate, on := range map[featuregate.Feature]bool{"GangScheduling": true, "WorkloadAwarePreemption": workloadAware} {
		if _, ok := known[gate]; ok {
			gates[gate] = on
		}
	}
	featuregatetesting.SetFeatureGatesDuringTest(t, utilfeature.DefaultFeatureGate, gates)
}

// podGroups returns the version of the API of pod groups that the scheduler reads.
func podGroups(t testing.TB) schema.GroupVersion {
	t.Helper()
	for _, version := range []string{"v1beta1", "v1alpha2"} {
		if api := (schema.GroupVersion{Group: "scheduling.k8s.io", Version: version}); scheme.Scheme.Recognizes(api.WithKind("PodGroup")) {
			return api
		}
	}
	t.Fatal("this version of Kubernetes has no pod groups that the plugin knows")
	return schema.GroupVersion{}
}

// createGang creates a gang of these pods, minCount of which have to run.
func (s *simulation) createGang(t testing.TB, name string, minCount int, priority int32, pods []*corev1.Pod) {
	t.Helper()
	api := podGroups(t)
	group := testkit.Must(scheme.Scheme.New(api.WithKind("PodGroup")))
	testkit.Check(json.Unmarshal(fmt.Appendf(nil, `{"metadata": {"name": %q, "namespace": "default"},
		"spec": {"priority": %d, "schedulingPolicy": {"gang": {"minCount": %d}}}}`, name, priority, minCount), group))
	testkit.Check(s.client.Tracker().Create(api.WithResource("podgroups"), group, "default"))
	for _, pod := range pods {
		pod.Spec.SchedulingGroup = &corev1.PodSchedulingGroup{PodGroupName: &name}
		s.create(t, pod)
	}
}

// message returns why a pod is not placed.
func (s *simulation) message(t testing.TB, name string) string {
	t.Helper()
	pod := testkit.Must(s.client.CoreV1().Pods("default").Get(context.Background(), name, metav1.GetOptions{}))
	for _, c := range pod.Status.Conditions {
		if c.Type == corev1.PodScheduled {
			return c.Message
		}
	}
	return ""
}

// members returns n pods of a gang that request the same.
func members(name string, n int, priority int32, amounts ...string) (pods []*corev1.Pod) {
	for i := range n {
		pods = append(pods, aPod(fmt.Sprint(name, "-", i), priority, amounts...))
	}
	return pods
}

// TestGangProof: each member of a gang that fits nowhere is refused with the numbers of
// the gang, and tried again when nodes come.
func TestGangProof(t *testing.T) {
	withGangs(t, false)
	sim := running(t, example(t, "gangScheduling: true"), nil, emptyZone("a", 3)...) // 4 cores each
	pods := members("four", 4, 0, "cpu=3")
	sim.createGang(t, "four", 4, 0, pods)
	for i := range 4 {
		name := fmt.Sprint("four-", i)
		eventually(t, name+" was refused", func() bool { return refused(t, sim, name) })
		why := sim.message(t, name)
		// With Kubernetes v1.37 the others aren't tried where one of all is refused.
		left := i > 0 && strings.Contains(why, "minCount (4) cannot be satisfied: 0 scheduled")
		if !left && !strings.Contains(why, "pod group default/four needs 4 more pods: of 4 pods there is room for 3") {
			t.Errorf("%s: %s", name, why)
		}
	}
	testkit.Must(sim.client.CoreV1().Nodes().Create(context.Background(), aNode("b", "b", "cpu=4", "memory=8Gi", "pods=10"), metav1.CreateOptions{}))
	eventually(t, "all four are placed", func() bool { return placed(sim.pods(t), "four-") == 4 })
}

// placed counts the pods with a prefix that have a node.
func placed(pods map[string]string, prefix string) (n int) {
	for name, node := range pods {
		if strings.HasPrefix(name, prefix) && node != "" {
			n++
		}
	}
	return n
}

// gangCluster is a cluster, and a gang that arrives there.
type gangCluster struct {
	objects  []runtime.Object
	minCount int
	gang     []*corev1.Pod
}

// randomGang returns a cluster in which a gang just fits, needs victims, or fits nowhere.
func randomGang(seed uint64) gangCluster {
	r := rand.New(rand.NewPCG(seed, 9))
	var c gangCluster
	cores := 0
	for i := range 2 + r.IntN(5) {
		node := fmt.Sprint("n", i)
		c.objects = append(c.objects, aNode(node, "a", "cpu=8", "memory=16Gi", "pods=20"))
		left := 8
		for k := 0; left > 0 && r.IntN(5) > 0; k++ {
			n := 1 + r.IntN(min(left, 4))
			priority := []int32{1, 5, 50, 200}[r.IntN(4)] // the gang has 50
			c.objects = append(c.objects, bound(aPod(fmt.Sprint("old-", node, "-", k), priority, fmt.Sprint("cpu=", n)), node))
			left -= n
		}
		cores += 8
	}
	size := 2 + r.IntN(6)
	c.minCount = size - r.IntN(2)
	each := max(1, min(8, (cores*(2+r.IntN(3))/4)/size))
	for i := range size {
		cpu := each
		if r.IntN(4) == 0 {
			cpu = max(1, each-r.IntN(3))
		}
		c.gang = append(c.gang, aPod(fmt.Sprint("gang-", i), 50, fmt.Sprint("cpu=", cpu)))
	}
	return c
}

// outcome runs a scheduler until it has nothing to do any more. It says whether the gang
// runs, and why its first pod does not.
func (c gangCluster) outcome(t *testing.T, configuration string) (runs bool, why string) {
	t.Helper()
	sim := running(t, configuration, nil, c.objects...)
	sim.createGang(t, "gang", c.minCount, 50, c.gang)
	eventually(t, "the gang is placed or given up", func() bool {
		return placed(sim.pods(t), "gang-") >= c.minCount || sim.idle() && c.givenUp(t, sim)
	})
	return placed(sim.pods(t), "gang-") >= c.minCount, sim.message(t, c.gang[0].Name)
}

// idle reports whether no pod waits for its turn. Pods in flight don't count: the queue
// goes on listing the members of a gang that was refused among them.
func (s *simulation) idle() bool {
	return len(s.SchedulingQueue.PodsInActiveQ())+len(s.SchedulingQueue.PodsInBackoffQ()) == 0
}

// givenUp reports whether each pod of the gang that has no node was refused, and none is
// promised the place of a victim.
func (c gangCluster) givenUp(t *testing.T, sim *simulation) bool {
	t.Helper()
	for _, member := range c.gang {
		pod := testkit.Must(sim.client.CoreV1().Pods("default").Get(context.Background(), member.Name, metav1.GetOptions{}))
		if pod.Spec.NodeName == "" && (pod.Status.NominatedNodeName != "" || !refused(t, sim, member.Name)) {
			return false
		}
	}
	return true
}

// TestGangsAsBuiltIn runs random gangs with the built-in plugins and with ours, and with
// both kinds of preemption: what is proved impossible does not run with the built-in
// plugins either. The reverse can't be compared: among equal nodes a scheduler takes a
// random one, so that neither finds room for every gang that has some.
func TestGangsAsBuiltIn(t *testing.T) {
	seeds := 8
	if os.Getenv("RESVEC_LONG") != "" {
		seeds = 48
	}
	for _, workloadAware := range []bool{false, true} {
		t.Run(fmt.Sprint("workload-aware=", workloadAware), func(t *testing.T) {
			withGangs(t, workloadAware)
			var ran, proved atomic.Int32
			t.Run("seeds", func(t *testing.T) { // the gates hold until all of them have ended
				for seed := range seeds {
					t.Run(fmt.Sprint(seed), func(t *testing.T) {
						t.Parallel()
						switch runs, why := randomGang(uint64(seed)).outcome(t, example(t, "gangScheduling: true")); {
						case runs:
							ran.Add(1)
						case strings.Contains(why, "pod group default/gang needs"):
							proved.Add(1)
							if runs, _ := randomGang(uint64(seed)).outcome(t, builtin); runs {
								t.Errorf("with the built-in plugins the gang runs: %s", why)
							}
						}
					})
				}
			})
			t.Logf("%d gangs run, %d are proved impossible", ran.Load(), proved.Load())
			if ran.Load() == 0 || proved.Load() == 0 {
				t.Error("the clusters don't test both")
			}
		})
	}
}

// TestGangsOff: without the gates the argument changes nothing.
func TestGangsOff(t *testing.T) {
	sim := running(t, example(t, "gangScheduling: true"), nil, emptyZone("a", 1)...)
	sim.create(t, aPod("one", 0, "cpu=3"))
	eventually(t, "the pod is placed", func() bool { return sim.pods(t)["one"] == "a0" })
	sim.create(t, aPod("two", 0, "cpu=3"))
	eventually(t, "the pod was refused", func() bool { return refused(t, sim, "two") })
	if why := sim.message(t, "two"); strings.Contains(why, "pod group") {
		t.Error(why)
	}
}
