package main

import (
	"fmt"
	"io"
	"maps"
	"math"
	"slices"
	"strconv"
	"strings"
	"text/tabwriter"

	"github.com/resvec/resvec/examples/internal/progress"
	"github.com/resvec/resvec/examples/whatif/placement"
	"github.com/resvec/resvec/vector"
	"github.com/resvec/resvec/vectormap"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
)

// A report writes what came out.
type report struct {
	*cluster
	*outcome
	w    io.Writer
	most int // names and requests of a kind that are written
}

func (r *report) printf(format string, args ...any) { fmt.Fprintf(r.w, format, args...) }

// table writes rows of cells in columns.
func (r *report) table(rows [][]string) {
	t := tabwriter.NewWriter(r.w, 0, 0, 2, ' ', 0)
	for _, row := range rows {
		for len(row) > 0 && row[len(row)-1] == "" {
			row = row[:len(row)-1] // no blanks at the end of a line
		}
		fmt.Fprintln(t, strings.Join(row, "\t"))
	}
	t.Flush()
}

// input returns what there is to place on what, and what was left out of it.
func (r *report) input(scores string, opts *options, add []addition) [][]string {
	whose := ""
	if opts.isSample() {
		whose = "of a sample cluster: -snapshot takes files of yours"
	}
	rows := [][]string{
		{"nodes", fmt.Sprint(len(r.cluster.nodes)), whose},
		{"pods on them", fmt.Sprint(len(r.running)), ""},
		{"pods to place", fmt.Sprint(len(r.queue)), fmt.Sprintf("%d different requests, %s", r.kinds, orderText(opts.order))},
	}
	for _, a := range add {
		rows = append(rows, []string{"nodes added", fmt.Sprint(a.count), a.shape.name})
	}
	for _, out := range []struct {
		what string
		pods []pod
	}{
		{"ended", r.ended},
		{"gated", r.gated},
		{"being deleted", r.deleting},
		{"on a node that is not here", r.orphans},
		{"requesting more than any node can have", r.vast},
		{"asking KAI-Scheduler for parts of GPUs, in annotations", r.parts},
	} {
		if len(out.pods) > 0 {
			rows = append(rows, []string{"pods left out", fmt.Sprint(len(out.pods)), out.what + ": " + list(keys(out.pods), r.most)})
		}
	}
	if len(r.gangs) > 0 {
		pods := 0
		for _, g := range r.gangs {
			pods += len(g.pods)
		}
		rows = append(rows, []string{"gangs", fmt.Sprint(len(r.gangs)), fmt.Sprintf("of %s, each placed whole or not at all", podCount(pods))})
	}
	if opts.gang != gangKeys {
		for _, remark := range r.unusedKeys(strings.Split(opts.gang, ",")) {
			rows = append(rows, []string{"gangs", "0", remark})
		}
	}
	for _, ignored := range r.ignored {
		rows = append(rows, []string{"ignored", fmt.Sprint(ignored.pods), ignored.name + ", of the pods that request it"})
	}
	for _, kind := range sortedKeys(r.notRead) {
		rows = append(rows, []string{"not read", fmt.Sprint(r.notRead[kind]), kind})
	}
	for _, hint := range slices.Concat(r.hints(), r.lacking()) {
		rows = append(rows, []string{"hint", "1", hint})
	}
	for _, problem := range r.problems {
		rows = append(rows, []string{"problem", "1", problem})
	}
	for _, path := range sortedKeys(r.unknown) {
		rows = append(rows, []string{"unknown fields", fmt.Sprint(r.unknown[path]), path})
	}
	if scores == "" {
		scores = "none: every node is as good as any other"
	}
	return append(rows, []string{"scores", "", scores}, []string{"ties", "", opts.ties})
}

// notLookedAt is what decides nothing here.
func (c *cluster) notLookedAt() string {
	if c.like {
		return "Not looked at: volumes, preemption, some resource claims."
	}
	return "Not looked at: preferences, images (-like default does), volumes, preemption, some resource claims."
}

