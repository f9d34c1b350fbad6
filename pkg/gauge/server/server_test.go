package server

import (
	"bufio"
	"context"
	"crypto/tls"
	"io"
	"net"
	"net/http"
	"strings"
	"testing"
	"time"

	"github.com/prometheus/client_golang/prometheus"
	"github.com/prometheus/client_golang/prometheus/testutil"
	"k8s.io/utils/clock"

	"loadline.dev/loadline/pkg/gauge/usage"
)

// running is a server that runs.
type running struct {
	*Server
	closed  *Metrics
	address string
	stop    context.CancelFunc
	ended   chan error
}

// admitted is the header of requests that the tests' guard lets in.
const admitted = "Admitted"

// letIn is a guard that lets in requests that say so themselves.
func letIn(_ string, next http.Handler) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if r.Header.Get(admitted) == "" {
			http.Error(w, "who is it?", http.StatusUnauthorized)
			return
		}
		next.ServeHTTP(w, r)
	})
}

// listen returns a free port of the loopback, and the counters of the connections that its server
// closes.
func listen(t *testing.T) (net.Listener, *Metrics) {
	t.Helper()
	l, err := new(net.ListenConfig).Listen(t.Context(), "tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	return l, NewMetrics(prometheus.NewRegistry())
}

// runHTTPS runs a server of a handler, which a test may still change, until the test ends.
func runHTTPS(t *testing.T, h http.Handler, change ...func(*Server)) *running {
	t.Helper()
	l, m := listen(t)
	return run(t, NewHTTPS(PortHTTPS, l, SelfSigned("a", clock.RealClock{}), h, m), m, change...)
}

// runHealth runs a server of health in the same way, which is well.
func runHealth(t *testing.T, change ...func(*Server)) *running {
	t.Helper()
	l, m := listen(t)
	return run(t, NewHealth(l, NewHealthHandler(func() error { return nil }), m), m, change...)
}

func run(t *testing.T, s *Server, m *Metrics, change ...func(*Server)) *running {
	t.Helper()
	s.patience = 50 * time.Millisecond
	for _, f := range change {
		f(s)
	}
	ctx, stop := context.WithCancel(t.Context())
	r := &running{s, m, s.Listener.Addr().String(), stop, make(chan error, 1)}
	go func() {
		defer close(r.ended)
		r.ended <- s.Serve(ctx)
	}()
	t.Cleanup(func() { r.end(t) })
	return r
}

// end stops the server, if it still runs, and waits until it has ended.
func (r *running) end(t *testing.T) {
	t.Helper()
	r.stop()
	if err := <-r.ended; err != nil {
		t.Errorf("the server ended with %v", err)
	}
}

// count returns how many connections were closed for a reason.
func (r *running) count(port Port, reason string) int {
	return int(testutil.ToFloat64(r.closed.closed.WithLabelValues(string(port), reason)))
}

// dial returns a TLS connection.
func (r *running) dial(t *testing.T) net.Conn {
	t.Helper()
	dialer := &tls.Dialer{Config: &tls.Config{InsecureSkipVerify: true}}
	connection, err := dialer.DialContext(t.Context(), "tcp", r.address)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = connection.Close() })
	return connection
}

// ask sends a request with headers.
func ask(t *testing.T, connection net.Conn, path string, headers ...string) {
	t.Helper()
	if _, err := io.WriteString(connection, "GET "+path+" HTTP/1.1\r\nHost: a\r\n"+strings.Join(headers, "")+"\r\n"); err != nil {
		t.Fatal(err)
	}
}

// admittedHeader makes the tests' guard let a request in.
const admittedHeader = admitted + ": yes\r\n"

// answer reads an answer to its end, and returns its status, and whether the connection ends with it.
func answer(t *testing.T, from *bufio.Reader) (status int, ends bool) {
	t.Helper()
	response, err := http.ReadResponse(from, nil)
	if err != nil {
		t.Fatal(err)
	}
	defer response.Body.Close()
	if _, err := io.Copy(io.Discard, response.Body); err != nil {
		t.Fatal(err)
	}
	return response.StatusCode, response.Close
}

func TestAServerServesByHTTPSAndEndsWithItsContext(t *testing.T) {
	t.Parallel()
	r := runHTTPS(t, newGauge(t, 1))
	connection := r.dial(t)
	ask(t, connection, usage.Path)
	if status, _ := answer(t, bufio.NewReader(connection)); status != http.StatusOK {
		t.Errorf("status %d", status)
	}
	if plain, err := new(net.Dialer).DialContext(t.Context(), "tcp", r.address); err != nil {
		t.Error(err)
	} else {
		defer plain.Close()
		ask(t, plain, usage.Path)
		if answer, _ := io.ReadAll(plain); strings.Contains(string(answer), "200") {
			t.Errorf("without TLS it answers %q", answer)
		}
	}
}

