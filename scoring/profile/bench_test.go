package profile_test

import (
	"fmt"
	"testing"

	"github.com/resvec/resvec/internal/testkit"
	"github.com/resvec/resvec/scoring/profile"
	"github.com/resvec/resvec/vector"
	"github.com/resvec/resvec/vectormap"
	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/resource"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
)

// BenchmarkBest measures a decision about a pod of a Deployment on 5,000 nodes with 24 pods
// each, of 200 apps: again, and after a pod of another app or of its own was bound to a node and
// taken off again.
func BenchmarkBest(b *testing.B) {
	const rows, perRow, apps = 5_000, 24, 200
	m := testkit.Must(vectormap.New(nil))
	nodes := m.NewNodes(vector.WithScored())
	cluster := profile.NewCluster(nodes)
	amounts := vector.PodAmounts{Requested: vector.ResourceVector{500, 1 << 30, 0, 1}}
	podOf := func(name string, app int) *corev1.Pod {
		return &corev1.Pod{ObjectMeta: metav1.ObjectMeta{Namespace: "default", Name: name, Labels: map[string]string{
			"app": fmt.Sprint("app-", app), "pod-template-hash": fmt.Sprint(app),
		}}}
	}
	for i := range rows {
		name := fmt.Sprint("node-", i)
		node := &corev1.Node{ObjectMeta: metav1.ObjectMeta{Name: name, Labels: map[string]string{
			corev1.LabelHostname: name, corev1.LabelTopologyZone: fmt.Sprint(i % 3),
		}}}
		node.Status.Allocatable = corev1.ResourceList{
			"cpu": resource.MustParse("32"), "memory": resource.MustParse("128Gi"), "pods": resource.MustParse("110"),
		}
		allocatable := testkit.Must(m.NodeAllocatable(nil, node, nil))
		if _, _, err := nodes.Set(name, 1, vector.NodeAmounts{Allocatable: allocatable}); err != nil {
			b.Fatal(err)
		}
		testkit.Check(cluster.Set(node))
		for k := range perRow {
			pod := podOf(fmt.Sprint("old-", i, "-", k), (i*perRow+k)%apps)
			testkit.Check(cluster.Assume(i, pod, amounts))
		}
	}
	for app := range apps {
		name := fmt.Sprint("app-", app)
		testkit.Check(cluster.Set(&corev1.Service{
			ObjectMeta: metav1.ObjectMeta{Namespace: "default", Name: name},
			Spec:       corev1.ServiceSpec{Selector: map[string]string{"app": name}},
		}))
	}
	p := testkit.Must(profile.Bind(profile.Config{}, cluster, testkit.Must(profile.DefaultTerms(m, nodes))...))
	best := func(b *testing.B, pod *corev1.Pod) int {
		row, ok, err := p.Best(profile.Question{Pod: pod, Amounts: amounts}, vector.TieLowest())
		if !ok || err != nil {
			b.Fatal(ok, err)
		}
		return row
	}
	pod := podOf("new", 1)
	want := best(b, pod)
	for _, bound := range []int{-1, 2, 1} { // the app of a pod that is bound between
		b.Run("bound="+map[int]string{-1: "none", 2: "other", 1: "own"}[bound], func(b *testing.B) {
			b.ReportAllocs()
			for b.Loop() {
				if bound >= 0 {
					other := podOf("other", bound)
					testkit.Check(cluster.Assume(7, other, amounts))
					testkit.Check(cluster.Forget(7, other, amounts))
				}
				if row := best(b, pod); row != want {
					b.Fatalf("row %d, want %d", row, want)
				}
			}
		})
	}
}
