package kernel

import (
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"
)

// TestStubs checks that every assembly function is declared so that its
// arguments don't escape, and names a pure-Go twin that exists.
func TestStubs(t *testing.T) {
	stubs, err := filepath.Glob("*_stubs_a*64.go")
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

// TestFamilies checks that every family has its files under its name: a generator,
// the assembly that it makes, the calls into it, the twins and the tests.
func TestFamilies(t *testing.T) {
	var generators, families []string
	others := []string{"internal", "neon", "roof"} // for arm64, and of package benchmarks/internal/roof
	entries, err := os.ReadDir("_asm")
	if err != nil {
		t.Fatal(err)
	}
	for _, e := range entries {
		if e.IsDir() && !slices.Contains(others, e.Name()) {
			generators = append(generators, e.Name())
		}
	}
	files, err := filepath.Glob("*_generic.go")
	if err != nil {
		t.Fatal(err)
	}
	for _, file := range files {
		family := strings.TrimSuffix(file, "_generic.go")
		families = append(families, family)
		for _, suffix := range []string{"_amd64.s", "_stubs_amd64.go", "_test.go"} {
			if _, err := os.Stat(family + suffix); err != nil {
				t.Error(err)
			}
		}
		if calls := readFile(t, family+"_amd64.go"); !strings.Contains(calls, "run ./"+family+" -out ../"+family+"_amd64.s ") {
			t.Errorf("%s_amd64.go doesn't run the generator %s", family, family)
		}
	}
	if !slices.Equal(generators, families) {
		t.Errorf("generators %v, families %v", generators, families)
	}
}
