// Package yunikorn compares this library with the resources and the queues of Apache
// YuniKorn.
package yunikorn

import (
	"fmt"
	"math"
	"testing"

	"github.com/apache/yunikorn-core/pkg/common/resources"

	"github.com/resvec/resvec/benchmarks/internal/peer"
	"github.com/resvec/resvec/scoring"
	"github.com/resvec/resvec/vector"
	"github.com/resvec/resvec/vectormap"
)

var yunikorn = peer.Row{Peer: "YuniKorn", Module: "github.com/apache/yunikorn-core"}

// names are resources of YuniKorn, whose amounts are integers of any unit.
var names = []string{"vcore", "memory", "ephemeral-storage", "pods", "nvidia.com/gpu", "example.com/licence"}

// amounts is one entity's resources on both sides. What their resource does not define
// is 0 here.
type amounts struct {
	their  *resources.Resource
	vector vector.ResourceVector
}

// draw returns amounts of some of the names: each is there so many times in a hundred,
// and negative so many times. Nothing at all is nil at times.
func draw(r peer.Random, there, negative int) amounts {
	a := amounts{resources.NewResource(), make(vector.ResourceVector, len(names))}
	for i, name := range names {
		if !r.Chance(there) {
			continue
		}
		x := r.Amount()
		if r.Chance(negative) {
			x = -x
		}
		a.their.Resources[name], a.vector[i] = resources.Quantity(x), float64(x)
	}
	if len(a.their.Resources) == 0 && r.Chance(50) {
		a.their = nil
	}
	return a
}

// undefined returns the vector with something else where the resource isn't defined.
func (a amounts) undefined(x float64) vector.ResourceVector {
	v := a.vector.Clone()
	for i, name := range names {
		if a.their == nil {
			v[i] = x
		} else if _, ok := a.their.Resources[name]; !ok {
			v[i] = x
		}
	}
	return v
}

// TestFit: FitIn is the rule of FitsIn, and FitInMaxUndef the same rule with +Inf where
// nothing is defined.
func TestFit(t *testing.T) {
	peer.Cases(t, func(r peer.Random) error {
		free, request := draw(r, 80, 10), draw(r, 60, 10)
		if r.Chance(30) { // exactly so much, or nearly
			for i, name := range names {
				if request.their != nil && request.their.Resources[name] != 0 && free.their != nil {
					x := max(int64(request.vector[i])+r.Int64N(2), 0)
					free.their.Resources[name], free.vector[i] = resources.Quantity(x), float64(x)
				}
			}
		}
		if their, our := free.their.FitIn(request.their), request.vector.FitsIn(free.vector); their != our {
			return fmt.Errorf("%v.FitIn(%v): %v, FitsIn %v", free.their, request.their, their, our)
		}
		if their, our := free.their.FitInMaxUndef(request.their), request.vector.FitsIn(free.undefined(math.Inf(1))); their != our {
			return fmt.Errorf("%v.FitInMaxUndef(%v): %v, FitsIn %v", free.their, request.their, their, our)
		}
		return nil
	})
}

// newMap returns a map with an index for each name, in their order after the core ones.
func newMap(t testing.TB) (m *vectormap.ResourceVectorMap, index []int) {
	t.Helper()
	literal := make([]string, len(names))
	for i, name := range names {
		literal[i] = "yunikorn/" + name
	}
	m, err := vectormap.New(nil, vectormap.Literal(vectormap.UnitWhole, literal...))
	if err != nil {
		t.Fatal(err)
	}
	for _, name := range literal {
		i, ok := m.Index(name)
		if !ok {
			t.Fatalf("the map has no %s", name)
		}
		index = append(index, i)
	}
	return m, index
}

