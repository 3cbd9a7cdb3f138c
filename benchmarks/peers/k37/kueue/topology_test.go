package kueue

import (
	"fmt"
	"maps"
	"testing"

	"github.com/resvec/resvec/benchmarks/internal/peer"
	"github.com/resvec/resvec/vector"
	"github.com/resvec/resvec/vector/gang"
	"github.com/resvec/resvec/vectormap"
	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/resource"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
	kueue "sigs.k8s.io/kueue/apis/kueue/v1beta2"
	"sigs.k8s.io/kueue/pkg/cache/scheduler"
	"sigs.k8s.io/kueue/pkg/features"
	"sigs.k8s.io/kueue/pkg/resources"
	"sigs.k8s.io/kueue/pkg/workload"
)

const gpu = corev1.ResourceName("nvidia.com/gpu")

// trees are clusters with a topology in both forms.
type trees struct {
	levels []string
	names  []string // of the rows

	kueue    *scheduler.TASFlavorSnapshot
	m        *vectormap.ResourceVectorMap
	free     *vector.Matrix
	topology *gang.Topology
	packer   gang.Packer
}

// newTrees hands nodes to both. Every node is in a domain of each level, and used is
// what pods have of it; nil for nothing.
func newTrees(t testing.TB, levels []string, nodes []*corev1.Node, used []corev1.ResourceList) *trees {
	t.Helper()
	x := &trees{levels: levels}
	cache := newKueue(levels...)
	for _, node := range nodes {
		cache.TASCache().SyncNode(node)
		x.names = append(x.names, node.Name)
	}
	if err := cache.AddClusterQueue(quiet(), clusterQueue("queue", "", []kueue.ResourceQuota{{Name: corev1.ResourceCPU}})); err != nil {
		t.Fatal(err)
	}
	queue := takeSnapshot(t, cache).ClusterQueue("queue")
	x.kueue = queue.TASFlavors[flavor]

	var err error
	if x.m, err = vectormap.New([]string{string(gpu)}, vectormap.NoFold()); err != nil {
		t.Fatal(err)
	}
	x.free = x.m.NewMatrix(0)
	for i, node := range nodes {
		free, err := x.m.NodeAllocatable(nil, node, nil)
		if err != nil {
			t.Fatal(err)
		}
		if i < len(used) && used[i] != nil {
			amounts, err := x.m.RequestVector(nil, used[i], nil)
			if err != nil {
				t.Fatal(err)
			}
			for j, amount := range amounts {
				free[j] -= amount
			}
			pods := used[i].Pods().Value() // counted apart
			request := resources.NewRequestsFromResourceList(used[i])
			request.Set(corev1.ResourcePods, 0)
			values := []string{node.Labels[corev1.LabelHostname]}
			queue.AddUsage(workload.Usage{TAS: workload.TASUsage{flavor: {{Values: values, SinglePodRequests: request, Count: 1}}}})
			for range pods - 1 {
				none := resources.NewRequests()
				queue.AddUsage(workload.Usage{TAS: workload.TASUsage{flavor: {{Values: values, SinglePodRequests: none, Count: 1}}}})
			}
		}
		x.free.AppendRow(free)
	}
	var notes []vectormap.Note
	if x.topology, notes, err = vectormap.NewTopology(levels, nodes); err != nil || len(notes) > 0 {
		t.Fatal(err, notes)
	}
	return x
}

// topologyGang asks for pods in both forms.
type topologyGang struct {
	theirs scheduler.FlavorTASRequests
	ours   gang.TopologyRequest
}

// workers is the name of the pods of a gang, apart from its leader.
const workers = "workers"

// newGang returns a gang without constraints. leader is nil for none.
func (x *trees) newGang(t testing.TB, count int, request, leader corev1.ResourceList) *topologyGang {
	t.Helper()
	group := "gang"
	vectorOf := func(list corev1.ResourceList) vector.ResourceVector {
		v, err := x.m.RequestVector(nil, list, nil)
		if err != nil {
			t.Fatal(err)
		}
		v[vectormap.Pods] = 1
		return v
	}
	g := &topologyGang{ours: gang.TopologyRequest{Count: count, Request: vectorOf(request)}}
	podSet := func(name string, count int, list corev1.ResourceList) {
		g.theirs = append(g.theirs, scheduler.TASPodSetRequests{
			PodSet:            &kueue.PodSet{Name: kueue.PodSetReference(name), Count: int32(count), TopologyRequest: &kueue.PodSetTopologyRequest{}},
			SinglePodRequests: resources.NewRequestsFromResourceList(list),
			Count:             int32(count),
			PodSetGroupName:   &group,
		})
	}
	podSet(workers, count, request)
	if leader != nil {
		g.ours.Leader = vectorOf(leader)
		podSet("leader", 1, leader)
	}
	return g
}

