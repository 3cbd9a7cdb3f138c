package vector

import "iter"

// Names says which name each row of a [Table] has, as it was at one time; see
// [Table.Names]. It never changes: any number of goroutines may read it, without a
// lock, and while the table is written. A nil Names is empty.
type Names struct {
	naming uint64 // of the table
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

// All iterates over the names and rows in ascending order of the rows.
func (n *Names) All() iter.Seq2[string, int] {
	return func(yield func(string, int) bool) {
		for row := range n.Len() {
			if !yield(n.names[row], row) {
				return
			}
		}
	}
}

// Names returns the names and rows of the table as they are now, to be looked up
// many times: [Table.Row] and [Table.Name] lock the table for each. It is the same
// pointer until a row comes, goes or moves, and then costs a copy of the names, once
// for all who ask. So whoever keeps something by row sees by comparing pointers
// whether the rows are still those.
func (t *Table) Names() *Names {
	t.rlock()
	defer t.mu.RUnlock()
	return t.namesLocked()
}

// namesLocked is Names with the lock held, so that t.naming stays.
func (t *Table) namesLocked() *Names {
	last := t.names.Load()
	if last != nil && last.naming == t.naming {
		return last
	}
	now := &Names{naming: t.naming, names: make([]string, len(t.rows)), index: make(map[string]int32, len(t.rows))}
	for i, r := range t.rows {
		now.names[i], now.index[r.name] = r.name, int32(i)
	}
	if t.names.CompareAndSwap(last, now) {
		return now
	}
	return t.names.Load() // another reader was faster
}
