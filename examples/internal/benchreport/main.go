// Command benchreport turns the output of this project's benchmarks into the
// tables and the picture of the documentation.
//
//	go test -run '^$' -bench … ./benchmarks | benchreport -tables docs/benchmarks.md -summary docs/performance.md
//
// It reads the Go benchmark format from standard input, or from the file given by -in.
// The pages have a section for each model of CPU between <!-- bench:begin --> and
// <!-- bench:end -->; the one of the CPU that was measured is rewritten, or added, and the
// others stay. A picture per CPU stands next to the summary. Of benchmarks that ran several
// times the fastest run counts. The output depends on the input and on the Go version only. On a
// terminal the results are shown as they come.
//
// The exit status is 1 when something fails and 2 for wrong flags.
package main

import (
	"cmp"
	"errors"
	"flag"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"runtime"
	"strings"

	"github.com/resvec/resvec/examples/internal/command"
	"github.com/resvec/resvec/examples/internal/progress"
)

// options are the flags of the command.
type options struct {
	in, tables, summary string
	cpu, command        string
}

func main() {
	os.Exit(help.Status(program(os.Args[1:], os.Stdout), os.Stderr))
}

// help is what -help prints.
var help = command.Help{
	Name:  "internal/benchreport",
	About: "Turns the output of the benchmarks into tables and a picture.",
	Groups: []command.Group{
		{Title: "What was measured", Example: "-in bench.txt -cpu Zen5", Flags: []string{"in", "cpu", "command"}},
		{Title: "What it writes", Example: "-tables docs/benchmarks.md -summary docs/performance.md", Flags: []string{"tables", "summary"}},
	},
}

// program is the program; [command.Help.Status] says which faults it has.
func program(args []string, stdout io.Writer) error {
	o, err := parseOptions(args, stdout)
	if err != nil {
		return err
	}
	return run(o)
}

// parseOptions reads the command line.
func parseOptions(args []string, stdout io.Writer) (o options, err error) {
	flags := flag.NewFlagSet("benchreport", flag.ContinueOnError)
	flags.StringVar(&o.in, "in", "", "`file` with the output of the benchmarks (default: the standard input)")
	flags.StringVar(&o.tables, "tables", "", "Markdown `file` for all tables")
	flags.StringVar(&o.summary, "summary", "", "Markdown `file` for a short table and a picture")
	flags.StringVar(&o.cpu, "cpu", "", "`name` of the CPU (default: that of the output)")
	flags.StringVar(&o.command, "command", "make bench", "`command` that measures, for the text")
	return o, help.Parse(flags, args, stdout)
}

func run(o options) error {
	input, name := io.Reader(os.Stdin), "standard input"
	if o.in != "" {
		f, err := os.Open(o.in)
		if err != nil {
			return err
		}
		defer f.Close()
		input, name = f, o.in
	} else if progress.IsTerminal(os.Stderr) {
		input = io.TeeReader(os.Stdin, os.Stderr) // measuring takes minutes
	}
	results, err := read(input, name)
	if err != nil {
		return err
	}
	cpu := cmp.Or(o.cpu, results.cpuName())
	about := fmt.Sprintf("`%s`, %s, %s.\n\n", o.command, runtime.Version(), runtime.GOOS+"/"+runtime.GOARCH)
	if o.tables != "" {
		if err := rewrite(o.tables, func(page string) (string, error) {
			return replaceSection(page, cpu, about+tables(results))
		}); err != nil {
			return err
		}
	}
	if o.summary != "" {
		image, err := drawFit(results)
		if err != nil {
			return err
		}
		file := strings.TrimSuffix(o.summary, ".md") + "-" + slug(cpu) + ".svg"
		if err := os.WriteFile(file, image, 0o644); err != nil {
			return err
		}
		text := about + summaryTable(results) + fmt.Sprintf("\n![Fit by number of nodes, %s](%s)\n", cpu, filepath.Base(file))
		return rewrite(o.summary, func(page string) (string, error) { return replaceSection(page, cpu, text) })
	}
	return nil
}

// rewrite changes a file.
func rewrite(file string, change func(page string) (string, error)) error {
	page, err := os.ReadFile(file)
	if err != nil {
		return err
	}
	text, err := change(string(page))
	if err != nil {
		return fmt.Errorf("%s: %w", file, err)
	}
	return os.WriteFile(file, []byte(text), 0o644)
}

const (
	begin   = "<!-- bench:begin -->\n"
	end     = "<!-- bench:end -->"
	heading = "\n### "
)

// replaceSection returns page with text in the section of a CPU, which is added behind
// the others when it isn't there.
func replaceSection(page, cpu, text string) (string, error) {
	before, rest, ok := strings.Cut(page, begin)
	sections, after, closed := strings.Cut(rest, end)
	if !ok || !closed {
		return "", errors.New("no place between <!-- bench:begin --> and <!-- bench:end -->")
	}
	sections = strings.TrimRight(sections, "\n")
	section := heading + cpu + "\n\n" + strings.TrimRight(text, "\n")
	earlier, rest, known := strings.Cut(sections+"\n", heading+cpu+"\n")
	if known {
		_, later, more := strings.Cut(rest, heading)
		if more {
			later = "\n" + heading + later
		}
		sections = earlier + section + strings.TrimRight(later, "\n")
	} else {
		sections = strings.TrimRight(earlier, "\n") + "\n" + section
	}
	return before + begin + "\n" + strings.TrimLeft(sections, "\n") + "\n\n" + end + after, nil
}

// slug returns a name in lower case for a file.
func slug(name string) string {
	return strings.Join(strings.FieldsFunc(strings.ToLower(name), func(r rune) bool {
		return (r < 'a' || r > 'z') && (r < '0' || r > '9')
	}), "-")
}
