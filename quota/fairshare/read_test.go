package fairshare

import (
	"errors"
	"fmt"
	"strings"
	"testing"

	"github.com/resvec/resvec/vectormap"
	utilerrors "k8s.io/apimachinery/pkg/util/errors"
)

const kaiQueues = `
apiVersion: scheduling.run.ai/v2
kind: Queue
metadata: {name: vision, creationTimestamp: "2026-01-02T00:00:00Z", labels: {a: b}}
spec:
  displayName: Vision
  parentQueue: research
  priority: 7
  resources:
    gpu: {quota: 2.5, overQuotaWeight: 0.5, limit: 4}
    cpu: {quota: -1, limit: -1, overQuotaWeight: 1}
    memory: {quota: 3, limit: 1e3, lendingLimit: 1}
---
{"apiVersion": "scheduling.run.ai/v2", "kind": "Queue", "metadata": {"name": "research"}, "spec": {}, "status": {"anything": 1}}
`

const volcanoQueues = `
apiVersion: v1
kind: List
items:
- apiVersion: scheduling.volcano.sh/v1beta1
  kind: Queue
  metadata: {name: a}
  spec:
    parent: b
    weight: 3
    priority: -2
    reclaimable: true
    capability: {cpu: "2", nvidia.com/gpu: 4}
    guarantee: {resource: {cpu: 500m}}
    deserved: {cpu: 1, memory: 1Gi}
- apiVersion: scheduling.volcano.sh/v1beta1
  kind: Queue
  metadata: {name: b}
  spec: {parent: root}
`

const kueueQueues = `
apiVersion: kueue.x-k8s.io/v1beta2
kind: ClusterQueue
metadata: {name: a}
spec:
  cohortName: team
  fairSharing: {weight: 750m}
  resourceGroups:
  - coveredResources: [cpu, memory]
    flavors:
    - name: spot
      resources:
      - {name: cpu, nominalQuota: 4, borrowingLimit: 2, lendingLimit: 1}
      - {name: memory, nominalQuota: 1Ki}
    - name: reserved
      resources:
      - {name: cpu, nominalQuota: 1500m}
---
apiVersion: kueue.x-k8s.io/v1beta1
kind: ClusterQueue
metadata: {name: alone}
spec:
  queueingStrategy: StrictFIFO
  resourceGroups:
  - flavors: [{name: spot, resources: [{name: cpu, nominalQuota: 3}]}]
---
apiVersion: kueue.x-k8s.io/v1beta1
kind: Cohort
metadata: {name: team}
spec: {parentName: all}
`

// readText gives one line for each queue that is read.
func readText(t *testing.T, text string, options ...vectormap.Option) (string, error) {
	t.Helper()
	names, err := ResourceNames([]byte(text))
	if err != nil {
		return "", err
	}
	m, err := vectormap.New(names, options...)
	if err != nil {
		t.Fatal(err)
	}
	queues, err := ReadQueues([]byte(text), m)
	if err != nil {
		return "", err
	}
	tree, err := NewTree(m.Schema(), m.Len(), Options{})
	if err != nil {
		t.Fatal(err)
	}
	var b strings.Builder
	for _, q := range queues {
		if _, _, err := tree.Set(q.Name, q.Queue); err != nil {
			return "", err
		}
		fmt.Fprintf(&b, "%s in %q, priority %d, rank %d, weight %v\n", q.Name, q.Parent, q.Priority, *q.Rank, q.Weight)
		for column, name := range m.All() {
			var parts []string
			for _, part := range []struct {
				name      string
				amount    float64
				otherwise string
			}{
				{"deserved", q.Deserved[column], "0"}, {"guarantee", q.Guarantee[column], "0"},
				{"limit", q.Limit[column], "unlimited"}, {"lending", q.Lending[column], "unlimited"},
			} {
				if amount := m.Format(column, part.amount); amount != part.otherwise {
					parts = append(parts, part.name+" "+amount)
				}
			}
			if parts != nil {
				fmt.Fprintf(&b, "  %s: %s\n", name, strings.Join(parts, ", "))
			}
		}
	}
	return b.String(), nil
}

