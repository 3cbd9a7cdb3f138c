package main

import (
	"bytes"
	"flag"
	"io"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"testing"

	"github.com/resvec/resvec/examples/internal/browser"
	"github.com/resvec/resvec/examples/internal/command"
	"github.com/resvec/resvec/examples/internal/golden"
	"github.com/resvec/resvec/internal/testkit"
)

var update = flag.Bool("update", false, "write the picture of docs/fairshare.md, and testdata")

// The day of three teams and its picture are those that are kept.
func TestDay(t *testing.T) {
	golden.Check(t, *update, func(out io.Writer, folder string) error {
		return program([]string{"-svg", filepath.Join(folder, "fairshare.svg")}, nil, out)
	}, "testdata/day.txt", "fairshare.svg")
}

// TestRules plays the day by all rules, and with options. Nodes and tree agree in every hour,
// or the program panics; everybody ends, as nothing runs for ever.
func TestRules(t *testing.T) {
	for _, args := range []string{"-rules leximin", "-rules kai", "-rules volcano", "-rules kueue", "-by-weight", "-scale", "-history 1", "-rules kai -nodes 6", "-nodes 1 -total nvidia.com/gpu=4", "-set search.deserved=nvidia.com/gpu=4 -set vision.priority=2 -set speech.limit=nvidia.com/gpu=unlimited"} {
		var out bytes.Buffer
		if err := program(strings.Fields(args), nil, &out); err != nil {
			t.Errorf("%s: %v", args, err)
		}
		lines := strings.Split(strings.TrimSpace(out.String()), "\n")
		if last := lines[len(lines)-1]; !strings.Contains(last, " 0/") && !strings.Contains(args, "=") {
			t.Errorf("%s ends with %s", args, last)
		}
	}
}

// Example_answer is a moment of the day, and what would be otherwise.
func Example_answer() {
	args := []string{"-jobs", "testdata/jobs.csv", "-set", "speech.weight=1"}
	testkit.Check(program(args, nil, os.Stdout))
	// Output:
	// 12 of gpu
	//   queue     has  wants  should have  because
	//   research  10   18     9            level 2/3 times weight 2, wants 18
	//     vision  10   10     4            level 1/3 times weight 1, wants 10
	//     speech  0    8      5            level 1/3 times weight 2, wants 8
	//   search    2    4      3            level 2/3 times weight 1, wants 4
	// next: index, train-1, train-2
	// index of search waits: queue search would have 4 of gpu, more than its share 3
	// train-1 of speech could take sweep-5 of vision, sweep-4 of vision
	// with speech.weight=1
	//   vision  4 → 5 of gpu  level 1/2 times weight 1, wants 10
	//   speech  5 → 4 of gpu  level 1/2 times weight 1, wants 8
}

// TestPods reads pods as kubectl prints them.
func TestPods(t *testing.T) {
	pods := `
items:
- metadata: {name: a, namespace: x, labels: {kai.scheduler/queue: vision}}
  spec:
    nodeName: node-1
    containers: [{resources: {requests: {nvidia.com/gpu: 8, cpu: 1, example.com/other: 1}}}]
- metadata: {name: b, namespace: x, labels: {kai.scheduler/queue: speech}}
  spec: {containers: [{resources: {requests: {nvidia.com/gpu: 6}}}]}
- metadata: {name: system, namespace: x}
  spec: {}
`
	var out bytes.Buffer
	testkit.Check(program([]string{"-rules", "kai", "-jobs", "-"}, strings.NewReader(pods), &out))
	for _, want := range []string{"vision  8    8 ", "speech  0    6 ", "next: x/b\n", "x/b of speech could take x/a of vision\n"} {
		if !strings.Contains(out.String(), want) {
			t.Errorf("no %q in\n%s", want, out.String())
		}
	}
}

