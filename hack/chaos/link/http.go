package link

import (
	"bytes"
	"context"
	"crypto/tls"
	"errors"
	"fmt"
	"io"
	"log"
	"math/rand/v2"
	"net"
	"net/http"
	"net/http/httputil"
	"net/url"
	"strings"
	"sync"
	"sync/atomic"
	"time"
)

// Answer is what an HTTP link does to a request, in place of passing it on.
type Answer struct {
	// Status is the code to answer with.
	Status int
	// Share is the fraction of the requests, from 0 to 1.
	Share float64
	// Only says to which requests: nil for all.
	Only func(*http.Request) bool
	// After has a request carried out first: only the server's answer is lost.
	After bool
}

// Passed is a request that the server of a link has answered.
type Passed struct {
	// At is when the answer came.
	At time.Time
	// Client is the name of the link.
	Client string
	Method string
	Path   string
	Query  string
	// Body is what was sent, of requests that change something.
	Body []byte
	// Status is the server's code, whatever the client was told.
	Status int
}

// HTTP is a link to an API server, which ends the TLS of its clients and passes requests on.
type HTTP struct {
	tcp    *TCP // for its gate and listener
	name   string
	server *http.Server
	certs  *Authority

	mu      sync.Mutex
	random  *rand.Rand
	answer  *Answer
	expired atomic.Bool
	revoked atomic.Pointer[string]
}

// HTTPOptions say what an HTTP link is between.
type HTTPOptions struct {
	// Name is that of the client.
	Name string
	// To is the server, and Transport how to reach it.
	To        *url.URL
	Transport http.RoundTripper
	// Watching is called for each watch that is passed on, with the path, and what it returns when that ends. It may be called by several goroutines at
	// once. Nil is nothing.
	Watching func(client, path string) (end func())
	// Authority signs what the link serves with.
	Authority *Authority
	// Passed is called for each request that may have changed something. It may be called by several goroutines at once.
	Passed func(Passed)
	// Seed is that of the random numbers by which requests are chosen.
	Seed uint64
}

// NewHTTP returns a link to an API server.
func NewHTTP(ctx context.Context, o HTTPOptions) (*HTTP, error) {
	inner, err := listen(ctx)
	if err != nil {
		return nil, err
	}
	h := &HTTP{tcp: &TCP{gate: newGate(), cancel: func() {}}, name: o.Name, certs: o.Authority, random: rand.New(rand.NewPCG(o.Seed, 0))}
	h.tcp.listener = &listener{inner, h.tcp.gate}
	proxy := &httputil.ReverseProxy{
		Transport: o.Transport, FlushInterval: -1,
		Rewrite:        func(r *httputil.ProxyRequest) { r.SetURL(o.To) },
		ModifyResponse: func(r *http.Response) error { h.passed(r, o.Passed); return nil },
		ErrorHandler:   func(http.ResponseWriter, *http.Request, error) { panic(http.ErrAbortHandler) }, // as if there were no link
		ErrorLog:       log.New(io.Discard, "", 0),
	}
	h.server = &http.Server{
		Handler: h.faults(watched(o.Name, o.Watching, proxy)), ReadHeaderTimeout: time.Minute, ErrorLog: log.New(io.Discard, "", 0),
		TLSConfig: &tls.Config{MinVersion: tls.VersionTLS12, GetCertificate: h.certificate},
	}
	go func() { _ = h.server.ServeTLS(h.tcp.listener, "", "") }() // until it is closed
	return h, nil
}

// watched returns a handler that tells of the watches that another one has.
func watched(client string, watching func(client, path string) (end func()), next http.Handler) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if watching != nil && IsWatch(r) {
			defer watching(client, r.URL.Path)()
		}
		next.ServeHTTP(w, r)
	})
}

// bodyKey is that of the body of a request in its context.
type bodyKey struct{}

// passed reports an answer of the server.
func (h *HTTP) passed(r *http.Response, report func(Passed)) {
	body, changes := r.Request.Context().Value(bodyKey{}).([]byte)
	if report == nil || !changes {
		return
	}
	report(Passed{
		At: time.Now(), Client: h.name, Method: r.Request.Method, Path: r.Request.URL.Path, Query: r.Request.URL.RawQuery, Body: body, Status: r.StatusCode,
	})
}

