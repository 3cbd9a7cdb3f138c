package benchmarks

import (
	"encoding/csv"
	"fmt"
	"math/rand/v2"
	"os"
	"slices"
	"strconv"
	"strings"

	"github.com/resvec/resvec/internal/testkit"
	"github.com/resvec/resvec/vector"
	"github.com/resvec/resvec/vectormap"
)

// scarceNames are resources other than cpu, memory, GPUs and pods, in the order of
// a map.
var scarceNames = []string{
	"amd.com/xdna-npu", "example.com/fpga", "example.com/nic", "example.com/tape",
	"habana.ai/gaudi", "hugepages-1Gi", "intel.com/qat", "nvidia.com/mig-1g.5gb",
	"nvidia.com/mig-3g.20gb", "rdma/hca", "smarter-devices/fuse", "xilinx.com/u250",
}

// scoringMap returns a map with that many columns: cpu, memory, GPUs, pods and
// scarce ones.
func scoringMap(cols int) *vectormap.ResourceVectorMap {
	return testkit.Must(vectormap.New(append([]string{"nvidia.com/gpu"}, scarceNames[:cols-4]...)))
}

// scoringNames returns the names that configurations and structs have for the
// columns: the original ones.
func scoringNames(m *vectormap.ResourceVectorMap) []resourceName {
	names := make([]resourceName, m.Len())
	for i, name := range m.All() {
		names[i] = resourceName(name)
		if originals := m.Originals(i); len(originals) > 0 {
			names[i] = resourceName(originals[0])
		}
	}
	return names
}

// scoringUnit is the grain of the amounts: 4 CPUs, 16 GiB, one of the others.
func scoringUnit(cols int) vector.ResourceVector {
	unit := vector.ResourceVector{4000, 16 << 30, 1, 1}
	for len(unit) < cols {
		unit = append(unit, 1)
	}
	return unit
}

// cluster is what all scorers are asked about, in every form.
type cluster struct {
	m     *vectormap.ResourceVectorMap
	names []resourceName

	nodes *vector.Nodes

	rows    []*rowNode
	volcano []*volcanoNode
	kube    []*kubeNode
	ints    []*kubeRow
}

// newCluster makes a cluster. Nodes have 8 to 16 units of a resource, and use
// some of each; has reports whether a node has a resource.
func newCluster(seed uint64, s shape, has func(r *rand.Rand, column int) bool) *cluster {
	c := &cluster{m: scoringMap(s.cols)}
	c.names = scoringNames(c.m)
	r, unit := random(seed), scoringUnit(s.cols)
	var allocatable, used, free [][]float64
	for range s.nodes {
		a, u, f := make([]float64, s.cols), make([]float64, s.cols), make([]float64, s.cols)
		for j, x := range unit {
			if !has(r, j) {
				continue
			}
			units := 8 + r.IntN(9)
			a[j], u[j] = x*float64(units), x*float64(r.IntN(units))
			f[j] = a[j] - u[j]
		}
		allocatable, used, free = append(allocatable, a), append(used, u), append(free, f)
	}
	c.nodes = c.m.NewNodes()
	for i := range allocatable {
		name := fmt.Sprintf("node-%05d", i)
		_, _, err := c.nodes.Set(name, 1, vector.NodeAmounts{Allocatable: allocatable[i], Requested: used[i]})
		testkit.Check(err)
	}
	c.rows = newRowNodes(free, nil, allocatable)
	for i := range s.nodes {
		copy(c.rows[i].used, used[i])
		c.volcano = append(c.volcano, &volcanoNode{
			name:        fmt.Sprintf("node-%05d", i),
			allocatable: newVolcanoResource(c.names, allocatable[i]),
			used:        newVolcanoResource(c.names, used[i]),
			idle:        newVolcanoResource(c.names, free[i]),
		})
		c.kube = append(c.kube, &kubeNode{newKubeResource(c.names, allocatable[i]), newKubeResource(c.names, used[i])})
		c.ints = append(c.ints, &kubeRow{wholeAmounts(allocatable[i]), wholeAmounts(used[i])})
	}
	return c
}

