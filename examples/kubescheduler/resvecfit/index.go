package resvecfit

import (
	"math/bits"
	"reflect"

	fwk "k8s.io/kube-scheduler/framework"
)

// index finds the row of a node by the identity of its NodeInfo: a hash table with
// open addressing, in which neighbours in memory are neighbours. It is asked several
// times for every node that a cycle visits, mostly by a cold cache. The nodes are
// visited about in the order in which they were allocated, so that most slots are
// in the cache by the time they are needed, as they would not be if scattered. The
// nodes have to be kept alive, since only their addresses are in it.
type index struct {
	slots []slot // a power of two
	shift int
}

type slot struct {
	address uintptr // 0: empty
	row     int
}

// newIndex returns an empty index with room for n nodes.
func newIndex(n int) index {
	width := bits.Len(uint(2*n + 1)) // at most half full
	return index{slots: make([]slot, 1<<width), shift: 64 - width}
}

// addressOf returns the address of the node's object, 0 when it is none.
func addressOf(node fwk.NodeInfo) uintptr {
	if v := reflect.ValueOf(node); v.Kind() == reflect.Pointer {
		return v.Pointer()
	}
	return 0
}

// probe returns where an address belongs, and how far on the next slot for it is.
func (x *index) probe(address uintptr) (at, step uint64) {
	// Fibonacci hashing of the page, of 8 KiB, and then the place in it by 128 bytes,
	// which is less than a NodeInfo has. Pages that meet are parted by double hashing
	// (Knuth, The Art of Computer Programming, vol. 3, 6.4).
	hash := uint64(address>>13) * 0x9E3779B97F4A7C15
	return hash>>x.shift + uint64(address>>7&63), hash>>20 | 1
}

// find returns the slot of an address, or the empty one where it belongs.
func (x *index) find(address uintptr) *slot {
	for at, step := x.probe(address); ; at += step {
		s := &x.slots[at&uint64(len(x.slots)-1)]
		if s.address == address || s.address == 0 {
			return s
		}
	}
}

// set gives a node a row.
func (x *index) set(node fwk.NodeInfo, row int) {
	if address := addressOf(node); address != 0 {
		*x.find(address) = slot{address, row}
	}
}

// row returns the row of a node.
func (x *index) row(node fwk.NodeInfo) (int, bool) {
	address := addressOf(node)
	if address == 0 || len(x.slots) == 0 {
		return 0, false
	}
	s := x.find(address)
	return s.row, s.address != 0
}
