package scoring

import (
	"fmt"
	"strings"
	"text/tabwriter"

	"github.com/resvec/resvec/vector"
	"github.com/resvec/resvec/vectormap"
)

// Status says what a scorer did with one resource of one node.
type Status uint8

const (
	Scored        Status = iota // it contributed, 0 perhaps
	NotRequested                // the pod does not ask for it
	NotConfigured               // requested, but without a rule
	MissingOnNode               // the node has none: contributes 0
	Inert                       // weight 0
	OverCapacity                // more than the node has
	BadValue                    // NaN, infinite or negative
)

// String returns the name of the constant.
func (s Status) String() string {
	switch s {
	case Scored:
		return "Scored"
	case NotRequested:
		return "NotRequested"
	case NotConfigured:
		return "NotConfigured"
	case MissingOnNode:
		return "MissingOnNode"
	case Inert:
		return "Inert"
	case OverCapacity:
		return "OverCapacity"
	case BadValue:
		return "BadValue"
	}
	return "unknown"
}

// Explanation is how the score of one node came about. Printed, it is a small
// table; [Explanation.Format] prints it for people.
type Explanation struct {
	Total  float64 // the score
	Reason string  // why the score is 0, or cut, in spite of its contributions; else empty
	Terms  []TermExplanation
}

// TermExplanation is the part of one scorer.
type TermExplanation struct {
	Name   string  // of the scorer
	Weight float64 // in the combination, 1 for a scorer alone
	Score  float64 // of the scorer, before Weight; normalized, where the term is
	Raw    float64 // the score before it is normalized; 0 where it is not
	Dims   []DimExplanation
}

// DimExplanation is the part of one resource.
type DimExplanation struct {
	Index       int    // in the map; -1 for what a normalization adds and for names outside the map
	Name        string // of the index, of a part of it such as a device, or of what has none
	Request     float64
	Used        float64
	Allocatable float64
	Type        string  // the rule: MostAllocated, LeastAllocated, ...
	Weight      float64 // of the rule

	// Contribution is the share of this resource in the final points. The
	// contributions of an explanation add up to Total, within 1e-9 of the sum of their
	// magnitudes, unless Reason is set.
	Contribution float64
	Status       Status
}

// String returns the explanation as a table, a line per scorer and resource.
// Names are the own names of the indices, and amounts in units of the map.
func (e Explanation) String() string {
	return e.table(func(d *DimExplanation) (name, request, requested, allocatable string) {
		return d.Name, amountText(d.Request), amountText(d.Used), amountText(d.Allocatable)
	})
}

// amountText shows an amount to the byte: a comparison may hang on one.
func amountText(x float64) string { return fmt.Sprintf("%.16g", x) }

// Format is String with names and amounts as Kubernetes writes them,
// nvidia.com/gpu, 1500m and 4Gi; see [vectormap.ResourceVectorMap.Format]. m is
// the map that the scorer was compiled against.
func (e Explanation) Format(m *vectormap.ResourceVectorMap) string {
	return e.table(func(d *DimExplanation) (name, request, requested, allocatable string) {
		if d.Index < 0 { // not a resource of the map
			return d.Name, "", "", ""
		}
		name = d.Name
		if originals := m.Originals(d.Index); len(originals) == 1 && name == m.Name(d.Index) {
			name = originals[0]
		}
		return name, m.Format(d.Index, d.Request), m.Format(d.Index, d.Used), m.Format(d.Index, d.Allocatable)
	})
}

// table returns the table; cells gives the name of a resource and its amounts.
func (e Explanation) table(cells func(*DimExplanation) (name, request, requested, allocatable string)) string {
	var b strings.Builder
	w := tabwriter.NewWriter(&b, 0, 0, 2, ' ', 0)
	fmt.Fprintf(w, "total\t%.6g", e.Total)
	if e.Reason != "" { // no blanks at the end of the line
		fmt.Fprintf(w, "\t%s", e.Reason)
	}
	fmt.Fprintln(w)
	for _, t := range e.Terms {
		score := fmt.Sprintf("%.6g", t.Score)
		if t.Raw != 0 {
			score = fmt.Sprintf("%.6g -> %s", t.Raw, score)
		}
		fmt.Fprintf(w, "%s\t%s\tx %g\n", t.Name, score, t.Weight)
		if len(t.Dims) > 0 {
			fmt.Fprintf(w, "  resource\trequest\tused\tallocatable\trule\tweight\tpoints\tstatus\n")
		}
		for i := range t.Dims {
			d := &t.Dims[i]
			name, request, requested, allocatable := cells(d)
			fmt.Fprintf(w, "  %s\t%s\t%s\t%s\t%s\t%g\t%.6g\t%s\n",
				name, request, requested, allocatable, d.Type, d.Weight, d.Contribution, d.Status)
		}
	}
	w.Flush()
	return b.String()
}

// dimension returns what is known of one resource before any rule.
func dimension(m *vectormap.ResourceVectorMap, i int, request, requested, allocatable vector.ResourceVector) DimExplanation {
	return DimExplanation{
		Index: i, Name: m.Name(i), Request: at(request, i), Used: at(requested, i), Allocatable: at(allocatable, i),
	}
}
