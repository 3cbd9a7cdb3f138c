package main

import (
	"maps"
	"math/rand/v2"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
)

// The published lists.
const (
	listsVariable = "RESVEC_OPENB"
	listsSource   = "data/csv of github.com/hkust-adsl/kubernetes-scheduler-simulator"
	nodeList      = "openb_node_list_gpu_node.csv"
)

// listFile returns the path of a published list, and skips the test when the
// folder is not given.
func listFile(t *testing.T, name string) string {
	t.Helper()
	folder := os.Getenv(listsVariable)
	if folder == "" {
		t.Skipf("%s is not set; it names a folder with the lists of %s", listsVariable, listsSource)
	}
	path := filepath.Join(folder, name)
	if _, err := os.Stat(path); err != nil {
		t.Fatalf("%s is set, but: %v", listsVariable, err)
	}
	return path
}

func mustLoad(t testing.TB, nodeFile, podFile string) *trace {
	t.Helper()
	tr, err := loadTrace(nodeFile, podFile)
	if err != nil {
		t.Fatal(err)
	}
	return tr
}

func TestEmbeddedTables(t *testing.T) {
	tr := mustLoad(t, "", "")
	gpus := int64(0)
	for _, node := range tr.nodes {
		gpus += node.gpus
	}
	shapes := slices.Compact(slices.Clone(tr.nodes))
	for _, count := range []struct {
		what      string
		got, want int
	}{
		{"nodes", len(tr.nodes), 1213},
		{"node shapes", len(shapes), 15},
		{"GPUs", int(gpus), 6212},
		{"pods", len(tr.pods), 8152},
		{"requests", len(tr.requests), 151},
	} {
		if count.got != count.want {
			t.Errorf("%d %s, want %d", count.got, count.what, count.want)
		}
	}
	if !slices.IsSortedFunc(tr.nodes, compareNodes) || !slices.IsSortedFunc(tr.requests, comparePods) || !slices.IsSorted(tr.pods) {
		t.Error("the trace is not in canonical form")
	}
}

func TestEmbeddedTablesEqualTheLists(t *testing.T) {
	lists := mustLoad(t, listFile(t, nodeList), listFile(t, "openb_pod_list_default.csv"))
	tables := mustLoad(t, "", "")
	if !slices.Equal(lists.nodes, tables.nodes) {
		t.Error("the node table differs from the list")
	}
	if !slices.Equal(lists.requests, tables.requests) || !slices.Equal(lists.pods, tables.pods) {
		t.Error("the pod table differs from the list")
	}
}

func TestFileOrderDoesNotMatter(t *testing.T) {
	random := rand.New(rand.NewPCG(1, 2))
	shuffled := func(table string) string {
		lines := strings.SplitAfter(strings.TrimSuffix(table, "\n"), "\n")
		rows := lines[1:]
		rows[len(rows)-1] += "\n"
		random.Shuffle(len(rows), func(i, j int) { rows[i], rows[j] = rows[j], rows[i] })
		return strings.Join(lines, "")
	}
	nodes, err := readNodes("nodes", strings.NewReader(shuffled(embeddedNodes)))
	if err != nil {
		t.Fatal(err)
	}
	pods, err := readPods("pods", strings.NewReader(shuffled(embeddedPods)))
	if err != nil {
		t.Fatal(err)
	}
	got, want := newTrace(nodes, pods), mustLoad(t, "", "")
	if !slices.Equal(got.nodes, want.nodes) || !slices.Equal(got.requests, want.requests) || !slices.Equal(got.pods, want.pods) {
		t.Error("another order of the rows gives another trace")
	}
}

func TestArrivals(t *testing.T) {
	tr := mustLoad(t, "", "")
	first := tr.arrivals(42)
	if !slices.Equal(first, tr.arrivals(42)) {
		t.Error("one seed gives two orders")
	}
	if slices.Equal(first, tr.arrivals(43)) {
		t.Error("two seeds give one order")
	}
	if slices.Sort(first); !slices.Equal(first, tr.pods) {
		t.Error("not every pod arrives once")
	}
}

func TestSpecs(t *testing.T) {
	nodes := []nodeShape{{model: "A"}, {model: "B"}, {model: "AB"}, {model: ""}}
	for spec, want := range map[string][]int{
		"A":         {0},
		"A|B":       {0, 1},
		"B|A|A":     {0, 1},
		"|AB||":     {2},
		"C":         nil,
		"|":         nil,
		"A |B":      {1},
		"a":         nil,
		"A|B|AB|||": {0, 1, 2},
	} {
		if got := slices.Collect(nodesOf(nodes, spec).All()); !slices.Equal(got, want) {
			t.Errorf("spec %q allows nodes %v, want %v", spec, got, want)
		}
	}
}

// shapeCounts are the inverse of newTrace.
func shapeCounts(tr *trace) (map[nodeShape]int, map[podShape]int) {
	nodes, pods := map[nodeShape]int{}, map[podShape]int{}
	for _, node := range tr.nodes {
		nodes[node]++
	}
	for _, id := range tr.pods {
		pods[tr.requests[id]]++
	}
	return nodes, pods
}

func TestNewTraceKeepsCounts(t *testing.T) {
	nodes := map[nodeShape]int{{2, 1, 1, "B"}: 3, {10, 1, 0, ""}: 1, {2, 1, 1, "A"}: 2}
	pods := map[podShape]int{{1, 0, 1, 500, "B|A"}: 2, {1, 0, 0, 0, ""}: 4, {1, 0, 1, 500, "A|B"}: 1}
	gotNodes, gotPods := shapeCounts(newTrace(nodes, pods))
	if !maps.Equal(gotNodes, nodes) || !maps.Equal(gotPods, pods) {
		t.Errorf("got %v and %v", gotNodes, gotPods)
	}
}
