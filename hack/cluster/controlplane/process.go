package controlplane

import (
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"runtime"
	"strings"
	"sync/atomic"
	"syscall"
	"time"
)

const (
	// stopGrace is how long a process may take to end after SIGTERM before it is killed.
	stopGrace = 5 * time.Second
	// tailLines is how many lines of a log an error quotes.
	tailLines = 20
)

// process is a running program whose output goes to a log file.
type process struct {
	name    string
	cmd     *exec.Cmd
	logPath string
	logFrom int // where in the log this process began to write

	unwanted atomic.Bool   // we asked it to end
	exited   chan struct{} // closed when it has ended
	status   error         // how it ended; may be read once exited is closed
}

// startProcess runs the program at path, appending what it prints to the file logPath. The program sees no
// environment but home: the user's settings (ETCD_NAME, a proxy, ~/.kwok) are none of its business.
func startProcess(name, path string, args []string, home, logPath string) (*process, error) {
	log, err := os.OpenFile(logPath, os.O_CREATE|os.O_WRONLY|os.O_APPEND, 0o600)
	if err != nil {
		return nil, err
	}
	logFrom, err := log.Seek(0, io.SeekEnd)
	if err != nil {
		return nil, errors.Join(err, log.Close())
	}
	cmd := exec.Command(path, args...)
	cmd.Env = []string{"HOME=" + home}
	cmd.Stdout, cmd.Stderr = log, log
	cmd.SysProcAttr = childAttributes()
	p := &process{name: name, cmd: cmd, logPath: logPath, logFrom: int(logFrom), exited: make(chan struct{})}

	started := make(chan error)
	go func() {
		// The kernel kills the child when the thread that started it ends: hold on to that thread for as long as the child lives.
		runtime.LockOSThread()
		defer runtime.UnlockOSThread()
		err := cmd.Start()
		started <- err
		if err == nil {
			p.status = errors.Join(cmd.Wait(), log.Close())
			close(p.exited)
		}
	}()
	if err := <-started; err != nil {
		return nil, errors.Join(fmt.Errorf("start %s: %w", name, err), log.Close())
	}
	return p, nil
}

// stop asks the process to end, kills it when it does not, and returns once it is gone.
func (p *process) stop() error {
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
		return p.kill()
	}
}

// kill ends the process at once and returns when it is gone.
func (p *process) kill() error {
	p.unwanted.Store(true)
	if err := p.signal(syscall.SIGKILL); err != nil {
		return err
	}
	<-p.exited
	return nil
}

func (p *process) signal(s syscall.Signal) error {
	if err := p.cmd.Process.Signal(s); err != nil && !errors.Is(err, os.ErrProcessDone) {
		return fmt.Errorf("send %v to %s: %w", s, p.name, err)
	}
	return nil
}

// failure says how the process ended and quotes the end of its log. The process must have ended.
func (p *process) failure() error {
	status := "exit status 0"
	if p.status != nil {
		status = p.status.Error()
	}
	return fmt.Errorf("%s ended by itself (%s)\n%s", p.name, status, p.tail())
}

// tail returns the last lines that the process wrote, indented, under a heading.
func (p *process) tail() string {
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
