package main

import (
	"errors"
	"fmt"
	"maps"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"

	"github.com/resvec/resvec/device/share"
	"github.com/resvec/resvec/internal/testkit"
	"github.com/resvec/resvec/vector"
	"github.com/resvec/resvec/vectormap"
	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/resource"
	"k8s.io/apimachinery/pkg/types"
)

const a100 = "NVIDIA-A100-SXM4-80GB"

func newTestScheduler(t *testing.T, snapshot []byte) *scheduler {
	t.Helper()
	s := testkit.Must(newScheduler(operator, snapshot))
	s.bind = bindTo
	return s
}

// TestKinds: what becomes of pods of several kinds in an empty cluster, each alone.
func TestKinds(t *testing.T) {
	for _, c := range []struct {
		name     string
		pod      *corev1.Pod
		admitted string // error of admit
		waits    string // error of schedule
		node     string
		devices  string
		credits  int64
	}{
		{name: "cpu only", pod: newPod("p", "", amounts("8", "", "")), node: "cpu-1", devices: "[]"},
		{name: "nothing", pod: newPod("p", "", nil), node: "gpu-1", devices: "[]"}, // equal scores: by seed
		{name: "whole GPUs", pod: newPod("p", a100, amounts("2", "nvidia.com/gpu", "2")), node: "gpu-2", devices: "[[0 1]]", credits: 200},
		{name: "whole GPUs of either card", pod: newPod("p", "Tesla-T4-SHARED|"+a100, amounts("2", "nvidia.com/gpu", "3")), node: "gpu-1", devices: "[[0 1 2]]", credits: 300},
		{name: "of no named card", pod: newPod("p", "", amounts("2", "nvidia.com/gpu", "4")), node: "gpu-1", devices: "[[0 1 2 3]]", credits: 400},
		{name: "a GPU that pods share in turns", pod: newPod("p", "Tesla-T4-SHARED", amounts("2", "nvidia.com/gpu", "1")), node: "shared-1", devices: "[]", credits: 100},
		{name: "a part of a GPU", pod: newPod("p", "", amounts("2", "koordinator.sh/gpu", "40")), node: "gpu-2", devices: "[[0]]", credits: 40},
		{name: "a part of a GPU in bytes", pod: newPod("p", "", amounts("2", "koordinator.sh/gpu-memory", "20Gi")), node: "gpu-2", devices: "[[0]]"},
		{name: "more bytes than a GPU has", pod: newPod("p", "", amounts("2", "koordinator.sh/gpu-memory", "90Gi")), waits: "0/2 nodes fit: 2 gpu insufficient koordinator.sh/gpu-memory (want 90Gi"},
		{name: "a request that only limits say", pod: limited(newPod("p", a100, amounts("2", "nvidia.com/gpu", "1"))), node: "gpu-2", devices: "[[0]]", credits: 100},

		{name: "too many cards for the queue", pod: newPod("p", a100, amounts("2", "nvidia.com/gpu", "6")), admitted: "insufficient quota of card " + a100 + ": requested 6 cards, room for 5 cards of 5 cards"},
		{name: "too many credits", pod: newPod("p", "", amounts("2", "koordinator.sh/gpu", "900")), admitted: "insufficient quota of example.com/credits: requested 900, room for 800 of 800"},
		{name: "too much cpu for the queue", pod: newPod("p", "", amounts("300", "", "")), admitted: "InsufficientCPUQuota"},
		{name: "a card that nobody has", pod: newPod("p", "H100", amounts("2", "nvidia.com/gpu", "1")), admitted: `no card of "H100" is known`},
		{name: "no queue", pod: inQueue(newPod("p", "", amounts("2", "", "")), ""), admitted: "UnknownQueue"},
		{name: "another queue", pod: inQueue(newPod("p", "", amounts("2", "", "")), "sales"), admitted: "UnknownQueue"},
		{name: "no UID", pod: func() *corev1.Pod { p := newPod("p", "", nil); p.UID = ""; return p }(), admitted: "empty"},

		{name: "too large for every node", pod: newPod("p", "", amounts("100", "", "")), waits: "0/4 nodes are available: 4 Insufficient cpu."},
		{name: "a resource that no node has", pod: newPod("p", "", amounts("2", "example.com/fpga", "1")), waits: "no node has [example.com/fpga]"},
		{name: "too many GPUs for every node", pod: newPod("p", a100, amounts("2", "nvidia.com/gpu", "5")), waits: "4 Insufficient nvidia.com/gpu", credits: 0},
		{name: "names that don't go together", pod: newPod("p", a100, corev1.ResourceList{"nvidia.com/gpu": resource.MustParse("1"), "koordinator.sh/gpu": resource.MustParse("40")}), waits: "invalid combination"},
		{name: "percent that no device has", pod: newPod("p", "", amounts("2", "koordinator.sh/gpu", "150")), waits: "koordinator.sh/gpu"},
	} {
		t.Run(c.name, func(t *testing.T) {
			s := newTestScheduler(t, nil)
			for _, n := range cluster() {
				testkit.Check(s.nodeSeen(n))
			}
			failed := func(what string, err error, want string) bool {
				if (err == nil) != (want == "") || err != nil && !strings.Contains(err.Error(), want) {
					t.Fatalf("%s: %v, want %q", what, err, want)
				}
				return err != nil
			}
			if !failed("admit", s.admit(c.pod), c.admitted) && !failed("schedule", s.schedule(c.pod), c.waits) {
				p := s.pods[c.pod.UID]
				var minors [][]int32
				for _, d := range p.devices {
					minors = append(minors, d.Minors())
				}
				if p.node != c.node || fmt.Sprint(minors) != c.devices {
					t.Errorf("on %s, devices %v, want %s %s", p.node, minors, c.node, c.devices)
				}
				q, _ := s.ledger.Queue("research")
				if got := int64(q.Outputs[0].Allocated); got != c.credits {
					t.Errorf("%d credits, want %d", got, c.credits)
				}
				if err := s.schedule(c.pod); err == nil || !strings.Contains(err.Error(), "is on ") {
					t.Errorf("a second time: %v", err)
				}
			}
			check(t, s)
			testkit.Check(s.podGone(c.pod.UID))
			checkZero(t, s)
		})
	}
}

