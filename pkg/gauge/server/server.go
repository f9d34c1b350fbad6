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
	"golang.org/x/net/netutil"
	"k8s.io/klog/v2"
)

// Bounds of what clients may do.
const (
	maxConnections    = 256
	maxHeaderBytes    = 32 << 10 // a token is at most 16 KiB
	readHeaderTimeout = 5 * time.Second
	readTimeout       = 10 * time.Second
	writeTimeout      = 30 * time.Second
	idleTimeout       = time.Minute
	shutdownTimeout   = 5 * time.Second
)

// Certificate returns the certificate to show, as tls.Config.GetCertificate does.
type Certificate func(*tls.ClientHelloInfo) (*tls.Certificate, error)

// Serve serves a handler by HTTPS on a listener until the context ends. Then it takes no more requests, and lets those that
// are being answered end for some seconds. What goes wrong on single connections is written to a log.
func Serve(ctx context.Context, listener net.Listener, certificate Certificate, handler http.Handler, errorLog *log.Logger) error {
	return serve(ctx, listener, certificate, shutdownTimeout, &http.Server{
		Handler: handler, ErrorLog: errorLog, MaxHeaderBytes: maxHeaderBytes,
		ReadHeaderTimeout: readHeaderTimeout, ReadTimeout: readTimeout, WriteTimeout: writeTimeout, IdleTimeout: idleTimeout,
	})
}

// ErrorLog returns a log for what goes wrong on single connections, which clients can make happen: it is seen with -v=4.
func ErrorLog() *log.Logger {
	return slog.NewLogLogger(logr.ToSlogHandler(klog.Background()), slog.LevelDebug)
}

func serve(ctx context.Context, listener net.Listener, certificate Certificate, patience time.Duration, s *http.Server) error {
	s.TLSConfig = &tls.Config{MinVersion: tls.VersionTLS12, GetCertificate: certificate}
	s.Protocols = new(http.Protocols)
	s.Protocols.SetHTTP1(true) // answers are few and large: HTTP/2 would only add what clients can do
	ended := make(chan error, 1)
	stop := context.AfterFunc(ctx, func() {
		limited, cancel := context.WithTimeout(context.WithoutCancel(ctx), patience)
		defer cancel()
		err := s.Shutdown(limited)
		if errors.Is(err, context.DeadlineExceeded) { // a client is slow
			err = s.Close()
		}
		ended <- err
	})
	defer stop()
	err := s.ServeTLS(netutil.LimitListener(listener, maxConnections), "", "")
	if errors.Is(err, http.ErrServerClosed) {
		return <-ended
	}
	return err
}
