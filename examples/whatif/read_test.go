package main

import (
	"encoding/json"
	"errors"
	"fmt"
	"strings"
	"testing"
	"unicode/utf8"

	"github.com/resvec/resvec/examples/whatif/placement"
	"github.com/resvec/resvec/internal/testkit"
	"github.com/resvec/resvec/scoring"
	"github.com/resvec/resvec/vector"
	"github.com/resvec/resvec/vectormap"
	"sigs.k8s.io/yaml"
)

const both = "apiVersion: v1\nkind: List\nitems:\n"

// question reads a text and makes a cluster of it.
func question(text string) (*cluster, error) {
	o := new(objects)
	if err := o.read("f", strings.NewReader(text), kinds{node: true, pod: true}); err != nil {
		return nil, err
	}
	s, err := newSnapshot(o, new(objects), false)
	if err != nil {
		return nil, err
	}
	return newCluster(s, kubeTerms)
}

func kubeTerms(m *vectormap.ResourceVectorMap) ([]scoring.Term, error) {
	return placement.KubeTerms(m, placement.DefaultStrategy(), 1, 1)
}

// What can't be used is an error that names the file and the place.
func TestBadFiles(t *testing.T) {
	for _, c := range []struct {
		name, text string
		want       []string
	}{
		{"empty", "", []string{"f: it holds no document"}},
		{"comments", "# nothing\n---\n", []string{"f: it holds no document"}},
		{"not UTF-8", "a: b\nc: \xff", []string{"f: not UTF-8 in line 2: got byte 0xff; want JSON or YAML in UTF-8"}},
		{"UTF-16", "\xff\xfe{\x00}\x00", []string{"f: not UTF-8 in line 1: it is UTF-16, as > of PowerShell writes it; want JSON or YAML in UTF-8"}},
		{"CSV", "pod,cpu\na,1\n", []string{"f: want an object; several are one of kind List"}},
		{"the end of a list of JSON cut off", "{\"items\": [{\"kind\": \"Node\"},\n", []string{"f: line 2: unexpected EOF"}},
		{"no JSON in an item", "{\"items\": [{\"kind\":\n Node}]}", []string{"f: line 2: invalid character 'N'"}},
		{"a kind that is none in JSON", "{\"kind\": 5, \"items\": []}", []string{"f: kind: want a string"}},
		{"items twice in JSON", "{\"kind\": \"List\", \"items\": [],\n\"items\": []}", []string{"f: line 2: items: want one list, got a second"}},
		{"items twice", both + "- {apiVersion: v1, kind: Node, metadata: {name: a}}\nitems: []\n", []string{"f: document 1: ", "items"}},
		{"an item that is no YAML", both + "- {apiVersion: v1, kind: Node, metadata: {name: a}}\n- {a: [}\n", []string{"f: document 1: yaml: line 4: "}},
		{"a tab", both + "- apiVersion: v1\n\tkind: Node\n", []string{"f: document 1: ", "line"}},
		{"not YAML", "a: [", []string{"f: document 1: ", "line 1"}},
		{"not JSON", "{\"kind\": \"Node\",\n\"a\"}", []string{"f: line 2: "}},
		{"JSON cut off", "{\"kind\": \"Node\",\n", []string{"f: line 2: "}},
		{"text", "hello", []string{"f: want an object; several are one of kind List"}},
		{"a list of nothing", "[]", []string{"f: want an object; several are one of kind List"}},
		{"items that are no list", "apiVersion: v1\nkind: List\nitems: {}", []string{"f: items: want a list"}},
		{"metadata that is none", both + "- {apiVersion: v1, kind: Pod, metadata: [p]}", []string{"f: items[0]: metadata: want an object"}},
		{"no kind", "apiVersion: v1\nmetadata: {name: a}", []string{`f: kind: got "" of apiVersion "v1", want Node or Pod of v1`}},
		{"the kind in other letters", both + "- {apiVersion: v1, kind: node, metadata: {name: a}}", []string{`f: items[0]: kind: got "node"`}},
		{"another version", both + "- {apiVersion: v2, kind: Node, metadata: {name: a}}", []string{`f: items[0]: kind: got "Node" of apiVersion "v2"`}},
		{"another group", "apiVersion: metrics.k8s.io/v1\nkind: Pod\nmetadata: {name: a}", []string{`f: kind: got "Pod" of apiVersion "metrics.k8s.io/v1"`}},
		{"a list without items", "apiVersion: v1\nkind: List", []string{"f: items: a List without items"}},
		{"items that are none", both + "- 1", []string{"f: items[0]: want an object"}},
		{"no name", both + "- {apiVersion: v1, kind: Node}", []string{"f: items[0] (Node ): metadata.name: it is empty"}},
		{"a repeated key in YAML", "kind: Node\nkind: Node", []string{"f: document 1: ", "kind"}},
		{"a repeated key in JSON", `{"apiVersion":"v1","kind":"Node","metadata":{"name":"a","name":"b"}}`, []string{"f (Node ", "duplicate field", "metadata.name"}},
		{"a wrong type", both + "- {apiVersion: v1, kind: Pod, metadata: {name: p}, spec: {nodeName: [a]}}", []string{`f: items[0] (Pod default/p): spec.nodeName: got ["a"], want a string`}},
		{"a fraction", both + "- {apiVersion: v1, kind: Pod, metadata: {name: p}, spec: {priority: 1.5}}", []string{"f: items[0] (Pod default/p): spec.priority: got 1.5, want a whole number"}},
		{"no list", both + "- {apiVersion: v1, kind: Pod, metadata: {name: p}, spec: {containers: c}}", []string{`spec.containers: got "c", want a list`}},
		{"a number that takes minutes to parse", `{"apiVersion":"v1","kind":"Pod","metadata":{"name":"p"},"spec":{"overhead":{"cpu":1.11111111111111111111e9999999}}}`, []string{"f (Pod default/p): spec.overhead.cpu: "}},
		{"no quantity, deeper", both + "- {apiVersion: v1, kind: Node, metadata: {name: a}}\n- {apiVersion: v1, kind: Pod, metadata: {name: p, namespace: lab}, spec: {containers: [{name: a, resources: {requests: {cpu: 1}}}, {name: b, resources: {requests: {cpu: x}}}]}}",
			[]string{"f: items[1] (Pod lab/p): spec.containers[1].resources.requests.cpu: "}},
		{"no time", both + "- {apiVersion: v1, kind: Pod, metadata: {name: p, creationTimestamp: yesterday}}", []string{`(Pod default/p): metadata.creationTimestamp: got "yesterday", want a time such as 2026-01-02T15:04:05Z`}},
		{"YAML that looks like JSON", "{apiVersion: v1, kind: Node, metadata: {name: a}}", []string{"f: line 1: ", "begins with { is read as JSON"}},
		{"a list for an object", both + "- {apiVersion: v1, kind: Pod, metadata: {name: p}, spec: {affinity: [{x: 1}]}}", []string{`(Pod default/p): spec.affinity: got [{"x":1}], want an object`}},
		{"a word that YAML takes for no", both + "- {apiVersion: v1, kind: Node, metadata: {name: n}}", []string{"f: items[0]: ", "metadata.name"}},
		{"the second document", "apiVersion: v1\nkind: Node\nmetadata: {name: a}\n---\nkind: Job\n", []string{`f: document 2: kind: got "Job"`}},
		{"a node twice", both + "- &x {apiVersion: v1, kind: Node, metadata: {name: a}}\n- *x", []string{"f: items[1] (Node a): the same node as f: items[0] (Node a)"}},
		{"a pod twice", both + "- &x {apiVersion: v1, kind: Pod, metadata: {name: a}}\n- *x", []string{"f: items[1] (Pod default/a): the same pod as f: items[0] (Pod default/a)"}},
		{"a negative request", both + "- {apiVersion: v1, kind: Pod, metadata: {name: p}, spec: {containers: [{name: a, resources: {requests: {example.com/x: -1}}}]}}",
			[]string{"f: items[0] (Pod default/p): its requests: ", "example.com/x"}},
		{"a name that is none, in a pod", both + "- {apiVersion: v1, kind: Pod, metadata: {name: p}, spec: {containers: [{name: a, resources: {requests: {'a b': 1}}}]}}", []string{"f: items[0] (Pod default/p): ", "a b"}},
	} {
		_, err := question(c.text)
		if err == nil {
			t.Errorf("%s: no error", c.name)
			continue
		}
		for _, want := range c.want {
			if !strings.Contains(err.Error(), want) {
				t.Errorf("%s: got %q, want %q in it", c.name, err, want)
			}
		}
	}
}

