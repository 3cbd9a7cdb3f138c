package vectormap

import (
	"cmp"
	"fmt"
	"math"
	"slices"
	"strings"

	"github.com/resvec/resvec/internal/decimal"
	"github.com/resvec/resvec/vector"
	"github.com/resvec/resvec/vector/gang"
	"k8s.io/apimachinery/pkg/api/resource"
)

// Format returns an amount of index i as people write it: 1500m or 2 for cpu
// and [Milli] columns, 4Gi for bytes, a plain number otherwise. +Inf is
// "unlimited".
func (m *ResourceVectorMap) Format(i int, amount float64) string {
	return m.column(i).unit.format(amount)
}

// format is Format for an amount in u.
func (u Unit) format(amount float64) string {
	switch {
	case math.IsInf(amount, 1):
		return "unlimited"
	case u == UnitWhole || amount != math.Trunc(amount) || math.Abs(amount) >= limit:
		return decimal.Format(amount / float64(u.Scale()))
	case u == UnitByte:
		return resource.NewQuantity(int64(amount), resource.BinarySI).String()
	}
	return resource.NewMilliQuantity(int64(amount), resource.DecimalSI).String()
}

// Refusal says why a node cannot hold a request: the resources that it has too
// little of, in index order. It is empty when the node can hold it.
type Refusal []InsufficientResource

// InsufficientResource is a resource that a node has too little of for a request.
// The amounts are in Unit. It is the type of this name of kube-scheduler's
// NodeResourcesFit, with what is free in addition.
type InsufficientResource struct {
	Resource    string // as Kubernetes objects name it, where that is unique
	Unit        Unit
	Requested   float64 // by the pod
	Used        float64 // by the pods on the node
	Allocatable float64 // of the node
	Free        float64 // Allocatable - Used
}

// Explain says why a node with these amounts cannot hold a request, by the rule of
// [vector.ResourceVector.FitsIn]: used is what its pods request. Of a quota,
// allocatable is the limit. The amounts are copied. It panics when the request is
// longer than the map; a shorter vector is padded with zeros.
//
//	refusal := m.Explain(request, used, allocatable)
//	if len(refusal) > 0 { log.Print(refusal) }
func (m *ResourceVectorMap) Explain(request, used, allocatable vector.ResourceVector) Refusal {
	m.mustHold(request)
	var r Refusal
	for i, x := range request {
		free := allocatable.Get(i) - used.Get(i)
		if x <= 0 || x <= free {
			continue
		}
		c := &m.columns[i]
		r = append(r, InsufficientResource{c.kubernetesName(), c.unit, x, used.Get(i), allocatable.Get(i), free})
	}
	return r
}

// Reason returns the reason in the words of kube-scheduler: "Insufficient cpu" or
// "Too many pods".
func (r InsufficientResource) Reason() string { return reasonFor(r.Resource) }

func reasonFor(resource string) string {
	if resource == coreNames[Pods] {
		return "Too many pods"
	}
	return "Insufficient " + resource
}

// String returns the reason and the amounts:
//
//	Insufficient cpu (requested 1, used 3500m of 4, free 500m)
func (r InsufficientResource) String() string {
	return fmt.Sprintf("%s (requested %s, used %s of %s, free %s)", r.Reason(),
		r.Unit.format(r.Requested), r.Unit.format(r.Used), r.Unit.format(r.Allocatable), r.Unit.format(r.Free))
}

// String returns one line of text: every resource with its amounts, separated by
// commas; "" for none.
func (r Refusal) String() string {
	texts := make([]string, len(r))
	for i, x := range r {
		texts[i] = x.String()
	}
	return strings.Join(texts, ", ")
}

// ExplainRejections returns one line of text for the counts that
// [vector.Rejections] gives for a pod that fits on none of the nodes, in the
// words of kube-scheduler's events:
//
//	0/5000 nodes are available: 3100 Insufficient nvidia.com/gpu, 2400 Too many pods.
//
// The resource that rejects most nodes comes first, equal counts go in index
// order. A node that lacks two resources counts for both. Without a rejection
// no reason is named. It panics when rejections is longer than the map.
func (m *ResourceVectorMap) ExplainRejections(nodes int, rejections []int) string {
	if len(rejections) > m.Len() {
		panic("vectormap: rejections are longer than the map")
	}
	order := make([]int, len(rejections))
	for i := range order {
		order[i] = i
	}
	slices.SortStableFunc(order, func(a, b int) int { return cmp.Compare(rejections[b], rejections[a]) })
	line := fmt.Sprintf("0/%d nodes are available", nodes)
	separator := ": "
	for _, i := range order {
		if rejections[i] > 0 {
			line += fmt.Sprintf("%s%d %s", separator, rejections[i], reasonFor(m.columns[i].kubernetesName()))
			separator = ", "
		}
	}
	return line + "."
}

// ExplainInfeasible returns one line of text that says why a gang of pods cannot be placed,
// such as "the pods request 20 of cpu, all nodes together have 16". Nodes are those that the
// question was about: one rack with gang.Proof.Within, and never one whose bit in the
// mask was clear. It is "not proved" for the zero value, and panics when Column is not of
// the map.
func (m *ResourceVectorMap) ExplainInfeasible(why gang.Infeasibility) string {
	amounts := func(format string) string {
		return fmt.Sprintf(format, m.Format(why.Column, why.Needed), m.columns[why.Column].kubernetesName(), m.Format(why.Column, why.Available))
	}
	pods := fmt.Sprintf("%.0f pods", why.Needed)
	if why.Column >= 0 {
		pods = fmt.Sprintf("the %s that request the most %s", pods, m.column(why.Column).kubernetesName())
	}
	switch why.Reason {
	case gang.InfeasibleAggregate:
		return amounts("the pods request %s of %s, all nodes together have %s")
	case gang.InfeasibleBudget:
		return amounts("the pods request %s of %s, all nodes together have %s, with all that may be released")
	case gang.InfeasibleMember:
		if why.Column < 0 {
			return "a pod fits on no node"
		}
		return amounts("a pod requests %s of %s, no node has more than %s")
	case gang.InfeasibleCopies:
		return fmt.Sprintf("of %s there is room for %.0f", pods, why.Available)
	case gang.InfeasibleLeader:
		return fmt.Sprintf("of %.0f workers there is room for %.0f, wherever the leader goes", why.Needed, why.Available)
	case gang.InfeasibleSpread:
		return fmt.Sprintf("of %s there is room for %.0f, as they must be apart", pods, why.Available)
	}
	return why.Reason.String()
}
