package quotametrics

import (
	"iter"
	"slices"
	"strings"

	"github.com/prometheus/client_golang/prometheus"
)

// Counted counts what it does, by names in the form of Prometheus. The packers and proofs
// of package gang, the bound scorers of scoring and scoring/gpu, and ledgers are Counted.
type Counted interface {
	Counters() iter.Seq2[string, uint64]
}

// NewCounters makes a collector of counters: resvec_<subsystem>_<name>_total for every
// name, the sum over all of what counts, such as the packers of all workers. What counts
// must live as long as the collector, or the sums would fall. nil panics.
func NewCounters(subsystem string, counted ...Counted) prometheus.Collector {
	c := &counters{counted: slices.Clone(counted)}
	for _, each := range c.counted {
		if each == nil {
			panic("quotametrics: nil in what counts")
		}
		for name := range each.Counters() {
			if !slices.Contains(c.names, name) {
				c.names = append(c.names, name)
				c.descs = append(c.descs, prometheus.NewDesc(
					prometheus.BuildFQName("resvec", subsystem, name+"_total"),
					strings.ReplaceAll(name, "_", " ")+" since the start: see the method Counters of what counts.", nil, nil))
			}
		}
	}
	return c
}

// counters is the collector. names are those that there were at the beginning, since a
// collector may send nothing that it hasn't described.
type counters struct {
	counted []Counted
	names   []string
	descs   []*prometheus.Desc
}

func (c *counters) Describe(to chan<- *prometheus.Desc) {
	for _, d := range c.descs {
		to <- d
	}
}

func (c *counters) Collect(to chan<- prometheus.Metric) {
	sums := make([]uint64, len(c.names))
	for _, each := range c.counted {
		for name, count := range each.Counters() {
			if k := slices.Index(c.names, name); k >= 0 {
				sums[k] += count
			}
		}
	}
	for k, sum := range sums {
		to <- prometheus.MustNewConstMetric(c.descs[k], prometheus.CounterValue, float64(sum))
	}
}
