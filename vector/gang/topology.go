package gang

import (
	"cmp"
	"fmt"
	"slices"
	"strings"

	"github.com/resvec/resvec/vector"
)

// Topology says which domain of each level a row is in: which block, which rack, which
// host. [Packer.PlaceTopology] puts a gang into as few of them as possible.
//
// Levels run from coarse to fine. A domain is known by the path of its values from the
// coarsest level on, so racks of the same name in two blocks are two domains. The domains
// of a level are ordered by their paths, values compared as strings. They come and go
// with their rows.
//
// Rows are numbered as in the matrices: row i of a Topology is row i of the free amounts.
// Setting or removing a row costs its levels, and for each a binary search and a copy
// of indices among its siblings.
//
// A Topology is made by [NewTopology]; the zero value has no levels and takes no rows.
// It may be read concurrently while nobody writes. Its errors wrap [vector.ErrShape] and
// change nothing. Methods panic where a row is out of range.
type Topology struct {
	levels  []string
	domains []topologyDomain // the first is the whole
	unused  []int32          // indices of domains that are gone
	names   []string         // per row
	at      [][]int32        // per level, per row: the domain, 0 for none
}

// topologyDomain is a domain that has rows, or one that is gone.
type topologyDomain struct {
	value    string
	parent   int32
	level    int32
	children []int32 // domains by value; on the finest level rows by name, then index
}

// maxLevels is how many levels a Topology can have.
const maxLevels = 16

// NewTopology returns a topology of no rows. Levels are named from coarse to fine,
// such as "block", "rack"; there are 1 to 16, all different and none empty.
func NewTopology(levels ...string) (*Topology, error) {
	if len(levels) == 0 || len(levels) > maxLevels {
		return nil, topologyError("%d levels, want 1 to %d", len(levels), maxLevels)
	}
	for l, name := range levels {
		if name == "" {
			return nil, topologyError("level %d has no name", l)
		}
		if slices.Contains(levels[:l], name) {
			return nil, topologyError("level %q is named twice", name)
		}
	}
	return &Topology{
		levels:  slices.Clone(levels),
		domains: []topologyDomain{{level: -1}},
		at:      make([][]int32, len(levels)),
	}, nil
}

// topologyError returns a fault of a topology or of a request for one. It names what is
// wrong, since levels come from labels and annotations that people write.
func topologyError(format string, args ...any) error {
	return fmt.Errorf("gang: topology: "+format+"%w", append(args, shapeFault{})...)
}

// shapeFault makes an error wrap ErrShape and adds nothing to its text.
type shapeFault struct{}

func (shapeFault) Error() string { return "" }
func (shapeFault) Unwrap() error { return vector.ErrShape }

// Levels returns the names of the levels, from coarse to fine.
func (t *Topology) Levels() []string { return slices.Clone(t.levels) }

// Rows returns the number of rows, those that are in no domain included.
func (t *Topology) Rows() int { return len(t.names) }

// Level returns the index of a level.
func (t *Topology) Level(name string) (level int, err error) {
	if level = slices.Index(t.levels, name); level < 0 {
		return -1, topologyError("no level %q among %s", name, strings.Join(t.levels, ", "))
	}
	return level, nil
}

// Set puts a row into the domain with one value per level, from coarse to fine. name
// is the row's own, such as the node's: among rows of one domain that are equally good
// the order of their names decides. row may be one more than the last. It is an error
// when values are too many or too few.
func (t *Topology) Set(row int, name string, values ...string) error {
	if len(values) != len(t.levels) {
		return topologyError("row %d: %d values for the levels %s", row, len(values), strings.Join(t.levels, ", "))
	}
	t.appendRow(row)
	if t.names[row] == name && t.has(row, values) {
		return nil
	}
	t.leave(row)
	t.names[row] = name
	d := int32(0)
	for l, value := range values {
		d = t.child(d, value)
		t.at[l][row] = d
	}
	t.insertRow(d, row)
	return nil
}

// appendRow adds a row that is in no domain, if it is the one after the last.
func (t *Topology) appendRow(row int) {
	if len(t.levels) > 0 && row == len(t.names) {
		t.names = append(t.names, "")
		for l := range t.at {
			t.at[l] = append(t.at[l], 0)
		}
	}
	t.checkRow(row)
}

// checkRow panics unless t has a row.
func (t *Topology) checkRow(row int) {
	if uint(row) >= uint(len(t.names)) {
		panic("gang: row out of range")
	}
}

// has reports whether a row is in the domain with these values. Most updates of a node
// change no label.
func (t *Topology) has(row int, values []string) bool {
	for l, value := range values {
		if d := t.at[l][row]; d == 0 || t.domains[d].value != value {
			return false
		}
	}
	return true
}

// Unset takes a row out of its domains: it is in none, like a node without one of the
// labels. row may be one more than the last.
func (t *Topology) Unset(row int) {
	t.appendRow(row)
	t.leave(row)
}

// RemoveRow removes a row. As in [vector.Matrix.RemoveRow] the last row takes its place, and
// its former index is returned; -1 when it was the last one itself.
func (t *Topology) RemoveRow(row int) (moved int) {
	t.checkRow(row)
	t.leave(row)
	last := len(t.names) - 1
	if moved = -1; row != last {
		moved = last
		finest := t.at[len(t.at)-1] // its domain knows the row by its index, the coarser ones don't
		d := finest[last]
		if d != 0 {
			t.removeRow(d, last)
		}
		t.names[row] = t.names[last]
		for l := range t.at {
			t.at[l][row] = t.at[l][last]
		}
		if d != 0 {
			t.insertRow(d, row)
		}
	}
	t.names[last] = "" // or the name would stay in memory
	t.names = t.names[:last]
	for l := range t.at {
		t.at[l] = t.at[l][:last]
	}
	return moved
}

