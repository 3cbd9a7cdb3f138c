package vectormat_test

import (
	"fmt"
	"math"
	"strings"
	"testing"

	"gonum.org/v1/gonum/mat"

	"github.com/resvec/resvec/internal/testkit"
	"github.com/resvec/resvec/vector"
	"github.com/resvec/resvec/vector/vectormat"
)

// random returns a matrix of small whole numbers, whose sums of products are
// exact in any order.
func random(seed uint64, rows, cols int) *vector.Matrix {
	r := testkit.Rand(seed)
	m := vector.NewMatrix(vector.Schema{}, rows, cols)
	for i := range rows {
		v := make(vector.ResourceVector, cols)
		for j := range v {
			v[j] = float64(r.IntN(100) - 50)
		}
		m.SetRow(i, v)
	}
	return m
}

// dense returns a copy that gonum owns.
func dense(m *vector.Matrix) *mat.Dense {
	d := mat.NewDense(m.Rows(), m.Cols(), nil)
	for i := range m.Rows() {
		d.SetRow(i, m.Row(nil, i))
	}
	return d
}

// views returns the ways to look at a matrix that must not differ: whole, and
// as a view of some of its rows.
func views(m *vector.Matrix) map[string]*vector.Matrix {
	v := map[string]*vector.Matrix{"whole": m}
	if m.Rows() > 64 {
		v["rows 64 on"] = m.Slice(64, m.Rows())
	}
	return v
}

func TestViewEqualsCopy(t *testing.T) {
	for _, shape := range [][2]int{{1, 1}, {1, 5}, {7, 1}, {64, 3}, {65, 8}, {200, 17}, {512, 2}} {
		for name, m := range views(random(1, shape[0], shape[1])) {
			v, d := vectormat.New(m), dense(m)
			if r, c := v.Dims(); r != m.Rows() || c != m.Cols() {
				t.Errorf("%v %s: Dims = %d, %d", shape, name, r, c)
			}
			if r, c := v.T().Dims(); r != m.Cols() || c != m.Rows() {
				t.Errorf("%v %s: T().Dims = %d, %d", shape, name, r, c)
			}
			if !mat.Equal(v, d) || !mat.Equal(v.T(), d.T()) || !mat.Equal(v.T().T(), d) {
				t.Errorf("%v %s: view differs from a copy", shape, name)
			}
			if got := mat.Col(nil, m.Cols()-1, v); !mat.Equal(mat.NewVecDense(m.Rows(), got), d.ColView(m.Cols()-1)) {
				t.Errorf("%v %s: last column %v", shape, name, got)
			}
			if got := mat.Row(nil, m.Rows()-1, v); !mat.Equal(mat.NewVecDense(m.Cols(), got), d.RowView(m.Rows()-1)) {
				t.Errorf("%v %s: last row %v", shape, name, got)
			}
			if got, want := mat.Sum(v), mat.Sum(d); got != want {
				t.Errorf("%v %s: Sum = %v, want %v", shape, name, got, want)
			}
			if got, want := mat.Norm(v, math.Inf(1)), mat.Norm(d, math.Inf(1)); got != want {
				t.Errorf("%v %s: Norm = %v, want %v", shape, name, got, want)
			}
		}
	}
}

func TestProducts(t *testing.T) {
	for _, shape := range [][3]int{{1, 1, 1}, {3, 4, 5}, {130, 8, 3}, {70, 17, 70}} {
		n, k, p := shape[0], shape[1], shape[2]
		a, b := random(1, n, k), random(2, k, p)
		va, vb, da, db := vectormat.New(a), vectormat.New(b), dense(a), dense(b)
		for _, c := range []struct {
			name        string
			a, b, wa, w mat.Matrix
		}{
			{"view times view", va, vb, da, db},
			{"view times dense", va, db, da, db},
			{"dense times view", da, vb, da, db},
			{"transposed views", vb.T(), va.T(), db.T(), da.T()},
			{"view times own transpose", va, va.T(), da, da.T()},
			{"own transpose times view", va.T(), va, da.T(), da},
		} {
			var got, want mat.Dense
			got.Mul(c.a, c.b)
			want.Mul(c.wa, c.w)
			if !mat.Equal(&got, &want) {
				t.Errorf("%v %s: wrong product", shape, c.name)
			}
		}
		if !mat.Equal(va, da) || !mat.Equal(vb, db) {
			t.Errorf("%v: a product changed an operand", shape)
		}
	}
}

