package main

import (
	"cmp"
	"fmt"
	"math"
	"regexp"
	"slices"
	"strconv"
	"strings"
)

// Units that BenchmarkRatio and the other benchmarks of ratios report.
const (
	kernelTime    = "ns/node"
	rowLoopTime   = "rowloop-ns/node"
	structMapTime = "structmap-ns/node"
	roofTime      = "roof-ns/node" // drawn only

	callTime        = "ns/call"
	rowLoopCallTime = "rowloop-ns/call"

	fullPassCallTime = "fullpass-ns/call" // of BenchmarkScoreCacheRatio

	workloadTime     = "ns/workload" // of BenchmarkTransformRatio
	listWorkloadTime = "resourcelist-ns/workload"

	listCallTime = "resourcelist-ns/call" // of BenchmarkDeviceScoreRatio
)

// tables returns all tables of a CPU as Markdown.
func tables(all *results) string {
	var b strings.Builder
	quote := newQuoting(all)
	kernels, small := all.where("Ratio", nil), all.where("Ratio", map[string]string{"kernel": smallCall})
	kernels = slices.DeleteFunc(kernels, func(r row) bool { return r.key("kernel") == smallCall || variants[r.key("kernel")] })
	scorers := slices.DeleteFunc(all.where("ScoringRatio", nil), func(r row) bool { return variants[r.key("scorer")] })
	if len(kernels) > 0 {
		b.WriteString(quote.text)
	}
	detailTable(&b, "Kernels", "kernel", kernels, quote)
	detailTable(&b, "Scorers", "scorer", scorers, quote)
	smallCalls(&b, small, quote)
	keptScores.write(&b, all.where("ScoreCacheRatio", nil))
	transformations.write(&b, withEnds(all.where("TransformRatio", nil)))
	deviceScores.write(&b, withEnds(all.where("DeviceScoreRatio", nil)))
	oneNode.write(&b, withoutBetween(all.where("IsTaskAllocatable", nil)))
	copies.write(&b, withoutBetween(all.where("Clone", nil)))
	calls.write(&b, append(all.where("Nodes", nil), all.where("Overlay", nil)...))
	scenarios.write(&b, all.where("ScenarioRatio", nil))
	return strings.TrimSuffix(b.String(), "\n")
}

// smallCall is the kernel whose sizes are a table of their own.
const smallCall = "SmallCall"

// variants take about as long as another kernel or scorer, so they have no line.
var variants = map[string]bool{
	"FitStrict": true, "FitRows": true, "LessEqualRows": true, "DominantResourceRows": true,
	"ArgMaxInt64": true, "SumCopies": true, "DecisionOnePass": true,
}

// withEnds returns the rows of the first and the last implementation.
func withEnds(rows []row) []row {
	impls := distinct(rows, "impl")
	return slices.DeleteFunc(rows, func(r row) bool { return !slices.Contains([]string{impls[0], impls[len(impls)-1]}, r.key("impl")) })
}

// implName returns the name of an implementation for readers.
func implName(impl string) string {
	for _, l := range looks {
		if l.impl == impl {
			return l.name
		}
	}
	return impl
}

// quoting says which ratios may be quoted.
type quoting struct {
	rowLoop, structMap bool
	text               string
}

func newQuoting(all *results) quoting {
	var q quoting
	rowLoop, ok := all.credible(rowLoopTime, rowLoopBand)
	q.rowLoop = ok
	structMap, ok := all.credible(structMapTime, structMapBand)
	q.structMap = ok
	q.text = fmt.Sprintf("Baselines at 5,000 nodes and 8 columns: row loop %s, structs %s.\n\n",
		rowLoopBand.describe(rowLoop, q.rowLoop), structMapBand.describe(structMap, q.structMap))
	return q
}

func (b band) describe(ns float64, ok bool) string {
	verdict := "of"
	if !ok {
		verdict = "outside, so its ratios are not quoted, of"
	}
	return fmt.Sprintf("%s ns per node (%s %g to %g)", number(ns), verdict, b.low, b.high)
}

// times formats a ratio against a baseline; it is empty when it is not quoted.
func times(ratio float64, quoted bool) string {
	if !quoted || math.IsNaN(ratio) {
		return ""
	}
	return number(ratio) + "×"
}

// cross is a table with a line for each name and a column for each value of a key.
type cross struct {
	title, first string           // the heading, and the heading of the names
	name         func(row) string // of the line that a row belongs to
	key          string
	values       []string // of key, one for each column; none: all that there are
	heading      func(value string) string
	cell         func(row) string
	more         []column // from the first row of a line
}