func (g *topologyGang) constraint() *kueue.PodSetTopologyRequest {
	return g.theirs[0].PodSet.TopologyRequest
}

func (g *topologyGang) require(level string) {
	g.constraint().Required, g.ours.Required = &level, level
}

func (g *topologyGang) prefer(level string) {
	g.constraint().Preferred, g.ours.Preferred = &level, level
}

// unconstrained follows the feature gate that says whether Kueue then fills small gaps
// first.
func (g *topologyGang) unconstrained() {
	yes := true
	g.constraint().Unconstrained = &yes
	g.ours.LeastFree = features.Enabled(features.TASProfileMixed)
}

// slice asks for slices. Sizes go from coarse to fine levels.
func (g *topologyGang) slice(levels []string, sizes []int32) {
	g.ours.Slices = map[string]int{}
	for i, level := range levels {
		g.ours.Slices[level] = int(sizes[i])
		g.constraint().PodsetSliceRequiredTopologyConstraints = append(g.constraint().PodsetSliceRequiredTopologyConstraints,
			kueue.PodsetSliceRequiredTopologyConstraint{Topology: level, Size: sizes[i]})
	}
}

// placement is the number of workers by host, and the host of the leader.
type placement struct {
	fits   bool
	hosts  map[string]int
	leader string
}

func (x *trees) placeTheirs(g *topologyGang) (placement, string) {
	return placementOf(x.kueue.FindTopologyAssignmentsForFlavor(quiet(), g.theirs))
}

// placementOf returns what Kueue found, or why nothing.
func placementOf(result scheduler.TASAssignmentsResult) (p placement, reason string) {
	p.hosts = map[string]int{}
	if failure := result.Failure(); failure != nil {
		return p, failure.Reason
	}
	p.fits = true
	for _, d := range result[workers].TopologyAssignment.Domains {
		p.hosts[d.Values[len(d.Values)-1]] += int(d.Count)
	}
	if leader := result["leader"].TopologyAssignment; leader != nil {
		p.leader = leader.Domains[0].Values[len(leader.Domains[0].Values)-1]
	}
	return p, ""
}

func (x *trees) placeOurs(t testing.TB, g *topologyGang) (placement, gang.TopologyPlacement) {
	t.Helper()
	found, err := x.packer.PlaceTopology(gang.TopologyPlacement{}, x.free, g.ours, nil, x.topology)
	if err != nil {
		t.Fatal(err)
	}
	return x.placement(found), found
}

func (x *trees) placement(found gang.TopologyPlacement) placement {
	p := placement{fits: found.Fits, hosts: map[string]int{}}
	for _, row := range found.Placement {
		p.hosts[x.names[row]]++
	}
	if found.Leader >= 0 {
		p.leader = x.names[found.Leader]
	}
	return p
}

// perDomain adds up the pods of a placement by domain of a level.
func (x *trees) perDomain(hosts map[string]int, level int) map[int]int {
	sums := map[int]int{}
	for row, name := range x.names {
		if n := hosts[name]; n > 0 {
			sums[x.topology.Domain(row, level)] += n
		}
	}
	return sums
}

// node returns a node in a domain of each level.
func topologyNode(name string, levels, values []string, allocatable corev1.ResourceList) *corev1.Node {
	labels := map[string]string{}
	for i, level := range levels {
		labels[level] = values[i]
	}
	return &corev1.Node{
		ObjectMeta: metav1.ObjectMeta{Name: name, Labels: labels},
		Status: corev1.NodeStatus{
			Allocatable: allocatable,
			Conditions:  []corev1.NodeCondition{{Type: corev1.NodeReady, Status: corev1.ConditionTrue}},
		},
	}
}

// topologyLevels returns one to four levels, the finest of which is the host.
func topologyLevels(n int) []string {
	return append([]string{"example.com/zone", "example.com/block", "example.com/rack"}[4-n:], corev1.LabelHostname)
}