// TestPartsOfGPUs: pods that ask KAI for parts of GPUs have and want them.
func TestPartsOfGPUs(t *testing.T) {
	pod := func(name, node, queue, annotations string) string {
		return "- metadata: {name: " + name + ", namespace: x, labels: {kai.scheduler/queue: " + queue + "}, annotations: {" + annotations + "}}\n" +
			"  spec: {nodeName: '" + node + "', containers: [{name: c, resources: {requests: {cpu: 1}}}]}\n"
	}
	list := func(pods ...string) io.Reader { return strings.NewReader("items:\n" + strings.Join(pods, "")) }
	half := "gpu-fraction: '0.5'"
	for _, args := range []string{"-jobs - -total nvidia.com/gpu=1", "-jobs - -total nvidia.com/gpu=1 -milli nvidia.com/gpu"} {
		var out bytes.Buffer
		testkit.Check(program(strings.Fields(args), list(pod("a", "n", "vision", half), pod("b", "n", "vision", half),
			pod("c", "", "speech", "gpu-fraction: '0.25', gpu-fraction-num-devices: '2'"), pod("d", "", "speech", "gpu-fraction: '0.3333'")), &out))
		for _, want := range []string{"vision  1    1 ", "speech  0    834m ", "x/c of speech could take x/"} {
			if !strings.Contains(out.String(), want) {
				t.Errorf("no %q in\n%s", want, out.String())
			}
		}
	}
	for _, c := range []struct{ annotations, want string }{
		{"gpu-memory: '2000'", `-: pod x/a: annotation gpu-memory: "2000": how much of a GPU that is depends on the node`},
		{"gpu-fraction: '2'", `-: pod x/a: annotation gpu-fraction: "2": want a number above 0 and at most 1`},
	} {
		if err := program([]string{"-jobs", "-"}, list(pod("a", "", "vision", c.annotations)), io.Discard); err == nil || !strings.Contains(err.Error(), c.want) {
			t.Errorf("%s: %v, want %s", c.annotations, err, c.want)
		}
	}
}

// TestMoved: -set may move a queue below one that comes later, and what its old parent had goes with
// it.
func TestMoved(t *testing.T) {
	var out bytes.Buffer
	testkit.Check(program(strings.Fields("-jobs testdata/jobs.csv -set research.weight=1 -set vision.parent= -set speech.parent="), nil, &out))
	if !strings.Contains(out.String(), "  research  9 → 0 of gpu") {
		t.Error(out.String())
	}
}

// TestSameShares: a what-if that changes no share says so.
func TestSameShares(t *testing.T) {
	var out bytes.Buffer
	if err := program([]string{"-jobs", "testdata/jobs.csv", "-set", "vision.weight=1"}, nil, &out); err != nil || !strings.HasSuffix(out.String(), "with vision.weight=1\n  all shares are the same\n") {
		t.Errorf("%v\n%s", err, out.String())
	}
}

// TestPage: names of others stand in the page as text.
func TestPage(t *testing.T) {
	folder := t.TempDir()
	file := func(name, text string) string {
		path := filepath.Join(folder, name)
		testkit.Check(os.WriteFile(path, []byte(text), 0o644))
		return path
	}
	queues := file("queues.yaml", "apiVersion: scheduling.volcano.sh/v1beta1\nkind: Queue\nmetadata: {name: \"<b>bad</b>\"}\nspec: {weight: 1, deserved: {cpu: 2}}\n")
	jobs := file("jobs.csv", "job,queue,state,cpu\nx,<b>bad</b>,waits,3\n")
	page := filepath.Join(folder, "page.html")
	testkit.Check(program([]string{"-queues", queues, "-jobs", jobs, "-total", "cpu=4", "-html", page}, nil, io.Discard))
	text, err := os.ReadFile(page)
	if err != nil || bytes.Contains(text, []byte("<b>")) || !bytes.Contains(text, []byte("&lt;b&gt;bad&lt;/b&gt;")) || !bytes.Contains(text, []byte("width: 75.00%")) {
		t.Errorf("%v\n%s", err, text)
	}
	testkit.Check(program([]string{"-html", page}, nil, io.Discard))
	if text, err = os.ReadFile(page); err != nil || !bytes.Contains(text, []byte(`src="data:image/svg`)) {
		t.Errorf("no picture in the page of a story: %v", err)
	}
}

