package resvec_test

import (
	"os"
	"regexp"
	"strings"
	"testing"
)

// TestDocs checks that every Go block of the documents stands, line by line, in
// a test file that is compiled and run.
func TestDocs(t *testing.T) {
	for document, source := range map[string]string{
		"README.md":         "example_test.go",
		"docs/migration.md": "migration_test.go",
	} {
		code := withoutIndent(read(t, source))
		blocks := goBlock.FindAllStringSubmatch(read(t, document), -1)
		if len(blocks) == 0 {
			t.Errorf("%s has no Go block", document)
		}
		for _, block := range blocks {
			if !strings.Contains(code, withoutIndent(block[1])) {
				t.Errorf("%s: this block is not in %s:\n%s", document, source, block[1])
			}
		}
	}
}

var goBlock = regexp.MustCompile("(?s)```go\n(.*?)```")

func withoutIndent(code string) string {
	var b strings.Builder
	for line := range strings.Lines(code) {
		b.WriteString(strings.TrimLeft(line, "\t "))
	}
	return b.String()
}

func read(t *testing.T, file string) string {
	t.Helper()
	b, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	return string(b)
}
