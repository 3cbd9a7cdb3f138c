package fairshare

import (
	"cmp"
	"maps"
	"math"
	"math/big"
	"slices"

	"github.com/resvec/resvec/vector"
)

// The golden model: structs, maps of names and math/big.Rat, everything computed anew for
// every question. An amount is nil where it is unlimited.

type num = *big.Rat

func rat(x float64) num {
	if math.IsInf(x, 1) {
		return nil
	}
	if n := int64(x); float64(n) == x {
		return new(big.Rat).SetInt64(n)
	}
	return new(big.Rat).SetFloat64(x)
}

func add(x, y num) num {
	if x == nil || y == nil {
		return nil
	}
	return new(big.Rat).Add(x, y)
}
func sub(x, y num) num    { return new(big.Rat).Sub(x, y) }
func mul(x, y num) num    { return new(big.Rat).Mul(x, y) }
func quo(x, y num) num    { return new(big.Rat).Quo(x, y) }
func gt(x, y num) bool    { return y != nil && (x == nil || x.Cmp(y) > 0) }
func positive(x num) bool { return x == nil || x.Sign() > 0 }

func least(x, y num) num {
	if gt(x, y) {
		return y
	}
	return x
}

func most(x, y num) num {
	if gt(x, y) {
		return x
	}
	return y
}

func floor(x num) num {
	return new(big.Rat).SetInt(new(big.Int).Div(x.Num(), x.Denom())) // Euclidean; x is not negative
}

var zero = new(big.Rat)

type modelQueue struct {
	name, parent     string
	d, g, l, lend, w []num
	priority, rank   int64
	a, n, ask        []num // of a leaf
	u                []float64
	jobs             []modelJob
	f, over          []num // of the last division
}

type modelJob struct {
	id            int
	request       []num
	priority, age *int64
	fixed         bool
}

type model struct {
	options Options
	cols    int
	total   []num
	queues  map[string]*modelQueue   // "" is the top
	lists   map[string][]*modelQueue // children, while no queue is set
}

func newModel(cols int, o Options) *model {
	m := &model{options: o, cols: cols, queues: map[string]*modelQueue{}, lists: map[string][]*modelQueue{}}
	m.queues[""] = &modelQueue{f: zeros(cols), over: zeros(cols)}
	return m
}

func zeros(n int) []num {
	v := make([]num, n)
	for i := range v {
		v[i] = zero
	}
	return v
}

// filled returns v as numbers, with otherwise behind it.
func filled(v vector.ResourceVector, n int, otherwise float64) []num {
	out := make([]num, n)
	for i := range out {
		x := otherwise
		if i < len(v) {
			x = v[i]
		}
		out[i] = rat(x)
	}
	return out
}

func (m *model) set(name string, q Queue) {
	m.lists = map[string][]*modelQueue{}
	is := m.queues[name]
	if is == nil {
		is = &modelQueue{name: name, f: zeros(m.cols), over: zeros(m.cols), a: zeros(m.cols), n: zeros(m.cols), ask: zeros(m.cols), u: make([]float64, m.cols)}
		m.queues[name] = is
	}
	if q.Parent != "" {
		m.queues[q.Parent].u = make([]float64, m.cols) // as a leaf it has none
	}
	is.parent, is.priority, is.rank = q.Parent, q.Priority, *q.Rank
	is.d, is.g = filled(q.Deserved, m.cols, 0), filled(q.Guarantee, m.cols, 0)
	is.l, is.lend = filled(q.Limit, m.cols, math.Inf(1)), filled(q.Lending, m.cols, math.Inf(1))
	is.w = make([]num, m.cols)
	for j := range is.w {
		w := 1.0
		if len(q.Weight) == 1 {
			w = q.Weight[0]
		} else if len(q.Weight) > 1 {
			w = q.Weight[j]
		}
		is.w[j] = big.NewRat(int64(math.Round(w*1000)), 1000)
	}
}

// children returns the children of a queue, by rank.
func (m *model) children(name string) []*modelQueue {
	list, known := m.lists[name]
	if known {
		return list
	}
	for _, q := range m.queues {
		if q.name != "" && q.parent == name {
			list = append(list, q)
		}
	}
	slices.SortFunc(list, func(a, b *modelQueue) int {
		return cmp.Or(cmp.Compare(a.rank, b.rank), cmp.Compare(a.name, b.name))
	})
	m.lists[name] = list
	return list
}

// sum adds up what f says of the leaves at and below a queue.
func (m *model) sum(q *modelQueue, f func(leaf *modelQueue) num) num {
	list := m.children(q.name)
	if len(list) == 0 {
		return f(q)
	}
	s := zero
	for _, c := range list {
		s = add(s, m.sum(c, f))
	}
	return s
}

