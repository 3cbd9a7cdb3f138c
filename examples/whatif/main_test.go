package main

import (
	"bytes"
	"cmp"
	"flag"
	"fmt"
	"io"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/resvec/resvec/examples/internal/command"
	"github.com/resvec/resvec/examples/internal/golden"
	"github.com/resvec/resvec/examples/internal/progress"
	"github.com/resvec/resvec/internal/testkit"
)

var update = flag.Bool("update", false, "write the golden files anew")

// runProgram runs the program and returns what it wrote, without the speed.
func runProgram(t *testing.T, stdin string, args ...string) (status int, report, stderr string) {
	t.Helper()
	var out, errs bytes.Buffer
	status = run(args, strings.NewReader(stdin), &out, &errs)
	report, _, _ = strings.Cut(out.String(), "\nspeed: ")
	return status, report, errs.String()
}

// The reports on the sample are the same on every CPU.
func TestSample(t *testing.T) {
	for name, args := range map[string][]string{
		"testdata/sample.txt":   {"-bindings"},
		"testdata/added.txt":    {"-add", "gpu-1=1,mig-1=1", "-score", "MostAllocated=1", "-ties", "lowest"},
		"testdata/racks.txt":    {"-snapshot", "testdata/racks.yaml", "-topology", "example.com/block,example.com/rack"},
		"testdata/all.txt":      {"-snapshot", "testdata/all.yaml", "-ignore", "nvidia.com/gpumem"},
		"testdata/real.txt":     {"-snapshot", "testdata/real.yaml", "-ignore", "nvidia.com/gpumem", "-bindings"},
		"testdata/like.txt":     {"-like", "default", "-bindings"},
		"testdata/required.txt": {"-snapshot", "testdata/racks.yaml", "-topology", "example.com/block,example.com/rack", "-required", "example.com/rack"},
	} {
		testkit.EachImpl(t, func(t *testing.T) {
			status, report, stderr := runProgram(t, "", args...)
			if status != 0 || stderr != "" {
				t.Fatalf("status %d: %s", status, stderr)
			}
			golden.Text(t, *update, name, report)
		})
	}
}

