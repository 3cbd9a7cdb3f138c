package share_test

import (
	"fmt"
	"testing"

	"github.com/resvec/resvec/device/share"
	"github.com/resvec/resvec/internal/testkit"
	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/resource"
)

// TestGrowth reads configurations and amounts that are long in some way.
func TestGrowth(t *testing.T) {
	config := func(before, format, after string) func(n int) func() {
		return func(n int) func() {
			text := []byte(testkit.Text(100*n, before, format, after))
			return func() {
				if cfg, err := share.ParseScoringStrategy(text); err == nil {
					_, _ = share.NewScorer(*cfg)
				}
			}
		}
	}
	for name, prepare := range map[string]func(n int) func(){
		"resources":         config("resources: [", "{name: koordinator.sh/gpu-core, weight: %d}, ", "]"),
		"unknown resources": config("resources: [", "{name: gpu%d}, ", "]"),
		"unknown keys":      config("", "key%d: 1\n", ""),
		"other keys":        config("kind: DeviceShareArgs\nscoringStrategy: {}\n", "key%d: 1\n", ""),
		"amounts": func(n int) func() {
			list := corev1.ResourceList{}
			for i := range n {
				list[corev1.ResourceName(fmt.Sprintf("example.com/x%d", i))] = resource.MustParse("1e-400")
			}
			return func() { _, _, _ = share.FromResourceList(list) }
		},
	} {
		t.Run(name, func(t *testing.T) { testkit.Linear(t, 300, prepare) })
	}
}
