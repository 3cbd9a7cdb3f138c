package repotest

import (
	"encoding/json"
	"errors"
	"go/parser"
	"go/token"
	"io"
	"io/fs"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"
)

const module = "github.com/resvec/resvec"

// rooms says what each package of the module may import besides the standard
// library: a line for each package, "./" for the module, and a trailing "/..." admits
// everything below. Imports run downward only: internal/kernel, vector, vectormap, and
// what stands on them.
var rooms = func() map[string][]string {
	rooms := map[string][]string{}
	for line := range strings.Lines(strings.TrimSpace(`
/:
/internal/kernel: golang.org/x/sys/cpu
/internal/document: ./internal/decimal ./internal/fieldpath ./internal/quantity go.yaml.in/yaml/v3 k8s.io/apimachinery/...
/internal/decimal:
/internal/fieldpath:
/internal/mutants:
/internal/quantity: ./internal/decimal gopkg.in/inf.v0 k8s.io/apimachinery/pkg/api/resource
/internal/repotest:
/internal/testkit: ./internal/kernel golang.org/x/sys/...
/vector: ./internal/decimal ./internal/kernel
/vector/gang: ./internal/decimal ./internal/kernel ./vector
/vector/gang/provision: ./vector ./vector/gang
/vector/vectormat: ./vector gonum.org/v1/gonum/...
/vectormap: ./internal/decimal ./internal/fieldpath ./internal/kernel ./internal/quantity ./vector ./vector/gang k8s.io/api/... k8s.io/apimachinery/... k8s.io/component-helpers/resource
/scoring: ./internal/decimal ./internal/document ./internal/fieldpath ./internal/kernel ./internal/quantity ./scoring/internal/scorecache ./vector ./vectormap k8s.io/apimachinery/...
/scoring/gpu: ./internal/decimal ./internal/document ./internal/fieldpath ./internal/kernel ./scoring/internal/scorecache ./scoring ./vector ./vectormap k8s.io/apimachinery/...
/scoring/profile: ./scoring ./vector ./vectormap k8s.io/api/... k8s.io/apimachinery/... k8s.io/component-helpers/scheduling/... k8s.io/klog/v2
/scoring/internal/scorecache: ./internal/kernel ./vector
/scoring/internal/scorecache/cachetest: ./scoring/internal/scorecache ./internal/testkit ./vector
/transform: ./internal/document ./internal/kernel ./internal/quantity ./vector ./vectormap gopkg.in/inf.v0 k8s.io/api/... k8s.io/apimachinery/... sigs.k8s.io/yaml
/transform/transformmat: ./transform ./vector gonum.org/v1/gonum/mat
/device: ./internal/document ./internal/quantity ./vectormap k8s.io/api/... k8s.io/apimachinery/...
/device/mig: ./device ./internal/document ./vectormap k8s.io/apimachinery/...
/device/share: ./device ./device/mig ./internal/document ./internal/kernel ./internal/quantity ./scoring/gpu ./vector ./vectormap k8s.io/api/... k8s.io/apimachinery/...
/quota/internal/book: ./internal/kernel
/quota: ./device ./internal/document ./internal/kernel ./internal/quantity ./quota/internal/book ./transform ./vector ./vectormap k8s.io/api/... k8s.io/apimachinery/...
/quota/fairshare: ./internal/decimal ./internal/document ./internal/quantity ./vector ./vectormap k8s.io/apimachinery/...
/benchmarks:
/benchmarks/internal/peer: ./benchmarks/internal/stopwatch ./internal/testkit ./vectormap k8s.io/api/... k8s.io/apimachinery/...
/benchmarks/internal/peer/page:
/benchmarks/internal/stopwatch:
/benchmarks/internal/roof: ./internal/kernel
`)) {
		room, allowed, _ := strings.Cut(line, ":")
		rooms[strings.TrimSuffix(room, "/")] = strings.Fields(strings.ReplaceAll(allowed, " ./", " "+module+"/"))
	}
	return rooms
}()

// owners has the folders of the repository that may import what hosts should not get
// by the way, with everything below them.
var owners = map[string][]string{
	"C":                      {"device/nvml"},
	"github.com/NVIDIA/":     {"device/nvml"},
	"github.com/prometheus/": {"quota/quotametrics", "examples/admission", "examples/kubescheduler"},
	"gonum.org/v1/gonum/":    {"vector/vectormat", "transform/transformmat", "benchmarks"},
}

// views are the packages that show something to gonum. Nothing else depends on it,
// except the benchmarks, whose tests compare with it.
var views = []string{"/vector/vectormat", "/transform/transformmat"}

// forbidden returns what a package of the root module may not even depend on
// indirectly.
func forbidden(room string) []string {
	list := []string{"github.com/prometheus/", "github.com/NVIDIA/"}
	if !slices.Contains(views, room) {
		list = append(list, "gonum.org/")
	}
	if room == "/quota/internal/book" {
		list = append(list, module+"/vector")
	}
	if strings.HasPrefix(room, "/vector/") || room == "/vector" || room == "/internal/kernel" || room == "/quota/internal/book" {
		list = append(list, "k8s.io/", "sigs.k8s.io/")
	}
	return list
}

