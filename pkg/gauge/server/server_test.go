package server

import (
	"bufio"
	"context"
	"crypto/tls"
	"crypto/x509"
	"encoding/pem"
	"io"
	"log"
	"net"
	"net/http"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"k8s.io/utils/clock"
	testingclock "k8s.io/utils/clock/testing"

	"loadline.dev/loadline/pkg/gauge/usage"
)

// running is a server that runs.
type running struct {
	address string
	stop    context.CancelFunc
	ended   chan error
}

// run runs a server until the test ends.
func run(t *testing.T, s *http.Server) *running {
	t.Helper()
	listener, err := new(net.ListenConfig).Listen(t.Context(), "tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	ctx, stop := context.WithCancel(t.Context())
	r := &running{listener.Addr().String(), stop, make(chan error, 1)}
	s.ErrorLog = log.New(io.Discard, "", 0)
	go func() {
		defer close(r.ended)
		r.ended <- serve(ctx, listener, SelfSigned("a", clock.RealClock{}), 50*time.Millisecond, s)
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

func ask(t *testing.T, connection net.Conn, path string) {
	t.Helper()
	if _, err := io.WriteString(connection, "GET "+path+" HTTP/1.1\r\nHost: a\r\n\r\n"); err != nil {
		t.Fatal(err)
	}
}

func TestAServerServesByHTTPSAndEndsWithItsContext(t *testing.T) {
	t.Parallel()
	r := run(t, &http.Server{Handler: newGauge(t, 1), ReadHeaderTimeout: readHeaderTimeout})
	connection := r.dial(t)
	ask(t, connection, "/readyz")
	response, err := http.ReadResponse(bufio.NewReader(connection), nil)
	if err != nil {
		t.Fatal(err)
	}
	defer response.Body.Close()
	if response.StatusCode != http.StatusOK {
		t.Errorf("status %d", response.StatusCode)
	}
	if plain, err := new(net.Dialer).DialContext(t.Context(), "tcp", r.address); err != nil {
		t.Error(err)
	} else {
		defer plain.Close()
		ask(t, plain, "/readyz")
		if answer, _ := io.ReadAll(plain); strings.Contains(string(answer), "200") {
			t.Errorf("without TLS it answers %q", answer)
		}
	}
}

func TestAClientThatEndsNoHeaderIsDisconnected(t *testing.T) {
	t.Parallel()
	r := run(t, &http.Server{Handler: newGauge(t, 1), ReadHeaderTimeout: 2 * time.Second})
	connection := r.dial(t)
	if _, err := io.WriteString(connection, "GET /readyz HTTP/1.1\r\nHost:"); err != nil {
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
	r := run(t, &http.Server{ReadHeaderTimeout: readHeaderTimeout, WriteTimeout: 2 * time.Second, Handler: http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
		ended <- writeReport(w, 0, [][]byte{make([]byte, size)})
	})})
	ask(t, r.dial(t), "/v1/usage")
	if err := <-ended; err == nil {
		t.Error("it was written to the end")
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
	r := run(t, &http.Server{ReadHeaderTimeout: readHeaderTimeout, Handler: http.HandlerFunc(func(_ http.ResponseWriter, request *http.Request) {
		close(began)
		<-request.Context().Done()
	})})
	ask(t, r.dial(t), "/v1/usage")
	<-began
	r.end(t)
}

func TestAListenerThatFailsEndsTheServer(t *testing.T) {
	t.Parallel()
	listener, err := new(net.ListenConfig).Listen(t.Context(), "tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	if err := listener.Close(); err != nil {
		t.Fatal(err)
	}
	if err := Serve(t.Context(), listener, SelfSigned("a", clock.RealClock{}), http.NotFoundHandler(), log.New(io.Discard, "", 0)); err == nil {
		t.Error("no error")
	}
}

func TestACertificateOfOurOwnIsValidAndReplacedInTime(t *testing.T) {
	t.Parallel()
	now := testingclock.NewFakePassiveClock(noon)
	certificate := SelfSigned("node-1", now)
	get := func() *tls.Certificate {
		t.Helper()
		c, err := certificate(nil)
		if err != nil {
			t.Fatal(err)
		}
		if at := now.Now(); at.Before(c.Leaf.NotBefore) || at.After(c.Leaf.NotAfter) {
			t.Errorf("at %v it is valid from %v to %v", at, c.Leaf.NotBefore, c.Leaf.NotAfter)
		}
		return c
	}
	first := get()
	if err := first.Leaf.VerifyHostname("node-1"); err != nil {
		t.Error(err)
	}
	if get() != first {
		t.Error("it is made anew at once")
	}
	for _, later := range []time.Duration{validity / 2, validity, 10 * validity, -10 * validity} { // the last: the clock was set
		now.SetTime(noon.Add(later))
		if second := get(); second.Leaf.SerialNumber.Cmp(first.Leaf.SerialNumber) == 0 {
			t.Errorf("after %v it is the same", later)
		}
	}
}

// writePair writes a certificate for a name and its key.
func writePair(t *testing.T, certificateFile, keyFile, name string) {
	t.Helper()
	made, err := selfSign(name, noon)
	if err != nil {
		t.Fatal(err)
	}
	key, err := x509.MarshalPKCS8PrivateKey(made.PrivateKey)
	if err != nil {
		t.Fatal(err)
	}
	for file, block := range map[string]*pem.Block{certificateFile: {Type: "CERTIFICATE", Bytes: made.Certificate[0]}, keyFile: {Type: "PRIVATE KEY", Bytes: key}} {
		if err := os.WriteFile(file, pem.EncodeToMemory(block), 0o600); err != nil {
			t.Fatal(err)
		}
	}
}

func TestACertificateOfFilesIsReadAgainWhenItIsReplaced(t *testing.T) {
	t.Parallel()
	dir, now := t.TempDir(), testingclock.NewFakePassiveClock(noon)
	certificateFile, keyFile := filepath.Join(dir, "tls.crt"), filepath.Join(dir, "tls.key")
	if _, err := FromFiles(certificateFile, keyFile, now); err == nil {
		t.Error("files that are not there are no error")
	}
	writePair(t, certificateFile, keyFile, "old")
	certificate, err := FromFiles(certificateFile, keyFile, now)
	if err != nil {
		t.Fatal(err)
	}
	want := func(name string) {
		t.Helper()
		if c, err := certificate(nil); err != nil || c.Leaf.Subject.CommonName != name {
			t.Errorf("got the certificate of %v, %v, want that of %s", c.Leaf.Subject, err, name)
		}
	}
	writePair(t, certificateFile, keyFile, "new")
	want("old")
	now.SetTime(noon.Add(rereadAfter))
	want("new")
	if err := os.WriteFile(keyFile, []byte("half of a k"), 0o600); err != nil {
		t.Fatal(err)
	}
	now.SetTime(noon.Add(2 * rereadAfter))
	want("new")
}
