package main

import (
	"context"
	"errors"
	"fmt"
	"strconv"
	"strings"
	"sync"
	"time"

	"github.com/go-logr/logr"
	"github.com/prometheus/client_golang/prometheus"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/client-go/informers"
	"k8s.io/client-go/kubernetes"
	"k8s.io/client-go/rest"
	"k8s.io/client-go/tools/events"
	"k8s.io/client-go/tools/leaderelection"
	"k8s.io/client-go/tools/leaderelection/resourcelock"
	k8smetrics "k8s.io/component-base/metrics"
	"k8s.io/component-base/metrics/legacyregistry"
	_ "k8s.io/component-base/metrics/prometheus/clientgo" // as cmd/loadline-scheduler has it
	"k8s.io/klog/v2"
	fwk "k8s.io/kube-scheduler/framework"
	schedulermetrics "k8s.io/kubernetes/pkg/scheduler/metrics"
	"k8s.io/utils/clock"
	"sigs.k8s.io/controller-runtime/pkg/metrics"

	"loadline.dev/loadline/pkg/controllers/calibration"
	"loadline.dev/loadline/pkg/controllers/measurement"
	"loadline.dev/loadline/pkg/controllers/observation"
	"loadline.dev/loadline/pkg/controllers/planning"
	"loadline.dev/loadline/pkg/controllers/poolplan"
	"loadline.dev/loadline/pkg/controllers/remediation"
	"loadline.dev/loadline/pkg/controllers/serverclock"
	"loadline.dev/loadline/pkg/controllers/tracereplay"
	gaugemetrics "loadline.dev/loadline/pkg/gauge/metrics"
	"loadline.dev/loadline/pkg/gauge/server"
	"loadline.dev/loadline/pkg/plugins/dilation"
	"loadline.dev/loadline/pkg/plugins/slaorder"
)

// metric is a family of time series.
type metric struct {
	name, help string
	labels     []string
	// kind is counter, gauge, histogram or summary, or nothing where it is not known.
	kind string
	// stability is what Kubernetes promises of it, such as ALPHA, or nothing.
	stability string
	// buckets are the upper bounds of a histogram without labels.
	buckets []float64
}

// managerMetrics returns what loadline-manager alone registers, by name. The registry is that
// of the process, which takes each metric once.
var managerMetrics = sync.OnceValues(func() (map[string]metric, error) {
	calibration.NewMetrics(metrics.Registry)
	measurement.NewMetrics(metrics.Registry)
	observation.NewMetrics(metrics.Registry)
	planning.NewMetrics(metrics.Registry)
	poolplan.NewMetrics(metrics.Registry)
	remediation.NewMetrics(metrics.Registry)
	tracereplay.NewMetrics(metrics.Registry)
	serverclock.New(clock.RealClock{}, metrics.Registry, logr.Discard())
	return registered(metrics.Registry)
})

// gaugeMetrics returns what loadline-gauge alone registers, by name, but for those of Go and of its process.
func gaugeMetrics() (map[string]metric, error) {
	registry := prometheus.NewRegistry()
	if _, err := gaugemetrics.New(registry, gaugemetrics.Options{MaxPods: 1}); err != nil {
		return nil, err
	}
	return registered(registry)
}

// serverMetrics returns what loadline-gauge and loadline-manager register of the ports that they serve, by name.
func serverMetrics() (map[string]metric, error) {
	registry := prometheus.NewRegistry()
	server.NewMetrics(registry)
	return registered(registry)
}

// schedulerMetrics returns what loadline-scheduler registers, by name.
func schedulerMetrics() (map[string]metric, error) {
	schedulermetrics.Register()
	ctx, cancel := context.WithCancel(klog.NewContext(context.Background(), logr.Discard()))
	cancel() // plugins register their metrics, and do not wait for a cluster
	for _, plugin := range []func(context.Context, runtime.Object, fwk.Handle) (fwk.Plugin, error){dilation.New, slaorder.New} {
		if _, err := plugin(ctx, nil, nowhere{}); err != nil {
			return nil, fmt.Errorf("starting a plugin: %w", err)
		}
	}
	if err := runForLeader(); err != nil {
		return nil, err
	}
	return registered(legacyregistry.Registerer())
}

// runForLeader makes a candidate for leader, as kube-scheduler does, which registers the metrics of that.
func runForLeader() error {
	_, err := leaderelection.NewLeaderElector(leaderelection.LeaderElectionConfig{
		Lock: &resourcelock.LeaseLock{LockConfig: resourcelock.ResourceLockConfig{Identity: "nowhere"}},
		// Any that are valid: it never runs.
		LeaseDuration: 4 * time.Second, RenewDeadline: 3 * time.Second, RetryPeriod: time.Second,
		Callbacks: leaderelection.LeaderCallbacks{OnStartedLeading: func(context.Context) {}, OnStoppedLeading: func() {}},
	})
	return err
}

// nowhere is the handle of a plugin that is to see no cluster.
type nowhere struct{ fwk.Handle }

