package vector

import (
	"math"
	"sync/atomic"
	"unsafe"

	"github.com/resvec/resvec/internal/kernel"
)

// Matrix holds the vectors of many nodes, pods or queues: a row for each, and a column
// per resource, contiguous and 64-byte aligned. [Matrix.Reset] gives the zero value a
// shape. Every write moves the version. Do not copy it by assignment.
type Matrix struct {
	data    []float64 // column j is data[j*stride : j*stride+rows]; rows up to the stride are 0
	lower32 []float32 // every element of data rounded down: half the bytes for Fit to read
	rows    int
	cols    int
	stride  int // multiple of kernel.Block
	schema  Schema

	// Rows from the last up to the stride stay 0: a kernel may read whole blocks of 64
	// rows, and needs no code for a tail.
	//
	// Nearly every request is a float32 value. A row holds such a request exactly if its
	// amount, rounded down to a float32, does. Half the bytes then come from memory, and
	// memory is what Fit waits for. Matrices of Nodes that Fit does not read go without.

	integral       []int32 // columns that take whole numbers only
	outOfRange     []bool  // per column: it may hold a value outside the range of tame
	readOnly       bool    // a view, or the matrix of an Overlay
	withoutLower32 bool    // Fit reads the elements
	log            changeLog

	copied copied // what CopyFrom copied last

	reciprocals *atomic.Pointer[reciprocals] // of what Nodes have; nil: of no Nodes
}

const (
	panicRow         = "vector: row out of range"
	panicColumn      = "vector: column out of range"
	panicVectorLong  = "vector: vector is longer than the matrix is wide"
	panicWidth       = "vector: matrices have different widths"
	panicRows        = "vector: matrices have different numbers of rows"
	panicSchema      = "vector: matrices have different schemas"
	panicSchemaWidth = "vector: schema has another number of columns"
	panicReadOnly    = "vector: write to a read-only matrix"
	panicView        = "vector: view must start on a multiple of 64 rows"
	panicNarrow      = "vector: a matrix cannot be narrowed"
	panicLarge       = "vector: matrix is too large"
	panicDstShort    = "vector: destination is shorter than the matrix has rows"
	panicDstInput    = "vector: destination is the input"
)

// NewMatrix returns a matrix of zeros. A schema must have cols columns.
func NewMatrix(schema Schema, rows, cols int) *Matrix {
	m := new(Matrix)
	m.Reset(schema, rows, cols)
	return m
}

// Reset makes m a matrix of zeros of a shape, reusing its storage.
func (m *Matrix) Reset(schema Schema, rows, cols int) {
	m.checkWritable()
	m.reshape(schema, rows, cols)
	clear(m.data)
	clear(m.lower32)
	clear(m.outOfRange)
}

// reshape gives m a shape and leaves its elements undefined.
func (m *Matrix) reshape(schema Schema, rows, cols int) {
	if rows < 0 || cols < 0 {
		panic(panicNegative)
	}
	stride := strideFor(rows)
	n := elements(stride, cols)
	m.setSchema(schema, cols)
	// What reset and copies reuse is never shrunk: a worker takes the same shape each cycle.
	if cap(m.data) < n {
		m.data, m.lower32 = aligned[float64](n), m.newLower32(n)
	} else {
		m.data, m.lower32 = m.data[:n], m.lower32[:m.lower32Len(n)]
	}
	// All that can panic is behind us: a matrix is never left half made.
	m.rows, m.cols, m.stride = rows, cols, stride // the storage is there
	m.outOfRange = resized(m.outOfRange, cols)
	m.log.recordAll()
}

// newLower32 returns room for n elements rounded down.
func (m *Matrix) newLower32(n int) []float32 {
	// A matrix that Fit does not read spares a third of its memory.
	if m.withoutLower32 {
		return nil
	}
	return aligned[float32](n)
}

// lower32Len returns how many of n elements are kept rounded down, too.
func (m *Matrix) lower32Len(n int) int {
	if m.withoutLower32 {
		return 0
	}
	return n
}

// setSchema takes a schema for a matrix of cols columns.
func (m *Matrix) setSchema(schema Schema, cols int) {
	// Resets to the same schema are the usual case and must not walk its columns.
	if schema == m.schema && (schema == Schema{} || cols == m.cols) {
		return
	}
	columns := schema.Columns()
	if columns != nil && len(columns) != cols {
		panic(panicSchemaWidth)
	}
	m.schema = schema
	m.integral = m.integral[:0]
	for j, c := range columns {
		if c.Integral {
			m.integral = append(m.integral, int32(j))
		}
	}
}

