package repotest

import (
	"go/parser"
	"go/token"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/resvec/resvec/internal/testkit"
)

// TestDocs checks that every block of Go and of YAML in the documents stands,
// line by line, in a test file that is compiled and run, and every text block in
// the output of its example.
func TestDocs(t *testing.T) {
	for document, sources := range map[string][]string{
		"README.md":         {"example_test.go"},
		"docs/migration.md": {"internal/repotest/migration_test.go"},
		"docs/scoring.md":   {"scoring_example_test.go"},
		"docs/profile.md":   {"scoring/profile/example_test.go"},
		"docs/transform.md": {"transform/example_test.go"},
		"docs/device.md":    {"device/share/guide_example_test.go"},
		"docs/embedding.md": {"examples/scheduler/scheduler.go", "examples/scheduler/cluster.go", "examples/scheduler/start.go", "examples/scheduler/main.go", "examples/scheduler/main_test.go", "examples/scheduler/fair.go"},
		"docs/quota.md":     {"quota/guide_example_test.go"},
		"docs/fairshare.md": {"quota/fairshare/example_test.go", "examples/fairshare/main_test.go"},
		"docs/topology.md":  {"topology_example_test.go"},
		"docs/gangs.md":     {"gangs_example_test.go"},
		"examples/kubescheduler/resvecfit/README.md": {"examples/kubescheduler/packing_test.go"},
	} {
		var code string
		for _, source := range sources {
			code += withoutIndent(read(t, source))
		}
		blocks := codeBlock.FindAllStringSubmatch(read(t, document), -1)
		if len(blocks) == 0 {
			t.Errorf("%s has no block of code", document)
		}
		for _, block := range blocks {
			want := withoutIndent(block[2])
			if block[1] == "text" {
				want = commented(block[2])
			}
			// A whole program is an example of the package.
			want = strings.Replace(want, "package main\n", "package resvec_test\n", 1)
			want = strings.Replace(want, "func main()", "func Example()", 1)
			if !strings.Contains(code, want) {
				t.Errorf("%s: this block is not in %s:\n%s", document, strings.Join(sources, ", "), block[2])
			}
		}
	}
}

// TestLinks checks that what the documents link to in this repository exists, with its
// heading.
func TestLinks(t *testing.T) {
	for _, document := range documentsOf(t) {
		for _, link := range linkOf.FindAllStringSubmatch(fenced.ReplaceAllString(read(t, document), ""), -1) {
			file, heading := document, link[2]
			if link[1] != "" {
				file = filepath.Join(filepath.Dir(document), link[1])
			}
			if _, err := os.Stat(file); err != nil {
				t.Errorf("%s: %s: %v", document, link[0], err)
			} else if heading != "" && !slices.Contains(headings(read(t, file)), heading) {
				t.Errorf("%s: %s: no such heading", document, link[0])
			}
		}
	}
}

// TestGuides checks that the package comment and the index name every guide, and that
// each one ends with where to go next.
func TestGuides(t *testing.T) {
	comment, index := read(t, "doc.go"), read(t, "docs/README.md")
	guides := testkit.Must(filepath.Glob("docs/*.md"))
	for _, guide := range guides {
		if !strings.Contains(comment, guide) {
			t.Errorf("doc.go does not name %s", guide)
		}
		if name := filepath.Base(guide); name != "README.md" && !strings.Contains(index, "("+name+")") {
			t.Errorf("docs/README.md does not name %s", name)
		}
		text := read(t, guide)
		if end := text[strings.LastIndex(text, "\n## "):]; !strings.Contains(end, "](") {
			t.Errorf("%s does not end with where to go next: %s", guide, end)
		}
	}
}

// TestPictures checks that the first thing in every picture is a white background, with
// which it can be read on dark pages too, and that its fonts have a substitute.
func TestPictures(t *testing.T) {
	pictures, err := filepath.Glob("docs/*.svg")
	if err != nil || len(pictures) == 0 {
		t.Fatalf("%q, %v", pictures, err)
	}
	for _, picture := range pictures {
		text := read(t, picture)
		if first := shape.FindString(defs.ReplaceAllString(text, "")); !strings.Contains(strings.ToLower(first), "#fff") {
			t.Errorf("%s begins with %s", picture, first)
		}
		for _, fonts := range fontsOf.FindAllString(text, -1) {
			if !strings.Contains(fonts, "sans-serif") && !strings.Contains(fonts, "monospace") {
				t.Errorf("%s: %s", picture, fonts)
			}
		}
	}
}

var (
	shape   = regexp.MustCompile(`<(rect|path|line|circle)\b[^>]*fill[^>]*>`)
	defs    = regexp.MustCompile(`(?s)<defs>.*?</defs>`)
	fontsOf = regexp.MustCompile(`font-family[=:][^;>]*`)
)

