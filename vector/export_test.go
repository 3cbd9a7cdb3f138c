package vector

import (
	"errors"
	"fmt"
	"math"
	"reflect"
	"slices"
	"unsafe"

	"github.com/resvec/resvec/internal/kernel"
)

// Invariants says what in m's storage is not as the kernels need it.
func Invariants(m *Matrix) error {
	switch {
	case m.stride%kernel.Block != 0:
		return fmt.Errorf("stride %d is not whole blocks", m.stride)
	case m.stride < m.rows:
		return fmt.Errorf("stride %d is less than %d rows", m.stride, m.rows)
	case len(m.outOfRange) != m.cols:
		return fmt.Errorf("%d tame flags for %d columns", len(m.outOfRange), m.cols)
	case len(m.data) < m.stride*m.cols:
		return fmt.Errorf("%d elements for %d columns of stride %d", len(m.data), m.cols, m.stride)
	case len(m.data) > 0 && uintptr(unsafe.Pointer(&m.data[0]))%64 != 0:
		return errors.New("columns are not 64-byte aligned")
	}
	if want := m.lower32Len(len(m.data)); len(m.lower32) != want {
		return fmt.Errorf("%d codes for %d elements", len(m.lower32), want)
	}
	if len(m.lower32) > 0 && uintptr(unsafe.Pointer(&m.lower32[0]))%64 != 0 {
		return errors.New("codes are not 64-byte aligned")
	}
	for j := range m.cols {
		column := m.data[j*m.stride:][:m.stride]
		for i, x := range column {
			if !m.withoutLower32 && !isCode(m.lower32[j*m.stride+i], x) {
				return fmt.Errorf("row %d, column %d holds %v with the code %v", i, j, x, m.lower32[j*m.stride+i])
			}
			if i < m.rows && !m.outOfRange[j] && !(x == 0 || math.Abs(x) >= 0x1p-500 && math.Abs(x) < 0x1p500) {
				return fmt.Errorf("column %d holds %v and is marked tame", j, x)
			}
			if i >= m.rows && math.Float64bits(x) != 0 {
				return fmt.Errorf("row %d beyond the last holds %v in column %d", i, x, j)
			}
		}
	}
	return nil
}

// isCode reports whether c is the greatest float32 that is not above x.
func isCode(c float32, x float64) bool {
	if x != x {
		return c != c
	}
	next := math.Nextafter32(c, float32(math.Inf(1)))
	return float64(c) <= x && (float64(next) > x || math.IsInf(x, 1))
}

// NamesBuilt returns how many names n had to put into maps, beyond what it shares with
// the names before.
func NamesBuilt(n, before *Names) (built int) {
	shared := map[uintptr]bool{}
	if before != nil {
		for _, part := range before.parts {
			shared[reflect.ValueOf(part).Pointer()] = true
		}
	}
	for _, part := range n.parts {
		if !shared[reflect.ValueOf(part).Pointer()] {
			built += len(part)
		}
	}
	return built
}

// ChangeLogSize is how many row writes a matrix remembers.
const ChangeLogSize = changeLogSize

// Tame is the range check behind the tame flags.
func Tame(x float64) bool { return kernel.Tame(x) }

// ReciprocalInvariants says what is not as the kernels need it in the columns that n
// keeps.
func ReciprocalInvariants(n *Nodes) error {
	r, m := n.reciprocals.Load(), &n.allocatable
	if r == nil {
		return nil
	}
	if r.rows != m.rows || r.version != m.log.version || len(r.columns) != m.cols {
		return fmt.Errorf("%d rows, %d columns at version %d; the nodes have %d, %d at %d",
			r.rows, len(r.columns), r.version, m.rows, m.cols, m.log.version)
	}
	all := !slices.ContainsFunc(r.columns, func(c []float64) bool { return c == nil })
	if all != (r.all != nil) {
		return fmt.Errorf("all columns are kept: %v; laid out as in a matrix: %v", all, r.all != nil)
	}
	for j, column := range r.columns {
		if column == nil {
			continue
		}
		if all && unsafe.SliceData(column) != unsafe.SliceData(r.all[j*m.stride:]) {
			return fmt.Errorf("column %d is not where it would be in a matrix", j)
		}
		if len(column) != m.stride || len(column) > 0 && uintptr(unsafe.Pointer(&column[0]))%64 != 0 {
			return fmt.Errorf("column %d of %d elements is not as aligned as the nodes'", j, len(column))
		}
		for i, x := range column[m.rows:] {
			if math.Float64bits(x) != 0 {
				return fmt.Errorf("column %d, row %d beyond the last holds %v", j, m.rows+i, x)
			}
		}
	}
	return nil
}
