// Package command is what the commands of the examples have in common: their help, their
// errors and their exit statuses.
package command

import (
	"cmp"
	"context"
	"errors"
	"flag"
	"fmt"
	"io"
	"path"
	"slices"
	"strings"
)

// The exit statuses.
const (
	Failed      = 1   // the command can't do what it was asked for
	Usage       = 2   // wrong flags or arguments
	Interrupted = 130 // by a signal, as shells have it
)

// A Help is what -help prints.
type Help struct {
	Name   string // the folder below examples
	About  string // a sentence or two
	Groups []Group

	Arguments string // what stands behind the flags, such as "[file ...]"; empty: nothing may
}

// A Group is flags of one subject.
type Group struct {
	Title   string
	Example string // arguments that use the flags
	Flags   []string
}

// A UsageError is a fault of the command line.
type UsageError struct{ Err error }

func (e UsageError) Error() string { return e.Err.Error() }

// Unwrap returns the fault itself.
func (e UsageError) Unwrap() error { return e.Err }

// Parse reads the flags of a command, and its other arguments where it takes any; these may
// stand before flags, too, and are flags.Args. Faults are a [UsageError]. Where help is asked
// for it writes that to stdout and returns [flag.ErrHelp].
func (h Help) Parse(flags *flag.FlagSet, args []string, stdout io.Writer) error {
	flags.SetOutput(io.Discard)
	var others []string
	for {
		switch err := flags.Parse(args); {
		case errors.Is(err, flag.ErrHelp):
			h.write(stdout, flags)
			return flag.ErrHelp
		case err != nil:
			return UsageError{withNearest(err, flags)}
		case flags.NArg() == 0:
			return flags.Parse(append([]string{"--"}, others...)) // which has no flag
		case h.Arguments == "":
			return UsageError{fmt.Errorf("unexpected argument %q", flags.Arg(0))}
		}
		others, args = append(others, flags.Arg(0)), flags.Args()[1:]
	}
}

// withNearest adds the nearest flags to the error about one that doesn't exist.
func withNearest(err error, flags *flag.FlagSet) error {
	name, ok := strings.CutPrefix(err.Error(), "flag provided but not defined: ")
	if !ok {
		return err
	}
	var names []string
	flags.VisitAll(func(f *flag.Flag) { names = append(names, "-"+f.Name) })
	return fmt.Errorf("%w%s", err, Nearest(name, names))
}

// write writes the help. A flag that is in no group comes last.
func (h Help) write(w io.Writer, flags *flag.FlagSet) {
	fmt.Fprintf(w, "usage: %s [flags]%s\n\n%s\n", path.Base(h.Name), strings.TrimSuffix(" "+h.Arguments, " "), h.About)
	grouped := make(map[string]bool)
	for _, g := range h.Groups {
		fmt.Fprintf(w, "\n%s. Example:\n\n    go run ./examples/%s %s\n\n", g.Title, h.Name, g.Example)
		printFlags(w, flags, func(name string) bool {
			in := slices.Contains(g.Flags, name)
			grouped[name] = grouped[name] || in
			return in
		})
	}
	some := false
	flags.VisitAll(func(f *flag.Flag) { some = some || !grouped[f.Name] })
	if some {
		fmt.Fprint(w, "\nOther flags\n\n")
		printFlags(w, flags, func(name string) bool { return !grouped[name] })
	}
	fmt.Fprintf(w, "\nThe exit status is %d when that can't be done, %d for wrong flags and %d after an interrupt.\n",
		Failed, Usage, Interrupted)
}

// printFlags prints some of the flags, as package flag does.
func printFlags(w io.Writer, flags *flag.FlagSet, in func(name string) bool) {
	some := flag.NewFlagSet("", flag.ContinueOnError)
	some.SetOutput(w)
	flags.VisitAll(func(f *flag.Flag) {
		if in(f.Name) {
			some.Var(f.Value, f.Name, f.Usage)
			some.Lookup(f.Name).DefValue = f.DefValue
		}
	})
	some.PrintDefaults()
}

// Status writes an error to stderr and returns the exit status.
func (h Help) Status(err error, stderr io.Writer) int {
	var usage UsageError
	name := path.Base(h.Name)
	switch {
	case err == nil, errors.Is(err, flag.ErrHelp):
		return 0
	case errors.As(err, &usage):
		fmt.Fprintf(stderr, "%s: %v (-help lists the flags)\n", name, err)
		return Usage
	case errors.Is(err, context.Canceled):
		fmt.Fprintf(stderr, "%s: interrupted\n", name)
		return Interrupted
	}
	fmt.Fprintf(stderr, "%s: %v\n", name, err)
	return Failed
}

// Nearest returns a remark about the names that are most like one that is none of them:
// "; the nearest is a", or the nearest are, of at most three. It is empty where none is alike.
func Nearest(name string, names []string) string {
	names = slices.Clone(names)
	slices.Sort(names)
	names = slices.Compact(names)
	limit := (len(name) + 2) / 3
	distances := make(map[string]int)
	for _, other := range names {
		distances[other] = distance(name, other)
	}
	const part = 4 // bytes that say something
	names = slices.DeleteFunc(names, func(other string) bool {
		return distances[other] > limit && (min(len(name), len(other)) < part || !strings.Contains(other, name) && !strings.Contains(name, other))
	})
	slices.SortStableFunc(names, func(a, b string) int { return cmp.Compare(distances[a], distances[b]) })
	switch names = names[:min(len(names), 3)]; len(names) {
	case 0:
		return ""
	case 1:
		return "; the nearest is " + names[0]
	default:
		return "; the nearest are " + strings.Join(names, ", ")
	}
}

// distance returns how many bytes have to be put in, taken out or replaced to make b of a
// (Levenshtein, Binary codes capable of correcting deletions, insertions, and reversals, 1966).
func distance(a, b string) int {
	row := make([]int, len(b)+1)
	for j := range row {
		row[j] = j
	}
	for i := range len(a) {
		diagonal := row[0]
		row[0] = i + 1
		for j := range len(b) {
			cost := diagonal
			if a[i] != b[j] {
				cost = 1 + min(diagonal, row[j], row[j+1])
			}
			diagonal, row[j+1] = row[j+1], cost
		}
	}
	return row[len(b)]
}
