package controlplane

import "syscall"

// childAttributes puts a child into a process group of its own, so that Ctrl-C in a terminal reaches us alone and we
// stop the parts in order, and has the kernel kill it when the thread that started it ends, so that it never
// outlives us.
func childAttributes() *syscall.SysProcAttr {
	return &syscall.SysProcAttr{Setpgid: true, Pdeathsig: syscall.SIGKILL}
}
