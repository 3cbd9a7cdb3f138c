package fairshare

import (
	"cmp"
	"container/heap"
	"errors"
	"fmt"
	"iter"
	"math"
	"slices"

	"github.com/resvec/resvec/internal/decimal"
	"github.com/resvec/resvec/vector"
)

// ErrStructure says that a queue has no place in the tree, such as below itself. The
// message names the queue and what it was given.
var ErrStructure = errors.New("fairshare: no place in the tree")

// Rules say whose order and whose reclaim a [Tree] follows.
type Rules uint8

const (
	// Leximin serves the queue first that has the least part of its share, and takes only where the
	// parts that queues have, sorted, get better. So reclaim ends.
	Leximin Rules = iota
	KAI           // the proportion plugin of the KAI scheduler
	Volcano       // the capacity plugin of Volcano
	Kueue         // fair sharing of Kueue: order and claims go by nominal quotas, not by [Tree.Share]
)

// Options say how a [Tree] divides, serves and takes. The zero value divides what is above
// deserved by weight, keeps promises, and follows Leximin.
type Options struct {
	Rules Rules

	// ByWeight divides everything by weight, between guarantee and what is wanted, as
	// Volcano's proportion plugin does. Then deserved amounts and priorities don't matter.
	ByWeight bool

	// Scale cuts what queues deserve where that is more than there is. Otherwise a promise
	// stands, and [Tree.Oversold] reports it.
	Scale bool

	// History is how much past usage counts against a queue when what is above deserved is
	// divided: 0 not at all; at most 10^6.
	History float64

	// Multiplier is KAI's: how much less saturated than a victim's queue the taker's has to
	// stay. A multiple of 0.001 from 1 to 10^6; 0 stands for 1.
	Multiplier float64

	// Groups has a number per column for Kueue's borrowing. Columns of one number are flavors
	// of one resource, whose amounts are added up. Nil: each column is a group.
	Groups []int
}

// Queue is a queue as its owner describes it. Of amounts that are missing, deserved and
// guaranteed ones are 0, and limits are +Inf, which means unlimited.
type Queue struct {
	Parent string // "": a top queue

	Deserved  vector.ResourceVector // what it has a right to; +Inf: all there is
	Guarantee vector.ResourceVector // what others may never have: only by weight, and by Volcano's rules
	Limit     vector.ResourceVector // the most it may have
	Lending   vector.ResourceVector // the most that others may borrow of what it deserves: only by Kueue's rules

	// Weight is its part of what is divided by weight: one for every column, or one per column. Nil: 1.
	// Weights are multiples of 0.001 from 0 to 10^6. A sum of them may be none, since 0.001 isn't
	// exact: round what you compute.
	Weight []float64

	Priority int64  // higher is served first
	Rank     *int64 // lower is served first among equals, then the name; nil: the order in which queues came, from 0
}

// Tree is the tree of queues with what each has, wants and should have. Each queue has a
// row until it is deleted; row 0 is the top, whose name is "". A queue without children is a
// leaf.
//
// A leaf has what is set, assumed and forgotten there; a parent has the sums. Divide
// computes shares, and they stay what they are until it is called again. A Tree is for
// one goroutine. Nothing allocates once it has grown.
type Tree struct {
	schema  vector.Schema
	columns []string // names, for messages
	cols    int
	options Options
	factor  uint64 // options.Multiplier in thousandths
	groups  [][]int

	names map[string]int32
	rows  []queueRow
	free  []int32 // rows of deleted queues
	came  int64   // how many queues came, for default ranks

	amounts []int64   // what queues are given, have, want and should have: parts for each row
	history []float64 // their past usage
	total   []int64   // what there is

	promised []int64 // per row: what its children are guaranteed
	entitled []int64 // what all queues deserve, where that is limited

	shape   shape
	stale   []uint64 // per row: in which columns the division among its children is out of date, a bit each; columns 0, 64, ... share one
	isPast  bool     // whether past usage of parents is out of date
	line    line
	next    bracket
	journal journal
	work    division
	parsed  []int64    // scratch of Set and lend
	given   [3][]int64 // scratch: what a caller gave
	deltas  []delta    // scratch of moveAll
	short   []bool     // scratch of measure
}

type queueRow struct {
	name     string
	parent   int32 // -1 for the top and for free rows
	children int32 // how many
	priority int64
	rank     int64
	came     int64 // its rank where none is given
}