func TestReadQueues(t *testing.T) {
	for _, c := range []struct {
		name, text, want string
		options          []vectormap.Option
	}{
		{"KAI", kaiQueues, `research in "", priority 100, rank 0, weight [0 0 0 1]
  cpu: limit 0
  memory: limit 0
  gpu: limit 0
vision in "research", priority 7, rank 1, weight [1 0 0.5 1]
  cpu: deserved unlimited
  memory: deserved 3000000, limit 1000000000, lending 1000000
  gpu: deserved 2500m, limit 4
`, []vectormap.Option{vectormap.Milli("nvidia.com/gpu")}},
		{"Volcano", volcanoQueues, `b in "", priority 0, rank 1, weight [1]
a in "b", priority -2, rank 0, weight [3]
  cpu: deserved 1, guarantee 500m, limit 2
  memory: deserved 1Gi
  gpu: limit 4
`, nil},
		{"the queue root of Volcano", `{"apiVersion": "scheduling.volcano.sh/v1beta1", "kind": "Queue", "metadata": {"name": "a"}}
---
{"apiVersion": "scheduling.volcano.sh/v1beta1", "kind": "Queue", "metadata": {"name": "root"}}`,
			"root in \"\", priority 0, rank 1, weight [1]\na in \"root\", priority 0, rank 0, weight [1]\n", nil},
		{"Kueue", kueueQueues, `alone in "", priority 0, rank 1, weight []
  cpu: limit 0
  memory: limit 0
  gpu: limit 0
  reserved/cpu: limit 0
  spot/cpu: deserved 3, limit 3
all in "", priority 0, rank 3, weight []
team in "all", priority 0, rank 2, weight []
a in "team", priority 0, rank 0, weight [0.75]
  cpu: limit 0
  memory: deserved 1Ki
  gpu: limit 0
  reserved/cpu: deserved 1500m
  spot/cpu: deserved 4, limit 6, lending 1
`, []vectormap.Option{vectormap.Milli("spot/cpu", "reserved/cpu")}},
	} {
		if got, err := readText(t, c.text, c.options...); got != c.want || err != nil {
			t.Errorf("%s: got\n%s%v", c.name, got, err)
		}
	}
}

