package fairshare

import (
	"cmp"
	"fmt"
	"math"
	"math/bits"
	"slices"
	"time"

	"github.com/resvec/resvec/vector"
)

// Usage is what a leaf has and wants. Shorter vectors are padded with zeros.
type Usage struct {
	Allocated     vector.ResourceVector
	Unpreemptible vector.ResourceVector // what of it is not preemptible

	// Wanted is what runs and what waits. The leaf wants at least this, and at least what it
	// has together with the jobs that wait in the tree. So it is needed only where no jobs
	// are given.
	Wanted vector.ResourceVector
}

// Job is something to run in a leaf.
type Job struct {
	Request       vector.ResourceVector // padded with zeros
	Unpreemptible bool

	// Priority, higher first, and then Age, lower first, order the jobs that wait in a leaf;
	// equal ones are served in the order in which they came. Nil stands for the priority and
	// the rank of the leaf.
	Priority, Age *int64
}

// SetUsage sets what a leaf has and wants. With an error nothing has changed.
func (t *Tree) SetUsage(row int, u Usage) error {
	leaf, err := t.leaf(row)
	if err != nil {
		return err
	}
	name := t.rows[leaf].name
	has, err := t.whole(0, name, "allocated", u.Allocated)
	if err != nil {
		return err
	}
	keeps, err := t.whole(1, name, "unpreemptible", u.Unpreemptible)
	if err != nil {
		return err
	}
	wants, err := t.whole(2, name, "wanted", u.Wanted)
	if err != nil {
		return err
	}
	for j, n := range keeps {
		if n > has[j] {
			return t.refuse(name, "unpreemptible", j, float64(n), "is more than is allocated")
		}
	}
	return t.moveAll(leaf, func(j int) delta {
		return delta{
			allocated: has[j] - t.used(leaf, allocated)[j],
			fixed:     keeps[j] - t.used(leaf, fixed)[j],
			asked:     wants[j] - t.used(leaf, asked)[j],
		}
	})
}

// Assume allocates a job to a leaf, within its share or not. With an error, an
// [*vector.AmountError], nothing has changed.
func (t *Tree) Assume(row int, job Job) error { return t.allocate(row, &job, 1) }

// Forget takes a job off a leaf again: the reverse of [Tree.Assume], with its errors.
func (t *Tree) Forget(row int, job Job) error { return t.allocate(row, &job, -1) }

func (t *Tree) allocate(row int, job *Job, sign int64) error {
	leaf, request, err := t.request(row, job)
	if err != nil {
		return err
	}
	has, kept, keeps := t.used(leaf, allocated), t.used(leaf, fixed), int64(0)
	if job.Unpreemptible {
		keeps = sign
	}
	for j, x := range request {
		a, n := has[j]+sign*x, kept[j]+keeps*x
		switch {
		case a < 0 || n < 0:
			return t.refuse(t.rows[leaf].name, "request", j, float64(x), "is more than is allocated")
		case n > a && sign*x < 0:
			return t.refuse(t.rows[leaf].name, "request", j, float64(x), "is more than is allocated and preemptible")
		}
	}
	return t.moveAll(leaf, func(j int) delta { return delta{allocated: sign * request[j], fixed: keeps * request[j]} })
}

// request returns the leaf of a row, and what a job of it requests.
func (t *Tree) request(row int, job *Job) (leaf int32, request []int64, err error) {
	if leaf, err = t.leaf(row); err != nil {
		return 0, nil, err
	}
	request, err = t.whole(0, t.rows[leaf].name, "request", job.Request)
	return leaf, request, err
}

// leaf returns a row that has no queues below it.
func (t *Tree) leaf(row int) (int32, error) {
	i := t.checked(row)
	if i == 0 || t.rows[i].children > 0 {
		return 0, fmt.Errorf("%w: queue %s is no leaf: only leaves have and want something", ErrStructure, brief(t.rows[i].name))
	}
	return i, nil
}

// counted returns how much of what a queue wants its parent wants: not more than the
// queue may have, but what it has already. Else a queue with a limit of 2 that wants 10 would
// bring its parent a share of which 8 stay unused.
func counted(w, a, limit int64) int64 { return min(w, max(a, limit)) }

// delta is what is added to parts of a leaf, in one column.
type delta struct{ allocated, fixed, asked, waiting int64 }

