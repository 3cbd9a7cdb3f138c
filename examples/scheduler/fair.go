package main

import (
	"errors"
	"fmt"
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

// A round is one cycle of all pods that wait. What it needs of pods is read once.
type round struct {
	*scheduler
	tree    *fairshare.Tree // of the ledger's queues
	claim   *fairshare.Claim
	waiting map[int]waiting // by the numbers that the tree gave them

	running []runningPod               // when the cycle began
	victims map[int][]fairshare.Victim // by leaf: what the ledger charges for those of running, by index, that could still go
	free    *vector.Overlay            // what nodes will have when those to evict have gone
	request *vector.Matrix             // the pod in turn, as a gang of one
	packer  gang.Packer

	waits map[types.UID]error // why
	evict []types.UID
}

type waiting struct {
	object *corev1.Pod
	job    fairshare.Job
}

type runningPod struct {
	*pod
	row  int // its node's
	leaf int // its queue's
}

// cycle tries the pods that wait in the order of fair shares. It returns why each of the
// others still waits, and which pods to evict for some of these: they are tried again when the
// victims have gone.
func (s *scheduler) cycle(pods []*corev1.Pod) (waits map[types.UID]error, evict []types.UID, err error) {
	r, err := s.newRound(pods)
	if err != nil {
		return nil, nil, err
	}
	for leaf, id, ok := r.tree.Next(); ok; leaf, id, ok = r.tree.Next() {
		w := r.waiting[id]
		p, why := s.try(w.object)
		if why == nil {
			must(r.free.SubFromRow(s.rowOf(p), p.request))
			must(r.tree.Admit(id))
			continue
		}
		r.waits[w.object.UID] = why
		found := false
		if p != nil {
			if found, err = r.reclaim(leaf, w.job, p); err != nil {
				return nil, nil, err
			}
		}
		if found {
			must(r.tree.Admit(id)) // its room is on the way
		} else {
			r.tree.Skip(id)
		}
	}
	return r.waits, r.evict, nil
}

// try admits a pod and finds a node for it. The pod comes also with a reason why not, if it
// can be read at all.
func (s *scheduler) try(object *corev1.Pod) (p *pod, why error) {
	if p, why = s.read(object); why == nil {
		why = s.admit(object)
	}
	if why == nil {
		why = s.place(object, p)
	}
	return p, why
}

// reclaim looks for pods of other queues to evict for a pod that found no room, and keeps that
// room for it. Whether the devices that come free are the right ones shows when it is tried
// again.
func (r *round) reclaim(leaf int, job fairshare.Job, p *pod) (found bool, err error) {
	if _, ok, err := r.claim.Begin(leaf, job); !ok || err != nil {
		return false, err
	}
	r.request.SetRow(0, p.request)
	// The claim counts what the ledger charges for a pod, the packer what nodes have.
	answer, err := r.packer.Filter(nil, r.free, r.request, nil, nil, func(yield func(int, vector.ResourceVector) bool) {
		for i := range r.claim.VictimsOf(func(leaf int) []fairshare.Victim { return r.victims[leaf] }) {
			if !yield(r.running[i].row, r.running[i].request) {
				return
			}
		}
	})
	if err != nil || answer.Prefix < 0 {
		r.claim.Drop()
		return false, err
	}
	mark := r.free.Mark()
	for _, i := range r.claim.Taken(nil) {
		v := r.running[i]
		must(r.free.AddToRow(v.row, v.request))
	}
	_, found = r.claim.Keep(func(i int) bool { // does the pod fit, too, while this one runs?
		v := r.running[i]
		must(r.free.SubFromRow(v.row, v.request))
		_, _, ok := r.packer.Place(nil, r.free.Matrix(), r.request, nil, nil)
		if !ok {
			must(r.free.AddToRow(v.row, v.request))
		}
		return ok
	})
	if !found {
		r.free.Rollback(mark)
		return false, nil
	}
	placement, _, _ := r.packer.Place(nil, r.free.Matrix(), r.request, nil, nil)
	must(r.free.SubFromRow(int(placement[0]), p.request)) // not for those after it
	for _, i := range r.claim.Taken(nil) {                // each goes once
		v := r.running[i]
		r.evict = append(r.evict, v.id)
		r.victims[v.leaf] = slices.DeleteFunc(r.victims[v.leaf], func(other fairshare.Victim) bool { return other.Node == i })
	}
	return true, nil
}

// newRound fills a tree from the ledger, and lists the pods that wait and those that run.
func (s *scheduler) newRound(pods []*corev1.Pod) (*round, error) {
	if err := s.updateCards(); err != nil {
		return nil, err
	}
	m, err := s.columns()
	if err != nil {
		return nil, err
	}
	// Card quotas of all queues together may be more than there is: then each gets its part.
	tree, err := fairshare.NewTree(m.Schema(), m.Len(), fairshare.Options{Scale: true})
	if err != nil {
		return nil, err
	}
	if err := errors.Join(tree.SetTotal(s.total(m)), fill(tree, m, s.ledger, s.queues)); err != nil {
		return nil, err
	}
	free := s.nodes.Free()
	r := &round{scheduler: s, tree: tree, claim: fairshare.NewClaim(tree), waiting: map[int]waiting{}, waits: map[types.UID]error{}, victims: map[int][]fairshare.Victim{},
		free: vector.NewOverlay(free), request: vector.NewMatrix(free.Schema(), 1, free.Cols())}
	for _, object := range pods {
		if err := r.wait(object, m); err != nil {
			return nil, err
		}
	}
	for _, id := range slices.Sorted(maps.Keys(s.pods)) {
		p := s.pods[id]
		status, known := s.ledger.Job(string(id))
		leaf, ok := tree.Row(status.Queue)
		if row := s.rowOf(p); known && ok && row >= 0 {
			r.victims[leaf] = append(r.victims[leaf], fairshare.Victim{Node: len(r.running), Amounts: inColumns(m, status.Charged)})
			r.running = append(r.running, runningPod{p, row, leaf})
		}
	}
	tree.Divide()
	return r, nil
}

// wait lets a pod wait in the tree.
func (r *round) wait(object *corev1.Pod, m *vectormap.ResourceVectorMap) error {
	job := jobOf(object)
	request, _, err := r.ledger.ResolveJob(job)
	if err != nil {
		return err
	}
	row, ok := r.tree.Row(job.Queue)
	if !ok {
		r.waits[object.UID] = fmt.Errorf("the ledger has no queue %s", job.Queue)
		return nil
	}
	if status, _ := r.ledger.Job(string(object.UID)); status.Reserved { // what it holds is what it waits for
		if err := r.tree.Forget(row, fairshare.Job{Request: inColumns(m, status.Held)}); err != nil {
			return err
		}
	}
	w := waiting{object, fairshare.Job{Request: inColumns(m, firstOf(request.Need()))}}
	id, err := r.tree.Wait(row, w.job)
	r.waiting[id] = w
	return err
}

// columns returns the map of a tree: cpu, memory and the cards of the ledger.
func (s *scheduler) columns() (*vectormap.ResourceVectorMap, error) {
	var names []string
	for _, q := range s.queues[:min(1, len(s.queues))] {
		status, _ := s.ledger.Queue(q.Name) // every queue has them all
		for _, card := range status.Cards {
			names = append(names, "card:"+card.Resource)
		}
	}
	return vectormap.New(nil, vectormap.Literal(vectormap.UnitMilli, names...))
}

// total returns what the nodes have, in the columns of a tree.
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
// shares, also those that went and still have jobs. Credits stay out of it: nodes have none to
// share.
func fill(tree *fairshare.Tree, m *vectormap.ResourceVectorMap, ledger *quota.Ledger, queues []quota.Queue) error {
	isParent, isThere := map[string]bool{"": true}, map[string]bool{}
	for _, q := range queues {
		isParent[q.Parent], isThere[q.Name] = true, true
	}
	queues = slices.Clip(queues)
	for status := range ledger.Samples() {
		// What goes on below a leaf, or another of them, is counted there.
		if status.Name != "" && !isThere[status.Name] && isParent[status.Parent] {
			queues = append(queues, quota.Queue{Name: status.Name, Parent: status.Parent})
		}
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
func amount(x quota.Amount) float64 {
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

// rowOf returns the row of a pod's node, or -1.
func (s *scheduler) rowOf(p *pod) int {
	if row, ok := s.nodes.Row(p.node); ok {
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
