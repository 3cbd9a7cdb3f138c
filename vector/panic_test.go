package vector_test

import (
	"fmt"
	"math"
	"slices"
	"testing"

	"github.com/resvec/resvec/vector"
)

// fixture is everything that a faulty call could write to.
type fixture struct {
	m, other, empty *vector.Matrix // 3x2, 3x2, 0x0
	narrow, longer  *vector.Matrix // 3x1, 4x2
	ab, ba          *vector.Matrix // 3x2 with different schemas
	view            *vector.Matrix // 3x2, read-only
	mask            *vector.Mask   // of length 5
	masks           []vector.Mask
	floats          []float64 // of length 2
	ints            []int64
	words           []uint64
	rows            []int32
	overlay         *vector.Overlay
	nodes           *vector.Nodes
	copied          vector.Nodes
	cursor          int
}

func newFixture() *fixture {
	f := &fixture{
		m: vector.NewMatrix(none, 3, 2), other: vector.NewMatrix(none, 3, 2), empty: new(vector.Matrix),
		narrow: vector.NewMatrix(none, 3, 1), longer: vector.NewMatrix(none, 4, 2),
		ab: vector.NewMatrix(columns("a", "b"), 3, 2), ba: vector.NewMatrix(columns("b", "a"), 3, 2),
		mask:  maskOf(5, 1, 4),
		masks: []vector.Mask{*maskOf(2, 1)},
		rows:  []int32{9, 9, 9}, floats: []float64{7, 7}, ints: []int64{7, 7}, words: []uint64{7, 7},
		nodes: vector.NewNodes(none, 2), cursor: 1,
	}
	for i := range 3 {
		for _, m := range []*vector.Matrix{f.m, f.other, f.ab, f.ba, f.longer} {
			m.SetRow(i, vec{float64(i), 1})
		}
		_, _, _ = f.nodes.Set(fmt.Sprint("node", i), 1, vector.NodeAmounts{Allocatable: vec{5, 5}, Requested: vec{1}})
	}
	f.view = f.m.Slice(0, 3)
	f.overlay = vector.NewOverlay(f.m)
	f.overlay.SetRow(0, vec{8})
	f.nodes.Snapshot(&f.copied)
	return f
}

// state is a text of all that f holds.
func (f *fixture) state() string {
	s := fmt.Sprint(f.mask.Len(), members(f.mask), len(f.masks), f.masks[0].Len(), members(&f.masks[0]),
		f.floats, f.ints, f.words, f.rows, f.cursor, f.nodes.Len(), f.copied.Len(), slices.Sorted(nodeNames(f.nodes)))
	for _, m := range []*vector.Matrix{
		f.m, f.other, f.empty, f.narrow, f.longer, f.ab, f.ba, f.view,
		f.overlay.Matrix(), f.nodes.Allocatable(), f.nodes.Requested(), f.nodes.Free(), f.copied.Free(),
	} {
		s += fmt.Sprintln(m.Version(), m.Rows(), m.Cols(), m.Stride(), m.Schema(), contents(m))
	}
	return s
}

func nodeNames(t *vector.Nodes) func(yield func(string) bool) {
	return func(yield func(string) bool) {
		for name := range t.All() {
			if !yield(name) {
				return
			}
		}
	}
}