// A field of a node that can't be read is a problem, and the others count. Where it may be
// what keeps pods away, none go there; an amount that can't be is none.
func TestBadNodes(t *testing.T) {
	for _, c := range []struct {
		name, node string // what the node is besides its name
		problem    []string
		closed     string
		amounts    string
	}{
		{"no quantity", "status: {allocatable: {cpu: 4, memory: lots}}", []string{`f: items[0] (Node a): status.allocatable.memory: got "lots", want a quantity such as 2, 500m or 8Gi`}, "", "cpu 4"},
		{"no quantity, and long", "status: {allocatable: {cpu: 4, memory: " + strings.Repeat("lots", 100) + "}}", []string{`memory: got "lotslots`, `lot…, want a quantity`}, "", "cpu 4"},
		{"a suffix that is none", "status: {allocatable: {cpu: 4, memory: 8GB}}", []string{`status.allocatable.memory: got "8GB", want a quantity such as 2, 500m or 8Gi`}, "", "cpu 4"},
		{"two of them", "status: {allocatable: {cpu: 4, memory: lots, pods: [1]}}", []string{"status.allocatable.memory: got", `status.allocatable.pods: got [1]`}, "", "cpu 4"},
		{"no truth", "spec: {unschedulable: 1}, status: {allocatable: {cpu: 4}}", []string{"spec.unschedulable: got 1, want true or false"}, "spec.unschedulable", "cpu 4"},
		{"no taint", "spec: {taints: [{key: a, effect: NoSchedule}, 5]}, status: {allocatable: {cpu: 4}}", []string{"spec.taints[1]: got 5, want an object"}, "spec.taints[1]", "cpu 4"},
		{"no conditions", "status: {conditions: {Ready: true}, allocatable: {cpu: 4}}", []string{"status.conditions: got"}, "status.conditions", "cpu 4"},
		{"a quantity that takes minutes to parse", "status: {allocatable: {cpu: 4, memory: '1e-99999999'}}", []string{"f: items[0] (Node a): status.allocatable.memory: an amount with an exponent"}, "", "cpu 4"},
		{"no quantity of a name with dots", "status: {allocatable: {cpu: 4, nvidia.com/gpu: all}}", []string{"(Node a): status.allocatable[nvidia.com/gpu]: "}, "", "cpu 4"},
		{"a negative amount", "status: {allocatable: {cpu: 4, memory: -4}}", []string{"f: items[0] (Node a): status.allocatable: ", "memory", "-4"}, "", "cpu 4"},
		{"a name that is none", "status: {allocatable: {cpu: 4, 'a b': 4}}", []string{"f: items[0] (Node a): status.allocatable: ", "a b"}, "", "cpu 4"},
		{"too many", "status: {allocatable: {cpu: 4, a: x, b: x, c: x, d: x, e: x, f: x, g: x, h: x, i: x, j: x}}", []string{"allocatable.a: ", "allocatable.i: "}, "status.allocatable.i", "nothing"},
	} {
		c2 := mustAsk(both + "- {apiVersion: v1, kind: Node, metadata: {name: a}, " + c.node + "}\n" +
			nodeYAML("b", "", "cpu: 1, pods: 9", "") + podYAML("p", "cpu: 0", "tolerations: [{operator: Exists}]") + podYAML("q", "cpu: 1", ""))
		problems := strings.Join(c2.problems, "\n")
		for _, want := range c.problem {
			if !strings.Contains(problems, want) {
				t.Errorf("%s: got %q, want %q in it", c.name, problems, want)
			}
		}
		if got := c2.nodes[0].closed; got != c.closed || c2.nodes[0].Name != "a" {
			t.Errorf("%s: closed by %q, want %q", c.name, got, c.closed)
		}
		if got := (&report{cluster: c2}).amounts(c2.state.Nodes().Allocatable().Row(nil, 0)); got != c.amounts {
			t.Errorf("%s: the node has %s, want %s", c.name, got, c.amounts)
		}
		o := testkit.Must(c2.simulate(nil, vector.TieLowest()))
		if c.closed != "" && (o.rows[0] != 1 || c2.verdicts[0].reasons["node(s) had a malformed field"] != 1) {
			t.Errorf("%s: the pod goes to row %d", c.name, o.rows[0])
		}
	}
}

