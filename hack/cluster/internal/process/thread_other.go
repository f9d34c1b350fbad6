//go:build !linux

package process

import "syscall"

// Attributes puts a child into a process group of its own, so that Ctrl-C in a terminal reaches us alone and we stop
// our children in order.
func Attributes() *syscall.SysProcAttr {
	return &syscall.SysProcAttr{Setpgid: true}
}

// onThreadOfItsOwn runs f: threads have nothing of their own here.
func onThreadOfItsOwn(f func()) { f() }
