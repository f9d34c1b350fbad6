package main

import (
	"bufio"
	"context"
	"errors"
	"fmt"
	"io"
	"math/rand/v2"
	"runtime"
	"sync"
	"time"

	"golang.org/x/sys/unix"
)

// piecesPerSecond is how often the fixed piece of work is done: seldom enough to leave the server its processor.
const piecesPerSecond = 40

// repeat does the piece of work of the server at random moments, and answers each line with how much processor time those took that were done
// since the last one, and how many they were.
func repeat(ctx context.Context, args []string, in *bufio.Scanner, out io.Writer) error {
	bytes, err := number(args)
	if err != nil {
		return err
	}
	runtime.GOMAXPROCS(1)
	var mutex sync.Mutex
	var used time.Duration
	var pieces int
	var failed error
	go func() {
		runtime.LockOSThread()
		work := newPiece(bytes)
		for at := time.Now(); ; {
			at = at.Add(time.Duration(rand.ExpFloat64() / piecesPerSecond * float64(time.Second)))
			if wait(ctx, time.Until(at)) != nil {
				return
			}
			before, err := threadTime()
			work.do()
			after, later := threadTime()
			mutex.Lock()
			used, pieces, failed = used+after-before, pieces+1, errors.Join(failed, err, later)
			mutex.Unlock()
		}
	}()
	if _, err := fmt.Fprintln(out, "ready"); err != nil {
		return err
	}
	for in.Scan() {
		mutex.Lock()
		seconds, number, err := used.Seconds(), pieces, failed
		used, pieces = 0, 0
		mutex.Unlock()
		if err != nil {
			return err
		}
		if _, err := fmt.Fprintln(out, seconds, number); err != nil {
			return err
		}
	}
	return in.Err()
}

// threadTime returns how long this thread has run.
func threadTime() (time.Duration, error) {
	var t unix.Timespec
	err := unix.ClockGettime(unix.CLOCK_THREAD_CPUTIME_ID, &t)
	return time.Duration(t.Nano()), err
}