// TestReadFaults: each fault names the object, the field and the value.
func TestReadFaults(t *testing.T) {
	kai := func(spec string) string {
		return "{apiVersion: scheduling.run.ai/v2, kind: Queue, metadata: {name: q}, spec: " + spec + "}\n"
	}
	volcano := func(name, spec string) string {
		return "---\n{apiVersion: scheduling.volcano.sh/v1beta1, kind: Queue, metadata: {name: " + name + "}, spec: " + spec + "}\n"
	}
	kueue := func(resources string) string {
		return "{apiVersion: kueue.x-k8s.io/v1beta1, kind: ClusterQueue, metadata: {name: q}, spec: {cohort: c, resourceGroups: [{flavors: [{name: f, resources: [" + resources + "]}]}]}}\n"
	}
	for _, c := range []struct{ text, want string }{
		{"", "the document is empty"},
		{"[", "line 1"},
		{"- a", "document[0]: Invalid value"},
		{"{kind: Queue, metadata: {name: q}}", "Queue[q].apiVersion: Required"},
		{"{apiVersion: v1, kind: Pod, metadata: {name: q}}", `Pod[q].kind: Unsupported value: "v1 Pod"`},
		{kai("{resources: {gpu: {quota: 0.5}}}"), "Queue[q].spec.resources.gpu.quota: Invalid value: 0.5: must be a whole number"},
		{kai("{resources: {gpu: {quota: -2}}}"), "Queue[q].spec.resources.gpu.quota: Invalid value: -2: must be 0 or more"},
		{kai("{resources: {gpu: {quota: .nan}}}"), "Queue[q].spec.resources.gpu.quota: Invalid value: .nan"},
		{kai("{resources: {gpu: {limit: 1e400}}}"), "Queue[q].spec.resources.gpu.limit: Invalid value: 1e400"},
		{kai("{resources: {gpu: {limit: 9007199254740992}}}"), "below 2^53"},
		{kai("{resources: {gpu: {quota: '1'}}}"), "must be a number, not a string"},
		{kai("{resources: {gpu: {lendingLimit: -1}}}"), "lendingLimit: Invalid value: -1"},
		{kai("{resources: {gpu: {overQuotaWeight: 0.0001}}}"), "overQuotaWeight: Invalid value: 0.0001: must be a multiple of 0.001"},
		{kai("{resources: {gpu: {overQuotaWeight: 1000001}}}"), "overQuotaWeight: Invalid value: 1000001: must be a multiple of 0.001 from 0 to 10^6"},
		{kai("{resources: {tpu: {}}}"), `Queue[q].spec.resources.tpu: Unsupported value: "tpu"`},
		{kai("{resources: {gpu: {quota: 2, limit: 1}}}"), "Queue[q].spec.resources.gpu.quota: Invalid value: 2: must not be more than the limit, which is 1"},
		{kai("{resources: {cpu: {quota: 2000}}}"), "Queue[q].spec.resources.cpu.quota: Invalid value: 2000: must not be more than the limit, which is 0"},
		{kai("{priority: 3000000000}"), "spec.priority: Invalid value: 3000000000: must be an integer of 32 bits"},
		{kai("{parentQueue: p}"), `Queue[q].spec.parentQueue: Not found: "p"`},
		{kai("{parentQueue: q}"), `Queue[q].spec.parentQueue: Invalid value: "q": must lead to the top`},
		{kai("{}") + "---\n" + kai("{}"), `Queue[q].metadata.name: Duplicate value: "q"`},
		{strings.Replace(kai("{}"), "name: q", "name: q, creationTimestamp: now", 1), "creationTimestamp: Invalid value: \"now\""},
		{volcano(`"a\nb"`, `{parent: "c\nd"}`), `Queue[a b].spec.parent: Not found: "c\nd"`},
		{volcano("a", "{parent: b}") + volcano("b", "{parent: a}"), `Queue[a].spec.parent: Invalid value: "b"`},
		{volcano("a", "{weight: 2000000}"), "Queue[a].spec.weight: Invalid value: 2000000: must be at most 10^6"},
		{volcano("a", "{capability: {cpu: 1}, deserved: {cpu: 2}}"), `Queue[a].spec.deserved["cpu"]: Invalid value: 2: must not be more than the capability, which is 1`},
		{volcano("a", "{capability: {memory: 1Gi}, guarantee: {resource: {memory: 2Gi}}}"), `Queue[a].spec.guarantee.resource["memory"]: Invalid value: "2Gi": must not be more than the capability, which is 1Gi`},
		{volcano("a", "{weight: 0}"), "Queue[a].spec.weight: Invalid value: 0: must be at least 1"},
		{volcano("a", "{deserved: {cpu: x}}"), "Queue[a].spec.deserved[\"cpu\"]: Invalid value: \"x\""},
		{volcano("a", "{deserved: {cpu: 1, cpu: 2}}"), "Queue[a].spec.deserved[\"cpu\"]: Duplicate value: \"cpu\""},
		{volcano("a", "{deserved: {memory: 100m}}"), "must be a whole number"},
		{kueue("{name: cpu}"), "resources[0].nominalQuota: Required value"},
		{kueue("{name: cpu, nominalQuota: 1, borrowingLimit: 9007199254740}"), "with nominalQuota"},
		{kueue("{name: cpu, nominalQuota: 1}, {name: cpu, nominalQuota: 1}"), `resources[1].name: Duplicate value: "cpu"`},
		{strings.Replace(kueue("{name: cpu, nominalQuota: 1, lendingLimit: 0}"), "cohort: c, ", "", 1), "lendingLimit: Invalid value: 0: must be absent"},
		{strings.Replace(kueue(""), "v1beta1", "v1alpha1", 1), `ClusterQueue[q].apiVersion: Unsupported value`},
		{strings.Replace(kueue(""), "v1beta1", "v1beta2", 1), `ClusterQueue[q].spec.cohort: Unsupported value`},
	} {
		got, err := readText(t, c.text)
		if err == nil || !strings.Contains(err.Error(), c.want) {
			t.Errorf("%s: got\n%s%v\nwant %s", c.text, got, err, c.want)
		}
	}
	m, err := vectormap.New(nil)
	if err != nil {
		t.Fatal(err)
	}
	// Every object has its fault, and a limit that can't be read is one alone.
	_, err = ReadQueues([]byte(kai("{resources: {gpu: {quota: 2, limit: 1}, cpu: {quota: 3000, limit: -3}}}")+
		volcano("a", "{capability: {cpu: 1}, deserved: {cpu: 2}}")+volcano("b", "{capability: {cpu: -1}, deserved: {cpu: 2}}")), m)
	for _, want := range []string{"resources.gpu.quota", "resources.cpu.limit", "Queue[a].spec.deserved", "Queue[b].spec.capability"} {
		if err == nil || !strings.Contains(err.Error(), want) || strings.Count(err.Error(), "Invalid value") != 4 {
			t.Errorf("four faults at once: no %s in %v", want, err)
		}
	}
	if _, err := ReadQueues([]byte(kueueQueues), m); err == nil || !strings.Contains(err.Error(), `ClusterQueue[a].spec.resourceGroups[0].flavors[1].resources[0].name: Duplicate value: "cpu"`) {
		t.Errorf("two flavors in one column: %v", err)
	}
	if queues, err := ReadQueues([]byte(`{"apiVersion": "v1", "kind": "List", "items": []}`), m); len(queues) > 0 || err != nil {
		t.Errorf("an empty list: %v, %v", queues, err)
	}
	_, err = ReadQueues([]byte(volcano("a", "{weight: 0, capability: {example.com/fpga: 1}}")), m)
	var list utilerrors.Aggregate
	var parse *ParseError
	if !errors.As(err, &list) || len(list.Errors()) != 2 || !errors.As(err, &parse) || !strings.Contains(err.Error(), `capability["example.com/fpga"]: Not found`) {
		t.Errorf("two faults at once: %v", err)
	}
}

// FuzzReadQueues: whatever is read goes into a tree. Only the sum of what all are guaranteed may be
// too large.
func FuzzReadQueues(f *testing.F) {
	for _, text := range []string{kaiQueues, volcanoQueues, kueueQueues, "[", "a: 1", "{apiVersion: scheduling.run.ai/v2, kind: Queue, metadata: {name: q}, spec: {resources: {gpu: {quota: 1e999, limit: .inf}}}}"} {
		f.Add([]byte(text))
	}
	f.Fuzz(func(t *testing.T, data []byte) {
		names, err := ResourceNames(data)
		if err != nil {
			return
		}
		m, err := vectormap.New(names)
		if err != nil {
			return
		}
		queues, err := ReadQueues(data, m)
		if err != nil {
			return
		}
		tree, err := NewTree(m.Schema(), m.Len(), Options{})
		if err != nil {
			t.Fatal(err)
		}
		for _, q := range queues {
			if _, _, err := tree.Set(q.Name, q.Queue); err != nil && !strings.Contains(err.Error(), reasonSum) {
				t.Fatal(err)
			}
		}
	})
}