// keeps returns which constraint keeps how many pods from which nodes.
func (r *report) keeps() (rows [][]string) {
	type keeping struct {
		pods  int
		nodes map[int]bool
	}
	all := make(map[string]*keeping)
	for _, v := range r.verdicts {
		for constraint, nodes := range v.kept {
			k := all[constraint]
			if k == nil {
				k = &keeping{nodes: make(map[int]bool)}
				all[constraint] = k
			}
			k.pods++
			for _, row := range nodes {
				k.nodes[row] = true
			}
		}
	}
	for _, constraint := range sortedKeys(all) {
		var names []string
		for _, row := range slices.Sorted(maps.Keys(all[constraint].nodes)) {
			names = append(names, r.cluster.nodes[row].Name)
		}
		rows = append(rows, []string{constraint, fmt.Sprint(all[constraint].pods), fmt.Sprint(len(names)), list(names, r.most)})
	}
	return rows
}

// keepsHead are the columns of keeps.
var keepsHead = []string{"CONSTRAINT", "PODS", "NODES", "KEEPS THEM FROM"}

// constraintsHead are the columns of constraints.
var constraintsHead = []string{"CONSTRAINT", "PODS", ""}

// constraints returns what was not looked at, of the pods that have it.
func (r *report) constraints() (rows [][]string) {
	for _, m := range r.remarks() {
		rows = append(rows, []string{m.constraint, fmt.Sprint(len(m.pods)), list(m.pods, r.most)})
	}
	return rows
}

// head writes what the answer is about.
func (r *report) head(input, keeps, constraints [][]string) {
	r.table(input)
	if len(keeps) > 0 {
		r.printf("\n")
		r.table(slices.Concat([][]string{keepsHead}, keeps))
	}
	r.printf("\n%s", r.notLookedAt())
	if len(constraints) == 0 {
		r.printf(" No pod to place has such a constraint.\n")
		return
	}
	r.printf(" It matters for\n\n")
	r.table(slices.Concat([][]string{constraintsHead}, constraints))
}

// A workload is what pods belong to.
type workload struct {
	name string
	pods []int // of the queue
}

// group is what the pods of a workload have in common.
type group struct {
	name    string             // of the controller, or of the namespace
	request *vector.PodAmounts // of pods without a controller
	pod     int                // the pod, when it stands for itself
}

// groupOf returns the group of a pod of the queue.
func (r *report) groupOf(i int) group {
	p := r.queue[i]
	owner := metav1.GetControllerOf(p.Pod)
	switch {
	case owner != nil:
		return group{name: fmt.Sprintf("%s %s/%s", owner.Kind, p.Namespace, owner.Name)}
	case r.most == math.MaxInt: // all names are written
		return group{pod: i + 1}
	}
	return group{name: p.Namespace, request: r.requests[i]}
}

// mostBare is how many groups of pods without a controller have a line.
const mostBare = 20

// workloads groups pods of the queue by their controller. Those without one are
// together when they are of one namespace and request the same and, where there
// are very many such groups, the later ones are a group, too.
func (r *report) workloads(pods []int) (all []workload) {
	index := make(map[group]int)
	bare := 0
	for _, i := range pods {
		g := r.groupOf(i)
		at, known := index[g]
		if !known && g.request != nil {
			if bare++; bare > mostBare {
				g = group{}
				at, known = index[g]
			}
		}
		if !known {
			at = len(all)
			index[g] = at
			all = append(all, workload{name: g.name})
		}
		all[at].pods = append(all[at].pods, i)
	}
	for g, at := range index {
		w := &all[at]
		switch first := r.queue[w.pods[0]].key(); {
		case g == group{}:
			w.name = "other pods without a controller"
		case g.request == nil && g.pod == 0: // named by its controller
		case len(w.pods) == 1:
			w.name = "Pod " + first
		default:
			w.name = fmt.Sprintf("Pod %s and %d like it", first, len(w.pods)-1)
		}
	}
	return all
}

