package main

import (
	"bytes"
	"cmp"
	"crypto/sha256"
	_ "embed"
	"encoding/base64"
	"fmt"
	"html/template"
	"math"
	"os"
	"slices"
	"strings"

	"github.com/resvec/resvec/vector"
	"github.com/resvec/resvec/vector/gang"
)

// The page: its text, look and behaviour. The data goes into it as JSON, and as text
// that html/template escapes.
var (
	//go:embed page/page.html
	pageHTML string
	//go:embed page/page.css
	pageStyle string
	//go:embed page/page.js
	pageScript string

	pageTemplate = template.Must(template.New("page").Funcs(template.FuncMap{"breakable": breakable}).Parse(pageHTML))
)

// breakable cuts a text where a line may end: names of resources and files are long words.
func breakable(text string) (parts []string) {
	return strings.SplitAfter(strings.ReplaceAll(text, " -> ", "\u00a0→\u00a0"), "/")
}

// The page's number of elements does not grow with the cluster: nodes are squares of a
// drawing, the queue has a page of rows at a time, and other tables have at most so many
// rows and the heat map so many resources.
const (
	mostRows      = 200
	mostResources = 100
)

// pageParts is what the report has computed.
type pageParts struct {
	opts                                   *options
	input, keeps, constraints, fill, gangs [][]string
	remarks                                []string
	missing                                *shortage
}

// page is what the template is given.
type page struct {
	Policy, Summary string
	Style           template.CSS
	Script          template.JS
	Fill            pageTable
	Missing         *pageMissing
	Gangs           *pageGangs
	Input           pageTable
	Keeps           pageTable
	NotLookedAt     string
	Constraints     pageTable
	Data            pageData
}

// pageTable is a table without the rows beyond mostRows.
type pageTable struct {
	Head []string
	Rows [][]string
	More int
}

func newPageTable(head []string, rows [][]string) pageTable {
	kept := rows[:min(len(rows), mostRows)]
	return pageTable{head, kept, len(rows) - len(kept)}
}

type pageMissing struct {
	Hopeless       []string
	Mix, About     string
	Shapes         pageTable
	Bounds, Proofs []string
}

type pageGangs struct {
	Title   string
	Rows    pageTable
	Remarks []string
}

// pageData is what the maps and the queue are drawn from. Lists are by node, in the
// order of the map, or by pod of the queue; an int stands for a text of another list.
type pageData struct {
	Resources []string `json:"resources"`
	Shapes    []string `json:"shapes"`
	Amounts   []string `json:"amounts"`
	Nodes     []string `json:"nodes"`
	Shape     []int    `json:"shape"`
	Has       []int    `json:"has"`  // of amounts
	Gets      []int    `json:"gets"` // pods of the queue

	// Before and After are the percentages in use, by resource and node; -1 where a
	// node has none, -2 where it is not there yet.
	Before [][]int `json:"before"`
	After  [][]int `json:"after"`

	Pods     []string `json:"pods"`
	Request  []int    `json:"request"`
	Requests []string `json:"requests"`
	Where    []int    `json:"where"` // a node, -1 for none
	Why      []int    `json:"why"`   // of reasons, -1 for none
	Reasons  []string `json:"reasons"`
}

// writePage writes the page to a file.
func (r *report) writePage(name string, parts *pageParts) error {
	text, err := r.page(parts)
	if err != nil {
		return err
	}
	return os.WriteFile(name, text, 0o644)
}

