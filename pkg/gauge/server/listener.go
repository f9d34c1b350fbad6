package server

import (
	"container/list"
	"context"
	"crypto/tls"
	"net"
	"net/netip"
	"sync"

	"loadline.dev/loadline/pkg/gauge/source"
)

// How many connections a listener has open at once: those of strangers, and those over which a request was admitted.
const maxStrangers, maxAdmitted = 128, 128

// listener accepts every connection at once, and closes others so that a bounded number is open. Those over which a request was
// admitted are counted apart from those of strangers: neither takes a place of the other.
type listener struct {
	net.Listener
	evicted func() // counts a connection that is closed to make room

	mu                  sync.Mutex
	strangers, admitted *pool
}

func newListener(l net.Listener, evicted func()) *listener {
	return &listener{Listener: l, evicted: evicted, strangers: newPool(maxStrangers), admitted: newPool(maxAdmitted)}
}

// Accept returns the next connection, which is a stranger's.
func (l *listener) Accept() (net.Conn, error) {
	accepted, err := l.Listener.Accept()
	if err != nil {
		return nil, err
	}
	c := &connection{Conn: accepted, source: source.Of(accepted.RemoteAddr().String()), listener: l}
	l.mu.Lock()
	surplus := l.strangers.add(c)
	l.mu.Unlock()
	l.evict(surplus)
	return c, nil
}

// admit notes that a request that came over a connection was admitted just now.
func (l *listener) admit(c *connection) {
	l.mu.Lock()
	var surplus *connection
	switch c.in {
	case l.strangers:
		l.strangers.remove(c)
		surplus = l.admitted.add(c)
	case l.admitted:
		l.admitted.used(c)
	} // else it was closed meanwhile
	l.mu.Unlock()
	l.evict(surplus)
}

// evict closes a connection that had to make room, if there is one.
func (l *listener) evict(c *connection) {
	if c != nil {
		l.evicted()
		_ = c.Conn.Close() // its server sees that it is closed
	}
}

// connection is one that a listener accepted.
type connection struct {
	net.Conn
	source   netip.Prefix
	listener *listener

	// in is the pool that it is in, at a place, or nil once it is in none. They are the listener's to guard.
	in    *pool
	place *list.Element
}

// Close closes it and gives its place back.
func (c *connection) Close() error {
	c.listener.mu.Lock()
	if c.in != nil {
		c.in.remove(c)
	}
	c.listener.mu.Unlock()
	return c.Conn.Close()
}

// ofConnection is the key of the connection that a request came over, in its context.
type ofConnection struct{}

// withConnection is a server's ConnContext, for connections of a listener, with TLS or without.
func withConnection(ctx context.Context, c net.Conn) context.Context {
	if secure, is := c.(*tls.Conn); is {
		c = secure.NetConn()
	}
	return context.WithValue(ctx, ofConnection{}, c)
}

// admit notes that the request of a context was admitted, if it came over a connection of a listener.
func admit(ctx context.Context) {
	if c, is := ctx.Value(ofConnection{}).(*connection); is {
		c.listener.admit(c)
	}
}