// moveAll adds to a leaf in all columns. With an error, for a sum that would be too large, in
// none: those that are done are taken back, and an open claim sees no change.
func (t *Tree) moveAll(leaf int32, of func(j int) delta) (err error) {
	edits := t.journal.edits
	t.deltas = resized(t.deltas, t.cols)
	for j := range t.deltas {
		t.deltas[j] = of(j)
		if err = t.move(leaf, j, t.deltas[j]); err == nil {
			continue
		}
		for ; j >= 0; j-- {
			d := t.deltas[j]
			_ = t.move(leaf, j, delta{-d.allocated, -d.fixed, -d.asked, -d.waiting})
		}
		t.journal.edits = edits
		return err
	}
	return nil
}

// move adds to a leaf in one column, and to all above it what follows. The error is for the
// first queue whose sum is too large now.
func (t *Tree) move(leaf int32, j int, d delta) error {
	if d == (delta{}) {
		return nil
	}
	ask, wait := t.used(leaf, asked)[j]+d.asked, t.used(leaf, waiting)[j]+d.waiting
	t.put(leaf, asked, j, ask)
	t.put(leaf, waiting, j, wait)
	wants := max(ask, t.used(leaf, allocated)[j]+d.allocated+wait)
	return t.addUp(leaf, leaf, j, d.allocated, d.fixed, wants-t.used(leaf, wanted)[j])
}

// addUp adds to a row what it has, keeps and wants in column j, and to all above it what
// counts there. What a queue wants beyond its limit doesn't count above it: the change is cut at
// each limit, and it ends where nothing of it is left. The error is for the first queue whose sum
// is too large now; it names the one that changes, too.
func (t *Tree) addUp(changed, row int32, j int, a, n, w int64) (err error) {
	if row >= 0 && (a != 0 || n != 0 || w != 0) {
		t.touch(row) // all above it are ranked with it
	}
	lends, charge := t.options.Rules == Kueue && !t.shape.isOld, a
	for ; row >= 0 && (a != 0 || n != 0 || w != 0); row = t.rows[row].parent {
		hasA, hasW, l := t.used(row, allocated)[j], t.used(row, wanted)[j], t.used(row, limit)[j]
		// What has less than 2^53 wanted has less allocated: no other sum can be too large.
		if hasW+w >= tooLarge && err == nil {
			err = t.sumError(changed, row, j, hasW+w)
		}
		t.put(row, allocated, j, hasA+a)
		t.put(row, fixed, j, t.used(row, fixed)[j]+n)
		t.put(row, wanted, j, hasW+w)
		// Only what a queue wants within its limit counts in the division.
		if min(hasW, l) != min(hasW+w, l) {
			t.noteCan(row, j)
		}
		w = counted(hasW+w, hasA+a, l) - counted(hasW, hasA, l)
		if lends && charge != 0 {
			uses, kept := t.used(row, charged)[j], t.lent(row, keeps)[j]
			t.put(row, charged, j, uses+charge)
			charge = beyond(uses+charge, kept) - beyond(uses, kept)
		}
	}
	return err
}

// sumError returns the error for a queue that makes the sum of another too large.
func (t *Tree) sumError(row, full int32, j int, sum int64) error {
	whose := "all queues"
	if full > 0 {
		whose = "queue " + brief(t.rows[full].name)
	}
	return t.refuse(t.rows[row].name, "wanted", j, float64(sum), "is the sum of "+whose+": want less than 2^53 of the column's unit")
}

// count adds what a queue has and wants to all above it, or subtracts it, and its terms to what
// siblings are guaranteed together and all queues deserve. By Kueue's rules lending adds the
// latter up. With sums below 2^53 every step of a division stays in 64 bits, and products of two
// amounts in 128; the error is for the first that is too large now.
func (t *Tree) count(row int32, sign int64) (err error) {
	parent := t.rows[row].parent
	if parent < 0 {
		return nil // it has just come
	}
	t.rows[parent].children += int32(sign)
	for j := range t.cols {
		g, d := t.used(row, guarantee)[j], t.used(row, deserved)[j]
		promised := &t.promised[int(parent)*t.cols+j]
		*promised += sign * g
		t.entitled[j] += sign * finite(d)
		switch {
		case *promised >= tooLarge:
			err = cmp.Or(err, t.refuse(t.rows[row].name, "guarantee", j, float64(g), reasonSum))
		case t.entitled[j] >= tooLarge && t.options.Rules == Kueue:
			err = cmp.Or(err, t.refuse(t.rows[row].name, "deserved", j, float64(d), reasonSum))
		}
		a, w := t.used(row, allocated)[j], t.used(row, wanted)[j]
		err = cmp.Or(err, t.addUp(row, parent, j, sign*a, sign*t.used(row, fixed)[j], sign*counted(w, a, t.used(row, limit)[j])))
	}
	return err
}