func TestFlags(t *testing.T) {
	strategy := golden.File(t, "objects.yaml", "type: RequestedToCapacityRatio\nresources: [{name: cpu}]\n"+
		"requestedToCapacityRatio: {shape: [{utilization: 0, score: 0}, {utilization: 100, score: 10}]}")
	balanced := golden.File(t, "objects.yaml", "type: BalancedAllocation\nresources: [{name: cpu}]")
	for _, c := range []struct {
		args   []string
		status int
		want   string // in what it writes
	}{
		{[]string{"-strategy", strategy}, 0, "scores             RequestedToCapacityRatio x 1 of cpu=1 + BalancedAllocation x 1\n"},
		{[]string{"-strategy", strategy, "-score", "BalancedAllocation=3"}, 0, "scores             RequestedToCapacityRatio x 1 of cpu=1 + BalancedAllocation x 3\n"},
		{[]string{"-strategy", strategy, "-score", "RequestedToCapacityRatio=2"}, 0, "scores             RequestedToCapacityRatio x 2 of cpu=1\n"},
		{[]string{"-strategy", strategy, "-score", "RequestedToCapacityRatio=0,BalancedAllocation=1"}, 0, "scores             BalancedAllocation x 1\n"},
		{[]string{"-strategy", strategy, "-score", "MostAllocated=2"}, command.Failed, "-score: got MostAllocated, and " + strategy + " is of type RequestedToCapacityRatio"},
		{[]string{"-score", "RequestedToCapacityRatio=2"}, command.Usage, "-score: RequestedToCapacityRatio needs a shape: give it with -strategy"},
		{[]string{"-strategy", balanced}, command.Failed, "BalancedAllocation is no strategy of NodeResourcesFit"},
		{[]string{"-pending", golden.File(t, "objects.yaml", "apiVersion: v1\nkind: Pod\nmetadata: {name: p}")}, 0, "of a sample cluster"},
		{[]string{"-topology", "rack", "-required", "block"}, command.Usage, `no level "block" in -topology rack`},
		{[]string{"-topology", "rack,rack"}, command.Usage, `-topology: gang: topology: level "rack" is named twice`},
		{[]string{"-topology", "block,rack", "-required", "block", "-preferred", "rack"}, 0, "nodes as they are, required block, preferred rack\n"},
		{[]string{"-topology", "block,rack", "-required", "rack", "-preferred", "block"}, command.Usage, "-preferred: block is coarser than rack, which is required"},
		{[]string{"-required", "rack"}, command.Usage, "-required and -preferred: want -topology"},
		{[]string{"-topology", "block"}, 0, "Gangs, each by itself on the nodes as they are, preferred block"},
		{[]string{"-ignore", "nvidia.com/gpu"}, command.Failed, "-ignore: nvidia.com/gpu: node gpu-1 announces it"},
		{[]string{"-ignore", "example.com/none"}, command.Failed, "-ignore: example.com/none: no pod requests it"},
		{[]string{"-ignore", "example.com/fpga"}, 0, "ignored        1   example.com/fpga, of the pods that request it\n"},
		{[]string{"-help"}, 0, "usage: whatif [flags]"},
		{[]string{"-strategy", strategy, "-score", "BalancedAllocation=0"}, 0, "scores             RequestedToCapacityRatio x 1 of cpu=1\n"},
		{[]string{"-score", "LeastAllocated=0,BalancedAllocation=0"}, 0, "scores             none: every node is as good as any other\n"},
		{[]string{"-add", "m6i.4xlarge=2"}, 0, "nodes added    2   m6i.4xlarge\n"},
		{[]string{"-cost", "gpu-1=32,mig-1=16,m6i.4xlarge=0.7"}, 0, "Cost 50.1, and no mix costs less than 50.1."},
		{[]string{"-cost", "gpu-1=0.7,mig-1=0.1"}, 0, "Cost 3.8, and no mix costs less than 3.8."},
		{[]string{"-resources", "cpu=1,memory=1,nvidia.com/gpu=5"}, 0, "LeastAllocated x 1 of cpu=1,memory=1,nvidia.com/gpu=5 + BalancedAllocation x 1\n"},
		{[]string{"-all"}, 0, "4      cpu-1, cpu-2, gpu-1, gpu-2\n"},
		{[]string{"-like", "default"}, 0, "scores             as kube-scheduler's default profile: taints"},
		{[]string{"-like", "default", "-ties", "lowest"}, 0, "Not looked at: volumes, preemption, some resource claims."},
		{[]string{"-like", "volcano"}, command.Usage, `-like: got "volcano", want default`},
		{[]string{"-like", "default", "-score", "MostAllocated=1"}, command.Usage, "-like: it has scores of its own: want no -score, -resources or -strategy"},
		{[]string{"-like", "default", "-resources", "cpu=1"}, command.Usage, "-like: it has scores of its own"},
		{[]string{"-like", "default", "-strategy", strategy}, command.Usage, "-like: it has scores of its own"},
		{[]string{"sample.yaml"}, 0, "nodes          7\n"},
		{[]string{"sample.yaml", "-add", "gpu-1=1"}, 0, "nodes added    1   p4d.24xlarge as gpu-1\n"},
		{[]string{"missing.yaml"}, command.Failed, "missing.yaml"},
		{[]string{""}, command.Usage, "empty name"},
		{[]string{"-", "-"}, command.Usage, "-: the standard input can be read only once"},
		{[]string{"-topolgy", "rack"}, command.Usage, "flag provided but not defined: -topolgy; the nearest is -topology"},
		{[]string{"-topology", "nvidia.com/gpu.produkt"}, 0, "nvidia.com/gpu.produkt: no node has this label; the nearest are nvidia.com/gpu.product, nvidia.com/gpu.count"},
		{[]string{"-gang", "apps"}, 0, "gangs          0   apps: no pod has this label or annotation; the nearest is app\n"},
		{[]string{"-ignore", "example.com/fpgas"}, command.Failed, "-ignore: example.com/fpgas: no pod requests it; the nearest is example.com/fpga"},
		{[]string{"-add", "gpu-l=1"}, command.Failed, "; the nearest are gpu-1, gpu-2, cpu-1"},
		{[]string{"-startup-taint", "nvidia.com/gpu"}, 0, "taint nvidia.com/gpu=present"},
		{[]string{"-startup-taint", "nvidia.com/gpus"}, command.Failed, "-startup-taint: nvidia.com/gpus: no node has a taint with this key; the nearest is nvidia.com/gpu"},
		{[]string{"-startup-taint", ""}, command.Usage, "empty name"},
		{[]string{"-snapshot", "-", "-pending", "-"}, command.Usage, "-: the standard input can be read only once"},
		{[]string{"-nodes", ""}, command.Usage, "-nodes: empty name"},
		{[]string{"-add", "gpu-1"}, command.Usage, `"gpu-1" is not NAME=NUMBER`},
		{[]string{"-add", "gpu-1=-1"}, command.Usage, `"-1" is not a number from 0 to 100000`},
		{[]string{"-add", "gpu-1=1.5"}, command.Usage, `"1.5" is not a number`},
		{[]string{"-add", "gpu-1=1,gpu-1=2"}, command.Usage, "gpu-1 is there twice"},
		{[]string{"-cost", "gpu-1=0"}, command.Usage, "-cost: gpu-1: it must cost something"},
		{[]string{"-cost", "gpu-1=NaN"}, command.Usage, `"NaN" is not a number`},
		{[]string{"-score", "Best=1"}, command.Usage, `-score: got "Best", want LeastAllocated, MostAllocated or BalancedAllocation`},
		{[]string{"-score", "LeastAllocated=1,MostAllocated=1"}, command.Usage, "want one type besides BalancedAllocation"},
		{[]string{"-order", "size"}, command.Usage, `-order: got "size", want queue or given`},
		{[]string{"-strategy", strategy, "-resources", "cpu=1"}, command.Usage, "-resources: -strategy has resources of its own"},
		{[]string{"-ties", "coin"}, command.Usage, `-ties: got "coin", want seeded or lowest`},
		{[]string{"-add", "x1.huge=1"}, command.Failed, `-add: no shape and no node is called "x1.huge"; the shapes are m6i.xlarge, m6i.4xlarge, p4d.24xlarge as gpu-1, p4d.24xlarge as mig-1`},
		{[]string{"-cost", "x1.huge=1"}, command.Failed, `-cost: no shape and no node is called "x1.huge"`},
		{[]string{"-resources", "cpu=1,nvidia.com/gpus=1"}, command.Failed, "-resources: vectormap: unknown resource \"nvidia.com/gpus\": the map has cpu, "},
		{[]string{"-resources", "pods=1"}, command.Failed, "pods"},
		{[]string{"-snapshot", "/does/not/exist"}, command.Failed, "/does/not/exist"},
		{[]string{"-strategy", "/does/not/exist"}, command.Failed, "/does/not/exist"},
	} {
		status, report, stderr := runProgram(t, "", c.args...)
		if status != c.status || !strings.Contains(report+stderr, c.want) {
			t.Errorf("%q: status %d, want %d and %q in\n%s%s", c.args, status, c.status, c.want, report, stderr)
		}
	}
}

