package karpenter

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"sort"
	"testing"

	"github.com/go-logr/logr"
	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/resource"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/client-go/tools/record"
	"k8s.io/utils/clock"
	"sigs.k8s.io/controller-runtime/pkg/log"
	v1 "sigs.k8s.io/karpenter/pkg/apis/v1"
	"sigs.k8s.io/karpenter/pkg/cloudprovider"
	"sigs.k8s.io/karpenter/pkg/cloudprovider/fake"
	"sigs.k8s.io/karpenter/pkg/controllers/provisioning/scheduling"
	"sigs.k8s.io/karpenter/pkg/controllers/state"
	"sigs.k8s.io/karpenter/pkg/events"
	"sigs.k8s.io/karpenter/pkg/operator/injection"
	"sigs.k8s.io/karpenter/pkg/operator/options"

	"github.com/resvec/resvec/benchmarks/internal/peer"
	"github.com/resvec/resvec/vector"
	"github.com/resvec/resvec/vectormap"
)

// provision is a set of pending pods that want nothing but resources, and the one shape
// of nodes that there is for them.
type provision struct {
	m     *vectormap.ResourceVectorMap
	pods  []*corev1.Pod
	shape *cloudprovider.InstanceType
	room  vector.ResourceVector // of a new node
}

// newProvision returns pods of 100m to 8 cores, of which some want much memory, and
// nodes of 16 to 64 cores, where each of them fits.
func newProvision(t testing.TB, r peer.Random, pods int) *provision {
	t.Helper()
	cores := int64(16) << r.IntN(3)
	p := &provision{m: newMap(t), shape: fake.NewInstanceType("shape", fake.WithResources(corev1.ResourceList{
		corev1.ResourceCPU:    *resource.NewQuantity(cores, resource.DecimalSI),
		corev1.ResourceMemory: *resource.NewQuantity(cores<<(31+r.IntN(3)), resource.BinarySI),
		corev1.ResourcePods:   *resource.NewQuantity(8+r.Int64N(50), resource.DecimalSI),
	}))}
	for i := range pods {
		pod := &corev1.Pod{ObjectMeta: metav1.ObjectMeta{Name: fmt.Sprint("pod-", i), Namespace: "default", UID: types.UID(fmt.Sprint("pod-", i))}}
		pod.Spec.Containers = []corev1.Container{{Resources: corev1.ResourceRequirements{Requests: corev1.ResourceList{
			corev1.ResourceCPU:    *resource.NewMilliQuantity([]int64{100, 250, 500, 1000, 1500, 3000, 8000}[r.IntN(7)], resource.DecimalSI),
			corev1.ResourceMemory: *resource.NewQuantity([]int64{1, 2, 4, 8, 16, 48, 100}[r.IntN(7)]<<28, resource.BinarySI),
		}}}}
		p.pods = append(p.pods, pod)
	}
	var err error
	if p.room, err = p.m.CapacityVector(nil, p.shape.Allocatable(), nil); err != nil {
		t.Fatal(err)
	}
	return p
}

// solve opens nodes as Karpenter does, and returns the pods of each.
func (p *provision) solve() ([][]*corev1.Pod, error) {
	ctx := options.ToContext(injection.WithControllerName(context.Background(), "provisioner"), &options.Options{
		CPURequests: 5000, PreferencePolicy: options.PreferencePolicyRespect, MinValuesPolicy: options.MinValuesPolicyStrict, IgnoreDRARequests: true,
	})
	pool := &v1.NodePool{ObjectMeta: metav1.ObjectMeta{Name: "pool"}}
	pool.Spec.Template.Spec.NodeClassRef = &v1.NodeClassReference{Group: "karpenter.test.sh", Kind: "TestNodeClass", Name: "default"}
	pools, shapes := []*v1.NodePool{pool}, map[string][]*cloudprovider.InstanceType{pool.Name: {p.shape}}
	cluster := state.NewCluster(clock.RealClock{}, nil, fake.NewCloudProvider())
	topology, err := scheduling.NewTopology(ctx, nil, cluster, nil, pools, shapes, p.pods)
	if err != nil {
		return nil, err
	}
	s := scheduling.NewScheduler(ctx, nil, pools, cluster, nil, topology, shapes, nil, events.NewRecorder(&record.FakeRecorder{}), clock.RealClock{}, nil, nil, scheduling.NumConcurrentReconciles(5))
	results, err := s.Solve(ctx, p.pods)
	if err != nil {
		return nil, err
	}
	if len(results.PodErrors) > 0 {
		return nil, fmt.Errorf("%d pods have no node", len(results.PodErrors))
	}
	var nodes [][]*corev1.Pod
	for _, claim := range results.NewNodeClaims {
		nodes = append(nodes, claim.Pods)
	}
	return nodes, nil
}

// packing is the answer of this library: on which new node each pod is, how many nodes
// there are, and on how many fewer they can't be, however they are packed.
type packing struct {
	rows          []int32
	nodes, proved int
}

// restarts is how many other orders of the pods are tried where one does not do, as in
// examples/whatif.
const restarts = 8

