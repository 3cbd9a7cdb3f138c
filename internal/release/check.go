package main

import (
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"path"
	"path/filepath"
	"regexp"
	"slices"
	"strings"

	"golang.org/x/mod/modfile"
	"golang.org/x/mod/module"
)

// check installs the committed modules from a proxy in a folder, as users will from
// the world's, into modules of its own, and builds programs that use them. It prints
// what each package brings.
func check(root string) error {
	files, err := modFiles(root)
	if err != nil {
		return err
	}
	version, err := comingVersion(files)
	if err != nil {
		return err
	}
	scratch, err := os.MkdirTemp("", "release")
	if err != nil {
		return err
	}
	c := checker{root: root, version: version, scratch: scratch}
	defer c.clean()
	if err := c.setUp(); err != nil {
		return err
	}
	for _, step := range []struct {
		what string
		do   func() error
	}{
		{"the two blocks of the README", c.readme},
		{"the packages that the documents get", c.gets},
		{"a program for each package", c.packages},
		{"a host keeps the versions that it has", func() error { return c.host(files["."]) }},
		{"the licenses of the modules", c.licenses},
		{"known vulnerabilities", c.vulnerabilities},
		{"the example of device/nvml", c.driver},
		{"go install of its command", c.install},
		{"a scheduler with the plugin", c.scheduler},
	} {
		err := step.do()
		if errors.Is(err, errNotChecked) {
			fmt.Printf("%s %s: %v\n", version, step.what, err)
			continue
		}
		if err != nil {
			return fmt.Errorf("%s: %w", step.what, err)
		}
		fmt.Printf("%s %s: ok\n", version, step.what)
	}
	return nil
}

// checker is one check.
type checker struct {
	root, version, scratch string

	env      []string
	modules  string // the module cache
	programs int    // made so far
}

// setUp makes the proxy, and the environment of a user: settings of this machine's
// own are out of force, but for where modules come from.
func (c *checker) setUp() error {
	proxy := filepath.Join(c.scratch, "proxy")
	if err := writeProxy(c.root, proxy, c.version); err != nil {
		return err
	}
	settings, err := output(c.root, nil, "go", "env", "-json", "GOPROXY", "GOSUMDB", "GOMODCACHE", "GOCACHE")
	if err != nil {
		return err
	}
	var machine struct{ GOPROXY, GOSUMDB, GOMODCACHE, GOCACHE string }
	if err := json.Unmarshal([]byte(settings), &machine); err != nil {
		return err
	}
	others, err := guard(machine.GOPROXY)
	if err != nil {
		return err
	}
	// What this machine has already is not fetched again. What it has of this
	// repository's modules is not used, since the first proxy has them all.
	proxies := []string{"file://" + filepath.ToSlash(proxy), "file://" + filepath.ToSlash(filepath.Join(machine.GOMODCACHE, "cache", "download"))}
	if others != "" {
		proxies = append(proxies, others)
	}
	c.modules = filepath.Join(c.scratch, "modules")
	c.env = append(os.Environ(), "GOENV=off", "GOWORK=off", "GOFLAGS=", "GOTOOLCHAIN=local",
		"GOPROXY="+strings.Join(proxies, ","), "GOSUMDB="+machine.GOSUMDB, "GOPRIVATE=", "GONOPROXY=none",
		"GONOSUMDB="+rootModule+","+rootModule+"/*",
		"GOMODCACHE="+c.modules, "GOCACHE="+machine.GOCACHE)
	return nil
}

func (c *checker) clean() {
	// Folders of modules are read-only, go removes them all the same.
	output(c.scratch, c.env, "go", "clean", "-modcache")
	os.RemoveAll(c.scratch)
}

// program returns the folder of a new module, with main.go if that isn't empty.
func (c *checker) program(main string) (string, error) {
	c.programs++
	dir := filepath.Join(c.scratch, fmt.Sprintf("program-%d", c.programs))
	if err := os.Mkdir(dir, 0o755); err != nil {
		return "", err
	}
	if _, err := c.run(dir, "go", "mod", "init", "example.com/program"); err != nil {
		return "", err
	}
	if main == "" {
		return dir, nil
	}
	return dir, os.WriteFile(filepath.Join(dir, "main.go"), []byte(main), 0o644)
}

