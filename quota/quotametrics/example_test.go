package quotametrics_test

import (
	"fmt"
	"log"

	"github.com/prometheus/client_golang/prometheus"
	"github.com/resvec/resvec/quota"
	"github.com/resvec/resvec/quota/quotametrics"
)

// A queue that may use five cards and has promised four of them.
func Example() {
	ledger, err := quota.New(quota.Config{}, nil, []quota.Queue{{
		Name: "team-a", Annotations: map[string]string{quota.QuotaAnnotation: `{"A100": 5}`},
	}})
	if err != nil {
		log.Fatal(err)
	}
	job, _, err := ledger.ResolveJob(quota.Job{
		ID: "train", Queue: "team-a", Annotations: map[string]string{quota.RequestAnnotation: `{"A100": 4}`},
	})
	if err != nil {
		log.Fatal(err)
	}
	if _, err := ledger.Reserve(job); err != nil {
		log.Fatal(err)
	}

	registry := prometheus.NewRegistry()
	registry.MustRegister(quotametrics.NewCollector(ledger))
	families, err := registry.Gather()
	if err != nil {
		log.Fatal(err)
	}
	for _, family := range families {
		for _, metric := range family.Metric {
			fmt.Println(family.GetName(), metric.GetGauge().GetValue())
		}
	}
	// Output:
	// volcano_queue_card_allocated 0
	// volcano_queue_card_capacity 5
	// volcano_queue_card_deserved 5
	// volcano_queue_card_inqueue 4
	// volcano_queue_card_request 0
	// volcano_queue_card_reservations 1
	// volcano_queue_card_share 0
}
