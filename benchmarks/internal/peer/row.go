// Package peer compares this library with the code of another project in one process:
// both sides get the same random questions, every answer is compared, and both are
// timed in turn. The modules below benchmarks/peers use it, each with the peers that
// build together.
package peer

import (
	"fmt"
	"os/exec"
	"runtime"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/resvec/resvec/benchmarks/internal/stopwatch"
)

// A Row is one piece of work that both sides do, and one row of the table of
// docs/peers.md.
type Row struct {
	Peer     string // as people call it: "YuniKorn"
	Module   string // the path of its module, whose version the table has
	Function string // of the peer: "Resource.FitIn"
	Ours     string // the function here that answers the same: "Fit"
	Work     string // what one call does: "one pod, 5,000 nodes, 4 resources"

	// Equal says what is compared, in front of the remark; empty means that all answers are
	// the same.
	Equal string

	// Goal is how many times as fast this side should be. The table has it where it is missed.
	Goal float64

	// Remark is what a reader has to know about the ratio, such as what one side does
	// and the other doesn't.
	Remark string

	// Allocates is how often Our may allocate in a call. The Remark says why.
	Allocates float64

	// Questions is how many different questions there are. They are asked in turn, so
	// that the CPU can't learn the branches of one of them by heart.
	Questions int

	// Their and Our answer question k, into memory that Same reads. What does not
	// depend on the question is prepared before, on both sides.
	Their, Our func(k int)

	// Same compares the answers to question k, which both were asked last.
	Same func(k int) error
}

// enough is how long a row is measured, however many iterations are asked for.
const enough = 15 * time.Second

// Bench compares the answers to all questions, then lets both sides answer in turn,
// once for each iteration, and reports the fastest sample of each. It prints the row of
// the table. It fails if answers differ, or if Our allocates more than it may.
func (r Row) Bench(b *testing.B) {
	b.Helper()
	version, err := moduleVersion(r.Module)
	if err != nil {
		b.Fatal(err)
	}
	for k := range r.Questions {
		r.Their(k)
		r.Our(k)
		if err := r.Same(k); err != nil {
			b.Fatalf("question %d: %v", k, err)
		}
	}
	k := 0
	if allocations := testing.AllocsPerRun(r.Questions, func() { r.Our(k % r.Questions); k++ }); allocations > r.Allocates {
		b.Fatalf("%s allocates %v times a call, %v are allowed", r.Ours, allocations, r.Allocates)
	}
	their, our := stopwatch.New(r.Questions, r.Their), stopwatch.New(r.Questions, r.Our)
	start := time.Now()
	for b.Loop() {
		if time.Since(start) < enough { // a whole problem is slow, and long against the noise
			their.Sample()
			our.Sample()
		}
	}
	b.ReportMetric(0, "ns/op") // of both together, which means nothing
	b.ReportMetric(their.Best, "their-ns")
	b.ReportMetric(our.Best, "our-ns")
	b.ReportMetric(their.Best/our.Best, "x")
	b.Log(r.markdown(version, their.Best, our.Best))
	b.Logf("measured with %s", runtime.Version()) // not the version that ran the command page
}

// markdown returns the row as the table has it.
func (r Row) markdown(version string, their, our float64) string {
	remark := r.Remark
	if r.Equal != "" {
		remark = strings.TrimSuffix("equal: "+r.Equal+"; "+remark, "; ")
	}
	times := ratio(their/our) + "×"
	if their/our < r.Goal {
		times += " of " + ratio(r.Goal) + "×"
	}
	return fmt.Sprintf("| %s %s | `%s` | `%s` | %s | %s | %s | %s |", r.Peer, version, r.Function, r.Ours, r.Work,
		duration(our), times, remark)
}

// duration returns nanoseconds with three digits and a unit.
func duration(ns float64) string {
	for _, unit := range []string{"ns", "µs", "ms"} {
		if ns < 999.5 {
			return number(ns, 3) + " " + unit
		}
		ns /= 1000
	}
	return number(ns, 3) + " s"
}

// ratio returns a number with two digits, or with all of its whole part.
func ratio(x float64) string { return strings.TrimSuffix(number(x, 2), ".0") }

// number returns a number with so many digits, or with all of its whole part.
func number(x float64, digits int) string {
	for decimals := digits - 1; decimals > 0; decimals-- {
		if text := strconv.FormatFloat(x, 'f', decimals, 64); len(text) <= digits+1 {
			return text
		}
	}
	return strconv.FormatFloat(x, 'f', 0, 64)
}

// moduleVersion returns the version of a module that this program is built with. A
// test does not know it by itself: the go command does.
func moduleVersion(path string) (string, error) {
	format := "{{with .Replace}}{{.Version}}{{else}}{{.Version}}{{end}}"
	version, err := exec.Command("go", "list", "-m", "-f", format, path).Output()
	if err != nil {
		return "", fmt.Errorf("go list -m %s: %w", path, err)
	}
	return strings.TrimSpace(string(version)), nil
}
