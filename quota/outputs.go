package quota

import (
	"fmt"
	"maps"
	"slices"

	"github.com/resvec/resvec/internal/quantity"
	"github.com/resvec/resvec/quota/internal/book"
	"github.com/resvec/resvec/transform"
	"github.com/resvec/resvec/vectormap"
	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/resource"
)

// outputs are the outputs of a transformation that queues may be limited in. To the book
// an output is one card that is on every node. They are fixed for a ledger's life: what is
// charged keeps the size that it was decided on.
type outputs struct {
	transformation *transform.Transformation
	names          []corev1.ResourceName // by index, sorted
	alts           []*book.Alternatives  // by index
	demands        bool                  // every resource of a pod must be known to quotas
	countsPods     bool                  // something is made of how many pods there are
}

// newOutputs returns the outputs of a map, which has them by name, under a transformation, nil
// for none.
func newOutputs(m *vectormap.ResourceVectorMap, t *transform.Transformation) *outputs {
	if t == nil {
		t = new(transform.Transformation)
	}
	o := &outputs{
		transformation: t,
		demands:        t.Config().QuotaCheckStrategy == transform.BlockUndeclared,
	}
	for dim := range m.Len() {
		if output := outputOf(m, dim); output != "" {
			// A node has no cards of it, so what is confined to a node's cards must not lose
			// it: it is anywhere.
			alts := &book.Alternatives{Cards: []int32{int32(dim)}, Tag: string(output), Anywhere: true}
			o.names, o.alts = append(o.names, output), append(o.alts, alts)
		}
	}
	_, o.countsPods = o.index(corev1.ResourcePods)
	for _, input := range t.Inputs() {
		o.countsPods = o.countsPods || input == corev1.ResourcePods || t.MultiplyBy(input) == corev1.ResourcePods
	}
	return o
}

// index returns the index of an output.
func (o *outputs) index(name corev1.ResourceName) (int, bool) {
	return slices.BinarySearch(o.names, name)
}

// none reports whether there are no outputs. Otherwise an amount of any resource may count.
func (o *outputs) none() bool { return len(o.names) == 0 }

// charge returns what a pod is charged in each output. fault says what is wrong: an amount
// can't be charged, or the transformation demands a quota for each resource, and covers
// says that there is none for one of the pod's.
func (o *outputs) charge(requests corev1.ResourceList, covers func(corev1.ResourceName) bool) (amounts []int64, fault string) {
	amounts = make([]int64, len(o.names))
	// Without outputs nothing is made of a pod's other resources.
	if o.none() || len(requests) == 0 {
		return amounts, ""
	}
	// All resources go in: which of them matter only the transformation knows.
	made := o.transformation.Apply(requests)
	for _, name := range slices.Sorted(maps.Keys(made)) {
		i, known := o.index(name)
		q := made[name]
		if !known {
			if o.demands && fault == "" && !q.IsZero() && !covers(name) {
				fault = fmt.Sprintf("%s is %s, and no quota is of it, as the transformation demands (%s)", brief(string(name)), brief(quantity.Text(q)), transform.BlockUndeclared)
			}
			continue
		}
		// Each pod is rounded up alone, as Kueue charges it.
		amount, err := transform.ChargeAmount(name, q, 1)
		if err != nil || !exact(amount) {
			return make([]int64, len(o.names)), fmt.Sprintf("%s would be %s: want less than 2^53", name, brief(quantity.Text(q)))
		}
		amounts[i] = amount
	}
	return amounts, fault
}

// requestsOf returns what a task requests, of which a charge in outputs is made: what its
// pod as a whole requests, with the entries of Request, if that isn't nil, in the place of
// the pod's, and of its cpu and memory in any case. It is one pod. It is what the
// transformation is given, and what Explain shows later.
func (o *outputs) requestsOf(t *Task, pod corev1.ResourceList) corev1.ResourceList {
	list := maps.Clone(pod)
	if list == nil {
		list = corev1.ResourceList{}
	}
	if o.countsPods {
		// Only if something counts pods: a list with one entry more would be another request.
		list[corev1.ResourcePods] = *resource.NewQuantity(1, resource.DecimalSI)
	}
	if t.Request == nil {
		return list
	}
	// Request stands for the whole of these, also where it has none.
	delete(list, corev1.ResourceCPU)
	delete(list, corev1.ResourceMemory)
	maps.Copy(list, t.Request)
	return list
}

// badRequest says what of a list no output can be made of, if anything: a negative amount,
// or a name that can't be one.
func (o *outputs) badRequest(list corev1.ResourceList) string {
	if o.none() {
		return ""
	}
	for _, name := range slices.Sorted(maps.Keys(list)) {
		q := list[name]
		switch text := brief(quantity.Text(q)); {
		case badName(string(name)) != nil:
			return fmt.Sprintf("%q is %s: want the name of a resource", brief(string(name)), text)
		case q.Sign() < 0:
			return fmt.Sprintf("%s is %s: want 0 or more", brief(string(name)), text)
		}
	}
	return ""
}
