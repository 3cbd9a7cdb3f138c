package gang

import (
	"cmp"
	"slices"

	"github.com/resvec/resvec/vector"
)

// gang is a requests matrix prepared for packing: what is requested, which
// members are alike and in which order they are placed. It is scratch that a
// Packer fills for every call.
type gang struct {
	members int
	cols    int
	amounts []float64     // cols per member: the request, with 0 for what is not requested
	kind    []int32       // per member: its kind; members of a kind request the same
	first   []int32       // per kind: its first member; ascending
	count   []int64       // per kind: its members
	kinds   vector.Matrix // one row per kind
	order   []int32       // members in the order of placing
	sizes   []float64     // per member
	sized   bool          // sizes say something
	leading leading       // of a gang that has a leader

	keys   []float64 // per member, while sorting
	sorted []int32   // members or kinds, while sorting
}

// request returns what member i requests.
func (g *gang) request(i int32) vector.ResourceVector {
	return g.amounts[int(i)*g.cols:][:g.cols:g.cols]
}

// requestOfKind returns what the members of kind k request.
func (g *gang) requestOfKind(k int) vector.ResourceVector { return g.request(g.first[k]) }

// identical reports whether all members request the same.
func (g *gang) identical() bool { return len(g.first) <= 1 }

// take reads requests.
func (g *gang) take(requests *vector.Matrix) {
	g.members, g.cols = requests.Rows(), requests.Cols()
	g.amounts = resized(g.amounts, g.members*g.cols)
	for j := range g.cols {
		for i, x := range requests.Column(j) {
			if x <= 0 { // a NaN stays, and fits nowhere
				x = 0
			}
			g.amounts[i*g.cols+j] = x
		}
	}
	if g.findKinds(); g.hasLeader() {
		g.leading.take(g)
	}
}

// findKinds numbers the kinds in the order of their first members. Most questions are asked
// once for each kind, and gangs have few kinds. Equal requests meet by sorting: amounts make
// poor keys of a map, where a NaN would be found by nobody.
func (g *gang) findKinds() {
	head := resized(g.kind, g.members) // first the member that stands for the kind, then the kind
	g.kind = head
	g.sortMembers(func(a, b int32) int { return slices.Compare(g.request(a), g.request(b)) })
	for at, i := range g.sorted {
		head[i] = i
		if at > 0 {
			if before := g.sorted[at-1]; slices.Compare(g.request(before), g.request(i)) == 0 {
				head[i] = head[before]
			}
		}
	}
	// A member that stands for its kind comes before the others, so their kind has a number then.
	g.first, g.count = g.first[:0], g.count[:0]
	for i := range head {
		if int(head[i]) == i {
			head[i] = int32(len(g.first))
			g.first = append(g.first, int32(i))
			g.count = append(g.count, 0)
		} else {
			head[i] = head[head[i]]
		}
		g.count[head[i]]++
	}
	g.kinds.Reset(vector.Schema{}, len(g.first), g.cols)
	for k := range g.first {
		g.kinds.SetRow(k, g.requestOfKind(k))
	}
}

// sortMembers sorts all members into g.sorted, equal ones by index, so that equal inputs
// give equal orders. Members that are all equal, as in most gangs, take one comparison each.
func (g *gang) sortMembers(compare func(a, b int32) int) {
	g.sorted = resized(g.sorted, g.members)
	for i := range g.sorted {
		g.sorted[i] = int32(i)
	}
	slices.SortFunc(g.sorted, func(a, b int32) int {
		if c := compare(a, b); c != 0 {
			return c
		}
		return cmp.Compare(a, b)
	})
}

// arrange sets the sizes, over a total, and the order of placing.
func (g *gang) arrange(total vector.ResourceVector, byDominantShare bool) {
	g.sizes = resized(g.sizes, g.members)
	g.sized = false
	for i := range g.sizes {
		if request := g.request(int32(i)); byDominantShare {
			g.sizes[i] = request.DominantResource(total)
		} else {
			g.sizes[i] = request.NormalizedSum(total)
		}
		g.sized = g.sized || g.sizes[i] > 0
	}
	g.sortMembers(func(a, b int32) int { return cmp.Compare(g.sizes[b], g.sizes[a]) })
	g.order = append(g.order[:0], g.sorted...)
}

// reordered returns another order of placing, valid until the next. The factor of a member
// depends on nothing that was asked before, so that a restart can be repeated.
func (g *gang) reordered(seed uint64, restart int) []int32 {
	outer := vector.TieSeeded(seed)
	random := vector.TieSeeded(outer.Key(restart, 0))
	g.keys = resized(g.keys, g.members)
	for i, size := range g.sizes {
		unit := float64(random.Key(i, g.members)>>11) / (1 << 53)
		g.keys[i] = size * (1 + float64(0.4*unit)) // float64: no fused operation, the same bits everywhere
	}
	g.sortMembers(func(a, b int32) int { return cmp.Compare(g.keys[b], g.keys[a]) })
	return g.sorted
}