func (m *model) A(q *modelQueue, j int) num {
	return m.sum(q, func(leaf *modelQueue) num {
		if leaf.a == nil {
			return zero
		}
		return leaf.a[j]
	})
}

func (m *model) N(q *modelQueue, j int) num {
	return m.sum(q, func(leaf *modelQueue) num { return leaf.n[j] })
}

func (m *model) W(q *modelQueue, j int) num {
	list := m.children(q.name)
	if len(list) == 0 {
		if q.a == nil {
			return zero
		}
		w := q.a[j]
		for _, job := range q.jobs {
			w = add(w, job.request[j])
		}
		return most(w, q.ask[j])
	}
	s := zero
	for _, c := range list {
		s = add(s, least(m.W(c, j), most(m.A(c, j), c.l[j])))
	}
	return s
}

func (m *model) U(q *modelQueue, j int) float64 {
	list := m.children(q.name)
	if len(list) == 0 {
		return q.u[j]
	}
	s := 0.0
	for _, c := range list {
		s += m.U(c, j)
	}
	return s
}

// share is what takes part in pouring.
type pourItem struct {
	q         *modelQueue
	w, lo, hi num
	got       num
}

// pour pours amount: the level by interpolation between two of those at which an item
// begins or stops to rise, then whole units.
func pour(items []*pourItem, amount num) {
	at := func(level num) num {
		s := zero
		for _, x := range items {
			s = add(s, least(most(mul(level, x.w), x.lo), x.hi))
		}
		return s
	}
	levels := []num{zero}
	for _, x := range items {
		levels = append(levels, quo(x.lo, x.w), quo(x.hi, x.w))
	}
	slices.SortFunc(levels, func(a, b num) int { return a.Cmp(b) })
	if !gt(at(levels[len(levels)-1]), amount) {
		for _, x := range items {
			x.got = x.hi
		}
		return
	}
	k := 0
	for !gt(at(levels[k+1]), amount) {
		k++
	}
	lowSum, highSum := at(levels[k]), at(levels[k+1])
	level := add(levels[k], mul(quo(sub(amount, lowSum), sub(highSum, lowSum)), sub(levels[k+1], levels[k])))
	left := amount
	var odd []*pourItem
	for _, x := range items {
		exact := least(most(mul(level, x.w), x.lo), x.hi)
		x.got = floor(exact)
		left = sub(left, x.got)
		if !exact.IsInt() {
			odd = append(odd, x)
		}
	}
	rest := func(x *pourItem) num { return sub(mul(level, x.w), floor(mul(level, x.w))) }
	slices.SortStableFunc(odd, func(a, b *pourItem) int {
		return cmp.Or(rest(b).Cmp(rest(a)), cmp.Compare(a.q.rank, b.q.rank), cmp.Compare(a.q.name, b.q.name))
	})
	for _, x := range odd {
		if left.Sign() > 0 {
			x.got = add(x.got, big.NewRat(1, 1))
			left = sub(left, big.NewRat(1, 1))
		}
	}
}

func (m *model) divide() {
	m.queues[""].f = m.total
	m.divideBelow(m.queues[""])
}

func (m *model) divideBelow(p *modelQueue) {
	list := m.children(p.name)
	p.over = zeros(m.cols)
	if len(list) == 0 {
		return
	}
	for _, c := range list {
		c.f = slices.Clone(c.f)
	}
	for j := range m.cols {
		if m.options.ByWeight {
			p.over[j] = m.byWeight(list, j, p.f[j])
		} else {
			p.over[j] = m.above(list, j, p.f[j])
		}
	}
	for _, c := range list {
		m.divideBelow(c)
	}
}

func (m *model) above(list []*modelQueue, j int, T num) (over num) {
	b, r := map[*modelQueue]num{}, map[*modelQueue]num{}
	sumB := zero
	levels := map[int64][]*modelQueue{}
	for _, q := range list {
		c := least(q.l[j], m.W(q, j))
		b[q] = least(q.d[j], c)
		if q.d[j] == nil {
			b[q] = least(T, c)
		}
		r[q] = sub(c, b[q])
		sumB = add(sumB, b[q])
		levels[q.priority] = append(levels[q.priority], q)
		q.f[j] = b[q]
	}
	order := slices.Sorted(maps.Keys(levels))
	slices.Reverse(order)
	if gt(sumB, T) {
		left := T
		for _, p := range order {
			var items []*pourItem
			for _, q := range levels[p] {
				if q.f[j] = zero; m.options.Scale && positive(b[q]) {
					items = append(items, &pourItem{q: q, w: b[q], lo: zero, hi: b[q]})
				}
				if !m.options.Scale {
					q.f[j] = b[q]
				}
			}
			pour(items, left)
			for _, x := range items {
				x.q.f[j] = x.got
				left = sub(left, x.got)
			}
		}
		return sub(sumB, T)
	}
	R := sub(T, sumB)
	for _, p := range order {
		var items []*pourItem
		for _, q := range levels[p] {
			if positive(q.w[j]) && positive(r[q]) {
				items = append(items, &pourItem{q: q, w: q.w[j], lo: zero, hi: r[q]})
			}
		}
		for len(items) > 0 && positive(R) {
			now, later := items, []*pourItem(nil)
			if m.options.History > 0 {
				now, later = m.inEffect(items, j)
			}
			pour(now, R)
			for _, x := range now {
				x.q.f[j] = add(x.q.f[j], x.got)
				R = sub(R, x.got)
			}
			items = later
		}
	}
	return zero
}

