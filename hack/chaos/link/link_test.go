package link

import (
	"context"
	"crypto/tls"
	"crypto/x509"
	"errors"
	"io"
	"net/http"
	"net/http/httptest"
	"net/url"
	"strings"
	"sync/atomic"
	"testing"
	"time"
)

// asked is an HTTP link to a server, and a client of it.
type asked struct {
	*HTTP
	client *http.Client
	passed chan Passed
	served atomic.Int64
}

func newAsked(t *testing.T) *asked {
	t.Helper()
	a := &asked{passed: make(chan Passed, 10)}
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		a.served.Add(1)
		body, _ := io.ReadAll(r.Body)
		_, _ = w.Write(append([]byte("served "), body...))
	}))
	t.Cleanup(server.Close)
	to, err := url.Parse(server.URL)
	if err != nil {
		t.Fatal(err)
	}
	authority, err := NewAuthority(time.Now())
	if err != nil {
		t.Fatal(err)
	}
	a.HTTP, err = NewHTTP(t.Context(), HTTPOptions{
		Name: "client", To: to, Transport: http.DefaultTransport, Authority: authority, Passed: func(p Passed) { a.passed <- p }, Seed: 1,
	})
	if err != nil {
		t.Fatal(err)
	}
	roots := x509.NewCertPool()
	roots.AppendCertsFromPEM(authority.PEM)
	transport := &http.Transport{TLSClientConfig: &tls.Config{RootCAs: roots, MinVersion: tls.VersionTLS12}, ForceAttemptHTTP2: true}
	a.client = &http.Client{Transport: transport}
	t.Cleanup(func() {
		transport.CloseIdleConnections()
		if err := a.Close(); err != nil {
			t.Error(err)
		}
	})
	return a
}

// send sends a request, and returns the code and the body of the answer.
func (a *asked) send(ctx context.Context, t *testing.T, method, path, body, token string) (int, string, error) {
	t.Helper()
	request, err := http.NewRequestWithContext(ctx, method, "https://"+a.Address()+path, strings.NewReader(body))
	if err != nil {
		t.Fatal(err)
	}
	request.Header.Set("Authorization", "Bearer "+token)
	response, err := a.client.Do(request)
	if err != nil {
		return 0, "", err
	}
	defer response.Body.Close()
	content, err := io.ReadAll(response.Body)
	return response.StatusCode, string(content), err
}

func (a *asked) expect(t *testing.T, method, path string, status int, text string) {
	t.Helper()
	got, body, err := a.send(t.Context(), t, method, path, "x", "token")
	if err != nil || got != status || !strings.Contains(body, text) {
		t.Errorf("%s %s: %d %q %v, want %d with %q", method, path, got, body, err, status, text)
	}
}

func TestALinkPassesRequestsOnAndReportsThoseThatChangeSomething(t *testing.T) {
	t.Parallel()
	a := newAsked(t)
	a.expect(t, http.MethodGet, "/a", http.StatusOK, "served")
	a.expect(t, http.MethodPost, "/b?c=d", http.StatusOK, "served x")
	if p := <-a.passed; p.Client != "client" || p.Method != http.MethodPost || p.Path != "/b" || p.Query != "c=d" || string(p.Body) != "x" || p.Status != http.StatusOK {
		t.Errorf("it reports %+v", p)
	}
	if len(a.passed) > 0 {
		t.Errorf("it reports a request that changes nothing: %+v", <-a.passed)
	}
}

func TestAnswersTakeThePlaceOfTheServers(t *testing.T) {
	t.Parallel()
	a := newAsked(t)
	a.Answer(Answer{Status: http.StatusTooManyRequests, Share: 1})
	a.expect(t, http.MethodPost, "/", http.StatusTooManyRequests, "TooManyRequests")
	a.Gone()
	a.client.CloseIdleConnections() // they were reset, which it may see late
	a.expect(t, http.MethodGet, "/?watch=true", http.StatusGone, "Expired")
	a.expect(t, http.MethodGet, "/", http.StatusOK, "served")
	a.Answer(Answer{Status: http.StatusInternalServerError, Share: 0})
	a.expect(t, http.MethodGet, "/", http.StatusOK, "served")
	a.Answer(Answer{Status: http.StatusInternalServerError, Share: 1})
	a.Heal()
	a.expect(t, http.MethodGet, "/", http.StatusOK, "served")
	if n := a.served.Load(); n != 3 {
		t.Errorf("the server was asked %d times, want 3", n)
	}
}

func TestAnAnswerIsLostThoughTheServerDidWhatWasAsked(t *testing.T) {
	t.Parallel()
	a := newAsked(t)
	a.Answer(Answer{Status: http.StatusGatewayTimeout, Share: 1, After: true, Only: changes})
	a.expect(t, http.MethodPost, "/", http.StatusGatewayTimeout, "Timeout")
	if p := <-a.passed; p.Status != http.StatusOK || a.served.Load() != 1 {
		t.Errorf("the server answered %d, to %d requests", p.Status, a.served.Load())
	}
}

