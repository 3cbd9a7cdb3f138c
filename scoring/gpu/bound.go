package gpu

import (
	"cmp"
	"fmt"
	"iter"
	"math"
	"slices"
	"strings"

	"github.com/resvec/resvec/internal/kernel"
	"github.com/resvec/resvec/scoring"
	"github.com/resvec/resvec/scoring/internal/scorecache"
	"github.com/resvec/resvec/vector"
	"github.com/resvec/resvec/vectormap"
)

// Bound is a scorer bound to nodes and their GPUs by [Bind]. It always answers for their
// present amounts.
//
//	scores := gpu.Bind(fgd, nodes, gpus)
//	row, ok := scores.Best(&pod, nil, vector.TieSeeded(42))
//	devices = scores.ChooseDevices(devices, &pod, row)
//	err := gpus.Place(row, &pod, devices)
//	err = nodes.Assume(row, vector.PodAmounts{Requested: pod.Amounts})
//
// Rows select nodes, nil all of them. A row can host a pod when the Amounts of the
// request fit in what the node has free, and it has enough CPU, an allowed model, and
// enough devices with enough left.
//
// A Bound is for one goroutine. It only reads nodes and GPUs, so that several may be
// bound to the same ones and asked at the same time, as long as nobody writes. Warm, it
// allocates nothing but in Explain, in Rejections, for errors, and for nodes of more than
// 64 devices.
//
// Where it saves time, scores are kept by request (see [Bound.LimitCache]), and only rows
// that have changed since are scored again. Answers are the same.
//
// Nodes, state and masks of different numbers of rows are a mistake of the program, as
// are Amounts with more elements than the nodes have columns: Score and Explain return
// [vector.ErrShape], the other methods panic.
type Bound struct {
	scorer *Scorer
	nodes  *vector.Nodes
	query  query // at hand, of req
	req    Request
	rows   *vector.Mask       // at hand
	tie    vector.Tie         // of the last question
	cache  *scorecache.Engine // nil: no scores are kept
	counts *scorecache.Counts
	fits   vector.Mask
	rest   vector.Mask
	scores []float64
}

const (
	panicScorer = "gpu: scorer that no function of this package compiled"
	panicTie    = "gpu: zero tie"
	panicRows   = "gpu: nodes, state, mask and request of different sizes"
)

// Bind binds a scorer to nodes and to the state of their GPUs, which have the same rows
// whenever the Bound is asked. What is left of the CPU is the column [vectormap.CPU] of
// what nodes have free. It panics for a scorer that no function of this package compiled.
func Bind(scorer *Scorer, nodes *vector.Nodes, gpus *State) *Bound {
	if scorer.m == nil {
		panic(panicScorer)
	}
	b := &Bound{scorer: scorer, nodes: nodes, counts: new(scorecache.Counts)}
	b.cache = scorecache.New(0, 0, b.counts)
	b.query.req, b.query.gpus = &b.req, gpus
	return b
}

// LimitCache sets how many bytes of scores are kept by request, 64 MiB by default, and
// forgets those there are. 0 keeps none. A request takes about 10 bytes per row.
func (b *Bound) LimitCache(bytes int64) {
	b.cache = nil
	if bytes > 0 {
		b.cache = scorecache.New(bytes, 0, b.counts)
	}
}

// Counters yields what b has done since [Bind], by the names of [scoring.Bound.Counters];
// questions are of Best, TopK and Score. It may be called while b is in use, by any
// goroutine.
func (b *Bound) Counters() iter.Seq2[string, uint64] { return b.counts.All() }

// Best returns the best of the selected rows that can host a pod, and whether there is
// one; it picks as [vector.ArgMax] does. A request with a bad amount has none: Score
// says what is wrong with it. The ranks of a [vector.TieRank] that are rewritten in place
// panic, sooner or later: scores may be kept in their order.
func (b *Bound) Best(req *Request, rows *vector.Mask, tie vector.Tie) (row int, ok bool) {
	b.counts.Questions.Add(1)
	if !b.beginTie(req, rows, tie) {
		return -1, false
	}
	if b.keeps(tie) {
		row, _, _ = b.cache.Best((*cacheQuery)(b), tie) // never fails
	} else {
		b.rank()
		row = vector.ArgMax(b.scores, &b.fits, tie)
	}
	return row, row >= 0
}

