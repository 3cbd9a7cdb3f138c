// Replay places the pods of a production GPU cluster on its nodes, one after
// the other, and reports how much of the cluster each packing policy fills and
// how fast it decides.
//
// Without flags it runs on the shapes of the openb cluster and its default pod
// list (data/README.md). With -nodes and -pods it reads any lists of that
// layout: nodes with the columns cpu_milli, memory_mib, gpu and model, pods
// with cpu_milli, memory_mib, num_gpu, gpu_milli and optionally gpu_spec. Other
// columns are ignored, except that a column count says how many nodes or pods a
// row stands for.
//
// Every pod of the list arrives once, in an order that -seed shuffles, and
// stays. A part of a GPU goes to one device, whole GPUs to idle devices; a pod
// that finds no node is dropped. Every decision is the library's: Fit filters
// the nodes, a score and ArgMin select one, ArgMin and TopK its devices.
//
// The exit status is 1 when a list cannot be used or a check fails, 2 for wrong
// flags and 130 after an interrupt.
package main

import (
	"bufio"
	"context"
	"errors"
	"flag"
	"fmt"
	"io"
	"os"
	"os/signal"
)

func main() {
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt)
	context.AfterFunc(ctx, stop) // a second interrupt ends the program at once
	os.Exit(run(ctx, os.Args[1:], os.Stdout, os.Stderr))
}

// The exit statuses.
const (
	exitData        = 1
	exitUsage       = 2
	exitInterrupted = 130
)

// options are the command line.
type options struct {
	nodeFile, podFile string
	policies          []policy
	seed              int64
}

// run is the program; it returns its exit status.
func run(ctx context.Context, args []string, stdout, stderr io.Writer) int {
	opts, err := parseOptions(args, stdout)
	switch {
	case errors.Is(err, flag.ErrHelp):
		return 0
	case err != nil:
		fmt.Fprintf(stderr, "replay: %v (-help lists the flags)\n", err)
		return exitUsage
	}
	line := newProgress(stderr)
	out := bufio.NewWriter(stdout)
	err = replay(ctx, opts, out, line)
	line.clear()
	err = errors.Join(err, out.Flush())
	switch {
	case errors.Is(err, context.Canceled):
		fmt.Fprintln(stderr, "replay: interrupted")
		return exitInterrupted
	case err != nil:
		fmt.Fprintf(stderr, "replay: %v\n", err)
		return exitData
	}
	return 0
}

// parseOptions reads the command line. It writes the help that was asked for to
// stdout and returns flag.ErrHelp then.
func parseOptions(args []string, stdout io.Writer) (*options, error) {
	opts := new(options)
	flags := flag.NewFlagSet("replay", flag.ContinueOnError)
	flags.SetOutput(io.Discard)
	flags.StringVar(&opts.nodeFile, "nodes", "", "CSV `file` of nodes (default: the openb cluster)")
	flags.StringVar(&opts.podFile, "pods", "", "CSV `file` of pods (default: the default pod list of openb)")
	names := flags.String("policies", policyNames(), "`names` of the policies to run, separated by commas")
	flags.Int64Var(&opts.seed, "seed", 42, "`number` that decides the order in which the pods arrive")
	if err := flags.Parse(args); err != nil {
		if errors.Is(err, flag.ErrHelp) {
			fmt.Fprintln(stdout, "usage: replay [flags]")
			flags.SetOutput(stdout)
			flags.PrintDefaults()
		}
		return nil, err
	}
	if flags.NArg() > 0 {
		return nil, fmt.Errorf("unexpected argument %q", flags.Arg(0))
	}
	var err error
	flags.Visit(func(f *flag.Flag) {
		if f.Value.String() == "" {
			err = fmt.Errorf("empty value for -%s", f.Name)
		}
	})
	if err != nil {
		return nil, err
	}
	opts.policies, err = selectPolicies(*names)
	return opts, err
}

// replay runs all policies and writes the report.
func replay(ctx context.Context, opts *options, w io.Writer, line *progress) error {
	t, err := loadTrace(opts.nodeFile, opts.podFile)
	if err != nil {
		return err
	}
	c, err := newCluster(t)
	if err != nil {
		return err
	}
	arrivals := t.arrivals(opts.seed)
	reportTrace(w, t, c, opts.seed)
	var outs []*outcome
	for _, p := range opts.policies {
		out, err := c.run(ctx, p, arrivals, func(done int) { line.show(p.name, done, len(arrivals)) })
		if err != nil {
			return err
		}
		reportOutcome(w, c, out)
		outs = append(outs, out)
	}
	reportPolicies(w, outs)
	reportSpeed(w, outs)
	return nil
}
