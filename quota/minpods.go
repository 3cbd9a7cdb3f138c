package quota

import (
	"cmp"
	"fmt"
	"hash/maphash"
	"maps"
	"math/big"
	"math/bits"
	"slices"

	"github.com/resvec/resvec/quota/internal/book"
	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/resource"
)

// What the min of a job is made of in outputs: pods that request the same, and how many. The
// book has only the sums, of which another transformation can't make anything.

// pods are pods that request the same. Of pods that have ended since, n is negative.
type pods struct {
	requests corev1.ResourceList
	kind     uint64 // of requests
	n        int64
}

func podsOf(requests corev1.ResourceList, n int64) pods {
	return pods{requests, requestKind(requests), n}
}

// requestKind returns a number that is the same for the same requests, and nearly always
// another one for others.
func requestKind(requests corev1.ResourceList) (kind uint64) {
	for name, q := range requests {
		milli := int64(-1) // of amounts that are too large for it
		if q.CmpInt64(limitExact) < 0 {
			milli = q.MilliValue()
		}
		kind += maphash.String(kindSeed, string(name)) * (2*uint64(milli) + 1)
	}
	return kind
}

var kindSeed = maphash.MakeSeed()

// request notes what a task requests, of which its charge in outputs is made.
func (t *task) request(requests corev1.ResourceList) {
	t.requests, t.kind = requests, requestKind(requests)
}

// is reports whether these pods request what others do.
func (p *pods) is(other *pods) bool {
	return p.kind == other.kind && sameRequests(p.requests, other.requests)
}

// addPods adds pods to a list, which it copies.
func addPods(list []pods, more pods) []pods {
	list = slices.Clone(list)
	for i := range list {
		if list[i].is(&more) {
			if list[i].n += more.n; list[i].n == 0 {
				return slices.Delete(list, i, i+1)
			}
			return list
		}
	}
	return append(list, more)
}

// samePods reports whether two lists are of the same pods.
func samePods(a, b []pods) bool {
	return len(a) == len(b) && !slices.ContainsFunc(a, func(p pods) bool { return podsLike(b, &p) != p.n })
}

// podsLike returns how many pods of a list request what others do.
func podsLike(list []pods, other *pods) int64 {
	for i := range list {
		if list[i].is(other) {
			return list[i].n
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
	switch within, beyond := t.inMin(list); {
	case within && beyond:
		l.setPods(t.job, nil) // what is left of the min is made of no pods
	case within && t.requests != nil:
		one := t.pod()
		one.n = -1
		l.setPods(t.job, addPods(list, one))
	}
}

// pod returns a task as one of the pods of a min.
func (t *task) pod() pods { return pods{t.requests, t.kind, 1} }

// inMin reports whether a task is one of the pods that its job's min is made of, or beyond
// them; of a task that is so in part, both. The min covers outputs of what is within. Of a
// task without outputs its cards tell. A min of pods needn't have cpu and memory: of a task
// that has only these, or nothing, it tells how many tasks like it came before.
func (t *task) inMin(list []pods) (within, beyond bool) {
	cards := false
	for i := range t.Charges {
		c := &t.Charges[i]
		switch {
		case isOutput(c.Alts):
			within, beyond = within || c.Covered > 0, beyond || c.Covered < c.Amount
		case c.Covered > 0:
			cards = true
		}
	}
	switch {
	case within || beyond:
		return within, beyond
	case slices.ContainsFunc(t.Charges, func(c book.Charge) bool { return c.Amount > 0 }):
		within = cards
	default:
		one := t.pod()
		within = t.CPU.Covered > 0 || t.Memory.Covered > 0 || t.rankedIn(podsLike(list, &one))
	}
	return within, !within
}

// rankedIn reports whether a task is one of the first n of its job that request the same.
func (t *task) rankedIn(n int64) bool {
	if int64(t.Job.Tasks) <= n {
		return true
	}
	one := t.pod()
	for at := t.Job.First; at != nil && n > 0; at = at.Next {
		if at == &t.Task {
			return true
		}
		if other := taskOf(at).pod(); other.is(&one) {
			n--
		}
	}
	return false
}

// chargedPods returns the pods of the tasks that a min of list covers, which is what they are
// charged; nil where that isn't so.
func (j *job) chargedPods(list []pods) (charged []pods) {
	for t := range j.tasks() {
		within, beyond := t.inMin(list)
		switch {
		case within && beyond, t.requests == nil:
			return nil
		case within:
			charged = addPods(charged, t.pod())
		}
	}
	return charged
}
