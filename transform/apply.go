package transform

import (
	"github.com/resvec/resvec/internal/quantity"
	"gopkg.in/inf.v0"
	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/resource"
)

// Apply returns what a request is charged as. The request is the total of one
// pod. Amounts are computed in decimal arithmetic without rounding or overflow;
// only a result finer than 1n, which a Quantity cannot write, is rounded up to a
// multiple of it, and amounts of 10^1000 and more count as 10^1000 where they are
// added to others.
//
// Rules fire once, on the request alone: outputs feed no rule. What the rules
// generate for a name is summed, a negative sum counts as 0, and is added to what
// the request keeps under that name. The result is new and shares nothing with
// in, which is not changed; nil gives nil.
func (t *Transformation) Apply(in corev1.ResourceList) corev1.ResourceList {
	if in == nil {
		return nil
	}
	out := make(corev1.ResourceList, len(in))
	for name, a := range t.amounts(in) {
		out[name] = a.total().quantity()
	}
	return out
}

// number is the value and the Format of a Quantity. Quantity itself rounds and wraps around
// where a value needs more than its int64 and scale, so values are computed apart from it.
type number struct {
	value  *inf.Dec
	format resource.Format
}

func numberOf(q resource.Quantity) number { return number{dec(q), q.Format} }

// add returns a + b as Quantity.Add does it: a zero takes the Format of what is
// added to it.
func (a number) add(b number) number {
	if a.value == nil {
		return b
	}
	format := a.format
	if a.value.Sign() == 0 {
		format = b.format
	}
	return number{sum(a.value, b.value), format}
}

// farApart is how many decimal places apart two amounts may be. A text of 20 characters
// can ask for a sum of two billion digits.
const farApart = 10_000

// sum returns x + y, with amounts that are far apart bounded first.
func sum(x, y *inf.Dec) *inf.Dec {
	if apart := int64(x.Scale()) - int64(y.Scale()); max(apart, -apart) > farApart {
		x, y = bounded(x), bounded(y)
	}
	return new(inf.Dec).Add(x, y)
}

// multiply returns x * y, bounded where the exponent of the result is no int32, which
// inf.Dec does not check.
func multiply(x, y *inf.Dec) *inf.Dec {
	if scale := int64(x.Scale()) + int64(y.Scale()); int64(int32(scale)) != scale {
		x, y = bounded(x), bounded(y)
	}
	return new(inf.Dec).Mul(x, y)
}

// bounded returns d, or what stands for it where its exponent is beyond 999: 10^1000, or 1n.
// Sums of values further apart would write out every digit between them.
func bounded(d *inf.Dec) *inf.Dec {
	q := quantity.Bounded(*resource.NewDecimalQuantity(*d, ""))
	return q.AsDec()
}

// quantity returns the Quantity of a value, rounded up to 1n. The text of a Quantity can't
// hold more: it writes 1e-18 as 1.
func (a number) quantity() resource.Quantity {
	d := a.value
	if finest := inf.Scale(-resource.Nano); d.Scale() > finest {
		if d.Scale() > farApart {
			d = bounded(d)
		}
		d = new(inf.Dec).Round(d, finest, inf.RoundCeil)
	}
	if unscaled, ok := d.Unscaled(); ok {
		q := *resource.NewScaledQuantity(unscaled, resource.Scale(-d.Scale()))
		q.Format = a.format
		return q
	}
	return *resource.NewDecimalQuantity(*new(inf.Dec).Set(d), a.format)
}

// canonical returns the canonical text of q. It works on a new Quantity: String
// changes its receiver, and returns the text that a Quantity was read from, 010
// for instance.
func canonical(q resource.Quantity) string {
	q = numberOf(q).quantity()
	return q.String()
}

// amount is what becomes of one name.
type amount struct {
	retained  number // value nil: nothing is
	generated number // before the floor; value nil: no rule generates it
	terms     []term
}

// term is what one rule generates.
type term struct {
	rule       *rule
	entry      entry
	input      number
	multiplier resource.Quantity
	multiplied bool // the multiplier is present
	amount     number
}

// floored returns what the rules generate, at least 0: an allowance cancels what other
// rules charge, and never what was requested.
func (a *amount) floored() number {
	if a.generated.value == nil || a.generated.value.Sign() >= 0 {
		return a.generated
	}
	return number{new(inf.Dec), a.generated.format}
}

// total returns the result. One of the parts exists.
func (a *amount) total() number {
	if a.generated.value == nil {
		return a.retained
	}
	return a.retained.add(a.floored())
}

// amounts computes the parts of every name of the result. Inputs are taken in the order of
// their names, since the first addend that is not 0 decides the Format of a sum.
func (t *Transformation) amounts(in corev1.ResourceList) map[corev1.ResourceName]*amount {
	parts := make(map[corev1.ResourceName]*amount, len(in))
	part := func(name corev1.ResourceName) *amount {
		if parts[name] == nil {
			parts[name] = new(amount)
		}
		return parts[name]
	}
	for _, name := range sortedNames(in) {
		if t.excluded(name) {
			continue
		}
		q := numberOf(in[name])
		r := t.rule(name)
		if r == nil || r.Strategy == Retain {
			part(name).retained = q
		}
		if r == nil {
			continue
		}
		multiplier, multiplied := in[r.MultiplyBy]
		multiplied = multiplied && t.readsMultiplier(r.MultiplyBy)
		input := q.value
		if multiplied {
			input = multiply(input, dec(multiplier))
		}
		for _, e := range r.entries {
			p := part(e.output)
			contribution := number{multiply(input, e.factor), q.format}
			p.generated = p.generated.add(contribution)
			p.terms = append(p.terms, term{r, e, q, multiplier, multiplied, contribution})
		}
	}
	return parts
}
