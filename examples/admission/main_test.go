package main

import (
	"bufio"
	"context"
	"errors"
	"fmt"
	"io"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"sync"
	"testing"

	"github.com/resvec/resvec/examples/internal/command"
	"github.com/resvec/resvec/internal/testkit"
)

func TestFlags(t *testing.T) {
	for _, args := range [][]string{{}, {"-data", "x", "more"}, {"-wrong"}, {"-data", "x", "-snapshot-every", "0"}} {
		if status := help.Status(program(t.Context(), args, io.Discard), io.Discard); status != command.Usage {
			t.Errorf("%q: status %d", args, status)
		}
	}
	testkit.Check(help.Check(func(args []string, stdout io.Writer) error { _, err := parse(args, stdout); return err }))
}

// TestFaultsOfFiles: what can't be used is named, and nothing is made of it.
func TestFaultsOfFiles(t *testing.T) {
	dir := t.TempDir()
	for name, text := range map[string]string{"bad.yaml": "a: [", "pod.yaml": "{apiVersion: v1, kind: Pod, metadata: {name: p}}", "tree.yaml": "{apiVersion: scheduling.volcano.sh/v1beta1, kind: Queue, metadata: {name: q}, spec: {parent: p}}"} {
		name = filepath.Join(dir, name)
		testkit.Check(os.WriteFile(name, []byte(text), 0o666))
		err := program(t.Context(), []string{"-data", filepath.Join(dir, "data"), "-queues", name}, io.Discard)
		if err == nil || help.Status(err, io.Discard) != command.Failed {
			t.Errorf("%s: %v", name, err)
		}
	}
	if err := program(t.Context(), []string{"-data", filepath.Join(dir, "data"), "-queues", filepath.Join(dir, "nowhere")}, io.Discard); err == nil {
		t.Error("a file that isn't there")
	}
}

// TestEnd: when the service is told to end it answers what has come, and what it answered is
// on disk.
func TestEnd(t *testing.T) {
	data := t.TempDir()
	ctx, cancel := context.WithCancel(t.Context())
	defer cancel()
	out, in := io.Pipe()
	ended := make(chan error, 1)
	go func() {
		ended <- program(ctx, []string{"-data", data, "-addr", "localhost:0", "-snapshot-every", "5"}, in)
	}()
	line := testkit.Must(bufio.NewReader(out).ReadString('\n'))
	url := strings.TrimSpace(strings.TrimPrefix(line, "listening on "))

	var clients sync.WaitGroup
	told := make([]map[string]bool, 8) // whether the last answer about a job was that it has something
	for c := range told {
		told[c] = map[string]bool{}
		clients.Go(func() {
			for i := 0; ; i++ {
				job := fmt.Sprintf("%d-%d", c, i/2)
				method, body := http.MethodPut, `{"queue": "vision", "cards": {"NVIDIA-A100-SXM4-80GB": 1}}`
				if i%2 == 1 && i%6 > 1 {
					method, body = http.MethodDelete, ""
				}
				request, err := http.NewRequest(method, url+"/jobs/"+job, strings.NewReader(body))
				if err != nil {
					t.Error(err)
					return
				}
				response, err := http.DefaultClient.Do(request)
				if err != nil {
					return // it has ended
				}
				_ = response.Body.Close()
				switch response.StatusCode {
				case http.StatusOK, http.StatusCreated:
					told[c][job] = method == http.MethodPut
				case http.StatusServiceUnavailable:
					return
				}
				if i == 20 {
					cancel()
				}
			}
		})
	}
	clients.Wait()
	if err := <-ended; err != nil {
		t.Fatal(err)
	}
	s := openSample(t, data, 5)
	for _, jobs := range told {
		for job, has := range jobs {
			if _, known := s.ledger.Job(job); has && !known {
				t.Errorf("job %s is lost", job)
			}
		}
	}
	testkit.Check(errors.Join(s.ledger.Check(), s.close()))
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