// inEffect gives items their weights in effect, and returns those that got one. If none
// has, weights count.
func (m *model) inEffect(items []*pourItem, j int) (now, later []*pourItem) {
	all := zero
	for _, x := range items {
		all = add(all, x.q.w[j])
	}
	total, _ := m.total[j].Float64()
	for _, x := range items {
		u := 0.0
		if total != 0 {
			u = m.U(x.q, j) / total
		}
		n, _ := quo(x.q.w[j], all).Float64() // rounded once
		diff := n - u
		product := m.options.History * diff
		effect := n + product
		if effect <= 0 {
			later = append(later, x)
			continue
		}
		exact := mul(rat(effect), big.NewRat(1e9, 1))
		w := floor(exact)
		switch sub(exact, w).Cmp(big.NewRat(1, 2)) {
		case 1:
			w = add(w, big.NewRat(1, 1))
		case 0:
			if w.Num().Bit(0) == 1 {
				w = add(w, big.NewRat(1, 1))
			}
		}
		x.w = most(w, big.NewRat(1, 1))
		now = append(now, x)
	}
	if now == nil {
		for _, x := range items {
			x.w = x.q.w[j]
		}
		return items, nil
	}
	return now, later
}

func (m *model) byWeight(list []*modelQueue, j int, T num) (over num) {
	sumG := zero
	for _, q := range list {
		sumG = add(sumG, q.g[j])
		q.f[j] = q.g[j]
	}
	if !gt(T, sumG) {
		return sub(sumG, T)
	}
	left := T
	var items []*pourItem
	for _, q := range list {
		if !positive(q.w[j]) {
			left = sub(left, q.g[j])
			continue
		}
		c := least(q.l[j], m.W(q, j))
		items = append(items, &pourItem{q: q, w: q.w[j], lo: q.g[j], hi: most(q.g[j], least(c, add(sub(T, sumG), q.g[j])))})
	}
	if len(items) > 0 {
		pour(items, left)
	}
	for _, x := range items {
		x.q.f[j] = x.got
	}
	return zero
}

// isSo reports whether what an explanation says of a share is true.
func (m *model) isSo(e *Explanation, q *modelQueue, j int) bool {
	parent := m.queues[q.parent]
	f, wants, there := q.f[j], m.W(q, j), parent.f[j]
	can := least(q.l[j], wants)
	base, others, given := least(q.d[j], can), zero, zero // what it gets before anything is poured
	if q.d[j] == nil {
		base = least(there, can)
	}
	if m.options.ByWeight {
		base = zero
	}
	leaves := false // whether a queue of higher priority gets more than that
	for _, x := range m.children(q.parent) {
		given = add(given, x.f[j])
		if x != q {
			others = add(others, x.g[j])
		}
		leaves = leaves || x.priority > q.priority && gt(x.f[j], least(x.d[j], least(x.l[j], m.W(x, j))))
	}
	switch e.Cause {
	case ByWanted:
		return f.Cmp(wants) == 0
	case ByLimit:
		return f.Cmp(q.l[j]) == 0 && gt(wants, f)
	case ByZero:
		return gt(can, f) && !positive(q.w[j])
	case ByOversold:
		return gt(can, f) && positive(parent.over[j]) && parent.over[j].Cmp(rat(e.Oversold)) == 0
	case ByGuarantee:
		return m.options.ByWeight && f.Cmp(q.g[j]) == 0 && rat(e.Deserved).Cmp(f) == 0
	case ByOthers:
		return m.options.ByWeight && gt(can, f) && f.Cmp(sub(there, others)) == 0 && others.Cmp(rat(e.Others)) == 0
	case ByPriority:
		return gt(can, f) && f.Cmp(base) == 0 && leaves
	case ByDeserved:
		return gt(can, f) && f.Cmp(base) == 0 && given.Cmp(there) == 0
	case ByLevel:
		level, _ := new(big.Rat).SetString(e.Level.fraction())
		off := sub(sub(f, base), mul(level, rat(e.Weight)))
		// The weight is a float64.
		return gt(can, f) && off.Abs(off).Cmp(add(big.NewRat(1, 1), mul(f, big.NewRat(1, 1<<50)))) < 0
	}
	return false
}

