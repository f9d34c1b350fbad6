//go:build !linux

package controlplane

import "syscall"

// childAttributes puts a child into a process group of its own, so that Ctrl-C in a terminal reaches us alone and we
// stop the parts in order.
func childAttributes() *syscall.SysProcAttr {
	return &syscall.SysProcAttr{Setpgid: true}
}