// Pods without a controller that request the same have one line, and many kinds of
// them have one more.
func TestManyBarePods(t *testing.T) {
	node := "apiVersion: v1\nkind: Node\nmetadata: {name: a}\nstatus: {allocatable: {cpu: 4, memory: 8Gi, pods: 1000}}\n"
	var pods strings.Builder
	for i := range 30 {
		for k := range 1 + 49*(1-min(i, 1)) { // 50 of the first kind, 1 of each other
			fmt.Fprintf(&pods, "---\napiVersion: v1\nkind: Pod\nmetadata: {name: p-%02d-%02d}\nspec: {containers: [{resources: {requests: {cpu: %dm}}}]}\n", i, k, 100+i)
		}
	}
	files := []string{"-nodes", golden.File(t, "objects.yaml", node), "-pods", golden.File(t, "objects.yaml", pods.String())}
	_, report, stderr := runProgram(t, "", files...)
	for _, want := range []string{
		"\nPod default/p-00-00 and 49 like it  50    40      a: 40\n",
		"\nPod default/p-19-00                 1     0\n",
		"\nother pods without a controller     10    0\n",
		"\nPod default/p-00-40 and 9 like it\n  10 pods requesting cpu 100m\n",
		"\nother pods without a controller\n  1 pod requesting cpu 120m\n",
		"\n  and 7 pods of 7 other requests\n",
	} {
		if !strings.Contains(report, want) {
			t.Errorf("no %q in\n%s%s", want, report, stderr)
		}
	}
	_, report, _ = runProgram(t, "", append(files, "-all")...)
	if got := strings.Count(report, "\nPod default/p-"); got != 79+39 || strings.Contains(report, "without a controller") {
		t.Errorf("-all: %d lines, want one for each pod, and for each that fits nowhere\n%s", got, report)
	}
}

