// Command playground starts a control plane on the loopback interface with nodes,
// and pods where wanted, and prints which pod is bound where and what is refused,
// until Ctrl-C.
//
//	GOWORK=off go -C examples/kubescheduler run ./cmd/playground
package main

import (
	"context"
	"errors"
	"flag"
	"fmt"
	"io"
	"log"
	"os"
	"os/signal"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"syscall"

	corev1 "k8s.io/api/core/v1"
	eventsv1 "k8s.io/api/events/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/client-go/informers"
	"k8s.io/client-go/kubernetes"
	"k8s.io/client-go/tools/cache"

	"github.com/resvec/resvec/examples/kubescheduler/internal/controlplane"
	"github.com/resvec/resvec/examples/kubescheduler/internal/sample"
)

// options are what the flags say.
type options struct {
	nodes, pods      int
	kubernetes       string
	binaries, folder string
}

func main() {
	var o options
	flag.IntVar(&o.nodes, "nodes", 20, "how many nodes there are")
	flag.IntVar(&o.pods, "pods", 0, "how many pods are submitted, and a few more that are refused; 0 for none at all")
	flag.StringVar(&o.kubernetes, "kubernetes", controlplane.Minors[0], "the minor version of Kubernetes: "+strings.Join(controlplane.Minors, " or "))
	flag.StringVar(&o.binaries, "binaries", "", "the folder for the commands, which are built the first time; the default is in the user's cache")
	flag.StringVar(&o.folder, "folder", "", "a folder to keep for data, logs and the kubeconfig, and to go on with; the default is a new one that is removed")
	flag.Usage = func() {
		fmt.Fprint(flag.CommandLine.Output(), `usage: playground [flags]

A control plane with nodes and pods on this machine, until Ctrl-C:

	GOWORK=off go -C examples/kubescheduler run ./cmd/playground -nodes 100 -pods 50

One that keeps its data, to go on with:

	GOWORK=off go -C examples/kubescheduler run ./cmd/playground -folder /tmp/cluster -binaries /tmp/commands

The exit status is 1 when something fails and 2 for wrong flags.

`)
		flag.PrintDefaults()
	}
	log.SetFlags(0)
	log.SetPrefix("playground: ")
	flag.Parse()
	if err := o.validate(flag.Args()); err != nil {
		fmt.Fprintln(os.Stderr, "playground:", err, "(-help lists the flags)")
		os.Exit(2)
	}
	ctx, release := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
	defer release()
	if err := run(ctx, o, os.Stdout); err != nil {
		log.Fatal(err)
	}
}

// validate says what is wrong with the command line.
func (o *options) validate(arguments []string) error {
	switch {
	case len(arguments) > 0:
		return fmt.Errorf("unexpected argument %q", arguments[0])
	case o.nodes < 0:
		return fmt.Errorf("-nodes: got %d, want 0 or more", o.nodes)
	case o.pods < 0:
		return fmt.Errorf("-pods: got %d, want 0 or more", o.pods)
	case !slices.Contains(controlplane.Minors, o.kubernetes):
		return fmt.Errorf("-kubernetes: got %q, want %s", o.kubernetes, strings.Join(controlplane.Minors, " or "))
	}
	return nil
}

func run(ctx context.Context, o options, out io.Writer) (err error) {
	if o.binaries == "" {
		if o.binaries, err = controlplane.DefaultBinaries(o.kubernetes); err != nil {
			return err
		}
	}
	if o.folder == "" {
		if o.folder, err = os.MkdirTemp("", "resvec"); err != nil {
			return err
		}
		defer os.RemoveAll(o.folder)
	} else if o.folder, err = filepath.Abs(o.folder); err != nil {
		return err
	}
	fmt.Fprintf(out, "Building the commands in %s. The first time this takes minutes.\n", o.binaries)
	if err := controlplane.Build(ctx, o.kubernetes, o.binaries, os.Stderr); err != nil {
		return unlessInterrupted(ctx, err)
	}
	plane, err := controlplane.Start(ctx, o.binaries, o.folder, controlplane.Options{})
	if err != nil {
		return unlessInterrupted(ctx, err)
	}
	defer func() {
		fmt.Fprintln(out, "Stopping.")
		err = errors.Join(err, plane.Stop())
	}()
	if err := play(ctx, plane, o, out); err != nil {
		return unlessInterrupted(ctx, err)
	}
	select {
	case <-ctx.Done():
		return nil
	case err := <-plane.Failed():
		return err
	}
}

