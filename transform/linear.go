package transform

import (
	"errors"
	"fmt"
	"math/big"
	"slices"

	"github.com/resvec/resvec/vectormap"
	"gopkg.in/inf.v0"
	corev1 "k8s.io/api/core/v1"
)

// ZeroMultiplier says what a multiplier of amount 0 means in a vector, which
// cannot distinguish 0 from absent.
type ZeroMultiplier int

const (
	AsAbsent ZeroMultiplier = iota // one base unit, as if the request lacked it
	AsZero                         // 0
)

// BindOptions change how a [Transformation] is bound to two maps.
type BindOptions struct {
	ZeroMultiplier ZeroMultiplier

	// Drop leaves out kept inputs and outputs that the output map lacks, instead
	// of failing with [*UnmappedError].
	Drop bool

	// Strict makes a multiplier that the input map lacks an error instead of 1.
	Strict bool
}

// UnmappedError reports names that a map must have and lacks.
type UnmappedError struct {
	Names []corev1.ResourceName // sorted
	what  string
}

// Error names all of them.
func (e *UnmappedError) Error() string {
	return fmt.Sprintf("transform: %s without an index: %s", e.what, join(e.Names))
}

// AmbiguousNameError reports names of a Transformation whose index in a map does,
// or may one day, stand for other names too.
type AmbiguousNameError struct {
	Names []corev1.ResourceName // sorted
}

// Error names all of them and the way out.
func (e *AmbiguousNameError) Error() string {
	return fmt.Sprintf("transform: the map may fold other names into %s: build the map with NoFold", join(e.Names))
}

// Linear is a Transformation between two maps: from vectors and matrices of
// requests to charges. It is made by [Transformation.Bind], immutable and safe for
// concurrent use. The
// name says what it is made of; with multipliers or negative factors the whole is
// not linear, see [Linear.IsLinear].
//
// For output o with kept amount x(o), terms i ascending by input, and integers n
// over one denominator L:
//
//	y(o) = x(o) + max(0, (sum of (x(i) * x(k)) * n(i)) / L)
//
// every operation rounded by itself, in this order. The result is the exact
// path's, bit for bit, where [Linear.Exact] holds and every intermediate value is
// a float64.
type Linear struct {
	in, out *vectormap.ResourceVectorMap
	columns []column // one per index of out
	linear  bool
	exact   bool
	missing []corev1.ResourceName
}

// column is how one index of the output map is computed.
type column struct {
	kept  int      // index of the input map, -1 for none
	terms []addend // ascending by input
	over  float64  // L
	unit  float64  // charges are multiples of it
}

// addend is one term of a sum.
type addend struct {
	input       int
	multiplier  int     // index of the input map, -1 for none
	absent      float64 // what a multiplier of 0 counts as
	coefficient *big.Rat
	factor      float64 // the coefficient times L
}

// OutMap returns a map of the kept inputs and of the outputs of all rules whose
// input in has, with the units and rules of in. The error is an
// [*AmbiguousNameError].
func (t *Transformation) OutMap(in *vectormap.ResourceVectorMap) (*vectormap.ResourceVectorMap, error) {
	if err := t.checkNames(in); err != nil {
		return nil, err
	}
	var names []string
	for i := range in.Len() {
		if t.keepsIndex(in, i) {
			names = append(names, in.Originals(i)...)
		}
	}
	for k := range t.rules {
		if _, ok := t.index(in, &t.rules[k]); ok {
			for _, e := range t.rules[k].entries {
				names = append(names, string(e.output))
			}
		}
	}
	return vectormap.New(names, vectormap.Like(in))
}

// Bind compiles t for requests over in and charges over out. A rule whose input
// in lacks is left out, and so is what a prefix excludes. The error is an
// [*AmbiguousNameError], an [*UnmappedError], names with different units, or several of them
// joined.
func (t *Transformation) Bind(in, out *vectormap.ResourceVectorMap, o BindOptions) (*Linear, error) {
	if o.ZeroMultiplier != AsAbsent && o.ZeroMultiplier != AsZero {
		return nil, fmt.Errorf("transform: zero multiplier %d is unknown", o.ZeroMultiplier)
	}
	if err := t.checkNames(in, out); err != nil {
		return nil, err
	}
	b := binder{t: t, in: in, out: out, options: o, columns: emptyColumns(out)}
	b.checkUnits()
	for i := range in.Len() {
		if t.keepsIndex(in, i) {
			b.keep(i)
		}
	}
	for k := range t.rules {
		b.bindRule(&t.rules[k])
	}
	if err := b.err(); err != nil {
		return nil, err
	}
	return b.linear(), nil
}