// TestFilterByAccount: a part of a GPU fits only where the account has GPUs, though its names
// are no amounts of nodes; a whole one also where nodes only count them.
func TestFilterByAccount(t *testing.T) {
	s := newTestScheduler(t, nil)
	for _, n := range cluster() {
		testkit.Check(s.nodeSeen(n))
	}
	for _, c := range []struct {
		requests string
		want     []string
	}{{"nvidia.com/gpu", []string{"gpu-1", "gpu-2", "shared-1"}}, {"koordinator.sh/gpu", []string{"gpu-1", "gpu-2"}}, {"koordinator.sh/rdma", nil}} {
		object := newPod("p", "", amounts("2", c.requests, "1"))
		needs := testkit.Must(share.Normalize(vectormap.PodRequests(object, podOptions)))
		var unnamed []string // Koordinator's
		request := testkit.Must(s.resources.PodRequest(nil, object, podOptions, &unnamed))
		if i, ok := s.resources.Index("koordinator.sh/gpu"); ok {
			request[i] = 0 // as if no node announced it
		}
		testkit.Check(s.updateCards())
		job := jobOf(object)
		task, _, err := s.ledger.ResolveTask(job.Tasks[0])
		if err != nil {
			t.Fatal(err)
		}
		why := s.filter(&pod{id: object.UID, request: request, needs: needs, task: task})
		var got []string
		for row := range s.fits.All() {
			got = append(got, s.nodes.Name(row))
		}
		slices.Sort(got)
		if !slices.Equal(got, c.want) || (why == nil) != (c.want != nil) {
			t.Errorf("%s fits on %v, %v, want %v", c.requests, got, why, c.want)
		}
	}
}

