package share_test

import (
	"cmp"
	"errors"
	"maps"
	"math/rand/v2"
	"slices"
	"testing"

	gocmp "github.com/google/go-cmp/cmp"
	"github.com/resvec/resvec/device"
	"github.com/resvec/resvec/device/share"
	"github.com/resvec/resvec/internal/testkit"
	"github.com/resvec/resvec/scoring/gpu"
)

// goldenAllocation chooses by the rules, slowly: whatever has to be the best is
// compared with everything else.
type goldenAllocation struct {
	least, most *share.Scorer
	req         share.AllocRequest
	devices     []share.State // of one kind

	// With SeekSamePCIe: how many of the other kind fit, by root, and how many of
	// them the devices must have on their roots.
	onRoot map[string]int64
	need   int64
}

func (g *goldenAllocation) fits(d *share.State) bool {
	anyTotal, anyFree, fits := false, false, true
	for _, x := range d.Total {
		anyTotal = anyTotal || x != 0
	}
	for _, x := range d.Free {
		anyFree = anyFree || x != 0
	}
	for name, x := range g.req.PerInstance {
		fits = fits && (x == 0 || d.Free[name] >= x)
	}
	required := len(g.req.Required) == 0 || slices.Contains(g.req.Required, d.Minor)
	seen := g.onRoot == nil || d.PCIeRoot != "" && g.onRoot[d.PCIeRoot] > 0
	return seen && required && d.Health != device.Unhealthy && anyTotal && anyFree && fits
}

func (g *goldenAllocation) score(s *share.Scorer, d *share.State) int64 {
	return testkit.Must(s.ScoreDevice(g.req.PerInstance, d.Total, d.Free))
}

// fragments is Frag of a device by its definition.
func (g *goldenAllocation) fragments(free int64) int64 {
	sum := int64(0)
	for _, m := range g.req.Mix {
		if float64(10*free) < m.Milli {
			sum += m.Pods * free
		}
	}
	return sum
}

func (g *goldenAllocation) change(d *share.State) int64 {
	free := d.Free[share.GPUMemoryRatio]
	return g.fragments(free-g.req.PerInstance[share.GPUMemoryRatio]) - g.fragments(free)
}

// before reports whether a is taken before b.
func (g *goldenAllocation) before(a, b *share.State) bool {
	pa, pb := slices.Contains(g.req.Preferred, a.Minor), slices.Contains(g.req.Preferred, b.Minor)
	if pa != pb {
		return pa
	}
	s := g.least
	if g.req.Policy == share.LeastFragmentation {
		if x, y := g.change(a), g.change(b); x != y {
			return x < y
		}
		s = g.most
	}
	if x, y := g.score(s, a), g.score(s, b); x != y {
		return x > y
	}
	return a.Minor < b.Minor
}

// goldenPart is a part of the node with the devices that it has.
type goldenPart struct {
	depth   share.Scope
	numa    int32
	root    string
	members []*share.State
}

// parts are all that an allocation may be taken from.
func (g *goldenAllocation) parts() []goldenPart {
	node := goldenPart{numa: -1}
	numas, roots := map[int32]goldenPart{}, map[[2]any]goldenPart{}
	for i := range g.devices {
		d := &g.devices[i]
		node.members = append(node.members, d)
		if d.NUMANode >= 0 {
			p := numas[d.NUMANode]
			numas[d.NUMANode] = goldenPart{share.ScopeNUMA, d.NUMANode, "", append(p.members, d)}
		}
		if d.PCIeRoot != "" {
			key := [2]any{d.NUMANode, d.PCIeRoot}
			roots[key] = goldenPart{share.ScopePCIe, d.NUMANode, d.PCIeRoot, append(roots[key].members, d)}
		}
	}
	all := append([]goldenPart{node}, slices.Collect(maps.Values(numas))...)
	all = append(all, slices.Collect(maps.Values(roots))...)
	if g.req.Policy != share.PackTopology && g.req.Scope == share.ScopeNode {
		return all[:1]
	}
	return slices.DeleteFunc(all, func(p goldenPart) bool { return p.depth < g.req.Scope })
}

func (g *goldenAllocation) fitting(p *goldenPart) []*share.State {
	return slices.DeleteFunc(slices.Clone(p.members), func(d *share.State) bool { return !g.fits(d) })
}

