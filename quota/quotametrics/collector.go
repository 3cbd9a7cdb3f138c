// Package quotametrics shows the queues of a card quota to Prometheus:
//
//	registry.MustRegister(quotametrics.NewCollector(ledger))
//
// Amounts are in cards. Names and meanings of the first four are those of
// Volcano's capacity-card plugin:
//
//	volcano_queue_card_deserved{queue_name,card}
//	volcano_queue_card_allocated{queue_name,card}
//	volcano_queue_card_request{queue_name,card}
//	volcano_queue_card_capacity{queue_name,card}
//	volcano_queue_card_inqueue{queue_name,card}
//	volcano_queue_card_share{queue_name}
//	volcano_queue_card_reservations{queue_name}
//	volcano_queue_card_rejections_total{queue_name,reason}
//
// Outputs of a transformation, such as credits, are in whole units:
//
//	resvec_queue_output_deserved{queue_name,output}
//	resvec_queue_output_allocated{queue_name,output}
//	resvec_queue_output_request{queue_name,output}
//	resvec_queue_output_capacity{queue_name,output}
//	resvec_queue_output_inqueue{queue_name,output}
//
// Every output has series in every queue. A card has series in a queue while the queue has a quota for it, or uses,
// promises, deserves or is asked for any; unlimited capacity has no series. So
// there are never more than there are queues times cards and outputs, whatever users write in
// their requests. A queue's series go with the queue, and rejections of queues that
// aren't there are counted under an empty name.
package quotametrics

import (
	"iter"
	"strconv"
	"unicode/utf8"

	"github.com/prometheus/client_golang/prometheus"
	"github.com/resvec/resvec/quota"
)

// Source yields what there is to show of every queue, each queue once, and all on
// one state. A [quota.Ledger] is one.
type Source interface {
	Samples() iter.Seq[quota.QueueStatus]
}

// Collector is a [prometheus.Collector] over a source. It keeps nothing between
// two collections and is safe for concurrent use.
type Collector struct{ source Source }

// NewCollector makes a collector. Registers take one of them; to show several
// ledgers, register each with [prometheus.WrapRegistererWith] and a label of its
// own. A nil source panics.
func NewCollector(source Source) *Collector {
	if source == nil {
		panic("quotametrics: nil source")
	}
	return &Collector{source}
}

var (
	deserved     = desc("deserved", "Cards that the queue deserves.", "card")
	allocated    = desc("allocated", "Cards that tasks of the queue use.", "card")
	request      = desc("request", "Cards that tasks of the queue use or, pending, ask for.", "card")
	capacity     = desc("capacity", "Cards that the queue may use at most.", "card")
	inqueue      = desc("inqueue", "Cards that are held for jobs of the queue.", "card")
	share        = desc("share", "The greatest part that the queue uses of what it deserves in a dimension.")
	reservations = desc("reservations", "Jobs of the queue that something is held for.")
	rejections   = desc("rejections_total", "Operations on the queue that were refused.", "reason")
)

// Of outputs.
var (
	outputDeserved  = outputDesc("deserved", "Units of the output that the queue deserves.")
	outputAllocated = outputDesc("allocated", "Units of the output that tasks of the queue use.")
	outputRequest   = outputDesc("request", "Units of the output that tasks of the queue use or, pending, ask for.")
	outputCapacity  = outputDesc("capacity", "Units of the output that the queue may use at most.")
	outputInqueue   = outputDesc("inqueue", "Units of the output that are held for jobs of the queue.")
)

func outputDesc(name, help string) *prometheus.Desc {
	return prometheus.NewDesc("resvec_queue_output_"+name, help, []string{"queue_name", "output"}, nil)
}

func desc(name, help string, labels ...string) *prometheus.Desc {
	return prometheus.NewDesc("volcano_queue_card_"+name, help, append([]string{"queue_name"}, labels...), nil)
}

// Describe sends the descriptions of all metrics.
func (c *Collector) Describe(to chan<- *prometheus.Desc) {
	for _, d := range []*prometheus.Desc{
		deserved, allocated, request, capacity, inqueue, share, reservations, rejections,
		outputDeserved, outputAllocated, outputRequest, outputCapacity, outputInqueue,
	} {
		to <- d
	}
}

// Collect sends the metrics of one state.
func (c *Collector) Collect(to chan<- prometheus.Metric) {
	if c == nil || c.source == nil {
		panic("quotametrics: collector not made by NewCollector")
	}
	for s := range c.source.Samples() {
		collect(to, &s)
	}
}

func collect(to chan<- prometheus.Metric, s *quota.QueueStatus) {
	queue := label(s.Name)
	gauge := func(d *prometheus.Desc, value float64, labels ...string) {
		to <- prometheus.MustNewConstMetric(d, prometheus.GaugeValue, value, append([]string{queue}, labels...)...)
	}
	for i := range s.Cards {
		c := &s.Cards[i]
		card := label(c.Resource)
		gauge(deserved, cards(c.Deserved), card)
		gauge(allocated, cards(c.Allocated), card)
		gauge(request, cards(c.Request), card)
		gauge(inqueue, cards(c.Inqueue), card)
		if c.Capability != quota.Unlimited {
			gauge(capacity, cards(c.Capability), card)
		}
	}
	for i := range s.Outputs {
		o := &s.Outputs[i]
		output := label(o.Resource)
		gauge(outputDeserved, float64(o.Deserved), output)
		gauge(outputAllocated, float64(o.Allocated), output)
		gauge(outputRequest, float64(o.Request), output)
		gauge(outputInqueue, float64(o.Inqueue), output)
		if o.Capability != quota.Unlimited {
			gauge(outputCapacity, float64(o.Capability), output)
		}
	}
	if s.Name != "" {
		gauge(share, s.Share)
		gauge(reservations, float64(s.Reservations))
	}
	for reason, count := range s.Rejections {
		to <- prometheus.MustNewConstMetric(rejections, prometheus.CounterValue, float64(count), queue, string(reason))
	}
}

// cards returns milli-cards in cards.
func cards(milli quota.Amount) float64 { return float64(milli) / 1000 }

// label returns a name as labels can have it: quoted if it isn't UTF-8.
func label(name string) string {
	if utf8.ValidString(name) {
		return name
	}
	return strconv.Quote(name)
}