// TestPageLooks: in a browser the page has queues as headings, bars that tell what is wanted from
// what there is, all that the program says, and reads well at each width, light and dark.
func TestPageLooks(t *testing.T) {
	page := filepath.Join(t.TempDir(), "page.html")
	jobs := "job,queue,state,gpu\nbig,vision,waits,40\nsmall,search,runs,2\n"
	for _, c := range []struct {
		args, stdin string
		says        []string
		headings    int
	}{
		{"-jobs testdata/jobs.csv -set speech.weight=1", "", []string{"next: index, train-1, train-2", "queue search would have 4 of gpu, more than its share 3",
			"train-1 of speech could take sweep-5 of vision", "What if, with speech.weight=1", "speech 5 → 4 of gpu"}, 4},
		{"-jobs -", jobs, []string{"next: big"}, 4},
		{"-jobs - -set vision.weight=1", "job,queue,state,gpu\nsmall,search,runs,2\n", []string{"no job waits", "all shares are the same"}, 4},
		{"-set search.weight=2", "", []string{"09:00 train-1 of speech starts on node-3, takes from sweep-6 of vision", "more than its share", "What if, with search.weight=2"}, 4},
	} {
		testkit.Check(program(append(strings.Fields(c.args), "-total", "gpu=12", "-html", page), strings.NewReader(c.stdin), io.Discard))
		b := browser.New(t)
		b.Open(page)
		for _, text := range c.says {
			b.Is("document.body.innerText.replace(/\\s+/g, ' ').includes("+strconv.Quote(text)+")", "true")
		}
		b.Is("document.querySelectorAll('.queue > :is(h3, h4, h5, h6)').length", strconv.Itoa(c.headings))
		// No bar of what there is not is as long as one of all that there is.
		b.Is("[...document.querySelectorAll('.bar')].every((bar) => parseFloat(bar.querySelector('.fill').style.width) <= 100 && (bar.querySelector('.mark') === null || "+
			"(parseFloat(bar.lastChild.textContent) > 12) === (parseFloat(bar.querySelector('.fill').style.width) > parseFloat(bar.querySelector('.mark').style.left))))", "true")
		b.EachLook(func(look string) { b.Reads(c.args + ", " + look) })
		b.Quiet()
	}
}

