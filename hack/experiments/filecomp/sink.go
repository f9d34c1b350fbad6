package main

import (
	"context"
	"fmt"
	"io"
	"net"
	"time"

	"loadline.dev/loadline/pkg/probe"
)

// patience is how long a sink may take to acknowledge a block.
const patience = 30 * time.Second

// sink is a connection to a sink of loadline-probe.
type sink struct {
	connection net.Conn
	last       [probe.NetworkUnit]byte
	sent       uint64 // blocks
}

// dial connects to a sink.
func dial(ctx context.Context, peer string) (*sink, error) {
	connection, err := (&net.Dialer{Timeout: patience}).DialContext(ctx, "tcp", peer)
	if err != nil {
		return nil, fmt.Errorf("the sink: %w", err)
	}
	return &sink{connection: connection}, nil
}

// send sends content, filled up to whole blocks, and waits until the sink has each.
func (s *sink) send(content []byte) error {
	for len(content) > 0 {
		n := copy(s.last[:], content)
		clear(s.last[n:])
		content = content[n:]
		if err := s.connection.SetDeadline(time.Now().Add(patience)); err != nil {
			return fmt.Errorf("the sink: %w", err)
		}
		if _, err := s.connection.Write(s.last[:]); err != nil {
			return fmt.Errorf("sending to the sink: %w", err)
		}
		var ack [1]byte
		if _, err := io.ReadFull(s.connection, ack[:]); err != nil {
			return fmt.Errorf("hearing from the sink: %w", err)
		}
		s.sent++
	}
	return nil
}

func (s *sink) close() error { return s.connection.Close() }
