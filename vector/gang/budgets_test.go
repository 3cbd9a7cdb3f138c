package gang_test

import (
	"errors"
	"fmt"
	"math"
	"math/rand/v2"
	"slices"
	"testing"

	"github.com/resvec/resvec/internal/testkit"
	"github.com/resvec/resvec/vector"
	"github.com/resvec/resvec/vector/gang"
)

// budgetMove is a victim that a Proof with budgets releases.
type budgetMove struct {
	owner   int // noOwner for none
	row     int
	amounts vec
}

const noOwner = -1

// budgetStory makes the same changes to a Proof and to a list.
type budgetStory struct {
	t       testing.TB
	r       *rand.Rand
	whole   bool
	scale   func(r *rand.Rand, x float64) float64
	c       packCase
	budgets gang.Budgets

	proof  *gang.Proof
	again  gang.Proof
	packer gang.Packer
	moves  []budgetMove
	past   []budgetPoint
}

type budgetPoint struct {
	mark  gang.Mark
	moves int
}

// amount returns a random finite amount that is not negative.
func (s *budgetStory) amount(most int) float64 {
	if x := math.Abs(s.scale(s.r, float64(s.r.IntN(most+1)))); x <= math.MaxFloat64 {
		return x
	}
	return 0
}

func (s *budgetStory) vector() vec {
	v := make(vec, 1+s.r.IntN(s.c.free.Cols()))
	for j := range v {
		v[j] = s.amount(5)
	}
	return v
}

func (s *budgetStory) begin() {
	s.budgets = gang.Budgets{LastMayPass: s.r.IntN(2) == 0, Limits: vector.NewMatrix(none, 1+s.r.IntN(3), s.c.free.Cols())}
	for owner := range s.budgets.Limits.Rows() {
		v := make(vec, s.c.free.Cols())
		for j := range v {
			if v[j] = s.amount(7); s.r.IntN(5) == 0 {
				v[j] = inf
			}
		}
		s.budgets.Limits.SetRow(owner, v)
	}
	s.moves = nil
	s.restart(s.proof)
	s.past = []budgetPoint{{gang.Mark{}, 0}, {s.proof.Mark(), 0}}
}

func (s *budgetStory) restart(p *gang.Proof) {
	p.Reset(s.c.free, s.c.requests, s.c.rows)
	testkit.Check(p.Limit(s.budgets))
}

func (s *budgetStory) fail(format string, args ...any) {
	s.t.Helper()
	s.t.Fatalf(format+"\nfree %v\nrequests %v\nrows %v\nlimits %v, last may pass %v\nmoves %v", append(args,
		contents(s.c.free), contents(s.c.requests), s.c.rows, contents(s.budgets.Limits), s.budgets.LastMayPass, s.moves)...)
}

// apply makes a move.
func (m budgetMove) apply(p *gang.Proof) error {
	if m.owner == noOwner {
		return p.Release(m.row, m.amounts)
	}
	return p.ReleaseOf(m.owner, m.row, m.amounts)
}

func (s *budgetStory) step() {
	switch k := s.r.IntN(20); {
	case k < 3:
		s.past = append(s.past, budgetPoint{s.proof.Mark(), len(s.moves)})
		return
	case k < 7:
		at := s.r.IntN(len(s.past))
		s.proof.Rollback(s.past[at].mark)
		s.moves, s.past = s.moves[:s.past[at].moves], s.past[:at+1]
		return
	}
	if s.c.free.Rows() == 0 {
		return
	}
	m := budgetMove{owner: s.r.IntN(s.budgets.Limits.Rows()), row: s.r.IntN(s.c.free.Rows()), amounts: s.vector()}
	if s.r.IntN(8) == 0 {
		m.owner = noOwner
	}
	if m.apply(s.proof) == nil {
		s.moves = append(s.moves, m)
	}
}

// now returns the free amounts after the moves that happen.
func (s *budgetStory) now(happens func(i int) bool) *vector.Matrix {
	after := new(vector.Matrix)
	after.CopyFrom(s.c.free)
	for i, m := range s.moves {
		if !happens(i) {
			continue
		}
		addRow(after, m.row, m.amounts)
	}
	return after
}

