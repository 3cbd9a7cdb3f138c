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
	roofTime      = "roof-ns/node"

	callTime        = "ns/call"
	rowLoopCallTime = "rowloop-ns/call"

	fullPassCallTime = "fullpass-ns/call" // of BenchmarkScoreCacheRatio

	workloadTime     = "ns/workload" // of BenchmarkTransformRatio
	listWorkloadTime = "resourcelist-ns/workload"
	denseTime        = "dense-ns/workload"

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
	for _, part := range []struct {
		title, key string
		rows       []row
	}{{"Kernels", "kernel", kernels}, {"Small calls, Fit", "kernel", small}, {"Scorers", "scorer", scorers}} {
		if impls := distinct(part.rows, "impl"); len(impls) > 0 {
			sizeTable(&b, part.title+" by number of nodes, "+implName(impls[0]), part.key, part.rows, impls[0], quote)
		}
	}
	detailTable(&b, "Kernels", "kernel", kernels, quote)
	detailTable(&b, "Scorers", "scorer", scorers, quote)
	cacheTable(&b, all.where("ScoreCacheRatio", nil))
	transformTable(&b, all.where("TransformRatio", nil))
	deviceTable(&b, all.where("DeviceScoreRatio", nil))
	formTable(&b, "One pod, one node: struct, vector, and per node in a batch of 5,000, ns", all.where("IsTaskAllocatable", nil))
	formTable(&b, "Copy of a record: a node's four amounts, a pod's one; per record in a copy of 5,000, ns", all.where("Clone", nil))
	callTable(&b, "Nodes, ns per call", all.where("Nodes", nil), "op")
	scenarioTable(&b, all.where("ScenarioRatio", nil))
	callTable(&b, "Overlay, 64 changes and a rollback, ns", all.where("Overlay", nil), "")
	return strings.TrimSuffix(b.String(), "\n")
}

// smallCall is the kernel whose sizes are a table of their own.
const smallCall = "SmallCall"

// variants take about as long as another kernel or scorer, so they have no line.
var variants = map[string]bool{
	"FitStrict": true, "FitRows": true, "LessEqualRows": true, "DominantResourceRows": true,
	"ArgMaxInt64": true, "SumCopies": true, "DecisionOnePass": true,
}

// ends returns the first and the last element, once if they are one.
func ends(all []string) []string {
	if len(all) > 2 {
		return []string{all[0], all[len(all)-1]}
	}
	return all
}