// strideFor returns the stride for a number of rows: whole blocks, and not a
// multiple of 4 KiB, so that the elements of one row fall into different cache
// sets. It panics when there are more than maxRows.
func strideFor(rows int) int {
	if rows > maxRows {
		panic(panicLarge)
	}
	stride := wordsFor(rows) * kernel.Block
	if stride%512 == 0 && stride > 0 {
		stride += kernel.Block
	}
	return stride
}

// maxRows keeps every stride within int32, which is what row indices are kept
// as by the change log, by TopK and by placements.
const maxRows = math.MaxInt32 - 2*kernel.Block

// elements returns stride*cols. It panics when that, or its size in bytes, is
// more than an int holds: the kernels trust the length of the data.
func elements(stride, cols int) int {
	if stride > 0 && cols > math.MaxInt/8/stride {
		panic(panicLarge)
	}
	return stride * cols
}

// aligned returns n zeros starting on a 64-byte border.
func aligned[T float32 | float64](n int) []T {
	var zero T
	size := unsafe.Sizeof(zero)
	line := int(64 / size)
	// The runtime aligns large slices to pages and small ones to their size class, so it may
	// be off by less than a line.
	s := make([]T, n+line-1)
	offset := 0
	if a := uintptr(unsafe.Pointer(unsafe.SliceData(s))) % 64; a != 0 {
		offset = line - int(a/size)
	}
	return s[offset : offset+n : offset+n]
}

// Rows returns the number of rows.
func (m *Matrix) Rows() int {
	return m.rows
}

// Cols returns the number of columns.
func (m *Matrix) Cols() int {
	return m.cols
}

// Stride returns the distance between columns in memory, in elements.
func (m *Matrix) Stride() int {
	return m.stride
}

// Schema returns the schema of the columns.
func (m *Matrix) Schema() Schema {
	return m.schema
}

// At returns the element in row i, column j.
func (m *Matrix) At(i, j int) float64 {
	m.checkRow(i)
	m.checkColumn(j)
	return m.data[j*m.stride+i]
}

// Row sets dst to row i and returns it, with one element per column.
func (m *Matrix) Row(dst ResourceVector, i int) ResourceVector {
	m.checkRow(i)
	dst = resized(dst, m.cols)
	for j := range dst {
		dst[j] = m.data[j*m.stride+i]
	}
	return dst
}

// Column returns column j, for reading, until the shape changes.
func (m *Matrix) Column(j int) []float64 {
	m.checkColumn(j)
	// The capacity ends with the rows, or an append would write into the next column.
	return m.data[j*m.stride:][:m.rows:m.rows]
}

// Elements returns all elements, to read: j*Stride()+i is row i of column j.
func (m *Matrix) Elements() []float64 { return m.data[:len(m.data):len(m.data)] }

// Tame reports whether all of column j is known to be 0 or 2^-500 to 2^500 in magnitude,
// so that a corrected reciprocal divides it exactly.
func (m *Matrix) Tame(j int) bool {
	m.checkColumn(j)
	return !m.outOfRange[j]
}

// Slice returns rows lo to hi-1 as a read-only view, for other goroutines. lo is a
// multiple of 64. It sees later writes to m until m's shape changes.
func (m *Matrix) Slice(lo, hi int) *Matrix {
	if lo < 0 || hi < lo || hi > m.rows {
		panic(panicRow)
	}
	if lo%kernel.Block != 0 {
		panic(panicView)
	}
	return &Matrix{
		data: m.data[min(lo, len(m.data)):], lower32: m.lower32[min(lo, len(m.lower32)):], withoutLower32: m.withoutLower32,
		rows: hi - lo, cols: m.cols, stride: m.stride,
		schema: m.schema, integral: m.integral, outOfRange: m.outOfRange, readOnly: true,
	}
}

// SetRow sets row i to v, padded with zeros.
func (m *Matrix) SetRow(i int, v ResourceVector) {
	m.checkWritable()
	m.checkRow(i)
	m.checkVector(v)
	m.setRow(i, v)
	m.log.record(i)
}