// unlimited stands for +Inf. It is greater than any sum of amounts, so that the lesser of
// both is right without a look at what is unlimited; only sums have to look.
const unlimited = math.MaxInt64

// tooLarge is the first whole number whose sums are not exact in a float64.
const tooLarge = 1 << 53

// The parts of a row of amounts. A part has all columns of a queue side by side: what runs
// along a path to the top, such as Assume, reads few lines of memory. What a division reads lies
// together. What the queue is given is 0 for a row of no queue, and the rest also for a new one. A
// leaf wants the greater of what SetUsage said and of what it has and what waits in the tree; a
// parent wants what its children want, each as far as its limit lets it.
const (
	lending = iota
	guarantee
	deserved
	limit
	weight    // in thousandths
	termParts // up to here: what the queue is given

	wanted    = iota - 1 // what it has and what waits
	share                // what it should have
	oversold             // what is promised to its children beyond that
	allocated            // what it has
	fixed                // what of it is not preemptible
	asked                // what SetUsage said is wanted: leaves only
	waiting              // what the jobs want that wait in the tree: leaves only
	charged              // what Kueue counts as usage: without what children keep to themselves
	parts
)

const (
	panicRow    = "fairshare: row of no queue"
	panicVector = "fairshare: vector longer than the tree has columns"
	panicColumn = "fairshare: column that the tree doesn't have"
)

// NewTree returns a tree of no queues with so many columns. A schema must have as many.
// The error names the option that cannot be.
func NewTree(schema vector.Schema, cols int, options Options) (*Tree, error) {
	t := &Tree{schema: schema, cols: cols, options: options, names: map[string]int32{"": 0}}
	for _, c := range schema.Columns() {
		t.columns = append(t.columns, c.Name)
	}
	if t.columns != nil && len(t.columns) != cols || cols < 0 {
		panic("fairshare: schema of another width")
	}
	for j := len(t.columns); j < cols; j++ {
		t.columns = append(t.columns, fmt.Sprint("column ", j))
	}
	if options.Rules > Kueue {
		return nil, fmt.Errorf("fairshare: rules %d are not known", options.Rules)
	}
	// Weights in effect are multiples of 10^-9 below the strength, and sums of them have to
	// fit 64 bits.
	if !(options.History >= 0 && options.History <= 1e6) {
		return nil, fmt.Errorf("fairshare: history %v: want 0 to 10^6", options.History)
	}
	m, ok := thousandths(cmp.Or(options.Multiplier, 1))
	if !ok || m < 1000 {
		return nil, fmt.Errorf("fairshare: multiplier %v: want a multiple of 0.001 from 1 to 10^6%s", options.Multiplier, rounded(options.Multiplier))
	}
	t.factor = uint64(m)
	if err := t.setGroups(options.Groups); err != nil {
		return nil, err
	}
	t.total, t.entitled = make([]int64, cols), make([]int64, cols)
	t.rows = append(t.rows, queueRow{parent: -1})
	t.grow()
	for j := range cols {
		t.used(0, limit)[j], t.used(0, lending)[j], t.used(0, weight)[j] = unlimited, unlimited, 1000
	}
	t.shape.isOld = true
	return t, nil
}

// setGroups lists the columns of each group, in the order of their first columns.
func (t *Tree) setGroups(numbers []int) error {
	if numbers != nil && len(numbers) != t.cols {
		return fmt.Errorf("fairshare: groups for %d columns: want one for each of %d", len(numbers), t.cols)
	}
	index := map[int]int{}
	for j := range t.cols {
		number := j
		if numbers != nil {
			number = numbers[j]
		}
		g, known := index[number]
		if !known {
			g = len(t.groups)
			index[number] = g
			t.groups = append(t.groups, nil)
		}
		t.groups[g] = append(t.groups[g], j)
	}
	return nil
}

// grow makes room for the last row.
func (t *Tree) grow() {
	n := len(t.rows)
	t.amounts = grown(t.amounts, n*parts*t.cols)
	t.history = grown(t.history, n*t.cols)
	t.promised = grown(t.promised, n*t.cols)
	t.stale = grown(t.stale, n)
	t.line.leaves = grown(t.line.leaves, n)
}

// grown returns s with n elements, zeros behind its own. Lists keep their capacity when they get
// shorter, so what lies there is of the past.
func grown[T any](s []T, n int) []T {
	if n <= len(s) {
		return s
	}
	s = slices.Grow(s, n-len(s))
	clear(s[len(s):n])
	return s[:n]
}