// A weighted sum of resources is a matrix times a vector.
func TestMulVecIsWeightedSum(t *testing.T) {
	m := random(3, 100, 4)
	weights := vector.ResourceVector{1, -2, 0, 3}
	want := make([]float64, m.Rows())
	vector.WeightedSum(want, m, weights)
	var got mat.VecDense
	got.MulVec(vectormat.New(m), mat.NewVecDense(4, weights))
	if !mat.Equal(&got, mat.NewVecDense(m.Rows(), want)) {
		t.Error("MulVec differs from WeightedSum")
	}
}

func TestViewFollowsMatrix(t *testing.T) {
	m := random(4, 3, 2)
	v := vectormat.New(m)
	m.SetRow(1, vector.ResourceVector{7, 8})
	if v.At(1, 0) != 7 || v.T().At(1, 1) != 8 {
		t.Error("the view does not see a write")
	}
	for range 100 {
		m.AppendRow(vector.ResourceVector{9, 9})
	}
	if r, _ := v.Dims(); r != 103 || v.At(102, 1) != 9 || mat.Sum(v) != mat.Sum(dense(m)) {
		t.Error("the view does not follow a growing matrix")
	}
}

func TestSharesStorage(t *testing.T) {
	m := random(5, 70, 3)
	raw := vectormat.New(m).T().(mat.RawMatrixer).RawMatrix()
	if &raw.Data[0] != &m.Column(0)[0] || &raw.Data[2*raw.Stride] != &m.Column(2)[0] {
		t.Error("RawMatrix is a copy")
	}
	if len(raw.Data) != 2*raw.Stride+70 {
		t.Errorf("RawMatrix has %d elements", len(raw.Data))
	}
	v := vectormat.New(m)
	var sink mat.Dense
	sink.Mul(v.T(), v)
	if n := testing.AllocsPerRun(10, func() { _ = v.At(69, 2) }); n != 0 {
		t.Errorf("At allocates %v times", n)
	}
}

func TestEmpty(t *testing.T) {
	for _, shape := range [][2]int{{0, 0}, {0, 3}, {3, 0}} {
		m := vector.NewMatrix(vector.Schema{}, shape[0], shape[1])
		v := vectormat.New(m)
		if r, c := v.Dims(); r != shape[0] || c != shape[1] {
			t.Errorf("%v: Dims = %d, %d", shape, r, c)
		}
		raw := v.T().(mat.RawMatrixer).RawMatrix()
		if raw.Rows != shape[1] || raw.Cols != shape[0] || raw.Stride < 1 || len(raw.Data) != 0 {
			t.Errorf("%v: RawMatrix = %+v", shape, raw)
		}
	}
}

func TestNothing(t *testing.T) {
	var v vectormat.View
	if r, c := v.Dims(); r != 0 || c != 0 {
		t.Errorf("the zero View is %d by %d", r, c)
	}
	if raw := v.T().(mat.RawMatrixer).RawMatrix(); raw.Rows != 0 || raw.Cols != 0 || len(raw.Data) != 0 {
		t.Errorf("RawMatrix = %+v", raw)
	}
	defer func() {
		if got := recover(); got != "vectormat: nil matrix" {
			t.Errorf("recovered %v", got)
		}
	}()
	vectormat.New(nil)
}

func TestAtOutOfRange(t *testing.T) {
	v := vectormat.New(random(6, 2, 3))
	for _, at := range [][2]int{{-1, 0}, {2, 0}, {0, -1}, {0, 3}} {
		for _, f := range []func(){func() { v.At(at[0], at[1]) }, func() { v.T().At(at[1], at[0]) }} {
			func() {
				defer func() {
					if s, _ := recover().(string); !strings.HasPrefix(s, "vector: ") {
						t.Errorf("At%v: recovered %q", at, s)
					}
				}()
				f()
			}()
		}
	}
}

func ExampleNew() {
	m := vector.NewMatrix(vector.Schema{}, 3, 2)
	m.SetRow(0, vector.ResourceVector{1, 2})
	m.SetRow(1, vector.ResourceVector{3, 4})
	m.SetRow(2, vector.ResourceVector{5, 6})
	nodes := vectormat.New(m)
	fmt.Println(mat.Formatted(nodes))

	// How the resources go together: the 2x2 matrix of inner products.
	var gram mat.Dense
	gram.Mul(nodes.T(), nodes)
	fmt.Println(mat.Formatted(&gram))
	// Output:
	// ⎡1  2⎤
	// ⎢3  4⎥
	// ⎣5  6⎦
	// ⎡35  44⎤
	// ⎣44  56⎦
}
