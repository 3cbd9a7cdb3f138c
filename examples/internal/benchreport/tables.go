package main

import (
	"fmt"
	"math"
	"strings"
)

// Units that BenchmarkRatio and the other benchmarks of ratios report.
const (
	kernelTime    = "ns/node"
	rowLoopTime   = "rowloop-ns/node"
	structMapTime = "structmap-ns/node"
	roofTime      = "roof-ns/node"

	callTime        = "ns/call"
	rowLoopCallTime = "rowloop-ns/call"

	fullPassCallTime = "fullpass-ns/call" // of BenchmarkScoreCacheRatio

	workloadTime     = "ns/workload" // of BenchmarkTransformRatio
	listWorkloadTime = "resourcelist-ns/workload"
	denseTime        = "dense-ns/workload"

	listCallTime = "resourcelist-ns/call" // of BenchmarkDeviceScoreRatio
)

// tables returns all tables as Markdown.
func tables(all *results) string {
	var b strings.Builder
	quote := newQuoting(all)
	if rows := all.where("Ratio", nil); len(rows) > 0 {
		b.WriteString(quote.text)
		kernelTable(&b, rows, quote)
		implTable(&b, "Implementations", "kernel", rows, quote)
	}
	if rows := all.where("ScoringRatio", nil); len(rows) > 0 {
		scoringTable(&b, rows, quote)
		implTable(&b, "Scorers by implementation", "scorer", rows, quote)
	}
	cacheTable(&b, all.where("ScoreCacheRatio", nil))
	transformTable(&b, all.where("TransformRatio", nil))
	deviceTable(&b, all.where("DeviceScoreRatio", nil))
	formTable(&b, "One pod, one node: struct, vector, and per node in a batch of 5,000, ns", all.where("IsTaskAllocatable", nil))
	formTable(&b, "Copy of one node's resources, ns", all.where("Clone", nil))
	callTable(&b, "Nodes, ns per call", all.where("Nodes", nil), "op")
	scenarioTable(&b, all.where("ScenarioRatio", nil))
	callTable(&b, "Overlay, 64 changes and a rollback, ns", all.where("Overlay", nil), "")
	return strings.TrimSuffix(b.String(), "\n")
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
	q.text = fmt.Sprintf("Baselines at 5,000 nodes and 8 columns: row loop %s, struct and map %s. "+
		"For ArgMax and TopK the structs are the list of the feasible nodes with their scores that schedulers keep.\n\n",
		rowLoopBand.describe(rowLoop, q.rowLoop), structMapBand.describe(structMap, q.structMap))
	return q
}

func (b band) describe(ns float64, ok bool) string {
	verdict := "within"
	if !ok {
		verdict = "outside, so its ratios are not quoted,"
	}
	return fmt.Sprintf("%s ns per node (%s the band of %g to %g)", number(ns), verdict, b.low, b.high)
}

// times formats a ratio against a baseline, a dash when it is not quoted.
func times(ratio float64, quoted bool) string {
	if !quoted || math.IsNaN(ratio) {
		return "–"
	}
	return number(ratio) + "×"
}

// kernelTable lists every kernel and size with the fastest implementation.
func kernelTable(b *strings.Builder, rows []row, quote quoting) {
	best := rows[0].key("impl")
	header(b, "Kernels, "+best, "kernel", "nodes", "columns", "ns per node", "row loop, ns", "against row loop", "against structs", "of roof")
	for _, r := range rows {
		if r.key("impl") != best {
			continue
		}
		cells(b, r.key("kernel"), thousands(r.number("nodes")), columns(r), number(r.value(kernelTime)),
			number(r.value(rowLoopTime)),
			times(r.per(kernelTime, rowLoopTime), quote.rowLoop),
			times(r.per(kernelTime, structMapTime), quote.structMap),
			number(r.per(kernelTime, roofTime)))
	}
	b.WriteByte('\n')
}

// scoringTable lists every scorer and size with the fastest implementation.
func scoringTable(b *strings.Builder, rows []row, quote quoting) {
	best := rows[0].key("impl")
	header(b, "Scorers, "+best, "scorer", "nodes", "columns", "µs per pod", "ns per node", "row loop, ns", "structs, ns", "against row loop", "against structs")
	for _, r := range rows {
		if r.key("impl") != best {
			continue
		}
		cells(b, r.key("scorer"), thousands(r.number("nodes")), columns(r),
			number(r.value(kernelTime)*float64(r.number("nodes"))/1000), number(r.value(kernelTime)),
			number(r.value(rowLoopTime)), number(r.value(structMapTime)),
			times(r.per(kernelTime, rowLoopTime), quote.rowLoop),
			times(r.per(kernelTime, structMapTime), quote.structMap))
	}
	b.WriteByte('\n')
}

// cacheTable compares the score cache with scoring all rows for each pod.
func cacheTable(b *strings.Builder, rows []row) {
	if len(rows) == 0 {
		return
	}
	header(b, "Kept scores, pods of the production trace, of 151 shapes, placed and taken away one by one",
		"scorer", "nodes", "µs per decision", "full pass, µs", "against full pass")
	for _, r := range rows {
		cells(b, r.key("scorer"), thousands(r.number("nodes")), number(r.value(callTime)/1000),
			number(r.value(fullPassCallTime)/1000), times(r.per(callTime, fullPassCallTime), true))
	}
	b.WriteByte('\n')
}

