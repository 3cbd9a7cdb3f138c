package main

import (
	"fmt"
	"io"
	"os"
	"os/exec"
	"strings"
	"syscall"
	"testing"

	"github.com/resvec/resvec/examples/internal/golden"
	"github.com/resvec/resvec/internal/testkit"
)

// TestMemory: a snapshot takes at most ten times its bytes, whether its pods are short or as a
// cluster prints them. A process of its own reads each, and the system says how much it took.
func TestMemory(t *testing.T) {
	if snapshot := os.Getenv("RESVEC_READ"); snapshot != "" {
		if status := run([]string{"-snapshot", snapshot}, nil, io.Discard, os.Stderr); status != 0 {
			t.Fatal(status)
		}
		return
	}
	if os.Getenv("RESVEC_LONG") == "" {
		t.Skip("large files: RESVEC_LONG is not set")
	}
	const size = 24 << 20
	var long strings.Builder
	for i := range 12 {
		fmt.Fprintf(&long, ", env: [{name: A, value: value-%d}], image: registry.example.com/team/app:v1.2.%[1]d, args: [--some-flag, --another-flag=%[1]d]}, {name: c%[1]d", i)
	}
	for name, c := range map[string]struct{ before, format, after string }{
		"short pods in JSON": {`{"items": [`, `{"apiVersion": "v1", "kind": "Pod", "metadata": {"name": "p%d"}, "spec": {"containers": [{"name": "c", "resources": {"requests": {"cpu": "1"}}}]}}, `,
			`{"apiVersion": "v1", "kind": "Node", "metadata": {"name": "n"}}], "kind": "List"}`},
		"short pods in YAML": {both, "- apiVersion: v1\n  kind: Pod\n  metadata:\n    name: p%d\n  spec:\n    containers:\n    - name: c\n      resources:\n        requests:\n          cpu: 1\n", ""},
		"long pods":          {both, "- {apiVersion: v1, kind: Pod, metadata: {name: p%d, uid: u%[1]d}, spec: {containers: [{name: c" + long.String() + ", resources: {requests: {cpu: 1}}}]}}\n", ""},
	} {
		text := testkit.Text(size, c.before, c.format, c.after)
		command := exec.Command(os.Args[0], "-test.run=^TestMemory$")
		command.Env = append(os.Environ(), "RESVEC_READ="+golden.File(t, "snapshot", text))
		if out, err := command.CombinedOutput(); err != nil {
			t.Fatalf("%s: %v\n%s", name, err, out)
		}
		taken := command.ProcessState.SysUsage().(*syscall.Rusage).Maxrss << 10
		t.Logf("%s: %d MB of %d MB", name, taken>>20, len(text)>>20)
		if taken > int64(10*len(text)) {
			t.Errorf("%s: %d MB for %d MB of text", name, taken>>20, len(text)>>20)
		}
	}
}
