package karpenter

import (
	"cmp"
	"context"
	"fmt"
	"math"
	"slices"
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
	requirements "sigs.k8s.io/karpenter/pkg/scheduling"

	"github.com/resvec/resvec/benchmarks/internal/peer"
	"github.com/resvec/resvec/vector"
	"github.com/resvec/resvec/vector/gang/provision"
	"github.com/resvec/resvec/vectormap"
)

// queue is a set of pending pods that want nothing but resources, and the shapes of
// nodes that there are for them.
type queue struct {
	m      *vectormap.ResourceVectorMap
	pods   []*corev1.Pod
	shapes []*cloudprovider.InstanceType
	ours   []provision.Shape // the same shapes
}

// add adds a shape of nodes with a price.
func (p *queue) add(t testing.TB, cores, memory, pods int64, price float64) {
	t.Helper()
	shape := fake.NewInstanceType(fmt.Sprint("shape-", len(p.shapes)), fake.WithResources(corev1.ResourceList{
		corev1.ResourceCPU:    *resource.NewQuantity(cores, resource.DecimalSI),
		corev1.ResourceMemory: *resource.NewQuantity(memory, resource.BinarySI),
		corev1.ResourcePods:   *resource.NewQuantity(pods, resource.DecimalSI),
	}), fake.WithOfferings(cloudprovider.Offering{Available: true, Price: price, Requirements: requirements.NewLabelRequirements(map[string]string{
		v1.CapacityTypeLabelKey: v1.CapacityTypeOnDemand, corev1.LabelTopologyZone: "zone",
	})}))
	room, err := p.m.CapacityVector(nil, shape.Allocatable(), nil)
	if err != nil {
		t.Fatal(err)
	}
	p.shapes, p.ours = append(p.shapes, shape), append(p.ours, provision.Shape{Room: room, Cost: price})
}

// want adds a pod.
func (p *queue) want(milli, memory int64) {
	name := fmt.Sprint("pod-", len(p.pods))
	pod := &corev1.Pod{ObjectMeta: metav1.ObjectMeta{Name: name, Namespace: "default", UID: types.UID(name)}}
	pod.Spec.Containers = []corev1.Container{{Resources: corev1.ResourceRequirements{Requests: corev1.ResourceList{
		corev1.ResourceCPU:    *resource.NewMilliQuantity(milli, resource.DecimalSI),
		corev1.ResourceMemory: *resource.NewQuantity(memory, resource.BinarySI),
	}}}}
	p.pods = append(p.pods, pod)
}

// newProvision returns pods of 100m to 8 cores, of which some want much memory, and
// nodes of 16 to 64 cores, where each of them fits.
func newProvision(t testing.TB, r peer.Random, pods int) *queue {
	t.Helper()
	p := &queue{m: newMap(t)}
	cores := int64(16) << r.IntN(3)
	p.add(t, cores, cores<<(31+r.IntN(3)), 8+r.Int64N(50), 1)
	p.wantSome(r, pods)
	return p
}

// wantSome adds so many pods of 100m to 8 cores.
func (p *queue) wantSome(r peer.Random, pods int) {
	for range pods {
		p.want([]int64{100, 250, 500, 1000, 1500, 3000, 8000}[r.IntN(7)], []int64{1, 2, 4, 8, 16, 48, 100}[r.IntN(7)]<<28)
	}
}

// newChoice returns such pods, of which some fit on the largest shape only, and two to
// five shapes of 4 to 64 cores. In half of the problems the prices are proportional to the
// size; in the others a core costs up to three times as much on one shape as on another.
func newChoice(t testing.TB, r peer.Random, pods int) *queue {
	t.Helper()
	p := &queue{m: newMap(t)}
	proportional := r.Chance(50)
	for _, size := range r.Perm(4)[:1+r.IntN(4)] {
		p.addPriced(t, r, 4<<size, 2+r.IntN(3), proportional)
	}
	p.addPriced(t, r, 64, 4, proportional)
	large := r.IntN(1 + pods/4)
	p.wantSome(r, pods-large)
	for range large {
		p.want(1000*(33+r.Int64N(12)), 1<<30)
	}
	return p
}

// addPriced adds a shape that has so many cores, and memory of 2 to the power of some GiB
// for each.
func (p *queue) addPriced(t testing.TB, r peer.Random, cores int64, memory int, proportional bool) {
	t.Helper()
	price := float64(cores) * float64(8+int(1)<<memory) / 256
	if !proportional {
		price *= 1 + float64(r.IntN(9))/4
	}
	p.add(t, cores, cores<<(30+memory), 8+r.Int64N(50), price)
}

