package main

import (
	"bufio"
	"bytes"
	"encoding/base64"
	"encoding/json"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/resvec/resvec/examples/internal/golden"
	"github.com/resvec/resvec/internal/testkit"
)

// A browser is a headless Chromium with one page, told what to do by the DevTools
// protocol over a pipe.
type browser struct {
	t       *testing.T
	to      *os.File
	from    *bufio.Reader
	id      int
	session string
	events  []event
}

// event is a message that is no answer.
type event struct {
	Method string
	Params json.RawMessage
}

// newBrowser starts a browser. The test is skipped where there is none, unless
// RESVEC_BROWSER is set, which says that there has to be one.
func newBrowser(t *testing.T) *browser {
	t.Helper()
	var path string
	for _, name := range []string{"chromium", "chromium-browser", "google-chrome"} {
		if found, err := exec.LookPath(name); err == nil {
			path = found
			break
		}
	}
	switch {
	case path == "" && os.Getenv("RESVEC_BROWSER") != "":
		t.Fatal("no Chromium, and RESVEC_BROWSER wants one")
	case path == "":
		t.Skip("no Chromium on this machine")
	}
	theirIn, to := pipe(t)
	from, theirOut := pipe(t)
	// Without a sandbox, since containers run as root: it shows pages of this test alone.
	command := exec.Command(path, "--headless", "--no-sandbox", "--disable-gpu", "--disable-dev-shm-usage", "--no-first-run",
		"--remote-debugging-pipe", "--hide-scrollbars", "--window-size=1200,1000", "--user-data-dir="+t.TempDir(), "about:blank")
	command.ExtraFiles = []*os.File{theirIn, theirOut}
	command.WaitDelay = 10 * time.Second
	var complaints bytes.Buffer
	command.Stderr = &complaints
	testkit.Check(command.Start())
	theirIn.Close()
	theirOut.Close()
	testkit.Check(from.SetReadDeadline(time.Now().Add(3 * time.Minute)))
	b := &browser{t: t, to: to, from: bufio.NewReader(from)}
	t.Cleanup(func() {
		b.session = ""
		b.send("Browser.close", nil)
		end := time.AfterFunc(20*time.Second, func() { command.Process.Kill() })
		defer end.Stop()
		command.Wait()
		if t.Failed() {
			t.Log(complaints.String())
		}
	})
	var target struct{ TargetID string }
	b.call("Target.createTarget", map[string]any{"url": "about:blank"}, &target)
	var attached struct{ SessionID string }
	b.call("Target.attachToTarget", map[string]any{"targetId": target.TargetID, "flatten": true}, &attached)
	b.session = attached.SessionID
	for _, domain := range []string{"Page", "Runtime", "Log", "Network"} {
		b.call(domain+".enable", nil, nil)
	}
	return b
}

func pipe(t *testing.T) (r, w *os.File) {
	t.Helper()
	r, w, err := os.Pipe()
	testkit.Check(err)
	t.Cleanup(func() { r.Close(); w.Close() })
	return r, w
}

func (b *browser) send(method string, params any) {
	b.id++
	message := map[string]any{"id": b.id, "method": method}
	if params != nil {
		message["params"] = params
	}
	if b.session != "" {
		message["sessionId"] = b.session
	}
	text := testkit.Must(json.Marshal(message))
	if _, err := b.to.Write(append(text, 0)); err != nil {
		b.t.Logf("%s: %v", method, err)
	}
}

// next reads a message.
func (b *browser) next() (id int, result json.RawMessage) {
	b.t.Helper()
	text, err := b.from.ReadBytes(0)
	if err != nil {
		b.t.Fatalf("the browser says no more: %v", err)
	}
	var m struct {
		event
		ID     int
		Result json.RawMessage
		Error  *struct{ Message string }
	}
	testkit.Check(json.Unmarshal(text[:len(text)-1], &m))
	if m.Error != nil {
		b.t.Fatal(m.Error.Message)
	}
	if m.ID == 0 {
		b.events = append(b.events, m.event)
	}
	return m.ID, m.Result
}

// call calls a method and reads its answer.
func (b *browser) call(method string, params, answer any) {
	b.t.Helper()
	b.send(method, params)
	for {
		id, result := b.next()
		if id != b.id {
			continue
		}
		if answer != nil {
			testkit.Check(json.Unmarshal(result, answer))
		}
		return
	}
}

