package main

import (
	"context"
	"errors"
	"fmt"
	"net"
	"net/http"
	"time"

	"github.com/prometheus/client_golang/prometheus"
	"github.com/prometheus/client_golang/prometheus/collectors"
	"github.com/prometheus/client_golang/prometheus/promhttp"
	"golang.org/x/sync/errgroup"
	"k8s.io/client-go/rest"
	"k8s.io/client-go/tools/clientcmd"
	logsapi "k8s.io/component-base/logs/api/v1"
	"k8s.io/klog/v2"
	"k8s.io/utils/clock"

	"loadline.dev/loadline/pkg/gauge/access"
	"loadline.dev/loadline/pkg/gauge/history"
	"loadline.dev/loadline/pkg/gauge/metrics"
	"loadline.dev/loadline/pkg/gauge/reading"
	"loadline.dev/loadline/pkg/gauge/server"
	"loadline.dev/loadline/pkg/gauge/usage"
)

// run serves until the context ends.
func (o *options) run(ctx context.Context) error {
	if err := logsapi.ValidateAndApply(o.logs, nil); err != nil {
		return err
	}
	ctx = klog.NewContext(ctx, klog.Background())
	api, err := o.apiServer()
	if err != nil {
		return fmt.Errorf("finding the API server: %w", err)
	}
	at, err := o.listen(ctx)
	if err != nil {
		return err
	}
	klog.FromContext(ctx).Info("Serving", "address", at.https.Addr().String(), "interval", o.interval)
	o.stalls = reading.NewStalls()
	return o.serve(ctx, at, api.Judge, o.sampler)
}

// ports are where a gauge serves.
type ports struct {
	https  net.Listener
	health net.Listener // nil where it serves no health
}

// listen opens the ports of the flags.
func (o *options) listen(ctx context.Context) (at ports, err error) {
	if at.https, err = new(net.ListenConfig).Listen(ctx, "tcp", o.bindAddress); err != nil {
		return ports{}, fmt.Errorf("--bind-address: %w", err)
	}
	if o.healthAddress == "0" {
		return at, nil
	}
	if at.health, err = new(net.ListenConfig).Listen(ctx, "tcp", o.healthAddress); err != nil {
		return ports{}, errors.Join(fmt.Errorf("--health-probe-bind-address: %w", err), at.https.Close())
	}
	return at, nil
}

// source makes a first reading and returns what samples from there on; it tells named whether names of pods can be listed.
type source func(named func(error)) (history.Sampler, error)

// serve samples a source, and serves what it keeps of it to those whom a judge lets in.
func (o *options) serve(ctx context.Context, at ports, judge access.Judge, from source) error {
	shown, err := o.newMetrics()
	if err != nil {
		return err
	}
	kept, err := history.New(o.keep, clock.RealClock{})
	if err != nil {
		return err
	}
	certificate, err := o.certificate()
	if err != nil {
		return fmt.Errorf("--tls-cert-file: %w", err)
	}
	sample, err := from(nameTrouble(ctx, shown.node))
	if err != nil {
		return fmt.Errorf("reading the node: %w", err)
	}
	handler := server.NewHandler(kept, o.protect(access.NewGuard(judge, clock.RealClock{})), shown.exposed)
	servers := []*server.Server{server.NewHTTPS(server.PortHTTPS, at.https, certificate, handler, shown.servers)}
	if at.health != nil {
		servers = append(servers, server.NewHealth(at.health, server.NewHealthHandler(server.Fresh(kept, o.interval)), shown.servers))
	}

	together, ctx := errgroup.WithContext(ctx)
	together.Go(func() error {
		ticker := time.NewTicker(o.interval)
		defer ticker.Stop()
		kept.Follow(ctx, ticker.C, sample, shown.node)
		return nil
	})
	if o.stalls != nil {
		together.Go(func() error {
			o.stalls.Run(ctx)
			return nil
		})
	}
	for _, s := range servers {
		together.Go(func() error { return s.Serve(ctx) })
	}
	return together.Wait()
}

// protect has a guard protect paths: intervals by tokens that are good for nothing else, metrics by those that Prometheus has.
func (o *options) protect(guard *access.Guard) server.Guard {
	return func(path string, next http.Handler) http.Handler {
		audience := ""
		if path == usage.Path {
			audience = o.audience
		}
		return guard.Protect(path, audience, next)
	}
}

// shownMetrics are the metrics of a gauge, and what serves them.
type shownMetrics struct {
	node    *metrics.Metrics
	servers *server.Metrics
	exposed http.Handler
}

// newMetrics returns the metrics, with those of Go and of the process.
func (o *options) newMetrics() (m shownMetrics, err error) {
	registry := prometheus.NewRegistry()
	registry.MustRegister(collectors.NewGoCollector(), collectors.NewProcessCollector(collectors.ProcessCollectorOpts{}))
	m.servers = server.NewMetrics(registry)
	m.node, err = metrics.New(registry, metrics.Options{MaxPods: o.maxPods, Stale: server.Stale(o.interval), Clock: clock.RealClock{}})
	if err != nil {
		return m, err
	}
	m.exposed = promhttp.HandlerFor(m.node.Gatherer(registry), promhttp.HandlerOpts{MaxRequestsInFlight: maxScrapes})
	return m, nil
}

// maxScrapes is how many scrapes are answered at once.
const maxScrapes = 4

// nameTrouble returns what shows in the metrics whether names of pods can be listed, and logs when that changes.
func nameTrouble(ctx context.Context, shown *metrics.Metrics) func(error) {
	failing := false
	return func(err error) {
		shown.Named(err)
		if changed := failing != (err != nil); changed && err != nil {
			klog.FromContext(ctx).Error(err, "Pods are reported by their UIDs")
		}
		failing = err != nil
	}
}

// certificate returns that of the flags, or one of our own.
func (o *options) certificate() (server.Certificate, error) {
	if o.certificateFile != "" {
		return server.FromFiles(o.certificateFile, o.keyFile, clock.RealClock{})
	}
	return server.SelfSigned("loadline-gauge", clock.RealClock{}), nil
}

// apiServer returns the API server that knows tokens.
func (o *options) apiServer() (*access.APIServer, error) {
	config, err := o.restConfig()
	if err != nil {
		return nil, err
	}
	return access.NewAPIServer(config)
}

func (o *options) restConfig() (*rest.Config, error) {
	if o.kubeconfig == "" {
		return rest.InClusterConfig()
	}
	return clientcmd.BuildConfigFromFlags("", o.kubeconfig)
}