// A claim is a new node, of the cheapest shape that Karpenter leaves for it.
type claim struct {
	shape *cloudprovider.InstanceType
	pods  []*corev1.Pod
}

// solve opens nodes as Karpenter does.
func (p *queue) solve() ([]claim, error) {
	ctx := options.ToContext(injection.WithControllerName(context.Background(), "provisioner"), &options.Options{
		CPURequests: 5000, PreferencePolicy: options.PreferencePolicyRespect, MinValuesPolicy: options.MinValuesPolicyStrict, IgnoreDRARequests: true,
	})
	pool := &v1.NodePool{ObjectMeta: metav1.ObjectMeta{Name: "pool"}}
	pool.Spec.Template.Spec.NodeClassRef = &v1.NodeClassReference{Group: "karpenter.test.sh", Kind: "TestNodeClass", Name: "default"}
	pools, shapes := []*v1.NodePool{pool}, map[string][]*cloudprovider.InstanceType{pool.Name: p.shapes}
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
	var nodes []claim
	for _, c := range results.NewNodeClaims {
		nodes = append(nodes, claim{c.InstanceTypeOptions.OrderByPrice(c.Requirements)[0], c.Pods})
	}
	return nodes, nil
}

// cost returns what nodes cost.
func cost(claims []claim) (sum float64) {
	for _, c := range claims {
		sum += c.shape.Offerings[0].Price
	}
	return sum
}

// requests returns what the pods request, a row each.
func (p *queue) requests() (*vector.Matrix, error) {
	m, v, opts := p.m.NewMatrix(0), p.m.NewVector(), vectormap.PodOptions{Scratch: corev1.ResourceList{}}
	for _, pod := range p.pods {
		var err error
		if v, err = p.m.PodRequest(v, pod, opts, nil); err != nil {
			return nil, err
		}
		m.AppendRow(v)
	}
	return m, nil
}

// pack asks for the fewest nodes of the first shape: at a cost of 1 the cost is their number.
func (p *queue) pack() (provision.Plan, error) {
	requests, err := p.requests()
	if err != nil {
		return provision.Plan{}, err
	}
	return provision.Cheapest([]provision.Shape{{Room: p.ours[0].Room, Cost: 1}}, requests)
}

// mix asks for the cheapest nodes of all shapes.
func (p *queue) mix() (provision.Plan, error) {
	requests, err := p.requests()
	if err != nil {
		return provision.Plan{}, err
	}
	return provision.Cheapest(p.ours, requests)
}

// claims returns an answer of this library as one of Karpenter: so many nodes of each
// shape, and on which of them each pod is.
func (p *queue) claims(counts []int, rows []int32) (nodes []claim) {
	for i, n := range counts {
		for range n {
			nodes = append(nodes, claim{shape: p.shapes[i]})
		}
	}
	for i, row := range rows {
		nodes[row].pods = append(nodes[row].pods, p.pods[i])
	}
	return nodes
}

// check verifies that each pod is on one node, and that no node has more than it holds.
func (p *queue) check(claims []claim) error {
	placed := make(map[types.UID]bool)
	for _, c := range claims {
		total := p.m.NewVector()
		for _, pod := range c.pods {
			if placed[pod.UID] {
				return fmt.Errorf("%s is on two nodes", pod.Name)
			}
			placed[pod.UID] = true
			v, err := p.m.PodRequest(nil, pod, vectormap.PodOptions{}, nil)
			if err != nil {
				return err
			}
			total.Add(v)
		}
		if room := p.ours[slices.Index(p.shapes, c.shape)].Room; !total.FitsIn(room) {
			return fmt.Errorf("a node has %v of %v", total, room)
		}
	}
	if len(placed) != len(p.pods) {
		return fmt.Errorf("%d of %d pods have a node", len(placed), len(p.pods))
	}
	return nil
}

// checkAlone compares answers for one shape.
func (p *queue) checkAlone(their []claim, our provision.Plan) error {
	if err := cmp.Or(p.check(their), p.check(p.claims(our.Counts, our.Placement))); err != nil {
		return err
	}
	if least := int(our.AtLeast); len(their) < least || our.Counts[0] < least {
		return fmt.Errorf("%d nodes there, %d here, and %d are proved to be too few", len(their), our.Counts[0], least-1)
	}
	return nil
}

