// Scorers shows what the scorers of package scoring say of some nodes: as tables
// on standard output and, with -svg, as the pictures of docs/scoring.md.
//
// The exit status is 1 when something fails and 2 for wrong flags.
package main

import (
	"flag"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"slices"
	"text/tabwriter"

	"github.com/resvec/resvec/examples/internal/command"
)

func main() {
	os.Exit(help.Status(program(os.Args[1:], os.Stdout), os.Stderr))
}

// help is what -help prints.
var help = command.Help{
	Name:   "scorers",
	About:  "Shows what the scorers of package scoring say of some nodes.",
	Groups: []command.Group{{Title: "What it writes", Example: "-svg docs", Flags: []string{"svg"}}},
}

// program is the program; [command.Help.Status] says which faults it has.
func program(args []string, stdout io.Writer) error {
	flags := flag.NewFlagSet("scorers", flag.ContinueOnError)
	svg := flags.String("svg", "", "`folder` to write the pictures to")
	if err := help.Parse(flags, args, stdout); err != nil {
		return err
	}
	return run(stdout, *svg)
}

// run prints the tables and, if folder is not empty, writes the pictures there.
func run(out io.Writer, folder string) error {
	fill, err := scoreFill()
	if err != nil {
		return err
	}
	scarce, err := scoreScarce()
	if err != nil {
		return err
	}
	devices, err := scoreDevices()
	if err != nil {
		return err
	}
	fmt.Fprintln(out, "One pod, 20 % of a node's cpu and 5 % of its memory, by what is in use before.")
	for _, g := range fill {
		printGrid(out, g)
	}
	fmt.Fprintln(out, "\nFour pods on four nodes, some of which have scarce GPUs.")
	printGrid(out, scarce)
	fmt.Fprintln(out, "\nA pod that takes 300 thousandths of a GPU, by what is left of the only one.")
	printLines(out, devices)
	if folder == "" {
		return nil
	}
	if err := writeUtilization(filepath.Join(folder, "scoring-utilization.svg"), fill); err != nil {
		return err
	}
	return writeDevices(filepath.Join(folder, "scoring-devices.svg"), scarce, devices)
}

// printGrid prints a grid as a table.
func printGrid(out io.Writer, g *grid) {
	fmt.Fprintf(out, "\n%s\n\n", g.title)
	w := tabwriter.NewWriter(out, 0, 0, 2, ' ', tabwriter.AlignRight)
	fmt.Fprint(w, g.y)
	for _, name := range g.columns {
		fmt.Fprintf(w, "\t%s", name)
	}
	fmt.Fprintln(w, "\t")
	for r, name := range slices.Backward(g.rows) {
		fmt.Fprint(w, name)
		for c := range g.columns {
			fmt.Fprintf(w, "\t%g", g.score(r, c))
		}
		fmt.Fprintln(w, "\t")
	}
	w.Flush()
}

// printLines prints every tenth point of lines.
func printLines(out io.Writer, l *lines) {
	fmt.Fprintln(out)
	w := tabwriter.NewWriter(out, 0, 0, 2, ' ', tabwriter.AlignRight)
	fmt.Fprint(w, l.x)
	for _, name := range l.names {
		fmt.Fprintf(w, "\t%s", name)
	}
	fmt.Fprintln(w, "\t")
	for i := 0; i < len(l.at); i += 10 {
		fmt.Fprintf(w, "%g", l.at[i])
		for k := range l.names {
			fmt.Fprintf(w, "\t%g", l.scores[k][i])
		}
		fmt.Fprintln(w, "\t")
	}
	w.Flush()
}