func TestAClientThatEndsNoHeaderIsDisconnected(t *testing.T) {
	t.Parallel()
	r := runHTTPS(t, newGauge(t, 1), func(s *Server) { s.HTTP.ReadHeaderTimeout = 2 * time.Second })
	connection := r.dial(t)
	if _, err := io.WriteString(connection, "GET /v1/usage HTTP/1.1\r\nHost:"); err != nil {
		t.Fatal(err)
	}
	if answer, _ := io.ReadAll(connection); strings.Contains(string(answer), "200") { // it ends when the server closes
		t.Errorf("it got %q", answer)
	}
}

func TestAClientThatDoesNotReadGivesItsPlaceBack(t *testing.T) {
	t.Parallel()
	const size = 64 << 20 // more than buffers on the way hold
	ended := make(chan error, 1)
	r := runHTTPS(t, http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
		ended <- writeReport(w, 0, [][]byte{make([]byte, size)})
	}), func(s *Server) { s.HTTP.WriteTimeout = 2 * time.Second })
	ask(t, r.dial(t), "/v1/usage")
	if err := <-ended; err == nil {
		t.Error("it was written to the end")
	}
}

func TestAConnectionStaysOpenWhileItsRequestsAreAdmitted(t *testing.T) {
	t.Parallel()
	g := newGauge(t, 1)
	r := runHTTPS(t, NewHandler(g.kept, letIn, http.NotFoundHandler()))
	connection := r.dial(t)
	read := bufio.NewReader(connection)
	for range 3 {
		ask(t, connection, usage.Path, admittedHeader)
		if status, ends := answer(t, read); status != http.StatusOK || ends {
			t.Errorf("status %d, and the connection ends: %v", status, ends)
		}
	}
	ask(t, connection, usage.Path)
	if status, ends := answer(t, read); status != http.StatusUnauthorized || !ends {
		t.Errorf("when it is refused: status %d, and the connection ends: %v", status, ends)
	}
	if _, err := read.ReadByte(); err != io.EOF {
		t.Errorf("after that: %v, want the end", err)
	}
	stranger := r.dial(t)
	ask(t, stranger, "/somewhere", admittedHeader)
	if status, ends := answer(t, bufio.NewReader(stranger)); status != http.StatusNotFound || !ends {
		t.Errorf("what is not there: status %d, and the connection ends: %v", status, ends)
	}
	if n := r.count(PortHTTPS, refused); n != 2 {
		t.Errorf("%d connections are counted as refused, want 2", n)
	}
}

func TestAConnectionForHealthHasOneRequest(t *testing.T) {
	t.Parallel()
	r := runHealth(t)
	connection, err := new(net.Dialer).DialContext(t.Context(), "tcp", r.address)
	if err != nil {
		t.Fatal(err)
	}
	defer connection.Close()
	ask(t, connection, "/healthz")
	read := bufio.NewReader(connection)
	if status, ends := answer(t, read); status != http.StatusOK || !ends {
		t.Errorf("status %d, and the connection ends: %v", status, ends)
	}
	if _, err := read.ReadByte(); err != io.EOF {
		t.Errorf("after that: %v, want the end", err)
	}
}

func TestAFullHouseAnswers503(t *testing.T) {
	t.Parallel()
	g := &gauge{Handler: NewUsageHandler(1, 0, nil)}
	if w := g.get(t, usage.Path); w.Code != http.StatusServiceUnavailable || w.Header().Get("Retry-After") == "" {
		t.Errorf("%d %q", w.Code, w.Body)
	}
}

func TestASlowClientDoesNotKeepTheServerFromEnding(t *testing.T) {
	t.Parallel()
	began := make(chan struct{})
	r := runHTTPS(t, http.HandlerFunc(func(_ http.ResponseWriter, request *http.Request) {
		close(began)
		<-request.Context().Done()
	}))
	ask(t, r.dial(t), "/v1/usage")
	<-began
	r.end(t)
}

func TestAListenerThatFailsEndsTheServer(t *testing.T) {
	t.Parallel()
	l, m := listen(t)
	if err := l.Close(); err != nil {
		t.Fatal(err)
	}
	if err := NewHealth(l, http.NotFoundHandler(), m).Serve(t.Context()); err == nil {
		t.Error("no error")
	}
}
