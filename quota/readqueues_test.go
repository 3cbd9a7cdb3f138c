package quota

import (
	"errors"
	"fmt"
	"strings"
	"testing"

	"github.com/resvec/resvec/internal/testkit"
	corev1 "k8s.io/api/core/v1"
	utilerrors "k8s.io/apimachinery/pkg/util/errors"
	"k8s.io/apimachinery/pkg/util/validation/field"
)

const volcanoQueues = `
apiVersion: scheduling.volcano.sh/v1beta1
kind: Queue
metadata:
  name: research
  annotations: {volcano.sh/card.quota: '{"A100": 6}', other: text}
spec: {priority: 3, weight: 2, reclaimable: true}
status: {state: Open, allocated: {cpu: "1"}}
---
{"apiVersion": "v1", "kind": "List", "items": [{
  "apiVersion": "scheduling.volcano.sh/v1beta1", "kind": "Queue",
  "metadata": {"name": "vision", "annotations": {"volcano.sh/card.quota": "{\"A100\": 4}"}},
  "spec": {"parent": "research", "capability": {"cpu": "64", "memory": "256Gi"}, "guarantee": {"resource": {"cpu": "500m"}}, "deserved": {"cpu": "32"}},
  "status": {"state": "Closing"}}]}
`

func TestReadQueues(t *testing.T) {
	queue := func(name, spec string) string {
		return "---\n{apiVersion: scheduling.volcano.sh/v1beta1, kind: Queue, metadata: {name: " + name + "}, spec: " + spec + "}\n"
	}
	text := func(specs []Queue) string {
		var b strings.Builder
		for _, s := range specs {
			fmt.Fprintf(&b, "%s<%s %d %s %v", s.Name, s.Parent, s.Priority, s.State, s.Annotations)
			for _, name := range []corev1.ResourceName{"cpu", "memory"} {
				fmt.Fprintf(&b, " %s", name)
				for _, list := range []corev1.ResourceList{s.Capability, s.Guarantee, s.Deserved} {
					q := list[name]
					fmt.Fprintf(&b, " %s", &q)
				}
			}
			b.WriteByte('\n')
		}
		return b.String()
	}
	for _, c := range []struct{ name, text, want string }{
		{"two documents and a list", volcanoQueues, `research< 3 Open map[other:text volcano.sh/card.quota:{"A100": 6}] cpu 0 0 0 memory 0 0 0
vision<research 0 Closing map[volcano.sh/card.quota:{"A100": 4}] cpu 64 500m 32 memory 256Gi 0 0
`},
		{"root has an object", queue("a", "{}") + queue("root", "{}") + queue("b", "{parent: a}"), `a<root 0  map[] cpu 0 0 0 memory 0 0 0
root< 0  map[] cpu 0 0 0 memory 0 0 0
b<a 0  map[] cpu 0 0 0 memory 0 0 0
`},
		{"root has none", queue("a", "{parent: root}"), "a< 0  map[] cpu 0 0 0 memory 0 0 0\n"},
		{"nothing in a list", `{apiVersion: v1, kind: List, items: []}`, ""},
	} {
		if specs, err := ReadQueues([]byte(c.text)); err != nil || text(specs) != c.want {
			t.Errorf("%s: got\n%s%v", c.name, text(specs), err)
		}
	}

	for _, c := range []struct{ text, want string }{
		{"", "quota: the document is empty"},
		{"{kind: Queue, metadata: {name: q}}", "Queue[q].apiVersion: Required"},
		{"{apiVersion: scheduling.run.ai/v2, kind: Queue, metadata: {name: q}}", `Queue[q].kind: Unsupported value: "scheduling.run.ai/v2 Queue": supported values: "scheduling.volcano.sh/v1beta1 Queue"`},
		{queue("q", "{}") + queue("q", "{}"), `Queue[q].metadata.name: Duplicate value: "q"`},
		{queue("q", "{capability: {cpu: -1}}"), `Queue[q].spec.capability["cpu"]: Invalid value: -1: must be 0 or more`},
		{queue("q", "{capabilities: {cpu: 1}}"), `Queue[q].spec.capabilities: Unsupported value`},
		{queue("q", "{weight: 0}"), "Queue[q].spec.weight: Invalid value: 0: must be at least 1"},
		{strings.Replace(queue("q", "{}"), "name: q", "name: q, annotations: {volcano.sh/card.quota: {A100: 1}}", 1), `Queue[q].metadata.annotations["volcano.sh/card.quota"]: Invalid value: must be a string, not a mapping`},
		{strings.Replace(queue("q", "{}"), "spec: {}", "spec: {}, status: {state: Ajar}", 1), `Queue[q].status.state: Unsupported value: "Ajar": supported values: "Open", "Closing", "Closed", "Unknown"`},
		{strings.Replace(queue("q", "{}"), "spec: {}", "spec: {}, status: {state: 1}", 1), `Queue[q].status.state: Invalid value: 1: must be a string`},
	} {
		specs, err := ReadQueues([]byte(c.text))
		if err == nil || !strings.Contains(err.Error(), c.want) || specs != nil {
			t.Errorf("%s: got %v, %v, want %s", c.text, specs, err, c.want)
		}
	}

	_, err := ReadQueues([]byte(queue("q", "{weight: 0, deserved: {cpu: -1}}")))
	var list utilerrors.Aggregate
	if !errors.As(err, &list) || len(list.Errors()) != 2 {
		t.Errorf("two faults at once: %v", err)
	}
	var fault *field.Error
	if !errors.As(list.Errors()[0], &fault) {
		t.Errorf("%T", list.Errors()[0])
	}
}

// FuzzReadQueues: whatever is read becomes queues of a ledger, or is refused with an error.
func FuzzReadQueues(f *testing.F) {
	for _, text := range []string{volcanoQueues, "[", "a: 1", "{apiVersion: scheduling.volcano.sh/v1beta1, kind: Queue, metadata: {name: q}, spec: {parent: q, capability: {cpu: 1e999, memory: .inf}}}"} {
		f.Add([]byte(text))
	}
	f.Fuzz(func(t *testing.T, data []byte) {
		specs, err := ReadQueues(data)
		if err != nil {
			return
		}
		cfg := Config{MissingUnlimited: true}
		m, err := testMap(cfg.namedCards(specs))
		if err != nil {
			return
		}
		queues := make([]builtQueue, len(specs))
		for i, spec := range specs {
			if queues[i], _, err = cfg.buildQueue(m, spec); err != nil {
				return
			}
		}
		errs, _ := cfg.validateBuilt(queues, m, nil)
		l, err := newBuilt(cfg, m, nil, queues)
		if (err == nil) != (len(errs) == 0) && !errors.Is(err, ErrBadAmount) {
			t.Fatalf("%v, and Validate says %v", err, errs)
		}
		if err == nil {
			testkit.Check(l.Check())
		}
	})
}