// withEnds returns the rows of the first and the last implementation.
func withEnds(rows []row) []row {
	impls := ends(distinct(rows, "impl"))
	return slices.DeleteFunc(slices.Clone(rows), func(r row) bool { return !slices.Contains(impls, r.key("impl")) })
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

// sizeTable compares one implementation with the row loop: a line for each operation, a
// column for each number of nodes. Of many, 10, 50 and the most stand
// for the others; 5,000 has a table of its own.
func sizeTable(b *strings.Builder, title, key string, rows []row, impl string, quote quoting) {
	sizes := distinct(rows, "nodes")
	slices.SortFunc(sizes, func(x, y string) int { return cmp.Or(len(x)-len(y), cmp.Compare(x, y)) })
	if len(sizes) > 4 {
		typical := []string{"10", "50", sizes[len(sizes)-1]}
		sizes = slices.DeleteFunc(sizes, func(size string) bool { return !slices.Contains(typical, size) })
	}
	names := []string{key}
	for _, size := range sizes {
		n, _ := strconv.Atoi(size)
		names = append(names, thousands(n))
	}
	header(b, title+", ns per node (times as fast as the row loop)", names...)
	for _, name := range operationNames(rows, key) {
		line := []string{name}
		for _, size := range sizes {
			cell := "–"
			for _, r := range rows {
				if r.key("impl") == impl && r.key("nodes") == size && r.operation(key) == name {
					cell = fmt.Sprintf("%s (%s)", number(r.value(kernelTime)), times(r.per(kernelTime, rowLoopTime), quote.rowLoop))
				}
			}
			line = append(line, cell)
		}
		cells(b, line...)
	}
	b.WriteByte('\n')
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

// operationNames returns the names of the operations, in order of appearance.
func operationNames(rows []row, key string) []string {
	var names []string
	for _, r := range rows {
		if name := r.operation(key); !slices.Contains(names, name) {
			names = append(names, name)
		}
	}
	return names
}

// detailTable shows all that was measured at 5,000 nodes.
func detailTable(b *strings.Builder, title, key string, rows []row, quote quoting) {
	rows = slices.DeleteFunc(slices.Clone(rows), func(r row) bool { return r.number("nodes") != 5000 })
	if len(rows) == 0 {
		return
	}
	impls := distinct(rows, "impl")
	names := []string{key}
	for _, impl := range impls {
		names = append(names, implName(impl))
	}
	header(b, title+" at 5,000 nodes, ns per node (times as fast as the row loop)",
		append(names, "row loop", "against structs", "of roof")...)
	for _, name := range operationNames(rows, key) {
		line, best := []string{name}, row{}
		for _, impl := range impls {
			cell := "–"
			for _, r := range rows {
				if r.key("impl") == impl && r.operation(key) == name {
					cell = fmt.Sprintf("%s (%s)", number(r.value(kernelTime)), times(r.per(kernelTime, rowLoopTime), quote.rowLoop))
					if best.values == nil {
						best = r
					}
				}
			}
			line = append(line, cell)
		}
		cells(b, append(line, number(best.value(rowLoopTime)),
			times(best.per(kernelTime, structMapTime), quote.structMap), number(best.per(kernelTime, roofTime)))...)
	}
	if slices.ContainsFunc(rows, func(r row) bool { return r.value("allocs/call") > 0 }) {
		b.WriteString("\nSome of these calls allocate.\n")
	}
	b.WriteByte('\n')
}

// allocated formats allocations and their bytes.
func (r row) allocated(allocs, bytes string) string {
	switch n := r.value(allocs); {
	case math.IsNaN(n):
		return "–"
	case n == 0:
		return "0"
	default:
		return thousands(int(n)) + " (" + thousands(int(r.value(bytes))) + ")"
	}
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
	for _, r := range withEnds(rows) {
		cells(b, r.key("transform"), r.key("requested"), r.key("entries"), r.key("impl"), number(r.value(workloadTime)),
			number(r.value(listWorkloadTime)), times(r.per(workloadTime, listWorkloadTime), true), number(r.value(denseTime)))
	}
	b.WriteByte('\n')
}

// deviceTable compares the scores of devices with scores of resource lists.
func deviceTable(b *strings.Builder, rows []row) {
	if len(rows) == 0 {
		return
	}
	header(b, "Device scores, one pod", "what", "nodes", "devices each", "resources", "implementation", "µs", "resource lists, µs", "against lists")
	for _, r := range withEnds(rows) {
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

// formTable lists cases by form: the time, and what is allocated where anything is.
func formTable(b *strings.Builder, title string, rows []row) {
	if len(rows) == 0 {
		return
	}
	forms := distinct(rows, "form")
	names := append([]string{"case"}, forms...)
	allocates := slices.ContainsFunc(rows, func(r row) bool { return r.value("allocs/op") > 0 })
	if allocates {
		title += "; allocations (bytes) per call"
		for _, form := range forms {
			names = append(names, form+" allocates")
		}
	}
	header(b, title, names...)
	for _, name := range distinct(rows, "case") {
		if between.MatchString(name) {
			continue
		}
		line, allocated := []string{name}, []string(nil)
		for _, form := range forms {
			var found row
			for _, r := range rows {
				if r.has(map[string]string{"case": name, "form": form}) {
					found = r
				}
			}
			line = append(line, number(found.value(kernelTime)))
			if allocates {
				allocated = append(allocated, found.allocated("allocs/op", "B/op"))
			}
		}
		cells(b, append(line, allocated...)...)
	}
	b.WriteByte('\n')
}

// between matches the cases between those with one and ten custom resources, and those that
// end early since a resource is missing.
var between = regexp.MustCompile(`\bcustom-[2-9]\b|-missing$`)

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
	fmt.Fprintf(b, "#### %s\n\n", title)
	tableHead(b, names...)
}

func tableHead(b *strings.Builder, names ...string) {
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
