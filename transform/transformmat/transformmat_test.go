package transformmat_test

import (
	"fmt"
	"log"
	"math"
	"testing"

	"github.com/resvec/resvec/internal/testkit"
	"github.com/resvec/resvec/transform"
	"github.com/resvec/resvec/transform/transformmat"
	"github.com/resvec/resvec/vector"
	"github.com/resvec/resvec/vectormap"
	"gonum.org/v1/gonum/mat"
)

const plain = `
resourceTransformationMatrix:
  transformations:
    cpu: {strategy: Retain, functions: {kueue.x-k8s.io/credits: "1"}}
    nvidia.com/mig-1g.5gb:
      strategy: Replace
      functions: {kueue.x-k8s.io/accelerator-memory: 5G, kueue.x-k8s.io/credits: "10"}
    nvidia.com/mig-2g.10gb:
      strategy: Replace
      functions: {kueue.x-k8s.io/accelerator-memory: 10G, kueue.x-k8s.io/credits: "15"}
`

const multiplied = `
transformations:
- {input: example.com/memory, strategy: Replace, multiplyBy: example.com/cards, outputs: {example.com/total: "2"}}
- {input: example.com/cards, strategy: Retain, outputs: {example.com/total: "5"}}
`

// bind returns a configuration as a Linear, from a map of names.
func bind(text string, names ...string) *transform.Linear {
	config, _, err := transform.Parse([]byte(text), transform.ShapeAuto)
	if err != nil {
		log.Fatal(err)
	}
	t, err := transform.Compile(config, transform.Options{})
	if err != nil {
		log.Fatal(err)
	}
	in, err := vectormap.New(names, vectormap.NoFold())
	if err != nil {
		log.Fatal(err)
	}
	out, err := t.OutMap(in)
	if err != nil {
		log.Fatal(err)
	}
	l, err := t.Bind(in, out, transform.BindOptions{})
	if err != nil {
		log.Fatal(err)
	}
	return l
}

// A transformation as a matrix: a row per charged amount, a column per requested
// one. Rows are cpu, memory, gpu, pods, accelerator memory and credits.
func Example() {
	linear := bind(plain, "nvidia.com/mig-1g.5gb", "nvidia.com/mig-2g.10gb")
	fmt.Println(mat.Formatted(transformmat.New(linear), mat.Squeeze()))
	// Output:
	// ⎡    1  0  0  0      0      0⎤
	// ⎢    0  1  0  0      0      0⎥
	// ⎢    0  0  1  0      0      0⎥
	// ⎢    0  0  0  1      0      0⎥
	// ⎢    0  0  0  0  5e+09  1e+10⎥
	// ⎣0.001  0  0  0     10     15⎦
}

// TestProduct: gonum's product with a request is what Apply returns for it.
func TestProduct(t *testing.T) {
	request := vector.ResourceVector{2000, 1 << 30, 1, 1, 3, 5}
	for name, c := range map[string]struct {
		l    *transform.Linear
		view func(*transform.Linear) transformmat.View
	}{
		"linear":           {bind(plain, "nvidia.com/mig-1g.5gb", "nvidia.com/mig-2g.10gb"), transformmat.New},
		"with multipliers": {bind(multiplied, "example.com/cards", "example.com/memory"), func(l *transform.Linear) transformmat.View { return transformmat.At(l, request) }},
	} {
		m := c.view(c.l)
		var product, transposed mat.VecDense
		product.MulVec(m, mat.NewVecDense(len(request), request))
		transposed.MulVec(m.T().T(), mat.NewVecDense(len(request), request))
		for j, want := range c.l.Apply(nil, request) {
			if got := product.AtVec(j); math.Abs(got-want) > 1e-12*want || got != transposed.AtVec(j) {
				t.Errorf("%s, column %d: %v and %v, want %v", name, j, got, transposed.AtVec(j), want)
			}
		}
	}
}

// TestMultipliers: a later write to the vector of At changes nothing.
func TestMultipliers(t *testing.T) {
	l := bind(multiplied, "example.com/cards", "example.com/memory")
	const cards, memory = 4, 5 // of the input map
	total, _ := l.Dims()
	amounts := vector.ResourceVector{cards: 3}
	at := transformmat.At(l, amounts)
	amounts[cards] = 100
	for want, m := range map[float64]mat.Matrix{0: transformmat.New(l), 2: transformmat.At(l, nil), 6: at} {
		if got := m.At(total-1, memory); got != want {
			t.Errorf("got %v, want %v", got, want)
		}
	}
}

func TestPanics(t *testing.T) {
	l := bind(multiplied, "example.com/cards", "example.com/memory")
	m := transformmat.New(l)
	r, c := m.Dims()
	for name, f := range map[string]struct {
		do   func()
		want any
	}{
		"long vector":     {func() { transformmat.At(l, make(vector.ResourceVector, c+1)) }, "transformmat: vector longer than the input map"},
		"negative row":    {func() { m.At(-1, 0) }, mat.ErrRowAccess},
		"row":             {func() { m.At(r, 0) }, mat.ErrRowAccess},
		"negative column": {func() { m.At(0, -1) }, mat.ErrColAccess},
		"column":          {func() { m.At(0, c) }, mat.ErrColAccess},
		"zero View":       {func() { transformmat.View{}.At(0, 0) }, mat.ErrRowAccess},
	} {
		if got := testkit.Recovered(f.do); got != f.want {
			t.Errorf("%s: panic %v, want %v", name, got, f.want)
		}
	}
	if r, c := (transformmat.View{}).Dims(); r != 0 || c != 0 {
		t.Errorf("the zero View is %d by %d", r, c)
	}
}
