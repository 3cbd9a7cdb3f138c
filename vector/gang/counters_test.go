package gang_test

import (
	"maps"
	"testing"

	"github.com/resvec/resvec/internal/testkit"
	"github.com/resvec/resvec/vector"
	"github.com/resvec/resvec/vector/gang"
)

// TestCounters asks each question once with one result, and once with the other.
func TestCounters(t *testing.T) {
	free := vector.NewMatrix(vector.Schema{}, 1, 1)
	free.SetColumn(0, 0, []float64{4})
	fits, not := vector.NewMatrix(vector.Schema{}, 1, 1), vector.NewMatrix(vector.Schema{}, 1, 1)
	fits.SetColumn(0, 0, []float64{4})
	not.SetColumn(0, 0, []float64{5})
	domains := &gang.Domains{Rows: []int32{0}, Offsets: vector.Offsets{0, 1}}
	topology := testkit.Must(gang.NewTopology("rack"))
	testkit.Check(topology.Set(0, "node", "rack"))

	var p gang.Packer
	var proof gang.Proof
	for _, requests := range []*vector.Matrix{fits, not} {
		p.Infeasible(free, requests, nil, nil)
		p.Infeasible(free, requests, nil, domains)
		p.Place(nil, free, requests, nil, nil)
		p.Place(nil, free, requests, nil, domains)
		p.Filter(nil, vector.NewOverlay(free), requests, nil, nil, nil)
		p.Filter(nil, vector.NewOverlay(free), requests, nil, domains, nil)
		request := gang.TopologyRequest{Count: 1, Request: requests.Row(nil, 0)}
		p.PlaceTopology(gang.TopologyPlacement{}, free, request, nil, topology)
		p.FilterTopology(gang.TopologyPlacement{}, vector.NewOverlay(free), request, nil, topology, nil)
		proof.Reset(free, requests, nil)
		proof.Infeasible()
	}
	want := map[string]uint64{
		"proofs_asked": 4, "proofs_won": 2,
		"placements_asked": 6, "placements_found": 3,
		"filters_asked": 6, "filters_found": 3,
	}
	if got := maps.Collect(p.Counters()); !maps.Equal(got, want) {
		t.Errorf("packer: %v, want %v", got, want)
	}
	want = map[string]uint64{"proofs_asked": 2, "proofs_won": 1}
	if got := maps.Collect(proof.Counters()); !maps.Equal(got, want) {
		t.Errorf("proof: %v, want %v", got, want)
	}
	for name := range p.Counters() { // a loop may stop
		if name != "proofs_asked" {
			t.Error("the first is", name)
		}
		break
	}
}
