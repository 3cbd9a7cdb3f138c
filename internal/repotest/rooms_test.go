package repotest

import (
	"fmt"
	"maps"
	"slices"
	"strings"
	"testing"
)

// TestPictureOfRooms checks that docs/README.md draws the packages as they import each
// other. On a failure it prints the picture that is right.
func TestPictureOfRooms(t *testing.T) {
	imports := map[string][]string{}
	for _, p := range listPackages(t, ".", nil) {
		if from, public := roomOf(p.ImportPath); public {
			imports[from] = nil
			for _, path := range p.Imports {
				if to, public := roomOf(path); public {
					imports[from] = append(imports[from], to)
				}
			}
		}
	}
	var want strings.Builder
	want.WriteString("```mermaid\nflowchart BT\n")
	for _, from := range slices.Sorted(maps.Keys(imports)) {
		for _, to := range direct(imports, from) {
			fmt.Fprintf(&want, "    %s --> %s\n", node(to), node(from))
		}
	}
	want.WriteString("```\n")
	_, got, found := strings.Cut(read(t, "docs/README.md"), "<!-- rooms:begin -->\n")
	got, _, closed := strings.Cut(got, "<!-- rooms:end -->")
	if !found || !closed || got != want.String() {
		t.Errorf("the picture of the packages in docs/README.md is not\n%s", &want)
	}
}

// roomOf returns the name of a package that the picture shows.
func roomOf(path string) (name string, shown bool) {
	name, ours := strings.CutPrefix(path, module+"/")
	return name, ours && !strings.Contains(name, "internal") && !strings.HasPrefix(name, "benchmarks")
}

// direct returns what a package imports and doesn't reach through another import.
func direct(imports map[string][]string, from string) []string {
	var reaches func(from, to string) bool
	reaches = func(from, to string) bool {
		return slices.ContainsFunc(imports[from], func(p string) bool { return p == to || reaches(p, to) })
	}
	var arrows []string
	for _, to := range imports[from] {
		if !slices.ContainsFunc(imports[from], func(p string) bool { return reaches(p, to) }) {
			arrows = append(arrows, to)
		}
	}
	slices.Sort(arrows)
	return arrows
}

// node returns a package in the language of the picture.
func node(name string) string {
	return fmt.Sprintf("%s[%s]", strings.ReplaceAll(name, "/", "_"), name)
}
