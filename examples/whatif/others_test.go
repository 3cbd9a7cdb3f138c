package main

import (
	"fmt"
	"html"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/resvec/resvec/examples/internal/golden"
	"github.com/resvec/resvec/internal/testkit"
	"github.com/resvec/resvec/vector"
)

// zonedYAML returns a node of an instance type in a zone.
func zonedYAML(name, zone string) string {
	return fmt.Sprintf("- {apiVersion: v1, kind: Node, metadata: {name: %s, labels: {node.kubernetes.io/instance-type: m, topology.kubernetes.io/zone: %s, kubernetes.io/hostname: %s}}, status: {allocatable: {cpu: 4, memory: 8Gi, pods: 9}}}\n", name, zone, name)
}

// appYAML returns pods of an app.
func appYAML(n int, app, requests, spec string) string {
	var b strings.Builder
	for i := range n {
		fmt.Fprintf(&b, "- {apiVersion: v1, kind: Pod, metadata: {name: %s-%d, labels: {app: %s}}, spec: {containers: [{name: c, resources: {requests: {%s}}}], %s}}\n", app, i, app, requests, spec)
	}
	return b.String()
}

func spreadOver(key, app string, skew int) string {
	return fmt.Sprintf("topologySpreadConstraints: [{maxSkew: %d, topologyKey: %s, whenUnsatisfiable: DoNotSchedule, labelSelector: {matchLabels: {app: %s}}}]", skew, key, app)
}

// related returns the spec of a pod with a required term of podAffinity or podAntiAffinity.
func related(how, key, app string) string {
	return fmt.Sprintf("affinity: {%s: {requiredDuringSchedulingIgnoredDuringExecution: [{topologyKey: %s, labelSelector: {matchLabels: {app: %s}}}]}}", how, key, app)
}

const (
	zoneKey = "topology.kubernetes.io/zone"
	hostKey = "kubernetes.io/hostname"
)