// Lists whose items are decoded one by one, and texts that have to be decoded as a whole, hold
// the same objects.
func TestForms(t *testing.T) {
	const (
		a = `{"apiVersion": "v1", "kind": "Node", "metadata": {"name": "a"}, "spec": {}, "status": {"allocatable": {"cpu": "4", "pods": "9"}}}`
		p = `{"apiVersion": "v1", "kind": "Pod", "metadata": {"name": "p"}, "spec": {"containers": [{"name": "c", "args": ["- x\n- y"], "resources": {"requests": {"cpu": "1"}}}]}}`
	)
	for name, text := range map[string]string{
		"JSON, the kind first":     `{"kind": "List", "apiVersion": "v1", "items": [` + a + ", " + p + `]}`,
		"JSON, the kind last":      "\xef\xbb\xbf \n{\"items\" : [ " + a + "\n,\n" + p + ` ], "kind": "List"}`,
		"JSON documents":           a + p,
		"JSON, a list in the list": `{"kind": "List", "items": [` + a + `, ` + p + `]}` + "\n\n",
		"YAML, not indented":       "apiVersion: v1\nitems:\n- " + a + "\n# a comment\n\n- " + p + "\nkind: List\n",
		"YAML, indented":           "kind: List\nitems:\n  - " + a + "\n  -\n    " + p + "\n",
		"YAML in blocks":           "items:\n- apiVersion: v1\n  kind: Node\n  metadata:\n    name: a\n  status:\n    allocatable:\n      cpu: 4\n      pods: 9\n- " + p + "\nkind: List\n",
		"YAML with Windows' lines": "kind: List\r\nitems:\r\n- " + a + "\r\n- " + p + "\r\n",
		"YAML with a block text":   "kind: List\nitems:\n- " + a + "\n- apiVersion: v1\n  kind: Pod\n  metadata: {name: p, annotations: {}}\n  spec:\n    containers:\n    - name: c\n      command:\n      - |\n        - x\n        - y\n      resources: {requests: {cpu: 1}}\n",
		"YAML with an alias":       "kind: List\nitems:\n- apiVersion: v1\n  kind: Node\n  metadata: {name: a}\n  status: {allocatable: &few {cpu: 4, pods: 9}}\n- apiVersion: v1\n  kind: Pod\n  metadata: {name: p}\n  spec: {containers: [{name: c, resources: {requests: {cpu: 1}, limits: *few}}]}\n",
		"YAML in flow":             "kind: List\nitems: [" + a + ", " + p + "]\n",
		"YAML documents":           a[1:1] + "---\n" + a + "\n--- # more\n" + p + "\n---\n",
	} {
		c, err := question(text)
		if err != nil {
			t.Errorf("%s: %v", name, err)
			continue
		}
		if len(c.nodes) != 1 || len(c.queue) != 1 || c.requests[0].Requested[0] != 1000 || c.state.Nodes().Allocatable().At(0, 0) != 4000 || len(c.unknown) > 0 {
			t.Errorf("%s: %d nodes, %d pods, unknown %v", name, len(c.nodes), len(c.queue), c.unknown)
		}
	}
}

