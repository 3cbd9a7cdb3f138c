package share

import (
	"fmt"
	"io"
	"strconv"
	"strings"
	"text/tabwriter"
)

// Explain returns how [Bound.Score] comes to the score of a node, or its error. The text is a
// table with a line for each kind and each resource that counts. With [Config.FillMemory] a
// resource without a weight may be there, because it completes the request.
func (b *Bound) Explain(node int, needs []Requirement) (string, error) {
	from, to := b.account.Rows(node)
	if err := checkNeeds(needs); err != nil {
		return "", err
	}
	var score int64
	var table strings.Builder
	w := tabwriter.NewWriter(&table, 0, 0, 2, ' ', 0)
	for i := range needs {
		k, _ := kindNamed(needs[i].Kind)
		columns, devices := b.columns[k], 0
		for _, d := range b.account.devices[from:to] {
			if d.kind == k {
				devices++
			}
		}
		sums := b.sums(from, to, columns)
		sums.request = b.request(&needs[i])
		if len(columns) == 0 {
			fmt.Fprintf(w, "%s: 0, devices: %d\n", needs[i].Kind, devices)
			continue
		}
		points := b.scorer.mean(columns, &sums) // completes the request
		score += points
		fmt.Fprintf(w, "%s: %d, devices: %d\n", needs[i].Kind, points, devices)
		fmt.Fprint(w, "  resource\tweight\trequest\ttotal\tfree\tused\tscore\n")
		for _, r := range columns {
			b.scorer.explainResource(w, r, &sums)
		}
	}
	w.Flush()
	return fmt.Sprintf("score %d %s\n%s", score, b.scorer.scoringType(), table.String()), nil
}

func (s *Scorer) scoringType() string {
	if s.isMost() {
		return MostAllocated
	}
	return LeastAllocated
}

// explainResource writes the line of one resource.
func (s *Scorer) explainResource(w io.Writer, r Resource, a *amounts) {
	total, free, weight := a.total[r], a.free[r], s.weights[r]
	used, verdict := int64(0), "none there"
	if total > 0 {
		used = a.used(r)
		verdict = strconv.FormatInt(s.step(used, total), 10)
		switch {
		case weight == 0:
			verdict = "no weight"
		case free > total:
			verdict += ", free above total"
		}
	}
	fmt.Fprintf(w, "  %s\t%d\t%s\t%s\t%s\t%s\t%s\n", r, weight, r.text(a.request[r]), r.text(total), r.text(free), r.text(used), verdict)
}
