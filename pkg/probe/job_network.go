package probe

import (
	"context"
	"errors"
	"fmt"
	"net"
)

// NetworkUnit is how many bytes a unit of the network job sends, and a [Sink]
// acknowledges.
const NetworkUnit = 64 << 10

// networkWorkers returns workers that each send blocks to a sink, the next one when
// the sink has the last.
func networkWorkers(ctx context.Context, j Job) (*workers, error) {
	if j.Peer == "" {
		return nil, errors.New("peer: is empty; it must be the address of a sink, such as 10.0.0.7:7077")
	}
	if _, _, err := net.SplitHostPort(j.Peer); err != nil {
		return nil, fmt.Errorf("peer: %w; want host:port", err)
	}
	c := &workers{}
	c.newUnit = func() (unit, error) {
		l, err := dial(ctx, j.Peer)
		if err != nil {
			return nil, err
		}
		c.closers = append(c.closers, l.close)
		return l.exchange, nil
	}
	return c, nil
}
