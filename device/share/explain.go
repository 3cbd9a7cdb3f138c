package share

import (
	"fmt"
	"io"
	"strconv"
	"strings"
	"text/tabwriter"
)

// Explain returns how [Bound.ScoreNode] comes to its score, or its error. The text is a
// table with a line for each kind and each resource that counts. With [Config.FillMemory] a
// resource without a weight may be there, because it completes the request.
func (b *Bound) Explain(node int, needs []Requirement) (string, error) {
	from, to := b.account.Rows(node)
	score, err := b.ScoreNode(node, needs)
	if err != nil {
		return "", err
	}
	var text strings.Builder
	fmt.Fprintf(&text, "score %d %s\n", score, b.scorer.scoringType())
	w := tabwriter.NewWriter(&text, 0, 0, 2, ' ', 0)
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
		fmt.Fprintf(w, "%s: %d, devices: %d\n", needs[i].Kind, b.scorer.mean(columns, &sums), devices) // completes the request
		fmt.Fprint(w, "  resource\tweight\trequest\ttotal\tfree\tused\tscore\n")
		for _, r := range columns {
			b.scorer.explainResource(w, r, &sums)
		}
	}
	w.Flush()
	return text.String(), nil
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