// unlessInterrupted returns no error once Ctrl-C was pressed.
func unlessInterrupted(ctx context.Context, err error) error {
	if ctx.Err() != nil {
		return nil
	}
	return err
}

// play makes the objects and says how to see them.
func play(ctx context.Context, plane *controlplane.ControlPlane, o options, out io.Writer) error {
	config, err := plane.Client()
	if err != nil {
		return err
	}
	client, err := kubernetes.NewForConfig(config)
	if err != nil {
		return err
	}
	fmt.Fprintf(out, `The API server is at %s. In another terminal:

  export KUBECONFIG=%s
  kubectl get pods -o wide                                         # which pod is where
  kubectl get events --field-selector reason=ResourcesRefused      # what was refused, with amounts
  kubectl get events --field-selector reason=FailedScheduling

Logs are in %s. Ctrl-C stops everything.

`, plane.URL, plane.Kubeconfig, filepath.Join(o.folder, "logs"))
	report(ctx, client, out)
	if err := createAll(ctx, client.SchedulingV1().PriorityClasses().Create, sample.PriorityClasses()); err != nil {
		return err
	}
	if err := createAll(ctx, client.CoreV1().Nodes().Create, sample.Nodes(o.nodes)); err != nil {
		return err
	}
	if o.pods == 0 {
		return nil
	}
	return createAll(ctx, client.CoreV1().Pods("default").Create, append(sample.Pods(o.pods), sample.Refused()...))
}

// createAll makes the objects that are not there yet: a folder that was kept has
// the last time's.
func createAll[T any](ctx context.Context, create func(context.Context, T, metav1.CreateOptions) (T, error), objects []T) error {
	for _, object := range objects {
		if _, err := create(ctx, object, metav1.CreateOptions{}); err != nil && !apierrors.IsAlreadyExists(err) {
			return err
		}
	}
	return nil
}

// report prints bindings and refusals as they happen.
func report(ctx context.Context, client kubernetes.Interface, out io.Writer) {
	var mu sync.Mutex
	line := func(what string, about, text string) {
		mu.Lock()
		defer mu.Unlock()
		fmt.Fprintf(out, "%-9s %-24s %s\n", what, about, text)
	}
	factory := informers.NewSharedInformerFactory(client, 0)
	// An error would mean that the informer has ended, before it was started.
	_, _ = factory.Core().V1().Pods().Informer().AddEventHandler(cache.ResourceEventHandlerFuncs{
		UpdateFunc: func(before, after any) {
			if old, pod := before.(*corev1.Pod), after.(*corev1.Pod); old.Spec.NodeName != pod.Spec.NodeName {
				line("bound", pod.Namespace+"/"+pod.Name, pod.Spec.NodeName)
			}
		},
		DeleteFunc: func(obj any) {
			if pod, ok := obj.(*corev1.Pod); ok {
				line("deleted", pod.Namespace+"/"+pod.Name, "")
			}
		},
	})
	_, _ = factory.Events().V1().Events().Informer().AddEventHandler(cache.ResourceEventHandlerFuncs{
		AddFunc: func(obj any) {
			if e := obj.(*eventsv1.Event); e.Reason == "ResourcesRefused" || e.Reason == "Preempted" {
				line(map[string]string{"ResourcesRefused": "refused", "Preempted": "preempted"}[e.Reason], e.Regarding.Namespace+"/"+e.Regarding.Name, e.Note)
			}
		},
	})
	factory.Start(ctx.Done())
}