// TestResized: the node and the queue of a pod that shrinks in place count what it has.
func TestResized(t *testing.T) {
	s := newTestScheduler(t, nil)
	for _, n := range cluster() {
		testkit.Check(s.nodeSeen(n))
	}
	p := newPod("p", "", amounts("4", "", ""))
	p.Spec.NodeName, p.Status.Phase, p.Spec.Containers[0].Name = "cpu-1", corev1.PodRunning, "main"
	has := corev1.ResourceList{"cpu": resource.MustParse("8")}
	p.Status.ContainerStatuses = []corev1.ContainerStatus{{
		Name: "main", AllocatedResources: has, Resources: &corev1.ResourceRequirements{Requests: has},
	}}
	testkit.Check(s.podSeen(p))
	row, _ := s.nodes.Row("cpu-1")
	taken := s.nodes.Allocatable().At(row, vectormap.CPU) - s.nodes.Free().At(row, vectormap.CPU)
	if q, _ := s.ledger.Queue("research"); taken != 8000 || q.CPU.Allocated != 8000 {
		t.Errorf("the node counts %v, the queue %d", taken, q.CPU.Allocated)
	}
	check(t, s)
}

func cluster() []*corev1.Node {
	return []*corev1.Node{newNode("cpu-1", "96", "", 0), newNode("gpu-1", "64", a100, 4), newNode("gpu-2", "64", a100, 2), sharedNode("shared-1")}
}

func limited(p *corev1.Pod) *corev1.Pod {
	r := &p.Spec.Containers[0].Resources
	r.Requests, r.Limits = nil, r.Requests
	return p
}

func inQueue(p *corev1.Pod, queue string) *corev1.Pod {
	p.Labels[queueLabel] = queue
	return p
}

// TestLives lets pods and nodes come, change and go at random, with bindings that fail in
// every way and restarts in between. Nothing is ever booked twice, lost, or left behind.
func TestLives(t *testing.T) {
	for seed := range uint64(15) {
		w := &world{t: t, r: rand.New(rand.NewPCG(seed, 0)), nodes: map[string]*corev1.Node{}, waiting: map[types.UID]*corev1.Pod{}, running: map[types.UID]*corev1.Pod{}}
		w.restart(nil)
		for range 150 {
			w.step()
			w.check()
		}
		for _, pods := range []map[types.UID]*corev1.Pod{w.waiting, w.running} {
			for _, id := range sorted(pods) {
				w.end(id)
			}
		}
		w.check()
		checkZero(t, w.s)
		if t.Failed() {
			t.Fatalf("with seed %d", seed)
		}
	}
}

// TestAdmitAgain: the same pod changes nothing, and one that has changed is promised what it
// takes now.
func TestAdmitAgain(t *testing.T) {
	s := newTestScheduler(t, nil)
	testkit.Check(s.nodeSeen(newNode("gpu-1", "64", a100, 4)))
	for _, c := range []struct {
		gpus string
		held int64
		want string
	}{{"2", 200, ""}, {"2", 200, ""}, {"3", 300, ""}, {"6", 300, "room for 5 cards"}, {"1", 100, ""}} {
		err := s.admit(newPod("p", a100, amounts("2", "nvidia.com/gpu", c.gpus)))
		q, _ := s.ledger.Queue("research")
		if (err == nil) != (c.want == "") || err != nil && !strings.Contains(err.Error(), c.want) || int64(q.Outputs[0].Inqueue) != c.held {
			t.Errorf("%s GPUs: %v, %d credits are held, want %q, %d", c.gpus, err, q.Outputs[0].Inqueue, c.want, c.held)
		}
	}
	testkit.Check(s.podGone("p"))
	checkZero(t, s)
}

// TestDeviceGone: a node comes back with fewer devices than its pods have.
func TestDeviceGone(t *testing.T) {
	s := newTestScheduler(t, nil)
	p := newPod("p", a100, amounts("8", "nvidia.com/gpu", "4"))
	for _, err := range []error{s.nodeSeen(newNode("gpu-1", "64", a100, 4)), s.nodeSeen(newNode("gpu-2", "64", a100, 2)), s.admit(p), s.schedule(p), s.podSeen(p)} {
		if err != nil {
			t.Fatal(err)
		}
	}
	var gone *share.GoneError
	if err := s.nodeSeen(newNode("gpu-1", "64", a100, 2)); !errors.As(err, &gone) {
		t.Errorf("%v", err)
	}
	row, _ := s.nodes.Row("gpu-1")
	gpus, _ := s.resources.Index("nvidia.com/gpu")
	if free := s.nodes.Free().Row(nil, row)[gpus]; free != -2 { // over-subscribed, so that nobody else comes
		t.Errorf("%v GPUs are free", free)
	}
	testkit.Check(s.podGone(p.UID))
	checkZero(t, s)
}

