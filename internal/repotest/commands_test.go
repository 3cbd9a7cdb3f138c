package repotest

import (
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

// notRun are the commands of the documents that nothing runs as they are written. They
// are tried without effect: with -n, or with --help after their flags.
var notRun = []string{
	// Minutes of measuring. The script runs the benchmarks of ./benchmarks and ./quota once.
	"go test -run '^$' -bench 'Allocatable$' -benchtime 6000x -count 3 -cpu 1 ./quota",
	"go test -run '^$' -bench 'MIGPlace|InventoryLabels|InventorySlices' -benchtime 6x -count 4 ./benchmarks",
	"go test -run '^$' -bench '^BenchmarkDeviceScoreRatio$' -benchtime 20x -count 3 ./benchmarks",
	"go test -run '^$' -bench '^BenchmarkFit$' -count 10 ./benchmarks | tee fit.txt && benchstat -col /impl fit.txt",
	"go test -run '^$' -bench AllocatableBatch -benchtime 6000x -count 4 -cpu 1 ./quota",
	"go test -run '^$' -bench EnqueueableBatch -benchtime 20x -count 5 ./quota",
	"go test -run '^$' -bench ProofRatio -benchtime 20x ./benchmarks",
	"go test -run '^$' -bench 'Replay/policy' -benchtime 2x ./examples/replay",
	"go test -run '^$' -bench 'Replay/policy' -benchtime 5x ./examples/replay",
	"go test -run '^$' -bench Replay/default -benchtime 5x ./examples/replay",
	"make bench",
	"make bench-peers",
	// The same of the modules outside of the workspace.
	"GOWORK=off go -C examples/kubescheduler test -run '^$' -bench Bound -benchtime 40x -count 5 .",
	"GOWORK=off go -C examples/kubescheduler test -run '^$' -bench Placement -benchtime 3x .",
	"GOWORK=off go -C examples/kubescheduler test -run '^$' -bench SchedulePod -benchtime 40x -count 5 .",
	"GOWORK=off go -C examples/kubescheduler test -run '^$' -bench VisitPercent -benchtime 30x -count 3 .",
	// Tests that the script runs in another way: in the module's own folder, in parts, with fewer cases.
	"GOWORK=off go -C benchmarks/peers/k35 test ./...",
	"GOWORK=off go -C benchmarks/peers/k35 test -run Solve -v ./...",
	"GOWORK=off go -C examples/kubescheduler test ./...",
	"GOWORK=off go -C examples/kubescheduler test -timeout 30m ./e2e",
	"GOWORK=off go -C examples/kubescheduler test .",
	"GOWORK=off go -C examples/kubescheduler/resvecfit test ./...",
	"RESVEC_QUOTIENTS=1000000000 go test -run TestQuotients ./internal/kernel -timeout 0",
	"go test -short ./... ./examples/...",
	"make check",
	"make fuzz PKG=./vector TARGET=FuzzFit TIME=1m",
	"make mutants",
	"make peers",
	// They run until Ctrl-C.
	"GOWORK=off go -C examples/kubescheduler run ./cmd/playground",
	"GOWORK=off go -C examples/kubescheduler run ./cmd/playground -pods 50",
	// The reader's own files, cluster or version.
	"GOWORK=off go -C examples/kubescheduler run . --config scheduler.yaml --kubeconfig ~/.kube/config",
	"GOWORK=off go get -modfile=.ci/newest.mod MODULE@VERSION",
	"go run ./examples/replay -nodes nodes.csv -pods pods.csv -check",
	"go run ./examples/whatif -snapshot cluster.yaml -add m6i.4xlarge=3 -bindings",
	"go run ./examples/whatif -snapshot cluster.yaml -pending new-pods.yaml",
	"go run ./examples/whatif -snapshot cluster.yaml -topology example.com/block,example.com/rack",
	"kubectl get nodes,pods -A -o json | go run ./examples/whatif -snapshot -",
	"make release VERSION=v0.2.0",
}

// TestCommands checks every command of the documents. Each runs as it is written: as a
// line of .ci/run, in the release check, which gets packages as the documents do, or in
// this test, when RESVEC_COMMANDS is set, as it is in .ci/run.
func TestCommands(t *testing.T) {
	script := read(t, ".ci/run")
	run := os.Getenv("RESVEC_COMMANDS") != ""
	unused := slices.Clone(notRun)
	seen := map[string]bool{}
	for _, document := range documentsOf(t) {
		for _, command := range commandsOf(read(t, document)) {
			if seen[command] {
				continue
			}
			seen[command] = true
			unused = slices.DeleteFunc(unused, func(listed string) bool { return listed == command })
			if fault := fault(t, command); fault != "" {
				t.Errorf("%s: %s: %s", document, command, fault)
			}
			line := regexp.MustCompile(`(?m)(^|[\t (])` + regexp.QuoteMeta(command) + `($| [>|]|\))`)
			switch listed := slices.Contains(notRun, command); {
			case line.MatchString(script) || releaseGets.MatchString(command):
				if listed {
					t.Errorf("%s: %s: listed, but run", document, command)
				}
			case run && listed:
				if dry := dryRun(command); dry != "" {
					shell(t, document, dry)
				}
			case run:
				shell(t, document, command)
			}
		}
	}
	if len(unused) > 0 {
		t.Errorf("no document has the commands %q", unused)
	}
}

// shell runs a command of a document.
func shell(t *testing.T, document, command string) {
	start := time.Now()
	program := exec.Command("sh", "-ec", command)
	program.Env = append(os.Environ(), "RESVEC_COMMANDS=")
	if strings.HasPrefix(command, "GOWORK=off ") {
		// The settings with which .ci/run compiles Kubernetes: others take minutes again.
		flags := os.Getenv("GOFLAGS") + " -trimpath"
		program.Env = append(slices.DeleteFunc(program.Env, isCgoFlags), "GOFLAGS="+strings.TrimSpace(flags))
	}
	out, err := program.CombinedOutput()
	if err != nil {
		t.Errorf("%s: %s: %v\n%s", document, command, err, out)
	}
	t.Logf("%5.1f s  %s", time.Since(start).Seconds(), command)
}

func isCgoFlags(variable string) bool { return strings.HasPrefix(variable, "CGO_CFLAGS=") }

// documentsOf returns the documents of the repository but the changelog.
func documentsOf(t *testing.T) []string {
	documents := []string{"README.md", "CONTRIBUTING.md", "SECURITY.md"}
	for _, pattern := range []string{"docs/*.md", "examples/*/README.md"} {
		found, err := filepath.Glob(pattern)
		if err != nil {
			t.Fatal(err)
		}
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
	goFolder   = regexp.MustCompile(`^go -C (\S+)`)
	goPackage  = regexp.MustCompile(`\s\.(/[\w/]*)?(\.\.\.)?(?:\s|$)`)
	pattern    = regexp.MustCompile(`\s-(?:run|bench|fuzz) (\S+)`)
	testFunc   = regexp.MustCompile(`(?m)^func ((?:Test|Benchmark|Fuzz|Example)\w*)\(`)
)

// fault says what a command names that does not exist: a target, a package, or a pattern
// that matches no test or benchmark.
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
		for _, want := range pattern.FindAllStringSubmatch(program, -1) {
			first, _, _ := strings.Cut(strings.Trim(want[1], "'"), "/")
			if first != "^$" && !slices.ContainsFunc(functions, regexp.MustCompile(first).MatchString) {
				return "no function matches " + want[1]
			}
		}
	}
	return ""
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

// dryRun returns a command that does nothing but fail where a flag or a package is
// wrong: with -n, or with --help after the flags.
func dryRun(command string) string {
	var all []string
	for _, part := range between.Split(command, -1) {
		program := variables.ReplaceAllString(part, "")
		switch {
		case strings.HasPrefix(program, "make "):
			all = append(all, strings.Replace(part, "make ", "make -n ", 1))
		case strings.HasPrefix(program, "go ") && strings.Contains(part, " run "):
			all = append(all, part+" --help")
		case strings.HasPrefix(program, "go ") && strings.Contains(part, " test "):
			all = append(all, strings.Replace(part, " test ", " test -n ", 1))
		}
	}
	return strings.Join(all, " && ")
}

func TestCommandsOf(t *testing.T) {
	text := "Run `make\nbench`, not `vector.Fit` or `GOWORK=off`, and `A=b go -C dir test .`.\n" +
		"```sh\nmake peers   # all\n\n$PROGRAM -x\n```\n```console\n$ make e2e\n2 faults\n```\n```go\nmake(x)\n```\n"
	want := []string{"make peers", "$PROGRAM -x", "make e2e", "make bench", "A=b go -C dir test ."}
	if got := commandsOf(text); !slices.Equal(got, want) {
		t.Errorf("%q", got)
	}
	for command, ok := range map[string]bool{
		"make bench":          true,
		"make benches":        false,
		"go run ./examples/a": false,
		"A=b go -C examples/kubescheduler test ./e2e":              true,
		"A=b go -C examples/kubescheduler test ./e3e":              false,
		"go test -run '^$' -bench '^BenchmarkFit$/a' ./benchmarks": true,
		"go test -run '^$' -bench '^BenchmarkFits$' ./benchmarks":  false,
		"go test -run BenchmarkFit ./quota ./examples/...":         false,
		"go test -fuzz ^FuzzFit$ ./quota ./vector":                 true,
		"kubectl get nodes | go run ./nowhere -snapshot -":         false,
	} {
		if got := fault(t, command); (got == "") != ok {
			t.Errorf("%s: %q", command, got)
		}
	}
	for command, want := range map[string]string{
		"A=b make bench": "A=b make -n bench",
		"kubectl get nodes | A=b go -C dir run . -x -": "A=b go -C dir run . -x - --help",
		"go test -bench 'a|b' . | tee x && make peers": "go test -n -bench 'a|b' . && make -n peers",
		"go get x": "",
	} {
		if got := dryRun(command); got != want {
			t.Errorf("%s: %s", command, got)
		}
	}
}