// value is a measure: nil for infinite, with a second one that decides between infinite
// ones of weight 0, which are above all others.
type value struct {
	r    num
	zero bool
	bare num
}

func (v value) cmp(w value) int {
	compare := func(x, y num) int {
		switch {
		case gt(x, y):
			return 1
		case gt(y, x):
			return -1
		}
		return 0
	}
	if v.zero != w.zero {
		if v.zero {
			return 1
		}
		return -1
	}
	if v.zero {
		return compare(v.bare, w.bare)
	}
	return compare(v.r, w.r)
}

func div(x, y num) num {
	switch {
	case y == nil:
		return zero
	case y.Sign() > 0:
		return quo(x, y)
	case x.Sign() > 0:
		return nil
	}
	return zero
}

// state is what a question assumes: more in one leaf.
type assumed struct {
	leaf string
	more []num
}

// has returns what a queue has, with what is assumed.
func (m *model) has(q *modelQueue, j int, with assumed) num {
	a := m.A(q, j)
	if with.more != nil && m.isAbove(q, with.leaf) {
		a = add(a, with.more[j])
	}
	return a
}

// isAbove reports whether q is the leaf or above it.
func (m *model) isAbove(q *modelQueue, leaf string) bool {
	for name := leaf; name != ""; name = m.queues[name].parent {
		if name == q.name {
			return true
		}
	}
	return q.name == ""
}

// isShort reports whether siblings want more of a column than there is for them.
func (m *model) isShort(q *modelQueue, j int) bool {
	if q.name == "" {
		return false
	}
	p := m.queues[q.parent]
	return gt(m.W(p, j), p.f[j])
}

// matters returns the columns in which there is something of v, the short ones if any is. A nil v
// has something in all.
func (m *model) matters(v []num, isShort func(j int) bool) (columns []int) {
	for j := range m.cols {
		if v == nil || positive(v[j]) {
			columns = append(columns, j)
		}
	}
	if slices.ContainsFunc(columns, isShort) {
		columns = slices.DeleteFunc(columns, func(j int) bool { return !isShort(j) })
	}
	return columns
}

func (m *model) saturation(q *modelQueue, columns []int) value {
	v := value{r: zero}
	for _, j := range columns {
		v.r = most(v.r, div(m.A(q, j), q.f[j]))
	}
	return v
}

func (m *model) E(q *modelQueue, j int) num {
	if q.d[j] == nil {
		return q.l[j]
	}
	return least(q.l[j], most(q.d[j], q.f[j]))
}

func (m *model) kai(q *modelQueue, with assumed) value {
	v := value{r: zero}
	for j := range m.cols {
		a, e := m.has(q, j, with), m.E(q, j)
		if e == nil {
			e = m.total[j]
		}
		if e.Sign() == 0 {
			v.r = most(v.r, mul(a, big.NewRat(1000, 1)))
		} else {
			v.r = most(v.r, quo(a, e))
		}
	}
	return v
}

func (m *model) volcano(q *modelQueue) value {
	v := value{r: zero}
	deserves := false
	for j := range m.cols {
		if d := most(q.d[j], q.g[j]); positive(d) {
			deserves = true
			v.r = most(v.r, div(m.A(q, j), d))
		}
	}
	if !deserves {
		return value{r: big.NewRat(1, 1)}
	}
	return v
}

// Kueue's lending.
func (m *model) S(q *modelQueue, j int) num {
	s := q.d[j]
	for _, c := range m.children(q.name) {
		s = add(s, least(m.S(c, j), c.lend[j]))
	}
	return s
}

func (m *model) K(q *modelQueue, j int) num {
	s := m.S(q, j)
	switch {
	case q.lend[j] == nil:
		return zero
	case s == nil:
		return nil
	}
	return most(zero, sub(s, q.lend[j]))
}

func beyondOf(x, y num) num {
	if y == nil {
		return zero
	}
	return most(zero, sub(x, y))
}

func (m *model) uses(q *modelQueue, j int, with assumed) num {
	list := m.children(q.name)
	if len(list) == 0 {
		a := q.a[j]
		if with.leaf == q.name {
			a = add(a, with.more[j])
		}
		return a
	}
	s := zero
	for _, c := range list {
		s = add(s, beyondOf(m.uses(c, j, with), m.K(c, j)))
	}
	return s
}

