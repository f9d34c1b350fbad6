// Package metrics shows Prometheus what a gauge finds: of each pod the seconds that its tasks ran, waited, were throttled
// and were blocked, and its dilation; of the node what the pods have in common; of the gauge how its readings go.
//
// A bounded number of pods has time series of its own, those that wait most; the others share one. Counters only grow while
// a series exists, and the series of a pod that is gone go with it. A dilation that is stale is not shown.
package metrics

import (
	"errors"
	"fmt"
	"sync"
	"time"

	"github.com/prometheus/client_golang/prometheus"
	dto "github.com/prometheus/client_model/go"
	"k8s.io/utils/clock"

	"loadline.dev/loadline/pkg/gauge/usage"
)

// Labels of what is no pod's, or no known one's. Neither is empty, as Prometheus would put the gauge's own namespace and
// name there, nor can it be that of a pod.
const (
	// Others is the namespace and the name of the pods that have no series of their own.
	Others = "(others)"
	// Unknown is the namespace of a pod whose name is not known; its UID stands for the name.
	Unknown = "(unknown)"
)

// Options say how much is shown.
type Options struct {
	// MaxPods is how many pods have series of their own, at least 1.
	MaxPods int
	// Stale is from which age on what was read last is not shown as what is.
	Stale time.Duration
	// Clock tells how old it is.
	Clock clock.PassiveClock
}

// Metrics are the metrics of a gauge. All methods may be called at once.
type Metrics struct {
	options Options

	mu    sync.Mutex
	shown map[string]*series // by UID
	last  time.Time

	counters        perPod
	dilation        *prometheus.GaugeVec
	busy, stolen    prometheus.Counter
	processors      prometheus.Gauge
	summed, leftOut prometheus.Gauge
	duration        prometheus.Histogram
	failed          prometheus.Counter
	timestamp       prometheus.Gauge
	namesFailed     prometheus.Gauge
	collectors      []prometheus.Collector
}

// perPod are the counters of seconds per pod.
type perPod struct{ run, wait, throttled, blocked *prometheus.CounterVec }

// New returns metrics that have seen nothing, registered with a registry.
func New(registry prometheus.Registerer, options Options) (*Metrics, error) {
	if options.MaxPods < 1 {
		return nil, fmt.Errorf("max-pods: %d is not at least 1", options.MaxPods)
	}
	m := &Metrics{options: options, shown: map[string]*series{}}
	m.describePods()
	m.describeNode()
	var errs []error
	for _, c := range m.collectors {
		errs = append(errs, registry.Register(c))
	}
	return m, errors.Join(errs...)
}

func (m *Metrics) describePods() {
	counter := func(what, help string) *prometheus.CounterVec {
		c := prometheus.NewCounterVec(prometheus.CounterOpts{Name: "loadline_gauge_pod_" + what + "_seconds_total", Help: help}, []string{"namespace", "pod"})
		m.collectors = append(m.collectors, c)
		return c
	}
	m.counters = perPod{
		run:       counter("run", "How long the tasks of a pod ran, summed over its tasks."),
		wait:      counter("wait", "How long the tasks of a pod that could run waited for a processor for any reason but their own limit, summed over its tasks."),
		throttled: counter("throttled", "How long the tasks of a pod that could run were held back by its CPU limit, summed over its tasks."),
		blocked:   counter("blocked", "How long the tasks of a pod waited for block I/O, summed over its tasks."),
	}
	m.dilation = prometheus.NewGaugeVec(prometheus.GaugeOpts{ //nolint:promlinter // the program is called gauge
		Name: "loadline_gauge_pod_dilation",
		Help: "How many times longer the tasks of a pod took in the last interval than without waiting for a processor and without being throttled.",
	}, []string{"namespace", "pod"})
	m.summed = m.gauge("loadline_gauge_pods_summed", "Pods without time series of their own: they share those with the namespace and the pod (others).")
	m.leftOut = m.gauge("loadline_gauge_pods_left_out", "Pods that the last interval left out, because it had as many as it may.")
	m.collectors = append(m.collectors, m.dilation)
}

func (m *Metrics) describeNode() {
	m.busy = m.counter("loadline_gauge_node_busy_seconds_total", "How long the processors of the node ran anything, summed over its processors.")
	m.stolen = m.counter("loadline_gauge_node_stolen_seconds_total", "How long the hypervisor ran something else while processors of the node had work, summed over its processors.")
	m.processors = m.gauge("loadline_gauge_node_processors", "Processors of the node that were online in the last interval.")
	m.duration = prometheus.NewHistogram(prometheus.HistogramOpts{
		Name: "loadline_gauge_reading_duration_seconds", Help: "How long it took to read the kernel's accounting of the node.",
		Buckets: prometheus.ExponentialBuckets(0.001, 2, 14), // to 8 s: a reading takes less than an interval, or is late
	})
	m.failed = m.counter("loadline_gauge_reading_errors_total", "Readings of the kernel's accounting that failed.")
	m.timestamp = m.gauge("loadline_gauge_last_reading_timestamp_seconds", "When the last reading ended that did not fail, in seconds since 1970 by the clock of the node.")
	m.namesFailed = m.gauge("loadline_gauge_pod_names_failing", "1 while the folder with the names of the pods cannot be listed, else 0.")
	m.collectors = append(m.collectors, m.duration)
}

func (m *Metrics) counter(name, help string) prometheus.Counter {
	c := prometheus.NewCounter(prometheus.CounterOpts{Name: name, Help: help})
	m.collectors = append(m.collectors, c)
	return c
}

func (m *Metrics) gauge(name, help string) prometheus.Gauge {
	g := prometheus.NewGauge(prometheus.GaugeOpts{Name: name, Help: help})
	m.collectors = append(m.collectors, g)
	return g
}

// Sampled adds an interval, which took some time to find.
func (m *Metrics) Sampled(v *usage.Interval, took time.Duration) {
	m.mu.Lock()
	defer m.mu.Unlock()
	m.last = m.options.Clock.Now()
	m.busy.Add(v.BusySeconds)
	m.stolen.Add(v.StolenSeconds)
	m.processors.Set(float64(v.CPUs))
	m.leftOut.Set(float64(v.LeftOut))
	m.duration.Observe(took.Seconds())
	m.timestamp.Set(float64(v.End.UnixMilli()) / 1e3)
	m.addPods(v.Pods)
}

// Failed counts a reading that failed.
func (m *Metrics) Failed() { m.failed.Inc() }

// Named says whether the names of the pods could be listed.
func (m *Metrics) Named(err error) {
	failing := 0.0
	if err != nil {
		failing = 1
	}
	m.namesFailed.Set(failing)
}

// Gatherer returns what a registry gathers when no interval is being added, and without dilations that are stale.
func (m *Metrics) Gatherer(registry prometheus.Gatherer) prometheus.Gatherer {
	return prometheus.GathererFunc(func() ([]*dto.MetricFamily, error) {
		m.mu.Lock()
		defer m.mu.Unlock()
		if m.options.Clock.Now().Sub(m.last) >= m.options.Stale {
			m.dilation.Reset()
		}
		return registry.Gather()
	})
}