// column is a column by itself.
type column struct {
	heading string
	cell    func(row) string
}

// write writes nothing when there are no rows.
func (c cross) write(b *strings.Builder, rows []row) {
	if len(rows) == 0 {
		return
	}
	if c.values == nil {
		c.values = distinct(rows, c.key)
	}
	names := []string{c.first}
	for _, value := range c.values {
		names = append(names, c.heading(value))
	}
	for _, m := range c.more {
		names = append(names, m.heading)
	}
	header(b, c.title, names...)
	for _, name := range lineNames(rows, c.name) {
		line, first := []string{name}, row{}
		for _, value := range c.values {
			cell := ""
			for _, r := range rows {
				if c.name(r) == name && r.key(c.key) == value {
					cell = c.cell(r)
					if first.values == nil {
						first = r
					}
				}
			}
			line = append(line, cell)
		}
		for _, m := range c.more {
			line = append(line, m.cell(first))
		}
		cells(b, line...)
	}
	b.WriteByte('\n')
}

// lineNames returns the names of the rows' lines, in order of appearance.
func lineNames(rows []row, name func(row) string) []string {
	var names []string
	for _, r := range rows {
		if name := name(r); !slices.Contains(names, name) {
			names = append(names, name)
		}
	}
	return names
}

// operations returns the name of a row's line when key has its operation.
func operations(key string) func(row) string {
	return func(r row) string { return r.operation(key) }
}

// valueOf returns the value of key, when that names the line.
func valueOf(key string) func(row) string { return func(r row) string { return r.key(key) } }

// nodesHeading is the heading of a column for a number of nodes.
func nodesHeading(nodes string) string {
	n, _ := strconv.Atoi(nodes)
	return thousands(n)
}

// sizes returns the numbers of nodes in rows, ascending.
func sizes(rows []row) []string {
	all := distinct(rows, "nodes")
	slices.SortFunc(all, func(x, y string) int { return cmp.Or(len(x)-len(y), cmp.Compare(x, y)) })
	return all
}

// smallCalls compares calls for few nodes with the row loop.
func smallCalls(b *strings.Builder, rows []row, quote quoting) {
	impls := distinct(rows, "impl")
	if len(impls) == 0 {
		return
	}
	table := cross{title: "Small calls, " + implName(impls[0]) + ", times as fast as the row loop", first: "nodes", name: func(row) string { return "Fit" },
		key: "nodes", values: sizes(rows), heading: nodesHeading,
		cell: func(r row) string { return times(r.per(kernelTime, rowLoopTime), quote.rowLoop) }}
	table.write(b, slices.DeleteFunc(rows, func(r row) bool { return r.key("impl") != impls[0] }))
}

// operation returns the name of a row's operation: with the columns when they are not
// all of eight, or of the one column of scores.
func (r row) operation(key string) string {
	name := r.key(key)
	if requested := r.key("requested"); requested != "" {
		return name + ", " + requested + " of " + r.key("cols")
	}
	if cols := r.key("cols"); cols != "8" && cols != "1" {
		return name + ", " + cols + " columns"
	}
	return name
}

// detailTable shows what was measured at 5,000 nodes, and how many times as fast as the row
// loop the first implementation is with the fewest and with the most nodes.
func detailTable(b *strings.Builder, title, key string, all []row, quote quoting) {
	rows := slices.DeleteFunc(slices.Clone(all), func(r row) bool { return r.number("nodes") != 5000 })
	if len(rows) == 0 {
		return
	}
	name := operations(key)
	perNode := func(r row) string { return number(r.value(kernelTime)) }
	table := cross{title: title + ", ns per node with 5,000; times as fast as structs, row loop", first: key, name: name,
		key: "impl", heading: implName, cell: perNode, more: []column{
			{"row loop", func(r row) string { return number(r.value(rowLoopTime)) }},
			{"structs", func(r row) string { return times(r.per(kernelTime, structMapTime), quote.structMap) }},
		}}
	ascending := sizes(all)
	for _, nodes := range slices.Compact([]string{ascending[0], ascending[len(ascending)-1]}) {
		table.more = append(table.more, column{nodesHeading(nodes) + " nodes", func(of row) string {
			for _, r := range all {
				if name(r) == name(of) && r.key("impl") == of.key("impl") && r.key("nodes") == nodes {
					return times(r.per(kernelTime, rowLoopTime), quote.rowLoop)
				}
			}
			return ""
		}})
	}
	table.write(b, rows)
	if slices.ContainsFunc(rows, func(r row) bool { return r.value("allocs/call") > 0 }) {
		b.WriteString("Some of these calls allocate.\n\n")
	}
}

