package main

import (
	"errors"
	"maps"
	"math"
	"slices"

	"github.com/resvec/resvec/quota"
	"github.com/resvec/resvec/quota/fairshare"
	"github.com/resvec/resvec/vector"
	"github.com/resvec/resvec/vector/gang"
	"github.com/resvec/resvec/vectormap"
	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/types"
)

// A round is one cycle of all pods that wait.
type round struct {
	tree  *fairshare.Tree // of the ledger's queues, in the columns of its map
	claim *fairshare.Claim
	jobs  map[int]*corev1.Pod // that wait, by the numbers that the tree gave them
	free  *vector.Overlay     // what nodes will have when those to evict have gone
	evict []types.UID
}

// cycle tries the pods that wait in the order of fair shares. It returns why each of the
// others still waits, and which pods to evict for some of these: they are tried again when the
// victims have gone.
func (s *scheduler) cycle(waiting []*corev1.Pod) (waits map[types.UID]error, evict []types.UID, err error) {
	r, err := s.newRound(waiting)
	if err != nil {
		return nil, nil, err
	}
	waits = map[types.UID]error{}
	for leaf, id, ok := r.tree.Next(); ok; leaf, id, ok = r.tree.Next() {
		object := r.jobs[id]
		why := s.admit(object)
		if why == nil {
			why = s.schedule(object)
		}
		if why == nil {
			r.tree.Admit(id)
			must(r.free.SubFromRow(s.rowOf(object.UID), s.pods[object.UID].request))
			continue
		}
		waits[object.UID] = why
		switch found, err := s.reclaim(r, leaf, object); {
		case err != nil:
			return nil, nil, err
		case found:
			r.tree.Admit(id) // its room is on the way
		default:
			r.tree.Skip(id)
		}
	}
	return waits, r.evict, nil
}

// newRound fills a tree from the ledger and lets the pods wait in it.
func (s *scheduler) newRound(waiting []*corev1.Pod) (*round, error) {
	if err := s.updateCards(); err != nil {
		return nil, err
	}
	m := s.ledger.Map()
	// Card quotas of all queues together may be more than there is: then each gets its part.
	tree, err := fairshare.NewTree(m.Schema(), m.Len(), fairshare.Options{Scale: true})
	if err != nil {
		return nil, err
	}
	if err := errors.Join(tree.SetTotal(s.total(m)), fill(tree, m, s.ledger, s.queues)); err != nil {
		return nil, err
	}
	r := &round{tree: tree, claim: fairshare.NewClaim(tree), jobs: map[int]*corev1.Pod{}, free: vector.NewOverlay(s.nodes.Free())}
	for _, object := range waiting {
		request, _, err := s.ledger.ResolveJob(jobOf(object))
		if err != nil {
			return nil, err
		}
		row, ok := tree.Row(jobOf(object).Queue)
		if !ok {
			continue // no queue that the ledger knows
		}
		if status, _ := s.ledger.Job(string(object.UID)); status.Reserved { // what it holds is what it waits for
			if err := tree.Forget(row, fairshare.Job{Request: inColumns(m, status.Held)}); err != nil {
				return nil, err
			}
		}
		id, err := tree.Wait(row, fairshare.Job{Request: inColumns(m, firstOf(request.Need()))})
		if err != nil {
			return nil, err
		}
		r.jobs[id] = object
	}
	tree.Divide()
	return r, nil
}

// total returns what the nodes have, in the columns of the ledger's map.
func (s *scheduler) total(m *vectormap.ResourceVectorMap) vector.ResourceVector {
	total := m.NewVector()
	has := vector.SumColumns(nil, s.nodes.Allocatable(), nil)
	total[vectormap.CPU], total[vectormap.Memory] = has[vectormap.CPU], has[vectormap.Memory]
	for _, c := range s.cards {
		if i, ok := m.Index("card:" + c.Name); ok {
			total[i] = float64(c.Milli)
		}
	}
	return total
}

// fill writes the queues of a ledger, parents first, and what each has into a tree of fair
// shares over the ledger's map. Credits stay out of it: nodes have none to share.
func fill(tree *fairshare.Tree, m *vectormap.ResourceVectorMap, ledger *quota.Ledger, queues []quota.Queue) error {
	isParent := map[string]bool{}
	for _, q := range queues {
		isParent[q.Parent] = true
	}
	for _, q := range queues {
		status, ok := ledger.Queue(q.Name)
		if !ok {
			continue // it went meanwhile
		}
		is := fairshare.Queue{Parent: q.Parent, Priority: int64(q.Priority), Deserved: m.NewVector(), Guarantee: m.NewVector(),
			Limit: slices.Repeat(vector.ResourceVector{math.Inf(1)}, m.Len())}
		has := fairshare.Usage{Allocated: m.NewVector()}
		add := func(prefix string, list ...quota.Usage) {
			for _, u := range list {
				if i, ok := m.Index(prefix + u.Resource); ok {
					is.Deserved[i], is.Guarantee[i], is.Limit[i] = amount(u.Deserved), amount(u.Guarantee), amount(u.Capability)
					has.Allocated[i] = amount(u.Allocated + u.Inqueue)
				}
			}
		}
		add("", status.CPU, status.Memory)
		add("card:", status.Cards...)
		row, _, err := tree.Set(q.Name, is)
		if err == nil && !isParent[q.Name] { // parents have the sums
			err = tree.SetUsage(row, has)
		}
		if err != nil {
			return err
		}
	}
	return nil
}

