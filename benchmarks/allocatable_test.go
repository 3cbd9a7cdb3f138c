package benchmarks

import (
	"fmt"
	"maps"
	"slices"
	"testing"

	"github.com/resvec/resvec/vector"
)

// The columns of the one-node benchmarks. Shares of a GPU and GPU memory are
// decided by the best device, so that is what the vector of a node holds.
const (
	columnCPU = iota
	columnMemory
	columnGPU
	columnPods
	columnGPUShare  // thousandths free on the device that has most
	columnGPUMemory // MiB free on the device that has most
	columnMIG
	columnCustom // the first of maxCustom
)

const (
	maxCustom    = 10
	taskColumns  = columnCustom + maxCustom + 1 // the last one is on no node
	memoryPerGPU = 80 << 10                     // MiB
	taskNodes    = 5000
)

func customName(k int) string { return fmt.Sprintf("example.com/custom-%d", k) }

// taskCase is one pod, in both forms, that fits every node or none.
type taskCase struct {
	name   string
	task   structTask
	vector vector.ResourceVector
	fits   bool
}

// newTaskCase returns a pod of 4 CPUs and 16 GiB.
func newTaskCase(name string) taskCase {
	v := make(vector.ResourceVector, taskColumns)
	v[columnCPU], v[columnMemory], v[columnPods] = 4000, 16<<30, 1
	return taskCase{
		name:   name,
		task:   structTask{request: &structResources{4000, 16 << 30, 0, map[string]int64{"pods": 1}}},
		vector: v,
		fits:   true,
	}
}

// withCustom adds a request for 2 of custom resource k.
func (c taskCase) withCustom(k int) taskCase {
	c.task.request.scalars[customName(k)] = 2
	c.vector[columnCustom+k] = 2
	return c
}

func taskCases() []taskCase {
	bestEffort := newTaskCase("best-effort")
	bestEffort.task.request = &structResources{scalars: map[string]int64{"pods": 1}}
	bestEffort.vector = make(vector.ResourceVector, taskColumns)
	bestEffort.vector[columnPods] = 1

	whole := newTaskCase("whole-gpu")
	whole.task.request.gpus, whole.vector[columnGPU] = 2, 2
	tooMany := newTaskCase("whole-gpu-too-many")
	tooMany.task.request.gpus, tooMany.vector[columnGPU] = 9, 9
	tooMany.fits = false

	fraction := newTaskCase("fraction")
	fraction.task.portion, fraction.vector[columnGPUShare] = 0.5, 500
	memory := newTaskCase("gpu-memory")
	memory.task.gpuMemory, memory.vector[columnGPUMemory] = 20<<10, 20<<10

	mig := newTaskCase("mig")
	mig.task.request.scalars["nvidia.com/mig-1g.5gb"], mig.vector[columnMIG] = 1, 1

	cases := []taskCase{bestEffort, whole, tooMany, fraction, memory, mig}
	for n := 1; n <= maxCustom; n++ {
		c := newTaskCase(fmt.Sprintf("custom-%d", n))
		for k := range n {
			c = c.withCustom(k)
		}
		cases = append(cases, c)
	}
	missing := newTaskCase("custom-missing").withCustom(0).withCustom(maxCustom)
	missing.fits = false
	return append(cases, missing)
}

// taskNodesOf returns the nodes in both forms: some of their GPUs idle and two
// shared, and some of every resource but the last.
func taskNodesOf() ([]*structNode, []vector.ResourceVector, *vector.Matrix) {
	r := random(20)
	structs := make([]*structNode, taskNodes)
	vectors := make([]vector.ResourceVector, taskNodes)
	m := vector.NewMatrix(vector.Schema{}, taskNodes, taskColumns)
	for i := range structs {
		v := make(vector.ResourceVector, taskColumns)
		v[columnCPU] = float64(16000 + r.IntN(48000))
		v[columnMemory] = float64(64+r.IntN(192)) * (1 << 30)
		v[columnGPU] = float64(2 + r.IntN(6))
		v[columnPods] = float64(10 + r.IntN(100))
		v[columnGPUShare], v[columnGPUMemory] = 1000, memoryPerGPU // an idle GPU
		v[columnMIG] = float64(1 + r.IntN(7))
		scalars := map[string]int64{
			"pods":                  int64(v[columnPods]),
			"nvidia.com/mig-1g.5gb": int64(v[columnMIG]),
		}
		for k := range maxCustom {
			v[columnCustom+k] = float64(2 + r.IntN(30))
			scalars[customName(k)] = int64(v[columnCustom+k])
		}
		structs[i] = &structNode{
			idle:         &structResources{v[columnCPU], v[columnMemory], v[columnGPU], scalars},
			memoryPerGPU: memoryPerGPU,
			usedOnShared: map[string]int64{"gpu-a": 60 << 10, "gpu-b": 70 << 10},
		}
		vectors[i] = v
		m.SetRow(i, v)
	}
	return structs, vectors, m
}