// page returns the page.
func (r *report) page(parts *pageParts) ([]byte, error) {
	hash := sha256.Sum256([]byte(pageScript))
	x := page{
		// Nothing is loaded, and no script runs but the page's own.
		Policy: "default-src 'none'; style-src 'unsafe-inline'; base-uri 'none'; form-action 'none'; script-src 'sha256-" +
			base64.StdEncoding.EncodeToString(hash[:]) + "'",
		Summary:     r.summary(parts.opts),
		Style:       template.CSS(pageStyle),
		Script:      template.JS(pageScript),
		Fill:        newPageTable(parts.fill[0], parts.fill[1:]),
		Missing:     r.pageMissing(parts.missing),
		Input:       newPageTable(nil, parts.input),
		Keeps:       newPageTable(keepsHead, parts.keeps),
		NotLookedAt: r.notLookedAt(),
		Constraints: newPageTable(constraintsHead, parts.constraints),
		Data:        r.pageData(),
	}
	if parts.opts.topology.keys != "" {
		x.Gangs = &pageGangs{parts.opts.topology.title(), newPageTable(gangHead, parts.gangs), nil}
		if len(parts.remarks) > 0 {
			x.Gangs.Remarks = []string{list(parts.remarks, mostRows)}
		}
	}
	var b bytes.Buffer
	err := pageTemplate.Execute(&b, &x)
	return b.Bytes(), err
}

// summary is the answer in a sentence.
func (r *report) summary(opts *options) string {
	text := fmt.Sprintf("%d of %s are placed on %d nodes", r.outcome.placed, podCount(len(r.queue)), r.final.Len())
	if n := len(r.queue) - r.outcome.placed; n > 0 {
		text += fmt.Sprintf(", %d fit nowhere", n)
	}
	if opts.isSample() {
		text += ". This is a sample cluster: -snapshot takes files of yours"
	}
	return text + "."
}

// texts numbers different texts.
type texts struct {
	all   []string
	index map[string]int
}

func (t *texts) number(text string) int {
	i, known := t.index[text]
	if !known {
		if t.index == nil {
			t.index = make(map[string]int)
		}
		i = len(t.all)
		t.index[text] = i
		t.all = append(t.all, text)
	}
	return i
}

// pageData returns what the maps and the queue are drawn from.
func (r *report) pageData() pageData {
	columns := r.usedColumns()
	columns = columns[:min(len(columns), mostResources)]
	shapeOf := r.shapesByRow()
	order := make([]int, len(shapeOf)) // the rows, shape by shape
	for i := range order {
		order[i] = i
	}
	slices.SortStableFunc(order, func(a, b int) int { return cmp.Compare(shapeOf[a], shapeOf[b]) })
	var d pageData
	for i := range r.shapes {
		d.Shapes = append(d.Shapes, r.shapes[i].name)
	}
	before, after := r.state.Nodes(), r.final.Nodes()
	for _, j := range columns {
		d.Resources = append(d.Resources, r.m.Name(j))
		was, is := make([]int, len(order)), make([]int, len(order))
		for i, row := range order {
			was[i] = -2
			if row < before.Len() {
				was[i] = percent(before, row, j)
			}
			is[i] = percent(after, row, j)
		}
		d.Before, d.After = append(d.Before, was), append(d.After, is)
	}
	place := make([]int, len(order)) // by row: where in the order
	var amounts texts
	gets := make([]int, len(order))
	for i, row := range order {
		place[row] = i
		d.Nodes = append(d.Nodes, r.final.Name(row))
		d.Shape = append(d.Shape, shapeOf[row])
		d.Has = append(d.Has, amounts.number(r.amounts(after.Allocatable().Row(nil, row))))
	}
	var requests, reasons texts
	known := make(map[likeness][2]int) // the number of its request, and of why it fits nowhere
	for i, row := range r.rows {
		numbers, seen := known[r.likeness(i)]
		if !seen {
			numbers = [2]int{requests.number(r.amounts(r.requests[i].Requested)), -1}
		}
		if row < 0 && numbers[1] < 0 {
			numbers[1] = reasons.number(r.explain(r.outcome, i))
		}
		known[r.likeness(i)] = numbers
		where, why := -1, numbers[1]
		if row >= 0 {
			where, why = place[row], -1
			gets[where]++
		}
		d.Pods = append(d.Pods, r.queue[i].key())
		d.Request = append(d.Request, numbers[0])
		d.Where, d.Why = append(d.Where, where), append(d.Why, why)
	}
	d.Amounts, d.Gets, d.Requests, d.Reasons = amounts.all, gets, requests.all, reasons.all
	return d
}

// percent returns how much of a resource of a node is in use.
func percent(nodes *vector.Nodes, row, column int) int {
	has := nodes.Allocatable().At(row, column)
	if has <= 0 {
		return -1
	}
	return int(min(math.Round(100*nodes.Requested().At(row, column)/has), 999))
}