func (m *model) lendable(q *modelQueue, j int) num {
	if q.parent == "" {
		return m.S(q, j)
	}
	lent := zero // S - D
	for _, c := range m.children(q.name) {
		lent = add(lent, least(m.S(c, j), c.lend[j]))
	}
	return least(add(m.K(q, j), m.lendable(m.queues[q.parent], j)), add(lent, q.l[j]))
}

func (m *model) borrows(q *modelQueue, j int, with assumed) bool {
	return q.parent != "" && gt(m.uses(q, j, with), m.S(q, j))
}

func (m *model) borrowing(q *modelQueue, with assumed) value {
	if q.parent == "" {
		return value{r: zero}
	}
	groups := map[int][2]num{}
	for j := range m.cols {
		k := j
		if m.options.Groups != nil {
			k = m.options.Groups[j]
		}
		g, ok := groups[k]
		if !ok {
			g = [2]num{zero, zero}
		}
		groups[k] = [2]num{add(g[0], beyondOf(m.uses(q, j, with), m.S(q, j))), add(g[1], m.lendable(m.queues[q.parent], j))}
	}
	r := zero
	for _, g := range groups {
		r = most(r, div(mul(g[0], big.NewRat(1000, 1)), g[1]))
	}
	switch w := q.w[0]; {
	case !positive(r):
		return value{r: zero}
	case w.Sign() == 0:
		return value{zero: true, bare: r}
	case r == nil:
		return value{r: nil}
	default:
		return value{r: quo(r, w)}
	}
}

func (m *model) measure(q *modelQueue, with assumed) value {
	switch m.options.Rules {
	case KAI:
		return m.kai(q, assumed{})
	case Volcano:
		return m.volcano(q)
	case Kueue:
		return m.borrowing(q, with)
	}
	return m.saturation(q, m.matters(nil, func(j int) bool { return m.isShort(q, j) }))
}

// next returns the best leaf below p that has a job, and its first job.
func (m *model) next(p *modelQueue) (leaf *modelQueue, job *modelJob) {
	list := m.children(p.name)
	if len(list) == 0 {
		if p.name == "" || len(p.jobs) == 0 {
			return nil, nil
		}
		first := 0
		for i := range p.jobs {
			if m.sooner(p, &p.jobs[i], &p.jobs[first]) {
				first = i
			}
		}
		return p, &p.jobs[first]
	}
	var best *modelQueue
	for _, c := range list { // by rank: the first of equals stays
		l, j := m.next(c)
		if l != nil && (leaf == nil || m.before(c, l, j, best, leaf, job)) {
			best, leaf, job = c, l, j
		}
	}
	return leaf, job
}

func (m *model) jobKey(q *modelQueue, j *modelJob) (priority, age int64) {
	priority, age = q.priority, q.rank
	if j.priority != nil {
		priority = *j.priority
	}
	if j.age != nil {
		age = *j.age
	}
	return priority, age
}

func (m *model) sooner(q *modelQueue, a, b *modelJob) bool {
	p1, a1 := m.jobKey(q, a)
	p2, a2 := m.jobKey(q, b)
	return p1 > p2 || p1 == p2 && a1 < a2
}

// before reports whether x, with a job of a leaf below it, is better than y with its.
func (m *model) before(x, xLeaf *modelQueue, xJob *modelJob, y, yLeaf *modelQueue, yJob *modelJob) bool {
	withX, withY := assumed{xLeaf.name, xJob.request}, assumed{yLeaf.name, yJob.request}
	yes := func(p func(q *modelQueue, with assumed, job *modelJob) bool) int {
		a, b := p(x, withX, xJob), p(y, withY, yJob)
		switch {
		case a == b:
			return 0
		case a:
			return -1 // x is better, as it says yes
		}
		return 1
	}
	every := func(p func(q *modelQueue, with assumed, j int) bool) func(*modelQueue, assumed, *modelJob) bool {
		return func(q *modelQueue, with assumed, _ *modelJob) bool {
			for j := range m.cols {
				if !p(q, with, j) {
					return false
				}
			}
			return true
		}
	}
	priority := -cmp.Compare(x.priority, y.priority)
	order := 0
	switch m.options.Rules {
	case KAI:
		order = cmp.Or(
			-yes(every(func(q *modelQueue, _ assumed, j int) bool { return gt(m.A(q, j), q.f[j]) })),
			yes(every(func(q *modelQueue, with assumed, j int) bool { return !gt(m.has(q, j, with), q.d[j]) })),
			priority,
			yes(every(func(q *modelQueue, with assumed, j int) bool {
				e := m.E(q, j)
				return !(positive(m.has(q, j, with)) && e != nil && e.Sign() == 0)
			})),
			m.kai(x, withX).cmp(m.kai(y, withY)),
			m.kai(x, assumed{}).cmp(m.kai(y, assumed{})))
	case Volcano:
		order = cmp.Or(priority, m.volcano(x).cmp(m.volcano(y)),
			-yes(every(func(q *modelQueue, _ assumed, j int) bool { return !positive(most(q.d[j], q.g[j])) })))
	case Kueue:
		p1, a1 := m.jobKey(xLeaf, xJob)
		p2, a2 := m.jobKey(yLeaf, yJob)
		order = cmp.Or(
			yes(every(func(q *modelQueue, with assumed, j int) bool {
				return !(positive(with.more[j]) && m.borrows(q, j, with))
			})),
			m.borrowing(x, withX).cmp(m.borrowing(y, withY)),
			-cmp.Compare(p1, p2), cmp.Compare(a1, a2))
	default:
		least := func(q *modelQueue, with assumed) (v value) { // nil is infinite
			for _, j := range m.matters(with.more, func(j int) bool { return m.isShort(q, j) }) {
				if positive(q.f[j]) {
					v.r = least(v.r, div(m.A(q, j), q.f[j]))
				}
			}
			return v
		}
		greatest := func(q *modelQueue, with assumed) value {
			v := value{r: zero}
			for _, j := range m.matters(with.more, func(j int) bool { return m.isShort(q, j) }) {
				v.r = most(v.r, div(m.has(q, j, with), q.f[j]))
			}
			return v
		}
		order = cmp.Or(
			yes(every(func(q *modelQueue, with assumed, j int) bool {
				return !positive(with.more[j]) || !gt(m.has(q, j, with), q.f[j])
			})),
			least(x, withX).cmp(least(y, withY)),
			greatest(x, withX).cmp(greatest(y, withY)),
			priority)
	}
	return order < 0
}

