package main

import (
	"cmp"
	"errors"
	"fmt"
	"io"
	"slices"
	"strings"
	"time"

	"github.com/resvec/resvec/quota/fairshare"
	"github.com/resvec/resvec/vector"
	"github.com/resvec/resvec/vector/gang"
)

// hour is what queues have and should have at the end of an hour's decisions, by row.
type hour struct {
	at                 int
	has, should, wants []vector.ResourceVector
}

// play plays a story: in each hour jobs end and come, and then the queues are served.
func (c *cluster) play(w io.Writer, halfLife time.Duration) error {
	slices.SortStableFunc(c.jobs, func(a, b *job) int { return cmp.Compare(a.hour, b.hour) })
	come := 0
	for now := c.jobs[0].hour; ; now++ {
		log := &lines{w: w, hour: now}
		busy := come < len(c.jobs) || len(c.waiting) > 0
		for _, j := range c.jobs[:come] {
			if !j.runs {
				continue
			}
			if j.left--; j.left == 0 {
				c.stop(j)
				log.print("%s of %s has ended", j.name, j.queue)
			}
			busy = busy || j.runs
		}
		if now > c.jobs[0].hour {
			c.tree.Decay(time.Hour, halfLife) // of the hour that is over
		}
		for ; come < len(c.jobs) && c.jobs[come].hour == now; come++ {
			if err := c.wait(c.jobs[come]); err != nil {
				return err
			}
		}
		c.tree.Divide()
		if err := c.cycle(log); err != nil {
			return err
		}
		c.record(now)
		if !busy || now-c.jobs[0].hour > 1000 {
			break
		}
	}
	c.printHours(w)
	return nil
}

// cycle serves the queues until no job can start: it asks who is next, looks for room, and
// where there is none asks from whom the job may take.
func (c *cluster) cycle(log *lines) error {
	for leaf, id, ok := c.tree.Next(); ok; leaf, id, ok = c.tree.Next() {
		j := c.waiting[id]
		if why := c.overLimit(leaf, j); why != "" {
			log.waits(j, why)
			c.tree.Skip(id)
			continue
		}
		placement, _, ok := c.packer.Place(nil, c.nodes.Matrix(), c.requests(j), nil, nil)
		var evicted []*job
		if !ok {
			var why string
			var err error
			if placement, evicted, why, err = c.reclaim(leaf, j); err != nil {
				return err
			}
			if placement == nil {
				log.waits(j, why)
				c.tree.Skip(id)
				continue
			}
		}
		must(c.tree.Admit(id))
		delete(c.waiting, id)
		c.start(j, placement)
		text := fmt.Sprintf("%s of %s starts on %s", j.name, j.queue, nodesOf(placement))
		if len(evicted) > 0 {
			text += ", takes from " + namesOf(evicted)
		}
		log.print("%s", text)
		for _, v := range evicted { // it waits again, and is not served in this cycle
			if err := c.wait(v); err != nil {
				return err
			}
			c.tree.Skip(v.id)
		}
		c.tree.Divide() // evicted jobs want again what they had
	}
	c.tree.Resume()
	return nil
}

// reclaim finds jobs of other queues to evict for a job, so that it has room, and stops them.
// A nil placement comes with why there is none.
func (c *cluster) reclaim(leaf int, j *job) (placement []int32, evicted []*job, why string, err error) {
	refusal, ok, err := c.claim.Begin(leaf, fairshare.Job{Request: j.all, Unpreemptible: j.fixed})
	if !ok || err != nil {
		return nil, nil, refusal.String(), err
	}
	running, victims := c.victims(j.queue)
	requests := c.requests(j)

	// A victim of the tree is a whole job; the packer wants what it releases node by node. Victims
	// yields Node, which is an index of running.
	answer, err := c.packer.Filter(nil, c.nodes, requests, nil, nil, func(yield func(int, vector.ResourceVector) bool) {
		for i := range c.claim.Victims(victims) {
			for _, node := range running[i].nodes {
				if !yield(int(node), running[i].request) {
					return
				}
			}
		}
	})
	if err != nil || answer.Prefix < 0 {
		refusal, n := c.claim.Refused()
		c.claim.Drop()
		switch {
		case n > 0:
			return nil, nil, refusal.String(), err
		case answer.Infeasible.Reason == gang.NotProved:
			return nil, nil, "no nodes were found, also without all victims", err
		}
		return nil, nil, "also without all victims: " + c.m.ExplainInfeasible(answer.Infeasible), err
	}

	// The nodes without all victims; then each is brought back if there is room without it.
	mark := c.nodes.Mark()
	for _, i := range c.claim.Taken(nil) { // indexes of victims, as in Keep
		c.release(running[victims[i].Node], 1)
	}
	refusal, ok = c.claim.Keep(func(i int) bool {
		c.release(running[victims[i].Node], -1)
		if _, _, ok := c.packer.Place(nil, c.nodes.Matrix(), requests, nil, nil); ok {
			return true
		}
		c.release(running[victims[i].Node], 1)
		return false
	})
	if ok {
		placement, _, ok = c.packer.Place(nil, c.nodes.Matrix(), requests, nil, nil)
	}
	if !ok {
		c.nodes.Rollback(mark)
		return nil, nil, refusal.String(), nil
	}
	for _, i := range c.claim.Taken(nil) {
		v := running[victims[i].Node]
		v.runs, v.nodes = false, nil
		evicted = append(evicted, v)
	}
	return placement, evicted, "", nil
}

