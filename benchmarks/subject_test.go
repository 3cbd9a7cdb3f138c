package benchmarks

import (
	"fmt"
	"slices"
	"testing"

	"github.com/resvec/resvec/benchmarks/internal/roof"
	"github.com/resvec/resvec/internal/kernel"
	"github.com/resvec/resvec/internal/testkit"
	"github.com/resvec/resvec/vector"
)

// shape is the size of one problem.
type shape struct{ nodes, cols, requested int }

// String returns the part of a benchmark's name that tells the shape.
func (s shape) String() string {
	name := fmt.Sprintf("nodes=%d/cols=%d", s.nodes, s.cols)
	if s.requested != s.cols {
		name += fmt.Sprintf("/requested=%d", s.requested)
	}
	return name
}

// shapes returns every combination, with all columns requested.
func shapes(nodes []int, cols ...int) []shape {
	var all []shape
	for _, n := range nodes {
		for _, c := range cols {
			all = append(all, shape{n, c, c})
		}
	}
	return all
}

// fewRequested returns shapes of which some columns are requested only.
func fewRequested(nodes []int, cols, requested int) []shape {
	all := shapes(nodes, cols)
	for i := range all {
		all[i].requested = requested
	}
	return all
}

// elements is how many numbers a kernel reads that goes once over the requested
// columns: whole blocks of rows.
func (s shape) elements() int {
	return (s.nodes + kernel.Block - 1) / kernel.Block * kernel.Block * s.requested
}

// subject is one operation on one problem, done by everybody who takes part.
// Each is asked variant k of the question.
type subject struct {
	results   int         // results per call; times are per result
	variants  int         // of the question
	elements  int         // numbers that the kernel has to read; 0 without a roof
	kernel    func(k int) // the library, by the implementation in use
	rowloop   func(k int) // its answer is the truth
	structmap func(k int) // nil when that form has no such operation

	// check compares the answers to the variant that all were asked last.
	check func() error
}

// verify asks everybody every variant and compares the answers.
func (s *subject) verify() error {
	for k := range s.variants {
		s.rowloop(k)
		s.kernel(k)
		if s.structmap != nil {
			s.structmap(k)
		}
		if err := s.check(); err != nil {
			return err
		}
	}
	return nil
}

// operation makes subjects.
type operation struct {
	name   string
	shapes []shape // of its own benchmark
	ratios []shape // of BenchmarkRatio
	new    func(shape) *subject
}

// contender is one way to carry out a subject.
type contender struct {
	name string
	impl kernel.Impl
	run  func(k int)
}

// contenders returns everybody who can run s here.
func (s *subject) contenders() []contender {
	all := []contender{{"rowloop", kernel.Active(), s.rowloop}}
	if s.structmap != nil {
		all = append(all, contender{"structmap", kernel.Active(), s.structmap})
	}
	for _, impl := range kernel.Available() {
		all = append(all, contender{impl.String(), impl, s.kernel})
	}
	return append(all, s.roofs(slices.Max(kernel.Available()))...)
}

// roofs returns the ways to load and sum what s reads: as one stream and as
// several, because one alone cannot use all of a memory's bandwidth.
func (s *subject) roofs(impl kernel.Impl) []contender {
	var all []contender
	for _, streams := range []int{1, 4, 8, 16} {
		if s.elements == 0 || s.elements%(kernel.Block*streams) != 0 {
			continue
		}
		data := roofData(s.elements)
		want := 3.5 * float64(s.elements)
		all = append(all, contender{fmt.Sprintf("roof/streams=%d", streams), impl, func(int) {
			if roof.Sum(data, streams) != want {
				panic("benchmarks: the roof did not read its data")
			}
		}})
	}
	return all
}

var roofBuffer []float64

// roofData returns n numbers, a multiple of 8, whose sum is 3.5*n.
func roofData(n int) []float64 {
	if len(roofBuffer) < n {
		roofBuffer = vector.NewMatrix(vector.Schema{}, n, 1).Column(0) // aligned as columns are
		for i := range roofBuffer {
			roofBuffer[i] = float64(i % 8)
		}
	}
	return roofBuffer[:n]
}

// tooLarge reports whether -short leaves a problem out: the answers of large ones are
// the answers of small ones, and making the baselines' nodes takes most of the time.
func tooLarge(nodes int) bool { return testing.Short() && nodes > 5000 }

// benchmark runs the benchmark of one operation: every shape by every
// contender.
func benchmark(b *testing.B, op operation) {
	for _, shape := range op.shapes {
		if tooLarge(shape.nodes) {
			continue
		}
		s := op.new(shape)
		for _, c := range s.contenders() {
			b.Run(fmt.Sprintf("impl=%s/%v", c.name, shape), func(b *testing.B) {
				defer kernel.Use(c.impl)()
				b.ReportAllocs()
				b.SetBytes(int64(8 * s.elements))
				k := 0
				for b.Loop() {
					c.run(k)
					k = (k + 1) % s.variants
				}
				b.ReportMetric(float64(b.Elapsed().Nanoseconds())/float64(b.N)/float64(s.results), "ns/node")
				testkit.Check(s.verify())
			})
		}
	}
}

// same returns an error at the first i below n where two answers differ.
func same[T comparable](what string, n int, got, want func(i int) T) error {
	for i := range n {
		if g, w := got(i), want(i); g != w {
			return fmt.Errorf("%s: result %d is %v, and the row loop says %v", what, i, g, w)
		}
	}
	return nil
}

// at returns the elements of s as a function, for same.
func at[T any](s []T) func(i int) T {
	return func(i int) T { return s[i] }
}
