package main

import (
	"cmp"
	"errors"
	"fmt"
	"io"
	"slices"
	"strings"
	"text/tabwriter"

	"github.com/resvec/resvec/quota/fairshare"
	"github.com/resvec/resvec/vector"
	"github.com/resvec/resvec/vector/gang"
)

// cluster is the queues with their jobs. A question about what jobs wait for, such as rows of
// nodes, needs no more than what runs; only a story has nodes.
type cluster struct {
	*input
	tree    *fairshare.Tree
	claim   *fairshare.Claim
	order   []int        // rows: each queue's children behind it
	depth   map[int]int  // by row, 1 for a top queue
	columns []int        // of which there is something
	waiting map[int]*job // by the number that the tree gave
	starts  int

	nodes  *vector.Overlay // a story: what is free
	packer *gang.Packer
	hours  []hour
}

func newCluster(in *input, o *options) (*cluster, error) {
	tree, err := fairshare.NewTree(in.m.Schema(), in.m.Len(), o.rules)
	if err != nil {
		return nil, err
	}
	if err := tree.SetTotal(in.total); err != nil {
		return nil, err
	}
	// A queue that -set moves may have its parent behind it.
	for queues := in.queues; len(queues) > 0; {
		var left []fairshare.NamedQueue
		for _, q := range queues {
			if _, ok := tree.Row(q.Parent); !ok {
				left = append(left, q)
			} else if _, _, err := tree.Set(q.Name, q.Queue); err != nil {
				return nil, err
			}
		}
		if len(left) == len(queues) {
			return nil, fmt.Errorf("queue %s: parent %s is the queue itself, or below it", left[0].Name, left[0].Parent)
		}
		queues = left
	}
	for _, j := range in.jobs {
		if !in.isLeaf(j.queue) {
			return nil, fmt.Errorf("job %s: queue %s has queues below it, so it can't have jobs", j.name, j.queue)
		}
	}
	c := &cluster{input: in, tree: tree, claim: fairshare.NewClaim(tree), waiting: map[int]*job{}}
	c.depth = map[int]int{}
	for _, row := range tree.All() {
		parent := tree.Parent(row)
		c.depth[row] = c.depth[parent] + 1
		at := slices.Index(c.order, parent) + 1
		for at < len(c.order) && c.depth[c.order[at]] >= c.depth[row] { // behind its siblings
			at++
		}
		c.order = slices.Insert(c.order, at, row)
	}
	free := in.m.NewMatrix(o.nodes)
	node := in.m.NewVector()
	for j, x := range in.total {
		if x > 0 {
			c.columns = append(c.columns, j)
		}
		node[j] = float64(int64(x) / int64(o.nodes)) // what doesn't come out even is left out
	}
	for i := range o.nodes {
		free.SetRow(i, node)
	}
	c.nodes, c.packer = vector.NewOverlay(free), gang.NewPacker(gang.Options{Total: in.total})
	return c, nil
}

func (c *cluster) row(queue string) int {
	row, _ := c.tree.Row(queue) // jobs of other queues are refused when they are read
	return row
}

// wait lets a job wait in the tree.
func (c *cluster) wait(j *job) (err error) {
	j.id, err = c.tree.Wait(c.row(j.queue), fairshare.Job{Request: j.all, Unpreemptible: j.fixed})
	c.waiting[j.id] = j
	return err
}

// load brings all jobs of the input into the tree.
func (c *cluster) load() (err error) {
	for i, j := range c.jobs {
		if j.runs {
			j.started = i
			err = errors.Join(err, c.tree.Assume(c.row(j.queue), fairshare.Job{Request: j.all, Unpreemptible: j.fixed}))
		} else {
			err = errors.Join(err, c.wait(j))
		}
	}
	c.tree.Divide()
	return err
}

// answer prints shares, who is next, and who could take from whom.
func (c *cluster) answer(w io.Writer) error {
	c.printShares(w)
	mark := c.tree.Mark()
	var order []string
	var tried []*job // of each leaf the first
	for leaf, id, ok := c.tree.Next(); ok && len(order) < 10; leaf, id, ok = c.tree.Next() {
		j := c.waiting[id]
		order = append(order, j.name)
		if !slices.ContainsFunc(tried, func(other *job) bool { return c.row(other.queue) == leaf }) {
			tried = append(tried, j)
		}
		if err := c.tree.Admit(id); err != nil { // whoever is served counts for those after it
			return err
		}
	}
	c.tree.Rollback(mark)
	if len(order) == 0 {
		fmt.Fprintln(w, "no job waits")
	} else {
		fmt.Fprintln(w, "next:", strings.Join(order, ", "))
	}
	for _, j := range tried {
		text, err := c.whatIf(j)
		if err != nil {
			return err
		}
		fmt.Fprintf(w, "%s of %s %s\n", j.name, j.queue, text)
	}
	return nil
}