// TestWhichGPU: a small pod takes of the GPU that keeps room for half a one, though the
// other is fuller.
func TestWhichGPU(t *testing.T) {
	s := newTestScheduler(t, nil)
	testkit.Check(s.nodeSeen(newNode("gpu-1", "64", a100, 2)))
	for minor, percent := range []int64{40, 50} { // run already
		p := newPod(fmt.Sprint("runs-", minor), "", amounts("2", "koordinator.sh/gpu", fmt.Sprint(percent)))
		devices := []share.Allocation{{Kind: "gpu", Devices: []share.Allocated{{
			Minor: int32(minor), Amounts: share.Amounts{share.GPUCore: percent, share.GPUMemoryRatio: percent},
		}}}}
		testkit.Check(errors.Join(bindTo(p, "gpu-1", devices), s.podSeen(p)))
	}
	p := newPod("p", "", amounts("2", "koordinator.sh/gpu", "10"))
	testkit.Check(errors.Join(s.admit(p), s.schedule(p)))
	if left := fmt.Sprint(s.account.GPUs().Devices(0)); left != "[500 500]" {
		t.Error(left)
	}
}

// A world is the objects of an API server, and the scheduler that watches them.
type world struct {
	t                *testing.T
	r                *rand.Rand
	s                *scheduler
	nodes            map[string]*corev1.Node
	waiting, running map[types.UID]*corev1.Pod
	made             int
	died             []byte // the ledger of a scheduler that died while it bound a pod
}

func (w *world) must(err error) {
	w.t.Helper()
	if err != nil {
		w.t.Fatal(err)
	}
}

func (w *world) step() {
	switch w.r.IntN(12) {
	case 0:
		name := fmt.Sprint("node-", w.r.IntN(5))
		n := newNode(name, "32", a100, 4)
		switch name { // its devices stay: pods run on them
		case "node-0":
			n = newNode(name, "32", "", 0)
		case "node-1":
			n = sharedNode(name)
		}
		n.Status.Allocatable["cpu"] = *resource.NewQuantity(16+w.r.Int64N(32), resource.DecimalSI)
		if w.r.IntN(4) == 0 {
			n.Status.Allocatable[corev1.ResourceName(fmt.Sprint("example.com/new-", w.made))] = resource.MustParse("2")
		}
		w.nodes[name] = n
		w.must(w.s.nodeSeen(n))
	case 1:
		w.deleteNode(fmt.Sprint("node-", w.r.IntN(5)))
	case 2, 3, 4, 5:
		p := w.newPod()
		if err := w.s.admit(p); err == nil {
			w.waiting[p.UID] = p
		}
	case 6, 7, 8:
		if p := w.any(w.waiting); p != nil {
			w.schedule(p)
		}
	case 9: // bound by somebody else, perhaps before its node is seen
		p := w.newPod()
		delete(p.Annotations, deviceAnnotation)
		p.Spec.NodeName = fmt.Sprint("node-", w.r.IntN(6))
		if w.r.IntN(2) == 0 {
			p.Spec.Containers[0].Resources.Requests[corev1.ResourceName(fmt.Sprint("example.com/other-", w.made))] = resource.MustParse("1")
		}
		if w.r.IntN(3) == 0 {
			p.Labels = nil // of no queue that the ledger knows
		}
		w.running[p.UID] = p
		w.must(w.s.podSeen(p))
	case 10:
		if p := w.any(w.running); p != nil {
			w.end(p.UID)
		}
	case 11:
		if w.r.IntN(3) == 0 {
			for _, pods := range []map[types.UID]*corev1.Pod{w.waiting, w.running} { // ended before the next process starts
				if p := w.any(pods); p != nil {
					delete(pods, p.UID)
				}
			}
			w.restart(w.s.ledger.Snapshot())
		}
	}
}

