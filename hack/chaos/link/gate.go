package link

import (
	"net"
	"sync"
	"time"
)

// gate is what everything that is sent over a link has to pass, in either direction.
type gate struct {
	mu      sync.Mutex
	held    bool          // nothing passes
	refused bool          // connections are reset, and none is accepted
	delay   time.Duration // of each part that is sent
	changed chan struct{} // closed when one of these changes
	conns   map[*conn]struct{}
}

func newGate() *gate {
	return &gate{changed: make(chan struct{}), conns: map[*conn]struct{}{}}
}

// set changes the state of the gate.
func (g *gate) set(change func(*gate)) {
	g.mu.Lock()
	defer g.mu.Unlock()
	change(g)
	close(g.changed)
	g.changed = make(chan struct{})
}

// reset closes all connections.
func (g *gate) reset() {
	g.mu.Lock()
	conns := make([]*conn, 0, len(g.conns))
	for c := range g.conns {
		conns = append(conns, c)
	}
	g.mu.Unlock()
	for _, c := range conns {
		_ = c.Close() // it may be closed already
	}
}

// pass returns when something may pass, or with an error once the connection is closed.
func (g *gate) pass(closed <-chan struct{}) error {
	for {
		g.mu.Lock()
		held, delay, changed := g.held, g.delay, g.changed
		g.mu.Unlock()
		if !held && delay == 0 {
			return nil
		}
		timer := time.NewTimer(delay)
		elapsed := timer.C
		if held {
			elapsed = nil
		}
		select {
		case <-closed:
			timer.Stop()
			return net.ErrClosed
		case <-changed:
			timer.Stop()
		case <-elapsed:
			return nil
		}
	}
}

// conn is a connection from a client of a link.
type conn struct {
	net.Conn
	gate   *gate
	once   sync.Once
	closed chan struct{}
}

// Read reads what has passed the gate.
func (c *conn) Read(b []byte) (int, error) {
	n, err := c.Conn.Read(b)
	if n > 0 {
		if err := c.gate.pass(c.closed); err != nil {
			return 0, err
		}
	}
	return n, err
}

// Write writes once the gate is passed.
func (c *conn) Write(b []byte) (int, error) {
	if err := c.gate.pass(c.closed); err != nil {
		return 0, err
	}
	return c.Conn.Write(b)
}

// Close closes the connection, whatever waits at the gate.
func (c *conn) Close() error {
	c.once.Do(func() {
		close(c.closed)
		c.gate.mu.Lock()
		delete(c.gate.conns, c)
		c.gate.mu.Unlock()
	})
	return c.Conn.Close()
}

// listener accepts connections that pass a gate.
type listener struct {
	net.Listener
	gate *gate
}

// Accept returns the next connection that is not refused.
func (l *listener) Accept() (net.Conn, error) {
	for {
		inner, err := l.Listener.Accept()
		if err != nil {
			return nil, err
		}
		c := &conn{Conn: inner, gate: l.gate, closed: make(chan struct{})}
		if l.gate.admit(c) {
			return c, nil
		}
		_ = inner.Close() // it is refused
	}
}

// admit adds a connection to those that a reset closes, and reports whether it is not refused.
func (g *gate) admit(c *conn) bool {
	g.mu.Lock()
	defer g.mu.Unlock()
	if !g.refused {
		g.conns[c] = struct{}{}
	}
	return !g.refused
}
