package verb

import (
	"context"
	"io"
	"sync"
)

// Interruptible returns a reader that reads from another one until the context ends,
// even while there is nothing to read.
func Interruptible(ctx context.Context, in io.Reader) io.Reader {
	return &interruptible{ctx: ctx, in: in}
}

// interruptible is a reader whose Read returns with the context's error when the
// context ends, even while there is nothing to read.
type interruptible struct {
	ctx   context.Context //nolint:containedctx // it lives as long as one command, or less
	in    io.Reader
	begin sync.Once
	pipe  *io.PipeReader
}

// Read reads.
func (r *interruptible) Read(p []byte) (int, error) {
	r.begin.Do(func() {
		var out *io.PipeWriter
		r.pipe, out = io.Pipe()
		context.AfterFunc(r.ctx, func() { out.CloseWithError(r.ctx.Err()) }) // the first error is the one that counts
		go func() {
			_, err := io.Copy(out, r.in)
			out.CloseWithError(err)
		}()
	})
	return r.pipe.Read(p)
}
