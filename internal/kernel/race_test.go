//go:build amd64 && !purego && race

package kernel_test

import (
	"os"
	"os/exec"
	"strings"
	"testing"
)

// TestRaceDetector checks that the race detector sees through the assembly, in
// a process of its own, which it fails.
func TestRaceDetector(t *testing.T) {
	const child, mark = "RESVEC_RACE", "race case "
	if os.Getenv(child) != "" {
		for _, c := range raceCases() {
			os.Stderr.WriteString(mark + c.name + "\n")
			done := make(chan struct{})
			go func() {
				defer close(done)
				c.other()
			}()
			c.run()
			<-done
		}
		return
	}
	cmd := exec.Command(os.Args[0], "-test.run=^TestRaceDetector$")
	cmd.Env = append(os.Environ(), child+"=1",
		"GORACE=halt_on_error=0 atexit_sleep_ms=0 suppress_equal_stacks=0 suppress_equal_addresses=0")
	out, err := cmd.CombinedOutput()
	if err == nil {
		t.Fatalf("the races passed:\n%s", out)
	}
	reports := strings.Split(string(out), mark)[1:]
	cases := raceCases()
	if len(reports) != len(cases) {
		t.Fatalf("%d of %d cases ran:\n%s", len(reports), len(cases), out)
	}
	for i, c := range cases {
		if got := strings.Contains(reports[i], "DATA RACE"); got != c.race {
			t.Errorf("%s: a report: %t, want %t", c.name, got, c.race)
		}
	}
}
