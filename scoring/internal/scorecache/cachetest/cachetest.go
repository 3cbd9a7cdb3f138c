// Package cachetest checks caches of scores against full passes: [Run] changes a
// [World] at random and compares the answers of its cache with the answers of a full pass.
package cachetest

import (
	"errors"
	"fmt"
	"math"
	"math/rand/v2"
	"reflect"
	"slices"
	"testing"

	"github.com/resvec/resvec/internal/testkit"
	"github.com/resvec/resvec/vector"
)

// World is a cluster that changes at random, a cache that is asked about
// it, and the full pass that the cache must equal.
type World interface {
	Rows() int
	Change() // something, other than the number of rows
	Reshape()
	Ask() // draws the query for the methods below
	Full() (scores []float64, feasible *vector.Mask, err error)
	Best(vector.Tie) (int, float64, error)
	TopK(k int, tie vector.Tie) ([]int32, error)
	Scores() ([]float64, *vector.Mask, error)
	Reset()
}

// Dice are the random choices of a world. Mask is the row mask of its queries.
type Dice struct {
	*rand.Rand
	Mask   *vector.Mask
	chosen int // the last row that was
}

// Row draws one of n rows, often the one chosen last, as the pod would go there.
func (d *Dice) Row(n int) int {
	if d.chosen < n && d.IntN(2) == 0 {
		return d.chosen
	}
	return d.IntN(n)
}

// Choose notes the answer of Best.
func (d *Dice) Choose(row int, score float64, err error) (int, float64, error) {
	d.chosen = max(row, 0)
	return row, score, err
}

// ChangeMask changes some bits, or most, or drops the mask.
func (d *Dice) ChangeMask(n int) {
	switch {
	case n == 0 || d.IntN(5) == 0:
		d.Mask = nil
	case d.Mask == nil || d.IntN(5) == 0:
		d.Mask = vector.NewMask(n)
		testkit.FillMask(d.Rand, d.Mask.Words())
		testkit.TrimMask(d.Mask.Words(), n)
	default:
		for range 5 {
			d.Mask.Set(d.IntN(n))
			d.Mask.Clear(d.IntN(n))
		}
	}
}

// tieDraw are the ties of one rule for a cache and for the full pass, whose
// cursors are apart.
type tieDraw struct {
	ties    [2]vector.Tie
	cursors [2]int
}

// draw takes a tie of any rule for n rows.
func (t *tieDraw) draw(r *rand.Rand, n int) {
	switch r.IntN(7) {
	case 0, 1, 2:
		rank := make([]int32, n)
		for i := range rank {
			rank[i] = int32(r.IntN(n+1) - n/2)
		}
		t.ties = [2]vector.Tie{vector.TieRank(rank), vector.TieRank(rank)}
	case 3, 4:
		seed := r.Uint64N(3)
		t.ties = [2]vector.Tie{vector.TieSeeded(seed), vector.TieSeeded(seed)}
	case 5:
		t.ties = [2]vector.Tie{vector.TieLowest(), vector.TieLowest()}
	case 6:
		t.cursors[0] = r.IntN(2000) - 1000
		t.cursors[1] = t.cursors[0]
		t.ties = [2]vector.Tie{vector.TieRoundRobin(&t.cursors[0]), vector.TieRoundRobin(&t.cursors[1])}
	}
}

// Run changes a world and compares answers of its cache with full passes,
// until it was asked so many times.
func Run(t *testing.T, w World, r *rand.Rand, steps int) {
	var ties tieDraw
	ties.draw(r, w.Rows())
	for step := range steps {
		w.Change()
		if r.IntN(15) == 0 {
			w.Reshape()
			ties.draw(r, w.Rows())
		} else if r.IntN(8) == 0 {
			ties.draw(r, w.Rows())
		}
		if r.IntN(100) == 0 {
			w.Reset()
		}
		w.Ask()
		if d := compare(w, r, &ties); d != "" {
			t.Fatalf("step %d, %d rows: %s", step, w.Rows(), d)
		}
	}
}

// compare asks a cache once and describes how the answer differs from that
// of a full pass.
func compare(w World, r *rand.Rand, ties *tieDraw) string {
	want, feasible, wantErr := w.Full()
	var got, expected any
	var err error
	switch r.IntN(6) {
	case 0:
		scores, mask, e := w.Scores()
		if err = e; err == nil && (len(scores) != len(want) || testkit.Difference(scores, want) >= 0 || !mask.Equal(feasible)) {
			return fmt.Sprintf("Scores are %v of %v, want %v of %v", scores, mask.Words(), want, feasible.Words())
		}
	case 1:
		k := r.IntN(50)
		got, err = w.TopK(k, ties.ties[0])
		if wantErr == nil {
			expected = vector.TopK(nil, want, feasible, k, ties.ties[1])
		}
	default:
		var score float64
		var row int
		row, score, err = w.Best(ties.ties[0])
		got = [2]uint64{uint64(row), math.Float64bits(score)}
		if wantErr == nil {
			score := 0.0
			row := vector.ArgMax(want, feasible, ties.ties[1])
			if row >= 0 {
				score = want[row]
			}
			expected = [2]uint64{uint64(row), math.Float64bits(score)}
		}
	}
	switch {
	case !reflect.DeepEqual(err, wantErr) && !errors.Is(err, wantErr):
		return fmt.Sprintf("error %v, want %v", err, wantErr)
	case err == nil && !reflect.DeepEqual(got, expected):
		return fmt.Sprintf("answer %v, want %v", got, expected)
	case ties.cursors[0] != ties.cursors[1]:
		return fmt.Sprintf("cursor %d, want %d", ties.cursors[0], ties.cursors[1])
	}
	return ""
}

// NoScores returns the scores of n rows that are not feasible.
func NoScores(n int) []float64 { return slices.Repeat([]float64{math.NaN()}, n) }

// Bounds are values of MaxBytes: no bound to speak of, room for one request,
// and for some.
var Bounds = []int64{0, 1, 10_000}

// Choices is a source of random numbers that a fuzzer can steer: a byte a
// number.
type Choices struct {
	Data []byte
	Then rand.Source
}

func (s *Choices) Uint64() uint64 {
	if len(s.Data) == 0 {
		return s.Then.Uint64()
	}
	b := s.Data[0]
	s.Data = s.Data[1:]
	return uint64(b) * 0x0101010101010101
}
