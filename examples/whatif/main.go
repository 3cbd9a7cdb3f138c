// Whatif places the pods that wait for a node on a snapshot of a cluster, and says
// where they go, which of them fit nowhere and why, and how many nodes of which
// shape are missing.
//
//	kubectl get nodes,pods -A -o json | go run ./examples/whatif -snapshot -
//	go run ./examples/whatif cluster.yaml -pending new-pods.yaml -add m6i.4xlarge=3
//	go run ./examples/whatif -html report.html
//
// Files are JSON or YAML, as kubectl prints them: lists, or one object after the
// other. Pods without spec.nodeName are the queue. Without files of nodes and
// pods it takes a sample cluster, and says so.
//
// It decides as kube-scheduler does by requests against allocatable amounts, extended
// resources and the number of pods included, by taints, node selectors and required node
// affinity, cordoned and unreachable nodes, spread constraints of DoNotSchedule, required pod
// affinity and anti-affinity, and host ports; scored as NodeResourcesFit and
// NodeResourcesBalancedAllocation score or, with -like default, as the whole default profile does.
// Gangs are placed whole or not at all. It does not look at volumes or most claims, and says
// which pods have them. It evicts nothing.
//
// The exit status is 1 when a file cannot be used, 2 for wrong flags and 130 after an
// interrupt. Pods that fit nowhere are an answer and no failure. On a terminal it shows how
// far it is, and how fast the decisions were.
package main

import (
	"bytes"
	"cmp"
	_ "embed"
	"errors"
	"flag"
	"fmt"
	"io"
	"maps"
	"math"
	"os"
	"runtime/debug"
	"slices"
	"strconv"
	"strings"

	"github.com/resvec/resvec/examples/internal/command"
	"github.com/resvec/resvec/examples/internal/progress"
	"github.com/resvec/resvec/examples/whatif/placement"
	"github.com/resvec/resvec/scoring"
	"github.com/resvec/resvec/vector"
	"github.com/resvec/resvec/vectormap"
)

//go:embed sample.yaml
var sample []byte

func main() { os.Exit(run(os.Args[1:], os.Stdin, os.Stdout, os.Stderr)) }

// options are the command line.
type options struct {
	snapshots, nodes, pods, pending files
	adds, costs                     amounts // by shape or node
	scores, resources               amounts
	strategyFile                    string
	like                            string
	order, ties                     string
	seed                            uint64
	bindings, all                   bool
	gang                            string // label or annotation keys, separated by commas
	ignore                          files  // names of resources
	startup                         files  // keys of taints
	topology                        topologyOptions
	html                            string
	speed                           bool // is written
}

// files is a flag that may be given several times.
type files []string

func (f *files) String() string { return strings.Join(*f, " ") }

func (f *files) Set(name string) error {
	if name == "" {
		return errors.New("empty name")
	}
	*f = append(*f, name)
	return nil
}

// amounts is a flag of names with amounts, name=1,other=2, that may be given
// several times. It holds each name once.
type amounts struct {
	names []string
	of    map[string]float64
	whole bool // no fractions
	dflt  bool // the values are a default, which the first Set replaces
}

func (a *amounts) String() string {
	var parts []string
	for _, name := range a.names {
		parts = append(parts, name+"="+strconv.FormatFloat(a.of[name], 'g', -1, 64))
	}
	return strings.Join(parts, ",")
}

// maxAmount is how many nodes can be added, and the greatest weight.
const maxAmount = 100_000

func (a *amounts) Set(text string) error {
	if a.dflt || a.of == nil {
		*a = amounts{of: make(map[string]float64), whole: a.whole}
	}
	for part := range strings.SplitSeq(text, ",") {
		i := strings.LastIndex(part, "=")
		if i < 1 {
			return fmt.Errorf("%q is not NAME=NUMBER", part)
		}
		name := part[:i]
		x, err := strconv.ParseFloat(part[i+1:], 64)
		switch _, twice := a.of[name]; {
		case err != nil || math.IsNaN(x) || x < 0 || x > maxAmount || a.whole && x != math.Trunc(x):
			return fmt.Errorf("%q is not a number from 0 to %d", part[i+1:], maxAmount)
		case twice:
			return fmt.Errorf("%s is there twice", name)
		}
		a.names = append(a.names, name)
		a.of[name] = x
	}
	return nil
}

