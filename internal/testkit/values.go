package testkit

import (
	"bytes"
	"encoding/binary"
	"math"
	"math/rand/v2"
)

// Rand returns a random source that depends on seed only.
func Rand(seed uint64) *rand.Rand {
	return rand.New(rand.NewPCG(seed, 0x9e3779b97f4a7c15))
}

// Specials returns the values where float64 code goes wrong, or code that
// rounds to float32: zeros of both signs, NaN, infinities, both ends of the
// denormal, normal and tame (2^-500 to 2^500) ranges with a neighbour beyond,
// the ends of the exact integers, and plain numbers, each with both signs.
func Specials() []float64 {
	magnitudes := []float64{
		0, math.SmallestNonzeroFloat64, 0x1p-1030, 0x1p-1022 - 0x1p-1074, 0x1p-1022, 0x1p-969,
		0x1p-501, 0x1p-500, 0x1.fffffffffffffp-501, 0x1.0000000000001p-500,
		0.1, 1.0 / 3, 0.5, 1 - 0x1p-53, 1, 1 + 0x1p-52, 3, 1000, 65536,
		1<<53 - 1, 1 << 53, 1<<53 + 2, 1 << 62, 1<<63 - 1024, 1 << 63, 1 << 64,
		0x1p-150, 0x1p-149, 0x1.fffffcp-127, 0x1p-126, 1 + 0x1p-23, 1<<24 - 1, 1 << 24, 1<<24 + 1, math.MaxFloat32, 0x1p128,
		0x1p500, 0x1.0000000000001p500, 0x1.fffffffffffffp499, 0x1p501, 0x1p1023, math.MaxFloat64, math.Inf(1),
	}
	values := []float64{math.NaN()}
	for _, x := range magnitudes {
		values = append(values, x, -x)
	}
	return values
}

// Fill overwrites dst with a mix that hits every branch: mostly small integers,
// which make equal values likely, some fractions, some arbitrary magnitudes and
// one value in sixteen from Specials.
func Fill(r *rand.Rand, dst []float64) {
	specials := Specials()
	for i := range dst {
		switch k := r.IntN(16); {
		case k == 0:
			dst[i] = specials[r.IntN(len(specials))]
		case k == 1:
			dst[i] = math.Ldexp(r.Float64()-0.5, r.IntN(2000)-1000)
		case k < 5:
			dst[i] = r.Float64()
		default:
			dst[i] = float64(r.IntN(16))
		}
	}
}

// FillTame overwrites dst with zeros and positive numbers in [2^-500, 2^500]:
// integers, fractions, and one value in eight of arbitrary magnitude.
func FillTame(r *rand.Rand, dst []float64) {
	for i := range dst {
		switch r.IntN(8) {
		case 0:
			dst[i] = math.Ldexp(1+r.Float64(), r.IntN(1000)-500)
		case 1:
			dst[i] = 0
		case 2:
			dst[i] = 1 + r.Float64()
		default:
			dst[i] = float64(r.IntN(1 << 20))
		}
	}
}

// FillMask overwrites dst with random mask words: a quarter empty, a quarter
// full, a quarter sparse and a quarter of coin flips.
func FillMask(r *rand.Rand, dst []uint64) {
	for i := range dst {
		switch r.IntN(4) {
		case 0:
			dst[i] = 0
		case 1:
			dst[i] = math.MaxUint64
		case 2:
			dst[i] = 1 << r.IntN(64)
		default:
			dst[i] = r.Uint64()
		}
	}
}

// TrimMask clears the bits of rows at and beyond rows in the mask words.
func TrimMask(words []uint64, rows int) {
	for w := range words {
		if in := rows - w*64; in < 64 {
			words[w] &= 1<<max(in, 0) - 1
		}
	}
}

// FloatsOf overwrites dst with the bit patterns in data, repeated as often as
// needed: the way a fuzz target turns bytes into numbers. Without the bytes of
// one number dst is zeroed.
func FloatsOf[F float32 | float64](dst []F, data []byte) {
	size := binary.Size(F(0))
	data = data[:len(data)/size*size]
	if len(data) == 0 {
		clear(dst)
		return
	}
	data = bytes.Repeat(data, len(dst)*size/len(data)+1)
	if _, err := binary.Decode(data, binary.LittleEndian, dst); err != nil {
		panic(err)
	}
}

// BytesOf returns the bit patterns of values, the inverse of FloatsOf: seeds
// for a fuzz target.
func BytesOf(values []float64) []byte {
	var data []byte
	for _, x := range values {
		data = binary.LittleEndian.AppendUint64(data, math.Float64bits(x))
	}
	return data
}

// Same reports whether x and y have the same bits, or are both NaN: which NaN
// an operation returns is the one thing that implementations may differ in.
func Same(x, y float64) bool {
	return math.Float64bits(x) == math.Float64bits(y) || x != x && y != y
}

// Difference returns the first index at which two slices of equal length are
// not the Same, or -1.
func Difference(got, want []float64) int {
	for i, x := range got {
		if !Same(x, want[i]) {
			return i
		}
	}
	return -1
}
