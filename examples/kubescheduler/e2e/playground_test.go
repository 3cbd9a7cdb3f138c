package e2e

import (
	"bufio"
	"bytes"
	"context"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"runtime"
	"strings"
	"testing"
	"time"

	"github.com/resvec/resvec/examples/kubescheduler/internal/controlplane"
	"github.com/resvec/resvec/internal/testkit"
)

// processes returns the command lines of the processes with a folder in them. It
// only knows on Linux.
func processes(t *testing.T, folder string) (found []string) {
	t.Helper()
	files := testkit.Must(filepath.Glob("/proc/[0-9]*/cmdline"))
	for _, file := range files {
		line, err := os.ReadFile(file)
		if err == nil && bytes.Contains(line, []byte(folder+"/")) {
			found = append(found, string(bytes.ReplaceAll(line, []byte{0}, []byte{' '})))
		}
	}
	return found
}

// playground is the command, running.
type playground struct {
	*exec.Cmd
	lines *bufio.Scanner
}

func startPlayground(t *testing.T, ctx context.Context, binaries string, arguments ...string) *playground {
	t.Helper()
	minor := strings.TrimPrefix(filepath.Base(binaries), "kubescheduler-")
	p := &playground{Cmd: exec.CommandContext(ctx, filepath.Join(binaries, "playground"), append(arguments, "-kubernetes="+minor)...)}
	p.Cancel = p.interrupt
	output := testkit.Must(p.StdoutPipe())
	p.Stderr = os.Stderr
	testkit.Check(p.Start())
	timer := time.AfterFunc(3*time.Minute, func() { _ = p.interrupt() })
	t.Cleanup(func() { timer.Stop() })
	p.lines = bufio.NewScanner(output)
	return p
}

func (p *playground) interrupt() error { return p.Process.Signal(os.Interrupt) }

// TestPlayground runs the command until it has shown all bindings and what is
// refused, and then presses Ctrl-C.
func TestPlayground(t *testing.T) { eachMinor(t, testPlayground) }

func testPlayground(t *testing.T, ctx context.Context, binaries string) {
	folder := t.TempDir()
	p := startPlayground(t, ctx, binaries, "-pods=50", "-folder="+folder)
	address := ""
	bound, refused := map[string]bool{}, map[string]bool{}
	for p.lines.Scan() {
		line := p.lines.Text()
		if found := regexp.MustCompile(`https://[0-9.:]*[0-9]`).FindString(line); found != "" {
			address = found
		}
		switch words := strings.Fields(line); {
		case len(words) < 2:
		case words[0] == "bound":
			bound[words[1]] = true
		case words[0] == "refused":
			refused[words[1]] = true
		}
		if len(bound) == 51 && len(refused) == 2 {
			_ = p.interrupt()
		}
	}
	if err := p.Wait(); err != nil {
		t.Error(err)
	}
	p = startPlayground(t, ctx, binaries, "-pods=50", "-folder="+folder) // goes on
	again := false
	for p.lines.Scan() {
		if strings.HasPrefix(p.lines.Text(), "refused") {
			again = true
			_ = p.interrupt()
		}
	}
	if err := p.Wait(); err != nil || !again {
		t.Errorf("in the folder of the last time: %v, refusals: %v", err, again)
	}
	if len(bound) != 51 || len(refused) != 2 {
		t.Errorf("%d pods were bound and %d refused", len(bound), len(refused))
	}
	isGone(t, address)
	if left := processes(t, folder); len(left) > 0 {
		t.Errorf("still running: %v", left)
	}
}

// TestKilled kills the command, which then can't stop anything.
func TestKilled(t *testing.T) {
	if runtime.GOOS != "linux" {
		t.Skip("needs a kernel that ends the children of a killed process")
	}
	ctx := interruptible(t)
	binaries := build(t, ctx, controlplane.Minors[0])
	folder := t.TempDir()
	p := startPlayground(t, ctx, binaries, "-folder="+folder)
	for p.lines.Scan() && !strings.Contains(p.lines.Text(), "The API server is at") {
	}
	if started := processes(t, folder); len(started) < 3 {
		t.Errorf("running: %v", started)
	}
	_ = p.Process.Kill()
	_ = p.Wait()
	left := processes(t, folder)
	for deadline := time.Now().Add(time.Minute); len(left) > 0 && time.Now().Before(deadline); left = processes(t, folder) {
		time.Sleep(50 * time.Millisecond)
	}
	if len(left) > 0 {
		t.Errorf("still running: %v", left)
	}
}