// TestLongLines: an error in a list that is too long to be decoded as a whole names the line in
// the file.
func TestLongLines(t *testing.T) {
	text := both + strings.Repeat("# "+strings.Repeat("x", 1<<16)+"\n", mostWhole>>16) + "- {kind: Node}\n- {a: [}\n"
	want := fmt.Sprintf("f: document 1: items[1]: line %d: yaml: ", strings.Count(text, "\n"))
	if err := new(objects).read("f", strings.NewReader(text), kinds{node: true}); err == nil || !strings.HasPrefix(err.Error(), want) {
		t.Errorf("got %.200v, want %s", err, want)
	}
}

// A file may hold only what its flag says.
func TestWantedKinds(t *testing.T) {
	const text = "apiVersion: v1\nkind: Pod\nmetadata: {name: a}"
	if err := new(objects).read("f", strings.NewReader(text), kinds{node: true}); err == nil || !strings.Contains(err.Error(), "want Node of v1") {
		t.Errorf("got %v", err)
	}
	bound := new(objects)
	testkit.Check(bound.read("f", strings.NewReader(text+"\nspec: {nodeName: node-1}"), kinds{pod: true}))
	if _, err := newSnapshot(new(objects), bound, false); err == nil || !strings.Contains(err.Error(), "f (Pod default/a): spec.nodeName: it is on node-1, and not pending") {
		t.Errorf("got %v", err)
	}
}