// Other pods keep pods from nodes, new ones included, and a refusal counts them as kube-scheduler
// does.
func TestOthers(t *testing.T) {
	port := "containers: [{name: c, ports: [{containerPort: 80, hostPort: 80}], resources: {requests: {cpu: 100m}}}]"
	ported := func(name, spec string) string {
		return fmt.Sprintf("- {apiVersion: v1, kind: Pod, metadata: {name: %s}, spec: {%s%s}}\n", name, spec, port)
	}
	two := zonedYAML("a1", "a") + zonedYAML("b1", "b")
	three := two + zonedYAML("a2", "a")
	for _, c := range []struct {
		name, text string
		add        int    // new nodes like the first
		placed     string // how many of the queue are on each node
		why        string // of the last
	}{
		{"zones", three + appYAML(1, "r", "cpu: 4", "nodeName: b1") + appYAML(3, "x", "cpu: 1", spreadOver(zoneKey, "x", 1)), 0, "a1:1",
			"0/3 nodes are available: 1 Insufficient cpu, 2 node(s) didn't match pod topology spread constraints."},
		{"zones of skew 2", three + appYAML(1, "r", "cpu: 4", "nodeName: b1") + appYAML(3, "x", "cpu: 1", spreadOver(zoneKey, "x", 2)), 0, "a1:1 a2:1",
			"0/3 nodes are available: 1 Insufficient cpu, 2 node(s) didn't match pod topology spread constraints."},
		{"a node without the label", two + nodeYAML("bare", "", "cpu: 4, memory: 8Gi, pods: 9", "") + appYAML(1, "x", "cpu: 1", spreadOver("rack", "x", 1)), 0, "",
			"0/3 nodes are available: 3 node(s) didn't match pod topology spread constraints (missing required label)."},
		{"a replica a node", two + appYAML(3, "x", "cpu: 1", related("podAntiAffinity", hostKey, "x")), 0, "a1:1 b1:1",
			"0/2 nodes are available: 2 node(s) didn't match pod anti-affinity rules."},
		{"a new node has a hostname of its own", two + appYAML(3, "x", "cpu: 1", related("podAntiAffinity", hostKey, "x")), 1, "a1:1 b1:1 m +1:1", ""},
		{"two new nodes have two", two + appYAML(4, "x", "cpu: 1", related("podAntiAffinity", hostKey, "x")), 2, "a1:1 b1:1 m +1:1 m +2:1", ""},
		{"a new node is in the zone of its shape", two + appYAML(3, "x", "cpu: 1", related("podAntiAffinity", zoneKey, "x")), 1, "a1:1 b1:1",
			"0/3 nodes are available: 3 node(s) didn't match pod anti-affinity rules."},
		{"running pods keep others away", two + appYAML(1, "r", "cpu: 1", "nodeName: a1, "+related("podAntiAffinity", zoneKey, "x")) + appYAML(2, "x", "cpu: 3", ""), 0, "b1:1",
			"0/2 nodes are available: 1 Insufficient cpu, 1 node(s) didn't satisfy existing pods anti-affinity rules."},
		{"what a node lacks comes first", two + appYAML(1, "r", "cpu: 3", "nodeName: a1") + appYAML(1, "x", "cpu: 2", related("podAntiAffinity", zoneKey, "r")+", nodeSelector: {"+zoneKey+": a}"), 0, "",
			"0/2 nodes are available: 1 Insufficient cpu, 1 node(s) didn't match Pod's node affinity/selector."},
		{"where the others are", two + appYAML(1, "r", "cpu: 1", "nodeName: b1") + appYAML(3, "x", "cpu: 1", related("podAffinity", zoneKey, "r")), 0, "b1:3", ""},
		{"the others are nowhere", two + appYAML(1, "x", "cpu: 1", related("podAffinity", zoneKey, "r")), 0, "",
			"0/2 nodes are available: 2 node(s) didn't match pod affinity rules."},
		{"the first of its kind", two + appYAML(4, "x", "cpu: 1", related("podAffinity", zoneKey, "x")), 0, "a1:4", ""},
		{"a port", two + ported("r", "nodeName: a1, ") + ported("p", "priority: 1, ") + ported("q", "priority: 0, "), 0, "b1:1",
			"0/2 nodes are available: 2 node(s) didn't have free ports for the requested pod ports."},
		{"a port comes before what a node lacks", zonedYAML("a1", "a") + appYAML(1, "r", "cpu: 4", "nodeName: a1") + ported("s", "nodeName: a1, ") + ported("p", ""), 0, "",
			"0/1 nodes are available: 1 node(s) didn't have free ports for the requested pod ports."},
		{"a port in the network of the host", zonedYAML("a1", "a") + "- {apiVersion: v1, kind: Pod, metadata: {name: r}, spec: {nodeName: a1, hostNetwork: true, containers: [{name: c, ports: [{containerPort: 80}]}]}}\n" + ported("p", ""), 0, "",
			"0/1 nodes are available: 1 node(s) didn't have free ports for the requested pod ports."},
		{"a gang, whole", two + appYAML(2, "x", "cpu: 1", "schedulingGroup: {podGroupName: g}, "+related("podAntiAffinity", hostKey, "x")), 0, "a1:1 b1:1", ""},
		{"a gang of which one has no place", two + appYAML(3, "x", "cpu: 1", "schedulingGroup: {podGroupName: g}, "+related("podAntiAffinity", hostKey, "x")), 0, "",
			"2 of the 3 pods of gang default/g have room at once, and it takes all."},
		{"what a gang leaves is free", two + appYAML(3, "x", "cpu: 1", "priority: 2, schedulingGroup: {podGroupName: g}, "+related("podAntiAffinity", hostKey, "x")) +
			appYAML(2, "z", "cpu: 1", related("podAntiAffinity", hostKey, "x")), 0, "a1:1 b1:1", ""},
	} {
		c1 := mustAsk(both + c.text)
		c1.findGangs(nil)
		var add []addition
		if c.add > 0 {
			add = []addition{{&c1.shapes[0], c.add}}
		}
		o := testkit.Must(c1.simulate(add, vector.TieLowest()))
		count := make(map[string]int)
		for _, row := range o.rows {
			if row >= 0 {
				count[o.final.Name(row)]++
			}
		}
		var got []string
		for _, name := range sortedKeys(count) {
			got = append(got, fmt.Sprint(name, ":", count[name]))
		}
		if strings.Join(got, " ") != c.placed {
			t.Errorf("%s: placed on %v, want %s", c.name, got, c.placed)
		}
		if left := o.unplaced(); c.why != "" && len(left) > 0 {
			if got := c1.explain(o, left[len(left)-1]); got != c.why {
				t.Errorf("%s: got %s, want %s", c.name, got, c.why)
			}
		}
	}
}