// placed writes which nodes the workloads go to.
func (r *report) placed() {
	r.printf("\nPlaced %d of %d pods\n\n", r.outcome.placed, len(r.queue))
	all := make([]int, len(r.queue))
	for i := range all {
		all[i] = i
	}
	rows := [][]string{{"WORKLOAD", "PODS", "PLACED", "NODES"}}
	for _, w := range r.workloads(all) {
		count := make(map[int]int)
		for _, i := range w.pods {
			if row := r.rows[i]; row >= 0 {
				count[row]++
			}
		}
		var names []string
		placed := 0
		for row := range r.final.Len() {
			if n := count[row]; n > 0 {
				names = append(names, fmt.Sprintf("%s: %d", r.final.Name(row), n))
				placed += n
			}
		}
		rows = append(rows, []string{w.name, fmt.Sprint(len(w.pods)), fmt.Sprint(placed), list(names, r.most)})
	}
	r.table(rows)
}

// bindings writes the node of every pod.
func (r *report) bindings() {
	r.printf("\n")
	rows := [][]string{{"POD", "NODE"}}
	for i, row := range r.rows {
		name := "-"
		if row >= 0 {
			name = r.final.Name(row)
		}
		rows = append(rows, []string{r.queue[i].key(), name})
	}
	r.table(rows)
}

// fill returns how full the nodes of each shape are, before and after, below a head.
func (r *report) fill() [][]string {
	columns := r.usedColumns()
	head := []string{"SHAPE", "NODES"}
	for _, j := range columns {
		head = append(head, r.m.Name(j))
	}
	rows := [][]string{head}
	for i := range r.shapes {
		s := &r.shapes[i]
		var before, after vector.Mask
		before.Reset(r.state.Len())
		after.Reset(r.final.Len())
		for row := range r.final.Len() {
			switch {
			case r.shapeAt(row) != s:
			case row < r.state.Len():
				before.Set(row)
				after.Set(row)
			default:
				after.Set(row)
			}
		}
		if !after.Any() {
			continue // cordoned
		}
		cells := []string{s.name, fmt.Sprint(after.Count())}
		was, is := sums(r.state, &before), sums(r.final, &after)
		for _, j := range columns {
			cells = append(cells, fmt.Sprintf("%s -> %s", was.share(j), is.share(j)))
		}
		rows = append(rows, cells)
	}
	return rows
}

// shapeAt returns the shape of the node in a row.
func (r *report) shapeAt(row int) *shape {
	if row < r.state.Len() {
		return &r.shapes[r.shapeOf[r.state.Name(row)]]
	}
	return r.added[row-r.state.Len()]
}

// usedColumns returns the resources that some node has.
func (r *report) usedColumns() (columns []int) {
	have := vector.MaxColumns(nil, r.final.Nodes().Allocatable(), nil)
	for j, amount := range have {
		if amount > 0 {
			columns = append(columns, j)
		}
	}
	return columns
}

// A usage is what some nodes have and what of it is in use.
type usage struct{ used, allocatable vector.ResourceVector }

func sums(state *placement.State, rows *vector.Mask) usage {
	return usage{
		vector.SumColumns(nil, state.Nodes().Requested(), rows),
		vector.SumColumns(nil, state.Nodes().Allocatable(), rows),
	}
}

// share returns the share of a resource that is in use.
func (u usage) share(j int) string {
	if u.allocatable[j] == 0 {
		return "-"
	}
	return fmt.Sprintf("%.0f%%", 100*u.used[j]/u.allocatable[j])
}

// unplaced writes which pods fit nowhere, and why: what the nodes lack once all
// other pods are placed.
func (r *report) unplaced() {
	pods := r.outcome.unplaced()
	if len(pods) == 0 {
		return
	}
	r.printf("\nPods that fit nowhere: %d\n", len(pods))
	for _, w := range r.workloads(pods) {
		count := make(map[likeness]int)
		var alike []int // a pod of each likeness
		for _, i := range w.pods {
			if count[r.likeness(i)]++; count[r.likeness(i)] == 1 {
				alike = append(alike, i)
			}
		}
		slices.SortStableFunc(alike, func(a, b int) int { return count[r.likeness(b)] - count[r.likeness(a)] })
		r.printf("\n%s\n", w.name)
		rest := len(w.pods)
		for _, pod := range alike[:min(len(alike), r.most)] {
			n := count[r.likeness(pod)]
			r.printf("  %s requesting %s\n    %s\n", podCount(n), r.amounts(r.requests[pod].Requested), r.explain(r.outcome, pod))
			rest -= n
		}
		if rest > 0 {
			r.printf("  and %s of %d other requests\n", podCount(rest), len(alike)-r.most)
		}
	}
}

