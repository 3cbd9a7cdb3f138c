package main

import (
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"golang.org/x/mod/modfile"
)

var day = time.Date(2030, 1, 2, 3, 4, 5, 0, time.UTC)

func TestReleased(t *testing.T) {
	for name, c := range map[string]struct{ before, after string }{
		"first":      {"# Changelog\n\n## Unreleased\n\n- a\n", "# Changelog\n\n## Unreleased\n\n## v0.2.0, 2030-01-02\n\n- a\n"},
		"later":      {"# C\n\n## Unreleased\n\n- b\n\n## v0.1.0, 2029-01-01\n\n- a\n", "# C\n\n## Unreleased\n\n## v0.2.0, 2030-01-02\n\n- b\n\n## v0.1.0, 2029-01-01\n\n- a\n"},
		"no heading": {"# Changelog\n\n- a\n", ""},
		"no entry":   {"# Changelog\n\n## Unreleased\n\n## v0.1.0, 2029-01-01\n\n- a\n", ""},
	} {
		got, err := released([]byte(c.before), "v0.2.0", day)
		if string(got) != c.after || (err != nil) != (c.after == "") {
			t.Errorf("%s: %q, %v", name, got, err)
		}
	}
}

const nestedMod = `module github.com/resvec/resvec/examples

go 1.25.0

require (
	example.com/resvec v0.1.0
	github.com/resvec/resvec v0.1.0
	github.com/resvec/resvecfit v0.1.0 // indirect
	github.com/resvec/resvec/device/nvml v0.1.0 // indirect
)

replace github.com/resvec/resvec => ../

replace example.com/resvec => example.com/resvec v0.1.5
`

func parse(t *testing.T, text string) *modfile.File {
	t.Helper()
	file, err := modfile.Parse("go.mod", []byte(text), nil)
	if err != nil {
		t.Fatal(err)
	}
	return file
}

// TestRequireOurs: nothing but the versions of this repository's modules changes.
func TestRequireOurs(t *testing.T) {
	got, err := requireOurs(parse(t, nestedMod), "v0.2.0")
	if err != nil {
		t.Fatal(err)
	}
	want := strings.ReplaceAll(nestedMod, "github.com/resvec/resvec v0.1.0", "github.com/resvec/resvec v0.2.0")
	want = strings.ReplaceAll(want, "device/nvml v0.1.0", "device/nvml v0.2.0")
	if string(got) != want {
		t.Errorf("got\n%s", got)
	}
}

func TestSchedulerMod(t *testing.T) {
	got, err := schedulerMod([]byte(nestedMod))
	if err != nil {
		t.Fatal(err)
	}
	want := `module example.com/program

go 1.25.0

require (
	example.com/resvec v0.1.0
	github.com/resvec/resvecfit v0.1.0 // indirect
)

replace example.com/resvec => example.com/resvec v0.1.5
`
	if string(got) != want {
		t.Errorf("got\n%s", got)
	}
}

func TestComingVersion(t *testing.T) {
	root := "module github.com/resvec/resvec\n"
	for name, c := range map[string]struct {
		files []string
		want  string // empty: an error
	}{
		"one":  {[]string{root, nestedMod}, "v0.1.0"},
		"two":  {[]string{root, nestedMod, "module x\nrequire github.com/resvec/resvec v0.2.0\n"}, ""},
		"none": {[]string{root}, ""},
	} {
		files := map[string]*modfile.File{}
		for i, text := range c.files {
			file, err := modfile.ParseLax("go.mod", []byte(text), nil)
			if err != nil {
				t.Fatal(err)
			}
			files[fmt.Sprint(i)] = file
		}
		got, err := comingVersion(files)
		if (err != nil) != (c.want == "") || err == nil && got != c.want {
			t.Errorf("%s: %q, %v", name, got, err)
		}
	}
}