// usedLevels counts which of the node, the NUMA node and the PCIe root of a part
// have a used device.
func (g *goldenAllocation) usedLevels(p *goldenPart) int {
	var node, numa, root bool
	for i := range g.devices {
		d := &g.devices[i]
		used := false
		for name, x := range d.Total {
			used = used || x != 0 && d.Free[name] != x
		}
		node = node || used
		numa = numa || used && p.depth >= share.ScopeNUMA && p.numa >= 0 && d.NUMANode == p.numa
		root = root || used && p.depth == share.ScopePCIe && d.NUMANode == p.numa && d.PCIeRoot == p.root
	}
	return map[bool]int{true: 1}[node] + map[bool]int{true: 1}[numa] + map[bool]int{true: 1}[root]
}

func (g *goldenAllocation) bestScore(p *goldenPart) int64 {
	s, best := g.least, int64(-1)
	if g.req.Policy == share.LeastFragmentation {
		s = g.most
	}
	for _, d := range g.fitting(p) {
		best = max(best, g.score(s, d))
	}
	return best
}

// partial reports whether an instance is a part of a GPU.
func (g *goldenAllocation) partial() bool {
	return g.req.Kind == device.KindGPU && g.req.PerInstance[share.GPUMemoryRatio] < 100
}

func (g *goldenAllocation) better(a, b *goldenPart) bool {
	switch x, y := g.usedLevels(a), g.usedLevels(b); {
	case a.depth != b.depth:
		return a.depth > b.depth
	case x != y:
		return x > y
	}
	if x, y := g.bestScore(a), g.bestScore(b); g.partial() && x != y {
		return x > y
	}
	return cmp.Or(cmp.Compare(a.numa, b.numa), cmp.Compare(a.root, b.root)) < 0
}

// enoughNeighbors reports whether devices have the neighbors that they need, and
// how many they have at most.
func (g *goldenAllocation) enoughNeighbors(devices []*share.State) (bool, int64) {
	roots, sum := map[string]bool{}, int64(0)
	for _, d := range devices {
		if !roots[d.PCIeRoot] {
			roots[d.PCIeRoot] = true
			sum += g.onRoot[d.PCIeRoot]
		}
	}
	return sum >= g.need, min(sum, g.need)
}

// firstChoice tries all choices out of devices, which are in order. most is the
// largest number of neighbors of one.
func (g *goldenAllocation) firstChoice(taken, left []*share.State) (choice []*share.State, most int64) {
	if int64(len(taken)) == g.req.Count {
		ok, n := g.enoughNeighbors(taken)
		if ok {
			return taken, n
		}
		return nil, n
	}
	for i, d := range left {
		choice, n := g.firstChoice(append(taken[:len(taken):len(taken)], d), left[i+1:])
		if most = max(most, n); choice != nil {
			return choice, n
		}
	}
	return nil, most
}

// takeWithNeighbors is take with neighbors. short says that only they are too few, got
// of them.
func (g *goldenAllocation) takeWithNeighbors() (minors []int32, got int64, short bool) {
	var best *goldenPart
	parts := g.parts()
	choices := map[*goldenPart][]*share.State{}
	most := int64(0)
	for i := range parts {
		p := &parts[i]
		fitting := g.fitting(p)
		slices.SortFunc(fitting, func(a, b *share.State) int { return map[bool]int{true: -1, false: 1}[g.before(a, b)] })
		n := int64(len(fitting))
		got = max(got, n)
		if n < g.req.Count {
			continue
		}
		choice, reached := g.firstChoice(nil, fitting)
		short, most = true, max(most, reached)
		if choices[p] = choice; choice != nil && (best == nil || g.better(p, best)) {
			best = p
		}
	}
	if best == nil {
		if short {
			got = most
		}
		return nil, got, short
	}
	for _, d := range choices[best] {
		minors = append(minors, d.Minor)
	}
	return minors, 0, false
}

// take returns the minors in the order in which they are taken, or how many
// there would be.
func (g *goldenAllocation) take() (minors []int32, got int64) {
	minors = []int32{}
	if g.req.Count == 0 {
		return minors, 0
	}
	var best *goldenPart
	parts := g.parts()
	for i := range parts {
		p := &parts[i]
		n := int64(len(g.fitting(p)))
		got = max(got, n)
		if n >= g.req.Count && (best == nil || g.better(p, best)) {
			best = p
		}
	}
	if best == nil {
		return nil, got
	}
	left := g.fitting(best)
	for range g.req.Count {
		k := 0
		for i := range left {
			if g.before(left[i], left[k]) {
				k = i
			}
		}
		minors = append(minors, left[k].Minor)
		left = slices.Delete(left, k, k+1)
	}
	return minors, g.req.Count
}

