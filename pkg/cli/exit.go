package cli

import (
	"context"
	"errors"
	"io/fs"
	"net"
	"syscall"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
)

// Exit codes.
const (
	exitDone        = 0
	exitNo          = 1 // the answer is no
	exitWrong       = 2 // wrong use or bad input
	exitFailed      = 3 // reading, writing or reaching the cluster failed: trying again may help
	exitInterrupted = 130
)

// exitCode returns the exit code for an error.
func exitCode(err error) int {
	switch {
	case err == nil:
		return exitDone
	case errors.Is(err, context.Canceled):
		return exitInterrupted
	case errors.As(err, new(*no)):
		return exitNo
	case failed(err):
		return exitFailed
	default:
		return exitWrong
	}
}

// failed tells what may go well another time (a full disk, a network file system
// or an API server that is away) from what the user has to put right (a file that is
// not there, or is a folder, or belongs to somebody else).
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

// Unwrap returns why.
func (e *no) Unwrap() error { return e.error }

// interrupted is the error of a verb that was told to stop, and did.
type interrupted struct {
	kept string // what there is of the answer
}

// Error says what was kept.
func (e *interrupted) Error() string { return "kept " + e.kept }

// Unwrap makes it a [context.Canceled].
func (*interrupted) Unwrap() error { return context.Canceled }

// abandon carries out what knows no context, and when the context ends leaves it
// to itself: it only computes, and writes files at one stroke.
func abandon(ctx context.Context, work func() error) error {
	done := make(chan error, 1)
	go func() { done <- work() }()
	select {
	case err := <-done:
		return err
	case <-ctx.Done():
		return &interrupted{kept: "nothing"}
	}
}