// pack is what examples/whatif does for one shape: best fit with a node for each pod, a
// search for the least number that isn't proved to be too few, and a search between.
func (p *provision) pack() (packing, error) {
	requests, free, v := p.m.NewMatrix(0), p.m.NewMatrix(0), p.m.NewVector()
	opts := vectormap.PodOptions{Scratch: corev1.ResourceList{}}
	for _, pod := range p.pods {
		var err error
		if v, err = p.m.PodRequest(v, pod, opts, nil); err != nil {
			return packing{}, err
		}
		requests.AppendRow(v)
	}
	with := func(nodes int) *vector.Matrix {
		free.Resize(min(nodes, free.Rows()))
		for free.Rows() < nodes {
			free.AppendRow(p.room)
		}
		return free
	}
	packer := vector.NewPacker(vector.PackOptions{
		Total: vector.SumColumns(nil, requests, nil), Order: vector.OrderDominantResource,
		BestFit: vector.TieLowest(), Restarts: restarts, Seed: 1,
	})
	rows, ok := packer.Place(nil, with(len(p.pods)), requests, nil)
	if !ok {
		return packing{}, errors.New("a pod is larger than a node")
	}
	best := packing{rows: rows, nodes: int(slices.Max(rows)) + 1}
	best.proved = 1 + sort.Search(best.nodes-1, func(less int) bool {
		_, infeasible := packer.Infeasible(with(1+less), requests, nil)
		return !infeasible
	})
	for lo := best.proved; lo < best.nodes; {
		mid := (lo + best.nodes) / 2
		if rows, ok := packer.Place(nil, with(mid), requests, nil); ok {
			best.rows, best.nodes = rows, mid
		} else {
			lo = mid + 1
		}
	}
	return best, nil
}

// check verifies that no node of either answer has more than it can hold.
func (p *provision) check(their [][]*corev1.Pod, our packing) error {
	sum := func(pods []*corev1.Pod) (vector.ResourceVector, error) {
		total := p.m.NewVector()
		for _, pod := range pods {
			v, err := p.m.PodRequest(nil, pod, vectormap.PodOptions{}, nil)
			if err != nil {
				return nil, err
			}
			total.Add(v)
		}
		return total, nil
	}
	placed := 0
	for _, pods := range their {
		placed += len(pods)
		if total, err := sum(pods); err != nil || !total.FitsIn(p.room) {
			return fmt.Errorf("a node there has %v of %v, %w", total, p.room, err)
		}
	}
	if placed != len(p.pods) {
		return fmt.Errorf("%d of %d pods have a node there", placed, len(p.pods))
	}
	nodes := make([][]*corev1.Pod, our.nodes)
	for i, row := range our.rows {
		nodes[row] = append(nodes[row], p.pods[i])
	}
	for _, pods := range nodes {
		if total, err := sum(pods); err != nil || !total.FitsIn(p.room) {
			return fmt.Errorf("a node here has %v of %v, %w", total, p.room, err)
		}
	}
	if len(their) < our.proved || our.nodes < our.proved {
		return fmt.Errorf("%d nodes there, %d here, and %d are proved to be too few", len(their), our.nodes, our.proved-1)
	}
	return nil
}

// TestSolve: Karpenter's answer and this library's are both valid, and neither has fewer
// nodes than are proved to be needed. Packing is NP-hard, so each finds fewer nodes at
// times: this library more often.
func TestSolve(t *testing.T) {
	log.SetLogger(logr.Discard())
	var problems, fewer, more, exact int
	peer.Problems(t, func(r peer.Random) error {
		p := newProvision(t, r, 1+r.IntN(120))
		their, err := p.solve()
		if err != nil {
			return err
		}
		our, err := p.pack()
		if err != nil {
			return err
		}
		if err := p.check(their, our); err != nil {
			return err
		}
		problems++
		switch {
		case our.nodes < len(their):
			fewer++
		case our.nodes > len(their):
			more++
		}
		if our.nodes == our.proved {
			exact++
		}
		return nil
	})
	t.Logf("of %d problems here fewer nodes in %d, more in %d; proved to be the least in %d", problems, fewer, more, exact)
	if more > fewer {
		t.Error("more nodes here more often than fewer")
	}
}

// BenchmarkSolve: 2,000 pending pods, with -short 200.
func BenchmarkSolve(b *testing.B) {
	log.SetLogger(logr.Discard())
	pods := 2000
	if testing.Short() {
		pods = 200
	}
	p := newProvision(b, peer.NewRandom(2), pods)
	their, err := p.solve()
	if err != nil {
		b.Fatal(err)
	}
	our, err := p.pack()
	if err != nil {
		b.Fatal(err)
	}
	row := karpenter
	row.Function, row.Ours, row.Questions, row.Goal = "scheduling.NewScheduler, Solve", "PodRequest, Packer.Place, Packer.Infeasible", 1, 3
	row.Work = fmt.Sprintf("new nodes of one shape for %d pods that want resources only", pods)
	row.Equal = fmt.Sprintf("%d nodes there, %d here, and %d are proved to be needed", len(their), our.nodes, our.proved)
	row.Remark = "there: one pass, which looks at labels, taints, topology, volumes and offerings of each pod, too; here: up to 9 orders of the pods for each number of nodes that is tried, and the proof"
	row.Allocates = float64(20 * pods)
	row.Their = func(int) { their, err = p.solve() }
	row.Our = func(int) { our, err = p.pack() }
	row.Same = func(int) error {
		if err != nil {
			return err
		}
		return p.check(their, our)
	}
	b.Run("Solve", row.Bench)
}
