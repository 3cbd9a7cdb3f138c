// Command benchreport turns the output of this project's benchmarks into the
// tables and the picture of the documentation.
//
//	go test -run '^$' -bench … ./benchmarks | benchreport -md docs/performance.md -svg docs/performance.svg
//
// It reads the Go benchmark format from standard input, or from the file given
// by -in, rewrites what stands between <!-- bench:begin --> and <!-- bench:end -->
// in the Markdown file, and draws the SVG. Of benchmarks that ran several times
// the fastest run counts. The output depends on the input and on the Go version
// only.
package main

import (
	"errors"
	"flag"
	"fmt"
	"io"
	"os"
	"runtime"
	"strings"
)

func main() {
	in := flag.String("in", "", "benchmark output; standard input if empty")
	md := flag.String("md", "", "Markdown `file` whose marked section is rewritten")
	svg := flag.String("svg", "", "SVG `file` to write")
	command := flag.String("command", "make bench", "command that measures, for the text")
	flag.Parse()
	if err := run(*in, *md, *svg, *command); err != nil {
		fmt.Fprintln(os.Stderr, "benchreport:", err)
		os.Exit(1)
	}
}

func run(in, md, svg, command string) error {
	input, name := io.Reader(os.Stdin), "standard input"
	if in != "" {
		f, err := os.Open(in)
		if err != nil {
			return err
		}
		defer f.Close()
		input, name = f, in
	}
	results, err := read(input, name)
	if err != nil {
		return err
	}
	if md != "" {
		page, err := os.ReadFile(md)
		if err != nil {
			return err
		}
		about := fmt.Sprintf("`%s`, %s, %s, %s.", command, results.cpu, runtime.Version(), runtime.GOOS+"/"+runtime.GOARCH)
		text, err := replaceMarked(string(page), about+"\n\n"+tables(results))
		if err != nil {
			return fmt.Errorf("%s: %w", md, err)
		}
		if err := os.WriteFile(md, []byte(text), 0o644); err != nil {
			return err
		}
	}
	if svg != "" {
		image, err := picture(results)
		if err != nil {
			return err
		}
		return os.WriteFile(svg, image, 0o644)
	}
	return nil
}

const (
	begin = "<!-- bench:begin -->\n"
	end   = "<!-- bench:end -->"
)

// replaceMarked returns page with text between its markers.
func replaceMarked(page, text string) (string, error) {
	before, rest, ok := strings.Cut(page, begin)
	_, after, closed := strings.Cut(rest, end)
	if !ok || !closed {
		return "", errors.New("no section between <!-- bench:begin --> and <!-- bench:end -->")
	}
	return before + begin + "\n" + text + "\n" + end + after, nil
}