// amounts writes what a vector holds.
func (r *report) amounts(v vector.ResourceVector) string {
	var parts []string
	for j, amount := range v {
		if amount > 0 && j != vectormap.Pods {
			parts = append(parts, r.m.Name(j)+" "+r.format(j, amount))
		}
	}
	if len(parts) == 0 {
		return "nothing"
	}
	return strings.Join(parts, ", ")
}

// format writes an amount in few digits: of bytes three, cut off, where they are many.
func (r *report) format(j int, amount float64) string {
	text := r.m.Format(j, amount)
	if r.m.Unit(j) != vectormap.UnitByte && !r.inBytes[r.m.Name(j)] || len(text) <= len("1536Mi") {
		return text
	}
	prefix := 0
	for ; amount >= 1024 && prefix < len("KMGTPE"); prefix++ {
		amount /= 1024
	}
	digits := 2 - int(math.Log10(amount))
	scale := math.Pow10(max(digits, 0))
	return strconv.FormatFloat(math.Floor(amount*scale)/scale, 'f', -1, 64) + "KMGTPE"[prefix-1:prefix] + "i"
}

// A shortage is how many nodes would hold the pods that fit nowhere.
type shortage struct {
	*demand
	needs []need // of each shape alone
	mix   plan
}

// shortage returns what is missing.
func (r *report) shortage(tie vector.Tie, line *progress.Line) (*shortage, error) {
	d, err := r.demandOf(r.outcome)
	if err != nil {
		return nil, err
	}
	s := &shortage{demand: d}
	if len(s.pods) == 0 {
		return s, nil
	}
	for i := range r.shapes {
		line.Printf("nodes that are missing: shape %d of %d", i+1, len(r.shapes))
		n, err := s.alone(&r.shapes[i], tie)
		if err != nil {
			return nil, err
		}
		s.needs = append(s.needs, n)
	}
	if s.mix, err = s.demand.mix(); err != nil {
		return s, err
	}
	for i, n := range s.needs { // the scores may pack better
		packed, found := n.packed()
		if cost := float64(float64(packed) * n.shape.cost); found && len(n.pods) == len(s.pods) && cost < s.mix.Cost {
			s.mix.Cost, s.mix.Counts, s.mix.found = cost, make([]int, len(r.shapes)), true
			s.mix.Counts[i] = packed
		}
	}
	return s, nil
}

// rows returns a row for each shape.
func (d *shortage) rows(r *report) (rows [][]string) {
	for _, n := range d.needs {
		cells := []string{n.shape.name, fmt.Sprintf("%g", n.shape.cost), fmt.Sprint(len(n.pods))}
		packed, proved, scheduled := "-", "-", "-"
		if len(n.pods) > 0 {
			proved = fmt.Sprint(n.proved())
		}
		if count, found := n.packed(); found && len(n.pods) > 0 {
			packed = fmt.Sprint(count)
		}
		if n.scheduled > 0 {
			scheduled = fmt.Sprint(n.scheduled)
		}
		cells = append(cells, packed, proved, scheduled)
		rows = append(rows, append(cells, r.amounts(n.shape.room())))
	}
	return rows
}

