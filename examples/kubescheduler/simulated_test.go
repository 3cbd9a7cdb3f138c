package main

import (
	"context"
	"os"
	"strings"
	"testing"
	"time"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/resource"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/client-go/informers"
	"k8s.io/client-go/kubernetes/fake"
	clienttesting "k8s.io/client-go/testing"
	"k8s.io/client-go/tools/events"
	"k8s.io/klog/v2"
	"k8s.io/kubernetes/pkg/scheduler"
	"k8s.io/kubernetes/pkg/scheduler/apis/config"
	"k8s.io/kubernetes/pkg/scheduler/apis/config/scheme"
	"k8s.io/kubernetes/pkg/scheduler/backend/cache"
	"k8s.io/kubernetes/pkg/scheduler/framework"
	frameworkruntime "k8s.io/kubernetes/pkg/scheduler/framework/runtime"
	"k8s.io/kubernetes/pkg/scheduler/profile"

	"github.com/resvec/resvec/examples/kubescheduler/resvecfit"
	"github.com/resvec/resvec/internal/testkit"
)

// builtin is a configuration without the plugin.
const builtin = `
apiVersion: kubescheduler.config.k8s.io/v1
kind: KubeSchedulerConfiguration
profiles: [{schedulerName: default-scheduler}]
`

// example returns the configuration in this folder, with a line of
// arguments more where one is given.
func example(t testing.TB, arguments ...string) string {
	t.Helper()
	text := testkit.Must(os.ReadFile("scheduler.yaml"))
	for _, line := range arguments {
		text = append(text, "      "+line+"\n"...)
	}
	return string(text)
}

// loadConfig reads a configuration as the command does.
func loadConfig(t testing.TB, text string) *config.KubeSchedulerConfiguration {
	t.Helper()
	object, _, err := scheme.Codecs.UniversalDecoder().Decode([]byte(text), nil, nil)
	if err != nil {
		t.Fatal(err)
	}
	return object.(*config.KubeSchedulerConfiguration)
}

// simulation is a scheduler in this process, with a clientset that is only a
// table of objects.
type simulation struct {
	*scheduler.Scheduler
	client *fake.Clientset
	events events.EventBroadcaster
}

// simulate makes a scheduler. Its informers are started, but it does not run.
func simulate(t testing.TB, text string, ledger resvecfit.Ledger, objects ...runtime.Object) *simulation {
	t.Helper()
	ctx, cancel := context.WithCancel(context.Background())
	t.Cleanup(cancel)
	client := fake.NewClientset(objects...)
	client.PrependReactor("create", "pods", bind(client))
	factory := informers.NewSharedInformerFactory(client, 0)
	broadcaster := events.NewBroadcaster(&events.EventSinkImpl{Interface: client.EventsV1()})
	t.Cleanup(broadcaster.Shutdown)
	testkit.Check(broadcaster.StartRecordingToSinkWithContext(ctx))
	c := loadConfig(t, text)
	sched := testkit.Must(scheduler.New(ctx, client, factory, nil, profile.NewRecorderFactory(broadcaster),
		scheduler.WithComponentConfigVersion(c.TypeMeta.APIVersion),
		scheduler.WithProfiles(c.Profiles...),
		scheduler.WithPercentageOfNodesToScore(c.PercentageOfNodesToScore),
		scheduler.WithParallelism(c.Parallelism),
		scheduler.WithPodInitialBackoffSeconds(1),
		scheduler.WithPodMaxBackoffSeconds(1),
		scheduler.WithFrameworkOutOfTreeRegistry(registry(ledger)),
	))
	start(ctx, t, factory, sched)
	return &simulation{sched, client, broadcaster}
}

// bind does what an API server does with a binding.
func bind(client *fake.Clientset) clienttesting.ReactionFunc {
	return func(action clienttesting.Action) (bool, runtime.Object, error) {
		if action.GetSubresource() != "binding" {
			return false, nil, nil
		}
		binding := action.(clienttesting.CreateAction).GetObject().(*corev1.Binding)
		pods := corev1.SchemeGroupVersion.WithResource("pods")
		object, err := client.Tracker().Get(pods, binding.Namespace, binding.Name)
		if err != nil {
			return true, nil, err
		}
		pod := object.(*corev1.Pod).DeepCopy()
		pod.Spec.NodeName = binding.Target.Name
		return true, binding, client.Tracker().Update(pods, pod, pod.Namespace)
	}
}