// transformTable compares the transformation of a matrix of workloads with that
// of their resource lists.
func transformTable(b *strings.Builder, rows []row) {
	if len(rows) == 0 {
		return
	}
	header(b, "Transformations, ns per workload, 10,000 workloads of 16 inputs and 8 outputs", "what", "inputs requested",
		"entries of 128", "implementation", "ns", "resource lists, ns", "against lists", "dense multiply, ns")
	for _, r := range rows {
		cells(b, r.key("transform"), r.key("requested"), r.key("entries"), r.key("impl"), number(r.value(workloadTime)),
			number(r.value(listWorkloadTime)), times(r.per(workloadTime, listWorkloadTime), true), number(r.value(denseTime)))
	}
	b.WriteByte('\n')
}

// deviceTable compares the scores of devices with those of resource lists.
func deviceTable(b *strings.Builder, rows []row) {
	if len(rows) == 0 {
		return
	}
	header(b, "Device scores, one pod", "what", "nodes", "devices each", "resources", "implementation", "µs", "resource lists, µs", "against lists")
	for _, r := range rows {
		cells(b, r.key("device"), thousands(r.number("nodes")), r.key("devices"), r.key("resources"), r.key("impl"),
			number(r.value(callTime)/1000), number(r.value(listCallTime)/1000), times(r.per(callTime, listCallTime), true))
	}
	b.WriteByte('\n')
}

// scenarioTable compares the scenario filter with the row loop.
func scenarioTable(b *strings.Builder, rows []row) {
	if len(rows) == 0 {
		return
	}
	header(b, "Scenario filter, 64 members on 2,000 nodes of 8 columns, 16,000 victims", "members", "victims to go", "µs", "row loop, µs", "against row loop")
	for _, r := range rows {
		cells(b, r.key("members"), thousands(r.number("prefix")), number(r.value(callTime)/1000),
			number(r.value(rowLoopCallTime)/1000), times(r.per(callTime, rowLoopCallTime), true))
	}
	b.WriteByte('\n')
}

// implTable compares the implementations at one size, one line for each value of
// key.
func implTable(b *strings.Builder, title, key string, rows []row, quote quoting) {
	impls := distinct(rows, "impl")
	header(b, title+" at 5,000 nodes and 8 columns, ns per node (against the row loop)", append([]string{key}, impls...)...)
	for _, name := range distinct(rows, key) {
		line := []string{name}
		measured := false
		for _, impl := range impls {
			cell := "–"
			if r, ok := at5000(rows, key, name, impl); ok {
				measured = true
				cell = fmt.Sprintf("%s (%s)", number(r.value(kernelTime)), times(r.per(kernelTime, rowLoopTime), quote.rowLoop))
			}
			line = append(line, cell)
		}
		if measured {
			cells(b, line...)
		}
	}
	b.WriteByte('\n')
}

// at5000 returns the result for 5,000 nodes and 8 columns, or for the one
// column of a kernel that reads scores.
func at5000(rows []row, key, name, impl string) (row, bool) {
	for _, cols := range []string{"8", "1"} {
		for _, r := range rows {
			if r.has(map[string]string{key: name, "impl": impl, "nodes": "5000", "cols": cols, "requested": ""}) {
				return r, true
			}
		}
	}
	return row{}, false
}

// formTable lists cases by form.
func formTable(b *strings.Builder, title string, rows []row) {
	if len(rows) == 0 {
		return
	}
	forms := distinct(rows, "form")
	header(b, title, append([]string{"case"}, forms...)...)
	for _, name := range distinct(rows, "case") {
		line := []string{name}
		for _, form := range forms {
			var found row
			for _, r := range rows {
				if r.has(map[string]string{"case": name, "form": form}) {
					found = r
				}
			}
			line = append(line, number(found.value(kernelTime)))
		}
		cells(b, line...)
	}
	b.WriteByte('\n')
}

// callTable lists the time per call by size, one line for each value of key.
func callTable(b *strings.Builder, title string, rows []row, key string) {
	if len(rows) == 0 {
		return
	}
	header(b, title, "operation", "nodes", "columns", "ns")
	for _, r := range rows {
		name := r.key(key)
		if key == "" {
			name = r.benchmark
		}
		cells(b, name, thousands(r.number("nodes")), columns(r), number(r.value("ns/op")))
	}
	b.WriteByte('\n')
}

func header(b *strings.Builder, title string, names ...string) {
	fmt.Fprintf(b, "%s:\n\n", title)
	cells(b, names...)
	b.WriteString("|---|" + strings.Repeat("---:|", len(names)-1) + "\n")
}

func cells(b *strings.Builder, values ...string) {
	b.WriteString("| " + strings.Join(values, " | ") + " |\n")
}

// columns describes the columns of a row's problem.
func columns(r row) string {
	if n := r.key("requested"); n != "" {
		return n + " of " + r.key("cols")
	}
	return r.key("cols")
}

// number formats a measured value with three digits at most.
func number(x float64) string {
	switch {
	case math.IsNaN(x):
		return "–"
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