// resized returns s with n elements of any value, for scratch that is written before it is read.
func resized[T any](s []T, n int) []T {
	return slices.Grow(s[:0], n)[:n]
}

// used returns a part of a row, all columns of it. The third index keeps an append from running
// into the next part.
func (t *Tree) used(row int32, part int) []int64 {
	return t.amounts[(int(row)*parts+part)*t.cols:][:t.cols:t.cols]
}

// terms returns the first parts of a row, one behind the other.
func (t *Tree) terms(row int32) []int64 { return t.amounts[int(row)*parts*t.cols:][:termParts*t.cols] }

// Len returns the number of queues, the top aside.
func (t *Tree) Len() int { return len(t.names) - 1 }

// Row returns the row of a queue.
func (t *Tree) Row(name string) (row int, ok bool) {
	i, ok := t.names[name]
	return int(i), ok
}

// Name returns the name of a row.
func (t *Tree) Name(row int) string { return t.rows[t.checked(row)].name }

// Parent returns the row of the parent of a queue, 0 for a top queue, -1 for the top.
func (t *Tree) Parent(row int) int { return int(t.rows[t.checked(row)].parent) }

// All iterates over the names and rows of the queues: parents first, children by rank.
func (t *Tree) All() iter.Seq2[string, int] {
	return func(yield func(string, int) bool) {
		t.tidy()
		for _, row := range t.shape.order[1:] {
			if !yield(t.rows[row].name, int(row)) {
				return
			}
		}
	}
}

// checked panics on a row that no queue has.
func (t *Tree) checked(row int) int32 {
	if uint(row) >= uint(len(t.rows)) || row != 0 && t.rows[row].parent < 0 {
		panic(panicRow)
	}
	return int32(row)
}

// SetTotal sets what there is to divide. With an error nothing has changed.
func (t *Tree) SetTotal(total vector.ResourceVector) error {
	amounts, err := t.whole(0, "", "total", total)
	if err != nil {
		return err
	}
	t.journal.void()
	copy(t.total, amounts)
	t.shape.isOld = true
	return nil
}

// Set writes the terms of a queue, and adds a row for a new name. Its parent must be in the
// tree, and have nothing of its own that is allocated or wanted. changed is false where
// the queue is as it was. Marks taken before are void when it has changed.
//
// With an error nothing has changed: an [*vector.AmountError] for an amount or weight that
// cannot be, [ErrStructure] for a parent.
func (t *Tree) Set(name string, q Queue) (row int, changed bool, err error) {
	parent, err := t.parentOf(name, q.Parent)
	if err != nil {
		return 0, false, err
	}
	if err := t.parse(name, &q); err != nil {
		return 0, false, err
	}
	i, known := t.names[name]
	// A host writes all its queues in every cycle. One that is as it was must cost nothing: neither
	// the order nor any share is made anew for it.
	is := queueRow{name: name, parent: parent, priority: q.Priority, came: t.came}
	if known {
		is.children, is.came = t.rows[i].children, t.rows[i].came
	}
	if is.rank = is.came; q.Rank != nil {
		is.rank = *q.Rank
	}
	if known && t.rows[i] == is && slices.Equal(t.parsed, t.terms(i)) {
		return int(i), false, nil
	}
	if !known {
		i = t.add(name)
	}
	// What the queue has counts anew, below another parent or within another limit. Only with
	// the new terms it shows whether the sums stay below 2^53. So the queue is taken out of
	// all sums, gets its terms, and is counted again; and all that once more with the terms of
	// before, if the new ones make a sum too large.
	before, terms, edits := t.rows[i], t.terms(i), t.journal.edits
	exchange := func(is queueRow) error {
		t.count(i, -1)
		for j := range terms {
			terms[j], t.parsed[j] = t.parsed[j], terms[j]
		}
		t.rows[i] = is
		return t.count(i, 1)
	}
	if err := exchange(is); err != nil {
		exchange(before)
		t.journal.edits = edits // an open claim sees no change
		if !known {
			t.remove(i)
			t.came--
		}
		return 0, false, err
	}
	t.left(before.parent)
	if known && (before.priority != is.priority || before.rank != is.rank) {
		heap.Init(&t.line.leaves[i]) // jobs without a priority or an age have the leaf's
	}
	t.journal.void()
	t.shape.isOld = true
	return int(i), true, nil
}

