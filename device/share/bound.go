package share

import (
	"fmt"
	"math/bits"
	"slices"

	"github.com/resvec/resvec/vector"
)

// Bound asks a [Scorer] about an [Account]: which nodes can hold a pod, how good each is,
// and which devices to take. It always reads the present account, so nothing has to be
// brought up to date.
//
//	devices := scorer.Bind(&account)
//	node, ok, err := devices.Best(needs, fits, vector.TieLowest())
//	chosen, err := devices.Allocate(node, share.AllocRequest{Requirement: needs[0]})
//	err = account.Commit(node, chosen)
//
// A Bound is made by [Scorer.Bind] and is for one goroutine at a time. Several may
// share an account that nobody writes. Masks and destinations have an element per
// node of the account; another length is an error that wraps [vector.ErrShape].
type Bound struct {
	scorer  *Scorer
	most    *Scorer // the same by MostAllocated
	account *Account
	columns [kindCount][]Resource // of scorer, by kind

	// Room for answers on the way.
	devices       vector.Mask
	nodes         vector.Mask
	scores, more  []int64
	first, second consideration
}

// Bind returns the scorer bound to an account.
func (s *Scorer) Bind(a *Account) *Bound {
	b := &Bound{scorer: s, most: s.mostAllocated(), account: a}
	if s != nil {
		for _, r := range s.columns {
			b.columns[r.kind()] = append(b.columns[r.kind()], r)
		}
	}
	return b
}

// Fit sets dst to the nodes that can hold what a pod needs now: of each kind enough
// devices that are healthy and have all amounts of an instance free, completed by
// [Config.FillMemory]. It filters nodes before [Bound.Score], whose scores say nothing about
// whether a pod fits. Nodes without devices of a kind can't hold it; see
// [Account.Without] for those where other amounts decide.
//
// Vendors, products, scopes and PCIe roots don't count: [Bound.Allocate] may still
// refuse for the last two, and nodes that lack the resource that the pod asks for,
// such as nvidia.com/gpu, have to be left out by their allocatable amounts.
//
// dst is resized. Errors, which leave it alone, are about a wrong need: an
// unknown kind, [ErrInvalidUnit] for a negative amount or Count,
// [ErrInvalidCombination] for a kind that is needed twice or lacks a resource. It
// allocates nothing once it is warm.
func (b *Bound) Fit(dst *vector.Mask, needs []Requirement) error {
	a := b.account
	if err := checkNeeds(needs); err != nil {
		return err
	}
	b.fit(dst, a, needs)
	return nil
}

func (b *Bound) fit(dst *vector.Mask, a *Account, needs []Requirement) {
	dst.Reset(a.Len())
	dst.SetAll()
	if dst.Len() == 0 {
		return
	}
	for i := range needs {
		if needs[i].Count == 0 {
			continue
		}
		b.fitDevices(&needs[i])
		words := b.devices.Words()
		for node := range dst.All() {
			if countBits(words, int(a.offsets[node]), int(a.offsets[node+1])) < needs[i].Count {
				dst.Clear(node)
			}
		}
	}
}

// fitDevices sets b.devices to the devices of the kind that can take an instance.
func (b *Bound) fitDevices(need *Requirement) {
	a, req := b.account, &need.PerInstance
	k, _ := kindNamed(need.Kind)
	var buf [resources]float64
	vector.Fit(&b.devices, &a.free, vectorOf(&buf, *req))
	words := b.devices.Words()
	for i := range words {
		words[i] &= a.usable[k][i]
	}
	if b.scorer == nil || !b.scorer.fills || (req[GPUMemoryRatio] == 0) == (req[GPUMemory] == 0) {
		return
	}
	for row := range b.devices.All() {
		filled, total := *req, Amounts{}
		total[GPUMemoryRatio], total[GPUMemory] = int64(a.total.At(row, int(GPUMemoryRatio))), int64(a.total.At(row, int(GPUMemory)))
		fillMemory(&filled, &total)
		for _, r := range [...]Resource{GPUMemoryRatio, GPUMemory} {
			if filled[r] > 0 && filled[r] > int64(a.free.At(row, int(r))) {
				b.devices.Clear(row)
			}
		}
	}
}

// countBits counts the bits from lo to hi-1.
func countBits(words []uint64, lo, hi int) (n int64) {
	for lo < hi {
		part := words[lo>>6] >> (lo & 63)
		width := min(64-lo&63, hi-lo)
		n += int64(bits.OnesCount64(part << (64 - width)))
		lo += width
	}
	return n
}

// Best returns the node of rows that fits what a pod needs and has the best score,
// ties by tie; nil rows are all nodes. ok is false where none fits: [Bound.Rejections]
// says why. Errors are as of [Bound.Fit]. It allocates nothing once it is warm.
func (b *Bound) Best(needs []Requirement, rows *vector.Mask, tie vector.Tie) (node int, ok bool, err error) {
	a := b.account
	if tie.Same(vector.Tie{}) {
		panic("share: tie rule not given")
	}
	if err := checkNeeds(needs); err != nil {
		return -1, false, err
	}
	if err := a.checkMask(rows); err != nil {
		return -1, false, err
	}
	b.fit(&b.nodes, a, needs)
	if rows != nil {
		b.nodes.And(&b.nodes, rows)
	}
	b.scores = slices.Grow(b.scores[:0], a.Len())[:a.Len()]
	b.scoreNodes(b.scores, needs, &b.nodes)
	node = vector.ArgMax(b.scores, &b.nodes, tie)
	return node, node >= 0, nil
}

