//go:build amd64 && !purego

package kernel

import (
	"math/bits"
	"unsafe"
)

//go:generate env GOWORK=off go -C _asm run ./kube -out ../kube_amd64.s -stubs ../kube_stubs_amd64.go -pkg kernel

func kube[T Number](dst []T, t KubeType, entries []KubeEntry, table *KubeTable, rows []uint64) {
	if active == Generic || len(entries) > KubeEntries {
		kubeGeneric(dst, t, entries, table, rows)
		return
	}
	raceSelected(dst, rows)
	for k := range entries {
		raceReadSelected(entries[k].Used[:len(dst)], rows)
		raceReadSelected(entries[k].Allocatable[:len(dst)], rows)
		if r := entries[k].Reciprocals; r != nil {
			raceReadSelected(r[:len(dst)], rows)
		}
		entries[k].prepare()
	}
	c := kubeCall{list: (*byte)(unsafe.Pointer(unsafe.SliceData(entries))), count: len(entries)}
	if !isFloat[T]() {
		c.whole = 1
	}
	step := min(chunkRows(len(entries)), kubeRows)
	for lo := 0; lo < len(dst); lo += step {
		c.lo, c.n = lo, min(step, len(dst)-lo)
		c.dst = (*uint64)(unsafe.Pointer(&dst[lo]))
		c.rows, c.step = maskFrom(rows, lo)
		clear(c.slow[:])
		c.run(t, table)
		for w, word := range c.slow {
			for ; word != 0; word &= word - 1 {
				r := lo + w*Block + bits.TrailingZeros64(word)
				dst[r] = T(KubeRow(t, entries, table, r))
			}
		}
	}
}

// kubeRows is how many rows one call takes at most, a multiple of Block.
const kubeRows = 1 << 12

// kubeCall is a call into assembly.
type kubeCall struct {
	dst   *uint64 // the bits of the scores from row lo on
	whole int     // 1: they are integers
	n, lo int
	list  *byte // the entries
	count int
	rows  *uint64 // the mask's word of row lo
	step  int

	slow [kubeRows / Block]uint64 // result: the rows, from lo on, that are left to KubeRow
}

func (c *kubeCall) run(t KubeType, table *KubeTable) {
	slow, wide := &c.slow[0], active == AVX512
	switch {
	case t == KubeLeast && wide:
		kubeLeastAVX512(c.dst, c.whole, slow, c.n, c.lo, c.list, c.count, c.rows, c.step)
	case t == KubeLeast:
		kubeLeastAVX2(c.dst, c.whole, slow, c.n, c.lo, c.list, c.count, c.rows, c.step)
	case t == KubeMost && wide:
		kubeMostAVX512(c.dst, c.whole, slow, c.n, c.lo, c.list, c.count, c.rows, c.step)
	case t == KubeMost:
		kubeMostAVX2(c.dst, c.whole, slow, c.n, c.lo, c.list, c.count, c.rows, c.step)
	case t == KubeRatio && wide:
		kubeRatioAVX512(c.dst, c.whole, slow, c.n, c.lo, c.list, c.count, c.rows, c.step, &table[0])
	case t == KubeRatio:
		kubeRatioAVX2(c.dst, c.whole, slow, c.n, c.lo, c.list, c.count, c.rows, c.step, &table[0])
	default:
		c.balanced(wide)
	}
}

// balanced gives the assembly room for two vectors of fractions per entry and vector of rows.
func (c *kubeCall) balanced(wide bool) {
	var fractions [KubeEntries * 2 * 2 * 8]float64
	slow := &c.slow[0]
	if wide {
		kubeBalancedAVX512(c.dst, c.whole, slow, c.n, c.lo, c.list, c.count, c.rows, c.step, &fractions[0])
	} else {
		kubeBalancedAVX2(c.dst, c.whole, slow, c.n, c.lo, c.list, c.count, c.rows, c.step, &fractions[0])
	}
}

// prepare sets what the assembly computes with: the request, or if that is
// more than any amount that the assembly takes, a number that is so too, its
// hundredfold, and 2^52 more. The hundredfold is exact up to 2^53, and more than
// that of any such amount beyond.
func (e *KubeEntry) prepare() {
	e.Lane = min(e.Request, 1<<47)
	e.Lane100, e.Lane52 = e.Lane*100, 1<<52+e.Lane
	e.Whole = uint64(e.Weight)
}