// printShares prints a table for each resource.
func (c *cluster) printShares(w io.Writer) {
	for _, k := range c.columns {
		fmt.Fprintf(w, "%s of %s\n", c.m.Format(k, c.total[k]), c.m.Name(k))
		t := tabwriter.NewWriter(w, 0, 0, 2, ' ', 0)
		fmt.Fprintln(t, "  queue\thas\twants\tshould have\tbecause")
		for _, row := range c.order {
			fmt.Fprintf(t, "%s%s\t%s\t%s\t%s\t%s\n", strings.Repeat("  ", c.depth[row]), c.tree.Name(row),
				c.m.Format(k, c.tree.Allocated(nil, row)[k]), c.m.Format(k, c.tree.Wanted(nil, row)[k]), c.m.Format(k, c.tree.Share(nil, row)[k]), c.because(row, k))
		}
		t.Flush()
		if x := c.tree.Oversold(nil, 0)[k]; x > 0 {
			fmt.Fprintf(w, "  oversold by %s\n", c.m.Format(k, x))
		}
	}
}

// because says what bounds a share, without queue and amount.
func (c *cluster) because(row, column int) string {
	text := c.tree.Explain(row, column).String()
	for range 2 {
		_, text, _ = strings.Cut(text, ": ")
	}
	return text
}

// whatIf says what a job that waits could take, and from whom, if nodes didn't matter.
func (c *cluster) whatIf(j *job) (string, error) {
	free := slices.Clone(c.total)
	free.Sub(c.tree.Allocated(nil, 0))
	if j.all.FitsIn(free) {
		return "fits into what is free", nil
	}
	mark := c.tree.Mark()
	defer c.tree.Rollback(mark)
	why, ok, err := c.claim.Begin(c.row(j.queue), fairshare.Job{Request: j.all, Unpreemptible: j.fixed})
	if err != nil || !ok {
		return "may take nothing: " + why.String(), err
	}
	running, victims := c.victims(j.queue)
	for _, amounts := range c.claim.Victims(victims) {
		if free.Add(amounts); j.all.FitsIn(free) {
			break
		}
	}
	if !j.all.FitsIn(free) {
		why, n := c.claim.Refused()
		c.claim.Drop()
		if n == 0 {
			return "waits: nobody else has enough", nil
		}
		return "waits: " + why.String(), nil
	}
	why, ok = c.claim.Keep(func(i int) bool {
		if free.Sub(victims[i].Amounts); j.all.FitsIn(free) {
			return true
		}
		free.Add(victims[i].Amounts)
		return false
	})
	if !ok {
		return "waits: " + why.String(), nil
	}
	var names []string
	for _, i := range c.claim.Taken(nil) {
		names = append(names, running[i].name+" of "+running[i].queue)
	}
	return "could take " + strings.Join(names, ", "), nil
}

// victims returns the jobs of other queues that run and are preemptible, the newest first,
// and the same for a claim; Node is the index of the job.
func (c *cluster) victims(queue string) (running []*job, victims []fairshare.Victim) {
	for _, j := range c.jobs {
		if j.runs && !j.fixed && j.queue != queue {
			running = append(running, j)
		}
	}
	slices.SortFunc(running, func(a, b *job) int { return cmp.Compare(b.started, a.started) })
	for i, j := range running {
		victims = append(victims, fairshare.Victim{Queue: c.row(j.queue), Node: i, Amounts: j.all})
	}
	return running, victims
}

// otherwise returns the queues as -set changes them.
func (in *input) otherwise(o *options) (*cluster, error) {
	changed, err := in.with(o.sets)
	if err != nil {
		return nil, err
	}
	c, err := newCluster(changed, o)
	if err != nil {
		return nil, fmt.Errorf("-set %s: %w", strings.Join(o.sets, ", "), err)
	}
	return c, nil
}

// compare prints how shares differ with what -set says. Of a story these are the shares at
// its end.
func compare(w io.Writer, c, other *cluster, sets []string) error {
	for name, row := range c.tree.All() {
		if c.isLeaf(name) && other.isLeaf(name) { // who loses its children to another parent has nothing left
			has, wants := c.tree.Allocated(nil, row), c.tree.Wanted(nil, row)
			if err := other.tree.SetUsage(other.row(name), fairshare.Usage{Allocated: has, Wanted: wants}); err != nil {
				return err
			}
		}
	}
	other.tree.Divide()
	fmt.Fprintf(w, "with %s\n", strings.Join(sets, ", "))
	t, differs := tabwriter.NewWriter(w, 0, 0, 2, ' ', 0), false
	for _, row := range c.order {
		name := c.tree.Name(row)
		for _, k := range c.columns {
			was, is := c.tree.Share(nil, row)[k], other.tree.Share(nil, other.row(name))[k]
			if was != is {
				differs = true
				fmt.Fprintf(t, "  %s\t%s → %s of %s\t%s\n", name, c.m.Format(k, was), c.m.Format(k, is), c.m.Name(k), other.because(other.row(name), k))
			}
		}
	}
	if !differs {
		fmt.Fprintln(t, "  all shares are the same")
	}
	return t.Flush()
}

// isLeaf reports whether no queue names this one as its parent.
func (in *input) isLeaf(name string) bool {
	return !slices.ContainsFunc(in.queues, func(q fairshare.NamedQueue) bool { return q.Parent == name })
}
