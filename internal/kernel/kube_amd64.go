//go:build amd64 && !purego

package kernel

import (
	"math/bits"
	"unsafe"
)

//go:generate env GOWORK=off go -C _asm run ./kube -out ../kube_amd64.s -stubs ../kube_stubs_amd64.go -pkg kernel

// Kube sets dst[r] to KubeRow of every selected row; other elements are not
// touched. The columns of the entries stand in matrices and have an element per
// element of dst. table is for KubeRatio only.
//
// It stays a call: inlined into another package, the generic functions in it
// would make the arguments escape.
//
//go:noinline
func Kube[T Number](dst []T, t KubeType, entries []KubeEntry, table *KubeTable, rows []uint64) {
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
	list, n, whole := (*byte)(unsafe.Pointer(unsafe.SliceData(entries))), len(entries), flag(!isFloat[T]())
	step := min(chunkRows(n), kubeRows)
	for lo := 0; lo < len(dst); lo += step {
		part := dst[lo:min(lo+step, len(dst))]
		to, m := (*uint64)(unsafe.Pointer(&part[0])), len(part)
		word, next := maskFrom(rows, lo)
		var slow [kubeRows / Block]uint64 // the rows, from lo on, that are left to KubeRow
		switch wide := active == AVX512; {
		case t == KubeLeast && wide:
			kubeLeastAVX512(to, whole, &slow[0], m, lo, list, n, word, next)
		case t == KubeLeast:
			kubeLeastAVX2(to, whole, &slow[0], m, lo, list, n, word, next)
		case t == KubeMost && wide:
			kubeMostAVX512(to, whole, &slow[0], m, lo, list, n, word, next)
		case t == KubeMost:
			kubeMostAVX2(to, whole, &slow[0], m, lo, list, n, word, next)
		case t == KubeRatio && wide:
			kubeRatioAVX512(to, whole, &slow[0], m, lo, list, n, word, next, &table[0])
		case t == KubeRatio:
			kubeRatioAVX2(to, whole, &slow[0], m, lo, list, n, word, next, &table[0])
		default:
			var room kubeRoom
			if wide {
				kubeBalancedAVX512(to, whole, &slow[0], m, lo, list, n, word, next, &room[0])
			} else {
				kubeBalancedAVX2(to, whole, &slow[0], m, lo, list, n, word, next, &room[0])
			}
		}
		for w, word := range slow {
			for ; word != 0; word &= word - 1 {
				r := w*Block + bits.TrailingZeros64(word)
				part[r] = T(KubeRow(t, entries, table, lo+r))
			}
		}
	}
}

// kubeRows is how many rows one call takes at most, a multiple of Block.
const kubeRows = 1 << 12

// kubeRoom is where KubeBalanced keeps the fractions of some rows: two vectors per entry
// and vector of rows.
type kubeRoom [KubeEntries * 2 * 2 * 8]float64

// prepare sets what the assembly computes with: the request, or if that is
// more than any amount that the assembly takes, a number that is so too, its
// hundredfold, and 2^52 more. The hundredfold is exact up to 2^53, and more than
// the hundredfold of any such amount beyond.
func (e *KubeEntry) prepare() {
	e.Lane = min(e.Request, 1<<47)
	e.Lane100, e.Lane52 = e.Lane*100, 1<<52+e.Lane
	e.Whole = uint64(e.Weight)
}