// any returns one of some pods; nil: there is none.
func (w *world) any(pods map[types.UID]*corev1.Pod) *corev1.Pod {
	if len(pods) == 0 {
		return nil
	}
	return pods[sorted(pods)[w.r.IntN(len(pods))]]
}

func sorted[K ~string, V any](m map[K]V) []K { return slices.Sorted(maps.Keys(m)) }

func (w *world) newPod() *corev1.Pod {
	w.made++
	name := fmt.Sprint("pod-", w.made)
	cpu := fmt.Sprint(1 + w.r.IntN(4))
	switch w.r.IntN(7) {
	case 0:
		return newPod(name, "", amounts(cpu, "", ""))
	case 1:
		return newPod(name, a100, amounts(cpu, "nvidia.com/gpu", fmt.Sprint(1+w.r.IntN(2))))
	case 2:
		return newPod(name, a100+"|Tesla-T4-SHARED", amounts(cpu, "nvidia.com/gpu", "1"))
	case 3:
		return newPod(name, "", amounts(cpu, "koordinator.sh/gpu", "200"))
	case 4:
		return newPod(name, "", amounts(cpu, "koordinator.sh/gpu-memory", fmt.Sprint(1+w.r.IntN(40), "Gi")))
	default:
		return newPod(name, "", amounts(cpu, "koordinator.sh/gpu", fmt.Sprint(10*(1+w.r.IntN(10)))))
	}
}

var errBind = errors.New("not bound")

func (w *world) schedule(p *corev1.Pod) {
	bound := func() { delete(w.waiting, p.UID); w.running[p.UID] = p }
	how := w.r.IntN(10)
	w.s.bind = func(object *corev1.Pod, node string, devices []share.Allocation) error {
		w.check()
		switch how {
		case 0: // it fails
			return errBind
		case 1: // the answer is lost, and the pod is seen on its node
			w.must(bindTo(object, node, devices))
			bound()
			w.must(w.s.podSeen(object))
			return errBind
		case 6: // somebody else was faster
			object.Spec.NodeName = fmt.Sprint("node-", w.r.IntN(6))
			bound()
			w.must(w.s.podSeen(object))
			return errBind
		case 2: // the pod was deleted meanwhile
			w.end(object.UID)
			return errBind
		case 3: // its node was
			w.deleteNode(node)
			return errBind
		case 4: // the process dies before it binds
			w.died = w.s.ledger.Snapshot()
			return errBind
		case 5: // after
			w.must(bindTo(object, node, devices))
			bound()
			w.died = w.s.ledger.Snapshot()
			return errBind
		}
		w.must(bindTo(object, node, devices))
		bound()
		return nil
	}
	err := w.s.schedule(p)
	switch {
	case w.died != nil:
		w.restart(w.died)
		w.died = nil
	case err == nil:
		if w.r.IntN(2) == 0 { // else it is seen by nobody before it ends
			w.must(w.s.podSeen(p))
		}
	case errors.Is(err, errBind) && err.Error() != errBind.Error(): // giving back failed
		w.t.Error(err)
	}
}

func (w *world) deleteNode(name string) {
	delete(w.nodes, name)
	w.s.nodeGone(name)
}

func (w *world) end(id types.UID) {
	delete(w.waiting, id)
	delete(w.running, id)
	w.must(w.s.podGone(id))
}

// restart starts a scheduler that sees all objects, in some order.
func (w *world) restart(snapshot []byte) {
	w.s = newTestScheduler(w.t, snapshot)
	for _, name := range sorted(w.nodes) {
		w.must(w.s.nodeSeen(w.nodes[name]))
	}
	var all []*corev1.Pod
	for _, id := range sorted(w.running) {
		w.must(w.s.podSeen(w.running[id]))
		all = append(all, w.running[id])
	}
	for _, id := range sorted(w.waiting) {
		all = append(all, w.waiting[id])
	}
	late := w.newPod() // came meanwhile
	w.must(w.s.resume(append(all, late)))
	w.check()
	if status, _ := w.s.ledger.Job(string(late.UID)); status.Reserved {
		w.t.Errorf("%s has a promise without being admitted", late.UID)
	}
	for id := range w.waiting { // what was promised still is
		if status, _ := w.s.ledger.Job(string(id)); !status.Reserved {
			w.t.Errorf("%s has lost its promise", id)
		}
	}
}

