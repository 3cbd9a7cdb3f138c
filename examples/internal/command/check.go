package command

import (
	"errors"
	"flag"
	"fmt"
	"io"
	"strings"
)

// Check says what is wrong with a help: flags in no group or in two, flags that don't
// exist, examples that parse does not take or that use none of their group's flags, and flags
// with a typing error that parse takes, or refuses without the name that was meant.
func (h Help) Check(parse func(args []string, stdout io.Writer) error) error {
	var text strings.Builder
	if err := parse([]string{"-help"}, &text); err != flag.ErrHelp {
		return fmt.Errorf("-help: %v", err)
	}
	if strings.Contains(text.String(), "\nOther flags\n") {
		return fmt.Errorf("a flag is in no group:\n%s", text.String())
	}
	for _, g := range h.Groups {
		used := false
		for _, name := range g.Flags {
			if n := strings.Count(text.String(), "\n  -"+name+"\n") + strings.Count(text.String(), "\n  -"+name+" "); n != 1 {
				return fmt.Errorf("-%s is there %d times:\n%s", name, n, text.String())
			}
			var usage UsageError
			typo := name[:1] + name // a letter twice
			if err := parse([]string{"-" + typo}, io.Discard); !errors.As(err, &usage) || !strings.Contains(err.Error(), "-"+typo+"; the nearest") || !strings.Contains(err.Error(), " -"+name) {
				return fmt.Errorf("-%s: %v", typo, err)
			}
			used = used || strings.Contains(" "+g.Example+" ", " -"+name+" ")
		}
		if !used {
			return fmt.Errorf("%q uses no flag of %q", g.Example, g.Title)
		}
		if err := parse(strings.Fields(g.Example), io.Discard); err != nil {
			return fmt.Errorf("%q: %w", g.Example, err)
		}
	}
	return nil
}
