package repotest

import (
	"github.com/resvec/resvec/internal/testkit"
	"os"
	"os/exec"
	"path"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"
	"time"
)

// TestCommands checks the commands of the documents: what they name exists. When
// RESVEC_COMMANDS is set, as it is in .ci/long, it also runs those that are no lines of the
// scripts there: the README's as they are written, but for
// make bench, which takes long, and the others as [trial] says.
func TestCommands(t *testing.T) {
	scripts := read(t, ".ci/run") + read(t, ".ci/long")
	seen := map[string]bool{}
	for _, document := range documentsOf(t) {
		for _, command := range commandsOf(read(t, document)) {
			if seen[command] {
				continue
			}
			seen[command] = true
			if fault := fault(t, command); fault != "" {
				t.Errorf("%s: %s: %s", document, command, fault)
			}
			line := regexp.MustCompile(`(?m)(^|[\t (])` + regexp.QuoteMeta(command) + `($| [>|]|\))`)
			if os.Getenv("RESVEC_COMMANDS") == "" || line.MatchString(scripts) || releaseGets.MatchString(command) {
				continue
			}
			if document != "README.md" || strings.HasPrefix(command, "make bench") {
				command = trial(command)
			}
			start := time.Now()
			out, err := exec.Command("sh", "-ec", command).CombinedOutput()
			if err != nil {
				t.Errorf("%s: %s: %v\n%s", document, command, err, out)
			}
			t.Logf("%5.1f s  %s", time.Since(start).Seconds(), command)
		}
	}
}

// trial returns a command that fails where a name or a flag is wrong. It doesn't measure,
// wait for Ctrl-C, or read files that only a reader has: it runs make and go test with -n,
// and a program that serves or wants such files with --help after its flags.
func trial(command string) string {
	var all []string
	for _, part := range between.Split(command, -1) {
		switch program := variables.ReplaceAllString(part, ""); {
		case strings.HasPrefix(program, "make "):
			all = append(all, strings.Replace(part, "make ", "make -n ", 1))
		case strings.HasPrefix(program, "go ") && strings.Contains(part, " test "):
			all = append(all, strings.Replace(part, " test ", " test -n ", 1))
		case readers.MatchString(program):
			all = append(all, part+" --help")
		case !strings.Contains(part, "MODULE") && (goProgram.MatchString(program) || strings.HasPrefix(program, "for ")):
			all = append(all, part)
		}
	}
	return strings.Join(all, " && ")
}

// documentsOf returns the documents of the repository but the changelog.
func documentsOf(t *testing.T) []string {
	documents := []string{"README.md", "CONTRIBUTING.md", "SECURITY.md"}
	for _, pattern := range []string{"docs/*.md", "examples/*/README.md"} {
		found := testkit.Must(filepath.Glob(pattern))
		documents = append(documents, found...)
	}
	return documents
}

var (
	shellBlock  = regexp.MustCompile("(?ms)^```(sh|bash|console)\n(.*?)^```$")
	codeSpan    = regexp.MustCompile("`([^`]+)`")
	comment     = regexp.MustCompile(`\s+#.*`)
	isCommand   = regexp.MustCompile(`^(\w+=\S* )*(go (-C \S+ )?(build|doc|generate|get|install|list|mod|run|test|vet)|make) `)
	releaseGets = regexp.MustCompile(`^go get github\.com/resvec/resvec[\w/]*$`)
)

// commandsOf returns the commands of a document: the lines of its blocks of shell, those
// with a prompt of its blocks of a console, and what of its other code begins as a command
// of go or make.
func commandsOf(text string) []string {
	var commands []string
	for _, block := range shellBlock.FindAllStringSubmatch(text, -1) {
		for line := range strings.Lines(block[2]) {
			command, prompt := strings.CutPrefix(strings.TrimSpace(comment.ReplaceAllString(line, "")), "$ ")
			if command != "" && (prompt || block[1] != "console") {
				commands = append(commands, command)
			}
		}
	}
	for _, span := range codeSpan.FindAllStringSubmatch(fenced.ReplaceAllString(text, ""), -1) {
		if command := strings.Join(strings.Fields(span[1]), " "); isCommand.MatchString(command) {
			commands = append(commands, command)
		}
	}
	return commands
}

