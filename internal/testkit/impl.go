package testkit

import (
	"strings"
	"testing"

	"github.com/resvec/resvec/internal/kernel"
)

// EachImpl runs f as a sub-test impl=NAME for every implementation of the
// kernels that can run here, slowest first, and logs which ones ran and why
// the others did not. f must not be parallel: the implementation in use is a
// global.
func EachImpl(t *testing.T, f func(t *testing.T)) {
	t.Helper()
	var ran []string
	for _, impl := range kernel.Available() {
		ran = append(ran, impl.String())
		t.Run("impl="+impl.String(), func(t *testing.T) {
			defer kernel.Use(impl)()
			f(t)
		})
	}
	t.Logf("implementations run: %s; %s", strings.Join(ran, ", "), missing())
}

// EachImplB is EachImpl for benchmarks, fastest first.
func EachImplB(b *testing.B, f func(b *testing.B)) {
	impls := kernel.Available()
	for i := len(impls) - 1; i >= 0; i-- {
		b.Run("impl="+impls[i].String(), func(b *testing.B) {
			defer kernel.Use(impls[i])()
			f(b)
		})
	}
}
