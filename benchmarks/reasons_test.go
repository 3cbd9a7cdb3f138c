package benchmarks

import (
	"cmp"
	"fmt"
	"maps"
	"slices"
	"strings"
	"testing"

	"github.com/resvec/resvec/benchmarks/internal/stopwatch"
	"github.com/resvec/resvec/internal/testkit"
	"github.com/resvec/resvec/vector"
	"github.com/resvec/resvec/vector/gang"
	"github.com/resvec/resvec/vectormap"
)

// BenchmarkReasonsRatio measures what a scheduler pays for the text that the user of a pod
// reads when no node holds it: the counts of vector.Rejections, or of gang.Rejections for
// the nodes of each rack, written out, against a row loop that keeps a fit error for each node
// and counts their reasons. Both give the same text.
//
//	ns/call        of the counts and the text
//	counts-ns/call of the counts alone: what an attempt pays whose text nobody reads
//	rowloop-ns/call
//	x_rowloop      how many times as fast as the row loop
//	x_unread       the same without the text
func BenchmarkReasonsRatio(b *testing.B) {
	for _, nodes := range []int{500, 5000} {
		for _, racks := range []int{0, nodes / 20} {
			b.Run(fmt.Sprintf("nodes=%d/racks=%d", nodes, racks), func(b *testing.B) {
				s := newReasons(nodes, racks)
				want := s.rowTexts()
				for k, got := range s.texts() {
					if got != want[k] {
						b.Fatalf("%s, want %s", got, want[k])
					}
				}
				if n := testing.AllocsPerRun(1, s.count); n != 0 {
					b.Fatalf("%v allocations", n)
				}
				counts := stopwatch.New(1, func(int) { s.count() })
				texts := stopwatch.New(1, func(int) { s.texts() })
				rowloop := stopwatch.New(1, func(int) { s.rowTexts() })
				alternate(b, counts, texts, rowloop)
				b.ReportMetric(texts.Best, "ns/call")
				b.ReportMetric(counts.Best, "counts-ns/call")
				b.ReportMetric(rowloop.Best, "rowloop-ns/call")
				b.ReportMetric(rowloop.Best/texts.Best, "x_rowloop")
				b.ReportMetric(rowloop.Best/counts.Best, "x_unread")
			})
		}
	}
}

// reasons is a pod that fits on no node: 8 resources, of which each node lacks one or two.
type reasons struct {
	m       *vectormap.ResourceVectorMap
	free    *vector.Matrix
	request vector.ResourceVector
	racks   *gang.Domains // nil: one
	counts  []int

	nodes     []*rowNode
	names     []string
	resources []string
	members   [][]int32
	place     map[string]int // of a reason among equally frequent ones
}

func newReasons(nodes, racks int) *reasons {
	r := random(uint64(nodes))
	s := &reasons{
		m:       testkit.Must(vectormap.New([]string{"example.com/a", "example.com/b", "example.com/c", "nvidia.com/gpu", "ephemeral-storage"})),
		request: make(vector.ResourceVector, packCols),
		place:   make(map[string]int),
	}
	rows := make([][]float64, nodes)
	for i := range rows {
		rows[i] = make([]float64, packCols)
		for j := range rows[i] {
			rows[i][j] = 4000
		}
		for range 2 { // the resources that it lacks, one or two
			lacking := r.IntN(packCols - 1)
			if lacking >= vectormap.Pods {
				lacking++
			}
			rows[i][lacking] = float64(r.IntN(1000))
		}
		s.names = append(s.names, fmt.Sprintf("node-%04d", i))
	}
	for j := range s.request {
		s.request[j] = 1000
		s.resources = append(s.resources, s.m.Name(j))
	}
	s.resources[vectormap.GPU] = "nvidia.com/gpu" // as Kubernetes says it
	for j, name := range s.resources {
		s.place["Insufficient "+name] = j
	}
	s.free, s.nodes = matrixOf(rows), newRowNodes(rows, nil, nil)
	sets := &gang.Domains{Rows: make([]int32, nodes), Offsets: vector.Offsets{0}}
	for i := range sets.Rows {
		sets.Rows[i] = int32(i)
	}
	for k := range max(racks, 1) {
		from, to := sets.Offsets[k], int32(nodes*(k+1)/max(racks, 1))
		sets.Offsets = append(sets.Offsets, to)
		s.members = append(s.members, sets.Rows[from:to])
	}
	if racks > 0 {
		s.racks = sets
	}
	return s
}

// count counts the nodes that lack each resource.
func (s *reasons) count() {
	s.counts = gang.Rejections(s.counts, s.free, s.request, nil, s.racks)
}

// texts returns a line for each rack, or one for all nodes.
func (s *reasons) texts() []string {
	s.count()
	lines, cols := make([]string, len(s.members)), s.free.Cols()
	for k, members := range s.members {
		lines[k] = s.m.ExplainRejections(len(members), s.counts[k*cols:][:cols])
	}
	return lines
}

// fitError is why one node cannot hold a pod, in words.
type fitError struct {
	node    string
	reasons []string
}

// rowTexts is texts with a fit error for each node.
func (s *reasons) rowTexts() []string {
	failed := make(map[string]*fitError)
	for i, n := range s.nodes {
		var e *fitError
		for j, x := range s.request {
			if x > n.idle[j] {
				if e == nil {
					e = &fitError{node: s.names[i]}
					failed[e.node] = e
				}
				e.reasons = append(e.reasons, "Insufficient "+s.resources[j])
			}
		}
	}
	var lines []string
	for _, members := range s.members {
		counts := make(map[string]int)
		for _, i := range members {
			if e := failed[s.names[i]]; e != nil {
				for _, reason := range e.reasons {
					counts[reason]++
				}
			}
		}
		order := slices.SortedFunc(maps.Keys(counts), func(a, b string) int {
			return cmp.Or(cmp.Compare(counts[b], counts[a]), cmp.Compare(s.place[a], s.place[b]))
		})
		for k, reason := range order {
			order[k] = fmt.Sprintf("%d %s", counts[reason], reason)
		}
		lines = append(lines, fmt.Sprintf("0/%d nodes are available: %s.", len(members), strings.Join(order, ", ")))
	}
	return lines
}
