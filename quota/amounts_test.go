package quota

import (
	"fmt"
	"strings"
	"testing"

	"github.com/resvec/resvec/internal/testkit"
	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/resource"
)

// huge is an amount of bytes that has no room in a tree with anything else.
const huge = "8796093022207Ki"

// tenants is a ledger of two queues below a root, without limits, in which b has a task of
// 1 Gi that runs, of memory and of an output.
func tenants(t *testing.T) *world {
	t.Helper()
	cfg := Config{MissingUnlimited: true}
	m := testkit.Must(testMap([]string{"A"}, corev1.ResourceEphemeralStorage))
	l := testkit.Must(newBuilt(cfg, m, cluster(map[string]string{"n": "A:8"}), []builtQueue{{Name: "root"}, q(m, "a < root", "A:inf"), q(m, "b < root", "A:inf")}))
	w := &world{t, l}
	testkit.Must(w.Reconcile(View{Jobs: []Job{w.running()}}))
	return w
}

// running is the job of b.
func (w *world) running() Job {
	return Job{ID: "b", Queue: "b", Phase: PhaseRunning, MinMember: 1, MinResources: both("1Gi"), Tasks: []Task{bytesOf("b-0", "1Gi", TaskAllocated)}}
}

// both is an amount of memory and of ephemeral storage.
func both(amount string) corev1.ResourceList {
	return corev1.ResourceList{"memory": resource.MustParse(amount), "ephemeral-storage": resource.MustParse(amount)}
}

func bytesOf(id, amount string, phase TaskPhase) Task {
	pod := &corev1.Pod{Spec: corev1.PodSpec{Containers: []corev1.Container{{Resources: corev1.ResourceRequirements{Requests: both(amount)}}}}}
	if phase == TaskAllocated {
		pod.Spec.NodeName, pod.Status.Phase = "n", corev1.PodRunning
	}
	return Task{ID: id, Pod: pod}
}

// goesOn checks that the other queue gets what it asks for, whoever asks.
func (w *world) goesOn(what string) {
	w.Helper()
	for i, restored := range []*world{w.again(), w} {
		job := resolved(restored.ResolveJob(Job{ID: "next", Queue: "b", Tasks: []Task{{ID: "next-0", Job: "next", Queue: "b", Pod: bytesOf("", "1Gi", "").Pod}}}))
		may := restored.Enqueueable(nil, job)
		got := say(restored.Reserve(job))
		task := resolved(restored.ResolveTask(Task{ID: "next-0", Job: "next", Queue: "b", Pod: bytesOf("", "1Gi", "").Pod}))
		mayRun := restored.Allocatable(nil, task)
		if ran := say(restored.CommitAll([]*TaskRequest{task})); !may || got != "yes" || !mayRun || ran != "yes" {
			w.Errorf("%s, ledger %d: the other queue's job: %v, %s; its task: %v, %s", what, i, may, got, mayRun, ran)
		}
		rep, err := restored.Reconcile(View{Partial: true, Jobs: []Job{restored.running()}})
		if err != nil || len(rep.Failed) > 0 || rep.Changed {
			w.Errorf("%s, ledger %d: %+v, %v", what, i, rep, err)
		}
		restored.want(fmt.Sprint(restored.Check()), "<nil>")
		restored.ReleaseJob("next")
	}
}

// TestHugeAmountsStopNobody: one tenant's amounts never stop another, in any operation, phase
// and dimension.
func TestHugeAmountsStopNobody(t *testing.T) {
	resolve := func(w *world, j Job) *JobRequest {
		w.Helper()
		return resolved(w.ResolveJob(j))
	}
	for _, phase := range []Phase{PhasePending, PhaseInqueue, PhaseRunning, "Unknown", ""} {
		for _, tasks := range [][]Task{nil, {bytesOf("a-0", huge, "")}, {bytesOf("a-0", huge, TaskAllocated)}} {
			what := fmt.Sprintf("phase %s, %d tasks", phase, len(tasks))
			w := tenants(t)
			view := View{Jobs: []Job{{ID: "a", Queue: "a", Phase: phase, MinResources: both(huge), Tasks: tasks}, w.running()}}
			rep, err := w.Reconcile(view)
			if err != nil {
				t.Fatalf("%s: %v", what, err)
			}
			if again, err := w.Reconcile(view); err != nil || again.Changed || again.Seq != rep.Seq {
				t.Errorf("%s: the same view again: %+v, %v", what, again, err)
			}
			if runs := len(tasks) > 0 && tasks[0].Pod.Spec.NodeName != ""; phase == PhaseInqueue && !runs {
				if len(rep.Failed) != 1 || rep.Failed[0].Job != "a" || rep.Failed[0].Reason != ReasonInsufficientMemoryQuota || !strings.Contains(rep.Failed[0].Detail, "requested 8796093022207 Ki, room for") {
					t.Errorf("%s: %v", what, rep.Failed)
				}
			}
			w.goesOn(what)
		}
	}
	for _, c := range []struct{ what, resource string }{{"memory", "memory"}, {"an output", "ephemeral-storage"}} {
		w := tenants(t)
		pod := &corev1.Pod{Spec: corev1.PodSpec{Containers: []corev1.Container{{Resources: corev1.ResourceRequirements{Requests: corev1.ResourceList{corev1.ResourceName(c.resource): resource.MustParse(huge)}}}}}}
		tasks := []Task{{ID: "a-0", Job: "a", Queue: "a", Pod: pod}}
		job := resolve(w, Job{ID: "a", Queue: "a", Tasks: tasks, MinResources: pod.Spec.Containers[0].Resources.Requests})
		if w.Enqueueable(nil, job) {
			t.Errorf("%s: there is room", c.what)
		}
		a, err := w.Reserve(job)
		f := a.Refusal
		if err != nil || a.OK || f.Why != ReasonTooLarge || f.Room != 1<<53-1-1<<30 || f.Level != "root" || f.Limit-f.Room+f.Requested != 1<<30+1<<53-1024 {
			t.Errorf("%s: %+v, %v", c.what, a, err)
		}
		if fits, err := w.JobCopies(job); err != nil || fits.Copies != 0 || fits.Next.OK {
			t.Errorf("%s: %+v, %v", c.what, fits, err)
		}
		task := resolved(w.ResolveTask(tasks[0]))
		for what, answer := range map[string]func() (Answer, error){
			"Commit":    func() (Answer, error) { return w.Commit(task) },
			"CommitAll": func() (Answer, error) { return w.CommitAll([]*TaskRequest{task}) },
		} {
			if a, err := answer(); err != nil || a.OK || a.Refusal.Why != ReasonTooLarge || w.Allocatable(nil, task) {
				t.Errorf("%s, %s: %+v, %v", c.what, what, a, err)
			}
		}
		w.goesOn(c.what)

		// While nothing else was there it has room. That takes none of the other queue's.
		w = tenants(t)
		w.ReleaseJob("b")
		w.want(say(w.Reserve(resolve(w, Job{ID: "a", Queue: "a", Tasks: tasks, MinResources: pod.Spec.Containers[0].Resources.Requests}))), "yes")
		testkit.Must(w.Reconcile(View{Partial: true, Jobs: []Job{w.running()}}))
		w.goesOn(c.what + ", before the others")
	}
	// Cards that an annotation asks for, twice.
	w := tenants(t)
	for i, want := range []string{"yes", "Scalar 4503599627369991 of 9007199254740991 at root"} {
		job := resolve(w, Job{ID: fmt.Sprint("a", i), Queue: "a", Annotations: asks(`{"A": 4503599627371}`)})
		if may := w.Enqueueable(nil, job); may != (want == "yes") {
			t.Error(may)
		}
		w.want(say(w.Reserve(job)), want)
	}
	w.goesOn("cards")
}