// setRow is SetRow without checks and log: Nodes write matrices that their callers only read,
// and log a row once for all of them.
func (m *Matrix) setRow(i int, v ResourceVector) {
	p, j := i, 0
	var known [8]float32 // some at once
	// Eight elements are rounded at once. Each goes to another column, so that the stores
	// wait for memory and not for each other.
	for ; j+len(known) <= len(v) && !m.withoutLower32; j += len(known) {
		part, data, lower32, stride := v[j:][:len(known)], m.data, m.lower32[:len(m.data)], m.stride
		if kernel.Codes(known[:], part) {
			break // one is not tame
		}
		for k, x := range part {
			data[p], lower32[p] = x, known[k]
			p += stride
		}
	}
	for ; j < len(v); j++ {
		m.store(p, j, v[j])
		p += m.stride
	}
	// A row that is reused must not keep what the vector leaves out.
	for range m.cols - len(v) {
		m.put(p, 0)
		p += m.stride
	}
}

// AddToRow adds v to row i. An [*AmountError] changes nothing: NaN, infinite amounts and
// sums, and in an integral column an amount that is not whole, or an amount or a sum of
// 2^53 or more. What is infinite or NaN stays so.
func (m *Matrix) AddToRow(i int, v ResourceVector) error {
	m.checkWritable()
	return m.addRow(i, v, 1)
}

// SubFromRow subtracts v from row i by the rules of [Matrix.AddToRow].
func (m *Matrix) SubFromRow(i int, v ResourceVector) error {
	m.checkWritable()
	return m.addRow(i, v, -1)
}

// addRow is AddToRow for sign 1, SubFromRow for sign -1.
func (m *Matrix) addRow(i int, v ResourceVector, sign float64) error {
	m.checkRow(i)
	m.checkVector(v)
	// Whole amounts, the usual case, are checked and added in one pass.
	if kernel.AddRow(m.data[min(i, len(m.data)):], m.lower32[min(i, len(m.lower32)):], m.stride, v, sign) {
		m.log.record(i)
		return nil
	}
	if err := m.checkAmounts(i, v, sign); err != nil {
		return err
	}
	m.add(i, v, sign)
	return nil
}

// add is addRow for amounts that checkAmounts has accepted. Multiplying by the
// sign is exact, and adding -x is subtracting x, to the bit.
func (m *Matrix) add(i int, v ResourceVector, sign float64) {
	data, lower32, outOfRange, p := m.data, m.lower32[:len(m.data)], m.outOfRange[:len(v)], i
	for j, x := range v {
		x = data[p] + float64(x*sign)
		data[p], lower32[p] = x, kernel.Floor32(x)
		if !kernel.Tame(x) {
			outOfRange[j] = true
		}
		p += m.stride
	}
	m.log.record(i)
}

// checkAmounts checks the amounts of addRow.
func (m *Matrix) checkAmounts(i int, v ResourceVector, sign float64) error {
	p := i
	for j, x := range v {
		was := m.data[p]
		switch sum := was + float64(x*sign); {
		// One comparison accepts nearly all: a sum is finite only if its parts are.
		case math.Abs(sum) <= math.MaxFloat64: // and so are both of its parts
		case !(math.Abs(x) <= math.MaxFloat64):
			return m.refusal(i, j, x, reasonFinite)
		case math.Abs(was) <= math.MaxFloat64:
			return m.refusal(i, j, x, reasonOverflow)
		}
		p += m.stride
	}
	for _, column := range m.integral {
		j := int(column)
		if j >= len(v) {
			break
		}
		x, was := v[j], m.data[j*m.stride+i]
		switch {
		case x != math.Trunc(x):
			return m.refusal(i, j, x, reasonWhole)
		case !exact(x):
			return m.refusal(i, j, x, reasonLarge)
		// A row that was set to more than 2^53 may still be brought back.
		case !exact(was+float64(x*sign)) && exact(was):
			return m.refusal(i, j, x, reasonSum)
		}
	}
	return nil
}

// exact reports whether x is below 2^53 in magnitude, where whole numbers are
// exact, and so are their sums and differences.
func exact(x float64) bool { return math.Abs(x) < 1<<53 }

// store writes element p of column j, and whether the column may be out of range.
func (m *Matrix) store(p, j int, x float64) {
	if !kernel.Tame(x) {
		m.outOfRange[j] = true
	}
	m.put(p, x)
}

// put writes element p.
func (m *Matrix) put(p int, x float64) {
	m.data[p] = x
	if !m.withoutLower32 {
		m.lower32[p] = kernel.Floor32(x)
	}
}