func randomTrees(t *testing.T, r peer.Random) *trees {
	levels := topologyLevels(1 + r.IntN(4))
	n := 1 + r.IntN([]int{6, 6, 6, 30, 30, 200}[r.IntN(6)])
	if r.Chance(1) {
		n = 2000
	}
	var nodes []*corev1.Node
	used := make([]corev1.ResourceList, n)
	for i := range n {
		name := fmt.Sprintf("host-%d", r.IntN(1000)*n+i) // in an order of their own
		var values []string
		for l := range len(levels) - 1 {
			values = append(values, fmt.Sprint("d", r.IntN(1+r.IntN(2+l+n/20)))) // names that repeat in other domains
		}
		list := corev1.ResourceList{
			corev1.ResourceCPU:    *resource.NewMilliQuantity(r.Int64N(16_000), resource.DecimalSI),
			corev1.ResourceMemory: *resource.NewQuantity(r.Int64N(64)<<30, resource.BinarySI),
			corev1.ResourcePods:   *resource.NewQuantity(r.Int64N(20), resource.DecimalSI),
		}
		if r.Chance(70) {
			list[gpu] = *resource.NewQuantity(r.Int64N(9), resource.DecimalSI)
		}
		if r.Chance(30) { // more may be used than there is
			used[i] = corev1.ResourceList{
				corev1.ResourceCPU:  *resource.NewMilliQuantity(r.Int64N(8_000), resource.DecimalSI),
				corev1.ResourcePods: *resource.NewQuantity(1+r.Int64N(4), resource.DecimalSI),
				gpu:                 *resource.NewQuantity(r.Int64N(6), resource.DecimalSI),
			}
		}
		nodes = append(nodes, topologyNode(name, levels, append(values, name), list))
	}
	return newTrees(t, levels, nodes, used)
}

func gangRequest(r peer.Random) corev1.ResourceList {
	list := corev1.ResourceList{}
	if r.Chance(70) {
		list[corev1.ResourceCPU] = *resource.NewMilliQuantity(r.Int64N(4000), resource.DecimalSI)
	}
	if r.Chance(40) {
		list[corev1.ResourceMemory] = *resource.NewQuantity(r.Int64N(12)<<30, resource.BinarySI)
	}
	if r.Chance(60) {
		list[gpu] = *resource.NewQuantity(r.Int64N(4), resource.DecimalSI)
	}
	return list
}

// randomGang returns a random gang. Where rules are known to differ, exact is the finest
// level down to which the placements agree nevertheless; -1 for the verdict alone.
func (x *trees) randomGang(t *testing.T, r peer.Random) (g *topologyGang, exact int) {
	var leader corev1.ResourceList
	if r.Chance(15) {
		leader = gangRequest(r)
	}
	last := len(x.levels) - 1
	exact = last
	level := r.IntN(len(x.levels))
	mode := r.IntN(4) // required, preferred, unconstrained, slices alone
	count := 1 + r.IntN(1+r.IntN(1+4*len(x.names)))
	var sizes []int32
	var sliced []string
	if mode == 3 || mode < 2 && r.Chance(40) {
		first := level
		if mode == 3 {
			first = 0
		}
		size := int32(1 + r.IntN(4))
		var at []int
		for l := first + r.IntN(len(x.levels)-first); l < len(x.levels) && len(sizes) < 3; l += 1 + r.IntN(2) {
			at, sliced, sizes = append(at, l), append(sliced, x.levels[l]), append(sizes, size)
			if r.Chance(60) {
				break
			}
		}
		for i := range sizes { // each a multiple of the next
			for range len(sizes) - 1 - i {
				sizes[i] *= 1 + r.Int32N(3)
			}
		}
		for i := len(sizes) - 2; i >= 0; i-- {
			sizes[i] = sizes[i+1] * max(1, sizes[i]/sizes[i+1])
		}
		count = int(sizes[0]) * (1 + count/int(sizes[0]))
		exact = at[0]
	}
	g = x.newGang(t, count, gangRequest(r), leader)
	switch mode {
	case 0:
		g.require(x.levels[level])
	case 1:
		g.prefer(x.levels[level])
	case 2:
		g.unconstrained()
	case 3:
		if g.ours.LeastFree = features.Enabled(features.TASProfileMixed); g.ours.LeastFree {
			exact = -1
		}
	}
	if len(sizes) > 0 {
		g.slice(sliced, sizes)
	}
	if leader != nil {
		exact = -1
	}
	return g, exact
}

// TestTopology compares placements of gangs with Kueue's topology-aware scheduling: the
// verdict of all, and where the rules are the same, the number of pods on every host.
// docs/topology.md says where they are not.
func TestTopology(t *testing.T) {
	for _, mixed := range []bool{false, true} {
		t.Run(fmt.Sprintf("TASProfileMixed=%t", mixed), func(t *testing.T) {
			features.SetFeatureGateDuringTest(t, features.TASProfileMixed, mixed)
			counts := map[string]int{}
			peer.Cases(t, func(r peer.Random) error {
				x := randomTrees(t, r)
				for range 4 {
					if err := x.compare(t, r, counts); err != nil {
						return err
					}
				}
				return nil
			})
			t.Log(counts)
		})
	}
}

