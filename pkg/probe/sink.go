package probe

import (
	"context"
	"errors"
	"io"
	"net"
	"sync"
	"time"
)

// silence is how long a sink keeps a connection that says nothing.
const silence = time.Minute

// Sink takes what network jobs send to a listener, and says of each block that it has
// come. It returns when the context ends, with the listener and all connections closed.
func Sink(ctx context.Context, listener net.Listener) error {
	ctx, cancel := context.WithCancel(ctx)
	var serving sync.WaitGroup
	defer serving.Wait()
	defer cancel()
	context.AfterFunc(ctx, func() { _ = listener.Close() }) // Accept tells
	for {
		connection, err := listener.Accept()
		if ctx.Err() != nil {
			if err == nil {
				err = connection.Close()
			}
			if errors.Is(err, net.ErrClosed) {
				err = nil
			}
			return err
		}
		if err != nil {
			return err
		}
		serving.Go(func() { swallow(ctx, connection) })
	}
}

// swallow serves one connection until it ends. How is the sender's affair.
func swallow(ctx context.Context, connection net.Conn) {
	hangUp := context.AfterFunc(ctx, func() { _ = connection.Close() })
	defer func() {
		if hangUp() {
			_ = connection.Close()
		}
	}()
	block := make([]byte, networkUnit)
	for {
		if connection.SetDeadline(time.Now().Add(silence)) != nil {
			return
		}
		if _, err := io.ReadFull(connection, block); err != nil {
			return
		}
		if _, err := connection.Write(block[:1]); err != nil {
			return
		}
	}
}
