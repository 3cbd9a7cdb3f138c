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
	// none of them. It returns the nodes.
	place(members []vector.ResourceVector) ([]int32, bool)

	// mark and rollback take back what was released and placed.
	mark() int
	rollback(mark int)
}

// plain is what schedulers do today: a row of amounts a node, and loops.
type plain struct {
	free    []vector.ResourceVector
	journal []change
	nodes   []int32
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

func (p *plain) place(members []vector.ResourceVector) ([]int32, bool) {
	mark := p.mark()
	p.nodes = p.nodes[:0]
	for _, request := range members {
		row := p.first(request)
		if row < 0 {
			p.rollback(mark)
			return nil, false
		}
		p.add(row, request, -1)
		p.nodes = append(p.nodes, int32(row))
	}
	return p.nodes, true
}

// first returns the first node with room for a request, or -1.
func (p *plain) first(request vector.ResourceVector) int {
	for row, free := range p.free {
		fits := true
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
}

func (p *proved) begin(g waiting) {
	p.proof.Reset(p.overlay.Matrix(), p.matrix(g.members), nil)
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

func (p *proved) impossible() bool {
	_, impossible := p.proof.Infeasible()
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
	why, _ := p.packer.Infeasible(p.overlay.Matrix(), p.matrix(g.members), nil)
	return why.Reason == gang.InfeasibleAggregate
}

func (p *proved) place(members []vector.ResourceVector) (nodes []int32, ok bool) {
	if p.nodes, ok = p.packer.Place(p.nodes, p.overlay.Matrix(), p.matrix(members), nil); !ok {
		return nil, false
	}
	for i, row := range p.nodes {
		must(p.overlay.SubFromRow(int(row), members[i]))
	}
	return p.nodes, true
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