// goldenNear chooses the second kind for the PCIe roots of the first one, round
// by round. violated is for RequireSamePCIe.
func (g *goldenAllocation) partnersOn(roots map[string]bool, required bool) (minors []int32, got int64, violated bool) {
	known := maps.Clone(roots)
	delete(known, "")
	groups, rest := map[string][]*share.State{}, []*share.State{}
	all := []*share.State{}
	for i := range g.devices {
		if d := &g.devices[i]; g.fits(d) {
			all = append(all, d)
		}
	}
	order := func(list []*share.State) {
		slices.SortFunc(list, func(a, b *share.State) int { return map[bool]int{true: -1, false: 1}[g.before(a, b)] })
	}
	order(all)
	for _, d := range all {
		if known[d.PCIeRoot] {
			groups[d.PCIeRoot] = append(groups[d.PCIeRoot], d)
		} else {
			rest = append(rest, d)
		}
	}
	line := []*share.State{}
	for len(groups) > 0 {
		round := []*share.State{}
		for root, group := range groups {
			round = append(round, group[0])
			if groups[root] = group[1:]; len(group) == 1 {
				delete(groups, root)
			}
		}
		order(round)
		line = append(line, round...)
	}
	line = append(line, rest...)

	want := g.req.Count
	if required {
		want = max(want, int64(len(known)))
	}
	if int64(len(line)) < want {
		return nil, int64(len(line)), false
	}
	own := map[string]bool{}
	for i, d := range line {
		if int64(i) < want || i < len(known) && known[d.PCIeRoot] {
			minors = append(minors, d.Minor)
			own[d.PCIeRoot] = true
		}
	}
	return minors, want, required && (roots[""] || !maps.Equal(own, roots))
}

// fuzzNode makes a node and two requests from bytes; missing ones are 0.
type fuzzNode []byte

func (f *fuzzNode) below(n int) int {
	if len(*f) == 0 {
		return 0
	}
	b := (*f)[0]
	*f = (*f)[1:]
	return int(b) % n
}

func (f *fuzzNode) minors(most int) (list []int32) {
	for range f.below(4) {
		list = append(list, int32(f.below(most)))
	}
	return list
}

func (f *fuzzNode) devices() []share.State {
	list := make([]share.State, f.below(13))
	seen := map[string]int32{}
	for i := range list {
		d := &list[i]
		free := []int64{100, 0, 50, 30, 70, 120, -10, 60}[f.below(8)]
		if d.Kind = []string{device.KindGPU, device.KindRDMA}[f.below(2)]; d.Kind == device.KindGPU {
			d.Total, d.Free = allocAmounts(100), allocAmounts(free)
		} else {
			d.Total, d.Free = share.Amounts{share.RDMA: 100}, share.Amounts{share.RDMA: free}
		}
		d.Minor = seen[d.Kind]
		seen[d.Kind]++
		d.NUMANode = int32(f.below(3)) - 1
		d.PCIeRoot = []string{"", "a", "b", "c"}[f.below(4)]
		switch f.below(8) {
		case 0:
			d.Health = device.Healthy
		case 1:
			d.Health = device.Unhealthy
		case 2:
			d.Total = share.Amounts{}
		case 3:
			d.Minor = int32(f.below(4)) // maybe twice
		}
	}
	return list
}

func (f *fuzzNode) request(kind string) share.AllocRequest {
	ratio := []int64{100, 50, 30, 0, 70}[f.below(5)]
	r := share.AllocRequest{Requirement: share.Requirement{Kind: kind, Count: int64(f.below(5))}, Preferred: f.minors(6), Policy: share.Policy(f.below(3)), Scope: share.Scope(f.below(3))}
	r.PerInstance = share.Amounts{share.RDMA: ratio}
	if kind == device.KindGPU {
		r.PerInstance = share.Amounts{share.GPUCore: ratio, share.GPUMemoryRatio: ratio}
	}
	if f.below(4) == 0 {
		r.Required = f.minors(6)
	}
	for range f.below(4) {
		r.Mix = append(r.Mix, gpu.TypicalPod{Count: 1 + f.below(2), Milli: float64(1 + f.below(1000)), Pods: int64(1 + f.below(4))})
	}
	return r
}

func ofKind(devices []share.State, kind string) []share.State {
	return slices.DeleteFunc(slices.Clone(devices), func(d share.State) bool { return d.Kind != kind })
}

