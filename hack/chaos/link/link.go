package link

import (
	"context"
	"io"
	"net"
	"time"
)

// Faulty is what any link can do to connections. Its methods may be called at any time, from several goroutines.
type Faulty interface {
	// Address returns where the link listens, HOST:PORT.
	Address() string
	// Delay delays each part that is sent, in either direction.
	Delay(by time.Duration)
	// Hold lets nothing pass. Connections stay open, and new ones are accepted.
	Hold()
	// Refuse resets all connections and accepts none.
	Refuse()
	// Heal ends what was done, except that connections which were reset stay so.
	Heal()
	// Close ends the link.
	Close() error
}

// TCP is a link that passes bytes on.
type TCP struct {
	gate     *gate
	listener net.Listener
	to       string
	ctx      context.Context //nolint:containedctx // of the connections to the server, which end with the link
	cancel   context.CancelFunc
}

// NewTCP returns a link to a server at an address, HOST:PORT.
func NewTCP(ctx context.Context, to string) (*TCP, error) {
	inner, err := listen(ctx)
	if err != nil {
		return nil, err
	}
	l := &TCP{gate: newGate(), to: to}
	l.listener = &listener{inner, l.gate}
	l.ctx, l.cancel = context.WithCancel(context.WithoutCancel(ctx))
	go l.serve()
	return l, nil
}

// listen listens at a port of the loopback.
func listen(ctx context.Context) (net.Listener, error) {
	return new(net.ListenConfig).Listen(ctx, "tcp", "127.0.0.1:0")
}

func (l *TCP) serve() {
	for {
		in, err := l.listener.Accept()
		if err != nil {
			return // it is closed
		}
		go l.join(in)
	}
}

// join passes on what a client and the server send each other until one of them ends.
func (l *TCP) join(in net.Conn) {
	defer in.Close()
	out, err := new(net.Dialer).DialContext(l.ctx, "tcp", l.to)
	if err != nil {
		return // the client sees its connection end, as where a server is away
	}
	defer out.Close()
	done := make(chan struct{}, 2)
	pass := func(to, from net.Conn) {
		_, _ = io.Copy(to, from) // how it ends is of no matter
		done <- struct{}{}
	}
	go pass(out, in)
	go pass(in, out)
	select {
	case <-done:
	case <-l.ctx.Done():
	}
}

// Address returns where the link listens.
func (l *TCP) Address() string { return l.listener.Addr().String() }

// Delay delays each part that is sent.
func (l *TCP) Delay(by time.Duration) { l.gate.set(func(g *gate) { g.delay = by }) }

// Hold lets nothing pass.
func (l *TCP) Hold() { l.gate.set(func(g *gate) { g.held = true }) }

// Refuse resets all connections and accepts none.
func (l *TCP) Refuse() {
	l.gate.set(func(g *gate) { g.refused = true })
	l.gate.reset()
}

// Heal ends what was done.
func (l *TCP) Heal() {
	l.gate.set(func(g *gate) { g.delay, g.held, g.refused = 0, false, false })
}

// Close ends the link.
func (l *TCP) Close() error {
	err := l.listener.Close()
	l.cancel()
	l.gate.reset()
	return err
}
