package main

import (
	"bytes"
	"compress/flate"
	"context"
	"errors"
	"fmt"
	"io"
	"math/rand/v2"
	"os"
	"path/filepath"
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
	dir   string
	peer  string
}

// compressFiles makes the inputs, compresses as many files as it is told to, and says
// how long it was where: from the beginning, as seen from outside its container.
// When the context ends so does it: that is no error.
func compressFiles(ctx context.Context, o options) (l result.Load, err error) {
	if l.Begin, err = probe.Now(); err != nil {
		return l, err
	}
	boot, err := os.ReadFile("/proc/sys/kernel/random/boot_id")
	if err != nil {
		return l, err
	}
	w, err := newWorker(ctx, o)
	if err != nil {
		return l, err
	}
	defer func() { err = errors.Join(err, w.close()) }()
	l.BootID, l.Ended = strings.TrimSpace(string(boot)), result.EndedUnits
	w.now = l.Begin
	if err := errors.Join(makeInputs(o), w.note(&w.computing)); err != nil {
		return l, err
	}
	for ; l.Rounds < o.files; l.Rounds++ {
		if ctx.Err() != nil {
			l.Ended = result.EndedTerminated
			break
		}
		if err := w.compress(l.Rounds % inputs); err != nil {
			return l, err
		}
	}
	l.End, l.CPUNanos = w.now, cpuNanos()
	files := uint64(l.Rounds)
	l.Demands = []result.Served{
		{Job: result.DiskRead, Units: files, Nanos: w.reading},
		{Job: result.CPU, Units: files, Nanos: w.computing},
		{Job: result.DiskWrite, Units: files, Nanos: w.writing},
	}
	if w.sink != nil {
		l.Demands = []result.Served{
			{Job: result.CPU, Units: files, Nanos: w.reading + w.computing},
			{Job: result.Network, Units: w.sink.sent, Nanos: w.writing},
		}
	}
	return l, nil
}

// makeInputs writes the files: words, so that there is something to compress.
func makeInputs(o options) error {
	random := rand.New(rand.NewPCG(o.seed, 0))
	words := make([]string, 1000)
	for i := range words {
		words[i] = fmt.Sprintf("%x ", random.Uint64N(1<<(4+4*random.Uint64N(8))))
	}
	for i := range inputs {
		var text bytes.Buffer
		for text.Len() < fileSize {
			text.WriteString(words[random.IntN(len(words))])
		}
		if err := store(inputPath(o.dir, i), text.Bytes()[:fileSize]); err != nil {
			return err
		}
	}
	return nil
}

func inputPath(dir string, i int) string { return filepath.Join(dir, fmt.Sprintf("input-%02d", i)) }

func outputPath(dir string, i int) string { return filepath.Join(dir, fmt.Sprintf("output-%02d", i)) }

// store writes a file and waits until it is stored.
func store(path string, content []byte) error {
	file, err := os.Create(path)
	if err != nil {
		return err
	}
	_, err = file.Write(content)
	return errors.Join(err, file.Sync(), file.Close())
}

// worker compresses files and notes how long it was where.
type worker struct {
	dir                         string
	sink                        *sink // nil: the results are stored
	input                       []byte
	output                      bytes.Buffer
	to                          *flate.Writer
	now                         int64
	reading, computing, writing int64 // nanoseconds
}

func newWorker(ctx context.Context, o options) (w *worker, err error) {
	w = &worker{dir: o.dir}
	level := flate.BestSpeed
	if o.peer != "" {
		level = flate.BestCompression // so that it computes about as long as it sends
		if w.sink, err = dial(ctx, o.peer); err != nil {
			return nil, err
		}
	}
	if w.input, err = newBuffer(fileSize); err != nil {
		return nil, err
	}
	w.to, err = flate.NewWriter(&w.output, level)
	return w, err
}

func (w *worker) close() error { return errors.Join(freeBuffer(w.input), w.sink.close()) }

// read reads one file.
func (w *worker) read(i int) error {
	if w.sink == nil {
		return readDirect(inputPath(w.dir, i), w.input)
	}
	file, err := os.Open(inputPath(w.dir, i))
	if err != nil {
		return err
	}
	_, err = io.ReadFull(file, w.input)
	return errors.Join(err, file.Close())
}

// keep stores one result, or sends it.
func (w *worker) keep(i int) error {
	if w.sink == nil {
		return store(outputPath(w.dir, i), w.output.Bytes())
	}
	return w.sink.send(w.output.Bytes())
}

// compress compresses one file.
func (w *worker) compress(i int) error {
	if err := w.read(i); err != nil {
		return err
	}
	if err := w.note(&w.reading); err != nil {
		return err
	}
	w.output.Reset()
	w.to.Reset(&w.output)
	_, err := w.to.Write(w.input)
	if err := errors.Join(err, w.to.Close(), w.note(&w.computing)); err != nil {
		return err
	}
	if err := w.keep(i); err != nil {
		return err
	}
	return w.note(&w.writing)
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