// TestShares: the greatest of GetShares is the share of a DRF with ZeroFactor 1, and
// among the resources that there is a total of, the one of DominantResource. FairnessRatio
// is the quotient of two of them. DominantResourceType has the greatest share, too.
func TestShares(t *testing.T) {
	m, index := newMap(t)
	weights := map[string]float64{}
	for _, i := range index {
		weights[m.Name(i)] = 1
	}
	drf, err := scoring.CompileDRF(scoring.DRFConfig{Weights: weights, ZeroFactor: 1}, m)
	if err != nil {
		t.Fatal(err)
	}
	wide := func(v vector.ResourceVector) vector.ResourceVector {
		w := m.NewVector()
		for i, x := range v {
			w[index[i]] = x
		}
		return w
	}
	peer.Cases(t, func(r peer.Random) error {
		left, right, total := draw(r, 60, 0), draw(r, 60, 0), draw(r, 85, 0)
		var shares [2]float64
		for i, used := range []amounts{left, right} {
			their := 0.0
			if all := resources.GetShares(used.their, total.their); len(all) > 0 {
				their = all[len(all)-1]
			}
			our, err := drf.Score(nil, wide(used.vector), wide(total.vector))
			if err != nil {
				return err
			}
			shares[i] = our
			if their != our {
				return fmt.Errorf("GetShares(%v, %v): %v, DRF %v", used.their, total.their, their, our)
			}
			// A resource without a total has no share here.
			their = 0
			for name, share := range resources.GetSharesTypeWise(used.their, total.their) {
				if total.their != nil && total.their.Resources[name] > 0 {
					their = max(their, share)
				}
			}
			our, at := used.vector.DominantResourceIndex(total.vector)
			if their != our {
				return fmt.Errorf("GetSharesTypeWise(%v, %v): %v, DominantResource %v", used.their, total.their, their, our)
			}
			if err := sameType(used, total, our, at); err != nil {
				return err
			}
		}
		our := shares[0] / shares[1]
		if math.IsNaN(our) { // 0/0: both have nothing
			our = 1
		}
		if their := resources.FairnessRatio(left.their, right.their, total.their); their != our {
			return fmt.Errorf("FairnessRatio(%v, %v, %v): %v, DRF %v", left.their, right.their, total.their, their, our)
		}
		return nil
	})
}

// sameType compares DominantResourceType where it is well defined: of equal shares it
// takes the one that comes last in a walk over a map, and what has a total of 0 and is
// used counts as a share of 1.
func sameType(used, total amounts, share float64, at int) error {
	name := used.their.DominantResourceType(total.their)
	if name == "" || share == 0 {
		return nil
	}
	for i, n := range names {
		if used.vector[i] > 0 && total.vector[i] == 0 {
			return nil
		}
		if n == name {
			if x := used.vector[i] / total.vector[i]; x != share {
				return fmt.Errorf("%v.DominantResourceType(%v): %s with %v, DominantResourceIndex %d with %v", used.their, total.their, name, x, at, share)
			}
		}
	}
	return nil
}

// nodes are the amounts of many entities on both sides.
type nodes struct {
	their  []*resources.Resource
	matrix *vector.Matrix
}

// newNodes returns many entities with most of the names each, that have up to so many
// units of each.
func newNodes(r peer.Random, count, least, most int) nodes {
	schema := make([]vector.SchemaColumn, len(names))
	for j, name := range names {
		schema[j] = vector.SchemaColumn{Name: name, Integral: true}
	}
	n := nodes{matrix: vector.NewMatrix(vector.NewSchema(schema), count, len(names))}
	for i := range count {
		their, row := resources.NewResource(), make(vector.ResourceVector, len(names))
		for j, name := range names {
			if j < 4 || r.Chance(50) {
				x := unit[j] * int64(least+r.IntN(most-least+1))
				their.Resources[name], row[j] = resources.Quantity(x), float64(x)
			}
		}
		n.their = append(n.their, their)
		n.matrix.SetRow(i, row)
	}
	return n
}

// unit is what amounts of the names are multiples of: a core, 4 GiB and so on.
var unit = []int64{1000, 4 << 30, 1 << 30, 1, 1, 1}