// TopK sets dst to the k best of the selected rows that can host a pod, the best first,
// as [vector.TopK] does, and returns it.
func (b *Bound) TopK(dst []int32, req *Request, rows *vector.Mask, k int, tie vector.Tie) []int32 {
	b.counts.Questions.Add(1)
	if !b.beginTie(req, rows, tie) {
		return dst[:0]
	}
	if b.keeps(tie) {
		dst, _ = b.cache.TopK(dst, (*cacheQuery)(b), k, tie)
		return dst
	}
	b.rank()
	return vector.TopK(dst, b.scores, &b.fits, k, tie)
}

// Fit sets dst to the selected rows that can host a pod, none for a request with a bad
// amount. dst is resized, and may be rows.
func (b *Bound) Fit(dst *vector.Mask, req *Request, rows *vector.Mask) {
	if b.begin(req, rows) {
		b.fit(dst, rows)
	} else {
		dst.Reset(b.len())
	}
}

// Score sets dst[r] for every selected row r. A row that lacks CPU, models or devices
// scores 0; Amounts don't count, so pass the rows that [Bound.Fit] left. Other elements
// of dst are not touched; it must have an element per row at least. Before it writes, it
// returns a [*vector.AmountError] for a bad amount of the request.
func (b *Bound) Score(dst []float64, req *Request, rows *vector.Mask) error {
	b.counts.Questions.Add(1)
	if err := b.check(req, rows); err != nil {
		return err
	}
	if len(dst) < b.len() {
		return shapeError("dst has %d elements, the nodes %d rows", len(dst), b.len())
	}
	dst = dst[:b.len()]
	if !b.keeps(b.tie) {
		b.score(dst, wordsOf(rows))
		return nil
	}
	scores, fits, _ := b.cache.All((*cacheQuery)(b))
	kernel.EachRow(len(dst), fits.Words(), func(row int) { dst[row] = scores[row] })
	b.rest.Reset(len(dst))
	b.rest.SetAll()
	if rows != nil {
		b.rest.CopyFrom(rows)
	}
	b.rest.AndNot(&b.rest, fits)
	if b.rest.Any() {
		b.score(dst, b.rest.Words())
	}
	return nil
}

// ChooseDevices sets dst to the devices of a row that a pod should get, and returns it:
// as many as it asks for, or none when the node lacks CPU, models or devices for it or
// an amount of the request is bad.
func (b *Bound) ChooseDevices(dst []int32, req *Request, row int) []int32 {
	valid := b.begin(req, nil)
	b.query.gpus.row(row)
	if dst = dst[:0]; !valid {
		return dst
	}
	q := &b.query
	h := q.gpus.host(row, q.cpu[row])
	if f := b.scorer.fgd; f != nil && req.shares() && f.quick(req, q.gpus) {
		if h.canHost(req) {
			dst = append(dst, int32(f.quickDevice(q.gpus.row(row), h.cpu, q)))
		}
		return dst
	}
	return b.scorer.devices(dst, &h, req)
}

// Explain returns the numbers that make the score of a row, as [Scorer.Explain] has
// them. Where scores are spread (see [CompileBestFit]), it is over the selected rows. The
// error is as in Score, and [vector.ErrShape] for a row that is not selected.
func (b *Bound) Explain(req *Request, row int, rows *vector.Mask) (scoring.Explanation, error) {
	if err := b.check(req, rows); err != nil {
		return scoring.Explanation{}, err
	}
	switch {
	case row < 0 || row >= b.len():
		return scoring.Explanation{}, shapeError("row %d of %d", row, b.len())
	case rows != nil && !rows.Test(row):
		return scoring.Explanation{}, shapeError("row %d is not selected by the mask", row)
	}
	h := b.query.gpus.host(row, b.query.cpu[row])
	e := b.scorer.explain(&h, req)
	if b.scorer.spread {
		scores := make([]float64, b.len())
		b.score(scores, wordsOf(rows))
		t := &e.Terms[0]
		t.Raw, t.Score, e.Total = t.Score, scores[row], scores[row]
		t.Dims = append(t.Dims, scoring.DimExplanation{
			Index: -1, Name: "normalization", Type: string(scoring.NormalizeMinMax), Weight: 1, Contribution: t.Score - t.Raw,
		})
	}
	return e, nil
}