// claim is a job of p that takes victims, which have left p's tree already.
type modelClaim struct {
	m      *model
	p      *modelQueue
	q      []num
	fixed  bool
	before map[string][]num  // what each queue had
	short  map[string][]bool // of which columns there was too little for it and its siblings
	second bool
	gave   map[string]bool
	taken  []modelVictim
}

type modelVictim struct {
	leaf    *modelQueue
	amounts []num
	index   int
}

func (m *model) claim(p *modelQueue, q []num, fixed bool) *modelClaim {
	c := &modelClaim{m: m, p: p, q: q, fixed: fixed, before: map[string][]num{}, short: map[string][]bool{}, gave: map[string]bool{}}
	for name, x := range m.queues {
		for j := range m.cols {
			c.before[name] = append(c.before[name], m.A(x, j))
			c.short[name] = append(c.short[name], m.isShort(x, j))
		}
	}
	return c
}

// path returns p and all above it, the top aside.
func (m *model) path(p *modelQueue) (list []*modelQueue) {
	for ; p.name != ""; p = m.queues[p.parent] {
		list = append(list, p)
	}
	return list
}

func (c *modelClaim) all(p func(j int) bool) bool {
	for j := range c.m.cols {
		if !p(j) {
			return false
		}
	}
	return true
}

func (c *modelClaim) any(p func(j int) bool) bool { return !c.all(func(j int) bool { return !p(j) }) }

func (c *modelClaim) first() bool {
	m, p := c.m, c.p
	switch m.options.Rules {
	case KAI:
		if c.any(func(j int) bool { return gt(add(m.A(p, j), c.q[j]), p.f[j]) }) {
			return false
		}
		for _, x := range m.path(p) {
			if c.fixed && c.any(func(j int) bool { return gt(add(m.N(x, j), c.q[j]), x.d[j]) }) {
				return false
			}
		}
	case Volcano:
		return c.all(func(j int) bool { return !positive(c.q[j]) || !gt(add(m.A(p, j), c.q[j]), p.l[j]) }) &&
			c.any(func(j int) bool { return positive(c.q[j]) && !gt(add(m.A(p, j), c.q[j]), most(p.d[j], p.g[j])) })
	}
	return true
}

// sides returns the children of the nearest common ancestor above p and the leaf.
func (c *modelClaim) sides(leaf *modelQueue) (a, b *modelQueue) {
	for _, a := range c.m.path(c.p) {
		for _, b := range c.m.path(leaf) {
			if a != b && a.parent == b.parent {
				return a, b
			}
		}
	}
	panic("one queue")
}

