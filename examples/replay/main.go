// Replay places the pods of a production GPU cluster on its nodes with six
// scheduling policies and reports how much of the cluster each of them fills,
// how much it leaves as fragments, and how fast it decides. On the five pod
// lists that the FGD paper (Weng et al., USENIX ATC '23) was evaluated on, the
// published results stand next to its own.
//
// Without flags it runs on the shapes of the openb cluster and its default pod
// list (data/README.md). With -nodes and -pods it reads any lists of that
// layout: nodes with the columns cpu_milli, memory_mib, gpu and model, pods
// with cpu_milli, memory_mib, num_gpu, gpu_milli and optionally gpu_spec. Other
// columns are ignored, except that a column count says how many nodes or pods a
// row stands for.
//
// Pods arrive one by one, in an order that the seed decides, until they ask for
// -inflate times the devices there are. They stay; a pod that finds no node is
// dropped. Every decision is the library's: package scoring filters and scores
// the nodes and chooses the devices, and scores only what changed.
//
// The exit status is 1 when a list cannot be used or -check fails, 2 for wrong
// flags and 130 after an interrupt.
package main

import (
	"bufio"
	"cmp"
	"context"
	"errors"
	"flag"
	"fmt"
	"io"
	"math"
	"os"
	"os/signal"
	"path/filepath"
	"slices"
	"strings"

	"github.com/resvec/resvec/examples/internal/command"
)

func main() {
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt)
	context.AfterFunc(ctx, stop) // a second interrupt ends the program at once
	os.Exit(run(ctx, os.Args[1:], os.Stdout, os.Stderr))
}

// options are the command line.
type options struct {
	nodeFile, podFile string
	policies          []*policy
	seeds             int
	seed              int64 // the first one
	inflate           float64
	ties              ties
	plotFile, csvFile string
	check             bool
}

// run is the program; it returns its exit status.
func run(ctx context.Context, args []string, stdout, stderr io.Writer) int {
	opts, err := parseOptions(args, stdout)
	if err != nil {
		return help.Status(err, stderr)
	}
	line := newProgress(stderr)
	out := bufio.NewWriter(stdout)
	err = replay(ctx, opts, out, line)
	line.clear()
	return help.Status(errors.Join(err, out.Flush()), stderr)
}

// help is what -help prints.
var help = command.Help{
	Name:  "replay",
	About: "Places the pods of a production GPU cluster on its nodes with six policies, and reports\nhow much of the cluster each of them fills and how fast it decides.",
	Groups: []command.Group{
		{Title: "What there is", Example: "-nodes nodes.csv -pods pods.csv -inflate 1", Flags: []string{"nodes", "pods", "inflate"}},
		{Title: "How it decides", Example: "-policies FGD,BestFit -seeds 3 -ties random", Flags: []string{"policies", "seeds", "seed", "ties"}},
		{Title: "What it writes", Example: "-plot results.svg -csv runs.csv -check", Flags: []string{"plot", "csv", "check"}},
	},
}