// overLimit says which limit a job would exceed: the tree doesn't ask for limits when a job is
// admitted. With a quota ledger that is its part.
func (c *cluster) overLimit(leaf int, j *job) string {
	for row := leaf; row > 0; row = c.tree.Parent(row) {
		i := slices.IndexFunc(c.queues, func(q fairshare.NamedQueue) bool { return q.Name == c.tree.Name(row) })
		has := c.tree.Allocated(nil, row)
		for k, x := range j.all {
			if limit := c.queues[i].Limit; len(limit) > k && x > 0 && has[k]+x > limit[k] {
				return fmt.Sprintf("queue %s would have %s of %s, more than its limit %s", c.queues[i].Name, c.m.Format(k, has[k]+x), c.m.Name(k), c.m.Format(k, limit[k]))
			}
		}
	}
	return ""
}

// requests returns a row for each pod of a job.
func (c *cluster) requests(j *job) *vector.Matrix {
	requests := c.m.NewMatrix(j.pods)
	for i := range j.pods {
		requests.SetRow(i, j.request)
	}
	return requests
}

// release adds what a job has to the nodes where it runs, or with -1 takes it.
func (c *cluster) release(j *job, sign int) {
	for _, node := range j.nodes {
		if sign > 0 {
			must(c.nodes.AddToRow(int(node), j.request))
		} else {
			must(c.nodes.SubFromRow(int(node), j.request))
		}
	}
}

func (c *cluster) start(j *job, placement []int32) {
	c.starts++
	j.runs, j.nodes, j.started, j.why = true, slices.Clone(placement), c.starts, ""
	c.release(j, -1)
}

func (c *cluster) stop(j *job) {
	must(c.tree.Forget(c.row(j.queue), fairshare.Job{Request: j.all, Unpreemptible: j.fixed}))
	c.release(j, 1)
	j.runs, j.nodes = false, nil
}

// must panics with a fault of this program.
func must(err error) {
	if err != nil {
		panic(errors.Join(errors.New("the books differ"), err))
	}
}

// record keeps what queues have and should have.
func (c *cluster) record(now int) {
	c.tree.Divide()
	h := hour{at: now}
	for _, row := range c.tree.All() {
		for len(h.has) <= row {
			h.has, h.should, h.wants = append(h.has, nil), append(h.should, nil), append(h.wants, nil)
		}
		h.has[row], h.should[row], h.wants[row] = c.tree.Allocated(nil, row), c.tree.Share(nil, row), c.tree.Wanted(nil, row)
	}
	c.hours = append(c.hours, h)
}

// printHours prints what the leaves had and should have had, hour by hour.
func (c *cluster) printHours(w io.Writer) {
	for _, k := range c.columns {
		fmt.Fprintf(w, "\n%s: has/should have\nhour ", c.m.Name(k))
		for _, row := range c.order {
			fmt.Fprintf(w, " %12s", c.tree.Name(row))
		}
		fmt.Fprintln(w)
		for _, h := range c.hours {
			fmt.Fprintf(w, "%02d:00", h.at%24)
			for _, row := range c.order {
				fmt.Fprintf(w, " %12s", c.m.Format(k, h.has[row][k])+"/"+c.m.Format(k, h.should[row][k]))
			}
			fmt.Fprintln(w)
		}
	}
}

// lines are what happens in an hour.
type lines struct {
	w    io.Writer
	hour int
}

func (l *lines) print(format string, args ...any) {
	fmt.Fprintf(l.w, "%02d:00  %s\n", l.hour%24, fmt.Sprintf(format, args...))
}

// waits prints why a job waits, unless it waited for the same in the hour before.
func (l *lines) waits(j *job, why string) {
	if j.why != why {
		l.print("%s of %s waits: %s", j.name, j.queue, why)
	}
	j.why = why
}

func nodesOf(placement []int32) string {
	var names []string
	for _, node := range placement {
		names = append(names, fmt.Sprint("node-", node+1))
	}
	return strings.Join(slices.Compact(names), " and ")
}

func namesOf(jobs []*job) string {
	var names []string
	for _, j := range jobs {
		names = append(names, j.name+" of "+j.queue)
	}
	return strings.Join(names, ", ")
}
