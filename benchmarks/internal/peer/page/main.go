// Command page puts the rows that peer.Row prints into the page about them:
//
//	go -C benchmarks/peers/k35 test -run '^$' -bench . . | page k35 docs/peers.md
//
// It reads the output of the benchmarks from standard input and rewrites what stands
// between <!-- k35:begin --> and <!-- k35:end -->. On a terminal it shows the output, since
// measuring takes minutes.
//
// The exit status is 1 when something fails and 2 for wrong arguments.
package main

import (
	"bufio"
	"errors"
	"flag"
	"fmt"
	"io"
	"log"
	"os"
	"runtime"
	"strings"
)

func main() {
	log.SetFlags(0)
	log.SetPrefix("page: ")
	flag.Usage = func() {
		fmt.Fprint(flag.CommandLine.Output(), `usage: page SECTION FILE

Puts the rows of benchmarks into a section of a page, such as

    go -C benchmarks/peers/k35 test -run '^$' -bench . . | go run ./benchmarks/internal/peer/page k35 docs/peers.md

The exit status is 1 when that can't be done and 2 for wrong arguments.
`)
	}
	flag.Parse()
	if flag.NArg() != 2 {
		fmt.Fprintln(os.Stderr, "page: want SECTION FILE (-help says more)")
		os.Exit(2)
	}
	section, file := flag.Arg(0), flag.Arg(1)
	input := io.Reader(os.Stdin)
	if info, err := os.Stderr.Stat(); err == nil && info.Mode()&os.ModeCharDevice != 0 {
		input = io.TeeReader(os.Stdin, os.Stderr)
	}
	text, err := table(input)
	if err != nil {
		log.Fatal(err)
	}
	page, err := os.ReadFile(file)
	if err != nil {
		log.Fatal(err)
	}
	rewritten, err := replace(string(page), section, text)
	if err != nil {
		log.Fatalf("%s: %v", file, err)
	}
	if err := os.WriteFile(file, []byte(rewritten), 0o644); err != nil {
		log.Fatal(err)
	}
}

const heading = `| peer | its function | ours | work | our time | ratio | remark |
|---|---|---|---|---:|---:|---|
`

// table returns the rows in the output of benchmarks, below a line that says where they
// ran. A row doesn't repeat the peer, the functions and the work of the row above.
func table(output io.Reader) (string, error) {
	var rows strings.Builder
	var above []string
	cpu, version, ended := "an unknown CPU", runtime.Version(), false
	lines := bufio.NewScanner(output)
	for lines.Scan() {
		line := lines.Text()
		switch {
		case strings.HasPrefix(line, "cpu: "):
			cpu = line[len("cpu: "):]
		case strings.Contains(line, "FAIL"):
			return "", errors.New("a benchmark failed: run it by itself")
		case strings.HasPrefix(line, "ok "):
			ended = true
		}
		// A log line begins with its file and line number.
		if _, with, found := strings.Cut(line, ": measured with "); found {
			version = with
		}
		if _, row, isRow := strings.Cut(line, ": | "); isRow {
			cells := strings.Split(strings.TrimSuffix(row, " |"), " | ")
			rows.WriteString("|")
			for i, cell := range cells {
				repeats := i < 4 && i < len(above) && cell == above[i]
				if !repeats && cell != "" {
					rows.WriteString(" " + cell)
				}
				rows.WriteString(" |")
			}
			rows.WriteString("\n")
			above = cells
		}
	}
	switch {
	case lines.Err() != nil:
		return "", lines.Err()
	case !ended || rows.Len() == 0:
		return "", errors.New("the benchmarks did not run to their end, or printed no row")
	}
	return fmt.Sprintf("%s, %s, %s/%s.\n\n%s%s", cpu, version, runtime.GOOS, runtime.GOARCH, heading, rows.String()), nil
}

// replace returns page with text between the markers of a section.
func replace(page, section, text string) (string, error) {
	begin, end := "<!-- "+section+":begin -->\n", "<!-- "+section+":end -->"
	before, rest, hasBegin := strings.Cut(page, begin)
	_, after, hasEnd := strings.Cut(rest, end)
	if !hasBegin || !hasEnd {
		return "", fmt.Errorf("no %q with %q after it", strings.TrimSpace(begin), end)
	}
	return before + begin + text + end + after, nil
}