// TestTopologyWithoutHosts: where the finest level is not the host, Kueue adds up what the
// hosts of a domain have free. So a gang that fits here fits there, and not always the
// other way round.
func TestTopologyWithoutHosts(t *testing.T) {
	counts := map[string]int{}
	peer.Cases(t, func(r peer.Random) error {
		levels := topologyLevels(4)[:1+r.IntN(3)]
		var nodes []*corev1.Node
		for i := range 1 + r.IntN(12) {
			var values []string
			for range levels {
				values = append(values, fmt.Sprint("d", r.IntN(3)))
			}
			nodes = append(nodes, topologyNode(fmt.Sprint("host-", i), levels, values, corev1.ResourceList{
				corev1.ResourceCPU:  *resource.NewMilliQuantity(r.Int64N(4000), resource.DecimalSI),
				corev1.ResourcePods: *resource.NewQuantity(r.Int64N(10), resource.DecimalSI),
			}))
		}
		x := newTrees(t, levels, nodes, nil)
		g := x.newGang(t, 1+r.IntN(12), corev1.ResourceList{corev1.ResourceCPU: *resource.NewMilliQuantity(r.Int64N(1000), resource.DecimalSI)}, nil)
		level := levels[r.IntN(len(levels))]
		switch r.IntN(3) {
		case 0:
			g.require(level)
		case 1:
			g.prefer(level)
		case 2:
			g.unconstrained()
		}
		want, reason := x.placeTheirs(g)
		got, found := x.placeOurs(t, g)
		counts[fmt.Sprintf("Kueue %t, ours %t", want.fits, got.fits)]++
		if got.fits && !want.fits {
			return fmt.Errorf("Kueue %s, ours %+v\n%+v", reason, found, g.ours)
		}
		return nil
	})
	t.Log(counts)
	if counts["Kueue true, ours false"] == 0 {
		t.Error("no gang fits only where free amounts of several hosts are added up")
	}
}

// compare compares the placements of one gang, and counts what it has looked at.
func (x *trees) compare(t *testing.T, r peer.Random, counts map[string]int) error {
	g, exact := x.randomGang(t, r)
	want, reason := x.placeTheirs(g)
	got, found := x.placeOurs(t, g)
	differ := func(what string, theirs, ours any) error {
		return fmt.Errorf("%s: Kueue %v, ours %v\nlevels %v, %d hosts\nask %+v\nconstraint %+v\nKueue %v %s\nours %+v",
			what, theirs, ours, x.levels, len(x.names), g.ours, g.constraint(), want, reason, found)
	}
	if want.fits != got.fits {
		return differ("fits", want.fits, got.fits)
	}
	if !want.fits {
		counts["refused"]++
		return nil
	}
	counts["fits"]++
	if g.ours.Leader != nil {
		counts["leader"]++
	}
	if exact < 0 {
		return nil
	}
	counts[fmt.Sprintf("equal down to %d of %d", exact+1, len(x.levels))]++
	if theirs, ours := x.perDomain(want.hosts, exact), x.perDomain(got.hosts, exact); !maps.Equal(theirs, ours) {
		return differ("pods by domain of the level "+x.levels[exact], theirs, ours)
	}
	if below := exact + 1; below < len(x.levels) {
		if theirs, ours := len(x.perDomain(want.hosts, below)), len(x.perDomain(got.hosts, below)); ours > theirs {
			return differ("domains of the level "+x.levels[below], theirs, ours)
		}
	}
	return nil
}

// BenchmarkTopology places gangs in blocks of 1,024 hosts and racks of 16.
func BenchmarkTopology(b *testing.B) {
	levels := topologyLevels(3)
	block, rack := levels[0], levels[1]
	inRack := topologyWork{"16 pods in a rack", func(g *topologyGang) { g.require(rack) }, 16, false}
	inBlock := topologyWork{"512 pods in a block", func(g *topologyGang) { g.require(block) }, 512, false}
	first := topologyWork{"512 pods in a block, first in a cycle", inBlock.ask, 512, true}
	all := []topologyWork{
		inRack, inBlock, first,
		{"512 pods, preferring a rack", func(g *topologyGang) { g.prefer(rack) }, 512, false},
		{"512 pods in a block, by 8 in racks", func(g *topologyGang) { g.require(block); g.slice([]string{rack}, []int32{8}) }, 512, false},
		{"512 pods anywhere", func(g *topologyGang) { g.unconstrained() }, 512, false},
	}
	few := []topologyWork{inRack, inBlock}
	for _, size := range []struct {
		hosts int
		text  string
		work  []topologyWork
	}{{1000, "1,000", few}, {5000, "5,000", all}, {50_000, "50,000", few}} {
		if size.hosts > 5000 && testing.Short() {
			continue
		}
		x := largeTrees(b, peer.NewRandom(uint64(size.hosts)), levels, size.hosts)
		for _, work := range size.work {
			b.Run(fmt.Sprintf("hosts=%d/%s", size.hosts, work.name), func(b *testing.B) { x.bench(b, &work, size.text) })
		}
	}
}