func TestReadFails(t *testing.T) {
	if err := new(objects).read("f", broken{}, kinds{node: true}); err == nil || err.Error() != "f: broken" {
		t.Errorf("got %v", err)
	}
}

type broken struct{}

func (broken) Read([]byte) (int, error) { return 0, errors.New("broken") }

// A manifest that was not applied requests what it limits, as the API server would
// make it.
func TestLimitsOfManifests(t *testing.T) {
	for spec, want := range map[string]string{
		"containers: [{name: c, resources: {limits: {cpu: 2, nvidia.com/gpu: 1}}}]":                                          "cpu 2, nvidia.com/gpu 1",
		"containers: [{name: c, resources: {limits: {cpu: 2, memory: 1Gi}, requests: {cpu: 1}}}]":                            "cpu 1, memory 1Gi",
		"initContainers: [{name: i, resources: {limits: {cpu: 3}}}], containers: [{name: c, resources: {limits: {cpu: 2}}}]": "cpu 3",
		"resources: {limits: {cpu: 4, memory: 1Gi}}, containers: [{name: c}]":                                                "cpu 4, memory 1Gi",
		"resources: {limits: {cpu: 4, memory: 1Gi}}, containers: [{name: c, resources: {requests: {cpu: 1}}}]":               "cpu 1, memory 1Gi",
		"resources: {limits: {cpu: 4}, requests: {cpu: 2}}, containers: [{name: c, resources: {limits: {cpu: 1}}}]":          "cpu 2",
	} {
		c := mustAsk(both + "- {apiVersion: v1, kind: Pod, metadata: {name: p}, spec: {" + spec + "}}")
		if got := (&report{cluster: c}).amounts(c.requests[0].Requested); got != want {
			t.Errorf("%s: got %s, want %s", spec, got, want)
		}
	}
}

// What looks like a huge exponent is no fault of a label.
func TestTextWithExponent(t *testing.T) {
	mustAsk(both + "- {apiVersion: v1, kind: Pod, metadata: {name: p, labels: {commit: '12e34567'}}, spec: {containers: [{name: a, resources: {requests: {cpu: 1}}}]}}")
}

// Fields of a later Kubernetes are counted by path.
func TestUnknownFields(t *testing.T) {
	c := testkit.Must(question(both +
		"- {apiVersion: v1, kind: Pod, metadata: {name: a}, spec: {orbit: 1, containers: [{name: a}, {name: b, orbit: {x: 1}}]}}\n" +
		"- {apiVersion: v1, kind: Pod, metadata: {name: b}, spec: {orbit: 1}}\n"))
	if got, want := fmt.Sprint(c.unknown), "map[spec.containers[].orbit:1 spec.orbit:2]"; got != want {
		t.Errorf("got %s, want %s", got, want)
	}
}