// shapesByRow returns the index of each node's shape.
func (r *report) shapesByRow() []int {
	index := make(map[*shape]int)
	for i := range r.shapes {
		index[&r.shapes[i]] = i
	}
	all := make([]int, r.final.Len())
	for row := range all {
		all[row] = index[r.shapeAt(row)]
	}
	return all
}

// pageMissing returns the part about missing nodes, nil when none is.
func (r *report) pageMissing(d *shortage) *pageMissing {
	if !d.some() {
		return nil
	}
	x := &pageMissing{Hopeless: r.hopeless(d, mostRows)}
	if len(d.pods) == 0 {
		return x
	}
	x.Mix = d.answer()
	x.About = strings.ReplaceAll(aboutMissing, "\n", " ")
	x.Shapes = newPageTable(missingHead, d.rows(r))
	for _, why := range d.mix.Why {
		if len(d.shapes) == 1 { // its proof says why one node less doesn't do
			break
		}
		x.Bounds = append(x.Bounds, r.explainBound(d, why))
	}
	for _, n := range d.needs {
		for _, why := range n.plan.Why {
			if text := r.whyFewer(n, why); text != "" {
				x.Proofs = append(x.Proofs, text)
			}
		}
	}
	x.Bounds, x.Proofs = x.Bounds[:min(len(x.Bounds), mostRows)], x.Proofs[:min(len(x.Proofs), mostRows)]
	return x
}

// explainBound says what has to be bought, besides what is free, and from which shapes.
func (r *report) explainBound(d *shortage, why gang.Infeasibility) string {
	var names []string
	for i := range d.shapes {
		supplies := d.mix.whole.may(why.Domain, i)
		if why.Column >= 0 {
			supplies = supplies && d.mix.whole.Shapes[i].Room[why.Column] > 0
		} else {
			supplies = d.fits(d.mix.whole.order[why.Member], i)
		}
		if supplies {
			names = append(names, d.shapes[i].name)
		}
	}
	shapes := list(names, 5)
	if why.Column < 0 {
		return fmt.Sprintf("Places for %s like %s: only new nodes of %s have them, %.4g for a cost of 1 at most.",
			podCount(int(why.Needed)), r.queue[d.mix.whole.order[why.Member]].key(), shapes, why.Available)
	}
	if x := d.mix.whole.exclusion(why.Column); x != nil {
		return fmt.Sprintf("Places for %.0f pods that can't share a node, by %s, beyond what is free: only new nodes of %s have them, %.4g for a cost of 1 at most.",
			why.Needed, x.why, shapes, why.Available)
	}
	return fmt.Sprintf("%s %s more than is free: only new nodes of %s have it, and a cost of 1 buys %s at most.", r.m.Name(why.Column),
		r.m.Format(why.Column, why.Needed), shapes, r.m.Format(why.Column, math.Floor(why.Available)))
}

// whyFewer says why one node less than the bound of a shape doesn't do.
func (r *report) whyFewer(n need, why gang.Infeasibility) string {
	fewer := fmt.Sprintf("%s: what is free and %s", n.shape.name, count(n.proved()-1, "new node"))
	switch x := n.plan.whole.exclusion(why.Column); {
	case x != nil:
		return fmt.Sprintf("%s have places for %.0f of %.0f pods that can't share a node, by %s.", fewer, why.Available, why.Needed, x.why)
	case why.Column >= 0 && why.Reason == gang.InfeasibleAggregate:
		return fmt.Sprintf("%s have %s of %s, and the queue requests %s of them.", fewer,
			r.m.Format(why.Column, why.Available), r.m.Name(why.Column), r.m.Format(why.Column, why.Needed))
	case why.Reason == gang.InfeasibleCopies:
		return fmt.Sprintf("%s have places for %.0f of %.0f pods.", fewer, why.Available, why.Needed)
	}
	return fmt.Sprintf("%s have no place for %s.", fewer, r.queue[n.plan.whole.order[why.Member]].key())
}