type listedPackage struct {
	ImportPath string
	Standard   bool
	Imports    []string
	Deps       []string
	CgoFiles   []string
}

func TestImportDirection(t *testing.T) {
	packages := listPackages(t, ".", nil)
	if len(packages) < 10 {
		t.Fatalf("go list found %d packages only", len(packages))
	}
	for _, p := range packages {
		room, isOurs := strings.CutPrefix(p.ImportPath, module)
		if !isOurs {
			t.Fatalf("package %s is not of this module", p.ImportPath)
		}
		allowed, known := rooms[room]
		if !known {
			t.Errorf("package %s has no room: give it a line in this table", p.ImportPath)
			continue
		}
		for _, path := range p.Imports {
			if isStandard(path) || slices.ContainsFunc(allowed, func(rule string) bool { return admits(rule, path) }) {
				continue
			}
			t.Errorf("package %s may not import %s", p.ImportPath, path)
		}
		for _, path := range p.Deps {
			if startsWithAny(path, forbidden(room)) {
				t.Errorf("package %s may not depend on %s", p.ImportPath, path)
			}
		}
	}
}

// TestOwners reads every file of the repository, in whatever module it is and for
// whatever system.
func TestOwners(t *testing.T) {
	files, found := token.NewFileSet(), map[string]int{}
	err := filepath.WalkDir(".", func(path string, entry fs.DirEntry, err error) error {
		if err != nil || entry.IsDir() || filepath.Ext(path) != ".go" {
			return err
		}
		file, err := parser.ParseFile(files, path, nil, parser.ImportsOnly)
		if err != nil {
			return err
		}
		for _, spec := range file.Imports {
			imported := strings.Trim(spec.Path.Value, `"`)
			for prefix, folders := range owners {
				if imported != prefix && !(strings.HasSuffix(prefix, "/") && strings.HasPrefix(imported, prefix)) {
					continue
				}
				found[prefix]++
				if !slices.ContainsFunc(folders, func(folder string) bool {
					return strings.HasPrefix(filepath.ToSlash(path), folder+"/")
				}) {
					t.Errorf("%s may not import %s", path, imported)
				}
			}
		}
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
	if found["gonum.org/v1/gonum/"] == 0 {
		t.Error("the views are not found")
	}
}

// TestNoCgo: what the two commands of the README build needs no C compiler. The
// standard library has packages with cgo, and does without it.
func TestNoCgo(t *testing.T) {
	for _, dir := range []string{".", "examples"} {
		for _, p := range listPackages(t, dir, workspace, "-deps", "-test") {
			if !p.Standard && len(p.CgoFiles) > 0 {
				t.Errorf("%s needs %s, which uses cgo: %v", dir, p.ImportPath, p.CgoFiles)
			}
		}
	}
}

func startsWithAny(path string, prefixes []string) bool {
	return slices.ContainsFunc(prefixes, func(prefix string) bool { return strings.HasPrefix(path, prefix) })
}

// admits reports whether a rule of rooms lets a package import path.
func admits(rule, path string) bool {
	if parent, ok := strings.CutSuffix(rule, "/..."); ok {
		return path == parent || strings.HasPrefix(path, parent+"/")
	}
	return rule == path
}

// isStandard reports whether path is of the standard library, whose paths have
// no dot in their first element.
func isStandard(path string) bool {
	first, _, _ := strings.Cut(path, "/")
	return !strings.Contains(first, ".")
}

// workspace is the environment in which every module of it is found, whatever the
// tests run with.
var workspace = []string{"GOWORK=", "GOFLAGS="}

// listPackages returns what go list says in a folder of the repository. A module by
// itself, as the module cache has it, lacks the folders of the others.
func listPackages(t *testing.T, dir string, environment []string, flags ...string) []listedPackage {
	t.Helper()
	if _, err := os.Stat(dir); err != nil {
		t.Skipf("this is not the whole repository: %v", err)
	}
	fields := "-json=ImportPath,Standard,Imports,Deps,CgoFiles"
	cmd := exec.Command("go", append(append([]string{"list", fields}, flags...), "./...")...)
	cmd.Dir = dir
	cmd.Env = append(append(cmd.Environ(), "CGO_ENABLED=1"), environment...) // without cgo no file counts as one
	out, err := cmd.Output()
	if err != nil {
		var exit *exec.ExitError
		if errors.As(err, &exit) {
			t.Fatalf("go list: %v\n%s", err, exit.Stderr)
		}
		t.Skipf("the import rules need the go command: %v", err)
	}
	var packages []listedPackage
	for dec := json.NewDecoder(strings.NewReader(string(out))); ; {
		var p listedPackage
		if err := dec.Decode(&p); errors.Is(err, io.EOF) {
			return packages
		} else if err != nil {
			t.Fatal(err)
		}
		packages = append(packages, p)
	}
}
