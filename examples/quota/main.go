// Quota tells how the ledger of package quota keeps queues to their cards: the
// three examples of Volcano's capacity-card design, a tree of queues, and a
// hundred goroutines that want more than there is. Every line with a number is an
// event of the ledger.
package main

import (
	"fmt"
	"io"
	"log"
	"os"
)

func main() {
	log.SetFlags(0)
	log.SetPrefix("quota: ")
	if err := run(os.Stdout); err != nil {
		log.Fatal(err)
	}
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
