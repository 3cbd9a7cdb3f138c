package scoring

import (
	"math"
	"math/bits"
	"slices"

	"github.com/resvec/resvec/internal/kernel"
	"github.com/resvec/resvec/vector"
)

// Normalization says how the scores of a batch are rescaled, over the selected
// rows; empty: not at all.
type Normalization string

const (
	NormalizeMinMax  Normalization = "MinMax"  // the least becomes 0, the greatest 100; all 0 when they are equal
	NormalizeMax     Normalization = "Max"     // the greatest becomes 100; unchanged when it is not positive
	NormalizeReverse Normalization = "Reverse" // 100 - NormalizeMax: the greatest becomes 0; all 100 when it is not positive
)

var normalizations = []Normalization{NormalizeMinMax, NormalizeMax, NormalizeReverse}

const (
	panicNormalization = "scoring: unknown normalization"
	panicMaskLong      = "scoring: mask has more rows than there are scores"
)

// NormalizeScores rescales the selected scores in place; a nil mask selects all.
// With v a score, and min and max the least and the greatest selected one,
//
//	NormalizeMinMax:  ((v − min)·100) / (max − min), 0 if max = min
//	NormalizeMax:     (v·100) / max, v if max <= 0
//	NormalizeReverse: 100 − (v·100)/max, 100 if max <= 0
//
// NormalizeMax and NormalizeReverse are kube-scheduler's default normalization.
// Divisions of int64 truncate, and are exact: products don't wrap around, and
// quotients beyond int64 become its ends. A NaN stays one and is neither min nor
// max. Other scores have no influence and are not written, but must not be
// written by others at the same time. A mask may have fewer rows than there are
// scores, not more.
func NormalizeScores[T vector.Score](scores []T, rows *vector.Mask, mode Normalization) {
	scores = upTo(scores, rows)
	if mode != "" && !slices.Contains(normalizations, mode) {
		panic(panicNormalization)
	}
	switch scores := any(scores).(type) {
	case []float64:
		rescalingOf(scores, wordsOf(rows), mode).apply(scores, scores, wordsOf(rows))
	case []int64:
		normalizeInts(scores, wordsOf(rows), mode)
	}
}

// upTo returns the scores of the rows that a mask ranges over, all with a nil
// mask.
func upTo[T vector.Score](scores []T, rows *vector.Mask) []T {
	if rows == nil {
		return scores
	}
	if rows.Len() > len(scores) {
		panic(panicMaskLong)
	}
	return scores[:rows.Len()]
}

// rescaling is a normalization over known scores.
type rescaling struct {
	kind      rescalingKind
	low, span float64 // of toSpan and reversed
	constant  float64
}

type rescalingKind uint8

const (
	unchanged rescalingKind = iota
	toConstant
	toSpan   // ((v-low)*100)/span
	reversed // 100 - ((v-low)*100)/span
)

// rescalingOf looks for the extremes of the selected scores. The zeros that it
// returns are +0.
func rescalingOf(scores []float64, rows []uint64, mode Normalization) rescaling {
	if mode == "" {
		return rescaling{}
	}
	most := kernel.Max(scores, rows)
	switch {
	case mode == NormalizeMinMax:
		least := kernel.Min(scores, rows)
		if least == most {
			return rescaling{kind: toConstant}
		}
		return rescaling{kind: toSpan, low: least, span: most - least}
	case most > 0 && mode == NormalizeMax:
		return rescaling{kind: toSpan, span: most}
	case most > 0:
		return rescaling{kind: reversed, span: most}
	case mode == NormalizeReverse:
		return rescaling{kind: toConstant, constant: 100}
	}
	return rescaling{}
}

// apply sets the selected elements of dst from src, which may be dst. It does
// nothing when r is unchanged.
func (r rescaling) apply(dst, src []float64, rows []uint64) {
	switch r.kind {
	case toConstant:
		kernel.EachRow(len(src), rows, func(i int) {
			if dst[i] = src[i]; src[i] == src[i] {
				dst[i] = r.constant
			}
		})
	case toSpan, reversed:
		kernel.Rescale(dst, src, r.low, r.span, r.kind == reversed, rows)
	}
}

// linear returns the factor and the offset that r comes to: an explanation multiplies the
// contributions by the factor, and lists the offset, which no resource has, on its own.
func (r rescaling) linear() (factor, offset float64) {
	switch r.kind {
	case toConstant:
		return 0, r.constant
	case toSpan:
		return 100 / r.span, (0 - r.low) * (100 / r.span)
	case reversed:
		return -100 / r.span, 100
	}
	return 1, 0
}

// normalizeInts is NormalizeScores for int64.
func normalizeInts(scores []int64, rows []uint64, mode Normalization) {
	greatest := kernel.ArgMax(scores, rows)
	if mode == "" || greatest < 0 {
		return
	}
	most, least := scores[greatest], int64(0)
	if mode == NormalizeMinMax {
		least = scores[kernel.ArgMin(scores, rows)]
	}
	kernel.EachRow(len(scores), rows, func(i int) { scores[i] = normalizedInt(scores[i], least, most, mode) })
}

// normalizedInt rescales one score.
func normalizedInt(x, least, most int64, mode Normalization) int64 {
	switch {
	case mode == NormalizeMinMax && least == most:
		return 0
	case mode == NormalizeMinMax:
		return int64(percent(uint64(x)-uint64(least), uint64(most)-uint64(least)))
	case mode == NormalizeMax && most > 0:
		return signedPercent(x, most)
	case mode == NormalizeMax:
		return x
	case most <= 0:
		return 100
	}
	p := signedPercent(x, most)
	if p < 100-math.MaxInt64 { // 100 - p would wrap around
		return math.MaxInt64
	}
	return 100 - p
}

// signedPercent returns x*100/whole truncated toward 0, at least MinInt64. x is
// at most whole, which is positive.
func signedPercent(x, whole int64) int64 {
	if x >= 0 {
		return int64(percent(uint64(x), uint64(whole)))
	}
	// -uint64(x) is the magnitude of x, also of MinInt64, which has none as an int64.
	return -int64(min(percent(-uint64(x), uint64(whole)), 1<<63))
}

// percent returns floor(x*100/whole), at most MaxUint64. The product has up to 71 bits,
// and Div64 panics where the quotient has more than 64.
func percent(x, whole uint64) uint64 {
	high, low := bits.Mul64(x, 100)
	if high >= whole {
		return math.MaxUint64
	}
	q, _ := bits.Div64(high, low, whole)
	return q
}