// begin checks the operands of a question that panics for wrong ones. It reports
// whether the amounts of the request make sense.
func (b *Bound) begin(req *Request, rows *vector.Mask) (valid bool) {
	if b.shape(req, rows) != nil {
		panic(panicRows)
	}
	return req.valid() && req.badAmount() < 0
}

// beginTie is begin for a question with a tie.
func (b *Bound) beginTie(req *Request, rows *vector.Mask, tie vector.Tie) (valid bool) {
	valid = b.begin(req, rows)
	if tie.Same(vector.Tie{}) {
		panic(panicTie)
	}
	return valid
}

// check checks the operands of a question that has an error for wrong ones.
func (b *Bound) check(req *Request, rows *vector.Mask) error {
	if err := b.shape(req, rows); err != nil {
		return err
	}
	if err := req.check(); err != nil {
		return err
	}
	if i := req.badAmount(); i >= 0 {
		return badAmount("request", b.scorer.m.Name(i), req.Amounts[i], reasonAmount)
	}
	return nil
}

// shape compares the sizes of the operands, and notes them.
func (b *Bound) shape(req *Request, rows *vector.Mask) error {
	free, n := b.nodes.Free(), b.query.gpus.Rows()
	switch {
	case free.Rows() != n:
		return shapeError("the nodes have %d rows, the state %d", free.Rows(), n)
	case rows != nil && rows.Len() != n:
		return shapeError("the mask has %d rows, the state %d", rows.Len(), n)
	case free.Cols() <= vectormap.CPU:
		return shapeError("the nodes have %d columns, none for cpu", free.Cols())
	case len(req.Amounts) > free.Cols():
		return shapeError("the request has %d amounts, the nodes %d columns", len(req.Amounts), free.Cols())
	}
	b.req = *req // what the caller passes need not be on the heap
	b.query.cpu, b.rows = free.Column(vectormap.CPU), rows
	return nil
}

func (b *Bound) len() int { return b.query.gpus.Rows() }

// rank fits and scores.
func (b *Bound) rank() {
	b.fit(&b.fits, b.rows)
	b.scores = slices.Grow(b.scores[:0], b.len())[:b.len()]
	b.score(b.scores, b.fits.Words())
}

// fit sets dst to the rows that can host the request.
func (b *Bound) fit(dst, rows *vector.Mask) {
	vector.FitAmong(dst, b.nodes.Free(), b.query.req.Amounts, rows)
	b.query.gpus.fit(dst, b.query.req, b.query.cpu)
}

// score scores rows, nil for all.
func (b *Bound) score(dst []float64, words []uint64) {
	b.scorer.scoreRows(dst, &b.query, words)
	if b.scorer.spread {
		b.query.spreadRows(dst, words)
	}
}

// keeps reports whether to answer from kept scores. Spread scores may change with any
// row. Kept scores are in the order of one tie: with another for each question they cost
// as much as a pass, but of FGD.
func (b *Bound) keeps(tie vector.Tie) bool {
	same := tie.Same(b.tie)
	if !same {
		b.tie = tie
	}
	return !b.scorer.spread && b.cache != nil && (same || b.scorer.kind == fragmentation) &&
		b.cache.Worth((*cacheQuery)(b), &worth[b.scorer.kind])
}

// worth says when kept scores cost less than to filter and score all rows; see
// BenchmarkBest. To score all rows and keep the scores takes up to twice the time of a
// pass of FGD, and up to six times a pass of the others.
var worth = [...]scorecache.Worth{
	fragmentation: {Rows: 64, Times: 2, Share: 0.7},
	dotProduct:    {Rows: 1024, Times: 4, Share: 0.4},
	bestFit:       {Rows: 1024, Times: 4, Share: 0.4},
	packing:       {Rows: 512, Times: 4, Share: 0.6},
	clustering:    {Rows: 1024, Times: 4, Share: 0.4},
}

// cacheQuery is the question at hand as the cache sees it.
type cacheQuery Bound