// check compares the answer with that of another Proof, and with the definition where that
// needs no rounding.
func (s *budgetStory) check() {
	s.t.Helper()
	why, infeasible := s.proof.Infeasible()
	s.restart(&s.again)
	for i, m := range s.moves {
		if err := m.apply(&s.again); err != nil {
			s.fail("move %d again: %v", i, err)
		}
	}
	if want, wanted := s.again.Infeasible(); infeasible != wanted || fmt.Sprint(why) != fmt.Sprint(want) {
		s.fail("says %v, %+v, another Proof %v, %+v", infeasible, why, wanted, want)
	}
	if infeasible != (why.Reason != gang.NotProved) {
		s.fail("says %v, %+v", infeasible, why)
	}
	if !s.whole {
		return
	}
	now := s.now(func(int) bool { return true })
	want, _ := s.packer.Infeasible(now, s.c.requests, s.c.rows, nil)
	if want.Reason != gang.InfeasibleAggregate {
		for j := s.c.free.Cols() - 1; j >= 0; j-- {
			if short := s.goldenBound(j); short.Reason != gang.NotProved {
				want = short
			}
		}
	}
	if why != want {
		s.fail("says %+v, want %+v", why, want)
	}
}

// goldenBound is the bound of column j, for whole amounts.
func (s *budgetStory) goldenBound(j int) gang.Infeasibility {
	needed, available := 0.0, 0.0
	for _, x := range s.c.requests.Column(j) {
		needed += max(x, 0)
	}
	eligible := func(row int) bool { return s.c.rows == nil || s.c.rows.Test(row) }
	for row := range s.c.free.Rows() {
		if eligible(row) {
			available += max(s.c.free.At(row, j), 0)
		}
	}
	for owner := noOwner; owner < s.budgets.Limits.Rows(); owner++ {
		sum, greatest, limit := 0.0, 0.0, inf
		for _, m := range s.moves {
			if m.owner == owner && eligible(m.row) {
				sum += m.amounts.Get(j)
				greatest = max(greatest, m.amounts.Get(j))
			}
		}
		if owner >= 0 {
			limit = s.budgets.Limits.At(owner, j)
		}
		if s.budgets.LastMayPass {
			limit += greatest
		}
		available += min(sum, limit)
	}
	if available >= needed {
		return gang.Infeasibility{}
	}
	return gang.Infeasibility{Reason: gang.InfeasibleBudget, Column: j, Member: -1, Needed: needed, Available: available}
}

// permitted reports whether a set of the moves keeps the budgets.
func (s *budgetStory) permitted(set func(i int) bool) bool {
	for owner := range s.budgets.Limits.Rows() {
		within := func(without int) bool {
			sum := make(vec, s.c.free.Cols())
			for i, m := range s.moves {
				if m.owner == owner && set(i) && i != without {
					sum.Add(m.amounts)
				}
			}
			return sum.LessEqual(s.budgets.Limits.Row(nil, owner))
		}
		ok := within(-1)
		for i, m := range s.moves {
			ok = ok || s.budgets.LastMayPass && m.owner == owner && set(i) && within(i)
		}
		if !ok {
			return false
		}
	}
	return true
}

// possible tries all permitted sets of the victims.
func (s *budgetStory) possible() bool {
	var victims []int
	for i, m := range s.moves {
		if m.owner != noOwner {
			victims = append(victims, i)
		}
	}
	for set := range 1 << len(victims) {
		chosen := func(i int) bool {
			k := slices.Index(victims, i)
			return k >= 0 && set>>k&1 != 0
		}
		goes := func(i int) bool { return chosen(i) || s.moves[i].owner == noOwner }
		if s.permitted(chosen) && goldenPlaceable(s.now(goes), s.c.requests, s.c.rows) {
			return true
		}
	}
	return false
}

// checkAll compares the answer with all permitted sets.
func (s *budgetStory) checkAll() {
	s.t.Helper()
	if why, infeasible := s.proof.Infeasible(); infeasible && s.possible() {
		s.fail("rejects a gang that fits: %+v", why)
	}
}

func runBudgets(t testing.TB, proof *gang.Proof, seed uint64, steps int) {
	r := testkit.Rand(seed)
	kind := r.IntN(len(amountKinds))
	s := &budgetStory{
		t: t, r: r, proof: proof, whole: amountKinds[kind].name == "whole", scale: amountKinds[kind].scale,
		c: budgetCase(r, kind),
	}
	s.begin()
	s.check()
	for range steps {
		s.step()
		if r.IntN(4) > 0 {
			s.check()
		}
		if len(s.moves) <= 7 && r.IntN(8) == 0 {
			s.checkAll()
		}
	}
	s.check()
}

