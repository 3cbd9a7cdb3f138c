package repotest

import (
	"flag"
	"go/ast"
	"go/parser"
	"go/printer"
	"go/token"
	"io/fs"
	"os"
	"path"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/resvec/resvec/internal/testkit"
)

var update = flag.Bool("update", false, "write the listings of exported names anew")

// listings is the folder with one file per package: what the package exports.
const listings = "internal/repotest/testdata/api"

// TestAPI compares what each package exports with its listing, so that a change of the
// interface is a change of that file, too, which a reader sees:
//
//	go test ./internal/repotest -run API -update
func TestAPI(t *testing.T) {
	if _, err := os.Stat("device/nvml"); err != nil {
		t.Skipf("this is not the whole repository: %v", err)
	}
	exported := exportedNames(t)
	if len(exported) < 10 {
		t.Fatalf("%d packages found only", len(exported))
	}
	if *update {
		testkit.Check(os.RemoveAll(listings))
		testkit.Check(os.MkdirAll(listings, 0o755))
	}
	for folder, got := range exported {
		file := listingOf(folder)
		if *update {
			testkit.Check(os.WriteFile(file, []byte(got), 0o644))
			continue
		}
		want, err := os.ReadFile(file)
		if err != nil {
			t.Errorf("package %s has no listing: %v", folder, err)
			continue
		}
		for _, line := range missing(string(want), got) {
			t.Errorf("package %s no longer has\n%s", folder, line)
		}
		for _, line := range missing(got, string(want)) {
			t.Errorf("package %s has, but its listing %s has not\n%s", folder, file, line)
		}
	}
	files, err := filepath.Glob(listings + "/*.txt")
	if err != nil || len(files) != len(exported) {
		t.Errorf("%d listings of %d packages (%v): with -update they are written anew", len(files), len(exported), err)
	}
}

// listingOf returns the listing of the package in a folder.
func listingOf(folder string) string {
	return path.Join(listings, strings.ReplaceAll(folder, "/", ".")+".txt")
}

// missing returns the declarations of a listing that another one lacks.
func missing(listing, other string) (lines []string) {
	there := strings.Split(other, "\n\n")
	for _, declaration := range strings.Split(listing, "\n\n") {
		if !slices.Contains(there, declaration) {
			lines = append(lines, declaration)
		}
	}
	return lines
}

// exportedNames returns the exported declarations of each folder with a package that
// others may import, sorted.
func exportedNames(t *testing.T) map[string]string {
	t.Helper()
	declared, files := make(map[string][]string), token.NewFileSet()
	err := filepath.WalkDir(".", func(name string, entry fs.DirEntry, err error) error {
		switch {
		case err != nil:
			return err
		case entry.IsDir():
			if slices.Contains([]string{"internal", "examples", "benchmarks", "docs", "testdata", ".git", ".ci"}, entry.Name()) {
				return filepath.SkipDir
			}
			return nil
		case filepath.Ext(name) != ".go" || strings.HasSuffix(name, "_test.go"):
			return nil
		}
		file, err := parser.ParseFile(files, name, nil, parser.SkipObjectResolution) // without comments
		if err != nil {
			return err
		}
		if folder := filepath.ToSlash(filepath.Dir(name)); folder != "." && file.Name.Name != "main" {
			declared[folder] = append(declared[folder], declarationsOf(t, files, file)...)
		}
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
	exported := make(map[string]string)
	for folder, texts := range declared {
		slices.Sort(texts)
		exported[folder] = strings.Join(slices.Compact(texts), "\n\n") + "\n"
	}
	return exported
}

// declarationsOf returns the exported declarations of a file as Go text. Constants stay in
// the group that numbers them.
func declarationsOf(t *testing.T, files *token.FileSet, file *ast.File) (texts []string) {
	t.Helper()
	ast.FileExports(file)
	show := func(node any) {
		var text strings.Builder
		testkit.Check((&printer.Config{Mode: printer.UseSpaces | printer.TabIndent, Tabwidth: 8}).Fprint(&text, files, node))
		// Blank lines are left where comments were; they part declarations here.
		lines := slices.DeleteFunc(strings.Split(text.String(), "\n"), func(line string) bool { return strings.TrimSpace(line) == "" })
		texts = append(texts, strings.Join(lines, "\n"))
	}
	for _, d := range file.Decls {
		switch d := d.(type) {
		case *ast.FuncDecl:
			if d.Body = nil; d.Recv == nil || ast.IsExported(receiver(d.Recv.List[0].Type)) {
				show(d)
			}
		case *ast.GenDecl:
			if d.Tok != token.IMPORT && len(d.Specs) > 0 {
				show(d)
			}
		}
	}
	return texts
}

// receiver returns the name of a method's type.
func receiver(x ast.Expr) string {
	switch x := x.(type) {
	case *ast.StarExpr:
		return receiver(x.X)
	case *ast.IndexExpr:
		return receiver(x.X)
	case *ast.Ident:
		return x.Name
	}
	return ""
}