// headings returns the anchors of a document, as GitHub makes them.
func headings(text string) []string {
	var anchors []string
	for _, line := range headingOf.FindAllStringSubmatch(text, -1) {
		title := strings.ReplaceAll(strings.ToLower(line[1]), " ", "-")
		anchors = append(anchors, notInAnchor.ReplaceAllString(title, ""))
	}
	return anchors
}

var (
	fenced      = regexp.MustCompile("(?ms)^```.*?^```$") // code, in which generic calls look like links
	linkOf      = regexp.MustCompile(`\]\(([^)#:\s]*)(?:#([^)\s]*))?\)`)
	headingOf   = regexp.MustCompile(`(?m)^#+ (.*)$`)
	notInAnchor = regexp.MustCompile(`[^\p{L}\p{N}_-]`)
)

// TestFigures checks that docs/performance.md has every figure of the README's table.
func TestFigures(t *testing.T) {
	_, table, found := strings.Cut(read(t, "README.md"), "\n| one core |")
	table, _, _ = strings.Cut(table, "\n\n")
	measured := figureOf.FindAllString(read(t, "docs/performance.md"), -1)
	rows := 0
	for line := range strings.Lines(table) {
		cells := strings.Split(line, "|")
		if len(cells) < 6 || !figureOf.MatchString(cells[2]) {
			continue
		}
		rows++
		for _, figure := range figureOf.FindAllString(strings.Join(cells[2:5], "|"), -1) {
			if !slices.Contains(measured, figure) {
				t.Errorf("docs/performance.md doesn't have %s of%s", figure, cells[1])
			}
		}
	}
	if !found || rows < 5 {
		t.Errorf("%d rows of figures in the README's table", rows)
	}
}

var figureOf = regexp.MustCompile(`[0-9]+(,[0-9]{3})*(\.[0-9]+)?`)

// TestStablePaths checks that the README says of every package that can be imported that it
// stays, and that it calls those experimental that say so themselves.
func TestStablePaths(t *testing.T) {
	_, promise, found := strings.Cut(read(t, "README.md"), "**Stable from v0.1.0 on**")
	promise, _, _ = strings.Cut(promise, "|\n\n") // up to the end of the table
	if !found {
		t.Fatal("the README promises nothing")
	}
	_, experimental, _ := strings.Cut(promise, "**Experimental** are ")
	experimental, _, _ = strings.Cut(experimental, ":")
	for room := range rooms {
		name := strings.TrimPrefix(room, "/")
		if _, err := os.Stat(name); name == "" || strings.Contains(name, "internal") || err != nil {
			continue
		}
		if !strings.Contains(promise, "`"+name+"`") {
			t.Errorf("the README doesn't say whether %s is stable", name)
		}
		if says := strings.Contains(packageComment(t, name), "\nExperimental: "); says != strings.Contains(experimental, "`"+name+"`") {
			t.Errorf("package %s says that it is experimental: %v, unlike the README", name, says)
		}
	}
}

// packageComment returns the comment of the package in a folder.
func packageComment(t *testing.T, folder string) (comment string) {
	t.Helper()
	files, _ := filepath.Glob(folder + "/*.go")
	for _, name := range files {
		file := testkit.Must(parser.ParseFile(token.NewFileSet(), name, nil, parser.PackageClauseOnly|parser.ParseComments))
		comment += file.Doc.Text()
	}
	return comment
}

// TestQuotaReasons checks that the guide says of every reason of a refusal what to do.
func TestQuotaReasons(t *testing.T) {
	guide := read(t, "docs/quota.md")
	reasons := regexp.MustCompile(`Reason = "(\w+)"`).FindAllStringSubmatch(read(t, "quota/answer.go"), -1)
	if len(reasons) == 0 {
		t.Error("quota/answer.go has no reasons")
	}
	for _, reason := range reasons {
		if row := regexp.MustCompile("(?m)^\\|[^|]*`" + reason[1] + "`[^|]*\\|.*\\|$"); !row.MatchString(guide) {
			t.Errorf("docs/quota.md has no row for %s", reason[1])
		}
	}
}

var codeBlock = regexp.MustCompile("(?s)```(go|yaml|text)\n(.*?)```")

// commented returns lines as they stand in an output comment.
func commented(text string) string {
	var b strings.Builder
	for line := range strings.Lines(text) {
		b.WriteString(strings.TrimRight("// "+line, " \n") + "\n")
	}
	return b.String()
}

func withoutIndent(code string) string {
	var b strings.Builder
	for line := range strings.Lines(code) {
		b.WriteString(strings.TrimLeft(line, "\t "))
	}
	return b.String()
}