// amount returns an amount of the ledger as trees have it.
func amount(x int64) float64 {
	if x == quota.Unlimited {
		return math.Inf(1)
	}
	return float64(x)
}

// inColumns returns what a job takes of its queue in cpu, memory and cards.
func inColumns(m *vectormap.ResourceVectorMap, amounts quota.Amounts) vector.ResourceVector {
	v := m.NewVector()
	v[vectormap.CPU], v[vectormap.Memory] = float64(amounts.CPU), float64(amounts.Memory)
	for card, milli := range amounts.Cards {
		if i, ok := m.Index("card:" + card); ok {
			v[i] = float64(milli)
		}
	}
	return v
}

// firstOf returns what a job needs, each item on its first card.
func firstOf(need quota.Min) quota.Amounts {
	amounts := quota.Amounts{CPU: need.CPU, Memory: need.Memory, Cards: map[string]int64{}}
	for _, item := range need.Items {
		amounts.Cards[item.Alternatives[0]] += item.Milli
	}
	return amounts
}

// reclaim looks for pods of other queues to evict for a pod, so that it finds room. Whether the
// devices that come free are the right ones shows when the pod is tried again.
func (s *scheduler) reclaim(r *round, leaf int, object *corev1.Pod) (found bool, err error) {
	p, err := s.read(object)
	if err != nil {
		return false, nil // its own fault, which schedule has said
	}
	m := s.ledger.Map()
	job, _, err := s.ledger.ResolveJob(jobOf(object))
	if err != nil {
		return false, err
	}
	if _, ok, err := r.claim.Begin(leaf, fairshare.Job{Request: inColumns(m, firstOf(job.Need()))}); !ok || err != nil {
		return false, err
	}
	var running []*pod
	var victims []fairshare.Victim
	for _, id := range slices.Sorted(maps.Keys(s.pods)) {
		status, known := s.ledger.Job(string(id))
		queue, ok := r.tree.Row(status.Queue)
		if known && ok && s.rowOf(id) >= 0 && !slices.Contains(r.evict, id) {
			victims = append(victims, fairshare.Victim{Queue: queue, Node: len(running), Amounts: inColumns(m, status.Charged)})
			running = append(running, s.pods[id])
		}
	}
	requests := vector.NewMatrix(r.free.Matrix().Schema(), 1, r.free.Matrix().Cols())
	requests.SetRow(0, p.request)

	// The claim counts what the ledger charges, the packer what nodes have.
	var packer gang.Packer
	answer, err := packer.Filter(nil, r.free, requests, nil, func(yield func(int, vector.ResourceVector) bool) {
		for i := range r.claim.Victims(victims) {
			if !yield(s.rowOf(running[i].id), running[i].request) {
				return
			}
		}
	})
	if !answer.Feasible || err != nil {
		r.claim.Drop()
		return false, err
	}
	mark := r.free.Mark()
	move := func(i int, change func(row int, v vector.ResourceVector) error) {
		must(change(s.rowOf(running[i].id), running[i].request))
	}
	for _, i := range r.claim.Taken(nil) {
		move(i, r.free.AddToRow)
	}
	_, found = r.claim.Keep(func(i int) bool {
		move(i, r.free.SubFromRow)
		_, ok := packer.Place(nil, r.free.Matrix(), requests, nil)
		if !ok {
			move(i, r.free.AddToRow)
		}
		return ok
	})
	if !found {
		r.free.Rollback(mark)
		return false, nil
	}
	placement, _ := packer.Place(nil, r.free.Matrix(), requests, nil)
	must(r.free.SubFromRow(int(placement[0]), p.request)) // not for those after it
	for _, i := range r.claim.Taken(nil) {
		r.evict = append(r.evict, running[i].id)
	}
	return true, nil
}

// rowOf returns the row of a pod's node, or -1.
func (s *scheduler) rowOf(id types.UID) int {
	if row, ok := s.nodes.Row(s.pods[id].node); ok {
		return row
	}
	return -1
}

// must panics with a fault of this program.
func must(err error) {
	if err != nil {
		panic(err)
	}
}