// budgetCase returns a random instance that is small enough for all sets of victims.
func budgetCase(r *rand.Rand, kind int) packCase {
	rows, members, cols := 1+r.IntN(3), 1+r.IntN(4), 1+r.IntN(3)
	c := packCase{free: vector.NewMatrix(none, rows, cols), requests: vector.NewMatrix(none, members, cols)}
	v := make(vec, cols)
	for i := range rows {
		for j := range v {
			v[j] = amountKinds[kind].scale(r, float64(r.IntN(9)-2))
		}
		c.free.SetRow(i, v)
	}
	alike := r.IntN(2) == 0
	for i := range members {
		for j := range v {
			if i == 0 || !alike {
				v[j] = amountKinds[kind].scale(r, float64(r.IntN(7)))
			}
		}
		c.requests.SetRow(i, v)
	}
	if r.IntN(3) == 0 {
		c.rows = maskOf(rows, r.IntN(rows))
	}
	return c
}

func TestBudgetStories(t *testing.T) {
	manyStories(t, testkit.Amount(t, 100, 600, 3000), 40, runBudgets)
}

func FuzzBudgets(f *testing.F) { fuzzStories(f, 100, runBudgets) }

// TestBudgetsFind counts how many gangs are rejected of those that fit when all victims are
// gone, and after no permitted set of them.
func TestBudgetsFind(t *testing.T) {
	impossible, found := 0, 0
	for seed := range uint64(testkit.Amount(t, 300, 2000, 20000)) {
		r := testkit.Rand(seed)
		s := &budgetStory{t: t, r: r, whole: true, scale: amountKinds[0].scale, c: budgetCase(r, 0), proof: new(gang.Proof)}
		s.begin()
		for range 1 + r.IntN(6) {
			m := budgetMove{owner: r.IntN(s.budgets.Limits.Rows()), row: r.IntN(s.c.free.Rows()), amounts: s.vector()}
			testkit.Check(m.apply(s.proof))
			s.moves = append(s.moves, m)
		}
		if !goldenPlaceable(s.proof.Matrix(), s.c.requests, s.c.rows) || s.possible() {
			s.checkAll()
			continue
		}
		impossible++
		if why, infeasible := s.proof.Infeasible(); infeasible {
			found++
			if why.Reason != gang.InfeasibleBudget {
				s.fail("%+v", why)
			}
		}
	}
	t.Logf("found %d of %d", found, impossible)
	if found < impossible/5 {
		t.Errorf("found %d of %d", found, impossible)
	}
}

// TestBudgets has the worked cases: two nodes of 4 GPUs each, and a gang that needs 8.
func TestBudgets(t *testing.T) {
	type move struct {
		owner, row int
		gpus       float64
	}
	for _, test := range []struct {
		name     string
		free     []float64
		limits   []float64
		pass     bool
		victims  []move
		wants    float64 // of the 8
		possible bool
	}{
		{"an owner may lose 3", []float64{1, 0}, []float64{3}, false, []move{{0, 0, 3}, {0, 1, 2}, {0, 1, 2}}, 4, false},
		{"the last may pass", []float64{1, 0}, []float64{3}, true, []move{{0, 0, 3}, {0, 1, 2}, {0, 1, 2}}, 7, false},
		{"the last may pass by more", []float64{1, 0}, []float64{3}, true, []move{{0, 0, 3}, {0, 1, 4}}, 8, true},
		{"each has a budget", []float64{1, 0}, []float64{3, 4}, false, []move{{0, 0, 3}, {1, 1, 4}}, 8, true},
		{"what was not released of one, another does not give", []float64{1, 0}, []float64{9, 3}, false, []move{{0, 0, 3}, {1, 1, 4}}, 7, false},
		{"no owner, no limit", []float64{1, 0}, []float64{0}, false, []move{{noOwner, 0, 3}, {noOwner, 1, 4}}, 8, true},
		{"no limit", []float64{1, 0}, []float64{inf}, false, []move{{0, 0, 3}, {0, 1, 4}}, 8, true},
		{"what one row owes, no other pays", []float64{4, -4}, []float64{6}, false, []move{{0, 1, 8}}, 10, true},
	} {
		free, limits := matrixOf(1), matrixOf(1)
		for _, x := range test.free {
			free.AppendRow(vec{x})
		}
		for _, x := range test.limits {
			limits.AppendRow(vec{x})
		}
		var p gang.Proof
		p.Reset(free, matrixOf(1, vec{4}, vec{4}), nil)
		testkit.Check(p.Limit(gang.Budgets{Limits: limits, LastMayPass: test.pass}))
		for _, m := range test.victims {
			testkit.Check((budgetMove{owner: m.owner, row: m.row, amounts: vec{m.gpus}}).apply(&p))
		}
		why, infeasible := p.Infeasible()
		want := gang.Infeasibility{Reason: gang.InfeasibleBudget, Member: -1, Needed: 8, Available: test.wants}
		if test.possible {
			want = gang.Infeasibility{}
		}
		if infeasible == test.possible || why != want {
			t.Errorf("%s: %v, %+v, want %+v", test.name, infeasible, why, want)
		}
	}
}

