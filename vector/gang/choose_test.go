package gang_test

import (
	"fmt"
	"testing"

	"github.com/resvec/resvec/internal/testkit"
	"github.com/resvec/resvec/vector"
	"github.com/resvec/resvec/vector/gang"
)

// chooseStory goes from set to set of victims, and compares with a Proof to which only the
// victims of the set were ever released.
type chooseStory struct {
	budgetStory
	limited bool
	domains *gang.Domains // nil: none
	gone    []bool        // per move
	marks   []choosePoint
}

type choosePoint struct {
	mark gang.Mark
	gone []bool
}

func (s *chooseStory) start(p *gang.Proof) {
	p.Reset(s.c.free, s.c.requests, s.c.rows)
	if s.limited {
		testkit.Check(p.Limit(s.budgets))
	}
	if s.domains != nil {
		p.Within(s.domains)
	}
}

func (s *chooseStory) act() {
	r := s.r
	switch k := r.IntN(12); {
	case k == 0:
		s.marks = append(s.marks, choosePoint{s.proof.Mark(), append([]bool(nil), s.gone...)})
	case k == 1:
		at := r.IntN(len(s.marks))
		s.proof.Rollback(s.marks[at].mark)
		s.gone = append(s.gone[:0], s.marks[at].gone...)
		s.moves, s.marks = s.moves[:len(s.gone)], s.marks[:at+1]
	case k < 4:
		s.release()
	default:
		set := vector.NewMask(len(s.gone))
		for i := range s.gone {
			switch k {
			case 4, 5, 6:
				s.gone[i] = r.IntN(2) == 0
			case 7, 8, 9:
				s.gone[i] = s.gone[i] != (r.IntN(6) == 0)
			case 10:
				s.gone[i] = true
			}
			if s.gone[i] {
				set.Set(i)
			}
		}
		s.proof.Choose(set)
	}
}

func (s *chooseStory) release() {
	m := budgetMove{owner: s.r.IntN(s.budgets.Limits.Rows()+1) - 1, row: s.r.IntN(s.c.free.Rows()), amounts: s.vector()}
	if m.apply(s.proof) == nil {
		s.moves, s.gone = append(s.moves, m), append(s.gone, true)
	}
}

func (s *chooseStory) checkChosen() {
	s.t.Helper()
	s.start(&s.again)
	now := s.now(func(i int) bool { return s.gone[i] })
	for i, m := range s.moves {
		if s.gone[i] {
			if m.apply(&s.again) != nil { // together they leave the range: some came while others stayed
				return
			}
		}
	}
	for j := range now.Cols() {
		if !sameBits(s.proof.Matrix().Column(j), now.Column(j)) {
			s.fail("%v: column %d holds %v, want %v", s.gone, j, s.proof.Matrix().Column(j), now.Column(j))
		}
	}
	why, infeasible := s.proof.Infeasible()
	want, wanted := s.again.Infeasible()
	// With fractions the sums allow for the rounding of all victims.
	if s.whole || !s.limited {
		if fmt.Sprint(why) != fmt.Sprint(want) {
			s.fail("%v: says %+v, want %+v\ndomains %v", s.gone, why, want, s.domains)
		}
	} else if infeasible && !wanted {
		s.fail("%v: says %+v, another Proof %+v\ndomains %v", s.gone, why, want, s.domains)
	}
}

func runChoose(t testing.TB, proof *gang.Proof, seed uint64, steps int) {
	r := testkit.Rand(seed)
	kind := r.IntN(len(amountKinds))
	s := &chooseStory{budgetStory: budgetStory{
		t: t, r: r, proof: proof, whole: amountKinds[kind].name == "whole", scale: amountKinds[kind].scale,
		c: budgetCase(r, kind),
	}}
	if r.IntN(3) == 0 {
		if s.c = proofCase(r, kind); s.c.free.Rows() == 0 {
			return
		}
	}
	s.begin()
	s.limited = r.IntN(2) == 0
	if r.IntN(2) == 0 {
		s.domains = someDomains(r, s.c.free.Rows())
	}
	s.start(proof)
	s.marks = []choosePoint{{}}
	for range r.IntN(12) {
		s.release()
	}
	alternate(r, steps, s.act, s.checkChosen)
}

func TestChooseStories(t *testing.T) {
	manyStories(t, testkit.Amount(t, 200, 1000, 5000), 80, runChoose)
}

func FuzzChoose(f *testing.F) { fuzzStories(f, 200, runChoose) }

// TestChoose has the worked case: two nodes of 4 GPUs, and a gang that needs both whole.
func TestChoose(t *testing.T) {
	var p gang.Proof
	p.Reset(matrixOf(1, vec{2}, vec{0}), matrixOf(1, vec{4}, vec{4}), nil)
	p.Choose(vector.NewMask(0))
	for _, m := range []budgetMove{{row: 0, amounts: vec{2}}, {row: 1, amounts: vec{3}}, {row: 1, amounts: vec{1}}, {row: 1, amounts: vec{1}}} {
		testkit.Check(p.Release(m.row, m.amounts))
	}
	mark := p.Mark()
	for _, test := range []struct {
		set        []int
		infeasible bool
	}{
		{[]int{0, 1, 2, 3}, false},
		{[]int{1, 2, 3}, true},
		{[]int{0, 1, 3}, false},
		{[]int{0, 2, 3}, true},
		{nil, true},
		{[]int{0, 1, 2}, false},
	} {
		p.Choose(maskOf(4, test.set...))
		if why, infeasible := p.Infeasible(); infeasible != test.infeasible {
			t.Errorf("%v: %v, %+v", test.set, infeasible, why)
		}
	}
	p.Rollback(mark)
	wantMatrix(t, "rolled back", p.Matrix(), [][]float64{{4}, {5}})
	p.Rollback(gang.Mark{})
	wantMatrix(t, "all rolled back", p.Matrix(), [][]float64{{2}, {0}})

	wantPanic(t, "gang: mask lengths differ", func() { p.Choose(vector.NewMask(1)) })
	testkit.Check(p.Release(1, vec{5}))
	p.Choose(vector.NewMask(1))
	wantMatrix(t, "none chosen", p.Matrix(), [][]float64{{2}, {0}})
}

func TestChooseAllocations(t *testing.T) {
	c := manyRows(1, true)
	limits := vector.NewMatrix(none, 50, c.free.Cols())
	for owner := range limits.Rows() {
		limits.SetRow(owner, vec{900, 900, 900, 900, 900})
	}
	racks := racksOf(c.free.Rows(), 100)
	amounts := rowsOf(c.victims.Amounts)
	set := vector.NewMask(len(amounts))
	var p gang.Proof
	r := testkit.Rand(1)
	story := func() {
		p.Reset(c.free, c.requests, c.rows)
		_ = p.Limit(gang.Budgets{Limits: limits})
		p.Within(racks)
		for i, row := range c.victims.Rows {
			_ = p.ReleaseOf(i%50, int(row), amounts[i])
			set.Set(i)
		}
		mark := p.Mark()
		for range 50 {
			set.Clear(r.IntN(len(amounts)))
			set.Set(r.IntN(len(amounts)))
			p.Choose(set)
			p.Infeasible()
			p.Infeasible()
		}
		p.Rollback(mark)
	}
	wantNoAllocations(t, 2, story)
}