// request returns what counts as requested of a node; more than an int64 holds is
// more than any total, and scores as the largest amount does.
func (b *Bound) request(need *Requirement) Amounts {
	req := need.PerInstance
	if b.scorer == nil || b.scorer.each {
		return req
	}
	for r := range req {
		req[r], _ = mulDiv(need.Count, req[r], 1)
	}
	return req
}

// scoreRows returns the score of some devices together.
func (b *Bound) scoreRows(from, to int, columns []Resource, req Amounts) int64 {
	if len(columns) == 0 {
		return 0
	}
	sums := b.sums(from, to, columns)
	sums.request = req
	return b.scorer.mean(columns, &sums)
}

// sums adds up the amounts of some devices, which are exact.
func (b *Bound) sums(from, to int, columns []Resource) (sums amounts) {
	for _, r := range columns {
		var total, free float64
		for _, x := range b.account.total.Column(int(r))[from:to] {
			total += x
		}
		for _, x := range b.account.free.Column(int(r))[from:to] {
			free += x
		}
		sums.total[r], sums.free[r] = int64(total), int64(free)
	}
	return sums
}

// Score sets dst[k] to the score of node k for what a pod needs,
// for every node of rows; nil rows are all nodes. Other elements of dst are not
// touched. A score says nothing about whether the pod fits: by [MostAllocated] full nodes
// have the best ones. Pass the mask of [Bound.Fit] as rows.
//
// For each need, the totals and the free amounts of all devices of its kind on the node
// are added up, unhealthy ones too, and scored as one device by the rules of
// [Scorer.ScoreDevice]. The request is what the whole pod needs, Count times PerInstance,
// or one instance with [Config.PerInstance]. The scores of several kinds are added and may
// exceed 100; a kind without devices adds 0.
//
// Errors are as of Fit, and of lengths that differ, before dst is written. It
// allocates nothing once it is warm.
func (b *Bound) Score(dst []int64, needs []Requirement, rows *vector.Mask) error {
	a := b.account
	if err := checkNeeds(needs); err != nil {
		return err
	}
	if len(dst) != a.Len() {
		return fmt.Errorf("share: dst: %d elements: must be %d, one for each node: %w", len(dst), a.Len(), vector.ErrShape)
	}
	if err := a.checkMask(rows); err != nil {
		return err
	}
	b.scoreNodes(dst, needs, rows)
	return nil
}

// checkMask checks the length of a mask over nodes; nil is all of them.
func (a *Account) checkMask(rows *vector.Mask) error {
	if rows != nil && rows.Len() != a.Len() {
		return fmt.Errorf("share: the mask is over %d nodes: must be over %d: %w", rows.Len(), a.Len(), vector.ErrShape)
	}
	return nil
}

// scoreNodes adds up the scores of all kinds.
func (b *Bound) scoreNodes(dst []int64, needs []Requirement, rows *vector.Mask) {
	if len(needs) == 0 {
		b.scoreKind(dst, nil, Amounts{}, rows)
		return
	}
	for i := range needs {
		k, _ := kindNamed(needs[i].Kind)
		columns, req := b.columns[k], b.request(&needs[i])
		if i == 0 {
			b.scoreKind(dst, columns, req, rows)
			continue
		}
		b.more = slices.Grow(b.more[:0], len(dst))[:len(dst)]
		b.scoreKind(b.more, columns, req, rows)
		for node := range selectedNodes(len(dst), rows) {
			dst[node] += b.more[node]
		}
	}
}

// scoreKind sets dst to the scores of nodes by some columns.
func (b *Bound) scoreKind(dst []int64, columns []Resource, req Amounts, rows *vector.Mask) {
	var list entryList
	if list.fill(b, columns, req) {
		list.scoreNodes(dst, b.account, b.scorer.isMost(), rows)
		return
	}
	for node := range selectedNodes(len(dst), rows) {
		from, to := b.account.Rows(node)
		dst[node] = b.scoreRows(from, to, columns, req)
	}
}

// ScoreDevices sets dst[r] to the score of device r for one instance, as
// [Scorer.ScoreDevice] has it, for the devices of every node of rows; nil rows are
// all nodes. dst has an element for each of [Account.Devices]; [Account.Rows] says
// where a node's are. Other elements are not touched. Errors are
// [ErrInvalidUnit] for a negative amount, and an error for lengths that differ, before
// dst is written. It allocates nothing.
func (b *Bound) ScoreDevices(dst []int64, perInstance Amounts, rows *vector.Mask) error {
	a := b.account
	if err := perInstance.check(); err != nil {
		return err
	}
	if len(dst) != a.Devices() {
		return fmt.Errorf("share: dst: %d elements: must be %d, one for each device: %w", len(dst), a.Devices(), vector.ErrShape)
	}
	if err := a.checkMask(rows); err != nil {
		return err
	}
	var columns []Resource
	if b.scorer != nil {
		columns = b.scorer.columns
	}
	var list entryList
	if list.fill(b, columns, perInstance) {
		list.scoreDevices(dst, a, b.scorer.isMost(), rows)
		return nil
	}
	for node := range selectedNodes(a.Len(), rows) {
		for row := int(a.offsets[node]); row < int(a.offsets[node+1]); row++ {
			dst[row] = b.scoreRows(row, row+1, columns, perInstance)
		}
	}
	return nil
}

// selectedNodes walks over the nodes of a mask; nil is all of n.
func selectedNodes(n int, rows *vector.Mask) func(yield func(int) bool) {
	return func(yield func(int) bool) {
		for node := range n {
			if (rows == nil || rows.Test(node)) && !yield(node) {
				return
			}
		}
	}
}
