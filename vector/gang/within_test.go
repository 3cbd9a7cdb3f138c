package gang_test

import (
	"fmt"
	"math"
	"slices"
	"testing"

	"github.com/resvec/resvec/internal/testkit"
	"github.com/resvec/resvec/vector"
	"github.com/resvec/resvec/vector/gang"
)

func TestWithinStories(t *testing.T) { runStories(t, proofStories(true)) }

func FuzzWithin(f *testing.F) { fuzzStories(f, 400, proofStories(true)) }

// budgetsWithin is a budgetStory about sets of rows.
type budgetsWithin struct {
	budgetStory
	domains *gang.Domains
}

// in runs f about the rows of set k alone.
func (s *budgetsWithin) in(k int, f func()) {
	rows := s.c.rows
	defer func() { s.c.rows = rows }()
	s.c.rows = maskOfDomain(s.domains, k, s.c.free.Rows(), rows)
	f()
}

// checkWithin compares the answer with that of another Proof, and with the bounds of each set
// where they need no rounding.
func (s *budgetsWithin) checkWithin() {
	s.t.Helper()
	why, infeasible := s.proof.Infeasible()
	s.restart(&s.again)
	s.again.Within(s.domains)
	for i, m := range s.moves {
		if err := m.apply(&s.again); err != nil {
			s.fail("move %d again: %v", i, err)
		}
	}
	want, wanted := s.again.Infeasible()
	if fmt.Sprint(why, infeasible) != fmt.Sprint(want, wanted) {
		s.fail("says %v, %+v, another Proof %v, %+v\ndomains %v", infeasible, why, wanted, want, s.domains)
	}
	if !s.whole {
		return
	}
	now := s.now(func(int) bool { return true })
	reasons := make([]gang.Infeasibility, max(len(s.domains.Offsets)-1, 0))
	for k := range reasons {
		s.in(k, func() {
			reasons[k], _ = s.packer.Infeasible(now, s.c.requests, s.c.rows, nil)
			for j := 0; j < s.c.free.Cols() && reasons[k].Reason == gang.NotProved; j++ {
				reasons[k] = s.goldenBound(j)
			}
		})
	}
	domain := why.Domain
	first := slices.IndexFunc(reasons, func(why gang.Infeasibility) bool { return why.Reason == gang.NotProved })
	if infeasible != (first < 0) || !infeasible && domain != first {
		s.fail("says %v, %d, want %d\ndomains %v", infeasible, domain, first, s.domains)
	}
	if !infeasible || len(reasons) == 0 {
		return
	}
	if why != in(domain, reasons[domain]) {
		s.fail("set %d: says %+v, want %+v\ndomains %v", domain, why, reasons[domain], s.domains)
	}
	closer := func(other gang.Infeasibility) bool { return other.Reason == gang.InfeasibleBudget }
	if slices.ContainsFunc(reasons, closer) && !closer(why) {
		s.fail("set %d: says %+v, of %+v\ndomains %v", domain, why, reasons, s.domains)
	}
}

// checkAllWithin tries all permitted sets of victims in each set of rows.
func (s *budgetsWithin) checkAllWithin() {
	s.t.Helper()
	if why, infeasible := s.proof.Infeasible(); infeasible {
		for k := range max(len(s.domains.Offsets)-1, 0) {
			s.in(k, func() {
				if s.possible() {
					s.fail("rejects a gang that fits in set %d: %+v\ndomains %v", k, why, s.domains)
				}
			})
		}
	}
}