func (nowhere) KubeConfig() *rest.Config                  { return &rest.Config{Host: "http://127.0.0.1:9"} }
func (nowhere) SnapshotSharedLister() fwk.SharedLister    { return nil }
func (nowhere) EventRecorder() events.EventRecorderLogger { return nil }
func (nowhere) ProfileName() string                       { return "" }
func (nowhere) ClientSet() kubernetes.Interface           { return &kubernetes.Clientset{} }

// SharedInformerFactory returns one whose informers are never started.
func (n nowhere) SharedInformerFactory() informers.SharedInformerFactory {
	return informers.NewSharedInformerFactory(n.ClientSet(), 0)
}

// registered returns the metrics that a registry knows, by name, also those that have
// no time series yet.
func registered(registry prometheus.Registerer) (map[string]metric, error) {
	all, ok := registry.(prometheus.Collector)
	if !ok {
		return nil, fmt.Errorf("a registry of type %T does not describe what it has", registry)
	}
	found := map[string]metric{}
	var errs []error
	for _, d := range describe(all) {
		m, err := newMetric(d)
		if err != nil {
			errs = append(errs, err)
			continue
		}
		m.kind, m.buckets, err = kindOf(collectorOf(registry, d))
		errs = append(errs, err)
		found[m.name] = m
	}
	return found, errors.Join(errs...)
}

// describe returns the descriptions of a collector.
func describe(c prometheus.Collector) []*prometheus.Desc {
	descriptions := make(chan *prometheus.Desc)
	go func() {
		defer close(descriptions)
		c.Describe(descriptions)
	}()
	var all []*prometheus.Desc
	for d := range descriptions {
		all = append(all, d)
	}
	return all
}

// newMetric reads a description, which shows what is in it only as a text:
// Desc{fqName: "a", help: "b", constLabels: {c="d"}, variableLabels: {e,f}}.
func newMetric(d *prometheus.Desc) (metric, error) {
	unknown := fmt.Errorf("a description of an unknown form: %s", d)
	name, rest, ok := cutQuoted(d.String(), "Desc{fqName: ")
	if !ok {
		return metric{}, unknown
	}
	help, rest, ok := cutQuoted(rest, ", help: ")
	if !ok {
		return metric{}, unknown
	}
	_, rest, ok = strings.Cut(rest, "}, variableLabels: {")
	labels, closed := strings.CutSuffix(rest, "}}")
	if !ok || !closed {
		return metric{}, unknown
	}
	m := metric{name: name, help: help}
	if labels != "" {
		m.labels = strings.Split(labels, ",")
	}
	for _, level := range []k8smetrics.StabilityLevel{k8smetrics.INTERNAL, k8smetrics.ALPHA, k8smetrics.BETA, k8smetrics.STABLE} {
		if rest, marked := strings.CutPrefix(help, "["+string(level)+"] "); marked {
			m.stability, m.help = string(level), rest
		}
	}
	return m, nil
}

// cutQuoted cuts a prefix and a quoted text off a text.
func cutQuoted(text, prefix string) (plain, rest string, ok bool) {
	after, ok := strings.CutPrefix(text, prefix)
	if !ok {
		return "", "", false
	}
	quoted, err := strconv.QuotedPrefix(after)
	if err != nil {
		return "", "", false
	}
	plain, err = strconv.Unquote(quoted)
	return plain, after[len(quoted):], err == nil
}

// described is a collector that only describes.
type described struct{ *prometheus.Desc }

func (d described) Describe(ch chan<- *prometheus.Desc) { ch <- d.Desc }
func (described) Collect(chan<- prometheus.Metric)      {}

// collectorOf returns the collector that registered a description, or nil if that has
// others too: the registry returns it when one tries to register the description again.
func collectorOf(registry prometheus.Registerer, d *prometheus.Desc) prometheus.Collector {
	if known, is := errors.AsType[prometheus.AlreadyRegisteredError](registry.Register(described{d})); is {
		return known.ExistingCollector
	}
	return nil
}

// kindOf returns the kind of metric that a collector collects, if it is one, and the buckets of a
// histogram without labels.
func kindOf(c prometheus.Collector) (kind string, buckets []float64, err error) {
	switch c.(type) {
	case nil:
		return "", nil, nil
	case *prometheus.CounterVec, *k8smetrics.CounterVec:
		return "counter", nil, nil
	case *prometheus.GaugeVec, *k8smetrics.GaugeVec:
		return "gauge", nil, nil
	case *prometheus.HistogramVec, *k8smetrics.HistogramVec, *k8smetrics.TimingHistogramVec:
		return "histogram", nil, nil
	case *prometheus.SummaryVec:
		return "summary", nil, nil
	}
	alone := prometheus.NewRegistry()
	if err := alone.Register(c); err != nil {
		return "", nil, err
	}
	families, err := alone.Gather()
	if err != nil || len(families) != 1 {
		return "", nil, err
	}
	for _, b := range families[0].GetMetric()[0].GetHistogram().GetBucket() {
		buckets = append(buckets, b.GetUpperBound())
	}
	return strings.ToLower(families[0].GetType().String()), buckets, nil
}
