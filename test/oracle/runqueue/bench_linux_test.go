package runqueue_test

import (
	"os"
	"runtime"
	"testing"

	"golang.org/x/sys/unix"
)

// What a switch between two threads and a wake-up take, by themselves and with an observer.
func BenchmarkSwitch(b *testing.B) {
	b.Run("by itself", switchBetween)
	b.Run("observed", func(b *testing.B) {
		o := observe(b)
		switchBetween(b)
		account(b, o) // there is none if events were lost
	})
}

// switchBetween has two threads on one processor wake each other in turns.
func switchBetween(b *testing.B) {
	ping, pong := pipe(b), pipe(b)
	done := make(chan error)
	go func() {
		done <- onFirst(func() error { return turns(b.N, ping.r, pong.w) })
	}()
	before := processTime(b)
	b.ResetTimer()
	err := onFirst(func() error {
		if _, err := ping.w.Write([]byte{0}); err != nil {
			return err
		}
		return turns(b.N, pong.r, ping.w)
	})
	b.StopTimer()
	if err != nil {
		b.Fatal(err)
	}
	if err := <-done; err != nil {
		b.Fatal(err)
	}
	b.ReportMetric(float64(processTime(b)-before)/float64(2*b.N), "cpu-ns/switch")
}

// processTime returns for how many nanoseconds this process ran, so that other processes do not count, and the observer does.
func processTime(b *testing.B) int64 {
	b.Helper()
	var at unix.Timespec
	if err := unix.ClockGettime(unix.CLOCK_PROCESS_CPUTIME_ID, &at); err != nil {
		b.Fatal(err)
	}
	return at.Nano()
}

type ends struct{ r, w *os.File }

// pipe returns a pipe whose reads block the thread, not only the goroutine.
func pipe(b *testing.B) ends {
	b.Helper()
	var fds [2]int
	if err := unix.Pipe(fds[:]); err != nil {
		b.Fatal(err)
	}
	p := ends{os.NewFile(uintptr(fds[0]), "read"), os.NewFile(uintptr(fds[1]), "write")}
	b.Cleanup(func() {
		p.r.Close()
		p.w.Close()
	})
	return p
}

// onFirst calls a function on a thread that keeps to the first processor, and ends with it.
func onFirst(f func() error) error {
	errs := make(chan error)
	go func() {
		runtime.LockOSThread() // never unlocked
		var first unix.CPUSet
		first.Set(0)
		if err := unix.SchedSetaffinity(0, &first); err != nil {
			errs <- err
			return
		}
		errs <- f()
	}()
	return <-errs
}

// turns reads a byte from one file and writes one to the other, over and over.
func turns(n int, from, to *os.File) error {
	one := []byte{0}
	for range n {
		if _, err := unix.Read(int(from.Fd()), one); err != nil {
			return err
		}
		if _, err := unix.Write(int(to.Fd()), one); err != nil {
			return err
		}
	}
	return nil
}