// BenchmarkIsTaskAllocatable asks whether a pod can run on a node: by the
// struct form and by one vector, node after node, and by one call for 5,000
// nodes.
func BenchmarkIsTaskAllocatable(b *testing.B) {
	structs, vectors, free := taskNodesOf()
	for _, c := range taskCases() {
		b.Run("case="+c.name+"/form=struct", func(b *testing.B) {
			answers := 0
			for i := 0; b.Loop(); i = (i + 1) % taskNodes {
				if structs[i].isTaskAllocatable(&c.task) == c.fits {
					answers++
				}
			}
			reportPerNode(b, 1, answers)
		})
		b.Run("case="+c.name+"/form=vector", func(b *testing.B) {
			answers := 0
			for i := 0; b.Loop(); i = (i + 1) % taskNodes {
				if c.vector.FitsIn(vectors[i]) == c.fits {
					answers++
				}
			}
			reportPerNode(b, 1, answers)
		})
		b.Run("case="+c.name+"/form=batch", func(b *testing.B) {
			want := 0
			if c.fits {
				want = taskNodes
			}
			var mask vector.Mask
			answers := 0
			for b.Loop() {
				vector.Fit(&mask, free, c.vector)
				if mask.Count() == want {
					answers++
				}
			}
			reportPerNode(b, taskNodes, answers)
		})
	}
}

// reportPerNode reports the time per node of a loop that took several nodes at
// a time, and fails unless every answer was right.
func reportPerNode(b *testing.B, nodes, rightAnswers int) {
	if rightAnswers != b.N {
		b.Fatalf("%d of %d answers are right", rightAnswers, b.N)
	}
	b.ReportMetric(float64(b.Elapsed().Nanoseconds())/float64(b.N)/float64(nodes), "ns/node")
}

// BenchmarkClone copies the resources of a node: in struct form, as one vector,
// and as a part of the matrix of 5,000 nodes.
func BenchmarkClone(b *testing.B) {
	for _, custom := range []int{0, 1, 5, maxCustom} {
		v := newTaskCase("").vector[:columnCustom+custom]
		scalars := map[string]int64{"pods": 1}
		for k := range custom {
			v[columnCustom+k] = 2
			scalars[customName(k)] = 2
		}
		resources := &structResources{v[columnCPU], v[columnMemory], v[columnGPU], scalars}
		name := fmt.Sprintf("case=custom-%d", custom)

		b.Run(name+"/form=struct", func(b *testing.B) {
			b.ReportAllocs()
			var c *structResources
			for b.Loop() {
				c = resources.clone()
			}
			equal := c.milliCPU == resources.milliCPU && c.memory == resources.memory && c.gpus == resources.gpus
			if !equal || !maps.Equal(c.scalars, resources.scalars) {
				b.Fatal("the clone differs")
			}
			reportPerNode(b, 1, b.N)
		})
		b.Run(name+"/form=vector", func(b *testing.B) {
			b.ReportAllocs()
			var c vector.ResourceVector
			for b.Loop() {
				c = v.Clone()
			}
			if !slices.Equal(c, v) {
				b.Fatal("the clone differs")
			}
			reportPerNode(b, 1, b.N)
		})
		b.Run(name+"/form=batch", func(b *testing.B) {
			b.ReportAllocs()
			// Two sources in turn: copied from one only, a matrix would know that
			// nothing has changed.
			var sources [2]*vector.Matrix
			for s := range sources {
				sources[s] = vector.NewMatrix(vector.Schema{}, taskNodes, len(v))
				for i := range taskNodes {
					sources[s].SetRow(i, v)
				}
			}
			var c vector.Matrix
			for k := 0; b.Loop(); k ^= 1 {
				c.CopyFrom(sources[k])
			}
			if !slices.Equal(c.Row(nil, taskNodes-1), v) {
				b.Fatal("the clone differs")
			}
			reportPerNode(b, taskNodes, b.N)
		})
	}
}
