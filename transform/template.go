package transform

import (
	"errors"
	"fmt"
	"slices"

	"github.com/resvec/resvec/internal/document"
	"github.com/resvec/resvec/internal/quantity"
	"gopkg.in/inf.v0"
	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/resource"
	"k8s.io/apimachinery/pkg/util/validation/field"
)

// ErrNoTemplate says that a request is larger than a whole device.
var ErrNoTemplate = errors.New("transform: no template covers the request")

// PerCard returns the rule for an amount that a vendor requests per card, such
// as HAMi's gpumem: in is replaced by out, multiplied by the cards.
func PerCard(in, cards, out corev1.ResourceName) Rule {
	return Rule{
		Input: in, Strategy: Replace, MultiplyBy: cards,
		Outputs: corev1.ResourceList{out: resource.MustParse("1")},
	}
}

// PercentOfDevice returns the rule for a percentage of a card: pct is replaced by
// out, perCard/100 for each percent, multiplied by the cards unless that is "".
// perCard is the size of one card in the unit of out, so the rule is right for
// one model of device only. A size that is not positive is an error; a hundredth
// of it finer than 1n is rounded up, since a Quantity cannot write it.
func PercentOfDevice(pct, cards, out corev1.ResourceName, perCard resource.Quantity) (Rule, error) {
	if perCard.Sign() <= 0 {
		return Rule{}, fmt.Errorf("transform: perCard: %s, must be more than 0", quantity.Text(perCard))
	}
	// In DecimalSI, since BinarySI has no text for fractions.
	percent := number{new(inf.Dec).Mul(dec(perCard), inf.NewDec(1, 2)), resource.DecimalSI}
	return Rule{
		Input: pct, Strategy: Replace, MultiplyBy: cards,
		Outputs: corev1.ResourceList{out: percent.quantity()},
	}, nil
}

// Template is a size of a virtual device.
type Template struct {
	Name string
	Size corev1.ResourceList // of every dimension
}

// RoundUp rounds what is requested of one card up to a template, as Ascend's device
// plugin does. Use it before a [Transformation]: rounding is no factor. It must not be
// changed while it is in use.
type RoundUp struct {
	Dims      []corev1.ResourceName // what a template has a size of
	Templates []Template            // ascending: no dimension decreases
	Whole     corev1.ResourceList   // the size of the whole device; empty when it can't be asked for
}

// Apply replaces the amounts of Dims by the sizes of a template, in a new list. It takes
// the first template that covers them all, or else the whole device, whose name is "".
// A dimension that the request lacks counts as 0; a request of none of them is
// returned as it is, in a copy. The error is [ErrNoTemplate] when nothing covers
// the request. It is the Aggregate of a field.ErrorList with paths templates[i].size[dim]
// and whole[dim] when sizes are wrong.
func (r RoundUp) Apply(rl corev1.ResourceList) (out corev1.ResourceList, template string, err error) {
	sizes := r.sizes()
	if err := document.Errors(r.validate(sizes)); err != nil {
		return nil, "", err
	}
	out = rl.DeepCopy()
	requested := false
	for _, dim := range r.Dims {
		q := rl[dim]
		requested = requested || !q.IsZero()
	}
	if !requested {
		return out, "", nil
	}
	for _, t := range sizes {
		if r.covers(t.Size, rl) {
			for _, dim := range r.Dims {
				out[dim] = t.Size[dim].DeepCopy()
			}
			return out, t.Name, nil
		}
	}
	return nil, "", ErrNoTemplate
}

// sizes returns the templates and the whole device.
func (r RoundUp) sizes() []Template {
	if len(r.Whole) == 0 {
		return r.Templates
	}
	return append(slices.Clip(r.Templates), Template{Size: r.Whole})
}

// covers reports whether a size is at least the request in every dimension.
func (r RoundUp) covers(size, request corev1.ResourceList) bool {
	for _, dim := range r.Dims {
		if q := request[dim]; compare(q, size[dim]) > 0 {
			return false
		}
	}
	return true
}

// compare is Quantity.Cmp, without taking minutes over a huge exponent.
func compare(a, b resource.Quantity) int {
	a = quantity.Bounded(a)
	b = quantity.Bounded(b)
	return a.Cmp(b)
}

// validate returns what is wrong with the sizes: each must have every dimension, and none
// may decrease from one template to the next.
func (r RoundUp) validate(sizes []Template) (errs field.ErrorList) {
	for i, t := range sizes {
		path := field.NewPath("templates").Index(i).Child("size")
		if i == len(r.Templates) {
			path = field.NewPath("whole")
		}
		for _, dim := range r.Dims {
			q, ok := t.Size[dim]
			at := key(path, string(dim))
			switch {
			case !ok:
				errs = append(errs, field.Required(at, "a size in every dimension"))
			case q.Sign() < 0:
				errs = append(errs, field.Invalid(at, quantity.Text(q), "must be 0 or more"))
			case i > 0 && compare(q, sizes[i-1].Size[dim]) < 0:
				errs = append(errs, field.Invalid(at, quantity.Text(q), "must be at least the "+quantity.Text(sizes[i-1].Size[dim])+" of the template before it"))
			}
		}
	}
	return errs
}