// Missing nodes where other pods have a say: how many pods fit on new ones, PACKED, AT LEAST, SCHEDULED,
// the mix with its bound, and how many are refused by all.
func TestDemandWithOthers(t *testing.T) {
	two := zonedYAML("a1", "a") + zonedYAML("b1", "b")
	one := "containers: [{name: c, ports: [{containerPort: 80, hostPort: 80}], resources: {requests: {cpu: 100m}}}]"
	ports := func(n int) (text string) {
		for i := range n {
			text += fmt.Sprintf("- {apiVersion: v1, kind: Pod, metadata: {name: port-%d}, spec: {%s}}\n", i, one)
		}
		return text
	}
	for _, c := range []struct {
		name, text string
		alone      []answer // by shape
		mix        string
		refused    int
	}{
		{"a replica a node", two + appYAML(5, "x", "cpu: 100m", related("podAntiAffinity", hostKey, "x")), []answer{{3, 3, 3, 3}}, "[3] 3 3", 0},
		{"a replica that has a node", two + appYAML(1, "x", "cpu: 1", "nodeName: a1") + appYAML(3, "z", "cpu: 100m", related("podAntiAffinity", hostKey, "x")), []answer{{0, 0, 0, 0}}, "", 0},
		{"replicas of which two run", two + "- {apiVersion: v1, kind: Pod, metadata: {name: r0, labels: {app: x}}, spec: {nodeName: a1}}\n- {apiVersion: v1, kind: Pod, metadata: {name: r1, labels: {app: x}}, spec: {nodeName: b1}}\n" +
			appYAML(2, "x", "cpu: 100m", related("podAntiAffinity", hostKey, "x")), []answer{{2, 2, 2, 2}}, "[2] 2 2", 0},
		{"ports", two + ports(4), []answer{{2, 2, 2, 2}}, "[2] 2 2", 0},
		// A new node in one zone takes as many as the skew allows; one in each takes all.
		{"zones in balance", two + appYAML(4, "x", "cpu: 3", spreadOver(zoneKey, "x", 1)), []answer{{1, 1, 1, 1}, {1, 1, 1, 1}}, "[1 1] 2 2", 0},
		{"a replica a zone", two + appYAML(3, "x", "cpu: 1", related("podAntiAffinity", zoneKey, "x")), nil, "", 1},
		{"with others that are nowhere", two + appYAML(3, "x", "cpu: 1", related("podAffinity", zoneKey, "r")), nil, "", 3},
		{"with others, in one zone", two + appYAML(1, "r", "cpu: 4", "nodeName: a1") + appYAML(2, "x", "cpu: 3", related("podAffinity", zoneKey, "r")), []answer{{2, 2, 1, 2}, {0, 0, 0, 0}}, "[2 0] 2 1", 0},
		{"a gang", two + appYAML(4, "x", "cpu: 100m", "schedulingGroup: {podGroupName: g}, "+related("podAntiAffinity", hostKey, "x")), []answer{{4, 2, 2, 2}}, "[2] 2 2", 0},
		{"a port that a DaemonSet takes", two + "- {apiVersion: v1, kind: Pod, metadata: {name: d1, ownerReferences: [{kind: DaemonSet, name: d, controller: true, apiVersion: apps/v1, uid: d}]}, spec: {nodeName: a1, " + one + "}}\n" +
			"- {apiVersion: v1, kind: Pod, metadata: {name: d2, ownerReferences: [{kind: DaemonSet, name: d, controller: true, apiVersion: apps/v1, uid: d}]}, spec: {nodeName: b1, " + one + "}}\n" + ports(1), nil, "", 0},
	} {
		d := demandIn(t, c.text)
		if len(d.refused) != c.refused {
			t.Errorf("%s: %d pods are refused, want %d", c.name, len(d.refused), c.refused)
		}
		checkDemand(t, c.name, d, c.alone, c.mix)
	}
}

// The page says which pods a bound counts that exclude one another.
func TestPageOfOthers(t *testing.T) {
	page := filepath.Join(t.TempDir(), "page.html")
	small := strings.ReplaceAll(zonedYAML("a1", "a"), "instance-type: m", "instance-type: s")
	text := both + small + zonedYAML("b1", "b") + appYAML(5, "x", "cpu: 100m", related("podAntiAffinity", hostKey, "x"))
	if status, _, stderr := runProgram(t, "", golden.File(t, "objects.yaml", text), "-html", page); status != 0 {
		t.Fatal(stderr)
	}
	written := html.UnescapeString(string(testkit.Must(os.ReadFile(page))))
	for _, want := range []string{
		"Places for 3 pods that can't share a node, by the anti-affinity of default/x-0, beyond what is free: only new nodes of s, m have them, 1 for a cost of 1 at most.",
		"s: what is free and 2 new nodes have places for 4 of 5 pods that can't share a node, by the anti-affinity of default/x-0.",
	} {
		if !strings.Contains(written, want) {
			t.Errorf("no %q", want)
		}
	}
}

