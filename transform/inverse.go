package transform

import (
	"fmt"
	"math/big"

	"github.com/resvec/resvec/internal/quantity"
	"gopkg.in/inf.v0"
	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/resource"
)

// Query asks how many units of an input fit under quotas.
type Query struct {
	Input corev1.ResourceName
	Step  resource.Quantity   // size of one unit; 0 is 1
	Base  corev1.ResourceList // the rest of the request; its own entry for Input is ignored
	Quota corev1.ResourceList // of results; a name that is absent is not limited
}

// Answer is the answer to a [Query].
type Answer struct {
	// Units is the largest n such that no number of units up to n violates a
	// quota; 0 when Feasible is false or Unbounded is true.
	Units     int64
	Feasible  bool                // 0 units violate none
	Unbounded bool                // no number up to MaxInt64 violates any
	Limiting  corev1.ResourceName // the smallest name that Units+1 violates, or 0 units if not feasible
	Usage     corev1.ResourceList // the result at Units
}

// MaxUnits returns how many units of an input fit, exactly: amounts are compared
// before any rounding to whole units. A result grows with the units in any way
// that rules allow, quadratically through a rule that multiplies by its own
// input, and down where a factor is negative; the answer stops below the first
// number of units that violates a quota. A negative step is an error, and so is
// an empty input.
func (t *Transformation) MaxUnits(q Query) (Answer, error) {
	step := rational(dec(q.Step))
	switch {
	case q.Input == "":
		return Answer{}, fmt.Errorf("transform: query: input is empty")
	case step.Sign() < 0:
		return Answer{}, fmt.Errorf("transform: query: step: %s is negative; 0 stands for 1", quantity.Text(q.Step))
	case step.Sign() == 0:
		step.SetInt64(1)
	}
	// Every quota has its first violation; the earliest of all is the answer. Quotas are
	// taken by name, so that the smallest name stands where several break at once.
	first, limiting := (*big.Int)(nil), corev1.ResourceName("")
	for _, name := range sortedNames(q.Quota) {
		kept, generated := t.growth(q, step, name)
		limit := rational(dec(q.Quota[name]))
		// What is generated counts as 0 below 0, so either is a violation.
		for _, p := range [...]polynomial{kept, kept.plus(generated)} {
			p[0] = new(big.Rat).Sub(p[0], limit)
			if n := p.firstPositive(); n != nil && (first == nil || n.Cmp(first) < 0) {
				first, limiting = n, name
			}
		}
	}
	a := Answer{Feasible: true, Limiting: limiting}
	switch {
	case first == nil || !first.IsInt64():
		a.Unbounded, a.Limiting = true, "" // beyond MaxInt64 no quota is reached in practice
	case first.Sign() == 0:
		a.Feasible = false
	default:
		a.Units = first.Int64() - 1
	}
	a.Usage = t.Apply(q.request(a.Units))
	return a, nil
}

// request returns the base with this many units of the input.
func (q *Query) request(units int64) corev1.ResourceList {
	list := q.Base.DeepCopy()
	if list == nil {
		list = corev1.ResourceList{}
	}
	one := q.Step.DeepCopy()
	if one.IsZero() {
		one = resource.MustParse("1")
	}
	list[q.Input] = number{new(inf.Dec).Mul(dec(one), inf.NewDec(units, 0)), one.Format}.quantity()
	return list
}

// growth returns what is kept and what is generated under a name, as polynomials
// in the number of units. It follows amounts, which has the same rules for numbers.
func (t *Transformation) growth(q Query, step *big.Rat, name corev1.ResourceName) (kept, generated polynomial) {
	amount := func(of corev1.ResourceName) (p polynomial, present bool) {
		p = newPolynomial()
		if of == q.Input {
			p[1].Set(step)
			return p, true
		}
		x, present := q.Base[of]
		if present {
			p[0].Set(rational(dec(x)))
		}
		return p, present
	}
	kept, generated = newPolynomial(), newPolynomial()
	if p, present := amount(name); present && t.keeps(name) {
		kept = p
	}
	for _, r := range t.producers(name) {
		p, present := amount(r.Input)
		if !present || t.excluded(r.Input) {
			continue
		}
		if t.readsMultiplier(r.MultiplyBy) {
			if m, present := amount(r.MultiplyBy); present {
				p = p.times(m)
			}
		}
		generated = generated.plus(p.scaled(rational(dec(r.Outputs[name]))))
	}
	return kept, generated
}

// polynomial holds the coefficients of 1, n and n². More are never needed: a rule
// multiplies its input, of degree 1, by one other amount, and no rule feeds another.
type polynomial [3]*big.Rat

func newPolynomial() polynomial { return polynomial{new(big.Rat), new(big.Rat), new(big.Rat)} }

func (p polynomial) plus(q polynomial) polynomial {
	sum := newPolynomial()
	for i := range sum {
		sum[i].Add(p[i], q[i])
	}
	return sum
}

func (p polynomial) scaled(f *big.Rat) polynomial {
	out := newPolynomial()
	for i := range out {
		out[i].Mul(p[i], f)
	}
	return out
}

// times returns the product of two polynomials of degree 1.
func (p polynomial) times(q polynomial) polynomial {
	out := newPolynomial()
	for i := range 2 {
		for j := range 2 {
			out[i+j].Add(out[i+j], new(big.Rat).Mul(p[i], q[j]))
		}
	}
	return out
}

// sign returns the sign of p at n.
func (p polynomial) sign(n *big.Int) int {
	x := new(big.Rat).SetInt(n)
	y := new(big.Rat).Mul(p[2], x)
	y.Mul(y.Add(y, p[1]), x)
	return y.Add(y, p[0]).Sign()
}

// firstPositive returns the smallest n >= 0 where p is positive, nil when there
// is none. Integers are searched rather than roots taken, since roots are irrational.
func (p polynomial) firstPositive() *big.Int {
	if p[0].Sign() > 0 {
		return new(big.Int)
	}
	switch p[2].Sign() {
	case 0:
		if p[1].Sign() <= 0 {
			return nil
		}
	case -1:
		// Concave: it rises up to the vertex, and the best integer is next to it.
		if p[1].Sign() <= 0 {
			return nil
		}
		vertex := new(big.Rat).Quo(p[1], new(big.Rat).Mul(p[2], big.NewRat(-2, 1)))
		top := new(big.Int).Quo(vertex.Num(), vertex.Denom())
		if p.sign(top) > 0 {
			return p.search(top)
		}
		if top.Add(top, big.NewInt(1)); p.sign(top) > 0 {
			return top
		}
		return nil
	}
	// It is not positive at 0 and convex or rising, so once it is positive it
	// stays so.
	top := big.NewInt(1)
	for p.sign(top) <= 0 {
		top.Lsh(top, 1)
	}
	return p.search(top)
}

// search returns the smallest n in 1..top where p is positive: it is not at 0, is
// at top, and stays once it is.
func (p polynomial) search(top *big.Int) *big.Int {
	low, high := new(big.Int), top // not positive, positive
	for {
		middle := new(big.Int).Add(low, high)
		middle.Rsh(middle, 1)
		switch {
		case middle.Cmp(low) == 0:
			return high
		case p.sign(middle) > 0:
			high = middle
		default:
			low = middle
		}
	}
}