// faults returns a handler that injects faults before and after another one.
func (h *HTTP) faults(next http.Handler) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if token := h.revoked.Load(); token != nil && r.Header.Get("Authorization") == "Bearer "+*token {
			fail(w, http.StatusUnauthorized)
			return
		}
		if changes(r) {
			body, err := io.ReadAll(r.Body)
			if err != nil {
				panic(http.ErrAbortHandler)
			}
			r.Body = io.NopCloser(bytes.NewReader(body))
			r = r.WithContext(context.WithValue(r.Context(), bodyKey{}, body))
		}
		a := h.chosen(r)
		if a == nil {
			next.ServeHTTP(w, r)
			return
		}
		if a.After {
			next.ServeHTTP(&lost{header: http.Header{}}, r)
		}
		fail(w, a.Status)
	})
}

// changes reports whether a request may change something.
func changes(r *http.Request) bool { return r.Method != http.MethodGet && r.Method != http.MethodHead }

// chosen returns what is done to a request, nil for nothing.
func (h *HTTP) chosen(r *http.Request) *Answer {
	h.mu.Lock()
	defer h.mu.Unlock()
	a := h.answer
	if a == nil || a.Only != nil && !a.Only(r) || h.random.Float64() >= a.Share {
		return nil
	}
	return a
}

// reasons are those of an API server for codes.
var reasons = map[int]string{
	http.StatusUnauthorized: "Unauthorized", http.StatusGone: "Expired", http.StatusTooManyRequests: "TooManyRequests",
	http.StatusInternalServerError: "InternalError", http.StatusServiceUnavailable: "ServiceUnavailable", http.StatusGatewayTimeout: "Timeout",
}

// fail answers as an API server does.
func fail(w http.ResponseWriter, status int) {
	w.Header().Set("Content-Type", "application/json")
	if status == http.StatusTooManyRequests {
		w.Header().Set("Retry-After", "1")
	}
	w.WriteHeader(status)
	fmt.Fprintf(w, `{"kind":"Status","apiVersion":"v1","metadata":{},"status":"Failure","message":"a fault that was injected","reason":%q,"code":%d}`, reasons[status], status)
}

// lost is an answer that no client sees.
type lost struct{ header http.Header }

// Header returns headers that are lost.
func (l *lost) Header() http.Header { return l.header }

// Write loses a part of the answer.
func (*lost) Write(b []byte) (int, error) { return len(b), nil }

// WriteHeader loses a code.
func (*lost) WriteHeader(int) {}

// IsWatch reports whether a request is for a watch.
func IsWatch(r *http.Request) bool { return strings.Contains(r.URL.RawQuery, "watch=") }

// certificate returns what the link serves with.
func (h *HTTP) certificate(*tls.ClientHelloInfo) (*tls.Certificate, error) {
	if h.expired.Load() {
		return h.certs.expired, nil
	}
	return h.certs.valid, nil
}

// Answer has requests answered in place of the server, until Heal.
func (h *HTTP) Answer(a Answer) {
	h.mu.Lock()
	defer h.mu.Unlock()
	h.answer = &a
}

// Gone has watches end, and answers that their versions are too old, until Heal.
func (h *HTTP) Gone() {
	h.Answer(Answer{Status: http.StatusGone, Share: 1, Only: IsWatch})
	h.tcp.gate.reset()
}

// Expire has the link serve with a certificate that is no longer valid, until Heal.
func (h *HTTP) Expire() {
	h.expired.Store(true)
	h.tcp.gate.reset()
}

// Revoke refuses a token from now on, also after Heal.
func (h *HTTP) Revoke(token string) { h.revoked.Store(&token) }

// Address returns where the link listens.
func (h *HTTP) Address() string { return h.tcp.Address() }

// Delay delays each part that is sent.
func (h *HTTP) Delay(by time.Duration) { h.tcp.Delay(by) }

// Hold lets nothing pass.
func (h *HTTP) Hold() { h.tcp.Hold() }

// Refuse resets all connections and accepts none.
func (h *HTTP) Refuse() { h.tcp.Refuse() }

// Heal ends what was done.
func (h *HTTP) Heal() {
	h.mu.Lock()
	h.answer = nil
	h.mu.Unlock()
	h.expired.Store(false)
	h.tcp.Heal()
}

// Close ends the link.
func (h *HTTP) Close() error {
	err := h.server.Close()
	h.tcp.gate.reset()
	if errors.Is(err, net.ErrClosed) {
		return nil
	}
	return err
}
