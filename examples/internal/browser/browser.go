// Package browser lets tests look at the pages of the examples in a real browser.
package browser

import (
	"bufio"
	"bytes"
	"encoding/json"
	"fmt"
	"os"
	"os/exec"
	"strings"
	"testing"
	"time"

	"github.com/resvec/resvec/internal/testkit"
)

// A Browser is a headless Chromium with one page, told what to do by the DevTools
// protocol over a pipe.
type Browser struct {
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

// New starts a browser. The test is skipped where there is none, unless
// RESVEC_BROWSER is set, which says that there has to be one.
func New(t *testing.T) *Browser {
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
	b := &Browser{t: t, to: to, from: bufio.NewReader(from)}
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
	b.Call("Target.createTarget", map[string]any{"url": "about:blank"}, &target)
	var attached struct{ SessionID string }
	b.Call("Target.attachToTarget", map[string]any{"targetId": target.TargetID, "flatten": true}, &attached)
	b.session = attached.SessionID
	for _, domain := range []string{"Page", "Runtime", "Log", "Network"} {
		b.Call(domain+".enable", nil, nil)
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

func (b *Browser) send(method string, params any) {
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
func (b *Browser) next() (id int, result json.RawMessage) {
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

// Call calls a method and reads its answer.
func (b *Browser) Call(method string, params, answer any) {
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

// Open loads a file.
func (b *Browser) Open(path string) {
	b.t.Helper()
	b.events = nil
	b.Call("Page.navigate", map[string]any{"url": "file://" + path}, nil)
	for {
		for _, e := range b.events {
			if e.Method == "Page.loadEventFired" {
				return
			}
		}
		b.next()
	}
}

// Eval returns what an expression is, as text.
func (b *Browser) Eval(expression string) string {
	b.t.Helper()
	var answer struct {
		Result           struct{ Value any }
		ExceptionDetails json.RawMessage
	}
	b.Call("Runtime.evaluate", map[string]any{"expression": expression, "returnByValue": true, "awaitPromise": true}, &answer)
	if answer.ExceptionDetails != nil {
		b.t.Fatalf("%s: %s", expression, answer.ExceptionDetails)
	}
	return fmt.Sprint(answer.Result.Value)
}

// Is checks what an expression is.
func (b *Browser) Is(expression, want string) {
	b.t.Helper()
	if got := b.Eval(expression); got != want {
		b.t.Errorf("%s is %q, want %q", expression, got, want)
	}
}

// Fill empties the field that has a selector, and types into it.
func (b *Browser) Fill(selector, text string) {
	b.t.Helper()
	b.Eval("document.querySelector('" + selector + "').select()")
	b.Press("Delete")
	if text != "" {
		b.Call("Input.insertText", map[string]any{"text": text}, nil)
	}
}

// Press presses a key where the focus is.
func (b *Browser) Press(key string) {
	b.t.Helper()
	code := map[string]int{"Enter": 13, "End": 35, "Home": 36, "ArrowRight": 39, "ArrowDown": 40, "Delete": 46, "Tab": 9}[key]
	for _, kind := range []string{"rawKeyDown", "keyUp"} {
		b.Call("Input.dispatchKeyEvent", map[string]any{"type": kind, "key": key, "code": key, "windowsVirtualKeyCode": code}, nil)
	}
}

// Quiet checks that the page said nothing to the console, threw nothing and loaded
// nothing.
func (b *Browser) Quiet() {
	b.t.Helper()
	for _, e := range b.events {
		switch {
		case e.Method == "Runtime.exceptionThrown", e.Method == "Runtime.consoleAPICalled", e.Method == "Log.entryAdded":
			b.t.Errorf("%s %s", e.Method, e.Params)
		case e.Method == "Network.requestWillBeSent":
			var request struct{ Request struct{ URL string } }
			testkit.Check(json.Unmarshal(e.Params, &request))
			url := request.Request.URL
			if isPage := strings.HasPrefix(url, "file:///") && strings.HasSuffix(url, ".html"); !isPage && !strings.HasPrefix(url, "data:") {
				b.t.Errorf("loads %s", url)
			}
		}
	}
}

// Widths are those of a phone, a narrow window and a wide one, at which a page has to read well.
var Widths = []int{360, 500, 1200}

// EachLook calls f with the page at each of the widths, light and dark.
func (b *Browser) EachLook(f func(look string)) {
	b.t.Helper()
	for _, scheme := range []string{"light", "dark"} {
		b.Call("Emulation.setEmulatedMedia", map[string]any{"features": []any{map[string]any{"name": "prefers-color-scheme", "value": scheme}}}, nil)
		for _, width := range Widths {
			b.Call("Emulation.setDeviceMetricsOverride", map[string]any{"width": width, "height": 900, "deviceScaleFactor": 1, "mobile": false}, nil)
			b.Eval("new Promise((done) => requestAnimationFrame(() => requestAnimationFrame(done)))")
			f(fmt.Sprintf("%d px, %s", width, scheme))
		}
	}
	b.Call("Emulation.clearDeviceMetricsOverride", nil, nil)
}

// reads is what is wrong with the look of a page: what is wider than the page, or cut, words
// that are broken though a line has room for them, and text that is too pale.
const reads = `(() => {
	const faults = new Set(), wide = document.documentElement.clientWidth;
	if (document.documentElement.scrollWidth > wide) faults.add("the page is " + document.documentElement.scrollWidth + " wide");
	const number = (c) => c.match(/[\d.]+/g).map(Number);
	const luminance = (c) => { const [r, g, b] = number(c).map((x) => (x /= 255) <= .04045 ? x / 12.92 : ((x + .055) / 1.055) ** 2.4); return .2126 * r + .7152 * g + .0722 * b; };
	const paper = luminance(getComputedStyle(document.documentElement).backgroundColor);
	const words = document.createTreeWalker(document.body, NodeFilter.SHOW_TEXT);
	for (let text = words.nextNode(); text; text = words.nextNode()) {
		const of = text.parentElement;
		if (of.closest("script, style, noscript, option, thead") && !of.closest("th")) continue;
		if (getComputedStyle(of.closest("thead") ?? of).clipPath !== "none") continue;
		const ink = luminance(getComputedStyle(of).color);
		if (text.data.trim() && (Math.max(ink, paper) + .05) / (Math.min(ink, paper) + .05) < 4.5) faults.add("pale: " + text.data.trim());
		for (const match of text.data.matchAll(/[^\s\-\/\u00a0]+/g)) {
			const range = document.createRange();
			range.setStart(text, match.index);
			range.setEnd(text, match.index + match[0].length);
			const rects = [...range.getClientRects()];
			if (new Set(rects.map((r) => Math.round(r.top))).size > 1 && match[0].length < 24) faults.add("broken: " + match[0]);
			const scrolls = of.closest(".sideways");
			for (const r of rects) if (r.right > wide + 1 && !scrolls) faults.add("cut: " + match[0]);
		}
	}
	for (const x of document.querySelectorAll(".scroll")) if (x.scrollWidth > x.clientWidth + 1) faults.add("scrolls: " + x.textContent.trim().slice(0, 40));
	return [...faults].join("; ");
})()`

// Reads checks that the page reads well as it is shown now.
func (b *Browser) Reads(look string) {
	b.t.Helper()
	if faults := b.Eval(reads); faults != "" {
		b.t.Errorf("%s: %s", look, faults)
	}
}

// Picture writes what is shown to a file.
func (b *Browser) Picture(path string) {
	b.t.Helper()
	var taken struct{ Data []byte } // base64 in JSON
	b.Call("Page.captureScreenshot", nil, &taken)
	testkit.Check(os.WriteFile(path, taken.Data, 0o644))
}
