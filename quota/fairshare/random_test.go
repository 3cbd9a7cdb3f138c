package fairshare

import (
	"cmp"
	"fmt"
	"math"
	"math/rand/v2"
	"slices"
	"testing"

	"github.com/resvec/resvec/internal/testkit"
	"github.com/resvec/resvec/vector"
)

// pair is a tree and its golden model, with random numbers for a story.
type pair struct {
	t     *testing.T
	seed  uint64
	r     *rand.Rand
	tree  *Tree
	m     *model
	names []string
	cols  int
	scale int64 // amounts are below it
}

func newPair(t *testing.T, seed uint64) *pair {
	p := &pair{t: t, seed: seed, r: rand.New(rand.NewPCG(seed, 7))}
	p.cols = 1 + p.r.IntN(3)
	p.scale = []int64{2, 5, 12, 40, 1 << 45}[p.r.IntN(5)]
	o := Options{
		Rules: Rules(p.r.IntN(4)), ByWeight: p.r.IntN(4) == 0, Scale: p.r.IntN(3) == 0,
		History: []float64{0, 0, 0.25, 1, 3.7}[p.r.IntN(5)], Multiplier: []float64{0, 1, 1.5}[p.r.IntN(3)],
	}
	if p.r.IntN(3) == 0 {
		for range p.cols {
			o.Groups = append(o.Groups, p.r.IntN(2))
		}
	}
	p.m = newModel(p.cols, o)
	var err error
	if p.tree, err = NewTree(vector.Schema{}, p.cols, o); err != nil {
		p.fatal(err)
	}
	total := p.vector(0)
	p.m.total = filled(total, p.cols, 0)
	p.check(p.tree.SetTotal(total))
	for n := 1 + p.r.IntN(9); n > 0; n-- {
		p.set(fmt.Sprint("q", n))
	}
	return p
}

func (p *pair) fatal(args ...any) {
	p.t.Helper()
	p.t.Fatalf("seed %d: %s", p.seed, fmt.Sprint(args...))
}

func (p *pair) check(err error) {
	p.t.Helper()
	if err != nil {
		p.fatal(err)
	}
}

// vector returns random amounts; infinite of 10 are +Inf.
func (p *pair) vector(infinite int) vector.ResourceVector {
	v := make(vector.ResourceVector, p.cols)
	for j := range v {
		if p.r.IntN(10) < infinite {
			v[j] = math.Inf(1)
		} else if p.r.IntN(3) > 0 {
			v[j] = float64(p.r.Int64N(p.scale))
		}
	}
	return v
}

// set gives a queue random terms, if the tree takes them.
func (p *pair) set(name string) {
	rank := int64(p.r.IntN(5))
	q := Queue{
		Deserved: p.vector(1), Guarantee: p.vector(0), Limit: p.vector(6), Lending: p.vector(6),
		Priority: int64(p.r.IntN(3)), Rank: &rank,
	}
	if p.r.IntN(2) == 0 {
		q.Guarantee = nil
	}
	for j := range q.Limit {
		for _, v := range []vector.ResourceVector{q.Deserved, q.Guarantee} {
			if len(v) > 0 && !math.IsInf(v[j], 1) {
				q.Limit[j] = max(q.Limit[j], v[j])
			}
		}
	}
	pick := []float64{0, 0.125, 1, 2, 3, 3, 4}
	switch p.r.IntN(3) {
	case 0:
		q.Weight = []float64{pick[p.r.IntN(len(pick))]}
	case 1:
		for range p.cols {
			q.Weight = append(q.Weight, pick[p.r.IntN(len(pick))])
		}
	}
	if len(p.names) > 0 && p.r.IntN(3) > 0 {
		q.Parent = p.names[p.r.IntN(len(p.names))]
	}
	if _, _, err := p.tree.Set(name, q); err != nil {
		return // it was occupied, or a circle
	}
	p.m.set(name, q)
	if !slices.Contains(p.names, name) {
		p.names = append(p.names, name)
	}
}

// leaf returns a random leaf.
func (p *pair) leaf() (row int, q *modelQueue) {
	for {
		name := p.names[p.r.IntN(len(p.names))]
		if len(p.m.children(name)) == 0 {
			row, _ := p.tree.Row(name)
			return row, p.m.queues[name]
		}
	}
}

// change changes something at random.
func (p *pair) change() {
	row, q := p.leaf()
	switch p.r.IntN(6) {
	case 0, 1:
		a, w := p.vector(0), p.vector(0)
		n := make(vector.ResourceVector, p.cols)
		if p.r.IntN(3) == 0 {
			copy(n, a)
		}
		p.check(p.tree.SetUsage(row, Usage{a, n, w}))
		q.a, q.n, q.ask = filled(a, p.cols, 0), filled(n, p.cols, 0), filled(w, p.cols, 0)
	case 2, 3:
		p.wait(row, q)
	case 4:
		job := Job{Request: p.vector(0)}
		p.check(p.tree.Assume(row, job))
		for j, x := range job.Request {
			q.a = slices.Clone(q.a)
			q.a[j] = add(q.a[j], rat(x))
		}
	case 5:
		u := p.vector(0)
		p.check(p.tree.SetHistory(row, u))
		q.u = u
	}
}

