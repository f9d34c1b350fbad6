package verb

import (
	"context"
	"errors"
	"io/fs"
	"net"
	"syscall"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
)

// The exit codes of kubectl loadline.
const (
	ExitDone        = 0
	ExitNo          = 1 // the answer is no
	ExitWrong       = 2 // wrong use or bad input
	ExitFailed      = 3 // reading, writing or reaching the cluster failed: trying again may help
	ExitInterrupted = 130
)

// ExitCode returns the exit code for an error.
func ExitCode(err error) int {
	switch {
	case err == nil:
		return ExitDone
	case errors.Is(err, context.Canceled):
		return ExitInterrupted
	case errors.As(err, new(*no)):
		return ExitNo
	case failed(err):
		return ExitFailed
	default:
		return ExitWrong
	}
}

// failed reports whether an error may be gone another time (a full disk, a network file system
// or an API server that is away), unlike one that the user has to put right (a file that is
// not there, or is a folder, or belongs to another user).
func failed(err error) bool {
	if timeout := net.Error(nil); errors.As(err, &timeout) && timeout.Timeout() || busy(err) {
		return true
	}
	var number syscall.Errno
	if !errors.As(err, &number) {
		return false
	}
	for _, wrong := range []error{
		fs.ErrNotExist, fs.ErrPermission, fs.ErrExist, syscall.EISDIR, syscall.ENOTDIR, syscall.ENAMETOOLONG, syscall.EINVAL, syscall.EROFS,
	} {
		if errors.Is(number, wrong) {
			return false
		}
	}
	return true
}

// busy reports whether an API server could not answer just now.
func busy(err error) bool {
	return apierrors.IsServiceUnavailable(err) || apierrors.IsInternalError(err) || apierrors.IsTooManyRequests(err) ||
		apierrors.IsTimeout(err) || apierrors.IsServerTimeout(err)
}

// no is the error of a question that has an answer, which is no.
type no struct{ error }

// No makes an error the answer no to a question: the exit code says so.
func No(why error) error { return &no{why} }

// Unwrap returns why.
func (e *no) Unwrap() error { return e.error }

// interrupted is the error of a verb that stopped when it was asked to.
type interrupted struct {
	kept string // the answer so far
}

// Interrupted returns the error of a verb that stopped on request, which is a [context.Canceled].
// kept describes the answer so far.
func Interrupted(kept string) error { return &interrupted{kept} }

// Error says which part was kept.
func (e *interrupted) Error() string { return "kept " + e.kept }

// Unwrap returns [context.Canceled].
func (*interrupted) Unwrap() error { return context.Canceled }

// Abandon carries out work that takes no context, and when the context ends leaves it running: it
// only computes, and writes files at one stroke.
func Abandon(ctx context.Context, work func() error) error {
	done := make(chan error, 1)
	go func() { done <- work() }()
	select {
	case err := <-done:
		return err
	case <-ctx.Done():
		return Interrupted("nothing")
	}
}
