package vectormap

import (
	"errors"
	"maps"
	"math"
	"slices"
	"strconv"

	"github.com/resvec/resvec/internal/decimal"
	"github.com/resvec/resvec/vector"
	corev1 "k8s.io/api/core/v1"
)

// gatherer collects the amounts of a struct and what is wrong with them.
type gatherer struct {
	m       *ResourceVectorMap
	signed  bool // negative, infinite and huge amounts are fine
	entries []entry
	sources []source // of the entries
	first   []int32  // by index, if there are several: the first entry that is not 0, counted from 1
	unknown []string
	folded  []string // names that the map was not built from
	faults  []error
}

// source is where an amount stands.
type source struct {
	field   string // of the struct
	name    string // of the resource
	written float64
	isKey   bool // the field is a map
}

func (s *source) String() string {
	if s.isKey {
		return s.field + "[" + s.name + "]"
	}
	return s.field
}

// add takes an amount in the map's units.
func (g *gatherer) add(name string, amount float64, from source) {
	i, ok := g.m.Index(name)
	if !ok {
		g.unknown = append(g.unknown, name)
		return
	}
	if _, known := g.m.index[name]; !known {
		g.folded = append(g.folded, name)
	}
	g.check(name, amount)
	if i == GPU && g.m.gpuUnit() == UnitMilli && !math.IsNaN(amount) && amount != math.Trunc(amount) {
		g.fault(name, decimal.Format(amount), reasonFraction)
	}
	from.name = name
	g.entries, g.sources = append(g.entries, entry{i, amount}), append(g.sources, from)
	g.once(i)
}

// once looks for two amounts of one index, of which the last entry is one. Names that
// were folded into the index add up; the index's own name stands for all of them.
func (g *gatherer) once(i int) {
	last := len(g.entries) - 1
	if g.entries[last].amount == 0 {
		return
	}
	if g.first == nil {
		g.first = make([]int32, g.m.Len())
	}
	if g.first[i] == 0 {
		g.first[i] = int32(last) + 1
		return
	}
	own, a, b := g.m.columns[i].name, &g.sources[g.first[i]-1], &g.sources[last]
	if a.name != own && b.name != own && a.name != b.name {
		return
	}
	g.faults = append(g.faults, &vector.AmountError{
		Resource: b.name, Row: -1, Amount: decimal.Format(b.written), Cause: vector.ErrNotRepresentable,
		Reason: "is of the index " + own + ", as are " + decimal.Format(a.written) + " of " + a.String() + ": want one of them",
	})
}

// addAll takes the amounts of a map.
func (g *gatherer) addAll(field string, amounts map[corev1.ResourceName]float64) {
	for _, name := range slices.Sorted(maps.Keys(amounts)) {
		g.add(string(name), amounts[name], source{field: field, written: amounts[name], isKey: true})
	}
}

// addGPUs takes whole GPUs.
func (g *gatherer) addGPUs(gpus float64) {
	from := source{field: "GPUs", written: gpus}
	if g.m.gpuUnit() != UnitMilli || math.IsInf(gpus, 1) {
		g.add(coreNames[GPU], gpus, from)
		return
	}
	k, ok := thousandths(gpus)
	if !ok {
		g.fault(coreNames[GPU], decimal.Format(gpus), reasonNotMilli)
		return
	}
	g.add(coreNames[GPU], k, from)
}

// addPortions takes a count of devices and the portion of each. Only a request
// of GPU memory has a count without a portion.
func (g *gatherer) addPortions(count int64, portion, memory float64) {
	name, from := coreNames[GPU], source{field: "GPUCount", written: float64(count)}
	cents, ok := hundredths(portion)
	switch {
	case count < 0:
		g.fault(name, strconv.FormatInt(count, 10), reasonNegative)
	case count >= maxDevices:
		g.fault(name, strconv.FormatInt(count, 10), reasonTooMany)
	case !ok:
		g.fault(name, decimal.Format(portion), reasonPortion)
	case count > 0 && cents == 0 && memory == 0:
		g.fault(name, strconv.FormatInt(count, 10), reasonNoPart)
	case count == 0 && cents > 0:
		g.fault(name, decimal.Format(portion), reasonNoDevice)
	case g.m.gpuUnit() == UnitMilli:
		g.add(name, float64(count*cents*10), from)
	default:
		g.add(name, float64(count*cents)/100, from)
	}
}

// maxDevices keeps counts in hundredths far below 2^53.
const maxDevices = 1 << 40

// check looks for what no column can take.
func (g *gatherer) check(name string, amount float64) {
	switch {
	case math.IsNaN(amount) || math.IsInf(amount, -1):
		g.fault(name, decimal.Format(amount), reasonNotANumb)
	case g.signed:
	case math.IsInf(amount, 1):
		g.fault(name, decimal.Format(amount), reasonNotANumb)
	case amount < 0:
		g.fault(name, decimal.Format(amount), reasonNegative)
	case amount >= limit:
		g.fault(name, decimal.Format(amount), reasonTooLarge)
	}
}

func (g *gatherer) fault(name, amount string, why reason) {
	var unit Unit
	if i, ok := g.m.Index(name); ok {
		unit = g.m.columns[i].unit
	}
	g.faults = append(g.faults, amountFault(name, amount, unit, why))
}

// result returns the amounts, or all faults.
func (g *gatherer) result() ([]entry, error) {
	if len(g.folded) > 1 {
		slices.Sort(g.folded)
		g.faults = append(g.m.vendorConflicts(slices.Values(slices.Compact(g.folded))), g.faults...)
	}
	if len(g.unknown) > 0 {
		slices.Sort(g.unknown)
		g.faults = append([]error{&UnknownResourcesError{slices.Compact(g.unknown), g.m}}, g.faults...)
	}
	return g.entries, errors.Join(g.faults...)
}

// write is result, written to dst.
func (g *gatherer) write(dst vector.ResourceVector) (vector.ResourceVector, error) {
	entries, err := g.result()
	if err != nil {
		return nil, err
	}
	if !g.signed && overflows(entries) {
		return nil, errors.Join(g.m.sumFaults(entries)...)
	}
	return g.m.write(dst, entries), nil
}

// hundredths rounds a portion from 0 to 1, half away from zero, as it is
// written in decimal: 0.285 is 29 hundredths, though the float64 is a little
// less than that. It refuses what is no portion, and what would become 0.
func hundredths(portion float64) (int64, bool) {
	if !(portion >= 0 && portion <= 1) {
		return 0, false
	}
	var buf [32]byte
	digits := strconv.AppendFloat(buf[:0], portion, 'f', -1, 64)
	digits = append(digits, "000"...) // at least three digits after the point
	cents := int64(digits[0]-'0') * 100
	if digits[1] == '.' {
		cents += int64(digits[2]-'0')*10 + int64(digits[3]-'0')
		if digits[4] >= '5' {
			cents++
		}
	}
	return cents, cents > 0 || portion == 0
}

// emptied returns the map without its elements.
func emptied(amounts map[corev1.ResourceName]float64) map[corev1.ResourceName]float64 {
	clear(amounts)
	return amounts
}

// put sets an amount that is not 0, making the map when it is the first.
func put(amounts *map[corev1.ResourceName]float64, name string, amount float64) {
	if amount == 0 {
		return
	}
	if *amounts == nil {
		*amounts = make(map[corev1.ResourceName]float64)
	}
	(*amounts)[corev1.ResourceName(name)] = amount
}
