// Quota tells how the ledger of package quota keeps queues to their cards: the
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
var help = command.Help{Name: "quota", About: "Tells how the ledger of package quota keeps queues to their cards."}

// program is the program; its faults are those of [command.Help.Status].
func program(args []string, stdout io.Writer) error {
	if err := help.Parse(flag.NewFlagSet("quota", flag.ContinueOnError), args, stdout); err != nil {
		return err
	}
	return run(stdout)
}

// run tells all stories.
func run(out io.Writer) error {
	for i, tell := range []func(*story){oneCard, eitherCard, sharedCard, tree, rush} {
		if i > 0 {
			fmt.Fprintln(out)
		}
		s := &story{out: out}
		if tell(s); s.err != nil {
			return s.err
		}
	}
	return nil
}
