package vectormap

import (
	"cmp"
	"errors"
	"iter"
	"maps"
	"math"
	"slices"

	"github.com/resvec/resvec/internal/decimal"
	"github.com/resvec/resvec/internal/quantity"
	"github.com/resvec/resvec/vector"
	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/resource"
)

// RequestVector converts a list of requests: amounts finer than an index's unit are
// rounded up, so a request of 500m in a column of whole units is 1.
// [ResourceVectorMap.Notes] remarks on that only if the map was built from the list.
// Everything else is as in [ResourceVectorMap.CapacityVector].
func (m *ResourceVectorMap) RequestVector(dst vector.ResourceVector, list corev1.ResourceList, unknown *[]string) (vector.ResourceVector, error) {
	return m.fromList(dst, list, up, unknown)
}

// CapacityVector converts a list of capacities: amounts finer than an index's
// unit are rounded down. Amounts of names that share an index are rounded one
// by one and added up.
//
// dst is overwritten, grown where its capacity is short, and returned with m's length;
// nil is fine. A name that m does not have is an error ([*UnknownResourcesError], naming
// all such), since a request that is dropped would fit anywhere. If unknown is not nil,
// it is set to these names, sorted, instead. An amount that is negative or of 2^53 units
// or more, or a sum of such size, is an [*vector.AmountError]. All faults are reported at
// once, and then the result is nil and neither dst nor unknown are changed. It does not
// allocate for lists of up to 24 names, unless it fails, dst grows, or a quantity is kept
// as an inf.Dec.
func (m *ResourceVectorMap) CapacityVector(dst vector.ResourceVector, list corev1.ResourceList, unknown *[]string) (vector.ResourceVector, error) {
	return m.fromList(dst, list, down, unknown)
}

// NodeAllocatable converts the node's status.allocatable as
// [ResourceVectorMap.CapacityVector] does. Where that is a nil list, since no API server
// has seen the node, it converts status.capacity, as the API server would
// (SetDefaults_NodeStatus in Kubernetes' pkg/apis/core/v1). An empty list that isn't nil
// is nothing allocatable. Package device never reads capacity, and finds no devices where
// allocatable is nil.
func (m *ResourceVectorMap) NodeAllocatable(dst vector.ResourceVector, node *corev1.Node, unknown *[]string) (vector.ResourceVector, error) {
	return m.fromList(dst, allocatable(node), down, unknown)
}

// NearestVector converts a list of requests for scoring, where no amount is a reason to
// refuse a pod: it never fails. Amounts finer than an index's unit are rounded up, and
// amounts of 2^53 units or more to the nearest finite float64; kube-scheduler accepts them
// up to 2^63. A negative amount stays negative, which scorers refuse. A name that m does
// not have ([ResourceVectorMap.Index]) is left out: no node has it, so it decides no
// score. To ask what fits, use [ResourceVectorMap.RequestVector]. dst is overwritten and
// returned as there; nothing else is allocated for lists of up to 24 names with amounts
// below 2^53.
func (m *ResourceVectorMap) NearestVector(dst vector.ResourceVector, list corev1.ResourceList) vector.ResourceVector {
	var buf [entriesOnStack]entry
	entries := buf[:0]
	folded := m.folded
	for name, q := range list {
		if i, ok := m.Index(string(name)); ok {
			folded = folded || m.columns[i].name != string(name)
			entries = append(entries, entry{i, nearestAmount(&q, m.columns[i].unit.Scale())})
		}
	}
	if folded { // one order for each sum
		slices.SortFunc(entries, func(a, b entry) int { return cmp.Or(cmp.Compare(a.index, b.index), cmp.Compare(a.amount, b.amount)) })
	}
	return m.write(dst, entries)
}

func (m *ResourceVectorMap) fromList(dst vector.ResourceVector, list corev1.ResourceList, r rounding, unknown *[]string) (vector.ResourceVector, error) {
	var buf [entriesOnStack]entry
	entries, err := m.readList(buf[:0], list, r, unknown)
	if err != nil {
		return nil, err
	}
	return m.write(dst, entries), nil
}

