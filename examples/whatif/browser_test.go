package main

import (
	"bytes"
	"encoding/base64"
	"encoding/json"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/resvec/resvec/examples/internal/browser"
	"github.com/resvec/resvec/examples/internal/golden"
	"github.com/resvec/resvec/internal/testkit"
)

// pageOf runs the program and returns its page.
func pageOf(t *testing.T, args ...string) string {
	t.Helper()
	name := filepath.Join(t.TempDir(), "report.html")
	var errs bytes.Buffer
	if status := run(append(args, "-html", name), nil, io.Discard, &errs); status != 0 || errs.Len() > 0 {
		t.Fatalf("status %d: %s", status, errs.String())
	}
	return name
}

const rowCount = "document.querySelectorAll('#pods tbody tr').length"

// TestPage: what a person does with the page of the sample.
func TestPage(t *testing.T) {
	b := browser.New(t)
	b.Open(pageOf(t, "-topology", "kubernetes.io/hostname", "-gang", "app"))
	b.Is(rowCount, "24")
	b.Is("document.querySelector('h1').textContent", "What if")
	b.Fill("#filter", "TRAIN-B")
	b.Is(rowCount, "4")
	b.Is("document.querySelector('#count').textContent", "1–4 of 4 pods")
	b.Eval("document.querySelector('#show').value = 'unplaced'; document.querySelector('#show').dispatchEvent(new Event('change'))")
	b.Is("document.querySelector('#pods tbody tr').cells[1].textContent", "research/train-b-3")
	b.Is("document.querySelector('#pods tbody tr').cells[3].textContent",
		"0/7 nodes are available: 1 node(s) had untolerated taint(s), 1 node(s) were unschedulable, 2 Insufficient memory, 4 Insufficient cpu, 5 Insufficient nvidia.com/gpu.")
	b.Fill("#filter", "nobody")
	b.Is(rowCount, "0")
	b.Is("document.querySelector('#count').textContent", "No such pod")

	// The map, by keys.
	b.Eval("document.querySelector('#resource').value = 'nvidia.com/gpu'; document.querySelector('#resource').dispatchEvent(new Event('change')); document.querySelector('#after').focus()")
	b.Press("End")
	b.Is("document.querySelector('#node').textContent.startsWith('mig-1 (p4d.24xlarge as mig-1): nvidia.com/gpu none → none, of cpu ')", "true")
	b.Press("Home")
	for range 5 {
		b.Press("ArrowRight")
	}
	b.Is("document.querySelector('#node').textContent.includes('nvidia.com/gpu 0 % → 100 %')", "true")
	b.Press("Enter")
	b.Is("document.querySelector('#filter').value", "gpu-2")
	b.Is(rowCount, "2")
	colours := func() string {
		return b.Eval(`(() => { const c = document.querySelector('#after'), copy = document.createElement('canvas'), s = new Set();
			copy.width = c.width; copy.height = c.height;
			const o = copy.getContext('2d', {willReadFrequently: true});
			o.drawImage(c, 0, 0);
			const d = o.getImageData(0, 0, c.width, c.height).data;
			for (let i = 0; i < d.length; i += 4) if (d[i+3] === 255) s.add(d[i] + ',' + d[i+1] + ',' + d[i+2]); return [...s].sort().join(' ') })()`)
	}
	light := colours()
	if !strings.Contains(light, "8,60,120") {
		t.Errorf("no full node is drawn: %s", light)
	}

	// Parts that stand in the page itself.
	for _, want := range []string{"no mix costs less than 5", "Why no mix costs less", "Gangs, each by itself", "research/solver, research/fpga-test"} {
		b.Is("document.body.textContent.includes('"+want+"')", "true")
	}
	b.Is("[...document.querySelectorAll('input,select')].every((x) => x.labels.length === 1)", "true")

	b.Call("Emulation.setEmulatedMedia", map[string]any{"features": []any{map[string]any{"name": "prefers-color-scheme", "value": "dark"}}}, nil)
	b.Is("getComputedStyle(document.documentElement).backgroundColor", "rgb(18, 24, 31)")
	b.Eval("new Promise((done) => requestAnimationFrame(() => requestAnimationFrame(done)))")
	if colours() == light {
		t.Error("the map is not drawn anew for a dark page")
	}
	var printed struct{ Data string }
	b.Call("Page.printToPDF", nil, &printed)
	if text, err := base64.StdEncoding.DecodeString(printed.Data); err != nil || !bytes.HasPrefix(text, []byte("%PDF-")) {
		t.Errorf("printed: %v", err)
	}
	b.Quiet()
}

