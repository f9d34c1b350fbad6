//go:build linux

package realnode

import (
	"bytes"
	"errors"
	"fmt"
	"os/exec"
	"strings"
	"syscall"

	"golang.org/x/sys/unix"

	"loadline.dev/loadline/hack/cluster/internal/process"
)

// namespaces are Linux namespaces that a process holds which does nothing else.
type namespaces struct {
	holder *process.Process
	kinds  int // unix.CLONE_NEWNET and so on
}

// hold starts the program pause in new namespaces of the kinds given. With CLONE_NEWPID among them it is their first
// process, and all others there end with it.
func hold(pause, name, log string, kinds int) (*namespaces, error) {
	holder, err := process.Start(process.Spec{
		Name: name, Path: pause, Log: log,
		Attributes: func(attributes *syscall.SysProcAttr) { attributes.Cloneflags = uintptr(kinds) },
	})
	if err != nil {
		return nil, err
	}
	return &namespaces{holder, kinds}, nil
}

// enter moves the calling thread, which must not be used for anything else afterwards, into the namespaces; with
// CLONE_NEWPID among them, the processes that it starts.
func (n *namespaces) enter() (err error) {
	fd, err := unix.PidfdOpen(n.holder.PID(), 0)
	if err != nil {
		return fmt.Errorf("enter the namespaces of %s: %w", n.holder.Name(), err)
	}
	defer func() { err = errors.Join(err, unix.Close(fd)) }()
	if err := unix.Unshare(unix.CLONE_FS); err != nil { // threads that share a working directory cannot have different mounts
		return fmt.Errorf("enter the namespaces of %s: %w", n.holder.Name(), err)
	}
	if err := unix.Setns(fd, n.kinds); err != nil {
		return fmt.Errorf("enter the namespaces of %s: %w", n.holder.Name(), err)
	}
	return nil
}

// do runs f inside.
func (n *namespaces) do(f func() error) (err error) {
	process.OnThreadOfItsOwn(func() {
		if err = n.enter(); err == nil {
			err = f()
		}
	})
	return err
}

// end ends the holder, and with it the namespaces and all that is in them.
func (n *namespaces) end() error {
	return n.holder.Kill()
}

// ip runs the commands of a script, one per line, by ip(8), in the network namespace of the calling thread.
func ip(script string) error {
	cmd := exec.Command("ip", "-batch", "-")
	cmd.Stdin = strings.NewReader(script)
	if out, err := cmd.CombinedOutput(); err != nil {
		return fmt.Errorf("ip -batch: %w: %s", err, bytes.TrimSpace(out))
	}
	return nil
}