// parentOf returns the row of a parent that name can have.
func (t *Tree) parentOf(name, parent string) (int32, error) {
	row, known := t.names[parent]
	switch {
	case name == "":
		return 0, fmt.Errorf("%w: a queue without a name", ErrStructure)
	case !known:
		return 0, fmt.Errorf("%w: queue %s: parent %s is not in the tree", ErrStructure, brief(name), brief(parent))
	}
	// A cycle comes first: it is the fault, also where a leaf of it has jobs.
	if i, known := t.names[name]; known {
		for p := row; p >= 0; p = t.rows[p].parent {
			if p == i {
				return 0, fmt.Errorf("%w: queue %s: parent %s is the queue itself, or below it", ErrStructure, brief(name), brief(parent))
			}
		}
	}
	if row != 0 && t.isOccupied(row) {
		return 0, fmt.Errorf("%w: queue %s: parent %s has something allocated or wanted of its own", ErrStructure, brief(name), brief(parent))
	}
	return row, nil
}

// isOccupied reports whether a leaf has or wants something. A job may request nothing, and would
// still be lost in a parent, which has no jobs.
func (t *Tree) isOccupied(row int32) bool {
	if t.rows[row].children > 0 {
		return false
	}
	for _, w := range t.used(row, wanted) {
		if w != 0 {
			return true
		}
	}
	return len(t.line.leaves[row].jobs) > 0
}

// add adds a row of zeros for a new name. Rows that are used again were cleared.
func (t *Tree) add(name string) int32 {
	var row int32
	if n := len(t.free); n > 0 {
		row, t.free = t.free[n-1], t.free[:n-1]
	} else {
		row = int32(len(t.rows))
		t.rows = append(t.rows, queueRow{})
		t.grow()
	}
	t.rows[row] = queueRow{name: name, parent: -1}
	t.came++
	t.names[name] = row
	return row
}

// Delete removes a queue, with what it has and wants; its row may become the row of another.
// It reports whether there was one. The error is [ErrStructure] for one with queues below it.
func (t *Tree) Delete(name string) (bool, error) {
	row, known := t.names[name]
	switch {
	case !known || row == 0:
		return false, nil
	case t.rows[row].children > 0:
		return false, fmt.Errorf("%w: queue %s has queues below it", ErrStructure, brief(name))
	}
	// First, so that the journal remembers nothing of a row that another queue may get.
	t.journal.void()
	t.drain(row)
	t.count(row, -1)
	t.left(t.rows[row].parent)
	t.remove(row)
	t.shape.isOld = true
	return true, nil
}

// remove frees a row that no sum counts.
func (t *Tree) remove(row int32) {
	delete(t.names, t.rows[row].name)
	t.rows[row] = queueRow{parent: -1}
	clear(t.amounts[int(row)*parts*t.cols:][:parts*t.cols])
	clear(t.history[int(row)*t.cols:][:t.cols])
	t.free = append(t.free, row)
}

// parse reads the terms of a queue into t.parsed.
func (t *Tree) parse(name string, q *Queue) error {
	t.parsed = resized(t.parsed, termParts*t.cols)
	list := [...]struct {
		name      string
		amounts   vector.ResourceVector
		otherwise int64 // where the vector has no element
		infinite  bool  // whether it may be unlimited
	}{
		lending:   {"lending limit", q.Lending, unlimited, true},
		guarantee: {"guarantee", q.Guarantee, 0, false},
		deserved:  {"deserved", q.Deserved, 0, true},
		limit:     {"limit", q.Limit, unlimited, true},
	}
	for p := range list {
		part := &list[p]
		t.checkVector(part.amounts)
		for j := range t.cols {
			x, reason := part.otherwise, ""
			switch {
			case j >= len(part.amounts):
			case part.infinite && math.IsInf(part.amounts[j], 1):
				x = unlimited
			default:
				x, reason = amountOf(part.amounts[j])
			}
			if reason != "" {
				return t.refuse(name, part.name, j, part.amounts[j], reason)
			}
			t.parsed[p*t.cols+j] = x
			// The limit is the last part: the two that it bounds are parsed by now.
			for k := guarantee; p == limit && k <= deserved; k++ {
				if y := t.parsed[k*t.cols+j]; y != unlimited && y > x {
					return t.refuse(name, list[k].name, j, float64(y), "is above the limit, which is "+decimal.Format(float64(x)))
				}
			}
		}
	}
	// A list of another length is no bad data but a mistake of the program, such as amounts in the
	// place of weights: for amounts, missing columns have a default; for weights, none would be right.
	if len(q.Weight) > 1 && len(q.Weight) != t.cols {
		panic("fairshare: neither one weight nor one per column")
	}
	for j := range t.cols {
		w := 1.0
		switch len(q.Weight) {
		case 0:
		case 1:
			w = q.Weight[0]
		default:
			w = q.Weight[j]
		}
		x, ok := thousandths(w)
		if !ok {
			return t.refuse(name, "weight", j, w, "is not a weight: want a multiple of 0.001 from 0 to 10^6"+rounded(w))
		}
		t.parsed[weight*t.cols+j] = x
	}
	return nil
}

