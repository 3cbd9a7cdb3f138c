package resvecfit

import (
	"math/rand/v2"
	"testing"
)

// TestIndex: every address finds its row, with few probes wherever the nodes are in
// memory.
func TestIndex(t *testing.T) {
	const size, page = 176, 8 << 10 // a NodeInfo, and what they are allocated in
	for _, n := range []int{1, 100, 1000, 5000} {
		for _, gap := range []int{1, 2, 10, 1000} {
			r := rand.New(rand.NewPCG(uint64(n), uint64(gap)))
			x := newIndex(n)
			var addresses []uintptr
			for at := uintptr(0xc000000000); len(addresses) < n; at += page * uintptr(1+r.IntN(gap)) {
				for place := uintptr(0); place+size <= page && len(addresses) < n; place += size * uintptr(1+r.IntN(2)) {
					addresses = append(addresses, at+place)
					*x.find(at + place) = slot{at + place, len(addresses)}
				}
			}
			probes := 0
			for i, address := range addresses {
				at, step := x.probe(address)
				for x.slots[at%uint64(len(x.slots))].address != address {
					at += step
					probes++
				}
				if s := x.find(address); s.address != address || s.row != i+1 {
					t.Fatalf("%d nodes, gap %d: address %x finds %x, row %d", n, gap, address, s.address, s.row)
				}
				if s := x.find(address + 8); s.address != 0 {
					t.Fatalf("%d nodes, gap %d: address %x, which is no node's, finds %x", n, gap, address+8, s.address)
				}
			}
			if mean := float64(probes) / float64(n); mean > 1 {
				t.Errorf("%d nodes, gap %d: %.2f probes more than one", n, gap, mean)
			}
		}
	}
}