// read appends amounts to dst.
func read(dst vector.ResourceVector, amounts []int64) vector.ResourceVector {
	for _, x := range amounts {
		dst = append(dst, float64(x))
	}
	return dst
}

// Allocated sets dst to what a queue has.
func (t *Tree) Allocated(dst vector.ResourceVector, row int) vector.ResourceVector {
	return read(dst[:0], t.used(t.checked(row), allocated))
}

// Wanted sets dst to what a queue has and what waits; of a child its parent counts at most
// the limit, or what it has.
func (t *Tree) Wanted(dst vector.ResourceVector, row int) vector.ResourceVector {
	return read(dst[:0], t.used(t.checked(row), wanted))
}

// SetHistory sets the past usage of a leaf, such as one kept from the last run. Marks taken
// before are void.
func (t *Tree) SetHistory(row int, usage vector.ResourceVector) error {
	leaf, err := t.leaf(row)
	if err != nil {
		return err
	}
	t.checkVector(usage)
	for j, x := range usage {
		if !(x >= 0 && x < tooLarge) {
			return t.refuse(t.rows[leaf].name, "history", j, x, "is no past usage: want 0 or more, and less than 2^53")
		}
	}
	t.journal.void()
	for j := range t.cols {
		t.history[int(leaf)*t.cols+j] = usage.Get(j) + 0 // -0 becomes 0
	}
	t.isPast = true
	return nil
}

// History sets dst to the past usage of a queue.
func (t *Tree) History(dst vector.ResourceVector, row int) vector.ResourceVector {
	i := int(t.checked(row))
	t.sumHistory()
	return append(dst[:0], t.history[i*t.cols:][:t.cols]...)
}

// Decay lets time pass: past usage halves in every half-life, and what the leaves have
// now comes in its place. Marks taken before are void. It panics on a negative time, or a
// half-life that is not positive.
func (t *Tree) Decay(elapsed, halfLife time.Duration) {
	if elapsed < 0 || halfLife <= 0 {
		panic("fairshare: time that cannot pass")
	}
	t.journal.void()
	keep := halved(uint64(elapsed), uint64(halfLife))
	for row := range t.rows {
		if row == 0 || t.rows[row].parent < 0 || t.rows[row].children > 0 {
			continue
		}
		past := t.history[row*t.cols:][:t.cols]
		for j, a := range t.used(int32(row), allocated) {
			// The conversions round each product, so that no CPU fuses it with the sum.
			past[j] = float64(past[j]*keep) + float64(float64(a)*(1-keep))
		}
	}
	t.isPast = true
}

// halved returns 2^(-a/h), exact where that is a power of two, else with a relative error
// below 2^-52. It uses integers only: math.Exp2 gives other bits on other CPUs.
func halved(a, h uint64) float64 {
	whole, rest := a/h, a%h
	if whole > 2000 {
		return 0
	}
	// With y = rest/h * ln 2, 0 <= y < 1, the series of exp(-y) is summed from its
	// smallest term: 1 - y/1 * (1 - y/2 * (1 - y/3 * ...)). Numbers are multiples of 2^-63.
	const one, ln2 = 1 << 63, 0xB17217F7D1CF79AB // the latter of 2^-64
	part, _ := bits.Div64(rest, 0, h)            // of 2^-64
	y, _ := bits.Mul64(part, ln2)                // of 2^-64
	sum := uint64(one)
	for n := uint64(24); n > 0; n-- {
		term, _ := bits.Mul64(y, sum)
		sum = one - term/n
	}
	return math.Ldexp(float64(sum), -63-int(whole))
}

// sumHistory adds up the past usage of parents. Sums of float64 depend on the order, so
// children are added by rank.
func (t *Tree) sumHistory() {
	t.tidy()
	if !t.isPast {
		return
	}
	t.isPast = false
	for _, row := range slices.Backward(t.shape.parents) {
		sum := t.history[int(row)*t.cols:][:t.cols]
		clear(sum)
		for _, child := range t.shape.childrenOf(row) {
			for j := range sum {
				sum[j] += t.history[int(child)*t.cols+j]
			}
		}
	}
	if t.options.History > 0 {
		t.outdateAll()
	}
}