func TestARevokedTokenIsRefusedAndAnotherIsNot(t *testing.T) {
	t.Parallel()
	a := newAsked(t)
	a.Revoke("token")
	a.Heal()
	a.expect(t, http.MethodGet, "/", http.StatusUnauthorized, "Unauthorized")
	if status, _, err := a.send(t.Context(), t, http.MethodGet, "/", "", "other"); err != nil || status != http.StatusOK {
		t.Errorf("another token: %d %v", status, err)
	}
}

func TestAnExpiredCertificateIsServedUntilHealed(t *testing.T) {
	t.Parallel()
	a := newAsked(t)
	a.expect(t, http.MethodGet, "/", http.StatusOK, "served")
	a.Expire()
	a.client.CloseIdleConnections()
	_, _, err := a.send(t.Context(), t, http.MethodGet, "/", "", "")
	var invalid x509.CertificateInvalidError
	if !errors.As(err, &invalid) || invalid.Reason != x509.Expired {
		t.Errorf("with an expired certificate: %v", err)
	}
	a.Heal()
	a.expect(t, http.MethodGet, "/", http.StatusOK, "served")
}

func TestAHeldLinkLetsNothingPassUntilHealed(t *testing.T) {
	t.Parallel()
	a := newAsked(t)
	a.expect(t, http.MethodGet, "/", http.StatusOK, "served")
	a.Hold()
	ctx, cancel := context.WithTimeout(t.Context(), 50*time.Millisecond)
	defer cancel()
	if _, _, err := a.send(ctx, t, http.MethodGet, "/", "", ""); !errors.Is(err, context.DeadlineExceeded) {
		t.Errorf("while it is held: %v", err)
	}
	answered := make(chan error, 1)
	go func() {
		_, _, err := a.send(t.Context(), t, http.MethodGet, "/", "", "")
		answered <- err
	}()
	a.Heal()
	if err := <-answered; err != nil {
		t.Errorf("once it is healed: %v", err)
	}
}

func TestALinkRefusesConnectionsUntilHealed(t *testing.T) {
	t.Parallel()
	a := newAsked(t)
	a.expect(t, http.MethodGet, "/", http.StatusOK, "served")
	a.Refuse()
	if _, _, err := a.send(t.Context(), t, http.MethodGet, "/", "", ""); err == nil {
		t.Error("while it refuses connections there is an answer")
	}
	a.Heal()
	a.expect(t, http.MethodGet, "/", http.StatusOK, "served")
}

func TestADelayIsThatOfEachPart(t *testing.T) {
	t.Parallel()
	a := newAsked(t)
	a.expect(t, http.MethodGet, "/", http.StatusOK, "served")
	const delay = 50 * time.Millisecond
	a.Delay(delay)
	began := time.Now()
	a.expect(t, http.MethodGet, "/", http.StatusOK, "served")
	if took := time.Since(began); took < 2*delay { // of the request, and of the answer
		t.Errorf("it took %v, want at least %v", took, 2*delay)
	}
}

func TestATCPLinkPassesBytesOnUntilItIsClosed(t *testing.T) {
	t.Parallel()
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) { _, _ = w.Write([]byte("served")) }))
	t.Cleanup(server.Close)
	l, err := NewTCP(t.Context(), server.Listener.Addr().String())
	if err != nil {
		t.Fatal(err)
	}
	client := &http.Client{Transport: &http.Transport{DisableKeepAlives: true}}
	ask := func(ctx context.Context) error {
		request, err := http.NewRequestWithContext(ctx, http.MethodGet, "http://"+l.Address(), http.NoBody)
		if err != nil {
			return err
		}
		response, err := client.Do(request)
		if err != nil {
			return err
		}
		return response.Body.Close()
	}
	if err := ask(t.Context()); err != nil {
		t.Error(err)
	}
	l.Refuse()
	if err := ask(t.Context()); err == nil {
		t.Error("it does not refuse")
	}
	l.Heal()
	l.Hold()
	ctx, cancel := context.WithTimeout(t.Context(), 50*time.Millisecond)
	defer cancel()
	if err := ask(ctx); !errors.Is(err, context.DeadlineExceeded) {
		t.Errorf("while it is held: %v", err)
	}
	l.Heal()
	if err := ask(t.Context()); err != nil {
		t.Error(err)
	}
	if err := l.Close(); err != nil {
		t.Error(err)
	}
	if err := ask(t.Context()); err == nil {
		t.Error("it is closed and passes bytes on")
	}
}
