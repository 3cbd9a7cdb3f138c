package gang_test

import (
	"errors"
	"fmt"
	"math"
	"math/rand/v2"
	"testing"

	"github.com/resvec/resvec/internal/testkit"
	"github.com/resvec/resvec/vector"
	"github.com/resvec/resvec/vector/gang"
)

// A proofStory makes the same changes to a Proof and to plain matrices, and compares
// them after some of the steps.
type proofStory struct {
	t       testing.TB
	r       *rand.Rand
	c       packCase
	domains *gang.Domains // nil: anywhere
	scale   func(r *rand.Rand, x float64) float64

	proof  *gang.Proof
	packer gang.Packer
	now    *vector.Matrix
	past   []pastPoint // marks that are not void
	steps  []string
}

// pastPoint is a mark and the amounts at that point.
type pastPoint struct {
	mark gang.Mark
	free *vector.Matrix
}

func (s *proofStory) begin() {
	s.now = new(vector.Matrix)
	s.now.CopyFrom(s.c.free)
	s.past, s.steps = nil, nil
	s.proof.Reset(s.c.free, s.c.requests, s.c.rows)
	for _, err := range []error{s.proof.Spread(s.c.spread), s.packer.Spread(s.c.spread)} {
		if err != nil {
			s.fail("%v", err)
		}
	}
	s.proof.Within(s.domains)
	s.past = append(s.past, pastPoint{gang.Mark{}, s.copied()}, pastPoint{s.proof.Mark(), s.copied()})
}

func (s *proofStory) copied() *vector.Matrix {
	m := new(vector.Matrix)
	m.CopyFrom(s.now)
	return m
}

func (s *proofStory) fail(format string, args ...any) {
	s.t.Helper()
	steps := s.steps[max(len(s.steps)-40, 0):]
	s.t.Fatalf(format+"\nfree %v\nrequests %v\nrows %v\nspread %+v\ndomains %v\nsteps %v",
		append(args, contents(s.c.free), contents(s.c.requests), s.c.rows, s.c.spread, s.domains, steps)...)
}

// check compares the answer and the amounts.
func (s *proofStory) check() {
	s.t.Helper()
	why, infeasible := s.proof.Infeasible()
	want, wanted := s.packer.Infeasible(s.now, s.c.requests, s.c.rows, s.domains)
	if infeasible != wanted || fmt.Sprint(why) != fmt.Sprint(want) {
		s.fail("says %v, %+v, want %v, %+v", infeasible, why, wanted, want)
	}
	if s.r.IntN(8) > 0 {
		return
	}
	m := s.proof.Matrix()
	for j := range s.now.Cols() {
		if !sameBits(m.Column(j), s.now.Column(j)) {
			s.fail("column %d holds %v, want %v", j, m.Column(j), s.now.Column(j))
		}
	}
}

func (s *proofStory) step() {
	rows := s.now.Rows()
	switch k := s.r.IntN(20); {
	case k < 3:
		s.past = append(s.past, pastPoint{s.proof.Mark(), s.copied()})
		s.steps = append(s.steps, "mark")
	case k < 7:
		at := s.r.IntN(len(s.past))
		to := s.past[at]
		s.past = s.past[:at+1]
		s.proof.Rollback(to.mark)
		s.now.CopyFrom(to.free)
		s.steps = append(s.steps, fmt.Sprintf("back to %d", at))
	case k < 8 || rows == 0:
		s.wrong()
	default:
		s.release(s.r.IntN(rows))
	}
}

// release releases a victim.
func (s *proofStory) release(row int) {
	v := make(vec, s.r.IntN(s.now.Cols()+1))
	for j := range v {
		if v[j] = math.Abs(s.scale(s.r, float64(s.r.IntN(4)))); !(v[j] <= math.MaxFloat64) {
			v[j] = 0
		}
	}
	s.steps = append(s.steps, fmt.Sprintf("%d %v", row, v))
	if got, want := s.proof.Release(row, v), s.now.AddToRow(row, v); fmt.Sprint(got) != fmt.Sprint(want) {
		s.fail("Release: %v, want %v", got, want)
	}
}

