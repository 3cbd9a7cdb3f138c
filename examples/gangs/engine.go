package main

import (
	"github.com/resvec/resvec/vector"
	"github.com/resvec/resvec/vector/gang"
)

// engine is what the actions ask of a cluster. There are two, which give the same
// answers.
type engine interface {
	// load takes the free amounts of a cluster.
	load(c *cluster)

	// begin is called before victims are released for a gang.
	begin(g waiting)

	// release gives back what a job has.
	release(j job)

	// impossible reports that the gang fits nowhere, whatever is tried. False proves
	// nothing.
	impossible() bool

	// never reports that the gang fits nowhere, whichever jobs go that queues may lose.
	never(c *cluster, g waiting) bool

	// lacks reports that all free amounts together are not enough for a gang.
	lacks(g waiting) bool

	// place places all members, each on the first node with room, in their order, or
	// none of them. It returns the nodes. A gang that has to be in one rack goes to the first
	// that has room.
	place(g waiting) ([]int32, bool)

	// placeEach places members that are alike until one has no room. It returns the nodes.
	placeEach(g waiting, t *tally) []int32

	// mark and rollback take back what was released and placed.
	mark() int
	rollback(mark int)
}

// plain is what schedulers do today: a row of amounts a node, and loops.
type plain struct {
	free    []vector.ResourceVector
	journal []change
	nodes   []int32
	has     []int // per node: members of the gang, if it has a limit
}

// change is what was added to a row.
type change struct {
	row     int
	amounts vector.ResourceVector
	sign    float64
}

func (p *plain) load(c *cluster) {
	p.free, p.journal = nil, nil
	for _, row := range c.free {
		p.free = append(p.free, row.Clone())
	}
}

func (p *plain) begin(waiting)                {}
func (p *plain) impossible() bool             { return false }
func (p *plain) never(*cluster, waiting) bool { return false }
func (p *plain) lacks(waiting) bool           { return false }
func (p *plain) mark() int                    { return len(p.journal) }

func (p *plain) release(j job) {
	for _, x := range j.pods {
		p.add(x.row, x.request, 1)
	}
}

func (p *plain) add(row int, amounts vector.ResourceVector, sign float64) {
	free := p.free[row]
	for k, x := range amounts {
		free[k] += sign * x
	}
	p.journal = append(p.journal, change{row, amounts, sign})
}

func (p *plain) rollback(mark int) {
	for len(p.journal) > mark {
		last := p.journal[len(p.journal)-1]
		free := p.free[last.row]
		for k, x := range last.amounts {
			free[k] -= last.sign * x
		}
		p.journal = p.journal[:len(p.journal)-1]
	}
}

func (p *plain) place(g waiting) ([]int32, bool) {
	if !g.inRack {
		return p.placeIn(g, 0, len(p.free))
	}
	for from := 0; from < len(p.free); from += rackNodes {
		if nodes, ok := p.placeIn(g, from, min(from+rackNodes, len(p.free))); ok {
			return nodes, true
		}
	}
	return nil, false
}

// placeIn places all members on the nodes from one to another, or none of them.
func (p *plain) placeIn(g waiting, from, to int) ([]int32, bool) {
	mark := p.mark()
	p.nodes = p.nodes[:0]
	if p.has = p.has[:0]; g.most > 0 {
		p.has = append(p.has, make([]int, len(p.free))...)
	}
	for _, request := range g.members {
		row := p.first(request, g.most, from, to)
		if row < 0 {
			p.rollback(mark)
			return nil, false
		}
		p.add(row, request, -1)
		p.nodes = append(p.nodes, int32(row))
		if g.most > 0 {
			p.has[row]++
		}
	}
	return p.nodes, true
}

func (p *plain) placeEach(g waiting, t *tally) []int32 {
	p.nodes = p.nodes[:0]
	for _, request := range g.members {
		t.simulations++
		row := p.first(request, 0, 0, len(p.free))
		if row < 0 { // jobs that ask for the same have no room either
			break
		}
		p.add(row, request, -1)
		p.nodes = append(p.nodes, int32(row))
	}
	return p.nodes
}

