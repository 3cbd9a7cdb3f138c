package gang

import (
	"fmt"

	"github.com/resvec/resvec/vector"
)

// Limit makes the filters of p let victims go only as b permits, from now on; the zero Budgets
// ends it. [Budgets.Owners] says who owns them.
//
// A victim of the prefix then stays where it makes no room, or takes its owner beyond a limit
// after the ones that went before; with LastMayPass the first of those goes, too.
// [Scenario.Victims] are the ones that go. LowerBound and Infeasible are proved for every
// permitted set of the victims, as by [Proof.Limit]. Prefix is about the order in which they
// come: without one, another set may still make room.
//
// With domains only victims within the same set count against their owner, unless
// sets overlap, and in [Packer.FilterTopology] only those in the same domain of a required level.
// FilterTopology proves nothing about other sets; [Proof.Within] can.
//
// Budgets are copied. The error names what [Proof.Limit] refuses, or an owner that does not
// exist, which wraps [vector.ErrShape]; p keeps its budgets then. Filters panic when Limits has
// another width or schema than the rows.
func (p *Packer) Limit(b Budgets) error {
	a := &p.allowance
	if b.Limits == nil {
		a.on = false
		return nil
	}
	if err := checkLimits(b.Limits); err != nil {
		return err
	}
	for i, owner := range b.Owners {
		if owner != -1 && uint(owner) >= uint(b.Limits.Rows()) {
			return fmt.Errorf("limits: victim %d: no owner %d among %d: %w", i, owner, b.Limits.Rows(), vector.ErrShape)
		}
	}
	a.on = true
	a.limits.CopyFrom(b.Limits)
	a.budgets = Budgets{Limits: &a.limits, LastMayPass: b.LastMayPass, Owners: append(a.budgets.Owners[:0], b.Owners...)}
	return nil
}

// allowance lets victims go one by one, as budgets permit.
type allowance struct {
	on      bool
	limits  vector.Matrix
	budgets Budgets

	accounts map[pair]int32 // of an owner in a set
	lost     []float64      // per account, cols for each: what went, without the one that passed
	passed   []bool         // per account
	going    []leaving      // the victims that go
	victims  []int32        // of an answer
}

// leaving is a victim that goes, by its index among all.
type leaving struct{ victim, row int32 }

// start makes a know of no victim.
func (a *allowance) start() {
	clear(a.accounts)
	a.lost, a.passed, a.going = a.lost[:0], a.passed[:0], a.going[:0]
}

// owner returns the owner of victim i, -1 for none.
func (a *allowance) owner(i int) int {
	if i < len(a.budgets.Owners) {
		return int(a.budgets.Owners[i])
	}
	return -1
}

// lets reports whether victim i goes, and notes it.
func (a *allowance) lets(i, set, row int, amounts vector.ResourceVector) bool {
	if owner := a.owner(i); owner >= 0 && !a.permits(pair{int32(set), int32(owner)}, amounts) {
		return false
	}
	a.going = append(a.going, leaving{int32(i), int32(row)})
	return true
}

// permits reports whether an owner may lose amounts, too, and notes that it does. Sums are
// rounded as the host's are that adds up victim by victim: what it would evict is what counts.
func (a *allowance) permits(of pair, amounts vector.ResourceVector) bool {
	cols := a.limits.Cols()
	k, ok := a.accounts[of]
	if !ok {
		if a.accounts == nil {
			a.accounts = make(map[pair]int32)
		}
		k = int32(len(a.passed))
		a.accounts[of] = k
		a.passed = append(a.passed, false)
		for range cols {
			a.lost = append(a.lost, 0)
		}
	}
	lost := a.lost[int(k)*cols:][:cols]
	for j, x := range lost {
		if x+amounts.Get(j) <= at(&a.limits, int(of.owner), j) {
			continue
		}
		if !a.budgets.LastMayPass || a.passed[k] {
			return false
		}
		// The one that passes is not in what is lost: the others have to be within the limits.
		a.passed[k] = true
		return true
	}
	for j, x := range amounts {
		lost[j] += x
	}
	return true
}

// chosen returns the first victims that go from rows that count, as an answer says it.
func (a *allowance) chosen(prefix int, counts func(row int) bool) []int32 {
	a.victims = a.victims[:0]
	for _, v := range a.going {
		if int(v.victim) < prefix && counts(int(v.row)) {
			a.victims = append(a.victims, v.victim)
		}
	}
	return a.victims
}

// limited prepares a filter with budgets.
func (p *Packer) limited(free, requests *vector.Matrix, rows *vector.Mask, domains *Domains) {
	q := &p.proof
	q.Reset(free, requests, rows)
	if p.spread.on {
		q.spread.copy(&p.spread)
		q.takeBounds()
	}
	_ = q.Limit(p.allowance.budgets) // accepted before
	q.Within(domains)
	p.allowance.start()
}

// release releases victim i in the proof, and reports whether it goes.
func (p *Packer) release(i, row int, amounts vector.ResourceVector) (goes bool, err error) {
	a := &p.allowance
	owner := a.owner(i)
	if owner < 0 {
		owner = a.limits.Rows()
	}
	// The proof gets every victim, whether it goes or not: it is about all permitted sets.
	if err := p.proof.release(owner, row, amounts); err != nil {
		return false, err
	}
	sets := p.sets.of(row)
	if len(sets) == 0 {
		return false, nil
	}
	// Where sets overlap a victim is in several: one account for all is right, and stricter.
	set := 0
	if !p.sets.whole() && !p.sets.overlap {
		set = int(sets[0])
	}
	return a.lets(i, set, row, amounts), nil
}
