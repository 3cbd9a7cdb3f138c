package main

import (
	"bufio"
	"context"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"github.com/resvec/resvec/examples/internal/command"
)

func TestFlags(t *testing.T) {
	for _, args := range [][]string{{}, {"-data", "x", "more"}, {"-wrong"}, {"-data", "x", "-snapshot-every", "0"}} {
		if status := help.Status(program(t.Context(), args, io.Discard), io.Discard); status != command.Usage {
			t.Errorf("%q: status %d", args, status)
		}
	}
	err := help.Check(func(args []string, stdout io.Writer) error { _, err := parse(args, stdout); return err })
	if err != nil {
		t.Error(err)
	}
}

// TestFaultsOfFiles: what can't be used is named, and nothing is made of it.
func TestFaultsOfFiles(t *testing.T) {
	dir := t.TempDir()
	for name, text := range map[string]string{"bad.yaml": "a: [", "pod.yaml": "{apiVersion: v1, kind: Pod, metadata: {name: p}}", "tree.yaml": "{apiVersion: scheduling.volcano.sh/v1beta1, kind: Queue, metadata: {name: q}, spec: {parent: p}}"} {
		name = filepath.Join(dir, name)
		if err := os.WriteFile(name, []byte(text), 0o666); err != nil {
			t.Fatal(err)
		}
		err := program(t.Context(), []string{"-data", filepath.Join(dir, "data"), "-queues", name}, io.Discard)
		if err == nil || help.Status(err, io.Discard) != command.Failed {
			t.Errorf("%s: %v", name, err)
		}
	}
	if err := program(t.Context(), []string{"-data", filepath.Join(dir, "data"), "-queues", filepath.Join(dir, "nowhere")}, io.Discard); err == nil {
		t.Error("a file that isn't there")
	}
}

// build builds the command, once for a test.
func build(t *testing.T) string {
	t.Helper()
	program := filepath.Join(t.TempDir(), "admission")
	if out, err := exec.Command("go", "build", "-o", program, ".").CombinedOutput(); err != nil {
		t.Fatalf("%v\n%s", err, out)
	}
	return program
}

// A process is a service that runs.
type process struct {
	*exec.Cmd
	url string
}

// start starts a service on a port of its own.
func start(t *testing.T, program, data string, flags ...string) *process {
	t.Helper()
	p := &process{Cmd: exec.CommandContext(context.Background(), program, append([]string{"-data", data, "-addr", "localhost:0"}, flags...)...)}
	p.Stderr = os.Stderr
	out, err := p.StdoutPipe()
	if err == nil {
		err = p.Start()
	}
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = p.Process.Kill() }) // of one that has ended: nothing
	lines := bufio.NewScanner(out)
	for p.url == "" && lines.Scan() {
		p.url, _ = strings.CutPrefix(lines.Text(), "listening on ")
		if !strings.HasPrefix(p.url, "http://") {
			p.url = ""
		}
	}
	if p.url == "" {
		t.Fatalf("the service says not where it listens: %v", lines.Err())
	}
	go func() { _, _ = io.Copy(io.Discard, out) }()
	return p
}
