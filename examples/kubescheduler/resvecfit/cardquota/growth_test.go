package cardquota

import (
	"fmt"
	"strings"
	"testing"

	"github.com/resvec/resvec/internal/testkit"
	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/resource"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/apimachinery/pkg/util/validation/field"
	"k8s.io/client-go/informers"
	"k8s.io/client-go/kubernetes/fake"
	"k8s.io/klog/v2"
	fwk "k8s.io/kube-scheduler/framework"
)

// TestGrowth validates configurations that are long in some way.
func TestGrowth(t *testing.T) {
	queues := func(queue func(i int) Queue) func(n int) *Config {
		return func(n int) *Config {
			c := &Config{}
			for i := range n {
				c.Queues = append(c.Queues, queue(i))
			}
			return c
		}
	}
	name := func(i int) string { return fmt.Sprint("q", i) }
	for what, config := range map[string]func(n int) *Config{
		"queues":  queues(func(i int) Queue { return Queue{Name: name(i), Cards: map[string]int64{"H100": 1}} }),
		"a chain": queues(func(i int) Queue { return Queue{Name: name(i), Parent: strings.TrimSuffix(name(i-1), "q-1")} }),
		"a circle": func(n int) *Config {
			return queues(func(i int) Queue { return Queue{Name: name(i), Parent: name((i + 1) % n)} })(n)
		},
		"a star":          queues(func(i int) Queue { return Queue{Name: name(i), Parent: strings.Repeat("q0", min(i, 1))} }),
		"no parents":      queues(func(i int) Queue { return Queue{Name: name(i), Parent: "x"} }),
		"one name":        queues(func(i int) Queue { return Queue{Name: "q"} }),
		"cards of queues": queues(func(i int) Queue { return Queue{Name: name(i), Cards: map[string]int64{fmt.Sprint("C", i%50): 1}} }),
		"bad cards":       queues(func(i int) Queue { return Queue{Name: name(i), Cards: map[string]int64{"": -1}} }),
		"cards": func(n int) *Config {
			q := Queue{Name: "q", Cards: map[string]int64{}}
			for i := range n {
				q.Cards[fmt.Sprint("C", i)] = int64(i)
			}
			return &Config{Queues: []Queue{q}}
		},
		"capability": func(n int) *Config {
			q := Queue{Name: "q", Capability: amounts()}
			for i := range n {
				q.Capability[corev1.ResourceName(fmt.Sprint("x", i))] = resource.MustParse("1e400")
			}
			return &Config{Queues: []Queue{q}}
		},
		"job labels": func(n int) *Config {
			c := queues(func(i int) Queue { return Queue{Name: name(i)} })(1)
			for i := range n {
				c.JobLabels = append(c.JobLabels, fmt.Sprint("a b", i))
			}
			return c
		},
		"a long name": func(n int) *Config { return &Config{Queues: []Queue{{Name: strings.Repeat("q", 100*n)}}} },
	} {
		t.Run(what, func(t *testing.T) {
			testkit.Linear(t, 150, func(n int) func() {
				c := config(n)
				return func() { c.Validate(field.NewPath("cardQuota")) }
			})
		})
	}
}

// TestGrowthPods charges pods that are bound, of which two can't be: their sum is too
// large.
func TestGrowthPods(t *testing.T) {
	testkit.Linear(t, 60, func(n int) func() {
		factory := informers.NewSharedInformerFactory(fake.NewClientset(), 0)
		ledger := testkit.Must(New(parse(t, queues), factory))
		node := newNode("h", "H100")
		for i := range n {
			pod := bound(newPod(fmt.Sprint("pod", i), "cpu", "", ""), "h")
			pod.UID = types.UID(pod.Name)
			if i < 2 {
				pod.Spec.Containers[0].Resources.Requests = amounts("cpu", "5000000000000")
			}
			testkit.Check(factory.Core().V1().Pods().Informer().GetStore().Add(pod))
		}
		return func() {
			testkit.Check(ledger.refresh(klog.Background(), []fwk.NodeInfo{&nodeInfo{node: node}}))
			if len(ledger.charged) != n {
				t.Errorf("%d of %d pods are charged", len(ledger.charged), n)
			}
		}
	})
}