// answer says on which new nodes all of the pods have a place.
func (d *shortage) answer() string {
	var parts []string
	for i, n := range d.mix.Counts {
		if n > 0 {
			parts = append(parts, fmt.Sprintf("%s of shape %s", count(n, "new node"), d.shapes[i].name))
		}
	}
	if !d.mix.found {
		return fmt.Sprintf("No mix was found that takes %s, with what other pods keep them from. No mix costs less than %s.",
			count(len(d.pods), "pod"), price(d.mix.AtLeast))
	}
	if len(parts) == 0 {
		parts = []string{"no new node"}
	}
	return fmt.Sprintf("%s can be packed on what is free and %s. Cost %s, and no mix costs less than %s.",
		count(len(d.pods), "pod"), strings.Join(parts, " + "), price(d.mix.Cost), price(d.mix.AtLeast))
}

// missingHead are the columns of shortage.rows.
var missingHead = []string{"SHAPE", "COST", "PODS", "PACKED", "AT LEAST", "SCHEDULED", "A NEW ONE HAS"}

// aboutMissing says what they mean.
const aboutMissing = "COST: of a new node, 1 without -cost.\n" +
	"PODS: how many of them fit on a new node of this shape.\n" +
	"PACKED: this many new nodes, and what is free, hold these pods, when they are packed for that;\n" +
	"- : none was found that other pods let them go to.\n" +
	"AT LEAST: fewer new nodes can't hold them and all that are placed above, even if each\n" +
	"of the queue went to another node, old or new.\n" +
	"SCHEDULED: this many are needed when pods are placed by the scores above;\n" +
	"- : one node per pod is not enough."

// missing writes a shortage.
func (r *report) missing(d *shortage) {
	if !d.some() {
		return
	}
	r.printf("\nNodes that are missing\n\n")
	for _, line := range r.hopeless(d, r.most) {
		r.printf("%s\n\n", line)
	}
	if len(d.pods) == 0 {
		return
	}
	r.printf("Pods that fit on a new node: %d. With one shape alone:\n\n", len(d.pods))
	r.table(slices.Concat([][]string{missingHead}, d.rows(r)))
	r.printf("\n%s\n", aboutMissing)
	r.printf("\n%s\n", d.answer())
}

// some reports whether any pod fits nowhere.
func (d *shortage) some() bool {
	return len(d.pods)+len(d.attached)+len(d.never)+len(d.refused)+len(d.waiting) > 0
}

// hopeless says which pods no new node helps.
func (r *report) hopeless(d *shortage, most int) (lines []string) {
	for _, group := range []struct {
		what string
		pods []int
	}{
		{"that stay with a node by its name, which no new one has", d.attached},
		{"that fit on no new node of any shape", d.never},
		{"that spread constraints, affinity or ports keep from a new node of each shape for each of them", d.refused},
		{"of gangs that lack pods, or have one that fits on no new node", d.waiting},
	} {
		if len(group.pods) > 0 {
			lines = append(lines, fmt.Sprintf("Pods %s: %d, %s", group.what, len(group.pods), list(keysOf(r.queue, group.pods), most)))
		}
	}
	return lines
}

// price writes a cost. It cuts it after four places, so that a lower bound stays
// one; what lies less than 1e-10 below such a number is taken for a rounding.
func price(x float64) string {
	return strconv.FormatFloat(math.Floor(x*1e4+1e-6)/1e4, 'f', -1, 64)
}

// speed writes how fast the decisions were.
func (r *report) speed() {
	r.printf("\nspeed: %d decisions on %d nodes in %v, %.0f pods/s\n", len(r.queue), r.final.Len(), r.elapsed, float64(len(r.queue))/max(r.elapsed.Seconds(), 1e-9))
}

func keys(pods []pod) (names []string) {
	for _, p := range pods {
		names = append(names, p.key())
	}
	return names
}

func keysOf(pods []pod, indices []int) (names []string) {
	for _, i := range indices {
		names = append(names, pods[i].key())
	}
	return names
}

// orderText says in which order pods are placed.
func orderText(order string) string {
	if order == "given" {
		return "in the order of the files"
	}
	return "by priority, then age"
}

// podCount is a number of pods in words.
func podCount(n int) string { return count(n, "pod") }

// count is a number of things in words.
func count(n int, thing string) string {
	if n != 1 {
		thing += "s"
	}
	return fmt.Sprintf("%d %s", n, thing)
}