// TestPrepare prepares releases of a small repository.
func TestPrepare(t *testing.T) {
	root := t.TempDir()
	write := func(name, text string) {
		t.Helper()
		name = filepath.Join(root, name)
		if err := os.MkdirAll(filepath.Dir(name), 0o755); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(name, []byte(text), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	git := func(args ...string) {
		t.Helper()
		args = append([]string{"-c", "user.name=a", "-c", "user.email=a@example.com"}, args...)
		if _, err := output(root, nil, "git", args...); err != nil {
			t.Fatal(err)
		}
	}
	write("go.mod", "module github.com/resvec/resvec\n")
	write("examples/go.mod", nestedMod)
	write("CHANGELOG.md", "# Changelog\n\n## Unreleased\n\n- a\n")
	git("init", "-q")
	git("add", ".")
	git("commit", "-qm", "first")

	for _, version := range []string{"", "0.1.0", "v0.1", "v2.0.0", "v0.1.0+meta", "main"} {
		if err := prepare(root, version, day, io.Discard); err == nil {
			t.Errorf("%q is a version", version)
		}
	}
	write("new", "")
	if err := prepare(root, "v0.1.0", day, io.Discard); err == nil || !strings.Contains(err.Error(), "new") {
		t.Errorf("with a file that is not committed: %v", err)
	}
	os.Remove(filepath.Join(root, "new"))

	var out strings.Builder
	if err := prepare(root, "v0.2.0", day, &out); err != nil {
		t.Fatal(err)
	}
	for _, want := range []string{"git tag v0.2.0\n", "git tag device/nvml/v0.2.0\n", "git push origin main v0.2.0 device/nvml/v0.2.0", "go get github.com/resvec/resvec/vectormap@v0.2.0\n"} {
		if !strings.Contains(out.String(), want) {
			t.Errorf("no %q in\n%s", want, &out)
		}
	}
	changed, err := output(root, nil, "git", "diff", "--stat")
	if err != nil || !strings.Contains(changed, "CHANGELOG.md") || !strings.Contains(changed, "examples/go.mod") || strings.Count(changed, "|") != 2 {
		t.Errorf("%s, %v", changed, err)
	}
	git("commit", "-qam", "release")
	git("tag", "v0.2.0")
	if err := prepare(root, "v0.2.0", day, io.Discard); err == nil || !strings.Contains(err.Error(), "there is v0.2.0 already") {
		t.Errorf("the same version again: %v", err)
	}
}

// TestGuard: what isn't of this repository comes from the proxy behind, and of what
// is none knows.
func TestGuard(t *testing.T) {
	behind := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if strings.Contains(r.URL.Path, "resvec/") {
			w.WriteHeader(http.StatusForbidden)
		}
		fmt.Fprint(w, r.URL.Path)
	}))
	defer behind.Close()
	list, err := guard("file:///cache," + behind.URL + "/go|direct,off")
	if err != nil {
		t.Fatal(err)
	}
	first, second, _ := strings.Cut(list, ",")
	if first != "file:///cache" || strings.Contains(second, ",") {
		t.Fatalf("got %q", list)
	}
	for path, want := range map[string]string{
		"/golang.org/x/sys/@v/list":                       "200 /go/golang.org/x/sys/@v/list",
		"/github.com/!n!v!i!d!i!a/go-nvml/@v/v0.1.0.info": "200 /go/github.com/!n!v!i!d!i!a/go-nvml/@v/v0.1.0.info",
		"/sumdb/sum.golang.org/supported":                 "200 /go/sumdb/sum.golang.org/supported",
		"/github.com/resvec/resvec/vector/@v/list":        "404 404 page not found\n",
		"/github.com/resvec/resvec/@latest":               "404 404 page not found\n",
		"/github.com/resvec/@v/list":                      "404 404 page not found\n",
		"/github.com/@v/list":                             "404 404 page not found\n",
	} {
		response, err := http.Get(second + path)
		if err != nil {
			t.Fatal(err)
		}
		body, err := io.ReadAll(response.Body)
		if err != nil {
			t.Fatal(err)
		}
		if got := fmt.Sprintf("%d %s", response.StatusCode, body); got != want {
			t.Errorf("%s: %s, want %s", path, got, want)
		}
	}
	if empty, err := guard("direct"); empty != "" || err != nil {
		t.Errorf("no proxy: %q, %v", empty, err)
	}
}

// TestLicenses: what a text is, and that it is none if anything in it isn't allowed.
func TestLicenses(t *testing.T) {
	const (
		apache = "Apache License\n Version 2.0, January 2004"
		bsd2   = "Redistribution and use in source and binary\nforms, with or without modification"
		bsd3   = bsd2 + "\n * Neither the name of Google Inc. nor the names of its\ncontributors"
		mit    = "Permission is hereby granted, free of charge, to any\nperson obtaining"
	)
	for text, want := range map[string]string{
		apache: "[Apache-2.0]", bsd2: "[BSD-2-Clause]", bsd3: "[BSD-3-Clause]", mit: "[MIT]", mit + "\n" + apache: "[Apache-2.0 MIT]",
		"GNU GENERAL PUBLIC LICENSE": "[]", mit + " or the Mozilla Public License": "[]", "all rights reserved": "[]",
	} {
		if got := fmt.Sprint(licenses(text)); got != want {
			t.Errorf("%q: %s, want %s", text, got, want)
		}
	}
	if kinds, err := licensesOf("../.."); err != nil || fmt.Sprint(kinds) != "[Apache-2.0]" {
		t.Error(kinds, err)
	}
	if _, err := licensesOf(t.TempDir()); err == nil {
		t.Error("a module without a license is allowed")
	}
}