// The same objects in one list, in files of their own, as YAML documents and on
// the standard input are the same question.
func TestWaysToRead(t *testing.T) {
	const (
		nodes   = `{"kind":"NodeList","apiVersion":"v1","items":[{"metadata":{"name":"a"},"status":{"allocatable":{"cpu":"4","memory":"8Gi","pods":"10"}}}]}`
		running = "apiVersion: v1\nkind: Pod\nmetadata: {name: early}\nspec: {nodeName: a, containers: [{name: c, resources: {requests: {cpu: 3}}}]}\n"
		pending = "apiVersion: v1\nkind: Pod\nmetadata: {name: late}\nspec: {containers: [{name: c, resources: {requests: {cpu: 2}}}]}\n"
	)
	var want string
	for i, c := range []struct {
		stdin string
		args  []string
	}{
		{"", []string{"-nodes", golden.File(t, "objects.yaml", nodes), "-pods", golden.File(t, "objects.yaml", running+"---\n# nothing\n---\n"+pending)}},
		{"", []string{"-nodes", golden.File(t, "objects.yaml", nodes), "-pods", golden.File(t, "objects.yaml", running), "-pending", golden.File(t, "objects.yaml", "---\n"+pending)}},
		{pending, []string{"-nodes", golden.File(t, "objects.yaml", nodes), "-pods", golden.File(t, "objects.yaml", running), "-pending", "-"}},
		{nodes + "\n" + `{"kind":"Pod","apiVersion":"v1","metadata":{"name":"early"},"spec":{"nodeName":"a","containers":[{"name":"c","resources":{"requests":{"cpu":3}}}]}}`,
			[]string{"-snapshot", "-", "-pending", golden.File(t, "objects.yaml", pending)}},
	} {
		status, report, stderr := runProgram(t, c.stdin, c.args...)
		if status != 0 || !strings.Contains(report, "Pod default/late\n  1 pod requesting cpu 2\n    0/1 nodes are available: 1 Insufficient cpu.\n") {
			t.Fatalf("%v: status %d: %s%s", c.args, status, stderr, report)
		}
		if strings.Contains(report, "sample") {
			t.Errorf("%v: the cluster is not the sample:\n%s", c.args, report)
		}
		if i == 0 {
			want = report
		}
		if report != want {
			t.Errorf("%v: got\n%s\nwant\n%s", c.args, report, want)
		}
	}
}

// TestHelp: every flag is in a group of the help, and the examples are right.
func TestHelp(t *testing.T) {
	testkit.Check(help.Check(func(args []string, stdout io.Writer) error {
		_, err := parseOptions(args, stdout)
		return err
	}))
}

// Each pod of testdata/all.yaml is where its annotation predicts.
func TestPredicted(t *testing.T) {
	o := new(objects)
	testkit.Check(o.readFile("testdata/all.yaml", nil, kinds{node: true, pod: true}))
	_, report, _ := runProgram(t, "", "-snapshot", "testdata/all.yaml", "-ignore", "nvidia.com/gpumem", "-bindings")
	at := make(map[string]string)
	_, bindings, _ := strings.Cut(report, "\nPOD ")
	bindings, _, _ = strings.Cut(bindings, "\n\n")
	for line := range strings.Lines(bindings) {
		if fields := strings.Fields(line); len(fields) == 2 {
			at[fields[0]] = fields[1]
		}
	}
	for _, p := range o.pods {
		expected, node := p.Annotations["expected"], cmp.Or(at[p.key()], "left out")
		if node != expected && (node == "left out" || !slices.Contains(strings.Fields(expected), node)) {
			t.Errorf("%s: %s, want %s", p.key(), node, expected)
		}
	}
	if len(o.pods) < 120 {
		t.Errorf("%d pods", len(o.pods))
	}
}

// TestProgress: on a terminal the program says what it is at.
func TestProgress(t *testing.T) {
	var terminal bytes.Buffer
	now := time.Unix(1e9, 0)
	line := progress.On(&terminal, func() time.Time { now = now.Add(time.Second); return now })
	opts := testkit.Must(parseOptions([]string{"sample.yaml", "-html", filepath.Join(t.TempDir(), "page.html")}, nil))
	testkit.Check(whatif(opts, nil, io.Discard, line))
	for _, want := range []string{
		"reading sample.yaml: 0 of 0 MB", "sample.yaml: object 28 of 49", "counting pods that run: 0 of 14", "counting pods that wait: 0 of 24",
		"which nodes pods may go to: 0 of 24", "placing pod 1 of 24 on 7 nodes", "nodes that are missing: shape 4 of 4", "writing ",
	} {
		if !strings.Contains(terminal.String(), want) {
			t.Errorf("no %q in\n%s", want, strings.ReplaceAll(terminal.String(), "\r", "\n"))
		}
	}
}