// TestBudgetErrors: nothing has changed after an error.
// TestBudgetOutOfRange: what owners can lose may leave the range of float64, and comes back by a
// rollback.
func TestBudgetOutOfRange(t *testing.T) {
	var p gang.Proof
	p.Reset(matrixOf(1, vec{1}, vec{0}), matrixOf(1, vec{4}, vec{4}), nil)
	testkit.Check(p.Limit(gang.Budgets{Limits: matrixOf(1, vec{inf}, vec{3})}))
	testkit.Check((budgetMove{owner: 1, row: 0, amounts: vec{5}}).apply(&p))
	testkit.Check((budgetMove{owner: 1, row: 1, amounts: vec{5}}).apply(&p))
	for range 2 {
		if why, infeasible := p.Infeasible(); !infeasible || why.Available != 4 {
			t.Errorf("%v, %+v", infeasible, why)
		}
		mark := p.Mark()
		testkit.Check((budgetMove{owner: 0, row: 0, amounts: vec{large}}).apply(&p))
		testkit.Check((budgetMove{owner: 0, row: 1, amounts: vec{large}}).apply(&p))
		if why, infeasible := p.Infeasible(); infeasible {
			t.Errorf("%+v", why)
		}
		p.Rollback(mark)
	}
}

func TestBudgetErrors(t *testing.T) {
	schema := vector.NewSchema([]vector.SchemaColumn{{Name: "cpu"}, {Name: "gpu"}})
	free := vector.NewMatrix(schema, 2, 2)
	limits := vector.NewMatrix(schema, 3, 2)
	var p gang.Proof
	p.Reset(free, vector.NewMatrix(schema, 1, 2), nil)
	for _, test := range []struct {
		limit vec
		want  string
		cause error
	}{
		{vec{1, -1}, "limits: row 2: gpu: amount -1 is negative: want 0 or more", vector.ErrNegative},
		{vec{-inf, 1}, "limits: row 2: cpu: amount -Inf is negative: want 0 or more", vector.ErrNegative},
		{vec{0, nan}, "limits: row 2: gpu: amount NaN is not a number", vector.ErrNotRepresentable},
	} {
		limits.SetRow(2, test.limit)
		err := p.Limit(gang.Budgets{Limits: limits})
		var amount *vector.AmountError
		if err == nil || err.Error() != test.want || !errors.Is(err, test.cause) || !errors.As(err, &amount) || amount.Row != 2 {
			t.Errorf("%v, want %s", err, test.want)
		}
	}
	if err := p.ReleaseOf(99, 0, vec{0, 1}); err != nil { // without budgets owners mean nothing
		t.Error(err)
	}
	p.Reset(free, vector.NewMatrix(schema, 1, 2), nil)
	limits.SetRow(2, vec{inf, 0})
	testkit.Check(p.Limit(gang.Budgets{Limits: limits}))
	for owner, want := range map[int]string{
		-1:           "no owner -1 among 3: vector: shapes differ",
		3:            "no owner 3 among 3: vector: shapes differ",
		math.MinInt:  fmt.Sprintf("no owner %d among 3: vector: shapes differ", math.MinInt),
		1<<31 - 1<<1: "no owner 2147483646 among 3: vector: shapes differ",
	} {
		if err := p.ReleaseOf(owner, 0, vec{1, 1}); err == nil || err.Error() != want || !errors.Is(err, vector.ErrShape) {
			t.Errorf("%v, want %s", err, want)
		}
	}
	wantMatrix(t, "after errors", p.Matrix(), [][]float64{{0, 0}, {0, 0}})
}

