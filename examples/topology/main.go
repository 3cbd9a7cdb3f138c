// Topology places gangs in a cluster of two blocks, four racks and six hosts: it prints
// where they go, or why they do not, and with -svg draws the picture of
// docs/topology.md.
//
// The exit status is 1 when something fails and 2 for wrong flags.
package main

import (
	"flag"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"strings"
	"text/tabwriter"

	"github.com/resvec/resvec/examples/internal/command"
	"github.com/resvec/resvec/vector"
	"github.com/resvec/resvec/vector/gang"
)

func main() {
	os.Exit(help.Status(program(os.Args[1:], os.Stdout), os.Stderr))
}

// help is what -help prints.
var help = command.Help{
	Name:   "topology",
	About:  "Places gangs in a cluster of two blocks, four racks and six hosts, and says where they go\nor why they do not.",
	Groups: []command.Group{{Title: "What it writes", Example: "-svg docs", Flags: []string{"svg"}}},
}

// program is the program; [command.Help.Status] says which faults it has.
func program(args []string, stdout io.Writer) error {
	flags := flag.NewFlagSet("topology", flag.ContinueOnError)
	svg := flags.String("svg", "", "`folder` to write the picture to")
	if err := help.Parse(flags, args, stdout); err != nil {
		return err
	}
	return run(stdout, *svg)
}

// hosts are the hosts by path, with their free GPUs.
var hosts = []struct {
	block, rack, name string
	free              int
}{
	{"b1", "r1", "h1", 4}, {"b1", "r1", "h2", 3}, {"b1", "r2", "h3", 2},
	{"b2", "r3", "h4", 5}, {"b2", "r3", "h5", 1}, {"b2", "r4", "h6", 4},
}

// gangs are what is placed, each by itself. One GPU is for one pod.
var gangs = []struct {
	title   string
	drawn   bool
	request gang.TopologyRequest
}{
	{"5, required rack", true, gang.TopologyRequest{Count: 5, Required: "rack"}},
	{"7, required rack", false, gang.TopologyRequest{Count: 7, Required: "rack"}},
	{"8, required rack", false, gang.TopologyRequest{Count: 8, Required: "rack"}},
	{"8, preferred rack", true, gang.TopologyRequest{Count: 8, Preferred: "rack"}},
	{"12, preferred rack", true, gang.TopologyRequest{Count: 12, Preferred: "rack"}},
	{"6, unconstrained", true, gang.TopologyRequest{Count: 6}},
	{"6, unconstrained, least free", true, gang.TopologyRequest{Count: 6, LeastFree: true}},
	{"4 in slices of 2 by rack, required block", false, gang.TopologyRequest{Count: 4, Required: "block", Slices: map[string]int{"rack": 2}}},
	{"14 in slices of 2 by rack, preferred block", true, gang.TopologyRequest{Count: 14, Preferred: "block", Slices: map[string]int{"rack": 2}}},
	{"8, preferred rack, required block", false, gang.TopologyRequest{Count: 8, Preferred: "rack", Required: "block"}},
	{"5 in slices of 2 by rack, the last one smaller", false, gang.TopologyRequest{Count: 5, Slices: map[string]int{"rack": 2}, Tail: true}},
	{"20, preferred block", false, gang.TopologyRequest{Count: 20, Preferred: "block"}},
}

// answer is where a gang goes.
type answer struct {
	title string
	drawn bool
	taken []int // per host
	text  string
}

// run prints the answers and, if folder is not empty, draws some there.
func run(out io.Writer, folder string) error {
	answers, err := place()
	if err != nil {
		return err
	}
	w := tabwriter.NewWriter(out, 0, 0, 2, ' ', 0)
	fmt.Fprintln(w, "PODS, MODE\tGO TO")
	for _, a := range answers {
		fmt.Fprintf(w, "%s\t%s\n", a.title, a.text)
	}
	if err := w.Flush(); err != nil || folder == "" {
		return err
	}
	return writePicture(filepath.Join(folder, "topology.svg"), answers)
}

// place places the gangs.
func place() ([]answer, error) {
	topology, err := gang.NewTopology("block", "rack", "host")
	if err != nil {
		return nil, err
	}
	free := vector.NewMatrix(vector.Schema{}, len(hosts), 1)
	for row, h := range hosts {
		if err := topology.Set(row, h.name, h.block, h.rack, h.name); err != nil {
			return nil, err
		}
		free.SetRow(row, vector.ResourceVector{float64(h.free)})
	}
	var packer gang.Packer
	var answers []answer
	for _, work := range gangs {
		work.request.Request = vector.ResourceVector{1}
		placement, err := packer.PlaceTopology(gang.TopologyPlacement{}, free, work.request, nil, topology)
		if err != nil {
			return nil, err
		}
		answers = append(answers, describe(work.title, work.drawn, topology, placement))
	}
	return answers, nil
}

// describe returns a placement in words.
func describe(title string, drawn bool, topology *gang.Topology, placement gang.TopologyPlacement) answer {
	a := answer{title: title, drawn: drawn, taken: make([]int, len(hosts))}
	if !placement.Fits {
		where := "all together"
		if placement.Domain >= 0 {
			where = topology.Levels()[placement.Level] + " " + strings.Join(topology.Path(nil, placement.Domain), "/")
		}
		a.text = fmt.Sprintf("refused: %s could take %d", where, placement.Could)
		return a
	}
	for _, row := range placement.Placement {
		a.taken[row]++
	}
	var parts []string
	for row, n := range a.taken {
		if n > 0 {
			parts = append(parts, fmt.Sprintf("%s %d", hosts[row].name, n))
		}
	}
	a.text = strings.Join(parts, ", ")
	return a
}