// wrong makes a call that has to fail.
func (s *proofStory) wrong() {
	rows, cols := s.now.Rows(), s.now.Cols()
	row, v := 0, make(vec, cols)
	if rows == 0 || s.r.IntN(3) == 0 {
		row = []int{-1, rows, rows + 100, math.MinInt}[s.r.IntN(4)]
	} else {
		row = s.r.IntN(rows)
		v[s.r.IntN(cols)] = []float64{-1, nan, inf, -inf, -tiny}[s.r.IntN(5)]
	}
	err := s.proof.Release(row, v)
	var amount *vector.AmountError
	if isAmount := errors.As(err, &amount); !isAmount && !errors.Is(err, vector.ErrShape) || isAmount && amount.Row != row {
		s.fail("row %d, %v: %v", row, v, err)
	}
	s.steps = append(s.steps, "wrong")
}

// proofCase returns a random instance: small ones close to the border, and larger ones
// with more rows than a block.
func proofCase(r *rand.Rand, kind int) packCase {
	c := smallCase(r, false)
	if r.IntN(3) == 0 {
		rows, cols := 60+r.IntN(150), c.free.Cols()
		free := vector.NewMatrix(none, rows, cols)
		v := make(vec, cols)
		for i := range rows {
			for j := range v {
				v[j] = amountKinds[kind].scale(r, float64(r.IntN(6)-2))
			}
			free.SetRow(i, v)
		}
		requests := vector.NewMatrix(none, r.IntN(90), cols)
		shapes := []int{1, 2, 3, 40}[r.IntN(4)]
		for i := range requests.Rows() {
			for j := range v {
				v[j] = amountKinds[kind].scale(r, float64((i%shapes+j*3)%7))
			}
			requests.SetRow(i, v)
		}
		c.free, c.requests, c.rows = free, requests, nil
		if r.IntN(2) == 0 {
			c.rows = vector.NewMask(rows)
			testkit.FillMask(r, c.rows.Words())
			testkit.TrimMask(c.rows.Words(), rows)
		}
	} else if n := c.requests.Rows(); n > 1 && r.IntN(2) == 0 {
		for i := range n { // alike, or a leader and workers
			if i != r.IntN(2*n) {
				c.requests.SetRow(i, c.requests.Row(nil, 0))
			}
		}
	}
	return c
}

// proofStories returns the story of a gang anywhere, or within one of many sets of rows.
func proofStories(within bool) story {
	return func(t testing.TB, proof *gang.Proof, seed uint64, steps int) {
		r := testkit.Rand(seed)
		kind := r.IntN(len(amountKinds))
		s := &proofStory{t: t, r: r, proof: proof, scale: amountKinds[kind].scale, c: proofCase(r, kind)}
		if seed%2 == 1 {
			s.c.spread = someSpread(r, s.c.free.Rows())
		}
		if within {
			s.domains = someDomains(r, s.c.free.Rows())
		}
		s.begin()
		// A proof that is asked later has more changes to catch up with.
		if r.IntN(2) == 0 {
			s.check()
		}
		alternate(r, steps, s.step, s.check)
	}
}

// alternate makes so many steps, with a check after some of them and at the end.
func alternate(r *rand.Rand, steps int, step, check func()) {
	often := 1 + r.IntN(4)
	for range steps {
		step()
		if r.IntN(often) == 0 {
			check()
		}
	}
	check()
}

// story makes so many random changes to a Proof and compares it after them.
type story func(t testing.TB, proof *gang.Proof, seed uint64, steps int)

// runStories runs stories of 120 steps with one Proof, on every implementation of the kernels.
func runStories(t *testing.T, run story) {
	testkit.EachImpl(t, func(t *testing.T) {
		stories := 300
		if testing.Short() {
			stories = 40
		}
		manyStories(t, stories, 120, run)
	})
}

// manyStories runs so many stories with one Proof, fewer under the race detector.
func manyStories(t *testing.T, stories, steps int, run story) {
	var proof gang.Proof
	if testkit.RaceEnabled {
		stories = 40
	}
	for seed := range uint64(stories) {
		run(t, &proof, seed, steps)
	}
}

