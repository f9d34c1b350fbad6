package process

import (
	"runtime"
	"syscall"

	"golang.org/x/sys/unix"
)

// Attributes puts a child into a process group of its own, so that Ctrl-C in a terminal reaches us alone and we stop
// our children in order, and has the kernel kill it when the thread that started it ends, so that it never outlives
// us: the starter must hold on to its thread for as long as the child lives.
func Attributes() *syscall.SysProcAttr {
	return &syscall.SysProcAttr{Setpgid: true, Pdeathsig: syscall.SIGKILL}
}

// OnThreadOfItsOwn runs f on an operating system thread that ends with f, so that f may change what belongs to the
// thread, such as its namespaces, and returns when f has. That thread is never the first of the process, which
// cannot end and is what /proc/self shows to every process.
func OnThreadOfItsOwn(f func()) {
	done := make(chan struct{})
	go func() {
		defer close(done)
		onThreadOfItsOwn(f)
	}()
	<-done
}

// onThreadOfItsOwn is OnThreadOfItsOwn for a goroutine that has nothing else to do.
func onThreadOfItsOwn(f func()) {
	runtime.LockOSThread()
	if unix.Gettid() == unix.Getpid() {
		OnThreadOfItsOwn(f) // while we keep the first thread occupied
		runtime.UnlockOSThread()
		return
	}
	f() // the thread ends with this goroutine, because it is still locked to it
}