// FuzzRead: whatever a file holds, it is an error that names the file, or every
// object of it is somewhere in the answer.
func FuzzRead(f *testing.F) {
	f.Add(string(sample))
	f.Add(both + "- {apiVersion: v1, kind: Node, metadata: {name: a}, status: {allocatable: {cpu: 4, pods: 3}}}\n- {apiVersion: v1, kind: Pod, metadata: {name: p}, spec: {containers: [{resources: {requests: {cpu: 1}}}]}}")
	f.Add(both + sliceYAML("a", gpuYAML("g", "NVIDIA H100")) + nodeYAML("a", "", "cpu: 4", "") + templateYAML("t", "deviceClassName: gpu.nvidia.com") + podYAML("p", "cpu: 1", claimOf("t")))
	f.Add(`{"kind":"PodList","apiVersion":"v1","items":[{"metadata":{"name":"p"},"spec":{"nodeName":"n","overhead":{"cpu":"1e3"}}}]}`)
	f.Add("apiVersion: v1\nkind: Pod\nmetadata: {name: a}\n---\napiVersion: v1\nkind: Node\nmetadata: {name: a}\nspec: {unschedulable: true}")
	f.Fuzz(func(t *testing.T, text string) {
		if len(text) > 1<<16 {
			t.Skip()
		}
		o := new(objects)
		if err := o.read("f", strings.NewReader(text), kinds{node: true, pod: true}); err != nil {
			if !strings.HasPrefix(err.Error(), "f") {
				t.Fatalf("the error doesn't name the file: %v", err)
			}
			return
		}
		s, err := newSnapshot(o, new(objects), false)
		if err != nil {
			return
		}
		pods := 0
		for _, group := range [][]pod{s.running, s.queue, s.ended, s.gated, s.deleting, s.orphans} {
			pods += len(group)
		}
		if pods != len(o.pods) || len(s.nodes) != len(o.nodes) {
			t.Fatalf("%d of %d pods and %d of %d nodes", pods, len(o.pods), len(s.nodes), len(o.nodes))
		}
		c, err := newCluster(s, kubeTerms)
		if err != nil {
			return
		}
		c.findGangs([]string{"gang"})
		c.remarks()
		testkit.Must(c.simulate(nil, vector.TieLowest()))
	})
}

// FuzzItems: a list whose items are decoded one by one is the list that is decoded as a whole.
func FuzzItems(f *testing.F) {
	f.Add(both + "- {a: 1}\n- b:\n  - c\n- |\n  - d\n  e\n# f\n-\n  g: h\nmetadata: {}\n")
	f.Add("items:\n  - a: 'x\n\n     - y'\n  -\n    b: 1\n  # c\nkind: List\n")
	f.Add("kind: List\nitems:\n- a: \"x\n- y\"\n")
	f.Add("kind: List\nitems:\n- &a {b: c}\n- *a\n")
	f.Fuzz(func(t *testing.T, text string) {
		if len(text) > 1<<12 || !utf8.ValidString(text) {
			t.Skip()
		}
		d, err := scanYAML([]byte(text), func(int) {})
		if err != nil || d.items == nil {
			return
		}
		var whole struct {
			Kind  string            `json:"kind"`
			Items []json.RawMessage `json:"items"`
		}
		root, err := yaml.YAMLToJSONStrict([]byte(text))
		if err == nil {
			err = json.Unmarshal(root, &whole)
		}
		if err != nil || whole.Kind != d.kind || len(whole.Items) != len(d.items) {
			t.Fatalf("%d items of %s; as a whole %s, %v", len(d.items), d.kind, root, err)
		}
		for i, item := range d.items {
			if string(item) != string(whole.Items[i]) {
				t.Errorf("item %d is %s, and as a whole %s", i, item, whole.Items[i])
			}
		}
	})
}