// keptScores compares the score cache with scoring all rows for each pod.
var keptScores = cross{
	title: "Kept scores, µs per decision, times as fast as a full pass: pods of the production trace, of 151 shapes, placed and taken away one by one",
	first: "scorer, nodes", name: valueOf("scorer"),
	key: "nodes", heading: nodesHeading,
	cell: func(r row) string { return against(r, 1000, callTime, fullPassCallTime) },
}

// transformations compares the transformation of a matrix of workloads with the transformation of their
// resource lists.
var transformations = cross{
	title: "Transformations, ns per workload, times as fast as resource lists: 10,000 workloads of 16 inputs and 8 outputs",
	first: "what, inputs requested, entries of 128",
	name: func(r row) string {
		return fmt.Sprintf("%s, %s, %s", r.key("transform"), r.key("requested"), r.key("entries"))
	},
	key: "impl", heading: implName,
	cell: func(r row) string { return against(r, 1, workloadTime, listWorkloadTime) },
}

// deviceScores compares the scores of devices with scores of resource lists.
var deviceScores = cross{
	title: "Device scores of one pod, µs, times as fast as resource lists",
	first: "what, nodes × devices, resources",
	name: func(r row) string {
		return fmt.Sprintf("%s, %s × %s, %s", r.key("device"), thousands(r.number("nodes")), r.key("devices"), r.key("resources"))
	},
	key: "impl", heading: implName,
	cell: func(r row) string { return against(r, 1000, callTime, listCallTime) },
}

var oneNode = cross{
	title: "One pod, one node, ns; batch: per node of 5,000",
	first: "case", name: valueOf("case"),
	key: "form", heading: strings.Clone,
	cell: func(r row) string { return number(r.value(kernelTime)) },
}

var copies = cross{
	title: "Copy of a node's four amounts or a pod's one, ns (allocations); batch: per record of 5,000",
	first: "case", name: valueOf("case"),
	key: "form", heading: strings.Clone,
	cell: func(r row) string {
		return fmt.Sprintf("%s (%d)", number(r.value(kernelTime)), int(r.value("allocs/op")))
	},
}

var calls = cross{
	title: "Nodes of 8 columns, ns per call",
	first: "operation", name: func(r row) string { return cmp.Or(r.key("op"), "overlay, 64 changes and a rollback") },
	key: "nodes", heading: nodesHeading,
	cell: func(r row) string { return number(r.value("ns/op")) },
}

// scenarios compares the scenario filter with the row loop.
var scenarios = cross{
	title: "Scenario filter, µs, times as fast as the row loop: 64 members on 2,000 nodes of 8 columns, 16,000 victims",
	first: "members, victims to go", name: valueOf("members"),
	key: "prefix", heading: nodesHeading,
	cell: func(r row) string { return against(r, 1000, callTime, rowLoopCallTime) },
}

// against formats a time, divided by scale, and how often it fits in the one it is compared with.
func against(r row, scale float64, unit, of string) string {
	return number(r.value(unit)/scale) + ", " + times(r.per(unit, of), true)
}

// withoutBetween leaves out the cases between those with none and ten custom resources, and
// those that end early since something is missing.
func withoutBetween(rows []row) []row {
	return slices.DeleteFunc(rows, func(r row) bool { return between.MatchString(r.key("case")) })
}

var between = regexp.MustCompile(`\bcustom-[1-9]\b|-(missing|no-device|too-many)$`)

func header(b *strings.Builder, title string, names ...string) {
	fmt.Fprintf(b, "#### %s\n\n", title)
	tableHead(b, names...)
}

func tableHead(b *strings.Builder, names ...string) {
	cells(b, names...)
	b.WriteString("|---|" + strings.Repeat("---:|", len(names)-1) + "\n")
}

func cells(b *strings.Builder, values ...string) {
	b.WriteString("|")
	for _, value := range values {
		b.WriteString(strings.TrimRight(" "+value, " ") + " |")
	}
	b.WriteByte('\n')
}

// number formats a measured value with three digits at most, and nothing for NaN.
func number(x float64) string {
	switch {
	case math.IsNaN(x):
		return ""
	case x >= 100:
		return thousands(int(math.Round(x)))
	case x >= 10:
		return fmt.Sprintf("%.1f", x)
	}
	return fmt.Sprintf("%.2f", x)
}

// thousands formats n with separators.
func thousands(n int) string {
	if n < 1000 {
		return fmt.Sprint(n)
	}
	return fmt.Sprintf("%s,%03d", thousands(n/1000), n%1000)
}
