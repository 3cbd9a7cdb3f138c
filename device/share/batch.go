package share

import (
	"fmt"
	"slices"

	"github.com/resvec/resvec/internal/kernel"
	"github.com/resvec/resvec/vector"
)

// Batch is the devices of one kind on many nodes, a row each, with a column for
// each of [Scorer.Columns]. The devices of node k are the rows Offsets[k] to
// Offsets[k+1]-1; a node may have none. Amounts are plain integers: percent, or
// bytes. [Scorer.NewBatch] makes one of the states that a scheduler keeps.
//
// A Batch may be used concurrently while nobody writes to it or its matrices.
type Batch struct {
	Total, Free *vector.Matrix // of one shape and one schema
	Offsets     vector.Offsets

	account *batchAccount // of NewBatch
}

// ScoreNodes sets dst[k] to the score of node k for what a pod needs of the
// devices of b, as [Scorer.ScoreNode] does with one need, for every selected
// node; nil selects all. Other elements of dst are not touched, and the devices
// of other nodes not read. dst has an element per node. Score every kind with a
// batch of its own, and add the scores. A score says nothing about whether the pod
// fits: full nodes have the best ones by [MostAllocated]. [Scorer.FitNodes] selects
// the nodes. It allocates nothing but errors.
//
// Amounts must be exact in a float64. One that is no integer, and an amount, a
// sum over a node or an amount used (with the request) of magnitude 2^53 or more,
// is an error that wraps [ErrNotRepresentable] and names the row or node, and the
// resource. [ErrInvalidUnit] is for a negative request, [vector.ErrShape] and
// [vector.ErrSchema] for operands that do not match; a nil b or matrix is one of
// the former, as is another number of columns than [Scorer.Columns] has; as many
// columns under other names by the schema, or in another order, are one of the
// latter. A batch of [Scorer.NewBatch] must be of the kind that is needed, else it is
// [ErrInvalidCombination]. All come before dst is written. A nil Scorer and the zero
// Scorer give 0, whatever the columns.
func (s *Scorer) ScoreNodes(dst []int64, b *Batch, need Requirement, nodes *vector.Mask) error {
	if err := checkNeeds([]Requirement{need}); err != nil {
		return err
	}
	c, err := s.newBatchCall(b, nodes)
	if err != nil {
		return err
	}
	if len(dst) != c.nodes {
		return batchShapeError("dst: %d elements: must be %d, one for each node", len(dst), c.nodes)
	}
	if err := b.account.isOf(need.Kind); err != nil {
		return err
	}
	c.perNode, c.per, c.count = true, need.PerInstance, need.Count
	if s != nil && s.options&PerInstance != 0 {
		c.count = 1
	}
	return c.run(dst)
}

// ScoreDevices sets dst[r] to the score of device r for one instance, as
// [Scorer.ScoreDevice] does, for every device of the selected nodes; nil selects
// all. dst has an element per row; those of rows that are of no selected node are
// not touched, nor the rows read. It allocates nothing but errors, which are
// those of [Scorer.ScoreNodes], without the sums.
func (s *Scorer) ScoreDevices(dst []int64, b *Batch, perInstance Request, nodes *vector.Mask) error {
	if err := checkRequest(perInstance); err != nil {
		return err
	}
	c, err := s.newBatchCall(b, nodes)
	if err != nil {
		return err
	}
	if rows := b.Total.Rows(); len(dst) != rows {
		return batchShapeError("dst: %d elements: must be %d, one for each row", len(dst), rows)
	}
	c.per, c.count = perInstance, 1
	return c.run(dst)
}

func batchShapeError(format string, args ...any) error {
	return fmt.Errorf("share: %s: %w", fmt.Sprintf(format, args...), vector.ErrShape)
}

// batchCall is a call of ScoreNodes or ScoreDevices.
type batchCall struct {
	s        *Scorer
	b        *Batch
	nodes    int
	selected []uint64 // words of the mask of nodes; nil: all
	largest  int      // devices of a node
	perNode  bool
	per      Request // one instance
	count    int64   // of instances
}

