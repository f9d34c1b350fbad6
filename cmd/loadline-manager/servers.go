package main

import (
	"context"
	"fmt"
	"net"
	"net/http"
	"time"

	"github.com/prometheus/client_golang/prometheus/promhttp"
	"k8s.io/utils/clock"
	ctrl "sigs.k8s.io/controller-runtime"
	"sigs.k8s.io/controller-runtime/pkg/manager"
	"sigs.k8s.io/controller-runtime/pkg/metrics"
	metricsserver "sigs.k8s.io/controller-runtime/pkg/metrics/server"

	"loadline.dev/loadline/pkg/gauge/access"
	"loadline.dev/loadline/pkg/gauge/server"
)

// +kubebuilder:rbac:groups=authentication.k8s.io,resources=tokenreviews,verbs=create
// +kubebuilder:rbac:groups=authorization.k8s.io,resources=subjectaccessreviews,verbs=create

// none is the address of what is not served.
const none = "0"

// port is one that the manager serves on, and the flag that says at which address.
type port struct {
	server.Port
	flag string
}

var (
	usagePort   = port{server.PortHTTPS, "--usage-bind-address"}
	metricsPort = port{server.PortMetrics, "--metrics-bind-address"}
	healthPort  = port{server.PortHealth, "--health-probe-bind-address"}
)

// How long those have who are being answered when the manager ends.
const shutdownTimeout = 5 * time.Second

// servers are what the manager serves with: as gauges do, so that no client of one port or address keeps others out.
type servers struct {
	guard       *access.Guard
	certificate server.Certificate
	closed      *server.Metrics
}

// newServers returns what asks the API server about tokens as the manager's user.
func newServers(mgr ctrl.Manager) (*servers, error) {
	api, err := access.NewAPIServer(mgr.GetConfig())
	if err != nil {
		return nil, fmt.Errorf("finding the API server: %w", err)
	}
	return &servers{
		access.NewGuard(api.Judge, clock.RealClock{}), server.SelfSigned("loadline-manager", clock.RealClock{}), server.NewMetrics(metrics.Registry),
	}, nil
}

// metricsOptions are those of the manager's framework, which serves metrics without asking for a token, if it is to.
func (o *options) metricsOptions() metricsserver.Options {
	if o.secureMetrics {
		return metricsserver.Options{BindAddress: none}
	}
	return metricsserver.Options{BindAddress: o.metricsAddress}
}

// addServers adds what serves health, and metrics to those who may get them.
func (o *options) addServers(mgr ctrl.Manager, s *servers) error {
	if o.healthAddress != none {
		alive := func() error { return nil }
		err := open(mgr, healthPort, o.healthAddress, func(l net.Listener) *server.Server {
			return server.NewHealth(l, server.NewHealthHandler(alive), s.closed)
		})
		if err != nil {
			return err
		}
	}
	if !o.secureMetrics || o.metricsAddress == none {
		return nil
	}
	mux := http.NewServeMux()
	protect := server.Guard(func(path string, next http.Handler) http.Handler { return s.guard.Protect(path, "", next) })
	mux.Handle("GET "+server.MetricsPath, protect.Protect(server.MetricsPath, promhttp.HandlerFor(metrics.Registry, promhttp.HandlerOpts{MaxRequestsInFlight: maxScrapes})))
	return s.addHTTPS(mgr, metricsPort, o.metricsAddress, mux)
}

// maxScrapes is how many scrapes are answered at once.
const maxScrapes = 4

// addHTTPS adds what serves a handler by HTTPS at an address.
func (s *servers) addHTTPS(mgr ctrl.Manager, at port, address string, h http.Handler) error {
	return open(mgr, at, address, func(l net.Listener) *server.Server {
		return server.NewHTTPS(at.Port, l, s.certificate, h, s.closed)
	})
}

// open opens a port, which is served from the beginning on, by every replica.
func open(mgr ctrl.Manager, at port, address string, on func(net.Listener) *server.Server) error {
	listener, err := new(net.ListenConfig).Listen(context.Background(), "tcp", address)
	if err != nil {
		return fmt.Errorf("%s: %w", at.flag, err)
	}
	served := on(listener)
	return mgr.Add(&manager.Server{Name: string(at.Port), Server: served.HTTP, Listener: served.Listener, ShutdownTimeout: new(shutdownTimeout)})
}
