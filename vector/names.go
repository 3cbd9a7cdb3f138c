package vector

import (
	"iter"
	"slices"
	"sync"
	"sync/atomic"
)

// Names are the names of [Nodes] at one time. They never change; nil is empty.
type Names struct {
	naming uint64 // of the directory
	names  []string
	// The rows of each name, in parts of consecutive rows that names from before share.
	// Each part is larger than the next, so that there are few.
	parts []map[string]int32
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
	// There are at most log(rows) parts, and most names are in the first.
	for _, part := range n.parts {
		if i, ok := part[name]; ok {
			return int(i), true
		}
	}
	return 0, false
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
	index   map[string]int32
	rows    []namedRow
	naming  uint64 // moved whenever a row changes its name
	removed uint64 // naming when a row was removed last
	names   atomic.Pointer[Names]
	update  sync.Mutex // of names, by readers
}

type namedRow struct {
	name       string
	generation int64
	stale      bool // no generation is current: the columns have changed
}

// current reports whether the row is of a generation. One of a narrower matrix never is.
func (r *namedRow) current(generation int64) bool {
	return r.generation == generation && !r.stale
}

// row returns the row of name.
func (d *directory) row(name string) (row int, ok bool) {
	i, ok := d.index[name]
	return int(i), ok
}

// name returns the name of a row.
func (d *directory) name(row int) string {
	if uint(row) >= uint(len(d.rows)) {
		panic(panicRow)
	}
	return d.rows[row].name
}

// all iterates over the names and rows.
func (d *directory) all() iter.Seq2[string, int] {
	return func(yield func(string, int) bool) {
		// No lock is held while the caller works: it may write, and then the rows move under it.
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
	// The string would stay reachable beyond the end.
	d.rows[last] = namedRow{}
	d.rows = d.rows[:last]
	d.naming++
	d.removed = d.naming
	return int(i), true
}

// widened makes every row stale.
func (d *directory) widened() {
	// A flag and no special generation: the caller may use every number.
	for i := range d.rows {
		d.rows[i].stale = true
	}
}

// now returns the names and rows as they are, while nobody writes d.
func (d *directory) now() *Names {
	if last := d.names.Load(); last != nil && last.naming == d.naming {
		return last
	}
	// Several readers may come at once. The first updates it and all return that one, so
	// that its pointer says whether rows have moved.
	d.update.Lock()
	defer d.update.Unlock()
	last, now := d.names.Load(), &Names{naming: d.naming}
	if last != nil {
		if last.naming == d.naming {
			return last
		}
		if last.naming >= d.removed { // rows were only added
			now.names, now.parts = last.names, last.parts
		}
	}
	// Appending behind names that others read is safe: their length ends before it.
	first := len(now.names)
	for _, r := range d.rows[first:] {
		now.names = append(now.names, r.name)
	}
	// The new part takes in the parts that are not larger. So a name is put into a map
	// log(rows) times, however often a loop that adds rows asks for the names.
	parts := now.parts
	for k := len(parts) - 1; k >= 0 && len(parts[k]) <= len(now.names)-first; k-- {
		first -= len(parts[k])
		parts = parts[:k]
	}
	part := make(map[string]int32, len(now.names)-first)
	for i, name := range now.names[first:] {
		part[name] = int32(first + i)
	}
	now.parts = append(slices.Clip(parts), part)
	d.names.Store(now)
	return now
}