// newBatchCall checks the operands but for dst.
func (s *Scorer) newBatchCall(b *Batch, nodes *vector.Mask) (c batchCall, err error) {
	if b == nil || b.Total == nil || b.Free == nil {
		return c, batchShapeError("the batch, or a matrix of it, is nil: must come from NewBatch")
	}
	if s != nil && len(s.names) == 0 { // the zero Scorer
		s = nil
	}
	c.s, c.b, c.nodes = s, b, max(len(b.Offsets)-1, 0)
	total, free := b.Total, b.Free
	if total.Schema() != free.Schema() {
		return c, fmt.Errorf("share: Total and Free: must have one schema: %w", vector.ErrSchema)
	}
	if total.Rows() != free.Rows() || total.Cols() != free.Cols() {
		return c, batchShapeError("Total is %d by %d, Free %d by %d: must be the same", total.Rows(), total.Cols(), free.Rows(), free.Cols())
	}
	if s != nil && total.Cols() != len(s.names) {
		return c, batchShapeError("the matrices have %d columns: must be %d, one for each of Columns", total.Cols(), len(s.names))
	}
	if s != nil && !s.reads(total.Schema()) {
		return c, fmt.Errorf("share: the columns of the batch are %q: must be %q, as Columns says: %w", slices.Collect(total.Schema().Names()), s.names, vector.ErrSchema)
	}
	var ok bool
	if c.largest, ok = kernel.Groups(b.Offsets, total.Rows()); !ok {
		return c, batchShapeError("Offsets: must ascend within %d rows", total.Rows())
	}
	if nodes != nil {
		if nodes.Len() != c.nodes {
			return c, batchShapeError("the mask is over %d nodes: must be over %d", nodes.Len(), c.nodes)
		}
		if c.selected = nodes.Words(); c.selected == nil {
			c.selected = batchNone[:0]
		}
	}
	return c, nil
}

// reads reports whether the columns of a schema, which may be the zero one, are
// those of s.
func (s *Scorer) reads(schema vector.Schema) bool {
	if schema == s.schema || schema.IsZero() {
		return true
	}
	i := 0
	for name := range schema.Names() {
		if i == len(s.names) || name != string(s.names[i]) {
			return false
		}
		i++
	}
	return i == len(s.names)
}

// batchNone makes the words of a mask over nothing differ from no mask.
var batchNone [1]uint64

// run scores nodes or devices, if all amounts are exact.
func (c *batchCall) run(dst []int64) error {
	for j := range c.columns() {
		if !batchExact(c.request(j)) {
			name := c.s.names[j]
			return fmt.Errorf("share: %s: %d instances of %d: must come to less than 2^53: %w", name, c.count, c.per[name], ErrNotRepresentable)
		}
	}
	var list batchList
	switch fast := list.fill(c); {
	case fast && c.perNode:
		list.scoreNodes(dst, c)
	case fast:
		list.scoreDevices(dst, c)
	default:
		if err := c.checkAmounts(); err != nil {
			return err
		}
		c.scoreExactly(dst)
	}
	return nil
}

// columns returns the number of columns, 0 for a nil Scorer.
func (c *batchCall) columns() int {
	if c.s == nil {
		return 0
	}
	return len(c.s.names)
}

// most reports whether what is used makes the score.
func (c *batchCall) most() bool { return c.s != nil && c.s.most }

// request returns the amount of a resource that is requested, before it is
// completed, at most MaxInt64.
func (c *batchCall) request(j int) int64 {
	x, _ := mulDiv(c.count, c.per[c.s.names[j]], 1)
	return x
}

// other returns the column of the resource from whose request that of column j
// is completed, or -1.
func (c *batchCall) other(j int) int {
	s := c.s
	switch {
	case !s.pairs || j != s.ratio && j != s.memory || c.request(j) != 0:
		return -1
	case j == s.ratio:
		return s.memory
	}
	return s.ratio
}

// batchExact reports whether an amount is below the limit of a batch.
func batchExact(x int64) bool { return -batchLimit < x && x < batchLimit }

const batchLimit = 1 << 53
