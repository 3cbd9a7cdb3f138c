package main

import (
	"encoding/csv"
	"fmt"
	"io"
	"slices"
	"strconv"
	"time"
)

// A result is what a policy made of all seeds.
type result struct {
	policy *policy
	runs   []*outcome // one per seed
}

// curves returns the course of every run.
func (r *result) curves() []*curve {
	all := make([]*curve, len(r.runs))
	for i, run := range r.runs {
		all[i] = &run.curve
	}
	return all
}

// headline returns one of the numbers of the table.
func (r *result) headline(i int) spread {
	return spreadAt(r.curves(), headline[i].percent, headline[i].metric)
}

// reportTrace writes what is placed on what.
func reportTrace(w io.Writer, t *trace, opts *options) {
	for _, line := range []struct {
		title, value string
	}{
		{"nodes", grouped(len(t.nodes))},
		{"GPUs", grouped(int(t.capacity / wholeGPU))},
		{"pods", grouped(len(t.pods))},
		{"distinct requests", grouped(len(t.requests))},
		{"inflation", strconv.FormatFloat(opts.inflate, 'g', -1, 64)},
		{"seeds", seedRange(opts.seed, opts.seeds)},
		{"ties", string(opts.ties)},
	} {
		fmt.Fprintf(w, "%-18s %12s\n", line.title, line.value)
	}
}

// seedRange names the seeds from first on.
func seedRange(first int64, n int) string {
	if n == 1 {
		return fmt.Sprint(first)
	}
	return fmt.Sprintf("%d to %d", first, first+int64(n)-1)
}

// reportResults writes the table, with what was published when pub is not nil.
func reportResults(w io.Writer, results []*result, pub *publication) {
	line := func(title string, cell func(i int) string) {
		fmt.Fprintf(w, "%-18s", title)
		for i := range headline {
			fmt.Fprintf(w, "  %16s", cell(i))
		}
		fmt.Fprintln(w)
	}
	fmt.Fprintln(w)
	line("percent of GPUs", func(i int) string { return headline[i].title })
	for _, r := range results {
		line(r.policy.name, func(i int) string { return r.headline(i).String() })
		if pub == nil {
			continue
		}
		cells := pub.cells[r.policy.name]
		line("  published", func(i int) string { return cells[i].String() })
		if len(r.runs) > 1 {
			line("  z", func(i int) string { return fmt.Sprintf("%+.2f", z(r.headline(i), cells[i])) })
		}
	}
	if pub != nil && len(results[0].runs) > 1 {
		c := pub.compare(results)
		fmt.Fprintf(w, "\n%d of %d cells within two standard errors\n", c.agree, c.cells)
	}
}

// String returns mean ± sd: no sd for one run, a dash for none.
func (s spread) String() string {
	switch s.n {
	case 0:
		return "-"
	case 1:
		return fmt.Sprintf("%.3f", s.mean)
	}
	return fmt.Sprintf("%.3f ± %.3f", s.mean, s.sd)
}

// reportSpeed writes how fast the decisions were.
func reportSpeed(w io.Writer, results []*result, nodes int) {
	fmt.Fprintf(w, "\n%-18s %12s %14s %14s %14s %16s\n",
		"speed", "decisions", "placements/s", "µs/decision", "p99, sampled", "nodes/s")
	for _, r := range results {
		var decisions, placed int
		var elapsed time.Duration
		var samples []time.Duration
		for _, run := range r.runs {
			decisions += run.decisions
			placed += run.placed
			elapsed += run.elapsed
			samples = append(samples, run.samples...)
		}
		fmt.Fprintf(w, "%-18s %12s %14s %14.2f %14.2f %16s\n", r.policy.name, grouped(decisions),
			grouped(perSecond(placed, elapsed)), micros(elapsed)/float64(max(decisions, 1)), micros(percentile(samples, 99)),
			grouped(perSecond(decisions*nodes, elapsed)))
	}
}

// perSecond returns n per second of elapsed time.
func perSecond(n int, elapsed time.Duration) int {
	return int(float64(n) / max(elapsed, 1).Seconds())
}

func micros(d time.Duration) float64 { return float64(d.Nanoseconds()) / 1000 }

// percentile returns the value that p percent of the samples don't exceed.
func percentile(samples []time.Duration, p int) time.Duration {
	if len(samples) == 0 {
		return 0
	}
	slices.Sort(samples)
	return samples[(len(samples)*p+99)/100-1]
}

// grouped writes a count with its thousands separated.
func grouped(n int) string {
	digits := strconv.Itoa(n)
	for i := len(digits) - 3; i > 0; i -= 3 {
		digits = digits[:i] + "," + digits[i:]
	}
	return digits
}

// writeCSV writes every bin of every run that has a value, with all digits.
func writeCSV(w io.Writer, results []*result) error {
	table := csv.NewWriter(w)
	table.Write([]string{"policy", "seed", "bin", "alloc", "frag", "frag_ratio"})
	for _, r := range results {
		for _, run := range r.runs {
			for _, percent := range run.curve.percents() {
				value, _ := run.curve.at(percent)
				record := []string{r.policy.name, strconv.FormatInt(run.seed, 10), strconv.FormatInt(percent, 10)}
				for _, metric := range metrics {
					record = append(record, strconv.FormatFloat(metric(value), 'g', -1, 64))
				}
				table.Write(record)
			}
		}
	}
	table.Flush()
	return table.Error()
}