func hasDuplicates(devices []share.State) bool {
	type key struct {
		kind  string
		minor int32
	}
	seen := map[key]bool{}
	for _, d := range devices {
		seen[key{d.Kind, d.Minor}] = true
	}
	return len(seen) < len(devices)
}

func checkRefusal(t *testing.T, err error, want, got int64, devices int) {
	t.Helper()
	var refusal *share.NotEnoughError
	if !errors.As(err, &refusal) || refusal.Want != want || refusal.Got != got {
		t.Fatalf("error %v, want a refusal of %d with %d", err, want, got)
	}
	other := int64(0)
	insufficient := map[bool]int64{}
	for _, r := range refusal.Reasons {
		if r.Cause == share.CauseInsufficient {
			insufficient[true] = max(insufficient[true], r.Devices)
			insufficient[false] += r.Devices
		} else {
			other += r.Devices
		}
	}
	if rest := int64(devices) - got - other; rest < insufficient[true] || rest > insufficient[false] {
		t.Fatalf("reasons %v don't account for %d devices of which %d fit", refusal.Reasons, devices, got)
	}
}

func FuzzAllocate(f *testing.F) {
	r := rand.New(rand.NewPCG(1, 2))
	for range 300 {
		seed := make([]byte, 100)
		for i := range seed {
			seed[i] = byte(r.Uint32())
		}
		f.Add(seed)
	}
	least, most := allocScorer(f, share.LeastAllocated, true), allocScorer(f, share.MostAllocated, true)
	f.Fuzz(func(t *testing.T, data []byte) {
		fuzz := fuzzNode(data)
		primary, secondary := fuzz.request(device.KindGPU), fuzz.request(device.KindRDMA)
		joint := share.Joint(fuzz.below(3))
		devices := fuzz.devices()
		kept := slices.Clone(devices)
		gpus, nics := ofKind(devices, device.KindGPU), ofKind(devices, device.KindRDMA)

		a, err := allocate(least, primary, devices)
		first, second, errJoint := allocateJoint(least, primary, secondary, devices, joint)
		explained, errExplain := explainAllocation(least, primary, devices)
		if hasDuplicates(devices) {
			if err == nil || errJoint == nil || errExplain == nil {
				t.Fatal("a minor twice is no error")
			}
			return
		}
		g := goldenAllocation{least: least, most: most, req: primary, devices: gpus}
		taken, got := g.take()
		if taken == nil {
			checkRefusal(t, err, primary.Count, got, len(gpus))
			checkRefusal(t, errJoint, primary.Count, got, len(gpus))
			if errExplain != nil || explained.Refusal == nil {
				t.Fatal("the explanation has no refusal")
			}
			return
		}
		checkAllocation(t, a, err, &g, taken)
		checkExplanation(t, &explained, errExplain, taken, len(gpus))
		if diff := gocmp.Diff(kept, devices); diff != "" {
			t.Fatalf("devices changed: %s", diff)
		}
		checkRoundTrip(t, a, devices)

		roots := map[string]bool{}
		for _, d := range gpus {
			if slices.Contains(taken, d.Minor) {
				roots[d.PCIeRoot] = true
			}
		}
		secondary.Policy, secondary.Scope = share.ByScore, share.ScopeNode
		h := goldenAllocation{least: least, most: most, req: secondary, devices: nics}
		partners, got, violated := []int32{}, int64(0), false
		if secondary.Count > 0 {
			if joint == share.SeekSamePCIe && primary.Count > 0 {
				checkSeek(t, &g, &h, first, second, errJoint)
				return
			}
			partners, got, violated = h.partnersOn(roots, joint == share.RequireSamePCIe && primary.Count > 0)
		}
		switch {
		case partners == nil:
			want := secondary.Count
			if joint == share.RequireSamePCIe {
				delete(roots, "")
				want = max(want, int64(len(roots)))
			}
			checkRefusal(t, errJoint, want, got, len(nics))
		case violated:
			if !errors.Is(errJoint, share.ErrJointViolation) || first.Devices != nil || second.Devices != nil {
				t.Fatalf("error %v, want a violation", errJoint)
			}
		default:
			checkAllocation(t, first, errJoint, &g, taken)
			checkAllocation(t, second, errJoint, &h, partners)
		}
	})
}