// Services, owners and namespaces are read wherever pods are, as kubectl writes them, and -like
// default spreads the pods of a service by them.
func TestLikeDefault(t *testing.T) {
	nodes := both + zonedYAML("a1", "a") + zonedYAML("a2", "a") + zonedYAML("b1", "b")
	pods := appYAML(1, "r", "cpu: 200m", "nodeName: b1") + appYAML(2, "x", "cpu: 1", "")
	service := "{apiVersion: v1, kind: Service, metadata: {name: s}, spec: {selector: {app: x}, clusterIP: None, ports: [{port: 80}]}}\n"
	owned := strings.ReplaceAll(pods, "labels: {app: x}", "labels: {app: x}, ownerReferences: [{apiVersion: %v, kind: %s, name: s, uid: u, controller: true}]")
	owner := func(kind, version, selector string) []string {
		object := fmt.Sprintf("{apiVersion: %s, kind: %s, metadata: {name: s, namespace: default}, spec: {selector: %s, replicas: 2}}\n", version, kind, selector)
		return []string{nodes + strings.NewReplacer("%v", version, "%s", kind).Replace(owned) + "- " + object}
	}
	for _, c := range []struct {
		name  string
		files []string
		want  []string // nodes of the queue
	}{
		{"no service", []string{nodes + pods}, []string{"a1", "a2"}},
		{"a service", []string{nodes + pods + "- " + service}, []string{"a1", "b1"}},
		{"as a document", []string{nodes + pods + "---\n" + service}, []string{"a1", "b1"}},
		{"in a list of its kind", []string{nodes + pods, "apiVersion: v1\nkind: ServiceList\nitems: [{metadata: {name: s}, spec: {selector: {app: x}}}]\n"}, []string{"a1", "b1"}},
		{"in JSON", []string{nodes + pods, `{"kind": "Service", "apiVersion": "v1", "metadata": {"name": "s"}, "spec": {"selector": {"app": "x"}}}`}, []string{"a1", "b1"}},
		{"of another namespace", []string{nodes + pods + "- " + strings.Replace(service, "{name: s}", "{name: s, namespace: other}", 1)}, []string{"a1", "a2"}},
		{"a ReplicaSet", owner("ReplicaSet", "apps/v1", "{matchLabels: {app: x}}"), []string{"a1", "b1"}},
		{"a StatefulSet", owner("StatefulSet", "apps/v1", "{matchLabels: {app: x}}"), []string{"a1", "b1"}},
		{"a ReplicationController", owner("ReplicationController", "v1", "{app: x}"), []string{"a1", "b1"}},
		{"a ReplicaSet of an API that is gone", owner("ReplicaSet", "extensions/v1beta1", "{matchLabels: {app: x}}"), []string{"a1", "a2"}},
	} {
		args := []string{"-like", "default", "-ties", "lowest", "-bindings"}
		for _, text := range c.files {
			args = append(args, golden.File(t, "objects.yaml", text))
		}
		status, report, stderr := runProgram(t, "", args...)
		if status != 0 {
			t.Errorf("%s: %s", c.name, stderr)
			continue
		}
		_, bindings, _ := strings.Cut(report, "\nPOD ")
		var got []string
		for line := range strings.Lines(bindings) {
			if fields := strings.Fields(line); len(fields) == 2 && strings.HasPrefix(fields[0], "default/x-") {
				got = append(got, fields[1])
			}
		}
		if !slices.Equal(got, c.want) {
			t.Errorf("%s: on %v, want %v\n%s", c.name, got, c.want, report)
		}
	}
	for text, want := range map[string]string{
		"apiVersion: v1\nkind: Service\nmetadata: {name: s}\nspec: {selector: 5}\n":                                  "(Service s): spec.selector: got 5, want an object",
		"apiVersion: apps/v1\nkind: ReplicaSet\nmetadata: {name: s}\nspec: {selector: {matchLabels: {app: true}}}\n": "(ReplicaSet s): spec.selector.matchLabels.app: got true, want a string",
		"apiVersion: v1\nkind: Namespace\nmetadata: {}\n":                                                            "metadata.name: it is empty",
	} {
		if _, err := question(text); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%s: got %v, want %s", text, err, want)
		}
	}
}
