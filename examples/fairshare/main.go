// Fairshare says what each queue of a cluster should have and what bounds it, which job is
// next, and what jobs that wait could take from whom; with -over it plays a story, hour by
// hour. Without files it takes three teams that share 12 GPUs for a day.
//
//	go run ./examples/fairshare
//	go run ./examples/fairshare -queues queues.yaml -total nvidia.com/gpu=64 -jobs jobs.csv -set vision.weight=3
//	kubectl get pods -A -o yaml | go run ./examples/fairshare -queues queues.yaml -total nvidia.com/gpu=64 -jobs -
//
// Queues are KAI's, Volcano's or Kueue's, as kubectl prints them. Jobs are pods with the label
// of their queue, of which KAI's annotations for parts of GPUs are read, or a table in CSV: job, queue and a column for each resource, in which a
// line has what one pod requests; pods (1 where absent), preemptible (yes or no), and state
// (runs or waits), or for a story hour, at which the job comes, and hours, for which it runs.
//
// The exit status is 1 when a file cannot be used, and 2 for wrong flags.
package main

import (
	"bytes"
	"errors"
	"flag"
	"fmt"
	"io"
	"os"
	"strings"
	"time"

	"github.com/resvec/resvec/examples/internal/command"
	"github.com/resvec/resvec/quota/fairshare"
)

func main() {
	os.Exit(help.Status(program(os.Args[1:], os.Stdin, os.Stdout), os.Stderr))
}

// help is what -help prints.
var help = command.Help{
	Name:  "fairshare",
	About: "Says what each queue should have, which job is next, and who could take from whom.",
	Groups: []command.Group{
		{Title: "The cluster", Example: "-rules kai -total nvidia.com/gpu=16 -nodes 4", Flags: []string{"queues", "total", "jobs", "label", "milli", "nodes"}},
		{Title: "The rules", Example: "-rules kai -history 0.5", Flags: []string{"rules", "by-weight", "scale", "history", "half-life"}},
		{Title: "What if", Example: "-set speech.weight=1 -set search.deserved=nvidia.com/gpu=4", Flags: []string{"set"}},
		{Title: "A story in time", Example: "-over -", Flags: []string{"over"}},
		{Title: "Pictures", Example: "-svg docs/fairshare.svg -html fairshare.html", Flags: []string{"svg", "html"}},
	},
}

// options are the command line.
type options struct {
	queues, total, jobs, label, milli, over string
	nodes                                   int
	rules                                   fairshare.Options
	halfLife                                time.Duration
	sets                                    list
	svg, html                               string
}

// list is a flag that may be given several times.
type list []string

func (l *list) String() string        { return strings.Join(*l, " ") }
func (l *list) Set(text string) error { *l = append(*l, text); return nil }

func parseOptions(args []string, stdout io.Writer) (o options, err error) {
	flags := flag.NewFlagSet("fairshare", flag.ContinueOnError)
	flags.StringVar(&o.queues, "queues", "", "`file` of queue objects; without it, three teams")
	flags.StringVar(&o.total, "total", "", "what there is: comma-separated `RESOURCE=QUANTITY`")
	flags.StringVar(&o.jobs, "jobs", "", "`file` of jobs or pods, which run or wait; - is the standard input")
	flags.StringVar(&o.label, "label", "kai.scheduler/queue", "`label` of pods that names their queue")
	flags.StringVar(&o.milli, "milli", "", "comma-separated `resources` to count in thousandths")
	flags.IntVar(&o.nodes, "nodes", 3, "`number` of nodes among which a story's total is divided evenly")
	rules := flags.String("rules", "leximin", "whose `rules` decide: leximin, kai, volcano or kueue")
	flags.BoolVar(&o.rules.ByWeight, "by-weight", false, "divide everything by weight, as Volcano's proportion plugin does")
	flags.BoolVar(&o.rules.Scale, "scale", false, "cut what is deserved where that is more than there is")
	flags.Float64Var(&o.rules.History, "history", 0, "how much past usage counts against a queue: `strength`, 0 for not at all")
	flags.DurationVar(&o.halfLife, "half-life", 12*time.Hour, "`time` in which past usage halves")
	flags.Var(&o.sets, "set", "`QUEUE.FIELD=VALUE` to change: weight=3, priority=1, parent=NAME, or deserved, guarantee, limit, lending=RESOURCE=QUANTITY; may be given several times")
	flags.StringVar(&o.over, "over", "", "`file` of a story in time; - is the standard input")
	flags.StringVar(&o.svg, "svg", "", "`file` to draw the story in")
	flags.StringVar(&o.html, "html", "", "`file` to write a page to")
	if err := help.Parse(flags, args, stdout); err != nil {
		return o, err
	}
	empty := ""
	flags.Visit(func(f *flag.Flag) {
		if f.Value.String() == "" {
			empty = f.Name
		}
	})
	names := []string{fairshare.Leximin: "leximin", fairshare.KAI: "kai", fairshare.Volcano: "volcano", fairshare.Kueue: "kueue"}
	known := false
	for i, name := range names {
		if name == *rules {
			o.rules.Rules, known = fairshare.Rules(i), true
		}
	}
	switch {
	case empty != "":
		err = fmt.Errorf("-%s: is empty", empty) // which would stand for the three teams
	case !known:
		err = fmt.Errorf("-rules: %q is none of %s", *rules, strings.Join(names, ", "))
	case o.nodes < 1 || o.nodes > 10_000:
		err = fmt.Errorf("-nodes: %d is not a number from 1 to 10000", o.nodes)
	case o.halfLife <= 0:
		err = fmt.Errorf("-half-life: %v is not more than 0", o.halfLife)
	case o.jobs != "" && o.over != "":
		err = errors.New("-jobs and -over are two ways to give jobs: want one")
	case o.svg != "" && o.jobs != "":
		err = errors.New("-svg draws a story: want -over, or no -jobs")
	case o.queues != "" && (o.total == "" || o.jobs == "" && o.over == ""):
		err = errors.New("-queues: want -total and -jobs or -over, too")
	}
	if err != nil {
		return o, command.UsageError{Err: err}
	}
	return o, nil
}

// program is the program; [command.Help.Status] says which faults it has.
func program(args []string, stdin io.Reader, stdout io.Writer) error {
	o, err := parseOptions(args, stdout)
	if err != nil {
		return err
	}
	in, err := readInput(&o, stdin)
	if err != nil {
		return err
	}
	c, err := newCluster(in, &o)
	if err != nil {
		return err
	}
	// Before anything is printed: a day is long.
	var other *cluster
	if len(o.sets) > 0 {
		if other, err = in.otherwise(&o); err != nil {
			return command.UsageError{Err: err}
		}
	}
	var said, changes bytes.Buffer // for the page, too
	out := io.MultiWriter(stdout, &said)
	if in.isStory {
		err = c.play(out, o.halfLife)
	} else if err = c.load(); err == nil {
		err = c.answer(out)
	}
	if err != nil {
		return err
	}
	if other != nil {
		if err := compare(io.MultiWriter(stdout, &changes), c, other, o.sets); err != nil {
			return err
		}
	}
	if o.svg != "" {
		if err := c.writePicture(o.svg); err != nil {
			return err
		}
	}
	if o.html != "" {
		return c.writePage(o.html, said.String(), changes.String())
	}
	return nil
}
