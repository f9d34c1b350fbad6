// Package metrics exports the results of a gauge to Prometheus: of each pod the seconds that its tasks ran, waited, were
// throttled and were blocked, and its dilation; of the node the values that its pods share; of the gauge the state of its
// readings.
//
// A bounded number of pods has time series of its own, those that wait most; the others share one. Counters only grow while
// a series exists, and the series of a pod that is gone go with it. A dilation that is stale is not shown.
package metrics

import (
	"fmt"
	"sync"
	"time"

	"github.com/prometheus/client_golang/prometheus"
	"github.com/prometheus/client_golang/prometheus/promauto"
	dto "github.com/prometheus/client_model/go"
	"k8s.io/utils/clock"

	"loadline.dev/loadline/pkg/gauge/usage"
)

// Labels of values that belong to no pod, or to an unknown one. Neither is empty, as Prometheus would put the gauge's own
// namespace and name there, nor can it be that of a pod.
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
	// Stale is the age from which on the last reading is not shown as current.
	Stale time.Duration
	// Clock says how old it is.
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
}

// perPod are the counters of seconds per pod.
type perPod struct{ run, wait, throttled, blocked *prometheus.CounterVec }

// New returns metrics that have seen nothing, registered with a registry that has none of their names. The error says which
// option is out of range.
func New(registry prometheus.Registerer, options Options) (*Metrics, error) {
	if options.MaxPods < 1 {
		return nil, fmt.Errorf("max-pods: %d is not at least 1", options.MaxPods)
	}
	m := &Metrics{options: options, shown: map[string]*series{}}
	register := promauto.With(registry)
	m.definePods(register)
	m.defineNode(register)
	return m, nil
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
	m.addPods(v)
}

// Failed counts a reading that failed.
func (m *Metrics) Failed() { m.failed.Inc() }

// Named takes note of whether the names of the pods could be listed: an error says why not.
func (m *Metrics) Named(err error) {
	failing := 0.0
	if err != nil {
		failing = 1
	}
	m.namesFailed.Set(failing)
}

// Gatherer returns the metrics that a registry gathers when no interval is being added, without stale dilations.
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