// BenchmarkResources: 5,000 nodes of 4 to 6 resources, and the question about one pod.
func BenchmarkResources(b *testing.B) {
	const count, questions = 5000, 16
	r := peer.NewRandom(1)
	free := newNodes(r, count, 0, 16)
	requests := newNodes(r, questions, 1, 3) // 4 to 6 resources, seven of ten nodes are refused
	undefined := vector.NewMatrix(free.matrix.Schema(), count, len(names))
	for i, their := range free.their {
		undefined.SetRow(i, amounts{their, free.matrix.Row(nil, i)}.undefined(math.Inf(1)))
	}
	request := make([]vector.ResourceVector, questions)
	for k := range request {
		request[k] = requests.matrix.Row(nil, k)
	}
	total, totals := resources.NewResource(), make(vector.ResourceVector, len(names))
	for j, name := range names {
		x := unit[j] * 16 * count
		total.Resources[name], totals[j] = resources.Quantity(x), float64(x)
	}

	their, our := vector.NewMask(count), vector.NewMask(count)
	sameMask := func(int) error {
		if !their.Equal(our) {
			return fmt.Errorf("%d nodes fit here, %d there", our.Count(), their.Count())
		}
		return nil
	}
	set := func(i int, fits bool) {
		if fits {
			their.Set(i)
		} else {
			their.Clear(i)
		}
	}
	fit := yunikorn
	fit.Function, fit.Ours, fit.Work, fit.Questions, fit.Goal = "Resource.FitIn", "Fit", "a pod, 5,000 nodes, 4 to 6 resources", questions, 50
	fit.Their = func(k int) {
		for i, node := range free.their {
			set(i, node.FitIn(requests.their[k]))
		}
	}
	fit.Our = func(k int) { vector.Fit(our, free.matrix, request[k]) }
	fit.Same = sameMask
	b.Run("FitIn", fit.Bench)

	fit.Function, fit.Remark = "Resource.FitInMaxUndef", "an undefined amount is +Inf here"
	fit.Their = func(k int) {
		for i, node := range free.their {
			set(i, node.FitInMaxUndef(requests.their[k]))
		}
	}
	fit.Our = func(k int) { vector.Fit(our, undefined, request[k]) }
	b.Run("FitInMaxUndef", fit.Bench)

	// A question is another total: a part of the cluster's.
	theirTotals, ourTotals := make([]*resources.Resource, questions), make([]vector.ResourceVector, questions)
	for k := range questions {
		theirTotals[k], ourTotals[k] = resources.Multiply(total, int64(k+1)), totals.Clone()
		for j := range ourTotals[k] {
			ourTotals[k][j] *= float64(k + 1)
		}
	}
	theirs, ours := make([]float64, count), make([]float64, count)
	sameShares := func(int) error {
		for i := range theirs {
			if theirs[i] != ours[i] {
				return fmt.Errorf("row %d: %v here, %v there", i, ours[i], theirs[i])
			}
		}
		return nil
	}
	shares := yunikorn
	shares.Function, shares.Ours, shares.Work, shares.Questions, shares.Goal = "GetShares", "DominantResource", "5,000 queues, 4 to 6 resources", questions, 3
	shares.Remark = "there all shares, sorted"
	shares.Their = func(k int) {
		for i, used := range free.their {
			theirs[i] = 0
			if all := resources.GetShares(used, theirTotals[k]); len(all) > 0 {
				theirs[i] = all[len(all)-1]
			}
		}
	}
	shares.Our = func(k int) { vector.DominantResource(ours, free.matrix, ourTotals[k]) }
	shares.Same = sameShares
	b.Run("GetShares", shares.Bench)

	shares.Function, shares.Work, shares.Remark = "FairnessRatio", "5,000 queues against one", "here the one's share only once"
	shares.Their = func(k int) {
		for i, used := range free.their {
			theirs[i] = resources.FairnessRatio(used, requests.their[k], theirTotals[k])
		}
	}
	shares.Our = func(k int) {
		vector.DominantResource(ours, free.matrix, ourTotals[k])
		one := request[k].DominantResource(ourTotals[k])
		for i := range ours {
			ours[i] /= one
		}
	}
	b.Run("FairnessRatio", shares.Bench)

	rows := make([]vector.ResourceVector, count)
	for i := range rows {
		rows[i] = free.matrix.Row(nil, i)
	}
	theirTypes, ourTypes := make([]string, count), make([]int, count)
	kinds := yunikorn
	kinds.Function, kinds.Ours, kinds.Work, kinds.Questions, kinds.Goal = "Resource.DominantResourceType", "ResourceVector.DominantResourceIndex", "5,000 queues, 4 to 6 resources", questions, 3
	kinds.Equal = "but for ties"
	kinds.Their = func(k int) {
		for i, used := range free.their {
			theirTypes[i] = used.DominantResourceType(theirTotals[k])
		}
	}
	kinds.Our = func(k int) {
		for i, used := range rows {
			_, ourTypes[i] = used.DominantResourceIndex(ourTotals[k])
		}
	}
	kinds.Same = func(k int) error {
		for i, at := range ourTypes {
			if at < 0 {
				continue // nothing is used
			}
			j := indexOf(theirTypes[i])
			if rows[i][j]/ourTotals[k][j] != rows[i][at]/ourTotals[k][at] {
				return fmt.Errorf("row %d: %s here, %s there", i, names[at], theirTypes[i])
			}
		}
		return nil
	}
	b.Run("DominantResourceType", kinds.Bench)
}

func indexOf(name string) int {
	for i, n := range names {
		if n == name {
			return i
		}
	}
	panic("no resource " + name)
}