// checkSeek checks both kinds with SeekSamePCIe, where each alone has enough
// devices of the first kind.
func checkSeek(t *testing.T, g, h *goldenAllocation, first, second share.Allocation, err error) {
	t.Helper()
	fitting := h.fitting(&h.parts()[0])
	if got := int64(len(fitting)); got < h.req.Count {
		checkRefusal(t, err, h.req.Count, got, len(h.devices))
		return
	}
	g.onRoot, g.need = map[string]int64{}, h.req.Count
	for _, d := range fitting {
		if d.PCIeRoot != "" {
			g.onRoot[d.PCIeRoot]++
		}
	}
	taken, got, short := g.takeWithNeighbors()
	switch {
	case short && taken == nil:
		checkRefusal(t, err, h.req.Count, got, len(h.devices))
		return
	case taken == nil:
		checkRefusal(t, err, g.req.Count, got, len(g.devices))
		return
	}
	roots := map[string]bool{}
	for _, d := range g.devices {
		if slices.Contains(taken, d.Minor) {
			roots[d.PCIeRoot] = true
		}
	}
	partners, _, violated := h.partnersOn(roots, true)
	if partners == nil || violated {
		t.Fatalf("no neighbors of %v after all: %v", taken, partners)
	}
	checkAllocation(t, first, err, g, taken)
	checkAllocation(t, second, err, h, partners)
	checkRoundTrips(t, []share.Allocation{first, second}, slices.Concat(g.devices, h.devices))
}

// checkRoundTrips checks that all or nothing is committed, and comes back.
func checkRoundTrips(t *testing.T, all []share.Allocation, devices []share.State) {
	t.Helper()
	node := slices.Clone(devices)
	testkit.Check(commit(node, all...))
	one := slices.Clone(devices)
	for _, a := range all {
		testkit.Check(commit(one, a))
	}
	if diff := gocmp.Diff(one, node); diff != "" {
		t.Fatalf("one by one and together: %s", diff)
	}
	kept := slices.Clone(node)
	if release(node, all...) != nil { // more than all was free
		if diff := gocmp.Diff(kept, node); diff != "" {
			t.Fatalf("refused, but changed: %s", diff)
		}
		return
	}
	if diff := gocmp.Diff(devices, node); diff != "" {
		t.Fatal(diff)
	}
}

// checkAllocation checks minors and amounts.
func checkAllocation(t *testing.T, a share.Allocation, err error, g *goldenAllocation, taken []int32) {
	t.Helper()
	want := share.Allocation{Kind: g.req.Kind, Devices: []share.Allocated{}}
	amounts := share.Amounts{}
	for name, x := range g.req.PerInstance {
		if x != 0 {
			amounts[name] = x
		}
	}
	for _, m := range slices.Sorted(slices.Values(taken)) {
		want.Devices = append(want.Devices, share.Allocated{Minor: m, Amounts: amounts})
	}
	if diff := gocmp.Diff(want, a); err != nil || diff != "" {
		t.Fatalf("error %v, %s\n%+v\n%+v", err, diff, g.req, g.devices)
	}
}

// checkExplanation checks that it lists every device once, and the taken ones
// first and in order.
func checkExplanation(t *testing.T, e *share.AllocationExplanation, err error, taken []int32, devices int) {
	t.Helper()
	if err != nil || e.Refusal != nil || len(e.Devices) != devices {
		t.Fatalf("explanation %v, error %v", e, err)
	}
	for i, d := range e.Devices {
		if d.Chosen != (i < len(taken)) || d.Chosen && (d.Minor != taken[i] || d.Reasons != nil) {
			t.Fatalf("taken %v, explained as\n%v", taken, e)
		}
	}
}

// checkRoundTrip checks that what is committed was free, and comes back.
func checkRoundTrip(t *testing.T, a share.Allocation, devices []share.State) {
	t.Helper()
	node := slices.Clone(devices)
	testkit.Check(commit(node, a))
	for i := range node {
		chosen := node[i].Kind == a.Kind && slices.Contains(a.Minors(), node[i].Minor)
		for name, free := range node[i].Free {
			if taken := devices[i].Free[name] - free; taken != 0 && (!chosen || taken < 0 || free < 0) {
				t.Fatalf("%v of %v: %d taken", share.Resource(name), devices[i], taken)
			}
		}
	}
	if release(node, a) != nil {
		for i := range devices { // more than all was free
			if f := devices[i].Free; f[share.GPUCore] > 100 {
				return
			}
		}
		t.Fatal("can't be released")
	}
	if diff := gocmp.Diff(devices, node); diff != "" {
		t.Fatal(diff)
	}
}
