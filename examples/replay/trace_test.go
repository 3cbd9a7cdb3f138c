package main

import (
	"maps"
	"math/rand/v2"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/resvec/resvec/internal/testkit"
	"github.com/resvec/resvec/vector"
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

func TestEmbeddedTables(t *testing.T) {
	tr := testkit.Must(loadTrace("", ""))
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
	lists := testkit.Must(loadTrace(listFile(t, nodeList), listFile(t, podList("default"))))
	tables := testkit.Must(loadTrace("", ""))
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
	nodes := testkit.Must(readNodes("nodes", strings.NewReader(shuffled(embeddedNodes))))
	pods := testkit.Must(readPods("pods", strings.NewReader(shuffled(embeddedPods))))
	got, want := newTrace(nodes, pods), testkit.Must(loadTrace("", ""))
	if !slices.Equal(got.nodes, want.nodes) || !slices.Equal(got.requests, want.requests) || !slices.Equal(got.pods, want.pods) {
		t.Error("another order of the rows gives another trace")
	}
}

// published are the traces that results were published of, and how many pods
// arrive in the runs of seeds 42 to 51.
var published = []struct {
	name     string
	arrivals [10]int
}{
	{"default", [10]int{10791, 10814, 10803, 10851, 10822, 10883, 10803, 10787, 10809, 10821}},
	{"cpu100", [10]int{10381, 10373, 10388, 10419, 10464, 10453, 10361, 10451, 10465, 10396}},
	{"gpushare60", [10]int{13498, 13417, 13473, 13369, 13506, 13482, 13361, 13331, 13426, 13430}},
	{"gpuspec20", [10]int{10791, 10814, 10803, 10851, 10822, 10883, 10803, 10787, 10809, 10821}},
	{"multigpu40", [10]int{7443, 7506, 7414, 7477, 7454, 7529, 7367, 7521, 7422, 7525}},
}

// publishedTrace loads one of them: the embedded one, or else the lists.
func publishedTrace(t *testing.T, name string) *trace {
	t.Helper()
	if name == "default" {
		return testkit.Must(loadTrace("", ""))
	}
	return testkit.Must(loadTrace(listFile(t, nodeList), listFile(t, podList(name))))
}

func podList(name string) string { return "openb_pod_list_" + name + ".csv" }

func TestNumberOfArrivals(t *testing.T) {
	for _, p := range published {
		t.Run(p.name, func(t *testing.T) {
			tr := publishedTrace(t, p.name)
			for i, want := range p.arrivals {
				if got := len(testkit.Must(tr.arrivals(42+int64(i), publishedInflation))); got != want {
					t.Errorf("seed %d: %d arrivals, want %d", 42+i, got, want)
				}
			}
		})
	}
}

func TestArrivals(t *testing.T) {
	tr := testkit.Must(loadTrace("", ""))
	first := testkit.Must(tr.arrivals(42, 1.3))
	if !slices.Equal(first, testkit.Must(tr.arrivals(42, 1.3))) {
		t.Error("one seed gives two orders")
	}
	if slices.Equal(first, testkit.Must(tr.arrivals(43, 1.3))) {
		t.Error("two seeds give one order")
	}
	all := slices.Sorted(slices.Values(first[:len(tr.pods)]))
	if !slices.Equal(all, tr.pods) {
		t.Error("not every pod of the list comes first")
	}
}

// Where the list asks for less than the target, more demand only appends pods.
func TestInflationExtendsTheArrivals(t *testing.T) {
	tr := testkit.Must(loadTrace("", ""))
	for seed := range int64(5) {
		short := testkit.Must(tr.arrivals(seed, 1))
		for _, inflate := range []float64{1.001, 1.1, 1.5, 3} {
			long := testkit.Must(tr.arrivals(seed, inflate))
			if len(long) < len(short) || !slices.Equal(long[:len(short)], short) {
				t.Errorf("seed %d: the arrivals for %v times the capacity don't begin with those for less", seed, inflate)
			}
			short = long
		}
	}
}

// Where it asks for more, pods are taken out until the demand is at most the
// target; the others keep their order.
func TestDeflationRemovesArrivals(t *testing.T) {
	tr := testkit.Must(loadTrace("", ""))
	all := testkit.Must(tr.arrivals(7, 0.98))[:len(tr.pods)]
	few := testkit.Must(tr.arrivals(7, 0.5))
	if demand := tr.demand(few); demand > tr.capacity/2 || demand < tr.capacity/2-8*wholeGPU {
		t.Errorf("the pods ask for %d of %d", demand, tr.capacity)
	}
	rest := all
	for i, id := range few {
		at := slices.Index(rest, id)
		if at < 0 {
			t.Fatalf("arrival %d is not in the order of the others", i)
		}
		rest = rest[at+1:]
	}
}

func TestTooManyArrivals(t *testing.T) {
	tr := newTrace(map[nodeShape]int{{1000, 10, 1, ""}: 40000}, map[podShape]int{{1, 1, 1, 1, ""}: 3})
	if _, err := tr.arrivals(1, 1.3); err == nil || !strings.Contains(err.Error(), "more than 16777216 arrivals") {
		t.Errorf("got %v", err)
	}
}

func TestNodeOrder(t *testing.T) {
	tr := testkit.Must(loadTrace("", ""))
	order := tr.nodeOrder(42)
	rank := stream(42, streamNodes).Perm(len(tr.nodes))
	for row, node := range order {
		if rank[node] != row {
			t.Fatalf("node %d is in row %d, its rank is %d", node, row, rank[node])
		}
	}
}

// Which models satisfy a spec.
func TestSpecs(t *testing.T) {
	models := []string{"A", "B", "AB", ""}
	for spec, want := range map[string][]int{
		"":          {0, 1, 2, 3},
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
		nodes := map[nodeShape]int{}
		for i, model := range models {
			nodes[nodeShape{int64(i + 1), 0, 1, model}] = 1
		}
		c := testkit.Must(newCluster(newTrace(nodes, map[podShape]int{{0, 0, 1, 500, spec}: 1})))
		s := testkit.Must(newPlacer(c, policies[0], 1, tiesShape))
		var rows vector.Mask
		s.scorer.Fit(&rows, &c.kinds[0].gpu, nil)
		var got []int
		for row := range rows.All() {
			got = append(got, row)
		}
		if !slices.Equal(got, want) {
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