// entry is an amount of an index, before amounts of one index are added.
type entry struct {
	index  int
	amount float64
}

const entriesOnStack = 24

// readList appends the list's amounts to entries. unknown is set only when it
// succeeds.
func (m *ResourceVectorMap) readList(entries []entry, list corev1.ResourceList, r rounding, unknown *[]string) ([]entry, error) {
	var (
		unknowns int // names that m does not have
		unseen   int // names that m has by normalization, but was not built from
		mistaken bool
	)
	for name, q := range list {
		i, ok := m.index[string(name)]
		if !ok {
			if i, ok = m.foldedIndex(string(name)); !ok {
				unknowns++
				continue
			}
			unseen++
		}
		amount, why := quantityAmount(&q, m.columns[i].unit.Scale(), r)
		mistaken = mistaken || why != fine
		entries = append(entries, entry{i, float64(amount)})
	}
	switch {
	case mistaken,
		(m.folded || unseen > 0) && overflows(entries),
		unknowns > 0 && unknown == nil,
		unseen > 1 && m.vendorConflicts(namesOf(list)) != nil:
		return nil, m.listFaults(list, r, entries, unknown == nil)
	}
	if unknown != nil {
		*unknown = (*unknown)[:0]
		if unknowns > 0 {
			*unknown = m.appendUnknown(*unknown, list)
		}
	}
	return entries, nil
}

// namesOf returns the names of a list, sorted.
func namesOf(list corev1.ResourceList) iter.Seq[string] {
	return func(yield func(string) bool) {
		for _, name := range slices.Sorted(maps.Keys(list)) {
			if !yield(string(name)) {
				return
			}
		}
	}
}

// overflows reports whether the entries of some index add up to 2^53 or more,
// and sorts them by index. Rounding cannot hide that: smaller sums are exact,
// and 2^53 is a float64.
func overflows(entries []entry) bool {
	slices.SortStableFunc(entries, func(a, b entry) int { return cmp.Compare(a.index, b.index) })
	sum := 0.0
	for k, e := range entries {
		if k > 0 && entries[k-1].index != e.index {
			sum = 0
		}
		if sum += e.amount; sum >= limit {
			return true
		}
	}
	return false
}

// sumFaults says which indices have entries that add up to 2^53 or more.
func (m *ResourceVectorMap) sumFaults(entries []entry) []error {
	var faults []error
	for i, sum := range m.write(nil, entries) {
		if sum >= limit {
			c := &m.columns[i]
			faults = append(faults, amountFault(c.name, decimal.Format(sum), c.unit, reasonSum))
		}
	}
	return faults
}

func (m *ResourceVectorMap) appendUnknown(names []string, list corev1.ResourceList) []string {
	for name := range list {
		if _, ok := m.Index(string(name)); !ok {
			names = append(names, string(name))
		}
	}
	slices.Sort(names)
	return names
}

// listFaults says everything that is wrong with a list: the unknown names where
// they are a fault, the amounts by name, the sums by index.
func (m *ResourceVectorMap) listFaults(list corev1.ResourceList, r rounding, entries []entry, unknownIsFault bool) error {
	var faults []error
	if names := m.appendUnknown(nil, list); unknownIsFault && len(names) > 0 {
		faults = append(faults, &UnknownResourcesError{names, m})
	}
	faults = append(faults, m.vendorConflicts(namesOf(list))...)
	for name := range namesOf(list) {
		if i, ok := m.Index(name); ok {
			q, unit := list[corev1.ResourceName(name)], m.columns[i].unit
			if _, why := quantityAmount(&q, unit.Scale(), r); why != fine {
				faults = append(faults, amountFault(name, quantity.Text(q), unit, why))
			}
		}
	}
	return errors.Join(append(faults, m.sumFaults(entries)...)...)
}

// write makes dst the sum of the entries, per index in their order. It cannot
// fail.
func (m *ResourceVectorMap) write(dst vector.ResourceVector, entries []entry) vector.ResourceVector {
	n := m.Len()
	if cap(dst) < n {
		dst = make(vector.ResourceVector, n)
	} else {
		dst = dst[:n]
		clear(dst)
	}
	for _, e := range entries {
		dst[e.index] += e.amount
	}
	return dst
}