func (c *checker) run(dir, name string, args ...string) (string, error) {
	return output(dir, c.env, name, args...)
}

// build builds the program in a folder. With -trimpath what is compiled of other
// modules doesn't depend on where they lie, and is found in go's cache.
func (c *checker) build(dir, result string) error {
	_, err := c.run(dir, "go", "build", "-trimpath", "-o", result, ".")
	return err
}

// committed returns the text of a committed file.
func (c *checker) committed(name string) (string, error) {
	return output(c.root, nil, "git", "show", "HEAD:"+name)
}

var (
	shellBlock = regexp.MustCompile("(?s)```sh\n(.*?)```")
	goBlock    = regexp.MustCompile("(?s)```go\n(.*?)```")
	wantOutput = regexp.MustCompile(`(?s)\t// Output:\n(.*?)\n}`)
)

// readme runs the first block of commands of the README in an empty module, and
// builds and runs its first block of Go there.
func (c *checker) readme() error {
	text, err := c.committed("README.md")
	if err != nil {
		return err
	}
	commands, code := shellBlock.FindStringSubmatch(text), goBlock.FindStringSubmatch(text)
	if commands == nil || code == nil {
		return errors.New("the blocks are not there")
	}
	dir, err := c.program("")
	if err != nil {
		return err
	}
	if _, err := c.run(dir, "sh", "-ec", commands[1]); err != nil {
		return err
	}
	if err := os.WriteFile(filepath.Join(dir, "main.go"), []byte(code[1]), 0o644); err != nil {
		return err
	}
	if err := c.build(dir, "program"); err != nil {
		return err
	}
	got, err := c.run(dir, "./program")
	if err != nil {
		return err
	}
	want := wantOutput.FindStringSubmatch(code[1])
	if want == nil {
		return errors.New("the program doesn't say what it prints")
	}
	if want := strings.ReplaceAll(want[1], "\t// ", ""); got != want {
		return fmt.Errorf("it prints\n%s\nand not\n%s", got, want)
	}
	return nil
}

var getOurs = regexp.MustCompile(`\bgo get ` + regexp.QuoteMeta(rootModule) + `[\w/]*`)

// gets runs every go get of a package of ours that a document has, each in an empty
// module.
func (c *checker) gets() error {
	documents, err := output(c.root, nil, "git", "ls-files", "--", "*.md")
	if err != nil {
		return err
	}
	for document := range strings.Lines(documents) {
		text, err := c.committed(strings.TrimSpace(document))
		if err != nil {
			return err
		}
		for _, command := range getOurs.FindAllString(text, -1) {
			dir, err := c.program("")
			if err != nil {
				return err
			}
			if _, err := c.run(dir, "sh", "-ec", command); err != nil {
				return fmt.Errorf("%s: %s: %w", strings.TrimSpace(document), command, err)
			}
		}
	}
	return nil
}

// packages builds a program for each package that users can import, and one for all
// of the root module, each in a module of its own.
func (c *checker) packages() error {
	fmt.Printf("%-52s %8s %6s\n", "package", "modules", "MB")
	for _, dir := range published {
		names, err := c.importable(dir)
		if err != nil {
			return err
		}
		for _, name := range names {
			if err := c.use(name, name); err != nil {
				return err
			}
		}
		if dir == "." {
			if err := c.use("all of these", names...); err != nil {
				return err
			}
		}
	}
	return nil
}