// everything is a cluster where each node has each resource.
func everything(*rand.Rand, int) bool { return true }

// mixed is a cluster where each node has cpu, memory and pods, seven of eight
// have GPUs, and half have any of the scarce ones.
func mixed(r *rand.Rand, column int) bool {
	switch column {
	case vectormap.CPU, vectormap.Memory, vectormap.Pods:
		return true
	case vectormap.GPU:
		return r.IntN(8) > 0
	}
	return r.IntN(2) > 0
}

func wholeAmounts(row []float64) []int64 {
	whole := make([]int64, len(row))
	for j, x := range row {
		whole[j] = int64(x)
	}
	return whole
}

// pods are the variants of a question, in every form.
type pods struct {
	requests []vector.ResourceVector
	volcano  []*volcanoTask
	kube     []*kubeResource
	ints     [][]int64
}

// newPods makes as many pods as there are variants. Each requests one unit of
// the given columns and two to four of one of them.
func (c *cluster) newPods(columns ...int) *pods {
	p := new(pods)
	unit := scoringUnit(c.m.Len())
	for k := range variants {
		request := make(vector.ResourceVector, c.m.Len())
		for _, j := range columns {
			request[j] = unit[j]
		}
		request[columns[k%len(columns)]] *= float64(2 + k%3)
		p.requests = append(p.requests, request)
		p.volcano = append(p.volcano, newVolcanoTask(c.names, request))
		p.kube = append(p.kube, newKubeResource(c.names, request))
		p.ints = append(p.ints, wholeAmounts(request))
	}
	return p
}

// amounts returns what a bound scorer takes of a pod.
func (p *pods) amounts(k int) vector.PodAmounts {
	return vector.PodAmounts{Requested: p.requests[k]}
}

// allColumns returns 0 to n-1.
func allColumns(n int) []int {
	columns := make([]int, n)
	for j := range columns {
		columns[j] = j
	}
	return columns
}

// traceShape is a line of the tables of the production trace in
// examples/replay/data: distinct nodes or requests, and how many of each.
type traceShape struct {
	cpu, memory float64
	gpus        int
	milli       float64 // of each GPU; pods only
	models      []int32
	count       int
}

// readTrace reads the tables. Models are numbered in the order of their names.
func readTrace() (nodes, pods []traceShape) {
	index := map[string]int32{}
	nodeRows, podRows := readTable("derived_node_shapes.csv"), readTable("derived_pod_shapes.csv")
	var models []string
	for _, row := range nodeRows {
		models = append(models, row[3])
	}
	slices.Sort(models)
	for i, name := range slices.Compact(models) {
		index[name] = int32(i)
	}
	for _, row := range nodeRows {
		nodes = append(nodes, traceShape{
			cpu: amount(row[0]), memory: amount(row[1]), gpus: int(amount(row[2])),
			models: []int32{index[row[3]]}, count: int(amount(row[4]))})
	}
	for _, row := range podRows {
		pod := traceShape{
			cpu: amount(row[0]), memory: amount(row[1]), gpus: int(amount(row[2])),
			milli: amount(row[3]), count: int(amount(row[5]))}
		if row[4] != "" {
			for name := range strings.SplitSeq(row[4], "|") {
				pod.models = append(pod.models, index[name])
			}
		}
		pods = append(pods, pod)
	}
	return nodes, pods
}

// readTable returns the lines of a table after its header.
func readTable(name string) [][]string {
	f := testkit.Must(os.Open("../examples/replay/data/" + name))
	defer f.Close()
	rows := testkit.Must(csv.NewReader(f).ReadAll())
	return rows[1:]
}

func amount(text string) float64 {
	return testkit.Must(strconv.ParseFloat(text, 64))
}
