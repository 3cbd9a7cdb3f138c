// Quota shows how the ledger of package quota keeps queues to their cards: the
// three examples of Volcano's capacity-card design, a tree of queues, and a
// hundred goroutines that want more than there is. Every line with a number is an
// event of the ledger.
//
// The exit status is 1 when something fails and 2 for wrong flags.
package main

import (
	"flag"
	"fmt"
	"io"
	"os"

	"github.com/resvec/resvec/examples/internal/command"
)

func main() {
	os.Exit(help.Status(program(os.Args[1:], os.Stdout), os.Stderr))
}

// help is what -help prints.
var help = command.Help{Name: "quota", About: "Shows how the ledger of package quota keeps queues to their cards."}

// program is the program; [command.Help.Status] says which faults it has.
func program(args []string, stdout io.Writer) error {
	if err := help.Parse(flag.NewFlagSet("quota", flag.ContinueOnError), args, stdout); err != nil {
		return err
	}
	return run(stdout)
}

// run runs all stories.
func run(out io.Writer) error {
	for i, run := range []func(*story){oneCard, eitherCard, sharedCard, tree, rush} {
		if i > 0 {
			fmt.Fprintln(out)
		}
		s := &story{out: out}
		if run(s); s.err != nil {
			return s.err
		}
	}
	return nil
}
