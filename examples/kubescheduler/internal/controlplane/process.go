package controlplane

import (
	"bytes"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"sync"
	"syscall"
	"time"
)

// grace is how long a process may take to end before it is killed.
const grace = 20 * time.Second

// process is a command that runs.
type process struct {
	name string
	cmd  *exec.Cmd
	log  string // the file with its output
	done chan struct{}
	err  error // set before done is closed
}

// launch starts a command whose output goes to a file. prepare, if not nil, may
// change the command before.
func launch(logs, path string, arguments []string, prepare func(*exec.Cmd) error) (*process, error) {
	p := &process{name: filepath.Base(path), cmd: exec.Command(path, arguments...), done: make(chan struct{})}
	p.log = filepath.Join(logs, p.name+".log")
	file, err := os.OpenFile(p.log, os.O_CREATE|os.O_WRONLY|os.O_APPEND, 0o644)
	if err != nil {
		return nil, err
	}
	defer file.Close() // the process has it
	p.cmd.Stdout, p.cmd.Stderr = file, file
	p.cmd.SysProcAttr = attributes()
	if prepare != nil {
		if err := prepare(p.cmd); err != nil {
			return nil, err
		}
	}
	if err := start(p.cmd); err != nil {
		return nil, err
	}
	go func() {
		p.err = p.cmd.Wait()
		close(p.done)
	}()
	return p, nil
}

// start starts a command in a thread that lives as long as this process: on Linux
// the kernel kills a child when the thread ends that made it, see attributes.
func start(cmd *exec.Cmd) error {
	parent.once.Do(func() {
		parent.commands, parent.results = make(chan *exec.Cmd), make(chan error)
		go func() {
			runtime.LockOSThread()
			for cmd := range parent.commands {
				parent.results <- cmd.Start()
			}
		}()
	})
	parent.mu.Lock()
	defer parent.mu.Unlock()
	parent.commands <- cmd
	return <-parent.results
}

var parent struct {
	once     sync.Once
	mu       sync.Mutex
	commands chan *exec.Cmd
	results  chan error
}

// stop has the process end, and kills it when that takes too long. It returns when
// the process is gone.
func (p *process) stop() error {
	select {
	case <-p.done:
		return nil
	default:
	}
	timer := time.AfterFunc(grace, func() { _ = p.cmd.Process.Kill() })
	if err := p.cmd.Process.Signal(syscall.SIGTERM); err != nil {
		_ = p.cmd.Process.Kill()
	}
	<-p.done
	if !timer.Stop() {
		return fmt.Errorf("%s was killed after %v", p.name, grace)
	}
	return nil
}

// ended returns an error about a process that has ended by itself, with the end of
// its output.
func (p *process) ended() error {
	text, _ := os.ReadFile(p.log)
	lines := bytes.Split(bytes.TrimSpace(text), []byte("\n"))
	last := bytes.Join(lines[max(0, len(lines)-20):], []byte("\n"))
	return fmt.Errorf("%s has ended (%v):\n%s", p.name, p.err, last)
}
