//go:build amd64 || arm64

package probe

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"

	"golang.org/x/sys/unix"
)

// awaitFile returns when there is a file of that name.
func awaitFile(ctx context.Context, name string) (err error) {
	fd, err := unix.InotifyInit1(unix.IN_CLOEXEC | unix.IN_NONBLOCK)
	if err != nil {
		return fmt.Errorf("inotify: %w", err)
	}
	events := os.NewFile(uintptr(fd), "inotify")
	unhook := context.AfterFunc(ctx, func() { _ = events.Close() }) // Read tells
	defer func() {
		if unhook() {
			err = errors.Join(err, events.Close())
		}
	}()
	if _, err := unix.InotifyAddWatch(fd, filepath.Dir(name), unix.IN_CREATE|unix.IN_MOVED_TO); err != nil {
		return fmt.Errorf("watching %s: %w", filepath.Dir(name), err)
	}
	buffer := make([]byte, 4096)
	for {
		if _, err := os.Stat(name); !errors.Is(err, fs.ErrNotExist) {
			return err
		}
		if _, err := events.Read(buffer); err != nil {
			return errors.Join(ctx.Err(), err)
		}
	}
}