// parseOptions reads the command line. It writes the help that was asked for to
// stdout and returns flag.ErrHelp then.
func parseOptions(args []string, stdout io.Writer) (*options, error) {
	opts := new(options)
	flags := flag.NewFlagSet("replay", flag.ContinueOnError)
	flags.StringVar(&opts.nodeFile, "nodes", "", "CSV `file` of nodes (default: the openb cluster)")
	flags.StringVar(&opts.podFile, "pods", "", "CSV `file` of pods (default: the default pod list of openb)")
	names := flags.String("policies", policyNames(), "`names` of the policies to run, separated by commas")
	flags.IntVar(&opts.seeds, "seeds", 10, "`number` of runs of each policy")
	flags.Int64Var(&opts.seed, "seed", 42, "`seed` of the first run; the others have the seeds after it")
	flags.Float64Var(&opts.inflate, "inflate", publishedInflation, "`times` the capacity that the pods ask for")
	tieName := flags.String("ties", string(tiesPermuted), "`rule` for equal scores: "+tieNames())
	flags.StringVar(&opts.plotFile, "plot", "", "draw the results to this `file`: "+strings.Join(pictureFormats(), ", "))
	flags.StringVar(&opts.csvFile, "csv", "", "write the course of every run to this `file`")
	flags.BoolVar(&opts.check, "check", false, "fail when the results differ from the published ones by more than chance")
	if err := help.Parse(flags, args, stdout); err != nil {
		return nil, err
	}
	var empty, ties, policies error
	flags.Visit(func(f *flag.Flag) {
		if f.Value.String() == "" {
			empty = fmt.Errorf("empty value for -%s", f.Name)
		}
	})
	opts.ties, ties = findTies(*tieName)
	opts.policies, policies = selectPolicies(*names)
	if err := cmp.Or(empty, ties, policies); err != nil {
		return nil, command.UsageError{Err: err}
	}
	if err := opts.validate(); err != nil {
		return nil, command.UsageError{Err: err}
	}
	return opts, nil
}

// maxSeeds is the greatest number of runs of each policy.
const maxSeeds = 10000

// validate checks what the flags alone can show.
func (o *options) validate() error {
	ending := strings.ToLower(filepath.Ext(o.plotFile))
	switch {
	case o.seeds < 1 || o.seeds > maxSeeds:
		return fmt.Errorf("-seeds: got %d, want a number from 1 to %d", o.seeds, maxSeeds)
	case o.seed > math.MaxInt64-maxSeeds:
		return fmt.Errorf("-seed: got %d, want at most %d", o.seed, int64(math.MaxInt64-maxSeeds))
	case !(o.inflate > 0) || math.IsInf(o.inflate, 1):
		return fmt.Errorf("-inflate: got %v, want a number above 0", o.inflate)
	case o.plotFile != "" && !slices.Contains(pictureFormats(), ending):
		return fmt.Errorf("-plot: got %q, want a name that ends in %s", o.plotFile, strings.Join(pictureFormats(), ", "))
	case o.check && (o.inflate != publishedInflation || o.seeds < 2):
		return fmt.Errorf("-check: the published results are of inflation %v, and a distance takes two seeds", publishedInflation)
	}
	return nil
}

// replay runs all policies and writes the report.
func replay(ctx context.Context, opts *options, w io.Writer, line *progress) error {
	t, err := loadTrace(opts.nodeFile, opts.podFile)
	if err != nil {
		return err
	}
	var pub *publication
	if opts.inflate == publishedInflation {
		pub = publicationOf(t, opts.podFile)
	}
	if opts.check && pub == nil {
		return errors.New("-check: nothing was published of these lists")
	}
	c, err := newCluster(t)
	if err != nil {
		return err
	}
	results, err := c.runAll(ctx, opts, line)
	line.clear()
	if err != nil {
		return err
	}
	reportTrace(w, t, opts)
	reportResults(w, results, pub)
	reportSpeed(w, results, len(t.nodes))
	if err := writeFile(opts.csvFile, func(w io.Writer) error { return writeCSV(w, results) }); err != nil {
		return err
	}
	if err := writeFile(opts.plotFile, func(w io.Writer) error { return drawPicture(w, filepath.Ext(opts.plotFile), results) }); err != nil {
		return err
	}
	if opts.check {
		return pub.gate(results)
	}
	return nil
}

// writeFile writes a file, unless its name is empty.
func writeFile(name string, write func(io.Writer) error) (err error) {
	if name == "" {
		return nil
	}
	file, err := os.Create(name)
	if err != nil {
		return fileError(name, err)
	}
	w := bufio.NewWriter(file)
	if err := errors.Join(write(w), w.Flush(), file.Close()); err != nil {
		return fileError(name, err)
	}
	return nil
}
