package main

import (
	"errors"
	"fmt"
	"net/http"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"time"
)

// allowed are the licenses, by their SPDX names, under which a program with all packages may
// be given on without asking anybody.
var allowed = []string{"Apache-2.0", "BSD-2-Clause", "BSD-3-Clause", "ISC", "MIT"}

// licenses demands that each module of which a program with all packages is made has a
// license that is allowed, and prints which.
func (c *checker) licenses() error {
	packages, err := c.importable(".")
	if err != nil {
		return err
	}
	dir, err := c.program(importing(packages...))
	if err != nil {
		return err
	}
	get := []string{"get"}
	for _, name := range packages {
		get = append(get, name+"@"+c.version)
	}
	if _, err := c.run(dir, "go", get...); err != nil {
		return err
	}
	list, err := c.run(dir, "go", "list", "-deps", "-f", "{{with .Module}}{{if not .Main}}{{.Path}} {{.Dir}}{{end}}{{end}}", ".")
	if err != nil {
		return err
	}
	modules := slices.Compact(slices.Sorted(strings.Lines(list + "\n")))
	byLicense := map[string][]string{}
	for _, line := range modules {
		name, folder, found := strings.Cut(strings.TrimSpace(line), " ")
		if !found {
			continue
		}
		kinds, err := licensesOf(folder)
		if err != nil {
			return fmt.Errorf("%s: %w", name, err)
		}
		for _, kind := range kinds {
			byLicense[kind] = append(byLicense[kind], name)
		}
	}
	for _, kind := range allowed {
		if names := byLicense[kind]; len(names) > 0 {
			fmt.Printf("  %s: %s\n", kind, strings.Join(names, ", "))
		}
	}
	return nil
}

// licensesOf returns the licenses of a module, by the files at its top.
func licensesOf(folder string) (kinds []string, err error) {
	entries, err := os.ReadDir(folder)
	if err != nil {
		return nil, err
	}
	for _, entry := range entries {
		name := strings.ToUpper(entry.Name())
		if entry.IsDir() || !strings.HasPrefix(name, "LICENSE") && !strings.HasPrefix(name, "LICENCE") && !strings.HasPrefix(name, "COPYING") {
			continue
		}
		text, err := os.ReadFile(filepath.Join(folder, entry.Name()))
		if err != nil {
			return nil, err
		}
		is := licenses(string(text))
		if len(is) == 0 {
			return nil, fmt.Errorf("%s is none of %s", entry.Name(), strings.Join(allowed, ", "))
		}
		kinds = append(kinds, is...)
	}
	if len(kinds) == 0 {
		return nil, errors.New("there is no license")
	}
	slices.Sort(kinds)
	return slices.Compact(kinds), nil
}

// licenses returns the allowed licenses that a text has, and none if it has another one.
func licenses(text string) (kinds []string) {
	text = strings.ToLower(strings.Join(strings.Fields(text), " "))
	for _, other := range []string{"gnu general public", "gnu lesser", "gnu affero", "mozilla public", "eclipse public", "server side public", "business source"} {
		if strings.Contains(text, other) {
			return nil
		}
	}
	if strings.Contains(text, "apache license") && strings.Contains(text, "version 2.0") {
		kinds = append(kinds, "Apache-2.0")
	}
	if strings.Contains(text, "redistribution and use in source and binary forms") {
		if strings.Contains(text, "neither the name") || strings.Contains(text, "names of its contributors") {
			kinds = append(kinds, "BSD-3-Clause")
		} else {
			kinds = append(kinds, "BSD-2-Clause")
		}
	}
	if strings.Contains(text, "permission is hereby granted, free of charge, to any person") {
		kinds = append(kinds, "MIT")
	}
	if strings.Contains(text, "permission to use, copy, modify, and/or distribute this software") || strings.Contains(text, "permission to use, copy, modify, and distribute this software") {
		kinds = append(kinds, "ISC")
	}
	return kinds
}

const (
	govulncheck   = "golang.org/x/vuln/cmd/govulncheck@v1.9.0"
	vulnerability = "https://vuln.go.dev/index/db.json" // the database that it reads
)

// errNotChecked is what a step says that nothing here can make, and that stops no other.
var errNotChecked = errors.New("NOT CHECKED")

// vulnerabilities demands that no known vulnerability is in what the packages call. Where
// the database can't be reached it says so: whoever releases has to check elsewhere.
func (c *checker) vulnerabilities() error {
	client := http.Client{Timeout: 20 * time.Second}
	answer, err := client.Head(vulnerability)
	if err == nil {
		answer.Body.Close()
		if answer.StatusCode != http.StatusOK {
			err = errors.New(answer.Status)
		}
	}
	if err != nil {
		return fmt.Errorf("%w: the database can't be reached (%w): before a release run \"go run %s ./...\"", errNotChecked, err, govulncheck)
	}
	_, err = output(c.root, nil, "go", "run", govulncheck, "./...")
	return err
}