// TestFaults: what cannot be used is named.
func TestFaults(t *testing.T) {
	for _, c := range []struct{ args, stdin, want string }{
		{"-jobs -", "job,queue,state,nvidia.com/gpu\na,vision,sleeps,1\n", `-: line 2: state "sleeps": want runs or waits`},
		{"-jobs -", "job,queue,state,nvidia.com/gpu\na,nobody,runs,1\n", `-: line 2: queue "nobody" is not known`},
		{"-jobs -", "job,queue,pods,state,nvidia.com/gpu\na,vision,0,runs,1\n", `pods "0": want a whole number`},
		{"-jobs -", "job,queue,nvidia.com/gpu\na,vision,x\n", `nvidia.com/gpu "x": want a quantity`},
		{"-jobs -", "job,queue,what\na,vision,1\n", "what"},
		{"-jobs -", "job,queue\na\n", "wrong number of fields"},
		{"-jobs -", "jobs,queue,nvidia.com/gpu\na,vision,1\n", `-: line 1: columns ["jobs" "queue" "nvidia.com/gpu"]: want job and queue among them`},
		{"-over -", "hour,job,queue,nvidia.com/gpu\n1,a,vision,1\n", "want a column hours"},
		{"-over -", "items: []", "want a table"},
		{"-over -", "hour,job,queue,hours,nvidia.com/gpu\n", "no job"},
		{"-set search.deserved=nvidia.com/gpu=4,cpu=x", "", `"cpu=x" is not RESOURCE=QUANTITY`},
		{"-set nobody.weight=1", "", `-set nobody.weight=1: queue "nobody" is not known: known are research, search, vision, speech`},
		{"-set weight=1", "", `queue "" is not known`},
		{"-set vision.color=1", "", `"color" is no field of a queue: known are weight, `},
		{"-set vision.deserved=gpuu=1", "", `unknown resource "gpuu"`},
		{"-set vision.deserved=gpuu=unlimited", "", `unknown resource "gpuu"`},
		{"-set vision.deserved=cpu=1", "", "resource cpu: the total has nothing of it"},
		{"-set vision.deserved=", "", "is not RESOURCE=QUANTITY"},
		{"-set vision.parent=nobody", "", `queue "nobody" is not known`},
		{"-set research.parent=vision", "", "-set research.parent=vision: queue research: parent vision is the queue itself, or below it"},
		{"-set search.parent=vision", "", "queue vision has queues below it, so it can't have jobs"},
		{"-set vision.weight=NaN", "", "queue vision: weight"},
		{"-total gpus=3", "", "-total: no queue names gpus, and no job requests it: known are cpu, memory, nvidia.com/gpu"},
		{"-total nvidia.com/gpu=12,amd.com/gpus=3", "", "-total: no queue names amd.com/gpus"},
		{"-jobs - -total nvidia.com/gpu=12", "job,queue,state,cpu\na,vision,waits,1\n", "-total: no job requests any of it: known are cpu, memory, nvidia.com/gpu"},
		{"-milli gpuu", "", `-milli: resource "gpuu" is not known: known are cpu, `},
		{"-milli nvidia.com/gpu,", "", `-milli: resource "" is not known`},
		{"-jobs -", "", "-: neither a list of pods nor a table"},
		{"-jobs -", "items: []", "-: neither a list of pods nor a table"},
		{"-jobs -", "job,queue,state,nvidia.com/gpu\n", "-: there is no job"},
		{"-jobs= -set vision.weight=2", "", "-jobs: is empty"},
		{"-label= -jobs -", "", "-label: is empty"},
		{"-jobs -", "items: [{metadata: {name: p}}]", "which names its queue: known are none"},
		{"-jobs -", "items: [{metadata: {labels: {app: x, team: y}}}]", "-: no pod has the label kai.scheduler/queue, which names its queue: known are app, team"},
		{"-jobs - -label team", "items: [{metadata: {labels: {team: vision}}, status: {phase: Succeeded}}]", "-: all pods with the label team have ended"},
		{"-jobs - -label team", "items: [{metadata: {name: p, namespace: x, labels: {team: visions}}}]", `-: pod x/p: queue "visions" is not known: known are research, `},
		{"-set vision.weight=x", "", "invalid syntax"},
		{"-set vision.weight=-1", "", "weight"},
		{"-set vision.parent=speech", "", "speech"},
		{"-set search.limit=nvidia.com/gpu=1", "", "limit"},
		{"-jobs missing.csv", "", "missing.csv"},
		{"-queues missing.yaml -total cpu=1 -jobs -", "", "missing.yaml"},
	} {
		var out bytes.Buffer
		err := program(strings.Fields(c.args), strings.NewReader(c.stdin), &out)
		if err == nil || !strings.Contains(err.Error(), c.want) {
			t.Errorf("%s of %q: %v, want %s", c.args, c.stdin, err, c.want)
		}
		if out.Len() > 0 {
			t.Errorf("%s of %q: told after\n%s", c.args, c.stdin, out.String())
		}
	}
}

// TestHelp: every flag is in a group of the help, and the examples are right.
func TestHelp(t *testing.T) {
	if err := help.Check(func(args []string, stdout io.Writer) error {
		_, err := parseOptions(args, stdout)
		return err
	}); err != nil {
		t.Error(err)
	}
}

func TestWrongFlags(t *testing.T) {
	for _, args := range []string{"more", "-wrong", "-rules none", "-nodes 0", "-half-life 0s", "-total gpu", "-total gpus=3", "-milli gpuu", "-set vision.color=1", "-set vision.weight=-1", "-queues x", "-jobs x -over y"} {
		if status := help.Status(program(strings.Fields(args), strings.NewReader(""), io.Discard), io.Discard); status != command.Usage {
			t.Errorf("%q: status %d", args, status)
		}
	}
}