// manyResources returns a cluster of shapes with eight resources each, long names, and pods that
// fit nowhere.
func manyResources(shapes int) string {
	var objects strings.Builder
	for i := range shapes {
		fmt.Fprintf(&objects, "---\n{apiVersion: v1, kind: Node, metadata: {name: ip-10-0-%[1]d-17.eu-central-1.compute.internal, labels: {node.kubernetes.io/instance-type: p5en.48xlarge-%[1]d, example.com/rack: r%[1]d}}, "+
			"status: {allocatable: {cpu: 192, memory: 2Ti, ephemeral-storage: 28Ti, hugepages-2Mi: 5Gi, nvidia.com/gpu: 8, nvidia.com/mig-1g.12gb: 7, vpc.amazonaws.com/efa: 16, pods: 110}}}\n", i)
	}
	for i := range 30 {
		fmt.Fprintf(&objects, "---\n{apiVersion: v1, kind: Pod, metadata: {name: pretraining-llama-3-405b-worker-%d, namespace: foundation-models, labels: {gang: pretraining-llama-3-405b}}, "+
			"spec: {containers: [{name: c, resources: {requests: {cpu: 90, memory: 900Gi, nvidia.com/gpu: %d, vpc.amazonaws.com/efa: 8}}}]}}\n", i, 4+4*(i%2))
	}
	objects.WriteString("---\n{apiVersion: v1, kind: Pod, metadata: {name: vast}, spec: {containers: [{name: c, resources: {requests: {cpu: 900}}}]}}\n")
	return objects.String()
}

// TestPageLooks: the page reads well on a phone, in a narrow window and in a wide one, light and
// dark, and shows where a shape begins.
func TestPageLooks(t *testing.T) {
	for name, args := range map[string][]string{
		"the sample":      {"-topology", "kubernetes.io/hostname"},
		"racks":           {"-snapshot", "testdata/racks.yaml", "-topology", "example.com/block,example.com/rack"},
		"eight resources": {"-snapshot", golden.File(t, "objects.yaml", manyResources(3)), "-topology", "example.com/rack", "-gang", "gang"},
		"many shapes":     {"-snapshot", golden.File(t, "objects.yaml", manyResources(150)), "-cost", "p5en.48xlarge-7=98.32"},
	} {
		b := browser.New(t)
		b.Open(pageOf(t, args...))
		b.EachLook(func(look string) {
			b.Reads(name + ", " + look)
			// Each shape has a label, of which all stand in the map and apart, and its nodes are below it.
			b.Is("labels.length === new Set(data.shape).size", "true")
			b.Is("spots.every((s) => s.x >= 0 && s.x + cell <= at('after').clientWidth && s.y + cell <= at('after').clientHeight)", "true")
			b.Is("labels.every((l, i) => i === 0 || l.text === undefined || l.y >= labels[i-1].y + cell)", "true")
			b.Is("spots.every((s, i) => i === 0 || s.x !== spots[i-1].x || s.y !== spots[i-1].y)", "true")
		})
		b.Quiet()
	}
	// From square to square by keys, also where rows are of different length.
	b := browser.New(t)
	b.Open(pageOf(t))
	b.Eval("at('after').focus()")
	b.Press("Home")
	for _, want := range []string{"cpu-1", "gpu-1", "mig-1", "mig-1"} {
		b.Press("ArrowDown")
		b.Is("data.nodes[chosen]", want)
	}
	b.Press("ArrowUp")
	b.Is("data.nodes[chosen]", "gpu-1")
	b.Eval("at('after').dispatchEvent(new MouseEvent('click', {clientX: at('after').getBoundingClientRect().x + spots[2].x + 2, clientY: at('after').getBoundingClientRect().y + spots[2].y + 2}))")
	b.Is("data.nodes[chosen]", "cpu-2")
}

// TestPageText: names are shown and not run.
func TestPageText(t *testing.T) {
	names := []string{
		`<script>window.ran = 1</script>`,
		`</script><script>window.ran = 1</script>`,
		`<!--<script>`,
		`<img src=x onerror="window.ran = 1">`,
		`'-window.ran=1-'`,
		"\u2028window.ran = 1",
		`{{.Data}}`,
	}
	var objects strings.Builder
	quoted := func(text string) string { return string(testkit.Must(json.Marshal(text))) }
	for i, name := range names {
		fmt.Fprintf(&objects, "---\napiVersion: v1\nkind: Node\nmetadata: {name: %s, labels: {node.kubernetes.io/instance-type: %[1]s, rack: %[1]s}}\n"+
			"status: {allocatable: {cpu: %d, memory: 8Gi, pods: 10}}\n", quoted(name), i+1)
		fmt.Fprintf(&objects, "---\napiVersion: v1\nkind: Pod\nmetadata: {name: %s, namespace: %[1]s, labels: {gang: %[1]s}}\n"+
			"spec: {containers: [{resources: {requests: {cpu: %d}}}], nodeSelector: {a: b}}\n", quoted(name), i+3)
	}
	b := browser.New(t)
	b.Open(pageOf(t, "-snapshot", golden.File(t, "objects.yaml", objects.String()), "-topology", "rack", "-gang", "gang"))
	b.Is("typeof window.ran", "undefined")
	b.Is(rowCount, fmt.Sprint(len(names)))
	b.Is("document.scripts.length", "2")
	b.Is("document.images.length", "0")
	for _, name := range names {
		b.Is("[...document.querySelectorAll('#pods tbody tr')].some((row) => row.cells[1].textContent === "+quoted(name+"/"+name)+")", "true")
	}
	b.Fill("#filter", "<script>window")
	b.Is(rowCount, "2")
	b.Quiet()
}