// importable returns the packages of a published module that users can import, by
// path.
func (c *checker) importable(dir string) ([]string, error) {
	// The module by itself, as it is in the proxy, not the working tree.
	m := modulePath(dir)
	program, err := c.program("")
	if err != nil {
		return nil, err
	}
	if _, err := c.run(program, "go", "mod", "edit", "-require", m+"@"+c.version); err != nil {
		return nil, err
	}
	found, err := c.run(program, "go", "mod", "download", "-json", m)
	if err != nil {
		return nil, err
	}
	var at struct{ Dir string }
	if err := json.Unmarshal([]byte(found), &at); err != nil {
		return nil, err
	}
	var names []string
	err = filepath.WalkDir(at.Dir, func(file string, entry os.DirEntry, err error) error {
		if err != nil || entry.IsDir() || filepath.Ext(file) != ".go" || strings.HasSuffix(file, "_test.go") {
			return err
		}
		relative, err := filepath.Rel(at.Dir, filepath.Dir(file))
		if err != nil {
			return err
		}
		name := path.Join(m, filepath.ToSlash(relative))
		text, err := os.ReadFile(file)
		if err != nil {
			return err
		}
		elements := strings.Split(name, "/")
		if !slices.Contains(elements, "internal") && !slices.Contains(elements, "testdata") && !packageMain.Match(text) && !slices.Contains(names, name) {
			names = append(names, name)
		}
		return nil
	})
	if len(names) == 0 && err == nil {
		err = fmt.Errorf("%s has no packages", m)
	}
	return names, err
}

var packageMain = regexp.MustCompile(`(?m)^package main$`)

// use gets packages, builds a program that imports them, and prints how many modules
// it is made of and how large they are as downloaded.
func (c *checker) use(label string, names ...string) error {
	get := []string{"get"}
	for _, name := range names {
		get = append(get, name+"@"+c.version)
	}
	dir, err := c.program(importing(names...))
	if err != nil {
		return err
	}
	if _, err := c.run(dir, "go", get...); err != nil {
		return err
	}
	if err := c.build(dir, os.DevNull); err != nil {
		return err
	}
	modules, bytes, err := c.weigh(dir)
	if err != nil {
		return err
	}
	fmt.Printf("%-52s %8d %6.1f\n", strings.TrimPrefix(label, rootModule+"/"), modules, float64(bytes)/1e6)
	return nil
}

// weigh returns how many modules the program in a folder is made of, without its own,
// and the size of their archives.
func (c *checker) weigh(dir string) (modules int, bytes int64, err error) {
	list, err := c.run(dir, "go", "list", "-deps", "-json=Module", ".")
	if err != nil {
		return 0, 0, err
	}
	seen := map[module.Version]bool{}
	for decoder := json.NewDecoder(strings.NewReader(list)); ; {
		var p struct{ Module *module.Version }
		if err := decoder.Decode(&p); errors.Is(err, io.EOF) {
			return len(seen), bytes, nil
		} else if err != nil {
			return 0, 0, err
		}
		if p.Module == nil || p.Module.Version == "" || seen[*p.Module] {
			continue
		}
		seen[*p.Module] = true
		name, err := module.EscapePath(p.Module.Path)
		if err != nil {
			return 0, 0, err
		}
		archive, err := os.Stat(filepath.Join(c.modules, "cache", "download", filepath.FromSlash(name), "@v", p.Module.Version+".zip"))
		if err != nil {
			return 0, 0, err
		}
		bytes += archive.Size()
	}
}

// host adds all packages of the root module to a program that has Kubernetes in the
// version that the module requires, and demands that no module of it is raised.
func (c *checker) host(root *modfile.File) error {
	get := []string{"get"}
	for _, r := range root.Require {
		if strings.HasPrefix(r.Mod.Path, "k8s.io/") && !r.Indirect {
			get = append(get, r.Mod.String())
		}
	}
	imports := []string{"k8s.io/api/core/v1", "k8s.io/api/resource/v1", "k8s.io/component-helpers/resource"}
	packages, err := c.importable(".")
	if err != nil {
		return err
	}
	dir, err := c.program(importing(imports...))
	if err != nil {
		return err
	}
	if _, err := c.run(dir, "go", append(get, ".")...); err != nil {
		return err
	}
	before, err := c.versions(dir)
	if err != nil {
		return err
	}
	if len(before) < 10 {
		return fmt.Errorf("the host has %d modules only", len(before))
	}
	if err := os.WriteFile(filepath.Join(dir, "main.go"), []byte(importing(append(imports, packages...)...)), 0o644); err != nil {
		return err
	}
	get = []string{"get"}
	for _, name := range packages {
		get = append(get, name+"@"+c.version)
	}
	if _, err := c.run(dir, "go", get...); err != nil {
		return err
	}
	after, err := c.versions(dir)
	if err != nil {
		return err
	}
	for name, version := range before {
		if after[name] != version {
			return fmt.Errorf("%s %s becomes %s", name, version, after[name])
		}
	}
	return nil
}