// defaultAmounts returns a flag's default.
func defaultAmounts(text string) amounts {
	a := amounts{whole: true}
	if err := a.Set(text); err != nil {
		panic(err)
	}
	a.dflt = true
	return a
}

// run is the program; it returns its exit status.
func run(args []string, stdin io.Reader, stdout, stderr io.Writer) int {
	opts, err := parseOptions(args, stdout)
	if err != nil {
		return help.Status(err, stderr)
	}
	opts.speed = progress.IsTerminal(stdout)
	var out bytes.Buffer // written when the line is gone
	line := progress.New(stderr)
	err = whatif(opts, stdin, &out, line)
	line.Clear()
	_, failed := out.WriteTo(stdout)
	return help.Status(errors.Join(err, failed), stderr)
}

// help is what -help prints.
var help = command.Help{
	Name: "whatif", Arguments: "[snapshot ...]",
	About: "Places the pods that wait on a snapshot of a cluster: where they go, which fit nowhere\nand why, and which nodes are missing. Without files it takes a sample cluster.",
	Groups: []command.Group{
		{Title: "The cluster and its pods", Example: "-snapshot cluster.yaml -pending new-pods.yaml -add m6i.4xlarge=3",
			Flags: []string{"snapshot", "nodes", "pods", "pending", "add", "cost", "startup-taint"}},
		{Title: "How pods are placed", Example: "-score MostAllocated=1 -resources cpu=1,nvidia.com/gpu=5 -ties lowest",
			Flags: []string{"like", "score", "resources", "strategy", "order", "ties", "seed", "ignore"}},
		{Title: "Gangs, and in which racks they go", Example: "-gang example.com/gang -topology example.com/block,example.com/rack -required example.com/rack",
			Flags: []string{"gang", "topology", "required", "preferred"}},
		{Title: "What is written", Example: "-bindings -html report.html", Flags: []string{"all", "bindings", "html"}},
	},
}

