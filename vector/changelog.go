package vector

import "slices"

// changeLogSize is how many row writes a change log remembers: enough for the
// placements of a few cycles, small enough (4 KiB) for every matrix.
const changeLogSize = 1024

// identity distinguishes the change logs of different matrices.
// It has a byte because two values of no size may have one address.
type identity struct{ _ byte }

// changeLog counts the writes to a matrix and remembers the rows of the last
// ones. The zero value is an empty log.
type changeLog struct {
	self    *identity
	version uint64
	floor   uint64  // versions up to floor are forgotten
	ring    []int32 // version v wrote row ring[v%changeLogSize]
}

// record notes a write to row i.
func (l *changeLog) record(i int) {
	// The ring comes with the first write: a matrix that is never written has none.
	if l.ring == nil {
		l.ring = make([]int32, changeLogSize)
	}
	l.version++
	l.ring[l.version%changeLogSize] = int32(i)
	if l.version-l.floor > changeLogSize {
		l.floor = l.version - changeLogSize
	}
}

// recordAll notes a write to every row, or of the shape.
func (l *changeLog) recordAll() {
	if l.self == nil {
		l.self = new(identity)
	}
	l.version++
	l.floor = l.version
}

// complete reports whether every write after version since is remembered.
func (l *changeLog) complete(since uint64) bool {
	return since >= l.floor && since <= l.version
}

// row returns the row that version v wrote.
func (l *changeLog) row(v uint64) int32 { return l.ring[v%changeLogSize] }

// Version returns a number that every write to m moves up. It starts anywhere.
func (m *Matrix) Version() uint64 {
	return m.log.version
}

// Changed sets dst to the rows written since an earlier [Matrix.Version], ascending. all
// is true, and dst empty, when every row may differ: all were rewritten, or since is more
// than 1,024 writes ago. Removed rows are not there; see Rows.
func (m *Matrix) Changed(dst []int32, since uint64) (rows []int32, all bool) {
	return m.log.changed(dst, since, m.rows)
}

// changed is Matrix.Changed for so many rows.
func (l *changeLog) changed(dst []int32, since uint64, n int) (rows []int32, all bool) {
	rows = dst[:0]
	// Without an identity it is the log of a view, or of a zero matrix.
	if l.self == nil || !l.complete(since) {
		return rows, true
	}
	for v := since; v < l.version; v++ {
		if i := l.row(v + 1); int(i) < n {
			rows = append(rows, i)
		}
	}
	// A row that was written often appears once, and readers pass over memory in order.
	slices.Sort(rows)
	return slices.Compact(rows), false
}

// copied is what somebody copied last who reads a change log: the identity and the
// version of the source, and the version that the copy's own log had then.
type copied struct {
	from        *identity
	source, own uint64
}

// misses reports whether the changes since then are not all known, of the source or
// because the copy was written itself.
func (c *copied) misses(source, own *changeLog) bool {
	return c.from == nil || c.from != source.self || c.own != own.version || !source.complete(c.source)
}

// now notes that everything was copied.
func (c *copied) now(source, own *changeLog) {
	*c = copied{source.self, source.version, own.version}
}
