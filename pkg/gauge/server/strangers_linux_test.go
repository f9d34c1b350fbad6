package server

import (
	"bufio"
	"context"
	"crypto/tls"
	"fmt"
	"net"
	"net/http"
	"sync"
	"testing"
	"time"

	"loadline.dev/loadline/pkg/gauge/usage"
)

// The tests of this file play several pods by the addresses of the loopback, which on Linux are all of 127.0.0.0/8.

// patience is how long what must come may take on a busy machine.
const patience = 2 * time.Minute

// forever turns off the deadlines by which a server would close a stranger's connection by itself.
func forever(s *Server) { s.HTTP.ReadTimeout, s.HTTP.ReadHeaderTimeout, s.HTTP.WriteTimeout = 0, 0, 0 }

// dialFrom connects from an address of the loopback.
func (r *running) dialFrom(ctx context.Context, address string) (net.Conn, error) {
	dialer := net.Dialer{LocalAddr: &net.TCPAddr{IP: net.ParseIP(address)}}
	return dialer.DialContext(ctx, "tcp", r.address)
}

// crowd makes strangers of some addresses, 127.0.0.1 and on, each open a number of connections that they never use.
func (r *running) crowd(t *testing.T, addresses, each int) []net.Conn {
	t.Helper()
	var all []net.Conn
	for range each {
		for i := range addresses {
			c, err := r.dialFrom(t.Context(), fmt.Sprint("127.0.0.", i+1))
			if err != nil {
				t.Fatal(err)
			}
			t.Cleanup(func() { _ = c.Close() })
			all = append(all, c)
		}
	}
	return all
}

// probe asks for health as the kubelet does, from an address of its own.
func (r *running) probe(t *testing.T) {
	t.Helper()
	ctx, cancel := context.WithTimeout(t.Context(), patience)
	defer cancel()
	c, err := r.dialFrom(ctx, "127.0.1.1")
	if err != nil {
		t.Fatal(err)
	}
	defer c.Close()
	if deadline, is := ctx.Deadline(); is {
		_ = c.SetDeadline(deadline)
	}
	ask(t, c, "/healthz")
	if status, _ := answer(t, bufio.NewReader(c)); status != http.StatusOK {
		t.Errorf("the probe gets %d", status)
	}
}

func TestStrangersWhoHoldEveryPlaceKeepNoProbeOut(t *testing.T) {
	t.Parallel()
	r := runHealth(t, forever)
	r.crowd(t, 4, maxStrangers/2) // twice the limit
	for range 10 {
		r.probe(t)
	}
	if n := r.count(PortHealth, evicted); n < maxStrangers {
		t.Errorf("%d connections had to make room, want at least %d", n, maxStrangers)
	}
}

func TestStrangersWhoComeAgainAndAgainKeepNoProbeOut(t *testing.T) {
	t.Parallel()
	r := runHealth(t, forever)
	ctx, stop := context.WithCancel(t.Context())
	var all sync.WaitGroup
	for i := range 4 {
		all.Go(func() {
			var held []net.Conn
			for ctx.Err() == nil {
				if c, err := r.dialFrom(ctx, fmt.Sprint("127.0.0.", i+1)); err == nil {
					held = append(held, c)
				}
				if len(held) > maxStrangers {
					_ = held[0].Close()
					held = held[1:]
				}
			}
			for _, c := range held {
				_ = c.Close()
			}
		})
	}
	for r.count(PortHealth, evicted) < maxStrangers { // until there is no place
		r.probe(t)
	}
	for range 10 {
		r.probe(t)
	}
	stop()
	all.Wait()
}

// secure returns a reader's connection, over which a request was admitted.
func (r *running) secure(t *testing.T, address string) (net.Conn, *bufio.Reader) {
	t.Helper()
	plain, err := r.dialFrom(t.Context(), address)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = plain.Close() })
	_ = plain.SetDeadline(time.Now().Add(patience))
	c := tls.Client(plain, &tls.Config{InsecureSkipVerify: true})
	read := bufio.NewReader(c)
	ask(t, c, usage.Path, admittedHeader)
	if status, _ := answer(t, read); status != http.StatusOK {
		t.Fatalf("a reader gets %d", status)
	}
	return c, read
}

func TestStrangersTakeNoPlaceOfReaders(t *testing.T) {
	t.Parallel()
	g := newGauge(t, 1)
	r := runHTTPS(t, NewHandler(g.kept, letIn, http.NotFoundHandler()), forever)
	const shared = "127.0.0.1" // by the API server's proxy readers may have the address of strangers
	before, read := r.secure(t, shared)
	r.crowd(t, 4, maxStrangers/2)
	for range 3 {
		ask(t, before, usage.Path, admittedHeader)
		if status, _ := answer(t, read); status != http.StatusOK {
			t.Errorf("a reader who was there before gets %d", status)
		}
		r.secure(t, "127.0.1.1")
	}
}

func TestReadersTakeNoPlaceOfStrangersNorOfEachOther(t *testing.T) {
	t.Parallel()
	g := newGauge(t, 1)
	r := runHTTPS(t, NewHandler(g.kept, letIn, http.NotFoundHandler()), forever)
	one, read := r.secure(t, "127.0.1.1")
	stranger := r.crowd(t, 1, 1)[0]
	for range maxAdmitted + 8 { // too many of one address
		r.secure(t, "127.0.1.2")
	}
	ask(t, one, usage.Path, admittedHeader)
	if status, _ := answer(t, read); status != http.StatusOK {
		t.Errorf("a reader at another address gets %d", status)
	}
	_ = stranger.SetDeadline(time.Now().Add(patience))
	late := tls.Client(stranger, &tls.Config{InsecureSkipVerify: true})
	ask(t, late, usage.Path, admittedHeader)
	if status, _ := answer(t, bufio.NewReader(late)); status != http.StatusOK {
		t.Errorf("a client that was a stranger for long gets %d", status)
	}
	if n := r.count(PortHTTPS, evicted); n != 10 { // with those two there is one too many ten times
		t.Errorf("%d connections had to make room, want 10", n)
	}
}