// checkMix compares answers for several shapes.
func (p *queue) checkMix(their []claim, our provision.Plan) error {
	claims := p.claims(our.Counts, our.Placement)
	if err := cmp.Or(p.check(their), p.check(claims)); err != nil {
		return err
	}
	const rounding = 1e-9
	if sum := cost(claims); math.Abs(sum-our.Cost) > rounding*sum {
		return fmt.Errorf("nodes of cost %v are said to cost %v", sum, our.Cost)
	}
	if least := our.AtLeast * (1 - rounding); cost(their) < least || our.Cost < least {
		return fmt.Errorf("cost %v there, %v here, and less than %v is proved to be too little", cost(their), our.Cost, our.AtLeast)
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
		if err := p.checkAlone(their, our); err != nil {
			return err
		}
		problems++
		switch {
		case our.Counts[0] < len(their):
			fewer++
		case our.Counts[0] > len(their):
			more++
		}
		if our.Cost == our.AtLeast {
			exact++
		}
		return nil
	})
	t.Logf("of %d problems here fewer nodes in %d, more in %d; proved to be the least in %d", problems, fewer, more, exact)
	if more > fewer {
		t.Error("more nodes here more often than fewer")
	}
}

// TestSolveShapes: so it is with several shapes and their prices, where the cost counts.
func TestSolveShapes(t *testing.T) {
	log.SetLogger(logr.Discard())
	var problems, less, more, fewer, exact int
	var ratio float64
	peer.Problems(t, func(r peer.Random) error {
		p := newChoice(t, r, 1+r.IntN(120))
		their, err := p.solve()
		if err != nil {
			return err
		}
		our, err := p.mix()
		if err != nil {
			return err
		}
		if err := p.checkMix(their, our); err != nil {
			return err
		}
		problems++
		switch sum := cost(their); {
		case our.Cost < sum*(1-1e-9):
			less++
		case our.Cost > sum*(1+1e-9):
			more++
		}
		ratio += cost(their) / our.Cost
		if len(p.claims(our.Counts, nil)) < len(their) {
			fewer++
		}
		if our.AtLeast == our.Cost {
			exact++
		}
		return nil
	})
	t.Logf("of %d problems here less cost in %d, more in %d; fewer nodes in %d; proved to be the least in %d; their cost is %.3f times ours on average",
		problems, less, more, fewer, exact, ratio/float64(problems))
	if more*10 > problems {
		t.Error("here more cost in more than a tenth")
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
	row.Function, row.Ours, row.Questions, row.Goal = "scheduling.NewScheduler, Solve", "PodRequest, provision.Cheapest", 1, 3
	row.Work = fmt.Sprintf("new nodes of one shape for %d pods", pods)
	row.Equal = fmt.Sprintf("%d nodes there, %d here, %d needed", len(their), our.Counts[0], int(our.AtLeast))
	row.Remark = "there also labels, taints, topology; here up to 9 orders, and the proof"
	row.Allocates = float64(20 * pods)
	row.Their = func(int) { their, err = p.solve() }
	row.Our = func(int) { our, err = p.pack() }
	row.Same = func(int) error {
		if err != nil {
			return err
		}
		return p.checkAlone(their, our)
	}
	b.Run("Solve", row.Bench)
}

// BenchmarkSolveShapes: as many pods, and several shapes with prices.
func BenchmarkSolveShapes(b *testing.B) {
	log.SetLogger(logr.Discard())
	pods := 2000
	if testing.Short() {
		pods = 200
	}
	p := newChoice(b, peer.NewRandom(2), pods)
	their, err := p.solve()
	if err != nil {
		b.Fatal(err)
	}
	our, err := p.mix()
	if err != nil {
		b.Fatal(err)
	}
	row := karpenter
	row.Function, row.Ours, row.Questions, row.Goal = "scheduling.NewScheduler, Solve", "PodRequest, provision.Cheapest", 1, 3
	row.Work = fmt.Sprintf("new nodes of %d shapes with prices for %d pods", len(p.shapes), pods)
	row.Equal = fmt.Sprintf("%d nodes of cost %.1f there, %d of %.1f here, %.1f needed",
		len(their), cost(their), len(p.claims(our.Counts, nil)), our.Cost, our.AtLeast)
	row.Remark = "there large nodes first; here a search for the least cost"
	row.Allocates = float64(1000 * pods)
	row.Their = func(int) { their, err = p.solve() }
	row.Our = func(int) { our, err = p.mix() }
	row.Same = func(int) error {
		if err != nil {
			return err
		}
		return p.checkMix(their, our)
	}
	b.Run("SolveShapes", row.Bench)
}
