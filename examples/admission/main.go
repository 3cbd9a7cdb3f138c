// Admission serves the card quotas of package quota over HTTP: jobs are reserved and released,
// refusals and what fits are explained, and what was answered survives the process. README.md
// shows it with curl.
//
// The exit status is 1 when something fails and 2 for wrong flags.
package main

import (
	"cmp"
	"context"
	_ "embed"
	"errors"
	"flag"
	"fmt"
	"io"
	"net"
	"net/http"
	"os"
	"os/signal"
	"syscall"
	"time"

	"github.com/resvec/resvec/examples/internal/command"
	"github.com/resvec/resvec/quota"
)

func main() {
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
	defer stop()
	os.Exit(help.Status(program(ctx, os.Args[1:], os.Stdout), os.Stderr))
}

// help is what -help prints.
var help = command.Help{
	Name:  "admission",
	About: "Serves card quotas over HTTP: see README.md. It ends, with all that it has answered on disk, on an\ninterrupt or SIGTERM.",
	Groups: []command.Group{
		{Title: "The service", Example: "-data /tmp/admission -addr localhost:8080", Flags: []string{"data", "addr", "snapshot-every"}},
		{Title: "After a fault of the disk", Example: "-data /tmp/admission -lose-changes", Flags: []string{"lose-changes"}},
		{Title: "Queues", Example: "-data /tmp/admission -queues examples/admission/queues.yaml", Flags: []string{"queues"}},
	},
}

//go:embed queues.yaml
var sampleQueues []byte

// options are what flags say.
type options struct {
	data, addr, queues string
	every              int
	loses              bool
}

func parse(args []string, stdout io.Writer) (o options, err error) {
	flags := flag.NewFlagSet("admission", flag.ContinueOnError)
	flags.StringVar(&o.data, "data", "", "the folder for what has to survive: needed, and made if it isn't there")
	flags.StringVar(&o.addr, "addr", "localhost:8080", "where to listen; port 0: any")
	flags.IntVar(&o.every, "snapshot-every", 100_000, "how many changes may be in the journal before a snapshot is made")
	flags.BoolVar(&o.loses, "lose-changes", false, "start also if the journal is missing, or has a damaged line: without it and the lines after it")
	flags.StringVar(&o.queues, "queues", "", "a file of Volcano's Queue objects, YAML or JSON; none: a sample")
	if err := help.Parse(flags, args, stdout); err != nil {
		return o, err
	}
	switch {
	case o.data == "":
		return o, command.UsageError{Err: errors.New("-data is missing")}
	case o.every < 1:
		return o, command.UsageError{Err: fmt.Errorf("-snapshot-every is %d: want 1 or more", o.every)}
	}
	return o, nil
}

// program is the program; [command.Help.Status] says which faults it has.
func program(ctx context.Context, args []string, stdout io.Writer) error {
	o, err := parse(args, stdout)
	if err != nil {
		return err
	}
	text := sampleQueues
	if o.queues != "" {
		if text, err = os.ReadFile(o.queues); err != nil {
			return err
		}
	}
	specs, err := quota.ReadQueues(text)
	if err != nil {
		return fmt.Errorf("%s: %w", cmp.Or(o.queues, "queues.yaml"), err)
	}
	s, notes, err := open(o.data, specs, o.every, o.loses)
	if err != nil {
		return err
	}
	for _, note := range notes {
		fmt.Fprintln(stdout, "note:", note)
	}
	return errors.Join(serve(ctx, s, o.addr, stdout), s.close())
}

// serve answers until the context ends, or the store has failed.
func serve(ctx context.Context, s *store, addr string, stdout io.Writer) error {
	listener, err := net.Listen("tcp", addr)
	if err != nil {
		return err
	}
	fmt.Fprintf(stdout, "listening on http://%s\n", listener.Addr())
	server := &http.Server{Handler: newHandler(s), ReadTimeout: 10 * time.Second, WriteTimeout: 30 * time.Second, IdleTimeout: time.Minute}
	failed := make(chan error, 1)
	go func() { failed <- server.Serve(listener) }()
	select {
	case err := <-failed:
		return err
	case <-s.done: // close says why
	case <-ctx.Done():
	}
	// Requests that have come get their answers: longer than the time to read one.
	last, cancel := context.WithTimeout(context.Background(), 15*time.Second)
	defer cancel()
	return server.Shutdown(last)
}
