package main

import (
	"bytes"
	"compress/flate"
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"os"
	"strings"
	"syscall"

	"loadline.dev/loadline/pkg/probe"
	"loadline.dev/loadline/pkg/probe/result"
)

const (
	fileSize = 256 << 10
	// inputs is how many different files there are. They are compressed in turn.
	inputs = 64
)

// options are the flags.
type options struct {
	files int
	seed  uint64
	peer  string
}

// compressFiles makes the inputs, compresses the given number of files, and says how long it was where: from the
// beginning, as seen from outside its container. When the context ends so does it: that is no error.
func compressFiles(ctx context.Context, o options) (l result.Load, err error) {
	if l.Begin, err = probe.Now(); err != nil {
		return l, err
	}
	boot, err := os.ReadFile("/proc/sys/kernel/random/boot_id")
	if err != nil {
		return l, err
	}
	w := worker{now: l.Begin}
	if w.to, err = flate.NewWriter(&w.output, flate.BestCompression); err != nil { // it computes about as long as it sends
		return l, err
	}
	if w.sink, err = dial(ctx, o.peer); err != nil {
		return l, err
	}
	defer func() { err = errors.Join(err, w.sink.close()) }()
	l.BootID, l.Ended = strings.TrimSpace(string(boot)), result.EndedUnits
	files := makeInputs(o.seed)
	if err := w.note(&w.computing); err != nil {
		return l, err
	}
	for ; l.Rounds < o.files; l.Rounds++ {
		if ctx.Err() != nil {
			l.Ended = result.EndedTerminated
			break
		}
		if err := w.compress(files[l.Rounds%inputs]); err != nil {
			return l, err
		}
	}
	l.End, l.CPUNanos = w.now, cpuNanos()
	l.Demands = []result.Served{
		{Job: result.CPU, Units: uint64(l.Rounds), Nanos: w.computing},
		{Job: result.Network, Units: w.sink.sent, Nanos: w.sending},
	}
	return l, nil
}

// makeInputs returns the files: words, so that there is something to compress.
func makeInputs(seed uint64) [][]byte {
	random := rand.New(rand.NewPCG(seed, 0))
	words := make([]string, 1000)
	for i := range words {
		words[i] = fmt.Sprintf("%x ", random.Uint64N(1<<(4+4*random.Uint64N(8))))
	}
	files := make([][]byte, inputs)
	for i := range files {
		var text bytes.Buffer
		for text.Len() < fileSize {
			text.WriteString(words[random.IntN(len(words))])
		}
		files[i] = text.Bytes()[:fileSize]
	}
	return files
}

// worker compresses files and notes how long it was where.
type worker struct {
	sink               *sink
	output             bytes.Buffer
	to                 *flate.Writer
	now                int64
	computing, sending int64 // nanoseconds
}

// compress compresses one file and sends it.
func (w *worker) compress(file []byte) error {
	w.output.Reset()
	w.to.Reset(&w.output)
	_, err := w.to.Write(file)
	if err := errors.Join(err, w.to.Close(), w.note(&w.computing)); err != nil {
		return err
	}
	if err := w.sink.send(w.output.Bytes()); err != nil {
		return err
	}
	return w.note(&w.sending)
}

// note adds the time since it was last called.
func (w *worker) note(to *int64) error {
	now, err := probe.Now()
	*to += now - w.now
	w.now = now
	return err
}

// cpuNanos is how long the process has run on CPUs.
func cpuNanos() int64 {
	var usage syscall.Rusage
	if err := syscall.Getrusage(syscall.RUSAGE_SELF, &usage); err != nil {
		panic(err) // the arguments are right
	}
	return usage.Utime.Nano() + usage.Stime.Nano()
}