func runBudgetsWithin(t testing.TB, proof *gang.Proof, seed uint64, steps int) {
	r := testkit.Rand(seed)
	kind := r.IntN(len(amountKinds))
	s := &budgetsWithin{budgetStory: budgetStory{
		t: t, r: r, proof: proof, whole: amountKinds[kind].name == "whole", scale: amountKinds[kind].scale,
		c: budgetCase(r, kind),
	}}
	s.domains = someDomains(r, s.c.free.Rows())
	s.begin()
	s.proof.Within(s.domains)
	s.past = s.past[:1]
	for range r.IntN(8) {
		m := budgetMove{owner: r.IntN(s.budgets.Limits.Rows()), row: r.IntN(s.c.free.Rows()), amounts: s.vector()}
		if m.apply(proof) == nil {
			s.moves = append(s.moves, m)
		}
	}
	s.past = append(s.past, budgetPoint{proof.Mark(), len(s.moves)})
	often := 1 + r.IntN(4)
	for range steps {
		s.step()
		if r.IntN(often) == 0 {
			s.checkWithin()
		}
		if len(s.moves) <= 7 && r.IntN(8) == 0 {
			s.checkAllWithin()
		}
	}
	s.checkWithin()
}

func TestBudgetsWithinStories(t *testing.T) {
	manyStories(t, testkit.Amount(t, 200, 1000, 5000), 40, runBudgetsWithin)
}

func FuzzBudgetsWithin(f *testing.F) { fuzzStories(f, 100, runBudgetsWithin) }

// TestWithin has the worked case: two racks of two nodes, and a gang that needs 8 GPUs in one
// of them.
func TestWithin(t *testing.T) {
	free := matrixOf(1, vec{2}, vec{1}, vec{0}, vec{4})
	racks := &gang.Domains{Rows: []int32{0, 1, 2, 3}, Offsets: vector.Offsets{0, 2, 4}}
	var p gang.Proof
	p.Reset(free, matrixOf(1, vec{4}, vec{4}), nil)
	testkit.Check(p.Limit(gang.Budgets{Limits: matrixOf(1, vec{3})}))
	p.Within(racks)
	want := func(step string, reason gang.Reason, domain int, available float64) {
		t.Helper()
		why, infeasible := p.Infeasible()
		if why.Reason != reason || why.Domain != domain || why.Available != available || infeasible != (reason != gang.NotProved) {
			t.Errorf("%s: %v, %d, %+v, want %v in %d", step, infeasible, why.Domain, why, reason, domain)
		}
	}
	want("at the start", gang.InfeasibleAggregate, 1, 4)
	release := func(owner, row int, gpus float64) {
		testkit.Check(p.ReleaseOf(owner, row, vec{gpus}))
	}
	release(0, 0, 2)
	want("one place each", gang.InfeasibleAggregate, 0, 5)
	mark := p.Mark()
	release(0, 1, 3)
	want("enough in the first rack, and 3 may go", gang.InfeasibleBudget, 0, 6)
	release(0, 2, 4)
	want("enough in both, and the second has more without victims", gang.InfeasibleBudget, 1, 7)
	testkit.Check(p.Release(1, vec{2}))
	want("a victim that always may go", gang.NotProved, 0, 0)
	p.Rollback(mark)
	want("taken back", gang.InfeasibleAggregate, 0, 5)
}

func TestWithinPanics(t *testing.T) {
	var p gang.Proof
	if why, infeasible := p.Infeasible(); why.Domain != 0 || infeasible {
		t.Error("the zero Proof proves something")
	}
	p.Within(&gang.Domains{Offsets: vector.Offsets{0, 0}})
	if why, infeasible := p.Infeasible(); why.Domain != 0 || infeasible {
		t.Errorf("no members in an empty set: %d, %v", why.Domain, infeasible)
	}
	p.Reset(matrixOf(1, vec{1}, vec{1}), matrixOf(1, vec{1}, vec{1}), nil)
	wantPanic(t, "gang: rows of a domain do not ascend within the matrix", func() {
		p.Within(&gang.Domains{Rows: []int32{2}, Offsets: vector.Offsets{0, 1}})
	})
	if why, infeasible := p.Infeasible(); why.Domain != 0 || infeasible {
		t.Errorf("domains that were refused: %d, %v", why.Domain, infeasible)
	}
	p.Within(new(gang.Domains))
	if why, infeasible := p.Infeasible(); why.Domain != -1 || !infeasible {
		t.Errorf("without sets: %d, %v", why.Domain, infeasible)
	}
	p.Within(nil)
	if why, infeasible := p.Infeasible(); why.Domain != 0 || infeasible {
		t.Errorf("nil domains: %d, %v", why.Domain, infeasible)
	}
	testkit.Check(p.Release(0, vec{1}))
	wantPanic(t, "gang: domains after a change", func() { p.Within(nil) })
}

