package profile_test

import (
	"fmt"
	"math"
	"testing"

	"github.com/resvec/resvec/internal/testkit"
	. "github.com/resvec/resvec/scoring/profile"
	"github.com/resvec/resvec/vector"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
)

// TestHostile has nodes and pods that no API server admits. All questions have an answer or an
// error, and pods that are moved to a node and back leave its verdict.
func TestHostile(t *testing.T) {
	all := &metav1.LabelSelector{}
	bare := newNode("n0", func(n *corev1.Node) { n.Labels = nil })
	odd := newNode("n1", func(n *corev1.Node) {
		n.Labels = map[string]string{"": "", "a\x00b": "\xff"}
		n.Spec.Taints = []corev1.Taint{{}}
		n.Status.Images = []corev1.ContainerImage{{Names: []string{"", ""}, SizeBytes: math.MinInt64}}
	})
	pods := []corev1.PodSpec{
		{},
		{Affinity: &corev1.Affinity{}},
		{Affinity: &corev1.Affinity{
			NodeAffinity: &corev1.NodeAffinity{}, PodAffinity: &corev1.PodAffinity{}, PodAntiAffinity: &corev1.PodAntiAffinity{},
		}},
		{Affinity: &corev1.Affinity{NodeAffinity: &corev1.NodeAffinity{
			RequiredDuringSchedulingIgnoredDuringExecution: &corev1.NodeSelector{},
		}}},
		{TopologySpreadConstraints: []corev1.TopologySpreadConstraint{{}, hard("", 0, nil), soft("", math.MinInt32, nil)}},
		{TopologySpreadConstraints: []corev1.TopologySpreadConstraint{hard("", math.MinInt32, all), soft("", 1, all)}},
		{Affinity: &corev1.Affinity{PodAffinity: &corev1.PodAffinity{
			RequiredDuringSchedulingIgnoredDuringExecution: []corev1.PodAffinityTerm{{}, term("", all)},
			PreferredDuringSchedulingIgnoredDuringExecution: []corev1.WeightedPodAffinityTerm{
				{Weight: math.MinInt32, PodAffinityTerm: term("", all)},
			},
		}}},
		{Affinity: &corev1.Affinity{PodAntiAffinity: &corev1.PodAntiAffinity{
			RequiredDuringSchedulingIgnoredDuringExecution: []corev1.PodAffinityTerm{term("", all)},
		}}},
		{
			Containers:  []corev1.Container{{Ports: []corev1.ContainerPort{{HostPort: -1}, {HostPort: math.MaxInt32}}}},
			Volumes:     []corev1.Volume{{}, {VolumeSource: corev1.VolumeSource{Image: &corev1.ImageVolumeSource{}}}},
			Tolerations: []corev1.Toleration{{}},
		},
	}
	for _, minor := range []int{36, 37} {
		c := newCluster(bare, odd)
		p := testkit.Must(Bind(Config{Minor: minor}, c))
		for i := range pods {
			placed := &corev1.Pod{ObjectMeta: metav1.ObjectMeta{Name: fmt.Sprint("p", i)}, Spec: *pods[i].DeepCopy()}
			placed.Spec.NodeName = "n1"
			placed.OwnerReferences = []metav1.OwnerReference{{}, {APIVersion: "a/b/c", Controller: pointer(true)}}
			testkit.Check(c.Set(placed))
			for k := range pods {
				q := Question{Pod: &corev1.Pod{Spec: pods[k]}}
				row, ok, err := p.Best(q, vector.TieLowest())
				testkit.Check(err)
				rejected := 0
				for _, r := range testkit.Must(p.Rejections(q)) {
					rejected += r.Rows
				}
				if feasible := testkit.Must(p.TopK(nil, q, 3, vector.TieLowest())); len(feasible)+rejected != 2 ||
					ok != (len(feasible) > 0) || ok && int(feasible[0]) != row {
					t.Errorf("pod %d after %d: %v, %d rejected, %d %t", k, i, feasible, rejected, row, ok)
				}
				if v := testkit.Must(p.Spread(q.Pod)); v != nil {
					was := v.Check(odd)
					v.Move(odd, placed, 1)
					v.Move(odd, placed, -1)
					if v.Clone().Move(&corev1.Node{}, &corev1.Pod{}, -1); v.Check(odd) != was {
						t.Errorf("spread of pod %d after %d: %q, was %q", k, i, v.Check(odd), was)
					}
				}
				if v := testkit.Must(p.Affinity(q.Pod)); v != nil {
					was := v.Check(odd)
					v.Move(odd, placed, 1)
					v.Move(odd, placed, -1)
					if v.Clone().Move(&corev1.Node{}, &corev1.Pod{}, -1); v.Check(odd) != was {
						t.Errorf("affinity of pod %d after %d: %q, was %q", k, i, v.Check(odd), was)
					}
				}
			}
		}
	}
}