// open loads a file.
func (b *browser) open(path string) {
	b.t.Helper()
	b.events = nil
	b.call("Page.navigate", map[string]any{"url": "file://" + path}, nil)
	for {
		for _, e := range b.events {
			if e.Method == "Page.loadEventFired" {
				return
			}
		}
		b.next()
	}
}

// eval returns what an expression is, as text.
func (b *browser) eval(expression string) string {
	b.t.Helper()
	var answer struct {
		Result           struct{ Value any }
		ExceptionDetails json.RawMessage
	}
	b.call("Runtime.evaluate", map[string]any{"expression": expression, "returnByValue": true, "awaitPromise": true}, &answer)
	if answer.ExceptionDetails != nil {
		b.t.Fatalf("%s: %s", expression, answer.ExceptionDetails)
	}
	return fmt.Sprint(answer.Result.Value)
}

// is checks what an expression is.
func (b *browser) is(expression, want string) {
	b.t.Helper()
	if got := b.eval(expression); got != want {
		b.t.Errorf("%s is %q, want %q", expression, got, want)
	}
}

// fill empties the field that has a selector, and types into it.
func (b *browser) fill(selector, text string) {
	b.t.Helper()
	b.eval("document.querySelector('" + selector + "').select()")
	b.press("Delete")
	if text != "" {
		b.call("Input.insertText", map[string]any{"text": text}, nil)
	}
}

// press presses a key where the focus is.
func (b *browser) press(key string) {
	b.t.Helper()
	code := map[string]int{"Enter": 13, "End": 35, "Home": 36, "ArrowRight": 39, "ArrowDown": 40, "Delete": 46, "Tab": 9}[key]
	for _, kind := range []string{"rawKeyDown", "keyUp"} {
		b.call("Input.dispatchKeyEvent", map[string]any{"type": kind, "key": key, "code": key, "windowsVirtualKeyCode": code}, nil)
	}
}

