// Command release prepares a release, and checks that what is committed can be
// installed once it is released:
//
//	GOWORK=off go -C internal/release run . check
//	GOWORK=off go -C internal/release run . prepare v0.2.0
//
// The exit status is 1 when something fails and 2 for wrong arguments.
package main

import (
	"errors"
	"flag"
	"fmt"
	"log"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"time"

	"golang.org/x/mod/modfile"
	"golang.org/x/mod/module"
)

// published are the folders of the modules that users get.
var published = []string{".", "device/nvml", "quota/quotametrics", "examples/kubescheduler/resvecfit"}

const rootModule = "github.com/resvec/resvec"

func main() {
	log.SetFlags(0)
	log.SetPrefix("release: ")
	flag.Usage = func() {
		fmt.Fprint(flag.CommandLine.Output(), `usage: release check, or: release prepare VERSION

Check that what is committed can be installed, which takes minutes:

    GOWORK=off go -C internal/release run . check

Set what the modules require of each other, and say what is left to do:

    GOWORK=off go -C internal/release run . prepare v0.2.0

The exit status is 1 when that can't be done and 2 for wrong arguments.
`)
	}
	flag.Parse()
	err := run(flag.Args())
	if errors.Is(err, errUsage) {
		fmt.Fprintf(os.Stderr, "release: %v (-help says more)\n", err)
		os.Exit(2)
	}
	if err != nil {
		log.Fatal(err)
	}
}

var errUsage = errors.New("want: check, or: prepare VERSION")

func run(args []string) error {
	if !(len(args) == 1 && args[0] == "check" || len(args) == 2 && args[0] == "prepare") {
		return errUsage
	}
	root, err := output(".", nil, "git", "rev-parse", "--show-toplevel")
	if err != nil {
		return err
	}
	if args[0] == "check" {
		return check(root)
	}
	return prepare(root, args[1], time.Now(), os.Stdout)
}

// modulePath returns the path of the module in a folder.
func modulePath(dir string) string {
	if dir == "." {
		return rootModule
	}
	return rootModule + "/" + dir
}

// tag returns the tag that releases a version of the module in a folder.
func tag(dir, version string) string {
	if dir == "." {
		return version
	}
	return dir + "/" + version
}

// isOurs reports whether a path is of a module of this repository.
func isOurs(path string) bool { return path == rootModule || strings.HasPrefix(path, rootModule+"/") }

// modFiles returns the go.mod of every module of the repository, by its folder.
func modFiles(root string) (map[string]*modfile.File, error) {
	list, err := output(root, nil, "git", "ls-files", "--", "go.mod", "*/go.mod")
	if err != nil {
		return nil, err
	}
	files := map[string]*modfile.File{}
	for name := range strings.Lines(list) {
		name = strings.TrimSpace(name)
		text, err := os.ReadFile(filepath.Join(root, name))
		if err != nil {
			return nil, err
		}
		file, err := modfile.Parse(name, text, nil)
		if err != nil {
			return nil, err
		}
		files[filepath.ToSlash(filepath.Dir(name))] = file
	}
	return files, nil
}

// comingVersion returns the version that all modules require of each other.
func comingVersion(files map[string]*modfile.File) (string, error) {
	version := ""
	for dir, file := range files {
		for _, r := range file.Require {
			switch {
			case !isOurs(r.Mod.Path):
			case version != "" && r.Mod.Version != version:
				return "", fmt.Errorf("%s/go.mod requires %s %s, another one %s", dir, r.Mod.Path, r.Mod.Version, version)
			default:
				version = r.Mod.Version
			}
		}
	}
	if version == "" {
		return "", errors.New("no module requires another one")
	}
	return version, module.Check(rootModule, version)
}

// output runs a command in a folder and returns what it prints, without the end of
// the line. Its error holds what it printed as errors.
func output(dir string, env []string, name string, args ...string) (string, error) {
	cmd := exec.Command(name, args...)
	cmd.Dir, cmd.Env = dir, env
	var errText strings.Builder
	cmd.Stderr = &errText
	out, err := cmd.Output()
	if err != nil {
		return "", fmt.Errorf("%s %s: %w\n%s%s", name, strings.Join(args, " "), err, out, errText.String())
	}
	return strings.TrimRight(string(out), "\n"), nil
}
