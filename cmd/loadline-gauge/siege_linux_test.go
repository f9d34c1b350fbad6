package main

import (
	"context"
	"crypto/tls"
	"encoding/json"
	"flag"
	"fmt"
	"io"
	"net"
	"net/http"
	"os"
	"os/exec"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"loadline.dev/loadline/pkg/gauge/access"
	"loadline.dev/loadline/pkg/gauge/usage"
)

// The addresses of the loopback, which on Linux are all of 127.0.0.0/8, play pods: strangers are at 127.0.2.x.
const (
	proberAddress = "127.0.1.1"
	readerAddress = "127.0.1.2"
	strangersPods = 8
)

var (
	siege        = flag.Duration("siege", 0, "besiege a gauge for so long, such as 1m, by the clients of -siege-clients in a process of their own; 0 leaves it out")
	siegeClients = flag.Int("siege-clients", 1000, "how many idle clients besiege it, and as many with wrong tokens")
)

// strangers are clients that come to a gauge again and again.
type strangers struct {
	HTTPS, Health string // SCHEME://HOST:PORT
	// Idle do nothing with their connections, half of them at each port, and Wrong send wrong tokens for the right audience.
	Idle, Wrong int
}

// strangersVariable has this program be strangers until its standard input ends.
const strangersVariable = "LOADLINE_TEST_STRANGERS"

func TestMain(m *testing.M) {
	text := os.Getenv(strangersVariable)
	if text == "" {
		os.Exit(m.Run())
	}
	var s strangers
	if err := json.Unmarshal([]byte(text), &s); err != nil {
		panic(err)
	}
	ctx, stop := context.WithCancel(context.Background())
	done := s.come(ctx)
	_, _ = io.Copy(io.Discard, os.Stdin)
	stop()
	<-done
}

// come has them come until a context ends, and returns what is closed when they have gone.
func (s strangers) come(ctx context.Context) (gone <-chan struct{}) {
	var all sync.WaitGroup
	for i := range s.Idle {
		all.Go(func() {
			at := s.HTTPS
			if i%2 == 0 {
				at = s.Health
			}
			for ctx.Err() == nil {
				_ = visit(ctx, i, at, func(c net.Conn) error {
					_, err := io.Copy(io.Discard, c) // until the gauge closes it
					return err
				})
			}
		})
	}
	for i := range s.Wrong {
		all.Go(func() {
			for n := 0; ctx.Err() == nil; n++ {
				token := fmt.Sprint("wrong-", i, "-", n, strings.TrimPrefix(readerOf(usage.Audience), "reader"))
				_ = visit(ctx, i, s.HTTPS, func(c net.Conn) error {
					_, err := fmt.Fprintf(c, "GET %s HTTP/1.1\r\nHost: a\r\n%s: %s\r\n\r\n", usage.Path, usage.TokenHeader, token)
					if err == nil {
						_, err = io.Copy(io.Discard, c) // until the gauge closes it
					}
					return err
				})
			}
		})
	}
	done := make(chan struct{})
	go func() {
		defer close(done)
		all.Wait()
	}()
	return done
}

// strangerAddress returns the address of a stranger, who shares it with others of the same pod.
func strangerAddress(stranger int) string { return fmt.Sprint("127.0.2.", 1+stranger%strangersPods) }

// visit has a stranger do something with a connection, which ends with the context.
func visit(ctx context.Context, stranger int, at string, do func(net.Conn) error) error {
	c, err := dialFrom(ctx, strangerAddress(stranger), at)
	if err != nil {
		return err
	}
	stop := context.AfterFunc(ctx, func() { _ = c.Close() })
	defer stop()
	defer c.Close()
	return do(c)
}

// dialFrom connects from an address of the loopback to SCHEME://HOST:PORT, by TLS or without.
func dialFrom(ctx context.Context, address, to string) (net.Conn, error) {
	dialer := &net.Dialer{LocalAddr: &net.TCPAddr{IP: net.ParseIP(address)}}
	scheme, host, _ := strings.Cut(to, "://")
	if scheme == "http" {
		return dialer.DialContext(ctx, "tcp", host)
	}
	return (&tls.Dialer{NetDialer: dialer, Config: &tls.Config{InsecureSkipVerify: true}}).DialContext(ctx, "tcp", host)
}

// honest is a client at an address of its own, each of whose requests has a time limit, and a connection of its own.
type honest struct {
	client *http.Client

	asked, failed int
	took          []time.Duration
	firstFailure  string
}

func newHonest(address string, limit time.Duration) *honest {
	return &honest{client: &http.Client{Timeout: limit, Transport: &http.Transport{
		DisableKeepAlives: true, TLSClientConfig: &tls.Config{InsecureSkipVerify: true},
		DialContext: (&net.Dialer{LocalAddr: &net.TCPAddr{IP: net.ParseIP(address)}}).DialContext,
	}}}
}

func (h *honest) get(ctx context.Context, url, token string) {
	begin := time.Now()
	status, body, err := get(ctx, h.client, url, token)
	h.took = append(h.took, time.Since(begin))
	h.asked++
	if err != nil || status != http.StatusOK {
		if h.failed++; h.failed == 1 {
			h.firstFailure = fmt.Sprintf("%s: %d %.200s %v", url, status, body, err)
		}
	}
}

// String says how its requests went.
func (h *honest) String() string {
	slices.Sort(h.took)
	return fmt.Sprintf("%d requests, %d failed, median %v, longest %v", h.asked, h.failed, h.took[len(h.took)/2].Round(time.Microsecond), h.took[len(h.took)-1].Round(time.Microsecond))
}

