package main

import (
	"io"
	"strings"
	"testing"

	"github.com/resvec/resvec/internal/testkit"
)

// TestGrowth reads snapshots that are long, deep or wide in some way, and makes
// clusters of them.
func TestGrowth(t *testing.T) {
	const pod = "apiVersion: v1, kind: Pod, metadata: {name: "
	const node = "apiVersion: v1, kind: Node, metadata: {name: "
	const jsonPod = `{"apiVersion": "v1", "kind": "Pod", "metadata": {"name": "p"}, "spec": `
	for name, c := range map[string]struct{ before, format, after string }{
		"pods":                 {both, "- {" + pod + "p%d}, spec: {containers: [{name: c, resources: {requests: {cpu: 1}}}]}}\n", ""},
		"nodes":                {both, "- {" + node + "n%d}, status: {allocatable: {cpu: 4}}}\n", ""},
		"documents":            {"", "---\n{" + node + "n%d}, status: {allocatable: {cpu: 4}}}\n", ""},
		"empty documents":      {"a: b\n", "---\n", ""},
		"JSON documents":       {"", `{"apiVersion": "v1", "kind": "Node", "metadata": {"name": "n%d"}}` + "\n", ""},
		"a node often":         {both, "- {" + node + "n}}\n", ""},
		"resources":            {both + "- {" + node + "n}, status: {allocatable: {", "example.com/r%d: 1, ", "}}}"},
		"bad amounts":          {both + "- {" + node + "n}, status: {allocatable: {", "example.com/r%d: x, ", "}}}"},
		"far amounts":          {both + "- {" + node + "n}, status: {allocatable: {z: 1e99999, ", "example.com/r%d: 1, ", "}}}"},
		"far labels":           {both + "- {" + node + "n, labels: {", "l%d: '1e99999', ", "}}}"},
		"containers":           {both + "- {" + pod + "p}, spec: {containers: [", "{name: c%d}, ", "]}}"},
		"a bad last container": {both + "- {" + pod + "p}, spec: {containers: [", "{name: c%d}, ", "5]}}"},
		"unknown fields":       {both + "- {" + pod + "p}, spec: {", "x%d: 1, ", "}}"},
		"repeated keys":        {both + "- {" + pod + "p}, spec: {", "x: 1, ", "}}"},
		"repeated JSON keys":   {jsonPod + `{"x": 0`, `, "nodeName": "n"`, "}}"},
		"aliases":              {"a: &a [x, x]\nb: [", "*a, ", "]"},
		"merges":               {"a: &a {b: 1, c: 2}\nb: {", "<<: *a, ", "}"},
		"lists in lists":       {jsonPod, "[", "}"},
		"objects in objects":   {jsonPod, `{"x":`, "}"},
		"YAML in depth":        {"a: ", "[", ""},
		"indented":             {"", "- ", ""},
		"a long text":          {both + "- {" + pod + "p}, spec: {nodeName: ", "x", "}}"},
		"a long number":        {both + "- {" + pod + "p}, spec: {priority: ", "9", "}}"},
		"tolerations":          {both + "- {" + node + "n}, spec: {taints: [{key: a, effect: NoSchedule}]}}\n- {" + pod + "p}, spec: {tolerations: [", "{key: t%d}, ", "]}}"},
		"priorities":           {both, "- {" + pod + "p%[1]d}, spec: {priority: %[1]d, nodeName: n%[1]d}}\n", ""},
		"comments":             {both, "# x\n", ""},
	} {
		t.Run(name, func(t *testing.T) {
			testkit.Linear(t, 16<<10, func(n int) func() {
				text := testkit.Text(len(c.before)+n, c.before, c.format, c.after)
				return func() { _, _ = question(text) }
			})
		})
	}
	// The whole program: pods that fit nowhere, alike and not, alone and in gangs of two, and that
	// fit on new nodes, one or eight on each.
	const cordoned = both + "- {" + node + "n0}, spec: {unschedulable: true}, status: {allocatable: {cpu: 64, pods: 110}}}\n"
	for name, format := range map[string]string{
		"pods that fit nowhere":       "- {" + pod + "p%d}, spec: {containers: [{name: c, resources: {requests: {cpu: 65}}}]}}\n",
		"kinds that fit nowhere":      "- {" + pod + "p%[1]d}, spec: {containers: [{name: c, resources: {requests: {cpu: 1%[1]d}}}]}}\n",
		"pods of which a node has 8":  "- {" + pod + "p%d}, spec: {containers: [{name: c, resources: {requests: {cpu: 8}}}]}}\n",
		"pods of which a node has 1":  "- {" + pod + "p%d}, spec: {containers: [{name: c, resources: {requests: {cpu: 60}}}]}}\n",
		"gangs that need new nodes":   "- {" + pod + "p%[1]d, labels: {pod-group-name: g%[1]d}}, spec: {containers: [{name: c, resources: {requests: {cpu: 8}}}]}}\n",
		"gangs that fit nowhere ever": "- {" + pod + "p%[1]d, labels: {pod-group-name: g%[1]d}}, spec: {containers: [{name: c, resources: {requests: {cpu: 80}}}]}}\n",
	} {
		t.Run(name, func(t *testing.T) {
			testkit.Linear(t, 128<<10, func(n int) func() {
				text := testkit.Text(n, cordoned, format, "")
				return func() { run([]string{"-snapshot", "-"}, strings.NewReader(text), io.Discard, io.Discard) }
			})
		})
	}
	deep := func(key string, depth, n int, last string) func() {
		text := jsonPod + strings.Repeat(`{"`+key+`": `, depth) + "[" + strings.Repeat("1, ", n/3) + last + "]" + strings.Repeat("}", depth) + "}"
		return func() { _, _ = question(text) }
	}
	for name, fault := range map[string]string{"x": `"x"`, "limits": "1e99999", "containers": `5`} {
		t.Run(name+" in depth", func(t *testing.T) {
			testkit.Linear(t, 100, func(n int) func() { return deep(name, n, 50*n, fault) })
		})
	}
}
