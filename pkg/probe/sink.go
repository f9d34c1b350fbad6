package probe

import (
	"context"
	"errors"
	"fmt"
	"io"
	"math"
	"net"
	"sync"
	"time"
)

// silence is how long a sink keeps a connection that says nothing.
const silence = time.Minute

// slowest is the least throughput of a sink that limits it, in million bits a second.
const slowest = 0.01

// Sink takes what network jobs send to a listener, and says of each block that it has
// come. It returns when the context ends, with the listener and all connections closed.
// megabits is how many million bits it takes a second at most, as one server that takes
// the blocks of all connections one at a time, in the order of their coming; from 0.01,
// where a block takes almost a minute, and 0 is no limit.
func Sink(ctx context.Context, listener net.Listener, megabits float64) error {
	if megabits != 0 && !(megabits >= slowest) || math.IsInf(megabits, 1) {
		return errors.Join(fmt.Errorf("megabits: %v is neither 0 nor a finite number of at least %v", megabits, slowest), listener.Close())
	}
	at := &server{}
	if megabits > 0 {
		at.perBlock = int64(8e3 * NetworkUnit / megabits)
	}
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
		serving.Go(func() { swallow(ctx, connection, at) })
	}
}

// swallow serves one connection until it ends. How is the sender's affair.
func swallow(ctx context.Context, connection net.Conn, at *server) {
	hangUp := context.AfterFunc(ctx, func() { _ = connection.Close() })
	defer func() {
		if hangUp() {
			_ = connection.Close()
		}
	}()
	block := make([]byte, NetworkUnit)
	for {
		if connection.SetDeadline(time.Now().Add(silence)) != nil {
			return
		}
		if _, err := io.ReadFull(connection, block); err != nil {
			return
		}
		if at.take() != nil {
			return
		}
		if _, err := connection.Write(block[:1]); err != nil {
			return
		}
	}
}

// server serves one block at a time.
type server struct {
	perBlock int64 // nanoseconds; 0 for no time
	mutex    sync.Mutex
	free     int64 // when it has served all that have come, as [Now] tells the time
}

// take serves a block, after those that came before it.
func (s *server) take() error {
	if s.perBlock == 0 {
		return nil
	}
	now, err := Now()
	if err != nil {
		return err
	}
	return awaitTime(s.serve(now))
}

// serve returns when a block that comes now will have been served.
func (s *server) serve(now int64) int64 {
	s.mutex.Lock()
	defer s.mutex.Unlock()
	s.free = max(s.free, now) + s.perBlock
	return s.free
}
