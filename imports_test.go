package resvec_test

import (
	"encoding/json"
	"errors"
	"io"
	"os/exec"
	"slices"
	"strings"
	"testing"
)

const module = "github.com/resvec/resvec"

// rooms says what each package of the module may import besides the standard
// library; a trailing "/..." admits everything below. Imports run downward
// only: internal/kernel, vector, vectormap, and what stands on them. A new
// package needs a line here.
var rooms = map[string][]string{
	"":                 {},
	"/internal/kernel": {"golang.org/x/sys/cpu"},
	"/internal/document": {
		"go.yaml.in/yaml/v3",
		"k8s.io/apimachinery/...",
	},
	"/internal/fieldpath": {},
	"/internal/quantity": {
		"gopkg.in/inf.v0",
		"k8s.io/apimachinery/pkg/api/resource",
	},
	"/internal/testkit": {
		module + "/internal/kernel",
		"golang.org/x/sys/...",
	},
	"/vector": {
		module + "/internal/kernel",
	},
	"/vector/vectormat": {
		module + "/vector",
		"gonum.org/v1/gonum/...",
	},
	"/vectormap": {
		module + "/internal/fieldpath",
		module + "/internal/kernel",
		module + "/internal/quantity",
		module + "/vector",
		"k8s.io/api/...",
		"k8s.io/apimachinery/...",
		"k8s.io/component-helpers/resource",
	},
	"/scoring": {
		module + "/internal/document",
		module + "/internal/fieldpath",
		module + "/internal/kernel",
		module + "/vector",
		module + "/vectormap",
		"k8s.io/apimachinery/...",
	},
	"/transform": {
		module + "/internal/document",
		module + "/internal/kernel",
		module + "/internal/quantity",
		module + "/vector",
		module + "/vectormap",
		"gonum.org/v1/gonum/mat",
		"gopkg.in/inf.v0",
		"k8s.io/api/...",
		"k8s.io/apimachinery/...",
		"sigs.k8s.io/yaml",
	},
	"/device": {
		module + "/internal/document",
		module + "/internal/fieldpath",
		module + "/internal/kernel",
		module + "/internal/quantity",
		module + "/scoring",
		module + "/vector",
		module + "/vectormap",
		"k8s.io/api/...",
		"k8s.io/apimachinery/...",
	},
	"/quota": {
		module + "/device",
		module + "/internal/document",
		module + "/internal/kernel",
		module + "/vector",
		module + "/vectormap",
		"k8s.io/api/...",
		"k8s.io/apimachinery/...",
	},
	"/quota/quotametrics": {
		module + "/quota",
		"github.com/prometheus/client_golang/prometheus",
	},
	"/benchmarks": {},
}

// forbidden lists what a package may not even depend on indirectly.
var forbidden = map[string][]string{
	"/vector":           {"k8s.io/", "sigs.k8s.io/", "gonum.org/", "github.com/prometheus/"},
	"/vector/vectormat": {"k8s.io/", "sigs.k8s.io/", "github.com/prometheus/"},
	"/vectormap":        {"gonum.org/", "github.com/prometheus/"},
	"/scoring":          {"gonum.org/", "github.com/prometheus/"},
	"/transform":        {"github.com/prometheus/"},
	"/device":           {"gonum.org/", "github.com/prometheus/", "github.com/NVIDIA/"},
	"/quota":            {"gonum.org/", "github.com/prometheus/", "github.com/NVIDIA/"},
}

type listedPackage struct {
	ImportPath string
	Imports    []string
	Deps       []string
	CgoFiles   []string
}

func TestImportDirection(t *testing.T) {
	for _, p := range listPackages(t) {
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
			for _, prefix := range forbidden[room] {
				if strings.HasPrefix(path, prefix) {
					t.Errorf("package %s may not depend on %s", p.ImportPath, path)
				}
			}
		}
		if len(p.CgoFiles) > 0 {
			t.Errorf("package %s uses cgo: %v", p.ImportPath, p.CgoFiles)
		}
	}
}

func TestAdmits(t *testing.T) {
	for _, c := range []struct {
		rule, path string
		want       bool
	}{
		{"k8s.io/api/...", "k8s.io/api/core/v1", true},
		{"k8s.io/api/...", "k8s.io/api", true},
		{"k8s.io/api/...", "k8s.io/apimachinery/pkg/labels", false},
		{"golang.org/x/sys/cpu", "golang.org/x/sys/cpu", true},
		{"golang.org/x/sys/cpu", "golang.org/x/sys/...", false},
	} {
		if got := admits(c.rule, c.path); got != c.want {
			t.Errorf("admits(%q, %q) = %v", c.rule, c.path, got)
		}
	}
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

// listPackages returns every package of the module.
func listPackages(t *testing.T) []listedPackage {
	t.Helper()
	cmd := exec.Command("go", "list", "-json=ImportPath,Imports,Deps,CgoFiles", module+"/...")
	cmd.Env = append(cmd.Environ(), "GOWORK=off", "CGO_ENABLED=1") // without cgo no file counts as one
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
			break
		} else if err != nil {
			t.Fatal(err)
		}
		packages = append(packages, p)
	}
	if len(packages) < 4 {
		t.Fatalf("go list found %d packages only", len(packages))
	}
	return packages
}