// parseOptions reads the command line. It writes the help that was asked for to
// stdout and returns flag.ErrHelp then.
func parseOptions(args []string, stdout io.Writer) (*options, error) {
	opts := &options{
		adds:      amounts{whole: true},
		scores:    defaultAmounts("LeastAllocated=1,BalancedAllocation=1"),
		resources: defaultAmounts("cpu=1,memory=1"),
	}
	flags := flag.NewFlagSet("whatif", flag.ContinueOnError)
	flags.Var(&opts.snapshots, "snapshot", "`file` of nodes and pods; - is the standard input")
	flags.Var(&opts.nodes, "nodes", "`file` of nodes")
	flags.Var(&opts.pods, "pods", "`file` of pods")
	flags.Var(&opts.pending, "pending", "`file` of pods that are to be placed besides")
	flags.Var(&opts.adds, "add", "place with more nodes: `shape=n`, where a node's name stands for its shape too")
	flags.Var(&opts.costs, "cost", "what a node of a shape costs: `shape=price` (default 1)")
	flags.Var(&opts.startup, "startup-taint", "`key` of a taint that nodes lose once they are ready, so that new ones lack it; README.md lists those that are known")
	flags.Var(&opts.scores, "score", "`type=weight` of LeastAllocated or MostAllocated, or of the type of -strategy, and BalancedAllocation")
	flags.Var(&opts.resources, "resources", "`name=weight` of the resources that are scored")
	flags.StringVar(&opts.strategyFile, "strategy", "", "`file` with a scoringStrategy of kube-scheduler, in the place of LeastAllocated and its resources; its weight is 1, or that of its type in -score")
	flags.StringVar(&opts.like, "like", "", "`profile` of kube-scheduler whose scores decide, all of them, in the place of -score: default")
	flags.StringVar(&opts.order, "order", "queue", "`order` of the pods: queue (by priority, then age) or given")
	flags.StringVar(&opts.ties, "ties", "seeded", "`rule` for equal scores: seeded or lowest (the first in the files)")
	flags.Uint64Var(&opts.seed, "seed", 42, "`seed` of -ties seeded")
	flags.BoolVar(&opts.all, "all", false, "write all names and requests, and not the first of many only")
	flags.BoolVar(&opts.bindings, "bindings", false, "print the node of every pod")
	flags.StringVar(&opts.topology.keys, "topology", "", "label `keys` of nodes from coarse to fine, such as block,rack: says where the gangs go")
	flags.StringVar(&opts.gang, "gang", gangKeys, "label or annotation `keys` of pods: those of one value are a gang, which is placed whole or not at all")
	flags.Var(&opts.ignore, "ignore", "`name` of a resource that pods request and no node announces")
	flags.StringVar(&opts.topology.required, "required", "", "`key` of -topology of which a gang has to stay in one domain")
	flags.StringVar(&opts.topology.preferred, "preferred", "", "`key` of -topology of which a gang should stay in one domain (default the last, without -required)")
	flags.StringVar(&opts.html, "html", "", "write the answer as a page for a browser, too, to this `file`")
	if err := help.Parse(flags, args, stdout); err != nil {
		return nil, err
	}
	for _, name := range flags.Args() {
		if err := opts.snapshots.Set(name); err != nil {
			return nil, command.UsageError{Err: err}
		}
	}
	if err := opts.check(); err != nil {
		return nil, command.UsageError{Err: err}
	}
	return opts, nil
}

// check checks what the flags alone can show.
func (o *options) check() error {
	switch {
	case o.order != "queue" && o.order != "given":
		return fmt.Errorf("-order: got %q, want queue or given", o.order)
	case o.like != "" && o.like != "default":
		return fmt.Errorf("-like: got %q, want default", o.like)
	case o.like != "" && (o.strategyFile != "" || !o.scores.dflt || !o.resources.dflt):
		return errors.New("-like: it has scores of its own: want no -score, -resources or -strategy")
	case o.strategyFile != "" && !o.resources.dflt:
		return errors.New("-resources: -strategy has resources of its own")
	case o.ties != "seeded" && o.ties != "lowest":
		return fmt.Errorf("-ties: got %q, want seeded or lowest", o.ties)
	}
	stdins := 0
	for _, name := range slices.Concat(o.snapshots, o.nodes, o.pods, o.pending) {
		if name == "-" {
			stdins++
		}
	}
	if stdins > 1 {
		return errors.New("-: the standard input can be read only once")
	}
	for _, name := range o.costs.names {
		if o.costs.of[name] == 0 {
			return fmt.Errorf("-cost: %s: it must cost something", name)
		}
	}
	return errors.Join(o.checkScores(), o.topology.check())
}

// checkScores checks the types of -score.
func (o *options) checkScores() error {
	strategies := 0
	for _, name := range o.scores.names {
		switch scoring.ScoringType(name) {
		case scoring.BalancedAllocation:
			continue
		case scoring.RequestedToCapacityRatio:
			if o.strategyFile == "" {
				return fmt.Errorf("-score: %s needs a shape: give it with -strategy", name)
			}
		case scoring.LeastAllocated, scoring.MostAllocated:
		default:
			return fmt.Errorf("-score: got %q, want LeastAllocated, MostAllocated or BalancedAllocation", name)
		}
		strategies++
	}
	if strategies > 1 {
		return errors.New("-score: want one type besides BalancedAllocation")
	}
	return nil
}

