package share

import (
	"fmt"
	"strconv"
	"strings"
	"text/tabwriter"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/resource"
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
	Resources []ResourceScore // in the order of [Scorer.Columns]
}

// ResourceScore is the part of one resource. Score is the weighted mean of those
// whose Total is above 0; the others have Used and Score 0.
type ResourceScore struct {
	Name    corev1.ResourceName
	Weight  int64 // 0: only completes the request
	Request int64 // completed with [FillMemory]; at most MaxInt64
	Total   int64
	Free    int64
	Used    int64 // with the request; at most MaxInt64
	Score   int64
}

// ExplainDevice returns how [Scorer.ScoreDevice] comes to its score, or its error.
func (s *Scorer) ExplainDevice(req Request, total Total, free Free) (ScoreExplanation, error) {
	if err := checkRequest(req); err != nil || s == nil {
		return ScoreExplanation{}, err
	}
	kind := s.explain(s.deviceAmounts(nil, req, total, free))
	kind.Devices = 1
	return ScoreExplanation{Score: kind.Score, Type: s.scoringType(), Kinds: []KindScore{kind}}, nil
}

// ExplainNode returns how [Scorer.ScoreNode] comes to its score, or its error.
func (s *Scorer) ExplainNode(needs []Requirement, devices []State) (ScoreExplanation, error) {
	if err := checkNode(needs, devices); err != nil || s == nil {
		return ScoreExplanation{}, err
	}
	e := ScoreExplanation{Type: s.scoringType()}
	for i := range needs {
		list, err := s.nodeAmounts(nil, &needs[i], devices)
		if err != nil {
			return ScoreExplanation{}, err
		}
		kind := s.explain(list)
		kind.Kind = needs[i].Kind
		for k := range devices {
			if devices[k].Kind == kind.Kind {
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
func (s *Scorer) explain(list []amounts) KindScore {
	kind := KindScore{Score: s.combine(list)}
	for i := range list {
		a := &list[i]
		r := ResourceScore{Name: s.names[i], Weight: s.weights[i], Request: a.request, Total: a.total, Free: a.free}
		if a.total > 0 {
			r.Used = a.used()
			r.Score = s.step(r.Used, r.Total)
		}
		kind.Resources = append(kind.Resources, r)
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
	fmt.Fprintf(w, "  %s\t%d\t%s\t%s\t%s\t%s\t%s\n", r.Name, r.Weight,
		amountText(r.Name, r.Request), amountText(r.Name, r.Total), amountText(r.Name, r.Free), amountText(r.Name, r.Used), r.verdict())
}

// amountText shows an amount of a resource, memory to the byte.
func amountText(name corev1.ResourceName, x int64) string {
	if name == GPUMemory {
		return resource.NewQuantity(x, resource.BinarySI).String()
	}
	return strconv.FormatInt(x, 10)
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
