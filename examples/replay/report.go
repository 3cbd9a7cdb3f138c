package main

import (
	"fmt"
	"io"
	"strconv"
	"time"

	"github.com/resvec/resvec/vector"
	"github.com/resvec/resvec/vectormap"
)

// reported are the resources whose allocation is shown.
var reported = []struct {
	title  string
	column int
}{
	{"cpu %", vectormap.CPU},
	{"memory %", vectormap.Memory},
	{"gpu %", vectormap.GPU},
}

// reportTrace writes what is placed on what, and the head of the table.
func reportTrace(w io.Writer, t *trace, c *cluster, seed int64) {
	capacity := vector.SumColumns(nil, c.capacity, nil)
	for _, line := range []struct {
		title string
		count int
	}{
		{"nodes", len(t.nodes)},
		{"GPUs", int(capacity[vectormap.GPU] / wholeGPU)},
		{"pods", len(t.pods)},
		{"distinct requests", len(t.requests)},
	} {
		fmt.Fprintf(w, "%-18s %12s\n", line.title, grouped(line.count))
	}
	fmt.Fprintf(w, "%-18s %12d\n\n", "seed", seed)

	fmt.Fprintf(w, "%-18s %12s %12s", "policy", "placed", "not placed")
	for _, r := range reported {
		fmt.Fprintf(w, " %10s", r.title)
	}
	fmt.Fprintln(w)
	asked := c.columns.schema.NewVector()
	for _, id := range t.pods {
		asked.Add(c.requests[id].amounts)
	}
	fmt.Fprintf(w, "%-18s %12s %12s", "(asked for)", "", "")
	reportShares(w, asked, capacity)
}

// reportOutcome writes what a policy made of it.
func reportOutcome(w io.Writer, c *cluster, out *outcome) {
	fmt.Fprintf(w, "%-18s %12s %12s", out.policy.name, grouped(out.placed), grouped(len(out.placements)-out.placed))
	reportShares(w, out.used, vector.SumColumns(nil, c.capacity, nil))
}

// reportShares ends a line with the shares of the reported resources, in
// percent.
func reportShares(w io.Writer, used, capacity vector.ResourceVector) {
	for _, r := range reported {
		if capacity[r.column] == 0 {
			fmt.Fprintf(w, " %10s", "-")
			continue
		}
		fmt.Fprintf(w, " %10.2f", 100*used[r.column]/capacity[r.column])
	}
	fmt.Fprintln(w)
}

// reportSpeed writes how fast the decisions were.
func reportSpeed(w io.Writer, outs []*outcome) {
	fmt.Fprintf(w, "\n%-18s %12s %12s\n", "speed", "placements/s", "ns/decision")
	for _, out := range outs {
		fmt.Fprintf(w, "%-18s %12s %12s\n", out.policy.name,
			grouped(int(float64(out.placed)/max(out.elapsed, 1).Seconds())),
			grouped(int(out.elapsed/time.Duration(len(out.placements)))))
	}
}

// reportPolicies says what the policies are.
func reportPolicies(w io.Writer, outs []*outcome) {
	fmt.Fprintln(w)
	for _, out := range outs {
		fmt.Fprintf(w, "%-18s %s\n", out.policy.name, out.policy.about)
	}
	fmt.Fprint(w, `
These policies are built from the library's own kernels. They are not those of
the FGD paper, which the openb lists were published with. After each run every
device was counted again: what its pods use and what is free add up to its
capacity.
`)
}

// grouped writes a count with its thousands separated.
func grouped(n int) string {
	digits := strconv.Itoa(n)
	for i := len(digits) - 3; i > 0; i -= 3 {
		digits = digits[:i] + "," + digits[i:]
	}
	return digits
}