// registry has the plugin, with a ledger where one is given, and the plugins of the tests.
func registry(ledger resvecfit.Ledger) frameworkruntime.Registry {
	factory := resvecfit.New
	if ledger != nil {
		factory = resvecfit.Factory(ledger)
	}
	return frameworkruntime.Registry{
		resvecfit.Name: factory, resvecfit.BalancedName: resvecfit.NewBalanced, resvecfit.TopologySpreadName: resvecfit.NewTopologySpread,
		resvecfit.InterPodAffinityName: resvecfit.NewInterPodAffinity, idle{}.Name(): newIdle, "Packing": newPacking,
	}
}

func start(ctx context.Context, t testing.TB, factory informers.SharedInformerFactory, sched *scheduler.Scheduler) {
	t.Helper()
	factory.Start(ctx.Done())
	factory.WaitForCacheSync(ctx.Done())
	testkit.Check(sched.WaitForHandlersSync(ctx))
}

// update brings the scheduler's snapshot in step with its cache, as each cycle begins.
func (s *simulation) update(ctx context.Context, t testing.TB) framework.Framework {
	t.Helper()
	profile := s.Profiles[corev1.DefaultSchedulerName]
	testkit.Check(s.Cache.UpdateSnapshot(klog.FromContext(ctx), profile.SnapshotSharedLister().(*cache.Snapshot)))
	return profile
}

// run runs the scheduler until the test ends.
func (s *simulation) run(t testing.TB) {
	ctx, cancel := context.WithCancel(context.Background())
	done := make(chan struct{})
	go func() {
		defer close(done)
		s.Run(ctx)
	}()
	t.Cleanup(func() {
		cancel()
		<-done
	})
}

// pods returns the pods by name, with the nodes that they are bound to.
func (s *simulation) pods(t testing.TB) map[string]string {
	t.Helper()
	list := testkit.Must(s.client.CoreV1().Pods("").List(context.Background(), metav1.ListOptions{}))
	found := map[string]string{}
	for i := range list.Items {
		found[list.Items[i].Name] = list.Items[i].Spec.NodeName
	}
	return found
}

// create adds a pod to be scheduled.
func (s *simulation) create(t testing.TB, pod *corev1.Pod) {
	t.Helper()
	testkit.Must(s.client.CoreV1().Pods(pod.Namespace).Create(context.Background(), pod, metav1.CreateOptions{}))
}

// eventually waits until a condition holds.
func eventually(t testing.TB, what string, holds func() bool) {
	t.Helper()
	for deadline := time.Now().Add(3 * time.Minute); !holds(); time.Sleep(10 * time.Millisecond) {
		if time.Now().After(deadline) {
			t.Fatalf("waited in vain until %s", what)
		}
	}
}

// aNode returns a node; amounts are pairs of a name and a quantity.
func aNode(name, zone string, amounts ...string) *corev1.Node {
	return &corev1.Node{
		ObjectMeta: metav1.ObjectMeta{Name: name, Labels: map[string]string{"zone": zone}},
		Status:     corev1.NodeStatus{Allocatable: resources(amounts)},
	}
}

// aPod returns a pod that is to be scheduled.
func aPod(name string, priority int32, amounts ...string) *corev1.Pod {
	return &corev1.Pod{
		ObjectMeta: metav1.ObjectMeta{Name: name, Namespace: "default", UID: types.UID(name)},
		Spec: corev1.PodSpec{
			SchedulerName: "default-scheduler",
			Priority:      &priority,
			Containers:    []corev1.Container{{Resources: corev1.ResourceRequirements{Requests: resources(amounts)}}},
		},
	}
}

// bound places a pod.
func bound(pod *corev1.Pod, node string) *corev1.Pod {
	pod.Spec.NodeName = node
	pod.Status.Phase = corev1.PodRunning
	return pod
}

func resources(amounts []string) corev1.ResourceList {
	list := corev1.ResourceList{}
	for _, text := range amounts {
		name, amount, _ := strings.Cut(text, "=")
		list[corev1.ResourceName(name)] = resource.MustParse(amount)
	}
	return list
}

// replaced replaces a part of a configuration that has to be there.
func replaced(t testing.TB, text, old, by string) string {
	t.Helper()
	if !strings.Contains(text, old) {
		t.Fatalf("%q is not in the configuration", old)
	}
	return strings.Replace(text, old, by, 1)
}

// running makes a scheduler that runs.
func running(t testing.TB, text string, ledger resvecfit.Ledger, objects ...runtime.Object) *simulation {
	t.Helper()
	sim := simulate(t, text, ledger, objects...)
	sim.run(t)
	return sim
}