// ResourceList converts a vector to a list; amounts of 0 are left out. It is
// the inverse of [ResourceVectorMap.RequestVector]: nothing is rounded. A whole
// number of a Kubernetes unit stays one, a fraction that is a whole number of
// thousandths becomes a milli quantity (0.5 GPU is 500m), and anything finer is
// an [*vector.AmountError], as are amounts that are negative, NaN or of 2^53 units or
// more.
//
// The list has the original names. Where an index has several, the first name
// of prefer that is one of them is used; none is an [*OriginalsError]. The
// notes name the [Literal] dimensions that hold something and are left out, and
// fractions in columns of whole units. All faults are reported at once, with a
// nil list and no notes; a v longer than the map is vector.ErrShape.
func (m *ResourceVectorMap) ResourceList(v vector.ResourceVector, prefer ...string) (corev1.ResourceList, []Note, error) {
	if len(v) > m.Len() {
		return nil, nil, m.tooLong(v)
	}
	var (
		list   = make(corev1.ResourceList)
		notes  []Note
		faults []error
	)
	for i, x := range v {
		c := &m.columns[i]
		switch {
		case x == 0:
			continue
		case c.literal:
			notes = append(notes, Remark{c.name, "literal dimension left out"})
			continue
		}
		q, why := quantityOf(x, c.unit)
		if why != fine {
			faults = append(faults, amountFault(c.kubernetesName(), decimal.Format(x), c.unit, why))
			continue
		}
		name, ok := c.choose(prefer)
		if !ok {
			faults = append(faults, &OriginalsError{Name: c.name, Originals: slices.Clone(c.originals), noChoice: true})
			continue
		}
		if c.unit == UnitWhole && x != math.Trunc(x) {
			notes = append(notes, FractionalColumn{c.name})
		}
		list[name] = q
	}
	if len(faults) > 0 {
		return nil, nil, errors.Join(faults...)
	}
	return list, notes, nil
}

// choose returns the original name to use for the column.
func (c *column) choose(prefer []string) (corev1.ResourceName, bool) {
	if len(c.originals) == 1 {
		return corev1.ResourceName(c.originals[0]), true
	}
	for _, name := range prefer {
		if slices.Contains(c.originals, name) {
			return corev1.ResourceName(name), true
		}
	}
	return "", false
}

// quantityOf returns x, which is not 0, as a quantity, or the reason why it has
// none.
func quantityOf(x float64, u Unit) (q resource.Quantity, why reason) {
	switch {
	case math.IsNaN(x) || math.IsInf(x, 0):
		return q, reasonNotANumb
	case x < 0:
		return q, reasonNegative
	case x >= limit:
		return q, reasonTooLarge
	}
	whole := x == math.Trunc(x)
	switch {
	case u.Scale() == 1000 && whole:
		return *resource.NewMilliQuantity(int64(x), resource.DecimalSI), fine
	case u.Scale() == 1000:
		return q, reasonTooFine
	case whole && u == UnitByte:
		return *resource.NewQuantity(int64(x), resource.BinarySI), fine
	case whole:
		return *resource.NewQuantity(int64(x), resource.DecimalSI), fine
	}
	k, ok := thousandths(x)
	if !ok {
		return q, reasonTooFine
	}
	return *resource.NewMilliQuantity(int64(k), resource.DecimalSI), fine
}

// Fractional returns a warning for every column of whole units in which v holds
// a fraction, in index order; nil when there is none. Such amounts are kept as
// they are, but repeated sums of them drift. It panics when v is longer than
// the map.
func (m *ResourceVectorMap) Fractional(v vector.ResourceVector) []FractionalColumn {
	m.mustHold(v)
	var found []FractionalColumn
	for i, x := range v {
		if m.columns[i].unit == UnitWhole && x != math.Trunc(x) {
			found = append(found, FractionalColumn{m.columns[i].name})
		}
	}
	return found
}
