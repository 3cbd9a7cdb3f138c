package controlplane

import (
	"context"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
)

// module is the module that has the commands.
const module = "github.com/resvec/resvec/examples/kubescheduler"

// DefaultBinaries returns the folder where the commands are kept from one time to
// the next.
func DefaultBinaries() (string, error) {
	cache, err := os.UserCacheDir()
	if err != nil {
		return "", err
	}
	return filepath.Join(cache, "resvec", "kubescheduler"), nil
}

// Build builds the commands of a control plane into a folder: etcd, kube-apiserver
// and kubescheduler, and more of the module where named, such as cmd/playground. It
// has to be called somewhere in the module. The first time it takes minutes; what is
// up to date is left as it is.
func Build(ctx context.Context, folder string, output io.Writer, more ...string) error {
	if err := os.MkdirAll(folder, 0o755); err != nil {
		return err
	}
	build := exec.CommandContext(ctx, "go", "build", "-ldflags=-s -w", "-o", folder+string(filepath.Separator),
		module, module+"/cmd/etcd", module+"/cmd/kube-apiserver")
	for _, name := range more {
		build.Args = append(build.Args, module+"/"+name)
	}
	build.Env = append(os.Environ(), "GOWORK=off")
	build.Stdout, build.Stderr = output, output
	build.Cancel = func() error { return build.Process.Signal(os.Interrupt) }
	if err := build.Run(); err != nil {
		return fmt.Errorf("go build: %w", err)
	}
	return nil
}
