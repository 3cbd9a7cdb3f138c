package vectormap

import (
	"testing"

	"github.com/resvec/resvec/internal/testkit"
	"github.com/resvec/resvec/vector"
	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/resource"
)

type vec = vector.ResourceVector

// must makes a map whose build cannot fail.
func must(t testing.TB, names []string, opts ...Option) *ResourceVectorMap {
	t.Helper()
	return testkit.Must(New(names, opts...))
}

// rl makes a ResourceList from name, amount, name, amount, …
func rl(pairs ...string) corev1.ResourceList {
	list := corev1.ResourceList{}
	for i := 0; i < len(pairs); i += 2 {
		list[corev1.ResourceName(pairs[i])] = resource.MustParse(pairs[i+1])
	}
	return list
}

func names(s ...string) []string { return s }

// sameList reports whether two lists hold equal amounts under equal names.
func sameList(a, b corev1.ResourceList) bool {
	if len(a) != len(b) {
		return false
	}
	for name, q := range a {
		if other, ok := b[name]; !ok || q.Cmp(other) != 0 {
			return false
		}
	}
	return true
}
