package main

import (
	"fmt"
	"io"
	"os"
	"path/filepath"
	"strings"
	"time"

	"golang.org/x/mod/modfile"
	"golang.org/x/mod/semver"
)

// prepare makes the working tree ready for the release of a version: every module
// requires that version of the others, and the changelog has a heading for it. It
// prints what is left to do.
func prepare(root, version string, now time.Time, out io.Writer) error {
	if semver.Canonical(version) != version || semver.Major(version) != "v0" && semver.Major(version) != "v1" {
		return fmt.Errorf("%q is no version such as v0.2.0: later majors need another path", version)
	}
	if changed, err := output(root, nil, "git", "status", "--porcelain"); err != nil {
		return err
	} else if changed != "" {
		return fmt.Errorf("commit or remove first:\n%s", changed)
	}
	tags, err := output(root, nil, "git", "tag", "--list", "v*")
	if err != nil {
		return err
	}
	for _, t := range strings.Fields(tags) {
		if semver.Compare(t, version) >= 0 {
			return fmt.Errorf("there is %s already", t)
		}
	}
	files, err := modFiles(root)
	if err != nil {
		return err
	}
	changes := map[string][]byte{}
	changelog := filepath.Join(root, "CHANGELOG.md")
	text, err := os.ReadFile(changelog)
	if err != nil {
		return err
	}
	if changes[changelog], err = released(text, version, now); err != nil {
		return err
	}
	for dir, file := range files {
		if changes[filepath.Join(root, dir, "go.mod")], err = requireOurs(file, version); err != nil {
			return fmt.Errorf("%s/go.mod: %w", dir, err)
		}
	}
	minors, err := output(root, nil, "git", "ls-files", "--", "*/kube-*.mod")
	if err != nil {
		return err
	}
	for _, name := range strings.Fields(minors) { // of modules that have another go.mod, too
		path := filepath.Join(root, name)
		text, err := os.ReadFile(path)
		if err != nil {
			return err
		}
		file, err := modfile.Parse(name, text, nil)
		if err != nil {
			return err
		}
		if changes[path], err = requireOurs(file, version); err != nil {
			return fmt.Errorf("%s: %w", name, err)
		}
	}
	for name, text := range changes {
		if err := os.WriteFile(name, text, 0o644); err != nil {
			return err
		}
	}
	fmt.Fprintf(out, `The modules require %[1]s of each other, and CHANGELOG.md has a heading for it.
What is left to do:

  1. read CHANGELOG.md, commit:   git commit -am 'Release %[1]s'
  2. check what is committed:     make check
  3. tag it:                      `, version)
	for i, dir := range published {
		if i > 0 {
			fmt.Fprint(out, "\n                                  ")
		}
		fmt.Fprintf(out, "git tag %s", tag(dir, version))
	}
	fmt.Fprintf(out, "\n  4. publish:                     git push origin main")
	for _, dir := range published {
		fmt.Fprintf(out, " %s", tag(dir, version))
	}
	fmt.Fprintf(out, "\n  5. try it in an empty module:   go get %s@%s\n", modulePath("vectormap"), version)
	return nil
}

// requireOurs returns a go.mod in which the modules of this repository are required
// in a version.
func requireOurs(file *modfile.File, version string) ([]byte, error) {
	for _, r := range file.Require {
		if isOurs(r.Mod.Path) {
			if err := file.AddRequire(r.Mod.Path, version); err != nil {
				return nil, err
			}
		}
	}
	return file.Format()
}

const unreleased = "\n## Unreleased\n"

// released returns a changelog with what is unreleased under the heading of a
// version.
func released(changelog []byte, version string, now time.Time) ([]byte, error) {
	before, after, found := strings.Cut(string(changelog), unreleased)
	if !found {
		return nil, fmt.Errorf("CHANGELOG.md has no heading %q", strings.TrimSpace(unreleased))
	}
	entries, _, _ := strings.Cut(after, "\n## ")
	if strings.TrimSpace(entries) == "" {
		return nil, fmt.Errorf("CHANGELOG.md has no entry for %s", version)
	}
	heading := fmt.Sprintf("\n## %s, %s\n", version, now.Format(time.DateOnly))
	return []byte(before + unreleased + heading + after), nil
}
