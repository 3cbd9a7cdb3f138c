package transform

import (
	"testing"

	"github.com/resvec/resvec/vector"
	"github.com/resvec/resvec/vectormap"
)

// Nil where something is needed is a mistake of the program, and says which.
func TestNilPanics(t *testing.T) {
	m, err := vectormap.New([]string{"cpu"}, vectormap.NoFold())
	if err != nil {
		t.Fatal(err)
	}
	identity := new(Transformation)
	l, err := identity.Bind(m, m, BindOptions{})
	if err != nil {
		t.Fatal(err)
	}
	x := m.NewMatrix(1)
	for want, calls := range map[string][]func(){
		panicMatrix: {
			func() { l.ApplyBatch(nil, x) },
			func() { l.ApplyBatch(x, nil) },
			func() { l.ChargeBatch(nil, nil, nil) },
		},
		panicMap: {
			func() { _, _ = identity.Bind(nil, m, BindOptions{}) },
			func() { _, _ = identity.Bind(m, nil, BindOptions{}) },
			func() { _, _ = identity.OutMap(nil) },
		},
		panicConfig: {func() { _, _ = Compile(nil, Options{}) }},
		panicUnmade: {func() { new(Linear).Apply(nil, nil) }, func() { new(Linear).Dims() }},
		panicNil: {
			func() { (*Linear)(nil).Apply(nil, vector.ResourceVector{}) },
			func() { (*Linear)(nil).IsLinear() },
			func() { (*Transformation)(nil).Apply(nil) },
			func() { (*Transformation)(nil).Lint(nil) },
			func() { _, _ = (*Transformation)(nil).MaxUnits(Query{}) },
			func() { identity.Equal(nil) },
			func() { _ = (*Config)(nil).Validate() },
			func() { _, _ = (*Config)(nil).Encode(ShapeList) },
			func() { _ = (*Explanation)(nil).String() },
		},
	} {
		for i, call := range calls {
			func() {
				defer func() {
					if got := recover(); got != want {
						t.Errorf("%s, call %d: %v", want, i, got)
					}
				}()
				call()
			}()
		}
	}
}
