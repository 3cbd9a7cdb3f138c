package fairshare

import (
	"fmt"
	"math"
	"math/bits"
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
	t.checkVector(u.Allocated)
	t.checkVector(u.Unpreemptible)
	t.checkVector(u.Wanted)
	name, wait := t.rows[leaf].name, t.used(leaf, waiting)
	for j := range t.cols {
		a, n, w := u.Allocated.Get(j), u.Unpreemptible.Get(j), u.Wanted.Get(j)
		for _, part := range [...]struct {
			name string
			x    float64
		}{{"allocated", a}, {"unpreemptible", n}, {"wanted", w}} {
			if _, reason := amountOf(part.x); reason != "" {
				return t.refuse(name, part.name, j, part.x, reason)
			}
		}
		if n > a {
			return t.refuse(name, "unpreemptible", j, n, "is more than is allocated")
		}
		if err := t.checkSum(leaf, j, int64(a), max(int64(w), int64(a)+wait[j])); err != nil {
			return err
		}
	}
	// Sums of one column don't depend on another, so what was checked column by column can be
	// written now without an error in between.
	for j := range t.cols {
		t.setLeaf(leaf, j, int64(u.Allocated.Get(j)), int64(u.Unpreemptible.Get(j)), int64(u.Wanted.Get(j)), wait[j])
	}
	return nil
}

// Assume allocates a job to a leaf, within its share or not. With an error, an
// [*vector.AmountError], nothing has changed.
func (t *Tree) Assume(row int, job Job) error { return t.move(row, &job, 1) }

// Forget takes a job off a leaf again: the reverse of [Tree.Assume], with its errors.
func (t *Tree) Forget(row int, job Job) error { return t.move(row, &job, -1) }

func (t *Tree) move(row int, job *Job, sign int64) error {
	leaf, err := t.leaf(row)
	if err != nil {
		return err
	}
	if err := t.checkRequest(leaf, job.Request); err != nil {
		return err
	}
	// All columns are checked before the first is written.
	has, kept, ask, wait := t.used(leaf, allocated), t.used(leaf, fixed), t.used(leaf, asked), t.used(leaf, waiting)
	keeps := int64(0)
	if job.Unpreemptible {
		keeps = sign
	}
	for j, x := range job.Request {
		a, n := has[j]+sign*int64(x), kept[j]+keeps*int64(x)
		switch {
		case a < 0 || n < 0:
			return t.refuse(t.rows[leaf].name, "request", j, x, "is more than is allocated")
		case n > a && sign*int64(x) < 0:
			return t.refuse(t.rows[leaf].name, "request", j, x, "is more than is allocated and preemptible")
		}
		if err := t.checkSum(leaf, j, a, max(ask[j], a+wait[j])); err != nil {
			return err
		}
	}
	for j, x := range job.Request {
		if x != 0 {
			t.setLeaf(leaf, j, has[j]+sign*int64(x), kept[j]+keeps*int64(x), ask[j], wait[j])
		}
	}
	return nil
}

// leaf returns a row that has no queues below it.
func (t *Tree) leaf(row int) (int32, error) {
	i := t.checked(row)
	if i == 0 || t.rows[i].children > 0 {
		return 0, fmt.Errorf("%w: queue %s is no leaf: only leaves have and want something", ErrStructure, t.rows[i].name)
	}
	return i, nil
}

// checkRequest checks the amounts of a job.
func (t *Tree) checkRequest(leaf int32, request vector.ResourceVector) error {
	t.checkVector(request)
	for j, x := range request {
		if _, reason := amountOf(x); reason != "" {
			return t.refuse(t.rows[leaf].name, "request", j, x, reason)
		}
	}
	return nil
}

// counted returns how much of what a queue wants its parent wants: not more than the
// queue may have, but what it has already. Else a queue with a limit of 2 that wants 10 would
// bring its parent a share of which 8 stay unused.
func counted(w, a, limit int64) int64 { return min(w, max(a, limit)) }

// checkSum looks before anything is written, so that an error takes nothing back. It
// returns the error for the first queue whose sum would be too large if a leaf had a and
// wanted w in column j.
func (t *Tree) checkSum(leaf int32, j int, a, w int64) error {
	if full, sum := t.addFault(leaf, j, a-t.used(leaf, allocated)[j], w-t.used(leaf, wanted)[j]); full >= 0 {
		return t.sumError(t.rows[leaf].name, full, j, sum)
	}
	return nil
}

