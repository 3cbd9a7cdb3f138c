package benchmarks

import (
	"fmt"
	"maps"
	"slices"
	"testing"

	"github.com/resvec/resvec/vector"
)

// The columns of the one-node benchmarks.
const (
	columnCPU = iota
	columnMemory
	columnGPU
	columnPods
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
	name string
	task structTask
	fits bool
}

// newTaskCase returns a pod of 4 CPUs and 16 GiB.
func newTaskCase(name string) taskCase {
	v := make(vector.ResourceVector, taskColumns)
	v[columnCPU], v[columnMemory], v[columnPods] = 4000, 16<<30, 1
	return taskCase{
		name: name,
		task: structTask{request: &structResources{4000, 16 << 30, 0, map[string]int64{"pods": 1}}, vector: v},
		fits: true,
	}
}

// withCustom adds a request for 2 of custom resource k.
func (c taskCase) withCustom(k int) taskCase {
	c.task.request.scalars[customName(k)] = 2
	c.task.vector[columnCustom+k] = 2
	return c
}

func taskCases() []taskCase {
	bestEffort := newTaskCase("best-effort")
	bestEffort.task.request = &structResources{scalars: map[string]int64{"pods": 1}}
	clear(bestEffort.task.vector)
	bestEffort.task.vector[columnPods] = 1

	whole := newTaskCase("whole-gpu")
	whole.task.request.gpus, whole.task.vector[columnGPU] = 2, 2
	tooMany := newTaskCase("whole-gpu-too-many")
	tooMany.task.request.gpus, tooMany.task.vector[columnGPU] = 9, 9
	tooMany.fits = false

	fraction := newTaskCase("fraction")
	fraction.task.part.portion = 0.5
	memory := newTaskCase("gpu-memory")
	memory.task.part.memory = 20 << 10

	mig := newTaskCase("mig")
	mig.task.request.scalars["nvidia.com/mig-1g.5gb"], mig.task.vector[columnMIG] = 1, 1

	// Only a shared GPU could hold these, and none does: both sides walk over them all.
	fractionTooLarge := newTaskCase("fraction-no-device")
	fractionTooLarge.task.part.portion, fractionTooLarge.fits = 1.5, false

	cases := []taskCase{bestEffort, whole, tooMany, fraction, fractionTooLarge, memory, mig}
	for _, missing := range []bool{false, true} {
		for n := 1; n <= maxCustom; n++ {
			c := newTaskCase(fmt.Sprintf("custom-%d", n))
			for k := range n {
				c = c.withCustom(k)
			}
			if missing { // and one that no node has
				c = c.withCustom(maxCustom)
				c.name, c.fits = c.name+"-missing", false
			}
			cases = append(cases, c)
		}
	}
	return cases
}

// taskNodesOf returns the nodes in both forms: some of their GPUs idle and two
// shared, and some of every resource but the last.
func taskNodesOf() ([]*structNode, *vector.Matrix) {
	r := random(20)
	structs := make([]*structNode, taskNodes)
	m := vector.NewMatrix(vector.Schema{}, taskNodes, taskColumns)
	for i := range structs {
		v := make(vector.ResourceVector, taskColumns)
		v[columnCPU] = float64(16000 + r.IntN(48000))
		v[columnMemory] = float64(64+r.IntN(192)) * (1 << 30)
		v[columnGPU] = float64(2 + r.IntN(6))
		v[columnPods] = float64(10 + r.IntN(100))
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
			idle:   &structResources{v[columnCPU], v[columnMemory], v[columnGPU], scalars},
			vector: v,
			gpus:   nodeGPUs{memoryPerGPU, map[string]int64{"gpu-a": 60 << 10, "gpu-b": 70 << 10}},
		}
		m.SetRow(i, v)
	}
	return structs, m
}