// fuzzStories runs stories of less than most steps.
func fuzzStories(f *testing.F, most uint16, run story) {
	f.Add(uint64(1), uint16(50))
	f.Fuzz(func(t *testing.T, seed uint64, steps uint16) {
		run(t, new(gang.Proof), seed, int(steps%most))
	})
}

func TestProofStories(t *testing.T) { runStories(t, proofStories(false)) }

func FuzzProof(f *testing.F) { fuzzStories(f, 400, proofStories(false)) }

// TestProofMany releases until a gang of many shapes fits, one condition after the other, and
// takes one victim after the other back.
func TestProofMany(t *testing.T) {
	for _, members := range []int{40, 64} {
		c := manyKinds(members)
		var p gang.Proof
		var packer gang.Packer
		p.Reset(c.free, c.requests, nil)
		check := func(released int) {
			t.Helper()
			why, infeasible := p.Infeasible()
			want, wanted := packer.Infeasible(p.Matrix(), c.requests, nil, nil)
			if infeasible != wanted || why != want || infeasible == (released == members) {
				t.Fatalf("%d released: %v %+v, want %v %+v", released, infeasible, why, wanted, want)
			}
		}
		var v vec
		var marks []gang.Mark
		for i, row := range c.victims.Rows {
			check(i)
			marks = append(marks, p.Mark())
			v = c.victims.Amounts.Row(v, i)
			testkit.Check(p.Release(int(row), v))
		}
		check(members)
		for i := members - 1; i >= 0; i-- {
			p.Rollback(marks[i])
			check(i)
		}
	}
}

func TestProofPanics(t *testing.T) {
	free, requests := matrixOf(2, vec{1}, vec{1}), matrixOf(2, vec{1})
	var p gang.Proof
	if _, infeasible := p.Infeasible(); infeasible || p.Matrix().Rows() != 0 {
		t.Error("the zero Proof proves something")
	}
	p.Rollback(p.Mark())
	if err := p.Release(0, nil); err == nil {
		t.Error("released on a row of the zero Proof")
	}
	wantPanic(t, "gang: matrices have different widths", func() { p.Reset(free, matrixOf(1, vec{1}), nil) })
	wantPanic(t, "gang: mask lengths differ", func() { p.Reset(free, requests, vector.NewMask(3)) })
	p.Reset(free, requests, nil)
	wantPanic(t, "gang: vector is longer than the matrix is wide", func() { _ = p.Release(0, vec{1, 1, 1}) })

	const void = "vector: mark is no longer in the overlay's history"
	release := func() { _ = p.Release(0, vec{1}) }
	first := p.Mark()
	release()
	second := p.Mark()
	release()
	third := p.Mark()
	p.Rollback(second)
	wantPanic(t, void, func() { p.Rollback(third) })
	release() // as much history as when third was taken
	wantPanic(t, void, func() { p.Rollback(third) })
	p.Rollback(first)
	wantPanic(t, void, func() { p.Rollback(second) })
	p.Reset(free, requests, nil)
	wantPanic(t, void, func() { p.Rollback(first) })
	p.Rollback(gang.Mark{})
	wantMatrix(t, "after void marks", p.Matrix(), [][]float64{{1, 0}, {1, 0}})
}

// TestProofAllocations: nothing allocates once the memory has grown.
func TestProofAllocations(t *testing.T) {
	for _, identical := range []bool{true, false} {
		c := manyRows(1, identical)
		var p gang.Proof
		amounts := rowsOf(c.victims.Amounts)
		story := func() {
			p.Reset(c.free, c.requests, c.rows)
			for i, row := range c.victims.Rows {
				_ = p.Release(int(row), amounts[i])
				p.Infeasible()
			}
			mark := p.Mark()
			_ = p.Release(1, amounts[0])
			p.Infeasible()
			p.Rollback(mark)
			p.Infeasible()
			p.Matrix()
		}
		wantNoAllocations(t, 2, story, identical)
	}
}