// sumError returns the error for a queue that makes the sum of another too large.
func (t *Tree) sumError(name string, full int32, j int, sum int64) error {
	whose := "all queues"
	if full > 0 {
		whose = "queue " + t.rows[full].name
	}
	return t.refuse(name, "wanted", j, float64(sum), "is the sum of "+whose+": want less than 2^53 of the column's unit")
}

// Wanted amounts are added up the tree, and what a queue wants beyond its limit doesn't count
// above it. So the sum of a parent can't be had by adding up the change alone: a leaf below a
// queue that is at its limit may want more without any change above. addFault and addUp carry
// the change upward and cut it at each limit; they end where nothing of it is left.

// addFault returns the first queue whose sum would be too large if a and w were added to a
// row, and the sum; otherwise -1.
func (t *Tree) addFault(row int32, j int, a, w int64) (full int32, sum int64) {
	for ; row >= 0 && (a != 0 || w != 0); row = t.rows[row].parent {
		hasA, hasW, l := t.used(row, allocated)[j], t.used(row, wanted)[j], t.term(row, limit)[j]
		if hasW+w >= tooLarge {
			return row, hasW + w
		}
		// What has less than 2^53 wanted has less allocated: no other sum can be too large.
		w = counted(hasW+w, hasA+a, l) - counted(hasW, hasA, l)
	}
	return -1, 0
}

// setLeaf writes column j of a leaf, and what follows above it.
func (t *Tree) setLeaf(leaf int32, j int, a, n, ask, wait int64) {
	t.save(leaf)
	t.used(leaf, asked)[j], t.used(leaf, waiting)[j] = ask, wait
	has := t.used(leaf, allocated)[j]
	t.addUp(leaf, j, a-has, n-t.used(leaf, fixed)[j], max(ask, a+wait)-t.used(leaf, wanted)[j])
	t.charge(leaf, j, a-has)
}

// addUp adds to a row what it has, keeps and wants in column j, and to all above it what
// counts there. It ends where nothing changes any more: a queue that wants more than its
// limit already makes no difference above it.
func (t *Tree) addUp(row int32, j int, a, n, w int64) {
	if row >= 0 && (a != 0 || n != 0 || w != 0) {
		t.touch(row) // all above it are ranked with it
	}
	for ; row >= 0 && (a != 0 || n != 0 || w != 0); row = t.rows[row].parent {
		t.save(row)
		hasA, hasN, hasW, l := &t.used(row, allocated)[j], &t.used(row, fixed)[j], &t.used(row, wanted)[j], t.term(row, limit)[j]
		before, bound := counted(*hasW, *hasA, l), min(*hasW, l)
		*hasA += a
		*hasN += n
		*hasW += w
		// Only what a queue wants within its limit counts in the division.
		if bound != min(*hasW, l) {
			t.noteCan(row, j)
		}
		w = counted(*hasW, *hasA, l) - before
	}
}

// count adds what a queue has and wants to all above it, or subtracts it.
func (t *Tree) count(row int32, sign int64) {
	for j := range t.cols {
		a, w := t.used(row, allocated)[j], t.used(row, wanted)[j]
		t.addUp(t.rows[row].parent, j, sign*a, sign*t.used(row, fixed)[j], sign*counted(w, a, t.term(row, limit)[j]))
	}
}

// countFault returns the first queue whose sum would be too large if row were counted, in
// which column, and the sum. The column is -1 if there is none.
func (t *Tree) countFault(row int32) (full int32, j int, sum int64) {
	for j := range t.cols {
		a, w := t.used(row, allocated)[j], t.used(row, wanted)[j]
		if full, sum := t.addFault(t.rows[row].parent, j, a, counted(w, a, t.term(row, limit)[j])); full >= 0 {
			return full, j, sum
		}
	}
	return -1, -1, 0
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
	t.stale.history = true
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
	t.stale.history = true
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
	if !t.stale.history {
		return
	}
	t.stale.history = false
	for k := len(t.shape.order) - 1; k >= 0; k-- {
		row := t.shape.order[k]
		if n := t.rows[row].children; n > 0 {
			sum := t.history[int(row)*t.cols:][:t.cols]
			clear(sum)
			for _, child := range t.shape.childrenOf(row, n) {
				for j := range sum {
					sum[j] += t.history[int(child)*t.cols+j]
				}
			}
		}
	}
	if t.options.History > 0 {
		t.stale.all(t)
	}
}
