package vector

import (
	"iter"
	"sync/atomic"
)

// Names says which name each row of [Nodes] had at one time. It never changes, so it
// needs no lock. A nil Names is empty.
type Names struct {
	naming uint64 // of the directory
	names  []string
	index  map[string]int32
}

// Len returns the number of rows.
func (n *Names) Len() int {
	if n == nil {
		return 0
	}
	return len(n.names)
}

// Row returns the row of name.
func (n *Names) Row(name string) (row int, ok bool) {
	if n == nil {
		return 0, false
	}
	i, ok := n.index[name]
	return int(i), ok
}

// Name returns the name of a row.
func (n *Names) Name(row int) string {
	if uint(row) >= uint(n.Len()) {
		panic(panicRow)
	}
	return n.names[row]
}

// directory says which row each name has, and of which generation that row is. The
// zero value is empty.
// The index is the writer's. A copy has none: it shares the Names of its source, so that
// taking one costs no map.
type directory struct {
	index  map[string]int32
	rows   []namedRow
	naming uint64 // moved whenever a row changes its name
	names  atomic.Pointer[Names]
}

type namedRow struct {
	name       string
	generation int64
	stale      bool // no generation is current: the columns have changed
}

func (r *namedRow) current(generation int64) bool {
	return r.generation == generation && !r.stale
}

// row returns the row of name.
func (d *directory) row(name string) (row int, ok bool) {
	i, ok := d.index[name]
	return int(i), ok
}

func (d *directory) name(row int) string {
	if uint(row) >= uint(len(d.rows)) {
		panic(panicRow)
	}
	return d.rows[row].name
}

// all iterates over the names and rows.
func (d *directory) all() iter.Seq2[string, int] {
	return func(yield func(string, int) bool) {
		for i, r := range d.rows {
			if !yield(r.name, i) {
				return
			}
		}
	}
}

// add adds a row for a new name.
func (d *directory) add(name string, generation int64) {
	if d.index == nil {
		d.index = make(map[string]int32)
	}
	d.index[name] = int32(len(d.rows))
	d.rows = append(d.rows, namedRow{name: name, generation: generation})
	d.naming++
}

// remove removes the row of name; the last one takes its place.
func (d *directory) remove(name string) (row int, ok bool) {
	i, ok := d.index[name]
	if !ok {
		return 0, false
	}
	delete(d.index, name)
	// The same move as in the matrices, which keep their rows without gaps.
	last := len(d.rows) - 1
	if int(i) != last {
		d.rows[i] = d.rows[last]
		d.index[d.rows[i].name] = i
	}
	d.rows[last] = namedRow{}
	d.rows = d.rows[:last]
	d.naming++
	return int(i), true
}

// widened makes every row stale.
func (d *directory) widened() {
	for i := range d.rows {
		d.rows[i].stale = true
	}
}

// now returns the names and rows as they are, while nobody writes d.
func (d *directory) now() *Names {
	last := d.names.Load()
	if last != nil && last.naming == d.naming {
		return last
	}
	// Several readers may build it at once. The first to store it wins, and all return
	// that one, so that its pointer says whether rows have moved.
	now := &Names{naming: d.naming, names: make([]string, len(d.rows)), index: make(map[string]int32, len(d.rows))}
	for i, r := range d.rows {
		now.names[i], now.index[r.name] = r.name, int32(i)
	}
	if d.names.CompareAndSwap(last, now) {
		return now
	}
	return d.names.Load() // another reader was faster
}