func (p *pair) wait(row int, q *modelQueue) {
	job := Job{Request: p.vector(0), Unpreemptible: p.r.IntN(3) == 0}
	is := modelJob{request: filled(job.Request, p.cols, 0), fixed: job.Unpreemptible}
	if p.r.IntN(2) == 0 {
		x := int64(p.r.IntN(3))
		job.Priority, is.priority = &x, &x
	}
	if p.r.IntN(2) == 0 {
		x := int64(p.r.IntN(3))
		job.Age, is.age = &x, &x
	}
	id, err := p.tree.Wait(row, job)
	p.check(err)
	is.id = id
	q.jobs = append(slices.Clone(q.jobs), is)
}

// compare compares all that can be asked.
func (p *pair) compare() {
	p.t.Helper()
	p.tree.Divide()
	p.m.divide()
	for name, q := range p.m.queues {
		row, _ := p.tree.Row(name)
		for _, x := range []struct {
			what string
			got  vector.ResourceVector
			want func(j int) num
		}{
			{"share", p.tree.Share(nil, row), func(j int) num { return q.f[j] }},
			{"oversold", p.tree.Oversold(nil, row), func(j int) num { return q.over[j] }},
			{"allocated", p.tree.Allocated(nil, row), func(j int) num { return p.m.A(q, j) }},
			{"wanted", p.tree.Wanted(nil, row), func(j int) num { return p.m.W(q, j) }},
			{"history", p.tree.History(nil, row), func(j int) num { return rat(p.m.U(q, j)) }},
		} {
			for j := range p.cols {
				if want := x.want(j); rat(x.got[j]).Cmp(want) != 0 {
					p.fatal(x.what, " of ", name, " in column ", j, " is ", x.got[j], ", want ", want.RatString())
				}
			}
		}
	}
	for _, name := range p.names {
		for j := range p.cols {
			row, _ := p.tree.Row(name)
			if e := p.tree.Explain(row, j); !p.m.isSo(&e, p.m.queues[name], j) {
				p.fatal("what bounds column ", j, ": ", e)
			}
		}
	}
	values := make([]value, len(p.names))
	for i, name := range p.names {
		values[i] = p.m.measure(p.m.queues[name], assumed{})
	}
	for i, a := range p.names {
		for k, b := range p.names {
			x, _ := p.tree.Row(a)
			y, _ := p.tree.Row(b)
			got, want := p.tree.Measure(x).Compare(p.tree.Measure(y)), values[i].cmp(values[k])
			if got != want {
				p.fatal("measures of ", a, " and ", b, ": ", p.tree.Measure(x), " and ", p.tree.Measure(y), " compare as ", got, ", want ", want)
			}
		}
	}
}

// serve admits jobs in the order of the rules.
func (p *pair) serve(n int) {
	for range n {
		row, id, ok := p.tree.Next()
		leaf, job := p.m.next(p.m.queues[""])
		if !ok || leaf == nil {
			if ok || leaf != nil {
				p.fatal("next is ", ok, ", want ", leaf != nil)
			}
			return
		}
		if p.tree.Name(row) != leaf.name || id != job.id {
			p.fatal("next is job ", id, " of ", p.tree.Name(row), ", want ", job.id, " of ", leaf.name)
		}
		testkit.Check(p.tree.Admit(id))
		is := *job
		leaf.jobs = slices.DeleteFunc(slices.Clone(leaf.jobs), func(j modelJob) bool { return j.id == id })
		leaf.a, leaf.n = slices.Clone(leaf.a), slices.Clone(leaf.n)
		for j, x := range is.request {
			leaf.a[j] = add(leaf.a[j], x)
			if is.fixed {
				leaf.n[j] = add(leaf.n[j], x)
			}
		}
	}
}

// candidates returns what leaves could give up.
func (p *pair) candidates() (list []Victim, model []modelVictim) {
	left := map[string]vector.ResourceVector{}
	for range p.r.IntN(8) {
		row, q := p.leaf()
		if left[q.name] == nil {
			left[q.name] = p.tree.Allocated(nil, row)
		}
		v := make(vector.ResourceVector, p.cols)
		for j := range v {
			if most := left[q.name][j]; most > 0 {
				v[j] = min(most, float64(p.r.Int64N(p.scale)))
				left[q.name][j] -= v[j]
			}
		}
		model = append(model, modelVictim{p.m.queues[q.name], filled(v, p.cols, 0), len(list)})
		list = append(list, Victim{Queue: row, Node: len(list), Amounts: v})
	}
	return list, model
}

