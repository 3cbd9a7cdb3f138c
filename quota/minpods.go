package quota

import (
	"cmp"
	"fmt"
	"maps"
	"math/big"
	"math/bits"
	"slices"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/resource"
)

// What the min of a job is made of in outputs: pods that request the same, and how many. The
// book has only the sums, of which another transformation can't make anything.

// pods are pods that request the same. Of pods that have ended since, n is negative.
type pods struct {
	requests corev1.ResourceList
	n        int64
}

// addPods adds pods to a list, which it copies.
func addPods(list []pods, requests corev1.ResourceList, n int64) []pods {
	list = slices.Clone(list)
	for i := range list {
		if sameRequests(list[i].requests, requests) {
			if list[i].n += n; list[i].n == 0 {
				return slices.Delete(list, i, i+1)
			}
			return list
		}
	}
	return append(list, pods{requests, n})
}

// samePods reports whether two lists are of the same pods.
func samePods(a, b []pods) bool {
	return len(a) == len(b) && !slices.ContainsFunc(a, func(p pods) bool { return podsLike(b, p.requests) != p.n })
}

// podsLike returns how many pods of a list request the same.
func podsLike(list []pods, requests corev1.ResourceList) int64 {
	for _, p := range list {
		if sameRequests(p.requests, requests) {
			return p.n
		}
	}
	return 0
}

func sameRequests(a, b corev1.ResourceList) bool {
	return maps.EqualFunc(a, b, func(a, b resource.Quantity) bool { return a.Cmp(b) == 0 })
}

// chargePods returns what pods are charged in each output.
func (o *outputs) chargePods(list []pods, covers func(corev1.ResourceName) bool) (amounts []int64, fault string) {
	sums := make([]wide, len(o.names))
	for _, p := range list {
		each, why := o.charge(p.requests, covers)
		if fault == "" {
			fault = why
		}
		for i, amount := range each {
			sums[i].addProduct(p.n, amount)
		}
	}
	amounts = make([]int64, len(o.names))
	for i := range sums {
		amount, ok := sums[i].exact()
		if !ok {
			return make([]int64, len(o.names)), cmp.Or(fault, fmt.Sprintf("%s of all pods would be %s: want less than 2^53", o.names[i], &sums[i]))
		}
		amounts[i] = max(amount, 0)
	}
	return amounts, fault
}

// wide is a sum of products of amounts: no sum of them leaves 128 bits.
type wide struct{ high, low uint64 }

// addProduct adds n times an amount, which isn't negative.
func (w *wide) addProduct(n, amount int64) {
	var carry uint64
	if n < 0 {
		high, low := bits.Mul64(uint64(-n), uint64(amount))
		w.low, carry = bits.Sub64(w.low, low, 0)
		w.high, _ = bits.Sub64(w.high, high, carry)
		return
	}
	high, low := bits.Mul64(uint64(n), uint64(amount))
	w.low, carry = bits.Add64(w.low, low, 0)
	w.high, _ = bits.Add64(w.high, high, carry)
}

// exact returns the sum, -1 if it is negative. ok: it is less than 2^53.
func (w *wide) exact() (sum int64, ok bool) {
	if int64(w.high) < 0 {
		return -1, true
	}
	return int64(w.low), w.high == 0 && w.low < uint64(limitExact)
}

// String writes the sum of amounts that aren't negative.
func (w *wide) String() string {
	sum := new(big.Int).SetUint64(w.high)
	return sum.Lsh(sum, 64).Add(sum, new(big.Int).SetUint64(w.low)).String()
}

// setPods notes what the min of a job is made of in outputs, without pods that have ended;
// nil: it was given.
func (l *Ledger) setPods(id string, list []pods) {
	switch {
	case len(list) == 0:
		delete(l.pods, id)
	case l.pods == nil:
		l.pods = map[string][]pods{id: list}
	default:
		l.pods[id] = list
	}
}

// ended takes a task that has ended from the pods of its job's min, if it was one of them.
func (l *Ledger) ended(t *task) {
	list := l.pods[t.job]
	if list == nil {
		return
	}
	within, beyond := t.covered(true)
	switch {
	case within && beyond:
		l.setPods(t.job, nil) // what is left of the min is made of no pods
		return
	case !within && !beyond: // it has no outputs, so its cards tell
		within, beyond = t.covered(false)
	}
	if !within && !beyond { // nor cards. A min of pods needn't have cpu and memory: then the number of tasks tells
		within = t.CPU.Covered > 0 || t.Memory.Covered > 0 || l.alike(t) <= podsLike(list, t.requests)
	}
	if within && t.requests != nil {
		l.setPods(t.job, addPods(list, t.requests, -1))
	}
}

// covered reports whether the job's min covers anything of a task's charges in outputs, or
// in cards, and whether it leaves anything uncovered.
func (t *task) covered(outputs bool) (within, beyond bool) {
	for i := range t.Charges {
		if c := &t.Charges[i]; isOutput(c.Alts) == outputs {
			within, beyond = within || c.Covered > 0, beyond || c.Covered < c.Amount
		}
	}
	return within, beyond
}

// alike counts the tasks of a task's job that request the same.
func (l *Ledger) alike(t *task) (n int64) {
	for other := range l.jobs[t.job].tasks() {
		if sameRequests(other.requests, t.requests) {
			n++
		}
	}
	return n
}

// chargedPods returns the pods of the tasks of a job whose min is what these are charged; nil
// where that isn't so.
func (j *job) chargedPods() (list []pods) {
	for t := range j.tasks() {
		for i := range t.Charges {
			if c := &t.Charges[i]; isOutput(c.Alts) && c.Covered < c.Amount {
				return nil
			}
		}
		if t.requests == nil {
			return nil
		}
		list = addPods(list, t.requests, 1)
	}
	return list
}
