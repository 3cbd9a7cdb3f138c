package share

import (
	"fmt"
	"strconv"
	"strings"
	"text/tabwriter"
)

// ScoreExplanation is how the score of a device or a node came about. Printed, it
// is a small table.
type ScoreExplanation struct {
	Score int64
	Type  string      // [LeastAllocated] or [MostAllocated]; empty for a nil Scorer
	Kinds []KindScore // one for a device, one per need for a node; Score is their sum
}

// KindScore is the part of one kind of devices.
type KindScore struct {
	Kind      string // empty in the score of a device
	Devices   int    // how many there are of it
	Score     int64
	Resources []ResourceScore // that the kind has, as configured; with [FillMemory] the missing one of the two last
}

// ResourceScore is the part of one resource. Score is the weighted mean of those
// whose Total is above 0; the others have Used and Score 0.
type ResourceScore struct {
	Resource Resource
	Weight   int64 // 0: only completes the request
	Request  int64 // completed with [FillMemory]; at most MaxInt64
	Total    int64
	Free     int64
	Used     int64 // with the request; at most MaxInt64
	Score    int64
}

// ExplainDevice returns how [Scorer.ScoreDevice] comes to its score, or its error.
func (s *Scorer) ExplainDevice(req Request, total Total, free Free) (ScoreExplanation, error) {
	if err := req.check(); err != nil || s == nil {
		return ScoreExplanation{}, err
	}
	kind := s.explain(s.columns, amounts{req, total, free})
	kind.Devices = 1
	return ScoreExplanation{Score: kind.Score, Type: s.scoringType(), Kinds: []KindScore{kind}}, nil
}

// Explain returns how [Bound.ScoreNode] comes to its score, or its error.
func (b *Bound) Explain(node int, needs []Requirement) (ScoreExplanation, error) {
	from, to := b.account.Rows(node)
	if err := checkNeeds(needs); err != nil || b.scorer == nil {
		return ScoreExplanation{}, err
	}
	e := ScoreExplanation{Type: b.scorer.scoringType()}
	for i := range needs {
		k, _ := kindNamed(needs[i].Kind)
		sums := b.sums(from, to, b.columns[k])
		sums.request = b.request(&needs[i])
		kind := b.scorer.explain(b.columns[k], sums)
		kind.Kind = needs[i].Kind
		for _, d := range b.account.devices[from:to] {
			if d.kind == k {
				kind.Devices++
			}
		}
		e.Kinds = append(e.Kinds, kind)
		e.Score += kind.Score
	}
	return e, nil
}

func (s *Scorer) scoringType() string {
	if s.most {
		return MostAllocated
	}
	return LeastAllocated
}

// explain returns the parts of the score of one kind.
func (s *Scorer) explain(columns []Resource, a amounts) KindScore {
	kind := KindScore{Score: s.mean(columns, &a)} // with the request completed
	for _, r := range columns {
		row := ResourceScore{Resource: r, Weight: s.weights[r], Request: a.request[r], Total: a.total[r], Free: a.free[r]}
		if row.Total > 0 {
			row.Used = a.used(r)
			row.Score = s.step(row.Used, row.Total)
		}
		kind.Resources = append(kind.Resources, row)
	}
	return kind
}

// String returns the explanation as a table, a line per kind and resource.
func (e ScoreExplanation) String() string {
	var b strings.Builder
	w := tabwriter.NewWriter(&b, 0, 0, 2, ' ', 0)
	fmt.Fprintf(w, "%s\n", strings.TrimSpace(fmt.Sprintf("score %d %s", e.Score, e.Type)))
	for _, kind := range e.Kinds {
		if kind.Kind != "" {
			fmt.Fprintf(w, "%s: %d, devices: %d\n", kind.Kind, kind.Score, kind.Devices)
		}
		if len(kind.Resources) > 0 {
			fmt.Fprint(w, "  resource\tweight\trequest\ttotal\tfree\tused\tscore\n")
		}
		for i := range kind.Resources {
			kind.Resources[i].print(w)
		}
	}
	w.Flush()
	return b.String()
}

func (r *ResourceScore) print(w *tabwriter.Writer) {
	fmt.Fprintf(w, "  %s\t%d\t%s\t%s\t%s\t%s\t%s\n", r.Resource, r.Weight,
		r.Resource.text(r.Request), r.Resource.text(r.Total), r.Resource.text(r.Free), r.Resource.text(r.Used), r.verdict())
}

// verdict returns the score, or why there is none, and what is odd about it.
func (r *ResourceScore) verdict() string {
	score := strconv.FormatInt(r.Score, 10)
	switch {
	case r.Total <= 0:
		return "none there"
	case r.Weight == 0:
		return "no weight"
	case r.Free > r.Total:
		return score + ", free above total"
	}
	return score
}