func (c *cacheQuery) Operands() (sources scorecache.Sources, n int, rows *vector.Mask, err error) {
	return scorecache.Sources{c.nodes.Free(), c.query.gpus}, c.query.gpus.Rows(), c.rows, nil
}

func (c *cacheQuery) AppendKey(key []uint64) []uint64 {
	q := c.query.req
	key = append(key, math.Float64bits(q.CPU), uint64(q.Count), math.Float64bits(q.Milli), uint64(len(q.Models)))
	for _, m := range q.Models {
		key = append(key, uint64(m))
	}
	return scorecache.AppendBits(key, q.Amounts)
}

func (c *cacheQuery) Fit(rows *vector.Mask) { (*Bound)(c).fit(rows, rows) }

func (c *cacheQuery) Score(dst []float64, _ int, rows *vector.Mask) error {
	(*Bound)(c).score(dst, rows.Words())
	return nil
}

// Combine is for scores of several terms, of which there are none.
func (c *cacheQuery) Combine([]float64, [][]float64, *vector.Mask) {}

// Rejections says how many rows can host a request, and what the others lack.
// A row that lacks several things counts for each.
type Rejections struct {
	Rows    int // looked at
	Hosts   int // that can host it
	CPU     int // with too little CPU
	Others  int // with too little of another amount, GPUs not counted; [vector.Rejections] says of which
	Model   int // with devices of another model
	Devices int // with too few devices that have enough left

	// Fragmented is how many of Devices have enough left on all devices
	// together.
	Fragmented int
}

// Rejections counts why selected rows can't host a pod. Pass the rows that may be chosen,
// not those that fit. With a bad amount in the request it counts no host and no reason.
func (b *Bound) Rejections(req *Request, rows *vector.Mask) Rejections {
	valid := b.begin(req, rows)
	free, q := b.nodes.Free(), &b.query
	others := slices.Clone(req.Amounts)
	cpu := others.Get(vectormap.CPU)
	for i := range others {
		if i == vectormap.CPU || b.scorer.m.IsGPU(i) {
			others[i] = 0
		}
	}
	if valid {
		vector.FitAmong(&b.fits, free, others, nil)
	}
	var j Rejections
	kernel.EachRow(b.len(), wordsOf(rows), func(row int) {
		j.Rows++
		if !valid {
			return
		}
		h := q.gpus.host(row, q.cpu[row])
		short := !h.hasDevices(req)
		j.add(h.cpu < max(req.CPU, cpu), !b.fits.Test(row), len(h.left) > 0 && req.choosy() && !allows(req.Models, h.model), short, short && h.total >= req.total())
	})
	return j
}

// add counts what a row lacks.
func (j *Rejections) add(cpu, others, model, devices, fragmented bool) {
	for _, x := range [...]struct {
		count *int
		is    bool
	}{
		{&j.CPU, cpu}, {&j.Others, others}, {&j.Model, model}, {&j.Devices, devices}, {&j.Fragmented, fragmented},
		{&j.Hosts, !cpu && !others && !model && !devices},
	} {
		if x.is {
			*x.count++
		}
	}
}

// String returns one line of text, in the form of
// [vectormap.ResourceVectorMap.ExplainRejections]: the reason of most rows comes
// first.
//
//	0/5000 nodes fit: 3100 without enough GPUs left (enough in pieces on 127), 2400 of another GPU model
func (j Rejections) String() string {
	devices := "without enough GPUs left"
	if j.Fragmented > 0 {
		devices += fmt.Sprintf(" (enough in pieces on %d)", j.Fragmented)
	}
	type reason struct {
		rows int
		text string
	}
	reasons := []reason{{j.CPU, "insufficient cpu"}, {j.Others, "insufficient other resources"}, {j.Model, "of another GPU model"}, {j.Devices, devices}}
	slices.SortStableFunc(reasons, func(a, b reason) int { return cmp.Compare(b.rows, a.rows) })
	var texts []string
	for _, r := range reasons {
		if r.rows > 0 {
			texts = append(texts, fmt.Sprintf("%d %s", r.rows, r.text))
		}
	}
	line := fmt.Sprintf("%d/%d nodes fit", j.Hosts, j.Rows)
	if len(texts) > 0 {
		line += ": " + strings.Join(texts, ", ")
	}
	return line
}