var (
	between    = regexp.MustCompile(` (?:\||&&) `)
	variables  = regexp.MustCompile(`^(\w+=\S* )*`)
	makeTarget = regexp.MustCompile(`^make ([\w-]+)`)
	goProgram  = regexp.MustCompile(`^go `)
	goFolder   = regexp.MustCompile(`^go -C (\S+)`)
	goPackage  = regexp.MustCompile(`\s\.(/[\w/]*)?(\.\.\.)?(?:\s|$)`)
	goRun      = regexp.MustCompile(`\srun (\.\S*)( .*)?$`)
	flagsIn    = regexp.MustCompile(`\s-(\w+)`)
	readers    = regexp.MustCompile(`^go .*run .*( -snapshot| -nodes \S+\.csv|/playground|/admission |--config)`)
	pattern    = regexp.MustCompile(`\s-(?:run|bench|fuzz) (\S+)`)
	testFunc   = regexp.MustCompile(`(?m)^func ((?:Test|Benchmark|Fuzz|Example)\w*)\(`)
)

// fault says what a command names that does not exist: a target, a package, a pattern
// that matches no test or benchmark, or a flag of a program.
func fault(t *testing.T, command string) string {
	for _, part := range between.Split(command, -1) {
		program := variables.ReplaceAllString(part, "")
		if target := makeTarget.FindStringSubmatch(program); target != nil && !strings.Contains(read(t, "Makefile"), "\n"+target[1]+":") {
			return "no target " + target[1]
		}
		if !strings.HasPrefix(program, "go ") {
			continue
		}
		folder := "."
		if in := goFolder.FindStringSubmatch(program); in != nil {
			folder = in[1]
		}
		var functions []string
		for _, named := range goPackage.FindAllStringSubmatch(strings.ReplaceAll(program, " ", "  "), -1) {
			found, err := testsIn(path.Join(folder, named[1]), named[2] != "")
			if err != nil {
				return err.Error()
			}
			functions = append(functions, found...)
		}
		if in := goRun.FindStringSubmatch(program); in != nil {
			for _, flag := range flagsIn.FindAllStringSubmatch(in[2], -1) {
				if flag[1] != "help" && !hasFlag(path.Join(folder, in[1]), flag[1]) {
					return "no flag -" + flag[1]
				}
			}
		}
		for _, want := range pattern.FindAllStringSubmatch(program, -1) {
			first, _, _ := strings.Cut(strings.Trim(want[1], "'"), "/")
			if first != "^$" && !slices.ContainsFunc(functions, regexp.MustCompile(first).MatchString) {
				return "no function matches " + want[1]
			}
		}
	}
	return ""
}

// hasFlag reports whether a program in a folder makes a flag.
func hasFlag(folder, name string) bool {
	made := regexp.MustCompile(`\bflags?\.\w+\([^"\n]*"` + name + `"`)
	files, _ := filepath.Glob(filepath.Join(folder, "*.go"))
	return slices.ContainsFunc(files, func(file string) bool {
		text, err := os.ReadFile(file)
		return err == nil && made.Match(text)
	})
}

// testsIn returns the names of the tests and benchmarks in a folder, or in all below it.
func testsIn(folder string, below bool) (names []string, err error) {
	err = filepath.WalkDir(folder, func(file string, entry os.DirEntry, err error) error {
		switch {
		case err != nil:
			return err
		case entry.IsDir() && file != folder && !below:
			return filepath.SkipDir
		case !strings.HasSuffix(file, "_test.go"):
			return nil
		}
		text, err := os.ReadFile(file)
		for _, match := range testFunc.FindAllSubmatch(text, -1) {
			names = append(names, string(match[1]))
		}
		return err
	})
	return names, err
}
