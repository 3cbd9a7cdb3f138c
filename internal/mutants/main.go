// Command mutants says which small faults the tests of a package would miss:
//
//	go run ./internal/mutants -test ./quota -run "TestModel ." quota/internal/book/charge.go
//
// It makes one fault at a time in the files, all of one package: another comparison,
// sign or number, min instead of max, || instead of &&, the negation of a condition.
// It runs the tests with each, and prints a table of the faults that no test noticed.
// All faults are compiled into one binary for each package with tests; a variable of the
// environment chooses one. The files themselves stay as they are. On a terminal it shows how
// far it is.
//
// The exit status is 1 when something fails and 2 for wrong flags. Missed faults are an
// answer and no failure.
package main

import (
	"context"
	"errors"
	"flag"
	"fmt"
	"io"
	"log"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"slices"
	"strconv"
	"strings"
	"sync/atomic"
	"time"
)

func main() {
	log.SetFlags(0)
	log.SetPrefix("mutants: ")
	var o options
	flag.StringVar(&o.tests, "test", "", "packages whose tests are run, separated by commas; default: the package of the files")
	flag.StringVar(&o.run, "run", "", "which tests are run, as of go test; several, separated by spaces, are run one after the other, each without the tests of those before it, so put first what fails soon")
	flag.DurationVar(&o.limit, "limit", 2*time.Second, "how long each run of tests may take in addition to ten times what it takes without a fault; a fault that takes longer is noticed")
	flag.StringVar(&o.lines, "lines", "", "try only the faults of these lines, separated by commas, such as charge.go:25")
	flag.IntVar(&o.parallel, "p", runtime.NumCPU(), "how many faults are tried at a time")
	flag.Usage = func() {
		fmt.Fprint(flag.CommandLine.Output(), `usage: mutants [flags] FILE...

Says which small faults in the files, all of one package, its tests would miss.

Which tests are run, and for how long, such as

    go run ./internal/mutants -test ./quota -run "TestModel ." -limit 20s -p 2 quota/internal/book/charge.go

`)
		flag.PrintDefaults()
		fmt.Fprint(flag.CommandLine.Output(), "\nThe exit status is 1 when that can't be done and 2 for wrong flags.\n")
	}
	flag.Parse()
	if flag.NArg() == 0 {
		fmt.Fprintln(os.Stderr, "mutants: no files (-help says more)")
		os.Exit(2)
	}
	if info, err := os.Stderr.Stat(); err == nil && info.Mode()&os.ModeCharDevice != 0 {
		o.progress = os.Stderr
	}
	if err := o.report(os.Stdout, flag.Args()); err != nil {
		log.Fatal(err)
	}
}

type options struct {
	tests, run, lines string
	limit             time.Duration
	parallel          int
	progress          io.Writer // nil: none is shown
}

// report tries all faults of the files and prints those that were missed.
func (o *options) report(w io.Writer, files []string) error {
	scratch, err := os.MkdirTemp("", "mutants")
	if err != nil {
		return err
	}
	defer os.RemoveAll(scratch)
	faults, overlay, err := mutate(files, scratch)
	if err != nil {
		return err
	}
	if o.tests == "" {
		o.tests = "./" + filepath.Dir(files[0])
	}
	var binaries []binary
	for i, pkg := range strings.Split(o.tests, ",") {
		b, err := build(pkg, filepath.Join(scratch, strconv.Itoa(i)), overlay)
		if err != nil {
			return err
		}
		binaries = append(binaries, b)
	}
	tests, err := o.plan(binaries)
	if err != nil {
		return err
	}
	var tried []int
	for i, f := range faults {
		if o.lines == "" || slices.Contains(strings.Split(o.lines, ","), f.where) {
			tried = append(tried, i)
		}
	}
	n := 0
	fmt.Fprintln(w, "| where | is | instead of |\n|---|---|---|")
	for i, missed := range o.try(tests, tried) {
		o.show("fault %d of %d ", i+1, len(tried))
		if f := faults[tried[i]]; <-missed {
			n++
			o.show("")
			fmt.Fprintf(w, "| %s | `%s` | `%s` |\n", f.where, inCell(f.is), inCell(f.was))
		}
	}
	o.show("")
	fmt.Fprintf(w, "\n%d faults, %d missed\n", len(tried), n)
	return nil
}

// show writes over what is shown of the progress.
func (o *options) show(format string, args ...any) {
	if o.progress != nil {
		fmt.Fprintf(o.progress, "\r\x1b[K"+format, args...)
	}
}

// inCell makes a text fit into a cell of a table.
func inCell(text string) string {
	return strings.ReplaceAll(strings.Join(strings.Fields(text), " "), "|", `\|`)
}

// try says of each fault whether no test noticed it, as soon as that is known.
func (o *options) try(tests []test, faults []int) []chan bool {
	missed := make([]chan bool, len(faults))
	for i := range missed {
		missed[i] = make(chan bool, 1)
	}
	var next atomic.Int64
	for range max(o.parallel, 1) {
		go func() {
			for i := next.Add(1) - 1; i < int64(len(faults)); i = next.Add(1) - 1 {
				missed[i] <- !slices.ContainsFunc(tests, func(t test) bool { return t.run(faults[i]+1) != nil })
			}
		}()
	}
	return missed
}

// binary is a compiled test.
type binary struct{ path, dir string }

// build compiles the tests of a package.
func build(pkg, path, overlay string) (binary, error) {
	dir, err := output("go", "list", "-f", "{{.Dir}}", pkg)
	if err != nil {
		return binary{}, err
	}
	_, err = output("go", "test", "-c", "-vet=off", "-overlay", overlay, "-o", path, pkg)
	return binary{path, strings.TrimSpace(dir)}, err
}

// test is a part of the tests of a binary.
type test struct {
	binary
	args  []string
	limit time.Duration
}

// plan makes the tests, which have to succeed without a fault.
func (o *options) plan(binaries []binary) (tests []test, err error) {
	runs := strings.Split(o.run, " ")
	for i, run := range runs {
		args := []string{"-test.short", "-test.failfast", "-test.run", run}
		if i > 0 {
			args = append(args, "-test.skip", strings.Join(runs[:i], "|"))
		}
		for _, b := range binaries {
			t := test{b, args, time.Hour}
			start := time.Now()
			if err := t.run(0); err != nil {
				return nil, fmt.Errorf("the tests fail without a fault: %w", err)
			}
			t.limit = o.limit + 10*time.Since(start)
			tests = append(tests, t)
		}
	}
	return tests, nil
}

// run runs the test with a fault, 0 for none. The error says why it fails.
func (t *test) run(fault int) error {
	ctx, cancel := context.WithTimeout(context.Background(), t.limit)
	defer cancel()
	cmd := exec.CommandContext(ctx, t.path, t.args...)
	cmd.Dir = t.dir
	cmd.Env = append(os.Environ(), fmt.Sprintf("%s=%d", chosen, fault))
	if out, err := cmd.CombinedOutput(); err != nil {
		return fmt.Errorf("%w:\n%s", err, out)
	}
	return nil
}

// output runs a command, and returns what it prints.
func output(name string, args ...string) (string, error) {
	out, err := exec.Command(name, args...).Output()
	var exit *exec.ExitError
	if errors.As(err, &exit) {
		err = fmt.Errorf("%s %s: %w:\n%s", name, strings.Join(args, " "), err, exit.Stderr)
	}
	return string(out), err
}
