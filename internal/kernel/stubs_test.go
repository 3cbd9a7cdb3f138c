package kernel

import (
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
)

// TestStubs checks that every assembly function is declared so that its
// arguments don't escape, and names a pure-Go twin that exists.
func TestStubs(t *testing.T) {
	stubs, err := filepath.Glob("*_stubs_amd64.go")
	if err != nil || len(stubs) == 0 {
		t.Fatalf("stubs: %v, %v", stubs, err)
	}
	twins, err := filepath.Glob("*.go")
	if err != nil {
		t.Fatal(err)
	}
	var source strings.Builder
	for _, file := range twins {
		source.WriteString(readFile(t, file))
	}
	declaration := regexp.MustCompile(`(?m)((?:^//.*\n)*)^func (\w+)\(`)
	twin := regexp.MustCompile(`It equals (\w+)`)
	for _, file := range stubs {
		for _, d := range declaration.FindAllStringSubmatch(readFile(t, file), -1) {
			comment, name := d[1], d[2]
			if !strings.Contains(comment, "\n//go:noescape\n") {
				t.Errorf("%s: %s has no //go:noescape", file, name)
			}
			m := twin.FindStringSubmatch(comment)
			if m == nil {
				t.Errorf("%s: %s doesn't name the Go function that it equals", file, name)
			} else if !regexp.MustCompile(`func ` + m[1] + `[\[(]`).MatchString(source.String()) {
				t.Errorf("%s: %s equals %s, which doesn't exist", file, name, m[1])
			}
		}
	}
}

func readFile(t *testing.T, name string) string {
	t.Helper()
	text, err := os.ReadFile(name)
	if err != nil {
		t.Fatal(err)
	}
	return string(text)
}