// BenchmarkIsTaskAllocatable asks whether a pod can run on a node: by the
// struct form and by one vector, node after node, and by one call for 5,000
// nodes. Whoever wants a part of a GPU walks over the devices in the same way in every
// form, on the nodes whose counted resources suffice.
func BenchmarkIsTaskAllocatable(b *testing.B) {
	structs, free := taskNodesOf()
	for _, c := range taskCases() {
		request := vector.ResourceVector(c.task.vector)
		b.Run("case="+c.name+"/form=struct", func(b *testing.B) {
			b.ReportAllocs()
			answers := 0
			for i := 0; b.Loop(); i = (i + 1) % taskNodes {
				if structs[i].isTaskAllocatable(&c.task) == c.fits {
					answers++
				}
			}
			reportPerNode(b, 1, answers)
		})
		b.Run("case="+c.name+"/form=vector", func(b *testing.B) {
			b.ReportAllocs()
			answers := 0
			for i := 0; b.Loop(); i = (i + 1) % taskNodes {
				n := structs[i]
				fits := request.FitsIn(n.vector) && n.gpus.hold(c.task.part, n.vector[columnGPU])
				if fits == c.fits {
					answers++
				}
			}
			reportPerNode(b, 1, answers)
		})
		b.Run("case="+c.name+"/form=batch", func(b *testing.B) {
			b.ReportAllocs()
			want := 0
			if c.fits {
				want = taskNodes
			}
			var mask vector.Mask
			mask.Reset(taskNodes)
			answers := 0
			for b.Loop() {
				vector.Fit(&mask, free, request)
				if c.task.part != (gpuPart{}) {
					for row := range mask.All() {
						if n := structs[row]; !n.gpus.hold(c.task.part, n.vector[columnGPU]) {
							mask.Clear(row)
						}
					}
				}
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

// BenchmarkClone copies the amounts of a node's record, which are four, and of a pod's,
// which are one: in struct form, as vectors, and per record in a copy of 5,000 in
// matrices. A snapshot of [vector.Nodes] copies less: the rows that changed.
func BenchmarkClone(b *testing.B) {
	for _, record := range []struct {
		name    string
		amounts int
	}{{"node", 4}, {"pod", 1}} {
		for _, custom := range []int{0, 1, 5, maxCustom} {
			benchmarkClone(b, fmt.Sprintf("case=%s-custom-%d", record.name, custom), record.amounts, custom)
		}
	}
}

func benchmarkClone(b *testing.B, name string, amounts, custom int) {
	v := vector.ResourceVector(newTaskCase("").task.vector[:columnCustom+custom])
	scalars := map[string]int64{"pods": 1}
	for k := range custom {
		v[columnCustom+k] = 2
		scalars[customName(k)] = 2
	}
	structs, vectors := &structRecord{}, &vectorRecord{}
	for range amounts {
		structs.amounts = append(structs.amounts, (&structResources{v[columnCPU], v[columnMemory], v[columnGPU], scalars}).clone())
		vectors.amounts = append(vectors.amounts, v.Clone())
	}

	b.Run(name+"/form=struct", func(b *testing.B) {
		b.ReportAllocs()
		var c *structRecord
		for b.Loop() {
			c = structs.clone()
		}
		for k, got := range c.amounts {
			want := structs.amounts[k]
			if got.milliCPU != want.milliCPU || got.memory != want.memory || got.gpus != want.gpus || !maps.Equal(got.scalars, want.scalars) {
				b.Fatal("the clone differs")
			}
		}
		reportPerNode(b, 1, b.N)
	})
	b.Run(name+"/form=vector", func(b *testing.B) {
		b.ReportAllocs()
		var c *vectorRecord
		for b.Loop() {
			c = vectors.clone()
		}
		for k, got := range c.amounts {
			if !slices.Equal(got, vectors.amounts[k]) {
				b.Fatal("the clone differs")
			}
		}
		reportPerNode(b, 1, b.N)
	})
	b.Run(name+"/form=batch", func(b *testing.B) {
		// Two sources in turn: copied from one only, a matrix would know that nothing
		// has changed.
		sources, copied := make([][2]*vector.Matrix, amounts), make([]vector.Matrix, amounts)
		for a := range sources {
			for s := range sources[a] {
				m := vector.NewMatrix(vector.Schema{}, taskNodes, len(v))
				for i := range taskNodes {
					m.SetRow(i, v)
				}
				sources[a][s] = m
				copied[a].CopyFrom(m) // grows what has to grow
			}
		}
		b.ReportAllocs()
		for k := 0; b.Loop(); k ^= 1 {
			for a := range copied {
				copied[a].CopyFrom(sources[a][k])
			}
		}
		for a := range copied {
			if !slices.Equal(copied[a].Row(nil, taskNodes-1), v) {
				b.Fatal("the clone differs")
			}
		}
		reportPerNode(b, taskNodes, b.N)
	})
}