// TestPageSize: the number of elements does not grow with the cluster. How long it takes
// is logged.
func TestPageSize(t *testing.T) {
	if testing.Short() {
		t.Skip("a large cluster")
	}
	const nodes, pods = 5000, 20000
	var objects strings.Builder
	for i := range nodes {
		fmt.Fprintf(&objects, `{"apiVersion":"v1","kind":"Node","metadata":{"name":"node-%04d"},"status":{"allocatable":{"cpu":"%d","memory":"64Gi","nvidia.com/gpu":"%d","pods":"110"}}}`+"\n",
			i, 16+16*(i%2), i%3*4)
	}
	for i := range pods {
		fmt.Fprintf(&objects, `{"apiVersion":"v1","kind":"Pod","metadata":{"name":"pod-%05d","namespace":"team-%d"},"spec":{"containers":[{"resources":{"requests":{"cpu":"%d","memory":"%dGi","nvidia.com/gpu":"%d"}}}]}}`+"\n",
			i, i%40, 1+i%3, 1+i%5, i%2*max(1, i%7-3))
	}
	name := golden.File(t, "objects.json", objects.String())
	start := time.Now()
	page := pageOf(t, "-snapshot", name)
	made := time.Since(start)
	b := browser.New(t)
	b.Open(page)
	b.Is("data.nodes.length + ' ' + data.pods.length", fmt.Sprint(nodes, " ", pods))
	b.Is(rowCount, "100")
	b.Eval("document.querySelector('#next').click()")
	b.Is("document.querySelector('#pods tbody tr').cells[0].textContent", "101")
	b.Fill("#filter", "pod-1999")
	b.Is(rowCount, "10")
	b.Fill("#filter", "")
	b.Is("document.getElementsByTagName('*').length < 1500", "true")
	// From the start of the navigation until the second frame after loading.
	shown := b.Eval("new Promise((done) => requestAnimationFrame(() => requestAnimationFrame(() => done(Math.round(performance.getEntriesByType('navigation')[0].loadEventEnd)))))")
	filtered := b.Eval("(() => { const t = performance.now(); filter(); return Math.round(performance.now() - t) })()")
	drawn := b.Eval("(() => { const t = performance.now(); draw(); return Math.round(performance.now() - t) })()")
	info := testkit.Must(os.Stat(page))
	t.Logf("%d nodes, %d pods: %v to answer and write, %.1f MB, %s elements; loaded after %s ms, filters in %s ms, draws both maps in %s ms",
		nodes, pods, made.Round(100*time.Millisecond), float64(info.Size())/1e6, b.Eval("document.getElementsByTagName('*').length"), shown, filtered, drawn)
	b.Quiet()
}

// TestPicture takes the picture of the README, with -update.
func TestPicture(t *testing.T) {
	if !*update {
		t.Skip("only with -update")
	}
	var objects strings.Builder
	types := []struct {
		name     string
		cpu, gpu int
	}{{"cpu.large", 64, 0}, {"gpu.small", 48, 4}, {"gpu.large", 96, 8}}
	for i := range 400 {
		k := types[i*i%7%3]
		fmt.Fprintf(&objects, "---\n{apiVersion: v1, kind: Node, metadata: {name: %s-%03d, labels: {node.kubernetes.io/instance-type: %[1]s}}, status: {allocatable: {cpu: %[3]d, memory: %dGi, nvidia.com/gpu: %d, pods: 110}}}\n",
			k.name, i, k.cpu, 4*k.cpu, k.gpu)
		used := i * i % 11 % 5
		fmt.Fprintf(&objects, "---\n{apiVersion: v1, kind: Pod, metadata: {name: old-%03[1]d}, spec: {nodeName: %[2]s-%03[1]d, containers: [{resources: {requests: {cpu: %[3]d, memory: %dGi, nvidia.com/gpu: %d}}}]}}\n",
			i, k.name, used*k.cpu/6, used*k.cpu/2, used*k.gpu/4)
	}
	for i := range 260 {
		gpus := []int{8, 2, 4, 1, 8, 3, 4}[i%7]
		fmt.Fprintf(&objects, "---\n{apiVersion: v1, kind: Pod, metadata: {namespace: research, name: train-%03d}, spec: {containers: [{resources: {requests: {cpu: %d, memory: %dGi, nvidia.com/gpu: %d}}}]}}\n",
			i, 6*gpus, 24*gpus, gpus)
	}
	b := browser.New(t)
	b.Open(pageOf(t, "-snapshot", golden.File(t, "objects.yaml", objects.String())))
	b.Call("Emulation.setDeviceMetricsOverride", map[string]any{"width": 1000, "height": 900, "deviceScaleFactor": 1, "mobile": false}, nil)
	b.Eval("document.querySelector('#resource').value = 'nvidia.com/gpu'; document.querySelector('#resource').dispatchEvent(new Event('change'))")
	b.Eval("document.querySelector('#show').value = 'unplaced'; filter(); choose(300)")
	b.Picture("page.png")
}
