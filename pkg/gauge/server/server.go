package server

import (
	"context"
	"crypto/tls"
	"errors"
	"log"
	"log/slog"
	"net"
	"net/http"
	"time"

	"github.com/go-logr/logr"
	"k8s.io/klog/v2"
)

// Bounds on clients.
const (
	maxHeaderBytes    = 32 << 10        // a token is at most 16 KiB
	readHeaderTimeout = 5 * time.Second // also for the handshake
	readTimeout       = 10 * time.Second
	writeTimeout      = 30 * time.Second
	idleTimeout       = time.Minute // only admitted connections are kept when they are idle
	shutdownTimeout   = 5 * time.Second
)

// Bounds on clients of the health port.
const (
	maxHealthHeaderBytes = 4 << 10
	healthTimeout        = 2 * time.Second // for a request, and for its answer
)

// Port is the name of a port, as the ports of containers are called.
type Port string

// The ports that there are.
const (
	PortHTTPS   Port = "https"   // the observations
	PortMetrics Port = "metrics" // where they have a port of their own
	PortHealth  Port = "health"
)

// Certificate returns the certificate to show, as tls.Config.GetCertificate does.
type Certificate func(*tls.ClientHelloInfo) (*tls.Certificate, error)

// Server serves the requests to a port. Its two parts may also be served by others that shut them down.
type Server struct {
	// HTTP is the server.
	HTTP *http.Server
	// Listener has a bounded number of connections open, with TLS where there is any.
	Listener net.Listener

	patience time.Duration // with those who are being answered when it ends
}

// NewHTTPS returns a server of a handler by HTTPS, on a listener. It keeps a connection open only when a request that came over it
// passed a Guard, see Guard.Protect.
func NewHTTPS(port Port, l net.Listener, certificate Certificate, handler http.Handler, m *Metrics) *Server {
	s := &http.Server{
		Handler: refusing(handler, m.counter(port, refused)), MaxHeaderBytes: maxHeaderBytes,
		ReadHeaderTimeout: readHeaderTimeout, ReadTimeout: readTimeout, WriteTimeout: writeTimeout, IdleTimeout: idleTimeout,
	}
	bounded := newServer(port, l, s, m)
	// Answers are few and large: HTTP/2 would only extend the options of clients.
	bounded.Listener = tls.NewListener(bounded.Listener, &tls.Config{MinVersion: tls.VersionTLS12, GetCertificate: certificate, NextProtos: []string{"http/1.1"}})
	return bounded
}

// NewHealth returns a server of health by plain HTTP, on a listener, for the kubelet. Each connection has one request, and is open for
// some seconds at most.
func NewHealth(l net.Listener, handler http.Handler, m *Metrics) *Server {
	s := &http.Server{Handler: handler, MaxHeaderBytes: maxHealthHeaderBytes, ReadTimeout: healthTimeout, WriteTimeout: healthTimeout}
	s.SetKeepAlivesEnabled(false)
	return newServer(PortHealth, l, s, m)
}

func newServer(port Port, l net.Listener, s *http.Server, m *Metrics) *Server {
	s.Protocols = new(http.Protocols)
	s.Protocols.SetHTTP1(true)
	s.ConnContext, s.ErrorLog = withConnection, errorLog()
	return &Server{HTTP: s, Listener: newListener(l, m.counter(port, evicted)), patience: shutdownTimeout}
}

// errorLog returns a log for errors of single connections, which clients can cause: they are logged with -v=4.
func errorLog() *log.Logger {
	return slog.NewLogLogger(logr.ToSlogHandler(klog.Background()), slog.LevelDebug)
}

// Serve serves until the context ends. Then it takes no more requests, and lets those that are being answered end for some seconds.
func (s *Server) Serve(ctx context.Context) error {
	ended := make(chan error, 1)
	stop := context.AfterFunc(ctx, func() {
		limited, cancel := context.WithTimeout(context.WithoutCancel(ctx), s.patience)
		defer cancel()
		err := s.HTTP.Shutdown(limited)
		if errors.Is(err, context.DeadlineExceeded) { // a client is slow
			err = s.HTTP.Close()
		}
		ended <- err
	})
	defer stop()
	err := s.HTTP.Serve(s.Listener)
	if errors.Is(err, http.ErrServerClosed) {
		return <-ended
	}
	return err
}
