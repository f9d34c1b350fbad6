//go:build !linux

package dockerd

import (
	"context"
	"errors"
)

// errNotLinux is what everything here fails with.
var errNotLinux = errors.New("a Docker daemon of our own needs Linux: start Docker")

// Daemon is a running Docker daemon, which only Linux can have.
type Daemon struct{}

// Available reports nothing: the caller has no use for the answer where no daemon can be started.
func Available(context.Context) bool { return false }

// Start fails: a Docker daemon needs Linux.
func Start(context.Context, string) (*Daemon, error) { return nil, errNotLinux }

// Env returns nothing.
func (*Daemon) Env() string { return "" }

// Done returns no channel.
func (*Daemon) Done() <-chan struct{} { return nil }

// Err returns that there is none.
func (*Daemon) Err() error { return errNotLinux }

// Stop does nothing.
func (*Daemon) Stop() error { return nil }
