package fairshare

import (
	"cmp"
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
	// Leximin serves the least saturated queue first, and takes only where the saturations,
	// sorted, get better. So reclaim ends.
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
	// Weights are multiples of 0.001 from 0 to 10^6.
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

	terms   []int64   // what queues are given: termParts for each row
	usage   []int64   // what they have, want and should have: usageParts for each row
	history []float64 // their past usage
	total   []int64   // what there is

	promised []int64 // per row: what its children are guaranteed
	entitled []int64 // what all queues deserve, where that is limited

	shape   shape
	stale   staleness
	line    line
	next    bracket
	journal journal
	work    division
	parsed  []int64 // scratch of Set
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

// The parts of a row of terms. A part has all columns of a queue side by side: what runs
// along a path to the top, such as Assume, reads few lines of memory.
const (
	deserved = iota
	guarantee
	limit
	lending
	weight // in thousandths
	termParts
)

// The parts of a row of usage. All are 0 for a new queue. A leaf wants the greater of what
// SetUsage said and of what it has and what waits in the tree; a parent wants what its
// children want, each as far as its limit lets it.
const (
	allocated = iota // what it has
	fixed            // what of it is not preemptible
	wanted           // what it has and what waits
	asked            // what SetUsage said is wanted: leaves only
	waiting          // what the jobs want that wait in the tree: leaves only
	charged          // what Kueue counts as usage: without what children keep to themselves
	share            // what it should have
	oversold         // what is promised to its children beyond that
	usageParts
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
		return nil, fmt.Errorf("fairshare: multiplier %v: want a multiple of 0.001 from 1 to 10^6", options.Multiplier)
	}
	t.factor = uint64(m)
	if err := t.setGroups(options.Groups); err != nil {
		return nil, err
	}
	t.total, t.entitled = make([]int64, cols), make([]int64, cols)
	t.rows = append(t.rows, queueRow{parent: -1})
	t.grow()
	for j := range cols {
		t.term(0, limit)[j], t.term(0, lending)[j], t.term(0, weight)[j] = unlimited, unlimited, 1000
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
	t.terms = grown(t.terms, n*termParts*t.cols)
	t.usage = grown(t.usage, n*usageParts*t.cols)
	t.history = grown(t.history, n*t.cols)
	t.promised = grown(t.promised, n*t.cols)
	t.line.grow(n)
	t.journal.grow(n)
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

// term and used return a part of a row, all columns of it. The third index keeps an append
// from running into the next part.
func (t *Tree) term(row int32, part int) []int64 {
	return t.terms[(int(row)*termParts+part)*t.cols:][:t.cols:t.cols]
}

func (t *Tree) used(row int32, part int) []int64 {
	return t.usage[(int(row)*usageParts+part)*t.cols:][:t.cols:t.cols]
}

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
	t.checkVector(total)
	for j, x := range total {
		if _, reason := amountOf(x); reason != "" {
			return t.refuse("", "total", j, x, reason)
		}
	}
	t.journal.void()
	for j := range t.cols {
		t.total[j] = int64(total.Get(j))
	}
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
	if known && t.rows[i] == is && slices.Equal(t.parsed, t.terms[int(i)*termParts*t.cols:][:len(t.parsed)]) {
		return int(i), false, nil
	}
	if err := t.checkSums(name, i, known, parent); err != nil {
		return 0, false, err
	}
	if !known {
		i = t.add(name)
	}
	// What the queue has counts anew, below another parent or within another limit. Only with
	// the new terms it shows whether the sums above stay below 2^53. So the queue is taken out of
	// all sums, gets its terms, and is counted again: with the terms of before, if the new ones
	// make a sum too large.
	t.count(i, -1)
	t.promise(i, -1)
	before, terms := t.rows[i], t.terms[int(i)*termParts*t.cols:][:len(t.parsed)]
	exchange := func(is queueRow) {
		for j := range terms {
			terms[j], t.parsed[j] = t.parsed[j], terms[j]
		}
		t.rows[i] = is
	}
	exchange(is)
	full, j, x := t.countFault(i)
	if j >= 0 {
		exchange(before)
	}
	t.count(i, 1)
	t.promise(i, 1)
	if j >= 0 {
		return 0, false, t.sumError(name, full, j, x)
	}
	t.left(before.parent)
	if known && (before.priority != is.priority || before.rank != is.rank) {
		t.reorder(i)
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
		return 0, fmt.Errorf("%w: queue %s: parent %s is not in the tree", ErrStructure, name, parent)
	}
	// A cycle is named first: that a leaf of it has something is beside the point.
	if i, known := t.names[name]; known {
		for p := row; p >= 0; p = t.rows[p].parent {
			if p == i {
				return 0, fmt.Errorf("%w: queue %s: parent %s is the queue itself, or below it", ErrStructure, name, parent)
			}
		}
	}
	if row != 0 && t.isOccupied(row) {
		return 0, fmt.Errorf("%w: queue %s: parent %s has something allocated or wanted of its own", ErrStructure, name, parent)
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

// add adds a row of zeros for a new name. Delete has cleared rows that are used again.
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
		return false, fmt.Errorf("%w: queue %s has queues below it", ErrStructure, name)
	}
	// First, so that the journal remembers nothing of a row that another queue may get.
	t.journal.void()
	t.drain(row)
	t.count(row, -1)
	t.promise(row, -1)
	t.left(t.rows[row].parent)
	t.rows[row] = queueRow{parent: -1}
	clear(t.terms[int(row)*termParts*t.cols:][:termParts*t.cols])
	clear(t.usage[int(row)*usageParts*t.cols:][:usageParts*t.cols])
	clear(t.history[int(row)*t.cols:][:t.cols])
	delete(t.names, name)
	t.free = append(t.free, row)
	t.shape.isOld = true
	return true, nil
}

// parse reads the terms of a queue into t.parsed.
func (t *Tree) parse(name string, q *Queue) error {
	t.parsed = resized(t.parsed, termParts*t.cols)
	parts := [...]struct {
		name      string
		amounts   vector.ResourceVector
		otherwise int64 // where the vector has no element
		infinite  bool  // whether it may be unlimited
	}{
		deserved:  {"deserved", q.Deserved, 0, true},
		guarantee: {"guarantee", q.Guarantee, 0, false},
		limit:     {"limit", q.Limit, unlimited, true},
		lending:   {"lending limit", q.Lending, unlimited, true},
	}
	for p := range parts {
		part := &parts[p]
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
			// The limit is the third part: the two that it bounds are parsed by now.
			for k := deserved; p == limit && k <= guarantee; k++ {
				if y := t.parsed[k*t.cols+j]; y != unlimited && y > x {
					return t.refuse(name, parts[k].name, j, float64(y), "is above the limit, which is "+decimal.Format(float64(x)))
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
			return t.refuse(name, "weight", j, w, "is not a weight: want a multiple of 0.001 from 0 to 10^6")
		}
		t.parsed[weight*t.cols+j] = x
	}
	return nil
}

// thousandths returns a weight as a whole number. A float64 is a multiple of 0.001 when
// it is the nearest to one.
func thousandths(x float64) (int64, bool) {
	if !(x >= 0 && x <= 1e6) {
		return 0, false
	}
	// 0.1 is no multiple of 0.001 in binary, but it is the float64 nearest to one, as is whatever a
	// text with three digits is read as. Dividing back finds exactly these.
	n := math.RoundToEven(x * 1000)
	return int64(n), n/1000 == x
}

// checkSums checks what siblings are guaranteed together, and by Kueue's rules what all
// queues deserve, since lending adds that up: with sums below 2^53 every step of a division
// stays in 64 bits, and products of two amounts in 128. The terms of row, if it is known, yield to
// the parsed ones.
func (t *Tree) checkSums(name string, row int32, known bool, parent int32) error {
	for j := range t.cols {
		g, d := t.parsed[guarantee*t.cols+j], t.parsed[deserved*t.cols+j]
		promised, all := t.promised[int(parent)*t.cols+j]+g, t.entitled[j]+finite(d)
		if known {
			all -= finite(t.term(row, deserved)[j])
			if t.rows[row].parent == parent {
				promised -= t.term(row, guarantee)[j]
			}
		}
		switch {
		case promised >= tooLarge:
			return t.refuse(name, "guarantee", j, float64(g), reasonSum)
		case all >= tooLarge && t.options.Rules == Kueue:
			return t.refuse(name, "deserved", j, float64(d), reasonSum)
		}
	}
	return nil
}

// promise adds the terms of a queue to the sums of checkSums, or subtracts them.
func (t *Tree) promise(row int32, sign int64) {
	parent := int(t.rows[row].parent)
	if parent < 0 {
		return // it has just come
	}
	for j := range t.cols {
		t.promised[parent*t.cols+j] += sign * t.term(row, guarantee)[j]
		t.entitled[j] += sign * finite(t.term(row, deserved)[j])
	}
	t.rows[parent].children += int32(sign)
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
	e := &vector.AmountError{Resource: t.columns[j], Row: -1, Amount: decimal.Format(x), Reason: reason, Cause: vector.ErrNotRepresentable}
	if reason == reasonNegative {
		e.Cause = vector.ErrNegative
	}
	if name == "" {
		return fmt.Errorf("%s: %w", part, e)
	}
	return fmt.Errorf("queue %s: %s: %w", name, part, e)
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
	children []int32 // rows of the children of each, by rank
	levels   []int32 // the same by priority, high to low, then rank
	first    []int32 // per row: where its children begin

	// What divisions read lies side by side, as in levels: the rank among all, the priority, and
	// for each parent, column by column, what its children want and may have, what they deserve
	// or, by weight, are guaranteed, and their weights. In the tree a queue's amounts lie side by
	// side, which suits all that runs along a path to the top.
	ranks                 []int32
	priorities            []int64
	cans, rights, weights []int64
	at, n                 []int // per row: where its column 0 lies in cans, and how many children it has

	place []int32 // per row: which child of its parent it is, by rank
	rank  []int32 // per row: its rank among all
	depth []int32
	lends lends
}

func (s *shape) childrenOf(row int32, n int32) []int32 { return s.children[s.first[row]:][:n] }
func (s *shape) levelsOf(row int32, n int32) []int32   { return s.levels[s.first[row]:][:n] }

// tidy brings the shape up to date, with all that hangs on it. Setting n queues costs one
// sort this way, at the first question after them.
func (t *Tree) tidy() {
	s := &t.shape
	if !s.isOld {
		return
	}
	s.isOld = false
	n := len(t.rows)
	s.first, s.place, s.rank, s.depth = resized(s.first, n), resized(s.place, n), resized(s.rank, n), resized(s.depth, n)
	s.children, s.levels, s.order = resized(s.children, n), resized(s.levels, n), resized(s.order, n)

	// Both lists are all rows in one order, dealt out to their parents: one sort of all is
	// faster than one for each parent, and gives each row its rank among all.
	rows := s.order[:0]
	for i := range t.rows {
		if i > 0 && t.rows[i].parent >= 0 {
			rows = append(rows, int32(i))
		}
	}
	start := int32(0)
	for i := range t.rows { // where the children of each will lie
		s.first[i] = start
		start += t.rows[i].children
	}
	// As cards are dealt: each row goes behind the last child that its parent got.
	deal := func(list []int32) {
		for _, row := range rows {
			p := t.rows[row].parent
			list[s.first[p]] = row
			s.first[p]++
		}
		for i := range t.rows {
			s.first[i] -= t.rows[i].children
		}
	}
	slices.SortFunc(rows, func(a, b int32) int {
		return cmp.Or(cmp.Compare(t.rows[a].rank, t.rows[b].rank), cmp.Compare(t.rows[a].name, t.rows[b].name))
	})
	for i, row := range rows {
		s.rank[row] = int32(i)
	}
	deal(s.children)
	slices.SortFunc(rows, func(a, b int32) int {
		return cmp.Or(cmp.Compare(t.rows[b].priority, t.rows[a].priority), cmp.Compare(s.rank[a], s.rank[b]))
	})
	deal(s.levels)
	t.lineUp(s.levels[:len(rows)])

	s.order = append(s.order[:0], 0)
	s.depth[0], s.place[0], s.rank[0] = 0, 0, -1
	for i := 0; i < len(s.order); i++ {
		row := s.order[i]
		for k, child := range s.childrenOf(row, t.rows[row].children) {
			s.depth[child], s.place[child] = s.depth[row]+1, int32(k)
			s.order = append(s.order, child)
		}
	}
	t.lend()
	t.stale.all(t)
	t.next.isOld = true
	t.stale.history = true
}

// lineUp copies what divisions read of the children of each parent.
func (t *Tree) lineUp(levels []int32) {
	s, n, right := &t.shape, len(levels)*t.cols, deserved
	if t.options.ByWeight {
		right = guarantee
	}
	s.ranks, s.priorities = resized(s.ranks, len(levels)), resized(s.priorities, len(levels))
	s.cans, s.rights, s.weights = resized(s.cans, n), resized(s.rights, n), resized(s.weights, n)
	s.at, s.n = resized(s.at, len(t.rows)), resized(s.n, len(t.rows))
	for i := range t.rows {
		s.n[i] = int(t.rows[i].children)
	}
	for i, row := range levels {
		s.ranks[i], s.priorities[i] = s.rank[row], t.rows[row].priority
		parent := t.rows[row].parent
		first := int(s.first[parent])
		s.at[row] = first*t.cols + i - first
		for j := range t.cols {
			at := s.at[row] + j*s.n[parent]
			s.cans[at] = min(t.term(row, limit)[j], t.used(row, wanted)[j])
			s.rights[at], s.weights[at] = t.term(row, right)[j], t.term(row, weight)[j]
		}
	}
}