func (c *modelClaim) may(v modelVictim) bool {
	m, p := c.m, c.p
	if v.leaf == p {
		return false
	}
	a, b := c.sides(v.leaf)
	with := assumed{p.name, c.q}
	var less []num
	for _, x := range v.amounts {
		less = append(less, sub(zero, x))
	}
	after := assumed{v.leaf.name, less}
	switch m.options.Rules {
	case KAI:
		return c.any(func(j int) bool { return gt(m.A(b, j), m.E(b, j)) }) ||
			c.all(func(j int) bool { return !gt(add(c.before[a.name][j], c.q[j]), a.d[j]) }) &&
				c.any(func(j int) bool { return gt(m.A(b, j), b.d[j]) })
	case Volcano:
		d := func(j int) num { return most(b.d[j], b.g[j]) }
		return c.any(func(j int) bool { return positive(v.amounts[j]) && positive(c.q[j]) }) &&
			c.all(func(j int) bool { return !gt(b.g[j], sub(m.A(b, j), v.amounts[j])) }) &&
			(c.all(func(j int) bool { return !positive(v.amounts[j]) || !positive(d(j)) }) ||
				c.any(func(j int) bool { return positive(v.amounts[j]) && positive(d(j)) && gt(m.A(b, j), d(j)) }))
	case Kueue:
		if !c.any(func(j int) bool {
			return positive(v.amounts[j]) && positive(c.q[j]) && m.borrows(v.leaf, j, assumed{})
		}) {
			return false
		}
		for _, x := range m.path(v.leaf) {
			if !c.any(func(j int) bool { return m.borrows(x, j, assumed{}) }) {
				return false
			}
			if x == b {
				break
			}
		}
		if c.second && c.gave[v.leaf.name] {
			return false
		}
		switch {
		case c.all(func(j int) bool { return !positive(c.q[j]) || !m.borrows(p, j, with) }):
			return true
		case c.second:
			return m.borrowing(a, with).cmp(m.borrowing(b, assumed{})) < 0
		}
		return m.borrowing(a, with).cmp(m.borrowing(b, after)) <= 0
	}
	isBetter, isWithin := c.leximinWith(v)
	return isBetter && isWithin
}

// leximinWith is leximin for all that are taken and one more.
func (c *modelClaim) leximinWith(v modelVictim) (isBetter, isWithin bool) {
	c.give(v, -1)
	defer c.give(v, 1)
	return c.leximin(append(slices.Clone(c.taken), v))
}

// leximin reports whether the parts that queues have get better when victims give, and whether
// those on p's path have a right to what p asks for.
func (c *modelClaim) leximin(victims []modelVictim) (isBetter, isWithin bool) {
	m := c.m
	gave := map[*modelQueue]bool{}
	for _, v := range victims {
		_, b := c.sides(v.leaf)
		gave[b] = true
	}
	if len(gave) == 0 {
		return true, true
	}
	var all []*modelQueue
	for name, q := range m.queues {
		if name != "" {
			all = append(all, q)
		}
	}
	columns := c.m.matters(nil, func(int) bool { return false })
	isBetter, isWithin = c.isBetter(all, columns), true
	path, highest := m.path(c.p), 0
	for step, x := range path {
		level := []*modelQueue{x}
		for _, y := range m.children(x.parent) {
			if gave[y] {
				level = append(level, y)
			}
		}
		if len(level) > 1 {
			highest = step
			isBetter = isBetter && c.isBetter(level, columns)
		}
	}
	for _, x := range path[:highest+1] {
		isWithin = isWithin && !c.any(func(j int) bool { return positive(c.q[j]) && gt(add(m.A(x, j), c.q[j]), x.f[j]) })
	}
	return isBetter, isWithin
}

// modelFill is the part of its share that a queue has of a column, at most 1.
type modelFill struct {
	short bool
	part  num
}

// isBetter reports whether queues have more of their shares of some columns than before: those who
// have least count, of short columns first.
func (c *modelClaim) isBetter(list []*modelQueue, columns []int) bool {
	one := big.NewRat(1, 1)
	of := func(amount func(q *modelQueue, j int) num) (fills []modelFill, sums []num) {
		sums = zeros(c.m.cols)
		for _, q := range list {
			for _, j := range columns {
				fill := modelFill{c.short[q.name][j], one}
				if positive(q.f[j]) {
					fill.part = least(one, quo(amount(q, j), q.f[j]))
				}
				fills = append(fills, fill)
				sums[j] = add(sums[j], least(amount(q, j), q.f[j]))
			}
		}
		slices.SortFunc(fills, func(a, b modelFill) int {
			if a.short != b.short {
				if a.short {
					return -1
				}
				return 1
			}
			return a.part.Cmp(b.part)
		})
		return fills, sums
	}
	had, before := of(func(q *modelQueue, j int) num { return c.before[q.name][j] })
	has, after := of(func(q *modelQueue, j int) num { return c.m.has(q, j, assumed{c.p.name, c.q}) })
	if order := slices.CompareFunc(has, had, func(a, b modelFill) int { return a.part.Cmp(b.part) }); order != 0 {
		return order > 0
	}
	return c.all(func(j int) bool { return !gt(before[j], after[j]) }) && c.any(func(j int) bool { return gt(after[j], before[j]) })
}