// TestBudgetsRefused: budgets that are refused end the ones before them, and the conditions about
// those. A gang with a leader came before, whose conditions mean nothing any more.
func TestBudgetsRefused(t *testing.T) {
	var p gang.Proof
	free := matrixOf(1, vec{9}, vec{9})
	p.Reset(free, matrixOf(1, vec{1}, vec{8}, vec{8}, vec{8}), nil)
	p.Reset(free, matrixOf(1, vec{8}, vec{8}), nil)
	testkit.Check(p.Limit(gang.Budgets{Limits: matrixOf(1, vec{0})}))
	if err := p.Limit(gang.Budgets{Limits: matrixOf(1, vec{nan})}); err == nil {
		t.Fatal("NaN is a limit")
	}
	if why, infeasible := p.Infeasible(); infeasible {
		t.Errorf("a gang that fits: %+v", why)
	}
}

func TestBudgetPanics(t *testing.T) {
	free, requests, limits := matrixOf(2, vec{1}, vec{1}), matrixOf(2, vec{1}), matrixOf(2, vec{1})
	var p gang.Proof
	testkit.Check(p.Limit(gang.Budgets{}))
	p.Reset(free, requests, nil)
	wantPanic(t, "gang: matrices have different widths", func() { _ = p.Limit(gang.Budgets{Limits: matrixOf(1)}) })
	mark := p.Mark()
	testkit.Check(p.Limit(gang.Budgets{Limits: limits}))
	testkit.Check(p.ReleaseOf(0, 0, vec{1}))
	wantPanic(t, "gang: budgets after a change", func() { _ = p.Limit(gang.Budgets{}) })
	wantPanic(t, "gang: Limit before Reset", func() { _ = new(gang.Proof).Limit(gang.Budgets{Limits: limits}) })
	p.Rollback(mark)
	wantMatrix(t, "after a rollback", p.Matrix(), contents(free))
	wantPanic(t, "gang: vector is longer than the matrix is wide", func() { _ = p.ReleaseOf(0, 0, vec{1, 1, 1}) })
}

// TestBudgetRounding: where fractions round up, nothing is rejected that fits.
func TestBudgetRounding(t *testing.T) {
	free, requests := matrixOf(1, vec{0.7}), matrixOf(1, vec{1}) // 0.7 + 0.3 is less than 1 by 2^-54
	var p gang.Proof
	p.Reset(free, requests, nil)
	testkit.Check(p.Limit(gang.Budgets{Limits: matrixOf(1, vec{0.3})}))
	testkit.Check(p.ReleaseOf(0, 0, vec{0.3}))
	if why, infeasible := p.Infeasible(); infeasible || !goldenPlaceable(p.Matrix(), requests, nil) {
		t.Errorf("rejected: %+v", why)
	}
}

func TestBudgetAllocations(t *testing.T) {
	if testkit.RaceEnabled {
		t.Skip("the race detector allocates")
	}
	c := manyRows(1, true)
	for i := range c.requests.Rows() { // more than is free
		c.requests.SetRow(i, vec{1200, 1200, 1200, 1200, 1200})
	}
	limits := vector.NewMatrix(none, 50, c.free.Cols())
	var p gang.Proof
	amounts := rowsOf(c.victims.Amounts)
	rejected := 0
	story := func() {
		p.Reset(c.free, c.requests, c.rows)
		_ = p.Limit(gang.Budgets{Limits: limits})
		mark := p.Mark()
		for i, row := range c.victims.Rows {
			_ = p.ReleaseOf(i%50, int(row), amounts[i])
			if why, _ := p.Infeasible(); why.Reason == gang.InfeasibleBudget {
				rejected++
			}
		}
		p.Rollback(mark)
		p.Infeasible()
	}
	if n := testing.AllocsPerRun(2, story); n != 0 || rejected == 0 {
		t.Errorf("%v allocations, %d rejected", n, rejected)
	}
}