// SetColumn sets the rows from lo on of column j; every row counts as changed.
func (m *Matrix) SetColumn(j, lo int, values []float64) {
	m.checkWritable()
	m.checkColumn(j)
	if lo < 0 || lo > m.rows || len(values) > m.rows-lo {
		panic("vector: part of a column is out of range")
	}
	// A change of a column is a change of all rows in the log, so it is for loading, not for
	// single rows.
	copy(m.data[j*m.stride+lo:][:len(values)], values)
	// Only a whole column forgets what was out of range in it.
	if lo == 0 && len(values) == m.rows {
		m.outOfRange[j] = false
	}
	m.inspectPart(j, lo, len(values))
	m.log.recordAll()
}

// inspectPart derives from n elements of column j what is kept of them besides; one that is
// out of range marks the column.
func (m *Matrix) inspectPart(j, lo, n int) {
	p := j*m.stride + lo
	if kernel.Codes(m.lower32[p:][:n], m.data[p:][:n]) {
		m.outOfRange[j] = true
	}
}

// AppendRow adds a row and returns its index. It may void views.
func (m *Matrix) AppendRow(v ResourceVector) int {
	m.checkWritable()
	m.checkVector(v)
	return m.appendRow(v)
}

// appendRow is AppendRow without checks.
func (m *Matrix) appendRow(v ResourceVector) int {
	i := m.rows
	m.grow(i + 1)
	m.rows = i + 1
	m.setRow(i, v)
	m.log.record(i)
	return i
}

// RemoveRow removes row i. The last row, moved, takes its place; -1: it is i.
func (m *Matrix) RemoveRow(i int) (moved int) {
	m.checkWritable()
	m.checkRow(i)
	return m.removeRow(i)
}

// removeRow is RemoveRow without checks.
func (m *Matrix) removeRow(i int) (moved int) {
	last := m.rows - 1
	// The row beyond the new last one becomes 0 again, which kernels rely on.
	for j := range m.cols {
		p := j * m.stride
		m.put(p+i, m.data[p+last])
		m.put(p+last, 0)
	}
	m.rows = last
	m.log.record(i)
	if i == last {
		return -1
	}
	return last
}

// Resize sets the number of rows and keeps the others: new rows are zeros.
func (m *Matrix) Resize(rows int) {
	m.checkWritable()
	if rows < 0 {
		panic(panicNegative)
	}
	// Rows that go become 0 now: growing again must not bring them back.
	for j := range m.cols {
		if rows < m.rows {
			m.clearRows(j, rows)
		}
	}
	m.grow(rows)
	m.rows = rows
	m.log.recordAll()
}

// clearRows sets the elements of column j from row lo on to 0.
func (m *Matrix) clearRows(j, lo int) {
	clear(m.data[j*m.stride:][lo:m.rows])
	if !m.withoutLower32 {
		clear(m.lower32[j*m.stride:][lo:m.rows])
	}
}

// grow makes room for rows rows, keeping the elements.
func (m *Matrix) grow(rows int) {
	if rows <= m.stride {
		return
	}
	// Doubling keeps appending linear. Beyond half of the limit it would pass it.
	stride := strideFor(max(rows, min(2*m.stride, maxRows)))
	n := elements(stride, m.cols)
	data, lower32 := aligned[float64](n), m.newLower32(n)
	for j := range m.cols {
		copy(data[j*stride:][:m.rows], m.data[j*m.stride:])
		if !m.withoutLower32 {
			copy(lower32[j*stride:][:m.rows], m.lower32[j*m.stride:])
		}
	}
	m.data, m.lower32, m.stride = data, lower32, stride
}

// Widen appends columns of zeros up to cols and takes the wider schema.
func (m *Matrix) Widen(schema Schema, cols int) {
	m.checkWritable()
	m.widen(schema, cols)
}

// widen is Widen for matrices that are read-only to others.
func (m *Matrix) widen(schema Schema, cols int) {
	if cols < m.cols {
		panic(panicNarrow)
	}
	// Both panic before anything is written.
	n := elements(m.stride, cols)
	m.setSchema(schema, cols)
	// Columns follow each other with the old stride, so that what is there stays in place.
	if n > cap(m.data) {
		data, lower32 := aligned[float64](n), m.newLower32(n)
		copy(data, m.data)
		copy(lower32, m.lower32)
		m.data, m.lower32 = data, lower32
	} else {
		old := len(m.data)
		m.data, m.lower32 = m.data[:n], m.lower32[:m.lower32Len(n)]
		clear(m.data[old:])
		clear(m.lower32[m.lower32Len(old):])
	}
	m.outOfRange = append(m.outOfRange, make([]bool, cols-m.cols)...)
	m.cols = cols
	m.log.recordAll()
}