// check compares the scheduler with the objects.
func (w *world) check() {
	w.t.Helper()
	check(w.t, w.s)
	for id, p := range w.running {
		on := w.s.pods[id]
		if on == nil || on.node != p.Spec.NodeName {
			w.t.Errorf("%s is on %s, the scheduler says %v", id, p.Spec.NodeName, on)
		}
		if _, charged := w.s.ledger.Job(string(id)); charged != (p.Labels[queueLabel] != "") {
			w.t.Errorf("%s is of queue %q, and charged: %v", id, p.Labels[queueLabel], charged)
		}
	}
	for name := range w.nodes {
		if _, ok := w.s.nodes.Row(name); !ok {
			w.t.Errorf("%s has no row", name)
		}
	}
}

// check compares what is booked with the pods that are there.
func check(t *testing.T, s *scheduler) {
	t.Helper()
	testkit.Check(s.ledger.Check())
	pods := 0
	for name, n := range s.known {
		pods += len(n.pods)
		row, ok := s.nodes.Row(name)
		if ok != (n.inventory != nil) {
			t.Errorf("%s has a row: %v, was seen: %v", name, ok, !ok)
		}
		if !ok {
			continue
		}
		want := make(vector.ResourceVector, s.nodes.Cols())
		taken := map[int32]share.Amounts{}
		for _, p := range n.pods {
			want.Add(p.request)
			for _, a := range p.devices {
				for _, d := range a.Devices {
					sum := taken[d.Minor]
					for i, amount := range d.Amounts {
						sum[i] += amount
					}
					taken[d.Minor] = sum
				}
			}
		}
		if got := s.nodes.Requested().Row(nil, row); !slices.Equal(got, want) {
			t.Errorf("%s has requested %v, its pods request %v", name, got, want)
		}
		for _, d := range s.account.States(nil, row) {
			for i := range d.Total {
				if d.Total[i]-d.Free[i] != taken[d.Minor][i] {
					t.Errorf("device %d of %s: %v of %v free, taken %v", d.Minor, name, d.Free, d.Total, taken[d.Minor])
					break
				}
			}
		}
	}
	if pods != len(s.pods) || s.nodes.Len() != s.account.Len() {
		t.Errorf("%d pods on nodes, %d pods; %d rows, %d nodes with devices", pods, len(s.pods), s.nodes.Len(), s.account.Len())
	}
	for job := range s.ledger.Jobs("research") {
		if _, placed := s.pods[types.UID(job.ID)]; placed != (len(job.Tasks) == 1) {
			t.Errorf("%s is on a node: %v, and charged: %v", job.ID, placed, job.Tasks)
		}
	}
}

// checkZero checks that nothing is left when all pods have gone.
func checkZero(t *testing.T, s *scheduler) {
	t.Helper()
	check(t, s)
	for name, row := range s.nodes.All() {
		for i, amount := range s.nodes.Requested().Row(nil, row) {
			if amount != 0 {
				t.Errorf("%v of %s is still requested on %s", amount, s.resources.Name(i), name)
			}
		}
		for _, d := range s.account.States(nil, row) {
			if d.Free != share.Amounts(d.Total) {
				t.Errorf("device %d of %s: %v of %v free", d.Minor, name, d.Free, d.Total)
			}
		}
	}
	q, _ := s.ledger.Queue("research")
	for _, u := range append(append(q.Cards, q.Outputs...), q.CPU, q.Memory) {
		if u.Allocated != 0 || u.Inqueue != 0 {
			t.Errorf("of %s %d are allocated and %d held", u.Resource, u.Allocated, u.Inqueue)
		}
	}
	for job := range s.ledger.Jobs("research") {
		t.Errorf("%s is still in the ledger", job.ID)
	}
	if len(s.pods) > 0 || len(s.known) != s.nodes.Len() {
		t.Errorf("pods %v, %d nodes for %d rows", s.pods, len(s.known), s.nodes.Len())
	}
}
