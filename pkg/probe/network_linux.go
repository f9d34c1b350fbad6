//go:build amd64 || arm64

package probe

import (
	"context"
	"errors"
	"fmt"
	"net"
	"os"
	"syscall"
	"time"
	"unsafe"

	"golang.org/x/sys/unix"
)

// patience is how long a sink may take to answer.
const patience = 10 * time.Second

// line is a connection to a sink whose calls block the thread.
type line struct {
	file  *os.File
	fd    uintptr // of the file
	block []byte
	ack   [1]byte
	ended func() error // whether no answer is wanted any more
}

// dial connects to a sink.
func dial(ctx context.Context, peer string) (*line, error) {
	connection, err := (&net.Dialer{Timeout: patience}).DialContext(ctx, "tcp", peer)
	if err != nil {
		return nil, fmt.Errorf("the sink: %w", err)
	}
	tcp, ok := connection.(*net.TCPConn)
	if !ok {
		return nil, errors.Join(fmt.Errorf("the sink: want a TCP connection, got %T", connection), connection.Close())
	}
	file, err := tcp.File() // a duplicate
	if err = errors.Join(err, tcp.Close()); err != nil {
		return nil, fmt.Errorf("the sink: %w", err)
	}
	l := &line{file: file, fd: file.Fd(), block: make([]byte, NetworkUnit), ended: ctx.Err}
	fd, second := int(l.fd), unix.Timeval{Sec: 1}
	if err := errors.Join(
		unix.SetNonblock(fd, false),
		unix.SetsockoptTimeval(fd, unix.SOL_SOCKET, unix.SO_RCVTIMEO, &second),
		unix.SetsockoptTimeval(fd, unix.SOL_SOCKET, unix.SO_SNDTIMEO, &second),
	); err != nil {
		return nil, errors.Join(fmt.Errorf("the sink: %w", err), file.Close())
	}
	return l, nil
}

// exchange sends a block and waits until the sink has it.
func (l *line) exchange() error {
	if err := l.transfer(unix.SYS_WRITE, "sending to the sink", l.block); err != nil {
		return err
	}
	return l.transfer(unix.SYS_READ, "hearing from the sink", l.ack[:])
}

func (l *line) transfer(call uintptr, what string, buffer []byte) error {
	for began := (time.Time{}); len(buffer) > 0; {
		n, _, errno := unix.RawSyscall(call, l.fd, uintptr(unsafe.Pointer(&buffer[0])), uintptr(len(buffer))) //nolint:gosec // a system call takes an address
		switch {
		// A second has passed, or a signal came, such as the runtime's that the goroutine is to be preempted: the calls
		// below let it be, while it could wait for ever for what other goroutines do after that.
		case errno == syscall.EAGAIN, errno == syscall.EINTR:
			if err := l.ended(); err != nil {
				return err
			}
			if began.IsZero() {
				began = time.Now()
			} else if waited := time.Since(began); waited >= patience {
				return fmt.Errorf("%s: no answer for %v", what, waited.Round(time.Second))
			}
		case errno != 0:
			return fmt.Errorf("%s: %w", what, errno)
		case n == 0:
			return fmt.Errorf("%s: it has closed the connection", what)
		default:
			buffer = buffer[n:]
		}
	}
	return nil
}

func (l *line) close() error { return l.file.Close() }