// CopyFrom makes m a copy of src with its schema. From the same source again it costs the
// rows that changed in between, and only those count as changed.
func (m *Matrix) CopyFrom(src *Matrix) {
	m.checkWritable()
	m.copyFrom(src)
}

func (m *Matrix) copyFrom(src *Matrix) {
	if m == src {
		return
	}
	// A view of m would change while it is read, or lose its storage to a resize.
	if m.shares(src) {
		panic(panicDstInput)
	}
	// A reader that copies every cycle pays for the rows that moved. A copy of everything is
	// for the first time, another source, and a log that was overrun.
	if !m.copyChanges(src) {
		m.reshape(src.schema, src.rows, src.cols)
		for j := range m.cols {
			column := m.data[j*m.stride:][:m.stride]
			clear(column[copy(column, src.Column(j)):])
			if m.withoutLower32 {
				continue
			}
			lower32 := m.lower32[j*m.stride:][:m.stride]
			if src.withoutLower32 {
				kernel.Codes(lower32, column)
			} else {
				clear(lower32[copy(lower32, src.lower32[j*src.stride:][:src.rows]):])
			}
		}
	}
	copy(m.outOfRange, src.outOfRange)
	m.copied.now(&src.log, &m.log)
}

// copyChanges copies the rows of src that changed since the last copy. It
// reports false, having done nothing, when it does not know them all.
func (m *Matrix) copyChanges(src *Matrix) bool {
	// The own log says whether somebody wrote to the copy: then it is none any more.
	if m.stride < src.rows || m.copied.misses(&src.log, &m.log) {
		return false
	}
	// Width and schema are still the same: a change of either counts as a write
	// to every row.
	for j := range m.cols {
		if src.rows < m.rows {
			m.clearRows(j, src.rows)
		}
	}
	m.rows = src.rows
	// Rows are copied in groups, column by column: a column of a group stays in the cache,
	// where row after row would come back to every column each time.
	var rows [64]int32
	for v := m.copied.source; v < src.log.version; {
		n := 0
		for ; v < src.log.version && n < len(rows); v++ {
			i := src.log.row(v + 1)
			m.log.record(int(i))
			if int(i) < src.rows {
				rows[n] = i
				n++
			}
		}
		for j := range m.cols {
			m.copyRows(src, j, rows[:n])
		}
	}
	return true
}

// copyRows copies rows of column j.
func (m *Matrix) copyRows(src *Matrix, j int, rows []int32) {
	to, from := m.data[j*m.stride:][:m.stride], src.data[j*src.stride:][:src.stride]
	for _, i := range rows {
		to[i] = from[i]
	}
	if m.withoutLower32 {
		return
	}
	lower32 := m.lower32[j*m.stride:][:m.stride]
	if src.withoutLower32 {
		for _, i := range rows {
			lower32[i] = kernel.Floor32(from[i])
		}
		return
	}
	known := src.lower32[j*src.stride:][:src.stride]
	for _, i := range rows {
		lower32[i] = known[i]
	}
}

func (m *Matrix) checkRow(i int) {
	if uint(i) >= uint(m.rows) {
		panic(panicRow)
	}
}

func (m *Matrix) checkColumn(j int) {
	if uint(j) >= uint(m.cols) {
		panic(panicColumn)
	}
}

func (m *Matrix) checkVector(v ResourceVector) {
	if len(v) > m.cols {
		panic(panicVectorLong)
	}
}

func (m *Matrix) checkWritable() {
	if m.readOnly {
		panic(panicReadOnly)
	}
}

// shares reports whether m and other are the same matrix or one is a view of the
// other: a view keeps the end of the storage.
func (m *Matrix) shares(other *Matrix) bool {
	// Views start anywhere and are cut off nowhere, so that they end where the matrix does.
	a, b := m.data[:cap(m.data)], other.data[:cap(other.data)]
	return m == other || len(a) > 0 && len(b) > 0 && &a[len(a)-1] == &b[len(b)-1]
}

// checkSame panics unless a and b have the same width and compatible schemas.
func checkSame(a, b *Matrix) {
	if a.cols != b.cols {
		panic(panicWidth)
	}
	if !compatible(a.schema, b.schema) {
		panic(panicSchema)
	}
}

// checkSameRows is checkSame for two matrices of equally many rows.
func checkSameRows(a, b *Matrix) {
	checkSame(a, b)
	if a.rows != b.rows {
		panic(panicRows)
	}
}