// reclaim lets a leaf take, in one of the ways.
func (p *pair) reclaim() {
	row, q := p.leaf()
	job := Job{Request: p.vector(0), Unpreemptible: p.r.IntN(3) == 0}
	asks := filled(job.Request, p.cols, 0)
	list, golden := p.candidates()
	claim, model := NewClaim(p.tree), p.m.claim(q, asks, job.Unpreemptible)
	before := stateOf(p.tree)
	why, ok, err := claim.Begin(row, job)
	p.check(err)
	if ok != model.first() {
		p.fatal("first is ", ok, " (", why, ")")
	}
	if !ok {
		return
	}
	if p.r.IntN(3) == 0 {
		if p.m.options.Rules == Kueue && p.r.IntN(2) == 0 {
			claim.Second()
			model.second = true
		}
		for i, v := range list {
			why, got := claim.Take(v)
			if want := model.take(golden[i]); got != want {
				p.fatal("taking ", v, " is ", got, " (", why, "), want ", want)
			}
			if got != (why.String() == "allowed") {
				p.fatal("reason: ", why)
			}
		}
		if got, want := claim.end().Reason == Allowed, model.end(); got != want {
			p.fatal("end is ", got, ", want ", want, ": ", claim.end())
		}
		claim.Drop()
		p.m.drop(model)
	} else {
		free := p.vector(0)
		wantTaken, wantKept, want := model.order(golden, func(taken []modelVictim) bool {
			room := slices.Clone(free)
			for _, v := range taken {
				room.Add(list[v.index].Amounts)
			}
			return job.Request.FitsIn(room)
		})
		victims := claim.Victims(list)
		if p.r.IntN(2) == 0 { // the same, kept by leaf
			victims = claim.VictimsOf(func(leaf int) (of []Victim) {
				for _, v := range list {
					if v.Queue == leaf {
						of = append(of, v)
					}
				}
				return of
			})
		}
		taken, kept, _, got := makeRoom(claim, victims, job.Request, free, list)
		if !slices.Equal(taken, wantTaken) {
			p.fatal("taken ", taken, ", want ", wantTaken)
		}
		if got != want || got && !slices.Equal(kept, wantKept) {
			p.fatal("kept ", kept, " ", got, ", want ", wantKept, " ", want)
		}
		if got {
			for _, v := range golden { // what is not preemptible is no more than what is left
				v.leaf.n = slices.Clone(v.leaf.n)
				for j := range v.leaf.n {
					v.leaf.n[j] = least(v.leaf.n[j], v.leaf.a[j])
				}
			}
			return
		}
		p.m.drop(model)
	}
	if !before.is(p.tree) {
		p.fatal("a dropped claim leaves something behind")
	}
}

// story makes one random story and compares it.
func (p *pair) story() {
	for range 2 + p.r.IntN(5) {
		p.change()
	}
	p.compare()
	p.serve(p.r.IntN(4))
	p.reclaim()
	p.compare()
	if p.r.IntN(2) == 0 {
		p.set(p.names[p.r.IntN(len(p.names))])
		p.compare()
	}
	mark, before := p.tree.Mark(), stateOf(p.tree)
	leaf, id, ok := p.tree.Next()
	for range 3 {
		row, _ := p.leaf()
		p.check(p.tree.Assume(row, Job{Request: p.vector(0)}))
		if _, err := p.tree.Wait(row, Job{Request: p.vector(0)}); err != nil {
			p.fatal(err)
		}
		p.tree.Divide()
		if _, id, ok := p.tree.Next(); ok {
			switch p.r.IntN(3) {
			case 0:
				testkit.Check(p.tree.Admit(id))
			case 1:
				p.tree.Skip(id)
			case 2:
				p.tree.Withdraw(id)
			}
		}
	}
	p.tree.Rollback(mark)
	if !before.is(p.tree) {
		p.fatal("a rollback leaves something behind")
	}
	if leaf2, id2, ok2 := p.tree.Next(); leaf2 != leaf || id2 != id || ok2 != ok {
		p.fatal("next after a rollback is ", leaf2, id2, ok2, ", before ", leaf, id, ok)
	}
	if p.r.IntN(2) == 0 {
		p.tree.Commit()
	}
	p.reclaim()
	p.serve(9)
	p.compare()
}

// TestGolden compares random stories with the golden model: RESVEC_STORIES of them, from the
// seed RESVEC_SEED on. Each compares its tree three times or more as it changes; the long run
// has 10^6 trees and more.
func TestGolden(t *testing.T) {
	n := cmp.Or(testkit.Environment(t, "RESVEC_STORIES", 0), testkit.Environment(t, "RESVEC_LONG", 0)*340_000, 4_000)
	if testing.Short() {
		n = min(n, 300)
	}
	first := testkit.Environment(t, "RESVEC_SEED", 1)
	for seed := first; seed < first+n; seed++ {
		newPair(t, seed).story()
	}
}
