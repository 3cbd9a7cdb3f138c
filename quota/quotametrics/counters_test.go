package quotametrics_test

import (
	"fmt"

	"github.com/prometheus/client_golang/prometheus"
	"github.com/resvec/resvec/quota/quotametrics"
	"github.com/resvec/resvec/vector"
	"github.com/resvec/resvec/vector/gang"
)

// Two workers place gangs, each with a packer of its own.
func ExampleNewCounters() {
	packers := []*gang.Packer{gang.NewPacker(gang.Options{}), gang.NewPacker(gang.Options{})}
	registry := prometheus.NewRegistry()
	registry.MustRegister(quotametrics.NewCounters("gang", packers[0], packers[1]))

	free := vector.NewMatrix(vector.Schema{}, 2, 1)
	free.SetColumn(0, 0, []float64{4, 4})
	for i, gpus := range []float64{4, 5} { // one on each node, and more than a node has
		requests := vector.NewMatrix(vector.Schema{}, 2, 1)
		requests.SetColumn(0, 0, []float64{gpus, gpus})
		if _, infeasible := packers[i].Infeasible(free, requests, nil, nil); !infeasible {
			packers[i].Place(nil, free, requests, nil, nil)
		}
	}

	families, _ := registry.Gather()
	for _, family := range families {
		fmt.Println(family.GetName(), family.Metric[0].GetCounter().GetValue())
	}
	fmt.Println(families[0].GetHelp())
	// Output:
	// resvec_gang_filters_asked_total 0
	// resvec_gang_filters_found_total 0
	// resvec_gang_placements_asked_total 1
	// resvec_gang_placements_found_total 1
	// resvec_gang_proofs_asked_total 2
	// resvec_gang_proofs_won_total 1
	// filters asked since the start: see the method Counters of what counts.
}