// checkNames reports the names of rules that a map folds, and indices of the
// first map, which has the inputs, of which a prefix excludes a part. It asks what a map
// may fold one day, not what it folds today: a scheduler that starts must also start
// when the next vendor's nodes join.
func (t *Transformation) checkNames(maps ...*vectormap.ResourceVectorMap) error {
	var names []corev1.ResourceName
	check := func(name corev1.ResourceName) {
		for _, m := range maps {
			if name != "" && m.Folds(string(name)) {
				names = append(names, name)
			}
		}
	}
	for k := range t.rules {
		check(t.rules[k].Input)
		check(t.rules[k].MultiplyBy)
	}
	for k := range t.outputs {
		check(t.outputs[k].name)
	}
	for i := range maps[0].Len() {
		excluded, kept := t.split(maps[0], i)
		if len(excluded) > 0 {
			names = append(names, kept...)
		}
	}
	if len(names) == 0 {
		return nil
	}
	return &AmbiguousNameError{compact(names)}
}

// split divides the names of index i into those that a prefix excludes and the
// others.
func (t *Transformation) split(m *vectormap.ResourceVectorMap, i int) (excluded, kept []corev1.ResourceName) {
	for _, original := range m.Originals(i) {
		if name := corev1.ResourceName(original); t.excluded(name) {
			excluded = append(excluded, name)
		} else {
			kept = append(kept, name)
		}
	}
	return excluded, kept
}

// keepsIndex reports whether what is requested at index i stays in the result.
// No index of several names has a rule, or is excluded in part.
func (t *Transformation) keepsIndex(m *vectormap.ResourceVectorMap, i int) bool {
	return t.keeps(corev1.ResourceName(m.Originals(i)[0]))
}

// index returns the index of a rule's input, and false when the rule never fires.
func (t *Transformation) index(m *vectormap.ResourceVectorMap, r *rule) (i int, ok bool) {
	i, ok = m.Index(string(r.Input))
	return i, ok && !t.excluded(r.Input)
}

// binder collects the columns of a Linear, and all that is wrong with the maps, since one
// error at a time would take a host one start each.
type binder struct {
	t         *Transformation
	in, out   *vectormap.ResourceVectorMap
	options   BindOptions
	columns   []column
	missing   []corev1.ResourceName // multipliers
	unmapped  []corev1.ResourceName
	units     []corev1.ResourceName
	ambiguous []corev1.ResourceName
}

// emptyColumns returns the columns before anything is bound.
func emptyColumns(out *vectormap.ResourceVectorMap) []column {
	columns := make([]column, out.Len())
	for j := range columns {
		columns[j] = column{kept: -1, over: 1, unit: 1}
		if out.Unit(j) == vectormap.UnitMilli {
			columns[j].unit = 1000
		}
	}
	return columns
}

// checkUnits compares the units of the names that both maps have.
func (b *binder) checkUnits() {
	for i, name := range b.in.All() {
		if j, ok := b.out.Index(name); ok && b.in.Unit(i) != b.out.Unit(j) {
			b.units = append(b.units, corev1.ResourceName(name))
		}
	}
}

// keep binds an input that stays in the result. The maps may fold its names, but
// it must be the only one that ends up at its index.
func (b *binder) keep(i int) {
	to := -1
	for _, name := range b.in.Originals(i) {
		j, ok := b.out.Index(name)
		if !ok && b.out.Folds(name) {
			j, ok = b.out.Index(b.in.Name(i))
		}
		switch {
		case !ok:
			b.unmap(name)
		case to >= 0 && j != to || b.columns[j].kept >= 0 && b.columns[j].kept != i:
			b.ambiguous = append(b.ambiguous, corev1.ResourceName(name))
		default:
			to, b.columns[j].kept = j, i
		}
	}
}

// unmap notes a name that the output map lacks.
func (b *binder) unmap(name string) {
	if !b.options.Drop {
		b.unmapped = append(b.unmapped, corev1.ResourceName(name))
	}
}

// bindRule binds the outputs of a rule.
func (b *binder) bindRule(r *rule) {
	input, ok := b.t.index(b.in, r)
	if !ok {
		return
	}
	term := addend{input: input, multiplier: -1}
	scale := b.in.Unit(input).Scale()
	if b.t.readsMultiplier(r.MultiplyBy) {
		if k, ok := b.in.Index(string(r.MultiplyBy)); ok {
			unit := b.in.Unit(k).Scale()
			scale *= unit
			term.multiplier = k
			if b.options.ZeroMultiplier == AsAbsent {
				term.absent = float64(unit)
			}
		} else {
			b.missing = append(b.missing, r.MultiplyBy)
		}
	}
	for _, e := range r.entries {
		j, ok := b.out.Index(string(e.output))
		if !ok {
			b.unmap(string(e.output))
			continue
		}
		term.coefficient = coefficient(e, b.out.Unit(j).Scale(), scale)
		b.columns[j].terms = append(b.columns[j].terms, term)
	}
}

