package controlplane

import (
	"context"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
)

// module is the module that has the commands.
const module = "github.com/resvec/resvec/examples/kubescheduler"

// Minors are the minor versions of Kubernetes that a control plane can be built of, the
// older first.
var Minors = []string{"1.36", "1.37"}

// modfile returns the go.mod that has a minor version, by its name in the module.
func modfile(minor string) string {
	if minor == Minors[0] {
		return "go.mod"
	}
	return "kube-" + minor + ".mod"
}

// DefaultBinaries returns the folder where the commands of a minor version are kept from
// one time to the next.
func DefaultBinaries(minor string) (string, error) {
	cache, err := os.UserCacheDir()
	if err != nil {
		return "", err
	}
	return filepath.Join(cache, "resvec", "kubescheduler-"+minor), nil
}

// Build builds the commands of a control plane of a minor version into a folder: etcd,
// kube-apiserver and kubescheduler, and more of the module where named, such as
// cmd/playground. It has to be called somewhere in the module. The first time it takes
// minutes; what is up to date is left as it is.
func Build(ctx context.Context, minor, folder string, output io.Writer, more ...string) error {
	if !slices.Contains(Minors, minor) {
		return fmt.Errorf("kubernetes %s: want one of %s", minor, strings.Join(Minors, ", "))
	}
	if err := os.MkdirAll(folder, 0o755); err != nil {
		return err
	}
	folder, err := filepath.Abs(folder)
	if err != nil {
		return err
	}
	root, err := goCommand(ctx, "env", "GOMOD").Output()
	if err != nil {
		return fmt.Errorf("go env: %w", err)
	}
	build := goCommand(ctx, "build", "-modfile="+modfile(minor), "-ldflags=-s -w", "-o", folder+string(filepath.Separator),
		module, module+"/cmd/etcd", module+"/cmd/kube-apiserver")
	for _, name := range more {
		build.Args = append(build.Args, module+"/"+name)
	}
	build.Dir = filepath.Dir(strings.TrimSpace(string(root)))
	build.Stdout, build.Stderr = output, output
	if err := build.Run(); err != nil {
		return fmt.Errorf("go build: %w", err)
	}
	return nil
}

func goCommand(ctx context.Context, arguments ...string) *exec.Cmd {
	cmd := exec.CommandContext(ctx, "go", arguments...)
	cmd.Env = append(os.Environ(), "GOWORK=off")
	cmd.Cancel = func() error { return cmd.Process.Signal(os.Interrupt) }
	return cmd
}