func (c *modelClaim) take(v modelVictim) bool {
	if !c.may(v) {
		return false
	}
	c.gave[v.leaf.name] = c.gave[v.leaf.name] || c.second
	c.taken = append(c.taken, v)
	c.give(v, -1)
	return true
}

func (c *modelClaim) give(v modelVictim, sign int64) {
	v.leaf.a = slices.Clone(v.leaf.a)
	for j, x := range v.amounts {
		v.leaf.a[j] = add(v.leaf.a[j], mul(x, big.NewRat(sign, 1)))
	}
}

func (c *modelClaim) end() bool {
	m := c.m
	switch m.options.Rules {
	case Leximin:
		isBetter, isWithin := c.leximin(c.taken)
		return isBetter && isWithin
	case Volcano, Kueue:
		return true
	}
	for _, x := range m.path(c.p) {
		for _, y := range m.children(x.parent) {
			gave, any := zeros(m.cols), false
			for _, v := range c.taken {
				if y != x && m.isAbove(y, v.leaf.name) {
					any = true
					for j := range gave {
						gave[j] = add(gave[j], v.amounts[j])
					}
				}
			}
			if !any {
				continue
			}
			for j := range m.cols {
				if !positive(c.q[j]) && !positive(gave[j]) {
					continue
				}
				left, right := div(add(m.A(x, j), c.q[j]), x.f[j]), div(m.A(y, j), y.f[j])
				scaled := left
				if scaled != nil {
					scaled = mul(left, big.NewRat(int64(math.Round(cmp.Or(m.options.Multiplier, 1)*1000)), 1000))
				}
				if gt(left, big.NewRat(1, 1)) && positive(y.f[j]) && !gt(right, scaled) {
					return false
				}
			}
		}
	}
	return true
}

// order asks for candidates, the worst leaf's first, until enough says so, and then keeps
// what is needed.
func (c *modelClaim) order(candidates []modelVictim, enough func(taken []modelVictim) bool) (taken, kept []int, ok bool) {
	left := slices.Clone(candidates)
	for round := 0; round < 2 && !ok; round++ {
		var refused []modelVictim
		for len(left) > 0 && !ok {
			leaf := c.worst(c.m.queues[""], left)
			i := slices.IndexFunc(left, func(v modelVictim) bool { return v.leaf == leaf })
			v := left[i]
			left = slices.Delete(left, i, i+1)
			if !c.take(v) {
				isBetter := false // and so refused by its share alone
				if c.m.options.Rules == Leximin && v.leaf != c.p {
					isBetter, _ = c.leximinWith(v)
				}
				if c.m.options.Rules == Kueue || isBetter {
					refused = append(refused, v)
				}
				continue
			}
			taken = append(taken, v.index)
			if c.second {
				left = slices.DeleteFunc(left, func(w modelVictim) bool { return w.leaf == leaf })
			}
			ok = enough(c.taken)
		}
		c.second = c.m.options.Rules == Kueue
		left = nil // each leaf's in the order in which they were refused
		left = append(left, refused...)
	}
	if !ok {
		return taken, nil, false
	}
	for i := len(c.taken) - 1; i >= 0; i-- { // the last one too: the caller may have taken more than it needs
		if enough(slices.Concat(c.taken[:i], c.taken[i+1:])) {
			c.give(c.taken[i], 1)
			c.taken = slices.Delete(slices.Clone(c.taken), i, i+1)
		}
	}
	for _, v := range c.taken {
		kept = append(kept, v.index)
	}
	return taken, kept, c.end()
}

// worst returns the leaf to ask: from the top, the child with the greatest measure.
func (c *modelClaim) worst(p *modelQueue, left []modelVictim) *modelQueue {
	list := c.m.children(p.name)
	if len(list) == 0 {
		return p
	}
	var worst *modelQueue
	var measure value
	for _, x := range list {
		if !slices.ContainsFunc(left, func(v modelVictim) bool { return c.m.isAbove(x, v.leaf.name) }) {
			continue
		}
		with := assumed{}
		if c.m.isAbove(x, c.p.name) {
			with = assumed{c.p.name, c.q}
		}
		v := value{}
		if c.m.options.Rules == Leximin {
			v = c.m.saturation(x, c.m.matters(c.q, func(j int) bool { return c.short[x.name][j] }))
		} else {
			v = c.m.measure(x, with)
		}
		if worst == nil || v.cmp(measure) >= 0 {
			worst, measure = x, v
		}
	}
	return c.worst(worst, left)
}

func (m *model) drop(c *modelClaim) {
	for i := len(c.taken) - 1; i >= 0; i-- {
		c.give(c.taken[i], 1)
	}
}
