package benchmarks

import (
	"fmt"
	"testing"

	"github.com/resvec/resvec/benchmarks/internal/stopwatch"
	"github.com/resvec/resvec/internal/testkit"
	"github.com/resvec/resvec/vector"
	"github.com/resvec/resvec/vector/gang"
)

const budgetOwners = 200

// BenchmarkBudgetsRatio is BenchmarkProofRatio for victims of 200 owners, of each of which
// a tenth may go: the nodes have enough when about half of the victims are gone, but the
// owners may not lose so much. Anew means that the free amounts and what was released of
// each owner are at hand, and summed up for each question.
//
//	ns/call       of a release and a question
//	anew-ns/call  of the same, anew
//	x_anew        how many times as fast as anew
func BenchmarkBudgetsRatio(b *testing.B) {
	for _, shapes := range []int{1, 2, 4, 64} {
		b.Run(fmt.Sprintf("shapes=%d", shapes), func(b *testing.B) { benchmarkBudgets(b, shapes) })
	}
}

func benchmarkBudgets(b *testing.B, shapes int) {
	s := newBudgetEviction(proofNodes, proofReleases, shapes)
	var proof gang.Proof
	var packer gang.Packer
	released := vector.NewMatrix(vector.Schema{}, budgetOwners, packCols)
	measureProof(b, func() (impossible int) {
		s.begin(&proof)
		for i, row := range s.rows {
			testkit.Check(proof.ReleaseOf(s.owners[i], row, s.amounts[i]))
			if infeasible(&proof) {
				impossible++
			}
		}
		return impossible
	}, func() int {
		released.Reset(vector.Schema{}, budgetOwners, packCols)
		i := 0
		return s.ask(func(now *vector.Matrix) bool {
			testkit.Check(released.AddToRow(s.owners[i], s.amounts[i]))
			i++
			return s.infeasible(&packer, now) || s.short(now, released)
		})
	})
}

// BenchmarkBudgetsRefusal times the whole refusal of a gang: the proof is reset, gets the
// budgets, releases all victims and is asked once. The fastest sample counts.
func BenchmarkBudgetsRefusal(b *testing.B) {
	for _, nodes := range []int{500, 1000, 2000} {
		victims := 8 * nodes
		b.Run(fmt.Sprintf("nodes=%d/victims=%d", nodes, victims), func(b *testing.B) {
			s := newBudgetEviction(nodes, victims, 1)
			var proof gang.Proof
			refusal := stopwatch.New(1, func(int) {
				s.begin(&proof)
				for i, row := range s.rows {
					testkit.Check(proof.ReleaseOf(s.owners[i], row, s.amounts[i]))
				}
				if why, _ := proof.Infeasible(); why.Reason != gang.InfeasibleBudget {
					b.Fatalf("%+v", why)
				}
			})
			alternate(b, refusal)
			b.ReportMetric(refusal.Best/1e3, "µs/refusal")
		})
	}
}

// BenchmarkBudgetsFilter times gang.Packer.Filter with budgets for the same gang: it asks after
// each victim. The fastest sample counts.
func BenchmarkBudgetsFilter(b *testing.B) {
	const nodes, victims = 2000, 16_000
	s := newBudgetEviction(nodes, victims, 1)
	for _, owner := range s.owners {
		s.budgets.Owners = append(s.budgets.Owners, int32(owner))
	}
	packer := new(gang.Packer)
	testkit.Check(packer.Limit(s.budgets))
	filter := stopwatch.New(1, func(int) {
		scenario, err := packer.Filter(nil, s.overlay, s.requests, nil, nil, func(yield func(int, vector.ResourceVector) bool) {
			for i, row := range s.rows {
				if !yield(row, s.amounts[i]) {
					return
				}
			}
		})
		if err != nil || scenario.LowerBound != victims+1 || scenario.Infeasible.Reason != gang.InfeasibleBudget {
			b.Fatalf("%+v, %v", scenario, err)
		}
	})
	alternate(b, filter)
	b.ReportMetric(filter.Best/victims, "ns/victim")
}

// budgetEviction is the loop.
type budgetEviction struct {
	eviction
	owners  []int
	budgets gang.Budgets
	needed  vector.ResourceVector
}

func newBudgetEviction(nodes, victims, shapes int) *budgetEviction {
	r := random(uint64(nodes))
	s := &budgetEviction{eviction: eviction{
		free:     vector.NewMatrix(vector.Schema{}, nodes, packCols),
		requests: vector.NewMatrix(vector.Schema{}, proofMembers, packCols),
	}}
	released := vector.NewMatrix(vector.Schema{}, budgetOwners, packCols)
	v := make(vector.ResourceVector, packCols)
	for i := range nodes {
		for j := range v {
			v[j] = float64(r.IntN(2000))
		}
		s.free.SetRow(i, v)
	}
	for range victims {
		amounts, owner := make(vector.ResourceVector, packCols), r.IntN(budgetOwners)
		for j := range amounts {
			amounts[j] = float64(1000 + r.IntN(2000))
		}
		s.rows, s.amounts, s.owners = append(s.rows, r.IntN(nodes)), append(s.amounts, amounts), append(s.owners, owner)
		_ = released.AddToRow(owner, amounts)
	}
	total := vector.SumColumns(nil, s.free, nil)
	for j, x := range vector.SumColumns(nil, released, nil) {
		v[j] = float64(int((total[j] + x/2) / proofMembers))
	}
	member := make(vector.ResourceVector, packCols)
	for i := range proofMembers {
		shape := random(uint64(i % shapes))
		for j, x := range v {
			member[j] = float64(int(x * (0.95 + 0.1*shape.Float64())))
		}
		s.requests.SetRow(i, member)
	}
	s.overlay = vector.NewOverlay(s.free)
	s.needed = vector.SumColumns(nil, s.requests, nil)
	s.budgets.Limits = vector.NewMatrix(vector.Schema{}, budgetOwners, packCols)
	for owner := range budgetOwners {
		for j := range v {
			v[j] = float64(int(released.At(owner, j) / 10))
		}
		s.budgets.Limits.SetRow(owner, v)
	}
	return s
}

func (s *budgetEviction) begin(p *gang.Proof) {
	p.Reset(s.free, s.requests, nil)
	testkit.Check(p.Limit(s.budgets))
}

// short reports whether the budgets leave too little of a column.
func (s *budgetEviction) short(now, released *vector.Matrix) bool {
	for j := range packCols {
		surplus := -s.needed[j]
		start := s.free.Column(j)
		for row, x := range now.Column(j) {
			surplus += max(min(x, start[row]), 0)
		}
		limits := s.budgets.Limits.Column(j)
		for owner, x := range released.Column(j) {
			surplus += min(x, limits[owner])
		}
		if surplus < 0 {
			return true
		}
	}
	return false
}
