// Package process runs programs that never outlive this one, each with a log file of its own whose end explains why
// it failed.
package process

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"strings"
	"sync/atomic"
	"syscall"
	"time"

	"k8s.io/apimachinery/pkg/util/wait"
)

const (
	// stopGrace is how long a process may take to end after SIGTERM before it is killed.
	stopGrace = 5 * time.Second
	// tailLines is how many lines of a log an error quotes.
	tailLines = 20
	// pollInterval is how often a process that is starting is asked whether it is ready.
	pollInterval = 50 * time.Millisecond
)

// Spec says what to run.
type Spec struct {
	// Name is what messages call the process.
	Name string
	// Path is the program, an absolute path, and Args its arguments without the program itself.
	Path string
	Args []string
	// Env is the whole environment: the user's settings (ETCD_NAME, a proxy, ~/.kwok) are none of the program's business.
	Env []string
	// Log is the file that what the program prints is appended to.
	Log string
	// Attributes, when given, adds to how the kernel starts the process.
	Attributes func(*syscall.SysProcAttr)
	// Enter, when given, is called by the thread that starts the process, before it does, to join namespaces that
	// the process is to inherit. The thread is not used for anything else afterwards.
	Enter func() error
}

// Process is a running program. Its methods may be called from several goroutines at once.
type Process struct {
	name    string
	cmd     *exec.Cmd
	logPath string
	logFrom int // where in the log this process began to write

	unwanted atomic.Bool   // we asked it to end
	exited   chan struct{} // closed when it has ended
	status   error         // how it ended; may be read once exited is closed
}

// Start starts a program. On Linux the kernel kills it when we end, however we end.
func Start(spec Spec) (*Process, error) {
	log, err := os.OpenFile(spec.Log, os.O_CREATE|os.O_WRONLY|os.O_APPEND, 0o600)
	if err != nil {
		return nil, err
	}
	logFrom, err := log.Seek(0, io.SeekEnd)
	if err != nil {
		return nil, errors.Join(err, log.Close())
	}
	cmd := exec.Command(spec.Path, spec.Args...)
	cmd.Env = spec.Env
	cmd.Stdout, cmd.Stderr = log, log
	cmd.SysProcAttr = Attributes()
	if spec.Attributes != nil {
		spec.Attributes(cmd.SysProcAttr)
	}
	p := &Process{name: spec.Name, cmd: cmd, logPath: spec.Log, logFrom: int(logFrom), exited: make(chan struct{})}

	started := make(chan error)
	go onThreadOfItsOwn(func() { // see Attributes: the thread must live as long as the process
		if spec.Enter != nil {
			if err := spec.Enter(); err != nil {
				started <- err
				return
			}
		}
		err := cmd.Start()
		started <- err
		if err == nil {
			p.status = errors.Join(cmd.Wait(), log.Close())
			close(p.exited)
		}
	})
	if err := <-started; err != nil {
		return nil, errors.Join(fmt.Errorf("start %s: %w", spec.Name, err), log.Close())
	}
	return p, nil
}

// Name returns what messages call the process.
func (p *Process) Name() string { return p.name }

// PID returns the process id.
func (p *Process) PID() int { return p.cmd.Process.Pid }

// Exited is closed when the process has ended.
func (p *Process) Exited() <-chan struct{} { return p.exited }

// Unwanted reports whether Stop or Kill was called: when not, and it has exited, it ended by itself.
func (p *Process) Unwanted() bool { return p.unwanted.Load() }

// Stop asks the process to end, kills it when it does not within five seconds, and returns once it is gone.
func (p *Process) Stop() error {
	p.unwanted.Store(true)
	if err := p.signal(syscall.SIGTERM); err != nil {
		return err
	}
	grace := time.NewTimer(stopGrace)
	defer grace.Stop()
	select {
	case <-p.exited:
		return nil
	case <-grace.C:
		return p.Kill()
	}
}

// Kill ends the process at once and returns when it is gone.
func (p *Process) Kill() error {
	p.unwanted.Store(true)
	if err := p.signal(syscall.SIGKILL); err != nil {
		return err
	}
	<-p.exited
	return nil
}

// Pause has the kernel stop the process, until Resume. It keeps its files and connections.
func (p *Process) Pause() error { return p.signal(syscall.SIGSTOP) }

// Resume has a process go on that Pause stopped.
func (p *Process) Resume() error { return p.signal(syscall.SIGCONT) }

func (p *Process) signal(s syscall.Signal) error {
	if err := p.cmd.Process.Signal(s); err != nil && !errors.Is(err, os.ErrProcessDone) {
		return fmt.Errorf("send %v to %s: %w", s, p.name, err)
	}
	return nil
}

// AwaitReady polls until ready returns nil. The error says what ready said last, and quotes the end of the log; that of a process
// which ends before is its Failure.
func (p *Process) AwaitReady(ctx context.Context, deadline time.Duration, ready func(context.Context) error) error {
	var last error
	err := wait.PollUntilContextTimeout(ctx, pollInterval, deadline, true, func(ctx context.Context) (bool, error) {
		if answer := ready(ctx); last == nil || ctx.Err() == nil { // not that the time is over
			last = answer
		}
		select {
		case <-p.exited:
			return false, p.Failure()
		default:
			return last == nil, nil
		}
	})
	switch cause := context.Cause(ctx); {
	case cause != nil:
		return fmt.Errorf("while %s was starting: %w", p.name, cause)
	case wait.Interrupted(err):
		return fmt.Errorf("%s was not ready within %v: %w\n%s", p.name, deadline, last, p.Tail())
	default:
		return err
	}
}

// Failure says how the process ended and quotes the end of its log. The process must have ended.
func (p *Process) Failure() error {
	status := "exit status 0"
	if p.status != nil {
		status = p.status.Error()
	}
	return fmt.Errorf("%s ended by itself (%s)\n%s", p.name, status, p.Tail())
}

// Tail returns the last lines that the process wrote, indented, under a heading.
func (p *Process) Tail() string {
	log, err := os.ReadFile(p.logPath)
	if err != nil {
		return fmt.Sprintf("its log cannot be read: %v", err)
	}
	text := strings.TrimSpace(string(log[p.logFrom:]))
	if text == "" {
		return "it wrote nothing to its log"
	}
	lines := strings.Split(text, "\n")
	lines = lines[max(0, len(lines)-tailLines):]
	return "the end of its log:\n    " + strings.Join(lines, "\n    ")
}