// Every mistake of a caller panics with a constant string, and nothing has been
// written then.
func TestPanics(t *testing.T) {
	const (
		maskRow     = "vector: mask row out of range"
		maskLength  = "vector: mask lengths differ"
		negative    = "vector: negative size"
		row         = "vector: row out of range"
		column      = "vector: column out of range"
		long        = "vector: vector is longer than the matrix is wide"
		width       = "vector: matrices have different widths"
		rows        = "vector: matrices have different numbers of rows"
		schemas     = "vector: matrices have different schemas"
		schemaWidth = "vector: schema has another number of columns"
		readOnly    = "vector: write to a read-only matrix"
		view        = "vector: view must start on a multiple of 64 rows"
		narrow      = "vector: a matrix cannot be narrowed"
		large       = "vector: matrix is too large"
		short       = "vector: destination is shorter than the matrix has rows"
		input       = "vector: destination is the input"
		columnRows  = "vector: part of a column is out of range"
		fewMasks    = "vector: fewer masks than requests"
		wide        = "vector: more than 64 columns"
		offsets     = "vector: offsets do not ascend within the rows"
		noTie       = "vector: tie rule not given"
		ranks       = "vector: rank has another number of rows"
		noCursor    = "vector: round-robin tie without a cursor"
		mark        = "vector: mark is no longer in the overlay's history"
	)
	three := vec{1, 1, 1} // too long for two columns
	lowest := vector.TieLowest()
	for _, c := range []struct {
		name string
		want string
		call func(f *fixture)
	}{
		{"NewMask", negative, func(*fixture) { vector.NewMask(-1) }},
		{"NewMask too large", "vector: mask is too large", func(*fixture) { vector.NewMask(math.MaxInt) }},
		{"Mask.Reset too large", "vector: mask is too large", func(f *fixture) { f.mask.Reset(math.MaxInt) }},
		{"Mask.Reset", negative, func(f *fixture) { f.mask.Reset(-1) }},
		{"Mask.Set below", maskRow, func(f *fixture) { f.mask.Set(-1) }},
		{"Mask.Set above", maskRow, func(f *fixture) { f.mask.Set(5) }},
		{"Mask.Set within the word", maskRow, func(f *fixture) { f.mask.Set(63) }},
		{"Mask.Clear", maskRow, func(f *fixture) { f.mask.Clear(5) }},
		{"Mask.Test", maskRow, func(f *fixture) { f.mask.Test(5) }},
		{"Mask.Test, zero mask", maskRow, func(*fixture) { new(vector.Mask).Test(0) }},
		{"Mask.And", maskLength, func(f *fixture) { f.mask.And(f.mask, vector.NewMask(4)) }},
		{"Mask.Or", maskLength, func(f *fixture) { f.mask.Or(vector.NewMask(6), f.mask) }},
		{"Mask.AndNot", maskLength, func(f *fixture) { f.mask.AndNot(f.mask, new(vector.Mask)) }},

		{"NewMatrix rows", negative, func(*fixture) { vector.NewMatrix(none, -1, 1) }},
		{"NewMatrix cols", negative, func(*fixture) { vector.NewMatrix(none, 1, -1) }},
		{"NewMatrix schema", schemaWidth, func(*fixture) { vector.NewMatrix(columns("a"), 1, 2) }},
		{"NewMatrix too many rows", large, func(*fixture) { vector.NewMatrix(none, math.MaxInt32, 0) }},
		{"NewMatrix, rows next to the greatest int", large, func(*fixture) { vector.NewMatrix(none, math.MaxInt, 1) }},
		{"NewMatrix too many columns", large, func(*fixture) { vector.NewMatrix(none, 1, math.MaxInt/64+2) }},
		{"Reset too large", large, func(f *fixture) { f.ab.Reset(none, 3, math.MaxInt) }},
		{"Resize too large", large, func(f *fixture) { f.m.Resize(math.MaxInt) }},
		{"Widen too large", large, func(f *fixture) { f.m.Widen(none, math.MaxInt/64+2) }},
		{"Reset", negative, func(f *fixture) { f.m.Reset(none, 1, -1) }},
		{"Reset schema", schemaWidth, func(f *fixture) { f.m.Reset(columns("a"), 3, 2) }},
		{"Reset to its schema, other width", schemaWidth, func(f *fixture) { f.ab.Reset(f.ab.Schema(), 3, 3) }},
		{"Resize", negative, func(f *fixture) { f.m.Resize(-1) }},
		{"Widen", narrow, func(f *fixture) { f.m.Widen(none, 1) }},
		{"Widen schema", schemaWidth, func(f *fixture) { f.m.Widen(columns("a", "b"), 3) }},
		{"At row below", row, func(f *fixture) { f.m.At(-1, 0) }},
		{"At row above", row, func(f *fixture) { f.m.At(3, 0) }},
		{"At column below", column, func(f *fixture) { f.m.At(0, -1) }},
		{"At column above", column, func(f *fixture) { f.m.At(0, 2) }},
		{"Row", row, func(f *fixture) { f.m.Row(f.floats, 3) }},
		{"Column", column, func(f *fixture) { f.m.Column(2) }},
		{"Column, zero matrix", column, func(f *fixture) { f.empty.Column(0) }},
		{"SetRow row", row, func(f *fixture) { f.m.SetRow(3, nil) }},
		{"SetRow vector", long, func(f *fixture) { f.m.SetRow(0, three) }},
		{"AddToRow row", row, func(f *fixture) { _ = f.m.AddToRow(-1, nil) }},
		{"AddToRow vector", long, func(f *fixture) { _ = f.m.AddToRow(0, three) }},
		{"SubFromRow row", row, func(f *fixture) { _ = f.m.SubFromRow(3, nil) }},
		{"SubFromRow vector", long, func(f *fixture) { _ = f.m.SubFromRow(0, three) }},
		{"SetColumn column", column, func(f *fixture) { f.m.SetColumn(2, 0, make([]float64, 3)) }},
		{"SetColumn below", columnRows, func(f *fixture) { f.m.SetColumn(0, -1, make([]float64, 2)) }},
		{"SetColumn above", columnRows, func(f *fixture) { f.m.SetColumn(0, 4, nil) }},
		{"SetColumn more", columnRows, func(f *fixture) { f.m.SetColumn(0, 1, make([]float64, 3)) }},
		{"AppendRow", long, func(f *fixture) { f.m.AppendRow(three) }},
		{"AppendRow, zero matrix", long, func(f *fixture) { f.empty.AppendRow(vec{1}) }},
		{"RemoveRow", row, func(f *fixture) { f.m.RemoveRow(3) }},
		{"RemoveRow, zero matrix", row, func(f *fixture) { f.empty.RemoveRow(0) }},
		{"Slice below", row, func(f *fixture) { f.m.Slice(-64, 1) }},
		{"Slice reversed", row, func(f *fixture) { f.m.Slice(2, 1) }},
		{"Slice above", row, func(f *fixture) { f.m.Slice(0, 4) }},
		{"Slice border", view, func(f *fixture) { f.m.Slice(1, 3) }},

		{"view SetRow", readOnly, func(f *fixture) { f.view.SetRow(0, nil) }},
		{"view AddToRow", readOnly, func(f *fixture) { _ = f.view.AddToRow(0, nil) }},
		{"view SubFromRow", readOnly, func(f *fixture) { _ = f.view.SubFromRow(0, nil) }},
		{"view SetColumn", readOnly, func(f *fixture) { f.view.SetColumn(0, 0, make([]float64, 3)) }},
		{"view AppendRow", readOnly, func(f *fixture) { f.view.AppendRow(nil) }},
		{"view RemoveRow", readOnly, func(f *fixture) { f.view.RemoveRow(0) }},
		{"view Resize", readOnly, func(f *fixture) { f.view.Resize(1) }},
		{"view Reset", readOnly, func(f *fixture) { f.view.Reset(none, 3, 2) }},
		{"view Widen", readOnly, func(f *fixture) { f.view.Widen(none, 3) }},
		{"view CopyFrom", readOnly, func(f *fixture) { f.view.CopyFrom(f.other) }},
		{"view as dst of Shortfall", readOnly, func(f *fixture) { vector.Shortfall(f.view, f.other, nil) }},
		{"view as dst of SegmentSum", readOnly, func(f *fixture) { vector.SegmentSum(f.view, f.other, nil) }},
		{"slice of a view", readOnly, func(f *fixture) { f.view.Slice(0, 1).SetRow(0, nil) }},
		{"overlay's matrix", readOnly, func(f *fixture) { f.overlay.Matrix().SetRow(0, nil) }},
		{"matrix of nodes", readOnly, func(f *fixture) { _ = f.nodes.Requested().AddToRow(0, nil) }},
		{"matrix of a copy", readOnly, func(f *fixture) { f.copied.Free().RemoveRow(0) }},

		{"LessEqual", long, func(f *fixture) { vector.LessEqual(f.mask, f.m, three) }},
		{"Fit", long, func(f *fixture) { vector.Fit(f.mask, f.m, three) }},
		{"Fit, zero matrix", long, func(f *fixture) { vector.Fit(f.mask, f.empty, vec{0}) }},
		{"FitAmong", long, func(f *fixture) { vector.FitAmong(f.mask, f.m, three, maskOf(3, 1)) }},
		{"FitAmong, all", long, func(f *fixture) { vector.FitAmong(f.mask, f.m, three, nil) }},
		{"FitAmong mask", maskLength, func(f *fixture) { vector.FitAmong(f.mask, f.m, nil, f.mask) }},
		{"FitStrict", long, func(f *fixture) { vector.FitStrict(f.mask, f.m, three) }},
		{"FitSum vector", long, func(f *fixture) { vector.FitSum(f.mask, f.m, f.other, three) }},
		{"FitSum width", width, func(f *fixture) { vector.FitSum(f.mask, f.m, f.narrow, nil) }},
		{"FitSum rows", rows, func(f *fixture) { vector.FitSum(f.mask, f.m, f.longer, nil) }},
		{"FitSum schema", schemas, func(f *fixture) { vector.FitSum(f.mask, f.ab, f.ba, nil) }},
		{"FitSumStrict vector", long, func(f *fixture) { vector.FitSumStrict(f.mask, f.m, f.other, three) }},
		{"FitSumStrict width", width, func(f *fixture) { vector.FitSumStrict(f.mask, f.m, f.narrow, nil) }},
		{"FitSumStrict rows", rows, func(f *fixture) { vector.FitSumStrict(f.mask, f.m, f.longer, nil) }},
		{"FitSumStrict schema", schemas, func(f *fixture) { vector.FitSumStrict(f.mask, f.ab, f.ba, nil) }},
		{"LessEqualRows width", width, func(f *fixture) { vector.LessEqualRows(f.mask, f.narrow, f.m) }},
		{"LessEqualRows rows", rows, func(f *fixture) { vector.LessEqualRows(f.mask, f.longer, f.m) }},
		{"LessEqualRows schema", schemas, func(f *fixture) { vector.LessEqualRows(f.mask, f.ab, f.ba) }},
		{"FitRows width", width, func(f *fixture) { vector.FitRows(f.mask, f.m, f.narrow) }},
		{"FitRows rows", rows, func(f *fixture) { vector.FitRows(f.mask, f.m, f.longer) }},
		{"FitRows schema", schemas, func(f *fixture) { vector.FitRows(f.mask, f.ab, f.ba) }},
		{"FitMatrix width", width, func(f *fixture) { vector.FitMatrix(f.masks, f.m, f.narrow) }},
		{"FitMatrix schema", schemas, func(f *fixture) { vector.FitMatrix(f.masks, f.ab, f.ba) }},
		{"FitMatrix masks", fewMasks, func(f *fixture) { vector.FitMatrix(f.masks, f.m, f.other) }},
		{"Shortfall", long, func(f *fixture) { vector.Shortfall(f.other, f.m, three) }},
		{"Shortfall onto its input", input, func(f *fixture) { vector.Shortfall(f.m, f.m, nil) }},
		{"FailingColumns vector", long, func(f *fixture) { vector.FailingColumns(f.words, f.m, three) }},
		{"FailingColumns dst", short, func(f *fixture) { vector.FailingColumns(f.words, f.m, nil) }},
		{"FailingColumns width", wide, func(f *fixture) { vector.FailingColumns(f.words, vector.NewMatrix(none, 1, 65), nil) }},
		{"Rejections vector", long, func(f *fixture) { vector.Rejections(nil, f.m, three, nil) }},
		{"Rejections mask", maskLength, func(f *fixture) { vector.Rejections(nil, f.m, nil, f.mask) }},

		{"NormalizedSum vector", long, func(f *fixture) { vector.NormalizedSum(make([]float64, 3), f.m, three) }},
		{"NormalizedSum dst", short, func(f *fixture) { vector.NormalizedSum(f.floats, f.m, nil) }},
		{"DominantResource vector", long, func(f *fixture) { vector.DominantResource(make([]float64, 3), f.m, three) }},
		{"DominantResource dst", short, func(f *fixture) { vector.DominantResource(f.floats, f.m, nil) }},
		{"NormalizedSumRows width", width, func(f *fixture) { vector.NormalizedSumRows(f.floats, f.m, f.narrow) }},
		{"NormalizedSumRows rows", rows, func(f *fixture) { vector.NormalizedSumRows(f.floats, f.m, f.longer) }},
		{"NormalizedSumRows schema", schemas, func(f *fixture) { vector.NormalizedSumRows(f.floats, f.ab, f.ba) }},
		{"NormalizedSumRows dst", short, func(f *fixture) { vector.NormalizedSumRows(f.floats, f.m, f.other) }},
		{"DominantResourceRows width", width, func(f *fixture) { vector.DominantResourceRows(f.floats, f.m, f.narrow) }},
		{"DominantResourceRows rows", rows, func(f *fixture) { vector.DominantResourceRows(f.floats, f.m, f.longer) }},
		{"DominantResourceRows schema", schemas, func(f *fixture) { vector.DominantResourceRows(f.floats, f.ab, f.ba) }},
		{"DominantResourceRows dst", short, func(f *fixture) { vector.DominantResourceRows(f.floats, f.m, f.other) }},
		{"Copies vector", long, func(f *fixture) { vector.Copies(make([]int64, 3), f.m, three) }},
		{"Copies dst", short, func(f *fixture) { vector.Copies(f.ints, f.m, nil) }},
		{"SumCopies vector", long, func(f *fixture) { vector.SumCopies(f.m, three, nil) }},
		{"SumCopies mask", maskLength, func(f *fixture) { vector.SumCopies(f.m, nil, f.mask) }},

		{"SumColumns", maskLength, func(f *fixture) { vector.SumColumns(f.floats, f.m, f.mask) }},
		{"MaxColumns", maskLength, func(f *fixture) { vector.MaxColumns(f.floats, f.m, f.mask) }},
		{"MinColumns", maskLength, func(f *fixture) { vector.MinColumns(f.floats, f.m, f.mask) }},
		{"WeightedSum vector", long, func(f *fixture) { vector.WeightedSum(make([]float64, 3), f.m, three) }},
		{"WeightedSum dst", short, func(f *fixture) { vector.WeightedSum(f.floats, f.m, nil) }},
		{"SegmentSum negative", offsets, func(f *fixture) { vector.SegmentSum(f.other, f.m, []int32{-1, 1}) }},
		{"SegmentSum descending", offsets, func(f *fixture) { vector.SegmentSum(f.other, f.m, []int32{0, 2, 1}) }},
		{"SegmentSum beyond the rows", offsets, func(f *fixture) { vector.SegmentSum(f.other, f.m, []int32{0, 4}) }},
		{"SegmentSum of no group", offsets, func(f *fixture) { vector.SegmentSum(f.other, f.m, []int32{4}) }},
		{"Shortfall onto what its input views", input, func(f *fixture) { vector.Shortfall(f.m, f.view, nil) }},
		{"SegmentSum onto what its input views", input, func(f *fixture) { vector.SegmentSum(f.m, f.view, nil) }},
		{"CopyFrom its own view", input, func(f *fixture) { f.m.CopyFrom(f.view) }},
		{"SegmentSum onto its input", input, func(f *fixture) { vector.SegmentSum(f.m, f.m, nil) }},

		{"ArgMax tie", noTie, func(f *fixture) { vector.ArgMax(f.floats, nil, vector.Tie{}) }},
		{"ArgMin tie", noTie, func(f *fixture) { vector.ArgMin(f.ints, nil, vector.Tie{}) }},
		{"TopK tie", noTie, func(f *fixture) { vector.TopK(f.rows, f.floats, nil, 1, vector.Tie{}) }},
		{"ArgMax tie, no scores", noTie, func(*fixture) { vector.ArgMax([]float64{}, nil, vector.Tie{}) }},
		{"TopK tie, k 0", noTie, func(f *fixture) { vector.TopK(f.rows, f.ints, nil, 0, vector.Tie{}) }},
		{"ArgMax mask", maskLength, func(f *fixture) { vector.ArgMax(f.floats, f.mask, lowest) }},
		{"ArgMin mask", maskLength, func(f *fixture) { vector.ArgMin(f.ints, f.mask, vector.TieRoundRobin(&f.cursor)) }},
		{"TopK mask", maskLength, func(f *fixture) { vector.TopK(f.rows, f.floats, f.mask, 1, lowest) }},
		{"ArgMax rank", ranks, func(f *fixture) { vector.ArgMax(f.floats, nil, vector.TieRank(f.rows)) }},
		{"TopK rank", ranks, func(f *fixture) { vector.TopK(f.rows, f.ints, nil, 1, vector.TieRank(nil)) }},
		{"Order tie", noTie, func(f *fixture) { vector.Tie{}.Order(f.rows, 0) }},
		{"Order rank", ranks, func(f *fixture) { vector.TieRank(f.rows).Order(f.rows, 2) }},
		{"Order cursor", noCursor, func(f *fixture) { vector.TieRoundRobin(nil).Order(f.rows, 2) }},
		{"Order negative", negative, func(f *fixture) { lowest.Order(f.rows, -1) }},
		{"Order large", large, func(f *fixture) { lowest.Order(f.rows, math.MaxInt32) }},
		{"ArgMax cursor", noCursor, func(f *fixture) { vector.ArgMax(f.floats, nil, vector.TieRoundRobin(nil)) }},

		{"Overlay.SetRow row", row, func(f *fixture) { f.overlay.SetRow(3, nil) }},
		{"Overlay.SetRow vector", long, func(f *fixture) { f.overlay.SetRow(0, three) }},
		{"Overlay.AddToRow row", row, func(f *fixture) { _ = f.overlay.AddToRow(3, nil) }},
		{"Overlay.AddToRow vector", long, func(f *fixture) { _ = f.overlay.AddToRow(0, three) }},
		{"Overlay.SubFromRow row", row, func(f *fixture) { _ = f.overlay.SubFromRow(-1, nil) }},
		{"Overlay.SubFromRow vector", long, func(f *fixture) { _ = f.overlay.SubFromRow(0, three) }},
		{"Overlay.Rollback", mark, func(f *fixture) {
			o := vector.NewOverlay(f.m)
			o.SetRow(0, nil)
			o.SetRow(1, nil)
			f.overlay.Rollback(o.Mark())
		}},
	} {
		t.Run(c.name, func(t *testing.T) {
			f := newFixture()
			before := f.state()
			wantPanic(t, c.want, func() { c.call(f) })
			if after := f.state(); after != before {
				t.Errorf("the call wrote something:\n%s\nbefore:\n%s", after, before)
			}
			_, _, _ = f.nodes.Set("node0", 3, vector.NodeAmounts{}) // the nodes are not locked
		})
	}
}

// A matrix without a schema meets any other.
func TestSchemaNone(t *testing.T) {
	f := newFixture()
	vector.LessEqualRows(f.mask, f.m, f.ab)
	vector.FitRows(f.mask, f.ba, f.m)
	vector.FitSum(f.mask, f.ab, f.ab, vec{1})
	if f.mask.Len() != 3 {
		t.Errorf("%d rows", f.mask.Len())
	}
}