// versions returns the version of each module that the program in a folder depends
// on, whether it is made of it or not.
func (c *checker) versions(dir string) (map[string]string, error) {
	list, err := c.run(dir, "go", "list", "-m", "-f", "{{.Path}} {{.Version}}", "all")
	if err != nil {
		return nil, err
	}
	versions := map[string]string{}
	for line := range strings.Lines(list) {
		name, version, _ := strings.Cut(strings.TrimSpace(line), " ")
		versions[name] = version
	}
	return versions, nil
}

// importing returns a program that imports packages and does nothing.
func importing(names ...string) string {
	var main strings.Builder
	main.WriteString("package main\n\nimport (\n")
	for _, name := range names {
		fmt.Fprintf(&main, "\t_ %q\n", name)
	}
	main.WriteString(")\n\nfunc main() {}\n")
	return main.String()
}

// driver builds the example of device/nvml as a program.
func (c *checker) driver() error {
	text, err := c.committed("device/nvml/example_test.go")
	if err != nil {
		return err
	}
	text = strings.Replace(text, "package nvml_test", "package main", 1)
	text = strings.Replace(text, "func ExampleCollect()", "func main()", 1)
	dir, err := c.program(text)
	if err != nil {
		return err
	}
	if _, err := c.run(dir, "go", "get", modulePath("device/nvml")+"@"+c.version); err != nil {
		return err
	}
	return c.build(dir, os.DevNull)
}

// install installs the command of device/nvml, which go refuses for a module that
// replaces others, and runs it.
func (c *checker) install() error {
	bin := filepath.Join(c.scratch, "bin")
	env := append(slices.Clone(c.env), "GOBIN="+bin)
	if _, err := output(c.scratch, env, "go", "install", "-trimpath", modulePath("device/nvml/cmd/inventory")+"@"+c.version); err != nil {
		return err
	}
	_, err := output(c.scratch, env, filepath.Join(bin, "inventory"), "-sample")
	return err
}

// scheduler builds examples/kubescheduler outside of the repository, with the
// requirements and replacements that it has of Kubernetes.
func (c *checker) scheduler() error {
	main, err := c.committed("examples/kubescheduler/main.go")
	if err != nil {
		return err
	}
	text, err := c.committed("examples/kubescheduler/go.mod")
	if err != nil {
		return err
	}
	mod, err := schedulerMod([]byte(text))
	if err != nil {
		return err
	}
	dir, err := c.program(main)
	if err != nil {
		return err
	}
	if err := os.WriteFile(filepath.Join(dir, "go.mod"), mod, 0o644); err != nil {
		return err
	}
	if _, err := c.run(dir, "go", "get", modulePath("examples/kubescheduler/resvecfit")+"@"+c.version, "."); err != nil {
		return err
	}
	return c.build(dir, os.DevNull)
}

// schedulerMod returns a go.mod without the modules of this repository, for
// another module.
func schedulerMod(text []byte) ([]byte, error) {
	file, err := modfile.Parse("go.mod", text, nil)
	if err != nil {
		return nil, err
	}
	if err := file.AddModuleStmt("example.com/program"); err != nil {
		return nil, err
	}
	for _, r := range slices.Clone(file.Require) {
		if isOurs(r.Mod.Path) {
			if err := file.DropRequire(r.Mod.Path); err != nil {
				return nil, err
			}
		}
	}
	for _, r := range slices.Clone(file.Replace) {
		if isOurs(r.Old.Path) {
			if err := file.DropReplace(r.Old.Path, r.Old.Version); err != nil {
				return nil, err
			}
		}
	}
	file.Cleanup()
	return file.Format()
}