// quiet checks that the page said nothing to the console, threw nothing and loaded
// nothing.
func (b *browser) quiet() {
	b.t.Helper()
	for _, e := range b.events {
		switch {
		case e.Method == "Runtime.exceptionThrown", e.Method == "Runtime.consoleAPICalled", e.Method == "Log.entryAdded":
			b.t.Errorf("%s %s", e.Method, e.Params)
		case e.Method == "Network.requestWillBeSent":
			var request struct{ Request struct{ URL string } }
			testkit.Check(json.Unmarshal(e.Params, &request))
			if !strings.HasPrefix(request.Request.URL, "file:///") || !strings.HasSuffix(request.Request.URL, "report.html") {
				b.t.Errorf("loads %s", request.Request.URL)
			}
		}
	}
}

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
	b := newBrowser(t)
	b.open(pageOf(t, "-topology", "kubernetes.io/hostname", "-gang", "app"))
	b.is(rowCount, "24")
	b.is("document.querySelector('h1').textContent", "What if")
	b.fill("#filter", "TRAIN-B")
	b.is(rowCount, "4")
	b.is("document.querySelector('#count').textContent", "1–4 of 4 pods")
	b.eval("document.querySelector('#show').value = 'unplaced'; document.querySelector('#show').dispatchEvent(new Event('change'))")
	b.is("document.querySelector('#pods tbody tr').cells[1].textContent", "research/train-b-3")
	b.is("document.querySelector('#pods tbody tr').cells[3].textContent",
		"0/7 nodes are available: 1 node(s) had untolerated taint(s), 1 node(s) were unschedulable, 2 Insufficient memory, 4 Insufficient cpu, 5 Insufficient nvidia.com/gpu.")
	b.fill("#filter", "nobody")
	b.is(rowCount, "0")
	b.is("document.querySelector('#count').textContent", "No such pod")

	// The map, by keys.
	b.eval("document.querySelector('#resource').value = 'nvidia.com/gpu'; document.querySelector('#resource').dispatchEvent(new Event('change')); document.querySelector('#after').focus()")
	b.press("End")
	b.is("document.querySelector('#node').textContent.startsWith('mig-1 (p4d.24xlarge as mig-1): nvidia.com/gpu none → none, of cpu ')", "true")
	b.press("Home")
	for range 5 {
		b.press("ArrowRight")
	}
	b.is("document.querySelector('#node').textContent.includes('nvidia.com/gpu 0 % → 100 %')", "true")
	b.press("Enter")
	b.is("document.querySelector('#filter').value", "gpu-2")
	b.is(rowCount, "2")
	colours := func() string {
		return b.eval(`(() => { const c = document.querySelector('#after'), copy = document.createElement('canvas'), s = new Set();
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
		b.is("document.body.textContent.includes('"+want+"')", "true")
	}
	b.is("[...document.querySelectorAll('input,select')].every((x) => x.labels.length === 1)", "true")

	b.call("Emulation.setEmulatedMedia", map[string]any{"features": []any{map[string]any{"name": "prefers-color-scheme", "value": "dark"}}}, nil)
	b.is("getComputedStyle(document.documentElement).backgroundColor", "rgb(18, 24, 31)")
	b.eval("new Promise((done) => requestAnimationFrame(() => requestAnimationFrame(done)))")
	if colours() == light {
		t.Error("the map is not drawn anew for a dark page")
	}
	var printed struct{ Data string }
	b.call("Page.printToPDF", nil, &printed)
	if text, err := base64.StdEncoding.DecodeString(printed.Data); err != nil || !bytes.HasPrefix(text, []byte("%PDF-")) {
		t.Errorf("printed: %v", err)
	}
	b.quiet()
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
	b := newBrowser(t)
	b.open(pageOf(t, "-snapshot", golden.File(t, "objects.yaml", objects.String()), "-topology", "rack", "-gang", "gang"))
	b.is("typeof window.ran", "undefined")
	b.is(rowCount, fmt.Sprint(len(names)))
	b.is("document.scripts.length", "2")
	b.is("document.images.length", "0")
	for _, name := range names {
		b.is("[...document.querySelectorAll('#pods tbody tr')].some((row) => row.cells[1].textContent === "+quoted(name+"/"+name)+")", "true")
	}
	b.fill("#filter", "<script>window")
	b.is(rowCount, "2")
	b.quiet()
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
	b := newBrowser(t)
	b.open(page)
	b.is("data.nodes.length + ' ' + data.pods.length", fmt.Sprint(nodes, " ", pods))
	b.is(rowCount, "100")
	b.eval("document.querySelector('#next').click()")
	b.is("document.querySelector('#pods tbody tr').cells[0].textContent", "101")
	b.fill("#filter", "pod-1999")
	b.is(rowCount, "10")
	b.fill("#filter", "")
	b.is("document.getElementsByTagName('*').length < 1500", "true")
	// From the start of the navigation until the second frame after loading.
	shown := b.eval("new Promise((done) => requestAnimationFrame(() => requestAnimationFrame(() => done(Math.round(performance.getEntriesByType('navigation')[0].loadEventEnd)))))")
	filtered := b.eval("(() => { const t = performance.now(); filter(); return Math.round(performance.now() - t) })()")
	drawn := b.eval("(() => { const t = performance.now(); draw(); return Math.round(performance.now() - t) })()")
	info := testkit.Must(os.Stat(page))
	t.Logf("%d nodes, %d pods: %v to answer and write, %.1f MB, %s elements; loaded after %s ms, filters in %s ms, draws both maps in %s ms",
		nodes, pods, made.Round(100*time.Millisecond), float64(info.Size())/1e6, b.eval("document.getElementsByTagName('*').length"), shown, filtered, drawn)
	b.quiet()
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
	b := newBrowser(t)
	b.open(pageOf(t, "-snapshot", golden.File(t, "objects.yaml", objects.String())))
	b.call("Emulation.setDeviceMetricsOverride", map[string]any{"width": 1000, "height": 900, "deviceScaleFactor": 1, "mobile": false}, nil)
	b.eval("document.querySelector('#resource').value = 'nvidia.com/gpu'; document.querySelector('#resource').dispatchEvent(new Event('change'))")
	b.eval("document.querySelector('#show').value = 'unplaced'; filter(); choose(300)")
	var taken struct{ Data string }
	b.call("Page.captureScreenshot", nil, &taken)
	testkit.Check(os.WriteFile("page.png", testkit.Must(base64.StdEncoding.DecodeString(taken.Data)), 0o644))
}