// racksOf returns sets of so many rows each.
func racksOf(rows, each int) *gang.Domains {
	d := &gang.Domains{Offsets: vector.Offsets{0}}
	for r := range rows {
		d.Rows = append(d.Rows, int32(r))
		if len(d.Rows)%each == 0 || r == rows-1 {
			d.Offsets = append(d.Offsets, int32(len(d.Rows)))
		}
	}
	return d
}

// TestWithinMany takes more back at once than a matrix remembers, and allocates nothing once
// memory has grown.
func TestWithinMany(t *testing.T) {
	for _, identical := range []bool{true, false} {
		c := manyRows(1, identical)
		racks := racksOf(c.free.Rows(), 60)
		for i := range c.requests.Rows() { // room without victims for most of them
			v := c.requests.Row(nil, i)
			for j := range v {
				v[j] = math.Floor(v[j] * 60 / 275)
			}
			c.requests.SetRow(i, v)
		}
		limits := vector.NewMatrix(none, 50, c.free.Cols())
		for owner := range limits.Rows() {
			limits.SetRow(owner, vec{3, 3, 3, 3, 3})
		}
		amounts := rowsOf(c.victims.Amounts)
		var p gang.Proof
		var packer gang.Packer
		reasons := make(map[gang.Reason]int)
		story := func(check func()) {
			p.Reset(c.free, c.requests, c.rows)
			_ = p.Limit(gang.Budgets{Limits: limits})
			p.Within(racks)
			mark := p.Mark()
			for i, row := range c.victims.Rows {
				_ = p.ReleaseOf(i%50, int(row), amounts[i])
				p.Mark() // so that a row is taken back more than once
				if why, _ := p.Infeasible(); check != nil {
					reasons[why.Reason]++
				}
			}
			p.Rollback(mark)
			p.Infeasible()
			if check != nil {
				check()
			}
		}
		story(func() {
			why, infeasible := p.Infeasible()
			if want, wanted := packer.Infeasible(p.Matrix(), c.requests, c.rows, racks); why != want || infeasible != wanted {
				t.Errorf("after a rollback: %v, %+v, want %v, %+v", infeasible, why, wanted, want)
			}
		})
		if reasons[gang.InfeasibleBudget] == 0 {
			t.Error(reasons)
		}
		wantNoAllocations(t, 1, func() { story(nil) }, identical)
	}
}

// TestWithinClosest: of sets in which only budgets leave too little the one comes closest that
// lacks the last column, then the one that has most of it.
func TestWithinClosest(t *testing.T) {
	var p gang.Proof
	p.Reset(matrixOf(2, vec{3, 9}, vec{9, 2}, vec{9, 3}, vec{9, 3}), matrixOf(2, vec{9, 9}), nil)
	testkit.Check(p.Limit(gang.Budgets{Limits: matrixOf(2, vec{1, 1})}))
	p.Within(racksOf(4, 1))
	for i, want := range []string{"{budget 0 0 -1 9 4}", "{budget 1 1 -1 9 3}", "{budget 2 1 -1 9 4}", "{budget 2 1 -1 9 4}"} {
		testkit.Check(p.ReleaseOf(0, i, vec{9, 9}))
		why, infeasible := p.Infeasible()
		if got := fmt.Sprint(why); !infeasible || got != want {
			t.Errorf("%d: %s, want %s", i, got, want)
		}
	}
}
