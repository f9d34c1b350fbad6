package main

import (
	"bufio"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"math/rand/v2"
	"os"
	"runtime"
	"runtime/debug"
	"sync"
	"time"

	"golang.org/x/sys/unix"
)

// What a lab says to a job, a line each: it begins, says its totals so far, and ends.
const (
	lineStart  = "start"
	lineTotals = "totals"
)

// job runs a spec: threads that each do one operation at a time, and time it themselves.
type job struct {
	spec
	file   int
	folder string // of a program

	mutex    sync.Mutex
	totals   totals
	inFlight int
	since    time.Time // when the first of those in flight began
	err      error
}

// runJob runs a job on a file. It says "ready", begins when it is told so, answers with its totals, and ends with its input.
func runJob(in io.Reader, out io.Writer, s spec, path string) error {
	if err := s.validate(); err != nil {
		return err
	}
	debug.SetGCPercent(-1)          // a loop that allocates nothing
	runtime.GOMAXPROCS(s.Depth + 2) // no thread waits for another one's turn in the runtime
	j := &job{spec: s}
	if s.Program != "" {
		if err := j.prepare(path); err != nil {
			return err
		}
	} else {
		if err := j.open(path); err != nil {
			return err
		}
		defer unix.Close(j.file)
	}
	encoder := json.NewEncoder(out)
	if err := encoder.Encode(totals{}); err != nil { // it is ready
		return err
	}
	lines := bufio.NewScanner(in)
	for lines.Scan() {
		switch lines.Text() {
		case lineStart:
			for thread := range s.Depth {
				go j.thread(thread)
			}
		case lineTotals:
			t, err := j.now()
			if err != nil {
				return err
			}
			if err := encoder.Encode(t); err != nil {
				return err
			}
		}
	}
	return lines.Err()
}

// open opens the file, and puts what it must have there into the page cache, or out of it.
func (j *job) open(path string) (err error) {
	flags := unix.O_RDWR | unix.O_CLOEXEC
	if j.Cache == direct {
		flags |= unix.O_DIRECT
	}
	if j.Sync == dsync {
		flags |= unix.O_DSYNC
	}
	if j.file, err = unix.Open(path, flags, 0); err != nil {
		return &os.PathError{Op: "open", Path: path, Err: err}
	}
	if j.Cache == cached {
		buffer := make([]byte, maxBytes)
		for at := int64(0); at < j.FileBytes; at += maxBytes {
			if _, err := unix.Pread(j.file, buffer, at); err != nil {
				return &os.PathError{Op: "read", Path: path, Err: err}
			}
		}
		return nil
	}
	if err := unix.Fadvise(j.file, 0, 0, unix.FADV_DONTNEED); err != nil {
		return &os.PathError{Op: "advise on", Path: path, Err: err}
	}
	advice := unix.FADV_SEQUENTIAL
	if j.Access == random {
		advice = unix.FADV_RANDOM
	}
	return unix.Fadvise(j.file, 0, 0, advice)
}

// now returns the totals so far.
func (j *job) now() (totals, error) {
	var used, usedBy unix.Rusage
	if err := errors.Join(unix.Getrusage(unix.RUSAGE_SELF, &used), unix.Getrusage(unix.RUSAGE_CHILDREN, &usedBy)); err != nil {
		return totals{}, err
	}
	j.mutex.Lock()
	defer j.mutex.Unlock()
	t, now := j.totals, time.Now()
	if j.inFlight > 0 {
		t.Blocked += now.Sub(j.since).Seconds()
	}
	t.At = now.UnixNano()
	t.CPU = float64(used.Utime.Nano()+used.Stime.Nano()+usedBy.Utime.Nano()+usedBy.Stime.Nano()) / 1e9
	return t, j.err
}

// thread is one of the threads of the job, until an operation fails or the process ends.
func (j *job) thread(number int) {
	if j.Program != "" {
		j.repeat()
		return
	}
	runtime.LockOSThread()
	// Without slack of the timer short thoughts are as long as they are meant to be.
	_ = unix.Prctl(unix.PR_SET_TIMERSLACK, 1, 0, 0, 0)
	if j.Pinned {
		processors := unix.CPUSet{}
		processors.Set(0)
		_ = unix.SchedSetaffinity(0, &processors)
	}
	buffer, err := unix.Mmap(-1, 0, int(j.Bytes), unix.PROT_READ|unix.PROT_WRITE, unix.MAP_ANON|unix.MAP_PRIVATE|unix.MAP_POPULATE)
	r := rand.New(rand.NewPCG(j.Seed, uint64(number)))
	if err == nil {
		for i := range buffer {
			buffer[i] = byte(r.Uint32())
		}
	}
	places := j.FileBytes / j.Bytes
	next := places * int64(number) / int64(j.Depth)
	for err == nil {
		if j.Think > 0 {
			think(r.ExpFloat64() * j.Think)
		}
		if j.Work > 0 {
			compute(j.Work)
		}
		place := next
		if j.Access == random {
			place = r.Int64N(places)
		}
		next = (next + 1) % places
		began := j.begin()
		err = j.operate(buffer, place*j.Bytes)
		j.end(began)
		if j.Cache == buffered && j.Operation == read {
			j.forget(place * j.Bytes)
		}
	}
	j.mutex.Lock()
	j.err = err
	j.mutex.Unlock()
}

func (j *job) operate(buffer []byte, at int64) error {
	do := unix.Pread
	if j.Operation == write {
		do = unix.Pwrite
	}
	n, err := do(j.file, buffer, at)
	if err == nil && n != len(buffer) {
		err = fmt.Errorf("%s of %d bytes at %d: did only %d", j.Operation, len(buffer), at, n)
	}
	if err == nil && j.Sync == fdatasync {
		err = unix.Fdatasync(j.file)
	}
	return err
}

// forget drops what was read from the page cache: at random places that alone, else all that the kernel did not read ahead.
func (j *job) forget(at int64) {
	if j.Access == random {
		_ = unix.Fadvise(j.file, at, j.Bytes, unix.FADV_DONTNEED)
		return
	}
	const ahead = 4 * maxBytes
	if at < ahead {
		_ = unix.Fadvise(j.file, at+ahead, 0, unix.FADV_DONTNEED)
		return
	}
	_ = unix.Fadvise(j.file, 0, at, unix.FADV_DONTNEED)
}

func (j *job) begin() time.Time {
	j.mutex.Lock()
	defer j.mutex.Unlock()
	now := time.Now()
	if j.inFlight++; j.inFlight == 1 {
		j.since = now
	}
	return now
}

func (j *job) end(began time.Time) {
	j.mutex.Lock()
	defer j.mutex.Unlock()
	now := time.Now()
	j.totals.Units++
	j.totals.Latency += now.Sub(began).Seconds()
	if j.inFlight--; j.inFlight == 0 {
		j.totals.Blocked += now.Sub(j.since).Seconds()
	}
}

// think sleeps.
func think(seconds float64) {
	left := unix.NsecToTimespec(int64(seconds * 1e9))
	for {
		if err := unix.Nanosleep(&left, &left); !errors.Is(err, unix.EINTR) {
			return
		}
	}
}

// compute uses CPU time of its thread.
func compute(seconds float64) {
	state := uint64(1)
	for until := threadTime() + int64(seconds*1e9); threadTime() < until && state != 0; { // it is odd: never 0
		for range 200 {
			state *= 6364136223846793005
		}
	}
}

func threadTime() int64 {
	var at unix.Timespec
	if err := unix.ClockGettime(unix.CLOCK_THREAD_CPUTIME_ID, &at); err != nil {
		return 0
	}
	return at.Nano()
}