// strategy returns what NodeResourcesFit scores by, with its weight.
func (o *options) strategy() (strategy scoring.KubeConfig, weight float64, err error) {
	kind := scoring.ScoringType("")
	for _, name := range o.scores.names {
		if name != string(scoring.BalancedAllocation) {
			kind, weight = scoring.ScoringType(name), o.scores.of[name]
		}
	}
	if o.strategyFile != "" {
		return o.readStrategy(kind, weight)
	}
	strategy.Type = cmp.Or(kind, scoring.LeastAllocated)
	for _, name := range o.resources.names {
		strategy.Resources = append(strategy.Resources, scoring.KubeResource{Name: name, Weight: int64(o.resources.of[name])})
	}
	return strategy, weight, nil
}

// readStrategy is strategy for a file; kind and weight are what -score says, if anything.
func (o *options) readStrategy(kind scoring.ScoringType, weight float64) (strategy scoring.KubeConfig, _ float64, err error) {
	text, err := os.ReadFile(o.strategyFile)
	if err != nil {
		return strategy, 0, err
	}
	parsed, err := scoring.ParseScoringStrategy(text)
	if err != nil {
		return strategy, 0, fmt.Errorf("%s: %w", o.strategyFile, err)
	}
	switch {
	case parsed.Type == scoring.BalancedAllocation:
		return strategy, 0, fmt.Errorf("%s: type: %s is no strategy of NodeResourcesFit; -score has its weight", o.strategyFile, parsed.Type)
	case kind == "" || o.scores.dflt:
		weight = 1
	case parsed.Type != kind:
		return strategy, 0, fmt.Errorf("-score: got %s, and %s is of type %s", kind, o.strategyFile, parsed.Type)
	}
	return *parsed, weight, nil
}

// tie returns the rule for equal scores.
func (o *options) tie() vector.Tie {
	if o.ties == "lowest" {
		return vector.TieLowest()
	}
	return vector.TieSeeded(o.seed)
}

// terms returns how nodes are scored, and that in words.
func (o *options) terms() (compile func(*vectormap.ResourceVectorMap) ([]scoring.Term, error), words string, err error) {
	strategy, weight, err := o.strategy()
	if err != nil {
		return nil, "", err
	}
	balanced := o.scores.of[string(scoring.BalancedAllocation)]
	var parts, names []string
	for _, r := range strategy.Resources {
		names = append(names, fmt.Sprintf("%s=%d", r.Name, r.Weight))
	}
	if weight > 0 {
		parts = append(parts, fmt.Sprintf("%s x %g of %s", strategy.Type, weight, strings.Join(names, ",")))
	}
	if balanced > 0 {
		parts = append(parts, fmt.Sprintf("BalancedAllocation x %g", balanced))
	}
	from := cmp.Or(o.strategyFile, "-resources")
	return func(m *vectormap.ResourceVectorMap) ([]scoring.Term, error) {
		terms, err := placement.KubeTerms(m, strategy, weight, balanced)
		if err != nil {
			err = fmt.Errorf("%s: %w", from, err)
		}
		return terms, err
	}, strings.Join(parts, " + "), nil
}

// likeDefault says in words how nodes are scored with -like default.
const likeDefault = "as kube-scheduler's default profile: taints, node affinity, spreading, pod affinity, images, resources"

// isSample reports whether no file says what the cluster is.
func (o *options) isSample() bool { return len(o.snapshots)+len(o.nodes)+len(o.pods) == 0 }

// readAll reads the files of the command line.
func (o *options) readAll(stdin io.Reader, line *progress.Line) (cluster, pending *objects, err error) {
	cluster, pending = &objects{line: line}, &objects{line: line}
	for _, f := range []struct {
		names files
		into  *objects
		want  kinds
	}{
		{o.snapshots, cluster, kinds{node: true, pod: true}},
		{o.nodes, cluster, kinds{node: true}},
		{o.pods, cluster, kinds{pod: true}},
		{o.pending, pending, kinds{pod: true}},
	} {
		for _, name := range f.names {
			if err := f.into.readFile(name, stdin, f.want); err != nil {
				return nil, nil, err
			}
		}
	}
	if o.isSample() {
		err = cluster.read("sample.yaml", bytes.NewReader(sample), kinds{node: true, pod: true})
	}
	return cluster, pending, err
}