// thousandths returns a weight as a whole number. A float64 is a multiple of 0.001 when
// it is the nearest to one.
func thousandths(x float64) (int64, bool) {
	if !(x >= 0 && x <= maxWeight) {
		return 0, false
	}
	// 0.1 is no multiple of 0.001 in binary, but it is the float64 nearest to one, as is whatever a
	// text with three digits is read as. Dividing back finds exactly these.
	n := math.RoundToEven(x * 1000)
	return int64(n), n/1000 == x
}

// rounded returns what to do with a number that is nearly a multiple of 0.001, as a sum of weights
// is: 3.001 + 1 is 4.0009999999999994 in binary.
func rounded(x float64) string {
	n := math.Round(x * 1000)
	if _, ok := thousandths(n / 1000); !ok || math.Abs(x*1000-n) > 1e-6 {
		return ""
	}
	return "; round what was computed: math.Round(x*1000)/1000 is " + decimal.Format(n/1000)
}

// left forgets what a parent had of its children when the last of them has gone.
func (t *Tree) left(parent int32) {
	if parent >= 0 && t.rows[parent].children == 0 {
		clear(t.history[int(parent)*t.cols:][:t.cols])
		clear(t.used(parent, oversold))
	}
}

// finite returns an amount that counts in sums: unlimited ones don't, as S is unlimited then.
func finite(x int64) int64 {
	if x == unlimited {
		return 0
	}
	return x
}

const (
	reasonWhole    = "is not a whole number of the column's unit"
	reasonNegative = "is negative: want 0 or more"
	reasonLarge    = "is too large: want less than 2^53 of the column's unit"
	reasonSum      = "makes a sum too large: want less than 2^53 of the column's unit"
)

// amountOf returns an amount as a whole number, or why it is none.
func amountOf(x float64) (n int64, reason string) {
	switch {
	case !(math.Abs(x) <= math.MaxFloat64):
		return 0, "is not a finite number"
	case x < 0:
		return 0, reasonNegative
	case x != math.Trunc(x):
		return 0, reasonWhole
	case x >= tooLarge:
		return 0, reasonLarge
	}
	return int64(x), ""
}

// refuse returns the error for an amount of a queue.
func (t *Tree) refuse(name, part string, j int, x float64, reason string) error {
	e := &vector.AmountError{Resource: brief(t.columns[j]), Row: -1, Amount: decimal.Format(x), Reason: reason, Cause: vector.ErrNotRepresentable}
	if reason == reasonNegative {
		e.Cause = vector.ErrNegative
	}
	if name == "" {
		return fmt.Errorf("%s: %w", part, e)
	}
	return fmt.Errorf("queue %s: %s: %w", brief(name), part, e)
}

// whole returns amounts as whole numbers, padded with zeros, in scratch memory i. The error
// names the queue, the part and the column.
func (t *Tree) whole(i int, name, part string, v vector.ResourceVector) ([]int64, error) {
	t.checkVector(v)
	t.given[i] = resized(t.given[i], t.cols)
	for j := range t.cols {
		x, reason := amountOf(v.Get(j))
		if reason != "" {
			return nil, t.refuse(name, part, j, v[j], reason)
		}
		t.given[i][j] = x
	}
	return t.given[i], nil
}

func (t *Tree) checkVector(v vector.ResourceVector) {
	if len(v) > t.cols {
		panic(panicVector)
	}
}