// coefficient returns the factor of an entry between vector units, as a fraction: a rule of
// 1 per CPU is 1/1000 per thousandth of one, which no float64 is.
func coefficient(e entry, outScale, inScale int64) *big.Rat {
	return new(big.Rat).Mul(rational(e.factor), big.NewRat(outScale, inScale))
}

// rational returns the value of d; 10^1000 for what can't be written out.
func rational(d *inf.Dec) *big.Rat {
	if scale := int64(d.Scale()); max(scale, -scale) > farApart {
		d = bounded(d)
	}
	scale := int64(d.Scale())
	power := new(big.Int).Exp(big.NewInt(10), big.NewInt(max(scale, -scale)), nil)
	if scale > 0 {
		return new(big.Rat).SetFrac(d.UnscaledBig(), power)
	}
	return new(big.Rat).SetInt(power.Mul(power, d.UnscaledBig()))
}

// setFactors brings the coefficients of c to integers over one denominator and reports
// whether float64 holds them all. One division at the end rounds once; x*0.001 would differ
// from x/1000 for 13 % of the first 100,000 integers.
func (c *column) setFactors() (exact bool) {
	slices.SortFunc(c.terms, func(a, b addend) int { return a.input - b.input })
	over := big.NewInt(1)
	for _, t := range c.terms {
		d := t.coefficient.Denom()
		gcd := new(big.Int).GCD(nil, nil, over, d)
		over.Mul(over, gcd.Quo(d, gcd))
	}
	exact = over.Cmp(mostExact) <= 0
	for k := range c.terms {
		t := &c.terms[k]
		n := new(big.Int).Quo(over, t.coefficient.Denom())
		n.Mul(n, t.coefficient.Num())
		t.factor, _ = new(big.Float).SetInt(n).Float64()
		exact = exact && n.CmpAbs(mostExact) <= 0
	}
	if exact {
		c.over, _ = new(big.Float).SetInt(over).Float64()
		return true
	}
	for k := range c.terms {
		c.terms[k].factor, _ = c.terms[k].coefficient.Float64()
	}
	return false
}

// mostExact is the largest integer that a coefficient may need.
var mostExact = big.NewInt(1 << 53)

// err returns everything that was found wrong, nil when nothing was.
func (b *binder) err() error {
	var errs []error
	if b.options.Strict && len(b.missing) > 0 {
		errs = append(errs, &UnmappedError{compact(b.missing), "multipliers"})
	}
	if len(b.unmapped) > 0 {
		errs = append(errs, &UnmappedError{compact(b.unmapped), "kept inputs or outputs"})
	}
	if len(b.units) > 0 {
		errs = append(errs, fmt.Errorf("transform: different units in the two maps: %s", join(compact(b.units))))
	}
	if len(b.ambiguous) > 0 {
		errs = append(errs, &AmbiguousNameError{compact(b.ambiguous)})
	}
	if len(errs) == 1 {
		return errs[0]
	}
	return errors.Join(errs...)
}

// compact sorts names and drops those that are there twice.
func compact(names []corev1.ResourceName) []corev1.ResourceName {
	slices.Sort(names)
	return slices.Compact(names)
}

// linear returns the result.
func (b *binder) linear() *Linear {
	l := &Linear{in: b.in, out: b.out, columns: b.columns, linear: true, exact: true, missing: compact(b.missing)}
	for j := range l.columns {
		exact := l.columns[j].setFactors()
		l.exact = l.exact && exact
		for _, t := range l.columns[j].terms {
			l.linear = l.linear && t.multiplier < 0 && t.coefficient.Sign() >= 0
		}
	}
	return l
}

// IsLinear reports whether the result is a matrix times the request, for requests
// without negative amounts: no rule has a multiplier or a negative factor.
func (l *Linear) IsLinear() bool {
	return l.linear
}

// Exact reports whether every coefficient is a fraction of integers up to 2^53.
// Where one is not, its rounded value is used.
func (l *Linear) Exact() bool {
	return l.exact
}

// MissingMultipliers returns the multipliers that the input map lacks, sorted.
// They count as 1. The caller owns the result.
func (l *Linear) MissingMultipliers() []corev1.ResourceName {
	return slices.Clone(l.missing)
}