// besieged is a gauge whose API server takes some milliseconds for each answer, and counts them.
func besieged(t *testing.T) (s *serving, reviews *atomic.Int64) {
	t.Helper()
	reviews = new(atomic.Int64)
	return serveSamples(t, func(ctx context.Context, r access.Request) (access.Decision, error) {
		reviews.Add(1)
		select {
		case <-time.After(5 * time.Millisecond):
		case <-ctx.Done():
			return 0, ctx.Err()
		}
		return judge(ctx, r)
	}), reviews
}

// closedOf returns how many connections a gauge says that it closed, by port and reason.
func closedOf(t *testing.T, s *serving, reader *honest) map[string]string {
	t.Helper()
	_, text, err := get(t.Context(), reader.client, s.https+"/metrics", "reader")
	if err != nil {
		t.Fatal(err)
	}
	closed := map[string]string{}
	for line := range strings.Lines(text) {
		if series, is := strings.CutPrefix(line, "loadline_connections_closed_total"); is {
			labels, n, _ := strings.Cut(strings.TrimSpace(series), " ")
			closed[labels] = n
		}
	}
	return closed
}

// newReader returns the token of a reader who was not there before.
func newReader(n int) string {
	return strings.Replace(readerOf(usage.Audience), "reader", fmt.Sprint("reader-", n), 1)
}

// fill opens more connections to the ports of a gauge than it has places for, and returns what closes them.
func (s *serving) fill(t *testing.T) (leave func()) {
	t.Helper()
	const connections = 300
	var all []net.Conn
	for i := range connections {
		for _, at := range []string{s.https, s.health} {
			c, err := dialFrom(t.Context(), strangerAddress(i), strings.Replace(at, "https", "http", 1)) // they do not shake hands
			if err != nil {
				t.Fatal(err)
			}
			all = append(all, c)
		}
	}
	return func() {
		for _, c := range all {
			_ = c.Close()
		}
	}
}

// Strangers fill both ports, and try wrong tokens. Probes and readers with new tokens, from other addresses, notice nothing of it.
func TestStrangersKeepNeitherProbesNorReadersOut(t *testing.T) {
	t.Parallel()
	s, _ := besieged(t)
	ctx, stop := context.WithCancel(t.Context())
	gone := strangers{HTTPS: s.https, Wrong: strangersPods}.come(ctx)
	const patience = 2 * time.Minute // with a machine that does much else
	prober, reader := newHonest(proberAddress, patience), newHonest(readerAddress, patience)
	const rounds = 3 // with fewer new readers than a source may have judged at once
	for n := range rounds {
		leave := s.fill(t)
		prober.get(ctx, s.health+"/healthz", "")
		prober.get(ctx, s.health+"/readyz", "")
		reader.get(ctx, s.https+usage.Path, newReader(n))
		leave()
	}
	stop()
	<-gone
	for who, h := range map[string]*honest{"the prober": prober, "the reader": reader} {
		if h.failed > 0 {
			t.Errorf("%s: %v; the first: %s", who, h, h.firstFailure)
		}
	}
	for _, port := range []string{"https", "health"} {
		if n := closedOf(t, s, reader)[fmt.Sprintf(`{port=%q,reason="evicted"}`, port)]; n == "" || n == "0" {
			t.Errorf("strangers did not fill the port %s", port)
		}
	}
}

// The same for longer and with more, and with the kubelet's patience:
//
//	go test ./cmd/loadline-gauge -run Siege -v -siege 1m
func TestASiege(t *testing.T) {
	if *siege == 0 {
		t.Skip("without -siege")
	}
	s, reviews := besieged(t)
	text, err := json.Marshal(strangers{HTTPS: s.https, Health: s.health, Idle: *siegeClients, Wrong: *siegeClients})
	if err != nil {
		t.Fatal(err)
	}
	command := exec.CommandContext(t.Context(), os.Args[0])
	command.Env = append(os.Environ(), strangersVariable+"="+string(text))
	untilClosed, err := command.StdinPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := command.Start(); err != nil {
		t.Fatal(err)
	}
	prober, known, fresh := newHonest(proberAddress, time.Second), newHonest(readerAddress, 10*time.Second), newHonest("127.0.1.3", 10*time.Second)
	known.client.Transport.(*http.Transport).DisableKeepAlives = false //nolint:errcheck // as newHonest makes it
	over, cancel := context.WithTimeout(t.Context(), *siege)
	defer cancel()
	var all sync.WaitGroup
	every := func(period time.Duration, do func(n int)) {
		all.Go(func() {
			ticks := time.NewTicker(period)
			defer ticks.Stop()
			for n := 0; ; n++ {
				select {
				case <-ticks.C:
					do(n)
				case <-over.Done():
					return
				}
			}
		})
	}
	every(200*time.Millisecond, func(n int) { prober.get(t.Context(), s.health+[]string{"/healthz", "/readyz"}[n%2], "") })
	every(200*time.Millisecond, func(int) { known.get(t.Context(), s.https+usage.Path, readerOf(usage.Audience)) })
	every(time.Second, func(n int) { fresh.get(t.Context(), s.https+usage.Path, newReader(n)) })
	all.Wait()
	t.Logf("closed connections: %v; questions to the API server: %d", closedOf(t, s, fresh), reviews.Load())
	_ = untilClosed.Close()
	if err := command.Wait(); err != nil {
		t.Error(err)
	}
	for who, h := range map[string]*honest{"probes": prober, "a reader with a known token": known, "readers with new tokens": fresh} {
		t.Logf("%s: %v", who, h)
		if h.failed > 0 {
			t.Errorf("%s: the first that failed: %s", who, h.firstFailure)
		}
	}
}