// TestHugeListsFail: amounts that a caller lists for a job or a task fail for that one.
func TestHugeListsFail(t *testing.T) {
	w := tenants(t)
	claim := bytesOf("a-0", "1Gi", TaskAllocated)
	claim.Cards = []Item{{Alternatives: []string{"A"}, Milli: 1 << 53}}
	rep, err := w.Reconcile(View{
		Jobs:  []Job{w.running(), {ID: "c", Queue: "a", Phase: PhaseInqueue, Min: &Min{CPU: 1 << 53}}},
		Tasks: []Task{{ID: "a-0", Job: "a", Queue: "a", Pod: claim.Pod, Cards: claim.Cards}},
	})
	if err != nil || len(rep.Failed) != 2 || rep.Failed[0].Task != "a-0" || rep.Failed[1].Job != "c" || rep.Failed[0].Detail != `quota: bad amount: task "a-0": cards: item "A": the amount is 9007199254740992 milli-cards: want 0 to less than 2^53` ||
		rep.Failed[1].Detail != `quota: bad amount: job "c": min of cpu is 9007199254740992: want 0 to less than 2^53 milli-cores` {
		t.Errorf("%v, %v", rep.Failed, err)
	}
	if status, _ := w.Queue("a"); status.Memory.Allocated != 1<<30 {
		t.Errorf("what is known of the task is charged: %+v", status.Memory)
	}
	w.goesOn("lists")
}

// TestManyHugePods: pods that were bound by hand, each of all that can be counted, come to
// an amount that is still a number. The others go on.
func TestManyHugePods(t *testing.T) {
	w := tenants(t)
	var tasks []Task
	for i := range 200 {
		task := bytesOf(fmt.Sprintf("a-%03d", i), huge, TaskAllocated)
		task.Job, task.Queue = "a", "a"
		tasks = append(tasks, task)
	}
	view := View{Jobs: []Job{w.running()}, Tasks: tasks}
	rep, err := w.Reconcile(view)
	if err != nil || len(rep.Imported) != 128 || len(rep.Failed) != 72 || rep.Failed[0].Task != "a-128" || rep.Failed[0].Reason != ReasonInsufficientMemoryQuota {
		t.Errorf("%d imported, %d failed, %v, %v", len(rep.Imported), len(rep.Failed), rep.Failed[:1], err)
	}
	if again, err := w.Reconcile(view); err != nil || again.Changed {
		t.Errorf("the same view again: %+v, %v", again, err)
	}
	w.goesOn("pods")
}

// TestTooLargeToMove: a job stays where it is if the queue that it moves to couldn't count it.
func TestTooLargeToMove(t *testing.T) {
	w := newWorld(t, Config{}, "q", "mem:inf", "r", "mem:inf")
	task := func(id, job, queue string) Task {
		return Task{ID: id, Job: job, Queue: queue, Node: "n", Phase: TaskAllocated, Request: corev1.ResourceList{"memory": resource.MustParse("9007199254740991")}}
	}
	view := View{Tasks: []Task{task("j", "j", "q")}}
	for i := range 128 {
		view.Tasks = append(view.Tasks, task(fmt.Sprint(i), "k", "r"))
	}
	if rep := testkit.Must(w.Reconcile(view)); len(rep.Imported) != 129 || len(rep.Failed) > 0 {
		t.Fatalf("%d are imported, failed %v", len(rep.Imported), rep.Failed)
	}
	view.Tasks[0].Queue = "r"
	rep := testkit.Must(w.Reconcile(view))
	if rep.Changed || len(rep.Failed) != 1 || rep.Failed[0].Detail != `queue "r" can't count what it has` {
		t.Errorf("%+v", rep)
	}
	testkit.Check(w.Check())
}