// first returns the first node with room for a request, which has fewer members than most, or
// -1.
func (p *plain) first(request vector.ResourceVector, most, from, to int) int {
	for row := from; row < to; row++ {
		free, fits := p.free[row], most == 0 || p.has[row] < most
		for k, x := range request {
			if x > 0 && x > free[k] {
				fits = false
				break
			}
		}
		if fits {
			return row
		}
	}
	return -1
}

// proved is the library: an overlay for what is tried, a proof in front of it, and all
// nodes at once where something is tried.
type proved struct {
	overlay  vector.Overlay
	packer   gang.Packer
	proof    gang.Proof
	marks    []vector.Mark
	requests vector.Matrix
	above    vector.Matrix
	nodes    []int32
	racks    gang.Domains
}

func (p *proved) load(c *cluster) {
	free := vector.NewMatrix(vector.Schema{}, len(c.free), columns)
	for row, amounts := range c.free {
		free.SetRow(row, amounts)
	}
	p.overlay.Reset(free)
	p.above.Reset(vector.Schema{}, len(c.above), columns)
	for queue, amounts := range c.above {
		p.above.SetRow(queue, amounts)
	}
	p.marks = p.marks[:0]
	p.racks.Rows, p.racks.Offsets = p.racks.Rows[:0], append(p.racks.Offsets[:0], 0)
	for row := range len(c.free) {
		p.racks.Rows = append(p.racks.Rows, int32(row))
		if end := row + 1; end%rackNodes == 0 || end == len(c.free) {
			p.racks.Offsets = append(p.racks.Offsets, int32(end))
		}
	}
}

func (p *proved) begin(g waiting) {
	p.proof.Reset(p.overlay.Matrix(), p.matrix(g.members), nil)
	must(p.proof.Spread(gang.Spread{Most: g.most}))
	if g.inRack {
		p.proof.Within(&p.racks)
	}
}

// matrix returns the requests of members, a row each.
func (p *proved) matrix(members []vector.ResourceVector) *vector.Matrix {
	p.requests.Reset(vector.Schema{}, len(members), columns)
	for i, request := range members {
		p.requests.SetRow(i, request)
	}
	return &p.requests
}

func (p *proved) release(j job) {
	for _, x := range j.pods {
		must(p.overlay.AddToRow(x.row, x.request))
		must(p.proof.Release(x.row, x.request))
	}
}

func (p *proved) impossible() (impossible bool) {
	_, impossible = p.proof.Infeasible()
	return impossible
}

func (p *proved) never(c *cluster, g waiting) bool {
	p.begin(g)
	must(p.proof.Limit(gang.Budgets{Limits: &p.above}))
	for _, j := range c.running { // all of them: the proof knows what may go
		for _, x := range j.pods {
			must(p.proof.ReleaseOf(j.queue, x.row, x.request))
		}
	}
	return p.impossible()
}

func (p *proved) lacks(g waiting) bool {
	why, _ := p.packer.Infeasible(p.overlay.Matrix(), p.matrix(g.members), nil, nil)
	return why.Reason == gang.InfeasibleAggregate
}

func (p *proved) place(g waiting) (nodes []int32, ok bool) {
	must(p.packer.Spread(gang.Spread{Most: g.most}))
	var domains *gang.Domains
	if g.inRack {
		domains = &p.racks
	}
	p.nodes, _, ok = p.packer.Place(p.nodes, p.overlay.Matrix(), p.matrix(g.members), nil, domains)
	if !ok {
		return nil, false
	}
	for i, row := range p.nodes {
		must(p.overlay.SubFromRow(int(row), g.members[i]))
	}
	return p.nodes, true
}

func (p *proved) placeEach(g waiting, t *tally) []int32 {
	t.simulations++
	room := vector.SumCopies(p.overlay.Matrix(), g.members[0], nil)
	nodes, _ := p.place(waiting{members: g.members[:min(int64(len(g.members)), room)]})
	return nodes
}

func (p *proved) mark() int {
	p.marks = append(p.marks, p.overlay.Mark())
	return len(p.marks) - 1
}

func (p *proved) rollback(mark int) {
	p.overlay.Rollback(p.marks[mark])
	p.marks = p.marks[:mark]
}

// must panics with a fault of this program.
func must(err error) {
	if err != nil {
		panic(err)
	}
}