// leave takes a row out of its domains, and removes the ones that it leaves empty: in a
// cluster that scales up and down their number would grow without end.
func (t *Topology) leave(row int) {
	d := t.at[len(t.at)-1][row]
	if d == 0 {
		return
	}
	t.removeRow(d, row)
	for l := range t.at {
		t.at[l][row] = 0
	}
	for d != 0 && len(t.domains[d].children) == 0 {
		parent := t.domains[d].parent
		at, _ := t.find(parent, t.domains[d].value)
		t.domains[parent].children = slices.Delete(t.domains[parent].children, at, at+1)
		t.domains[d].value = ""
		t.unused = append(t.unused, d)
		d = parent
	}
}

// find returns where the child with a value is among the children of a domain, or has to be.
// Children are sorted, and not in a map, because placing goes over them in order.
func (t *Topology) find(parent int32, value string) (at int, ok bool) {
	return slices.BinarySearchFunc(t.domains[parent].children, value, func(d int32, value string) int {
		return strings.Compare(t.domains[d].value, value)
	})
}

// child returns the child of a domain with a value, which it makes when missing. The number
// of a domain that is gone is used again, so that placing, whose scratch has an element for
// each number, does not grow with every node that comes and goes.
func (t *Topology) child(parent int32, value string) int32 {
	at, ok := t.find(parent, value)
	if ok {
		return t.domains[parent].children[at]
	}
	d := int32(len(t.domains))
	if last := len(t.unused) - 1; last >= 0 {
		d, t.unused = t.unused[last], t.unused[:last]
	} else {
		t.domains = append(t.domains, topologyDomain{})
	}
	c, p := &t.domains[d], &t.domains[parent]
	// A clone, because value may be a piece of something large that would stay in memory.
	c.value, c.parent, c.level, c.children = strings.Clone(value), parent, p.level+1, c.children[:0]
	p.children = slices.Insert(p.children, at, d)
	return d
}

// findRow returns where a row is among the rows of a finest domain, or has to be. By name,
// and by index only among equal names: the order of the rows must not show in a placement.
func (t *Topology) findRow(d int32, row int) int {
	at, _ := slices.BinarySearchFunc(t.domains[d].children, row, func(r int32, row int) int {
		return cmp.Or(strings.Compare(t.names[r], t.names[row]), cmp.Compare(int(r), row))
	})
	return at
}

// insertRow puts a row into a finest domain. Its name is set before: that orders it.
func (t *Topology) insertRow(d int32, row int) {
	c := &t.domains[d]
	c.children = slices.Insert(c.children, t.findRow(d, row), int32(row))
}

// removeRow takes a row out of a finest domain, while it still has the name that it is found by.
func (t *Topology) removeRow(d int32, row int) {
	c, at := &t.domains[d], t.findRow(d, row)
	c.children = slices.Delete(c.children, at, at+1)
}

// Domain returns the domain of a level that a row is in, as a number to compare and to
// pass to [Topology.Path], which is the same until the domain has no row any more. It
// is -1 for a row that is in no domain. It panics when level is out of range.
func (t *Topology) Domain(row, level int) int {
	if uint(level) >= uint(len(t.at)) {
		panic("gang: level out of range")
	}
	t.checkRow(row)
	if d := t.at[level][row]; d != 0 {
		return int(d)
	}
	return -1
}

// Path sets dst to the values of a domain, from the coarsest level on, and returns it.
// dst is overwritten and grown when its capacity is short. It panics when there is no
// such domain.
func (t *Topology) Path(dst []string, domain int) []string {
	if domain <= 0 || domain >= len(t.domains) || len(t.domains[domain].children) == 0 {
		panic("gang: no such domain")
	}
	dst = resized(dst, int(t.domains[domain].level)+1)
	for d := int32(domain); d != 0; d = t.domains[d].parent {
		dst[t.domains[d].level] = t.domains[d].value
	}
	return dst
}

// Domains sets dst to the domains of a level in their order, each as the set of its
// rows, for questions about gangs of any shape. dst is overwritten. It is an error when
// there is no such level.
func (t *Topology) Domains(dst *Domains, level string) error {
	l, err := t.Level(level)
	if err != nil {
		return err
	}
	order := t.below(nil, 0, l)
	place := make([]int32, len(t.domains))
	place[0] = int32(len(order)) // rows in no domain come last, and are cut off
	for k, d := range order {
		place[d] = int32(k)
	}
	keys := make([]int32, len(t.names))
	for r, d := range t.at[l] {
		keys[r] = place[d]
	}
	rows := groups{starts: dst.Offsets, list: dst.Rows}
	rows.take(keys, len(order)+1)
	dst.Offsets = rows.starts[:len(order)+1]
	dst.Rows = rows.list[:dst.Offsets[len(order)]]
	return nil
}

// below appends the domains of level l that are in domain d, in order. Children are in order, so
// their concatenation is.
func (t *Topology) below(dst []int32, d int32, l int) []int32 {
	children := t.domains[d].children
	if int(t.domains[d].level)+1 == l {
		return append(dst, children...)
	}
	for _, c := range children {
		dst = t.below(dst, c, l)
	}
	return dst
}
