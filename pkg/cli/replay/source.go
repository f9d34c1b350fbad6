package replay

import (
	"context"
	"errors"
	"io"
	"os"
	"path/filepath"
	"sync/atomic"

	"loadline.dev/loadline/pkg/cli/input"
	"loadline.dev/loadline/pkg/cli/verb"
)

// traceSource is a file with a trace that each run opens anew.
type traceSource struct {
	ctx        context.Context //nolint:containedctx // it lives as long as one replay
	path, name string
	size       int64
	read       atomic.Int64 // by all runs
	temporary  bool
}

// newTraceSource returns the file of that name. What can be read but once, such as
// standard input, is copied to a temporary file.
func newTraceSource(ctx context.Context, path string, stdin io.Reader) (*traceSource, error) {
	file, name, err := input.Open(path, stdin)
	if err != nil {
		return nil, err
	}
	defer file.Close()
	s := &traceSource{ctx: ctx, path: filepath.Clean(path), name: name}
	if f, ok := file.(*os.File); ok {
		info, err := f.Stat()
		if err != nil {
			return nil, err
		}
		if s.size = info.Size(); info.Mode().IsRegular() || info.IsDir() { // reading reports that a folder is no file
			return s, nil
		}
	}
	if err := s.copy(file); err != nil {
		return nil, errors.Join(err, s.close())
	}
	return s, nil
}

// copy copies the trace to a temporary file.
func (s *traceSource) copy(in io.Reader) error {
	file, err := os.CreateTemp("", "loadline-trace-")
	if err != nil {
		return err
	}
	s.path, s.temporary = file.Name(), true
	s.size, err = io.Copy(file, verb.Interruptible(s.ctx, in))
	if s.ctx.Err() != nil {
		err = verb.Interrupted("nothing, the trace was not read")
	}
	return errors.Join(err, file.Close())
}

// close removes the copy.
func (s *traceSource) close() error {
	if !s.temporary {
		return nil
	}
	return os.Remove(s.path)
}

// open opens the file. It counts the bytes read.
func (s *traceSource) open() (file io.ReadCloser, name string, err error) {
	f, err := os.Open(s.path)
	if err != nil {
		return nil, s.name, err
	}
	return &countedFile{f, s}, s.name, nil
}

type countedFile struct {
	*os.File
	source *traceSource
}

// Read reads from the file, until the context ends: sorting a trace reads all of
// it first.
func (f *countedFile) Read(p []byte) (int, error) {
	if err := f.source.ctx.Err(); err != nil {
		return 0, err
	}
	n, err := f.File.Read(p)
	f.source.read.Add(int64(n))
	return n, err
}