// shape is what follows from the terms of all queues: their order, and what they lend. It is
// made anew when one changes, which is rare; all of usage is kept up to date in
// place.
type shape struct {
	isOld    bool
	order    []int32 // rows, parents first
	parents  []int32 // those with children, and the top, in the same order
	children []int32 // rows of the children of each, by rank
	levels   []int32 // the same by priority, high to low, then rank
	first    []int32 // per row: where its children begin, and where the last one's end
	place    []int32 // per row: which child of its parent it is, in children
	level    []int32 // the same in levels
	rank     []int32 // per row: its rank among all
	depth    []int32
	lends    []int64 // lentParts for each row

	// What divisions read lies side by side, as in levels: the priority, and for each parent, column
	// by column, what its children want and may have, what they deserve or, by weight, are
	// guaranteed, and their weights. In the tree a queue's amounts lie side by side, which suits all
	// that runs along a path to the top.
	priorities            []int64
	cans, rights, weights []int64
}

// childrenOf returns the children of a row by rank, and levelsOf by priority and rank.
func (s *shape) childrenOf(row int32) []int32 { return s.children[s.first[row]:s.first[row+1]] }
func (s *shape) levelsOf(row int32) []int32   { return s.levels[s.first[row]:s.first[row+1]] }

// tidy brings the shape up to date, with all that hangs on it. Setting n queues costs one
// sort this way, at the first question after them.
func (t *Tree) tidy() {
	s := &t.shape
	if !s.isOld {
		return
	}
	s.isOld = false
	n := len(t.rows)
	s.first, s.place, s.level = resized(s.first, n+1), resized(s.place, n), resized(s.level, n)
	s.rank, s.depth, s.order = resized(s.rank, n), resized(s.depth, n), resized(s.order, n)

	// Both lists are all rows in one order, dealt out to their parents: one sort of all is
	// faster than one for each parent, and gives each row its rank among all.
	rows := s.order[:0]
	s.first[0] = 0
	for i := range t.rows {
		s.first[i+1] = s.first[i] + t.rows[i].children
		if i > 0 && t.rows[i].parent >= 0 {
			rows = append(rows, int32(i))
		}
	}
	s.children, s.levels = resized(s.children, len(rows)), resized(s.levels, len(rows))
	// As cards are dealt: each row goes behind the last child that its parent got.
	deal := func(list, place []int32) {
		dealt := s.depth // until it is made, below
		clear(dealt)
		for _, row := range rows {
			p := t.rows[row].parent
			place[row] = dealt[p]
			list[s.first[p]+dealt[p]] = row
			dealt[p]++
		}
	}
	slices.SortFunc(rows, func(a, b int32) int {
		return cmp.Or(cmp.Compare(t.rows[a].rank, t.rows[b].rank), cmp.Compare(t.rows[a].name, t.rows[b].name))
	})
	for i, row := range rows {
		s.rank[row] = int32(i)
	}
	deal(s.children, s.place)
	if !t.options.ByWeight { // else priorities don't matter
		slices.SortFunc(rows, func(a, b int32) int {
			return cmp.Or(cmp.Compare(t.rows[b].priority, t.rows[a].priority), cmp.Compare(s.rank[a], s.rank[b]))
		})
	}
	deal(s.levels, s.level)

	s.order, s.parents = append(s.order[:0], 0), s.parents[:0]
	s.depth[0], s.rank[0] = 0, -1
	for i := 0; i < len(s.order); i++ {
		row := s.order[i]
		if row == 0 || t.rows[row].children > 0 {
			s.parents = append(s.parents, row)
		}
		for _, child := range s.childrenOf(row) {
			s.depth[child] = s.depth[row] + 1
			s.order = append(s.order, child)
		}
	}
	t.lineUp()
	t.lend()
	t.outdateAll()
	t.next.isOld = true
	t.isPast = true
}

// lineUp copies what divisions read.
func (t *Tree) lineUp() {
	s, n, right := &t.shape, len(t.shape.levels)*t.cols, deserved
	if t.options.ByWeight {
		right = guarantee
	}
	s.cans, s.rights, s.weights = resized(s.cans, n), resized(s.rights, n), resized(s.weights, n)
	s.priorities = s.priorities[:0]
	for _, row := range s.levels {
		s.priorities = append(s.priorities, t.rows[row].priority)
		p := t.rows[row].parent
		at, n := int(s.first[p])*t.cols+int(s.level[row]), int(s.first[p+1]-s.first[p])
		for j := range t.cols {
			s.cans[at], s.rights[at], s.weights[at] = min(t.used(row, limit)[j], t.used(row, wanted)[j]), t.used(row, right)[j], t.used(row, weight)[j]
			at += n
		}
	}
}
