// Gangs is a small scheduler that simulates, as KAI-Scheduler and Volcano do: for a gang
// that waits it evicts or moves jobs one by one, and tries to place the gang after each.
// It runs nine actions twice, with loops over nodes and with the library: a proof in
// front of every simulation, and all nodes at once. Both decide the same. It prints the
// times and what the columns mean, and with -svg draws the picture of docs/gangs.md.
//
// The exit status is 1 when something fails and 2 for wrong flags.
package main

import (
	"flag"
	"fmt"
	"io"
	"math/rand/v2"
	"os"
	"path/filepath"
	"reflect"
	"strconv"
	"strings"
	"text/tabwriter"
	"time"

	"github.com/resvec/resvec/examples/internal/command"
	"github.com/resvec/resvec/examples/internal/progress"
)

func main() {
	os.Exit(help.Status(program(os.Args[1:], os.Stdout, os.Stderr), os.Stderr))
}

// help is what -help prints.
var help = command.Help{
	Name:  "gangs",
	About: "Runs nine actions of a scheduler that simulates, with and without a proof.",
	Groups: []command.Group{
		{Title: "The clusters", Example: "-nodes 100,5000", Flags: []string{"nodes", "seed"}},
		{Title: "What it writes", Example: "-svg docs/gangs.svg", Flags: []string{"svg"}},
	},
}

// options are the command line.
type options struct {
	sizes []int
	seed  uint64
	svg   string
}

// parseOptions reads the command line.
func parseOptions(args []string, stdout io.Writer) (o options, err error) {
	flags := flag.NewFlagSet("gangs", flag.ContinueOnError)
	nodes := flags.String("nodes", "10,50,200,500,1000,2000", "comma-separated `numbers` of nodes")
	flags.Uint64Var(&o.seed, "seed", 1, "`seed` of the clusters")
	flags.StringVar(&o.svg, "svg", "", "`file` to draw the times in")
	if err := help.Parse(flags, args, stdout); err != nil {
		return o, err
	}
	if o.sizes, err = parseSizes(*nodes); err != nil {
		return o, command.UsageError{Err: err}
	}
	return o, nil
}

// program is the program; [command.Help.Status] says which faults it has.
func program(args []string, stdout, stderr io.Writer) error {
	o, err := parseOptions(args, stdout)
	if err != nil {
		return err
	}
	line := progress.New(stderr)
	results, err := run(stdout, o.sizes, o.seed, line)
	line.Clear()
	if err != nil || o.svg == "" {
		return err
	}
	return writePicture(filepath.Clean(o.svg), results)
}

// parseSizes reads numbers of nodes.
func parseSizes(text string) (sizes []int, err error) {
	for _, field := range strings.Split(text, ",") {
		n, err := strconv.Atoi(strings.TrimSpace(field))
		if err != nil || n < 1 || n > 100_000 {
			return nil, fmt.Errorf("-nodes: %q is not a number from 1 to 100000", field)
		}
		sizes = append(sizes, n)
	}
	return sizes, nil
}

// result is one action on one cluster.
type result struct {
	action        string
	nodes         int
	placed, gangs int
	victims       int
	loops, proof  tally
}

// run prints a table of all actions and sizes.
func run(out io.Writer, sizes []int, seed uint64, line *progress.Line) ([]result, error) {
	w := tabwriter.NewWriter(out, 0, 0, 2, ' ', tabwriter.AlignRight)
	fmt.Fprintln(w, "action\tnodes\tplaced\tvictims\tsimulations: loops\tproof\ttime: loops\tproof\tratio\t")
	var results []result
	for _, story := range stories {
		for _, nodes := range sizes {
			line.Printf("%s, %d nodes", story.action, nodes)
			r, err := compare(story.action, nodes, story.make(nodes, rand.New(rand.NewPCG(seed, uint64(nodes)))))
			if err != nil {
				return nil, err
			}
			results = append(results, r)
			fmt.Fprintf(w, "%s\t%d\t%d of %d\t%d\t%d\t%d\t%s\t%s\t%.1f\t\n", r.action, r.nodes, r.placed, r.gangs, r.victims,
				r.loops.simulations, r.proof.simulations, round(r.loops.elapsed), round(r.proof.elapsed),
				float64(r.loops.elapsed)/float64(r.proof.elapsed))
		}
	}
	line.Clear()
	err := w.Flush()
	fmt.Fprint(out, legend)
	return results, err
}

// legend says what the table shows.
const legend = `
placed       gangs that got room, of all that wait
victims      jobs that are evicted or moved for them, in an order that is given
simulations  attempts to place a gang after some victims: with loops after each, with the
             proof only where it does not say that the attempt must fail
time         for all gangs; both sides decide the same, or the program fails
`

// round shortens a time for print.
func round(d time.Duration) time.Duration {
	for unit := time.Second; unit > 1; unit /= 10 {
		if d >= 10*unit {
			return d.Round(unit / 10)
		}
	}
	return d
}

// compare runs a story with both engines and compares their decisions.
func compare(action string, nodes int, s story) (result, error) {
	r := result{action: action, nodes: nodes, gangs: len(s.gangs)}
	want := s.time(&plain{}, &r.loops)
	got := s.time(&proved{}, &r.proof)
	if !reflect.DeepEqual(got, want) {
		return r, fmt.Errorf("%s, %d nodes: the engines decide differently", action, nodes)
	}
	for _, d := range got {
		if d.placed {
			r.placed++
			r.victims += d.victims
		}
	}
	return r, nil
}

// time decides on all gangs and keeps the best time of several runs, or of one that is
// long. Engines keep their memory from run to run, as a scheduler does from cycle to
// cycle.
func (s story) time(e engine, best *tally) (decisions []decision) {
	const runs, long = 5, 100 * time.Millisecond
	for i := range runs {
		var t tally
		decisions = s.run(e, &t)
		if i == 0 || t.elapsed < best.elapsed {
			*best = t
		}
		if t.elapsed > long {
			break
		}
	}
	return decisions
}

// run decides on all gangs, one after the other.
func (s story) run(e engine, t *tally) (decisions []decision) {
	e.load(s.cluster)
	start := time.Now()
	for _, g := range s.gangs {
		decisions = append(decisions, s.do(e, s.cluster, g, t))
	}
	t.elapsed = time.Since(start)
	return decisions
}