// topologyWork is a gang to place.
type topologyWork struct {
	name  string
	ask   func(g *topologyGang)
	pods  int
	first bool // no question about the gang has been asked before in the cycle
}

// bench asks for gangs of different requests. Kueue keeps for a cycle on which hosts the
// pods of a workload may run, so both sides know it, but for the first question.
func (x *trees) bench(b *testing.B, work *topologyWork, hosts string) {
	const questions = 4
	var gangs [questions]*topologyGang
	var options [questions][]scheduler.FindTopologyAssignmentsOption
	for k := range gangs {
		gangs[k] = x.newGang(b, work.pods, corev1.ResourceList{
			corev1.ResourceCPU:    *resource.NewMilliQuantity(int64(1000+100*k), resource.DecimalSI),
			corev1.ResourceMemory: resource.MustParse("4Gi"),
			gpu:                   *resource.NewQuantity(1, resource.DecimalSI),
		}, nil)
		work.ask(gangs[k])
		if !work.first {
			w := &kueue.Workload{ObjectMeta: metav1.ObjectMeta{UID: types.UID(fmt.Sprint("workload-", k))}}
			options[k] = []scheduler.FindTopologyAssignmentsOption{scheduler.WithWorkload(w)}
		}
	}
	ctx := quiet()
	var theirs scheduler.TASAssignmentsResult
	var ours gang.TopologyPlacement
	row := peer.Row{
		Peer: "Kueue", Module: "sigs.k8s.io/kueue", Function: "FindTopologyAssignmentsForFlavor", Ours: "Packer.PlaceTopology",
		Work: fmt.Sprintf("%s, %s hosts", work.name, hosts), Goal: 3, Questions: questions,
		Their: func(k int) { theirs = x.kueue.FindTopologyAssignmentsForFlavor(ctx, gangs[k].theirs, options[k]...) },
		Our: func(k int) {
			var err error
			if ours, err = x.packer.PlaceTopology(ours, x.free, gangs[k].ours, nil, x.topology); err != nil {
				panic(err)
			}
		},
	}
	if work.first {
		row.Remark = "there also labels and taints"
	}
	if len(x.names) == 5000 {
		row.Goal = 100
	}
	level := len(x.levels) - 1
	if gangs[0].ours.Slices != nil {
		level--
		row.Equal = "by rack; not more hosts here"
	}
	row.Same = func(int) error {
		want, reason := placementOf(theirs)
		got := x.placement(ours)
		if !want.fits || !got.fits || len(got.hosts) > len(want.hosts) ||
			!maps.Equal(x.perDomain(want.hosts, level), x.perDomain(got.hosts, level)) {
			return fmt.Errorf("Kueue %v %s, ours %v", want, reason, got)
		}
		return nil
	}
	row.Bench(b)
}

// largeTrees returns a cluster of hosts with up to 8 GPUs free.
func largeTrees(b *testing.B, r peer.Random, levels []string, hosts int) *trees {
	nodes := make([]*corev1.Node, hosts)
	for i := range nodes {
		name := fmt.Sprintf("host-%05d", i)
		values := []string{fmt.Sprintf("block-%02d", i/1024), fmt.Sprintf("rack-%04d", i/16), name}
		nodes[i] = topologyNode(name, levels, values, corev1.ResourceList{
			corev1.ResourceCPU:    *resource.NewMilliQuantity(8000+r.Int64N(56_000), resource.DecimalSI),
			corev1.ResourceMemory: *resource.NewQuantity((32+r.Int64N(224))<<30, resource.BinarySI),
			corev1.ResourcePods:   *resource.NewQuantity(20+r.Int64N(90), resource.DecimalSI),
			gpu:                   *resource.NewQuantity(r.Int64N(9), resource.DecimalSI),
		})
	}
	return newTrees(b, levels, nodes, nil)
}