// gcPercent lets garbage take less room than usual beside a large snapshot.
const gcPercent = 40

// whatif answers the question of the command line.
func whatif(opts *options, stdin io.Reader, w io.Writer, line *progress.Line) error {
	defer debug.SetGCPercent(debug.SetGCPercent(gcPercent))
	objects, pending, err := opts.readAll(stdin, line)
	if err != nil {
		return err
	}
	snapshot, err := newSnapshot(objects, pending, opts.order == "given")
	if err != nil {
		return err
	}
	terms, scores, err := opts.terms()
	if err != nil {
		return err
	}
	if err := snapshot.ignore(opts.ignore); err != nil {
		return fmt.Errorf("-ignore: %w", err)
	}
	if err := snapshot.loseTaints(opts.startup); err != nil {
		return fmt.Errorf("-startup-taint: %w", err)
	}
	if opts.like != "" {
		snapshot.like, scores = true, likeDefault
	}
	c, err := newCluster(snapshot, terms)
	if err != nil {
		return err
	}
	c.findGangs(strings.Split(opts.gang, ","))
	if err := c.setCosts(opts.costs); err != nil {
		return fmt.Errorf("-cost: %w", err)
	}
	add, err := c.additions(opts.adds)
	if err != nil {
		return fmt.Errorf("-add: %w", err)
	}
	result, err := c.simulate(add, opts.tie())
	if err != nil {
		return err
	}
	r := report{cluster: c, outcome: result, w: w, most: 3}
	if opts.all {
		r.most = math.MaxInt
	}
	input, keeps, constraints := r.input(scores, opts, add), r.keeps(), r.constraints()
	r.head(input, keeps, constraints)
	r.placed()
	if opts.bindings {
		r.bindings()
	}
	fill := r.fill()
	r.printf("\nIn use, before and after\n\n")
	r.table(fill)
	r.unplaced()
	gangs, remarks, err := r.placeGangs(&opts.topology)
	if err != nil {
		return err
	}
	r.topology(&opts.topology, gangs, remarks)
	missing, err := r.shortage(opts.tie(), line)
	if err != nil {
		return err
	}
	r.missing(missing)
	if opts.speed {
		r.speed()
	}
	if opts.html == "" {
		return nil
	}
	line.Printf("writing %s", opts.html)
	return r.writePage(opts.html, &pageParts{
		input: input, keeps: keeps, constraints: constraints, fill: fill, gangs: gangs, remarks: remarks, missing: missing, opts: opts})
}

// findShape returns the shape of a name, which may be the name of one of its nodes.
func (c *cluster) findShape(name string) (*shape, error) {
	var known []string
	for i := range c.shapes {
		if s := &c.shapes[i]; s.name == name || slices.Contains(s.nodes, name) {
			return s, nil
		}
		known = append(known, c.shapes[i].name)
	}
	return nil, fmt.Errorf("no shape and no node is called %q; the shapes are %s%s", name, list(known, 20), command.Nearest(name, c.names()))
}

// names returns the names of all shapes and nodes.
func (c *cluster) names() (names []string) {
	for _, s := range c.shapes {
		names = append(append(names, s.name), s.nodes...)
	}
	return names
}

// setCosts sets what the shapes cost.
func (c *cluster) setCosts(costs amounts) error {
	for _, name := range costs.names {
		s, err := c.findShape(name)
		if err != nil {
			return err
		}
		s.cost = costs.of[name]
	}
	return nil
}

// additions returns the nodes that are to be added.
func (c *cluster) additions(adds amounts) (all []addition, err error) {
	for _, name := range adds.names {
		s, err := c.findShape(name)
		if err != nil {
			return nil, err
		}
		all = append(all, addition{s, int(adds.of[name])})
	}
	return all, nil
}

// sortedKeys returns the keys of a map in order.
func sortedKeys[V any](m map[string]V) []string { return slices.Sorted(maps.Keys(m)) }
