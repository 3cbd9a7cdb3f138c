package resvecfit

import (
	"math/bits"
	"reflect"

	fwk "k8s.io/kube-scheduler/framework"
)

// index finds the row of a node by the identity of its NodeInfo: a hash table with
// open addressing. It is asked several times for every node that a cycle visits,
// mostly by a cold cache, where it takes a third of the time of a map. The nodes
// have to be kept alive, since only their addresses are in it.
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

// find returns the slot of an address, or the empty one where it belongs.
func (x *index) find(address uintptr) *slot {
	// Fibonacci hashing (Knuth, The Art of Computer Programming, vol. 3, 6.4).
	at := uint64(address) * 0x9E3779B97F4A7C15 >> x.shift
	for {
		s := &x.slots[at]
		if s.address == address || s.address == 0 {
			return s
		}
		at = (at + 1) & uint64(len(x.slots)-1)
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
