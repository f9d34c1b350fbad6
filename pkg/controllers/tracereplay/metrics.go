package tracereplay

import (
	"errors"

	"github.com/prometheus/client_golang/prometheus"
	"sigs.k8s.io/controller-runtime/pkg/metrics"
)

// Metrics count the runs of TraceReplays.
type Metrics struct {
	runs    *prometheus.CounterVec
	seconds prometheus.Histogram
}

// NewMetrics returns metrics that the manager serves.
func NewMetrics() (*Metrics, error) { return newMetrics(metrics.Registry) }

func newMetrics(registry prometheus.Registerer) (*Metrics, error) {
	m := &Metrics{
		runs: prometheus.NewCounterVec(prometheus.CounterOpts{
			Name: "loadline_replay_runs_total",
			Help: "Runs of TraceReplays that have ended, by whether they succeeded or failed.",
		}, []string{"result"}),
		seconds: prometheus.NewHistogram(prometheus.HistogramOpts{
			Name:    "loadline_replay_run_duration_seconds",
			Help:    "How long the runs of TraceReplays took that succeeded.",
			Buckets: prometheus.ExponentialBuckets(0.1, 4, 10), // 0.1 s to 7 h
		}),
	}
	for _, result := range []string{"succeeded", "failed"} { // a rate does not see the first of a series that was not there
		m.runs.WithLabelValues(result)
	}
	return m, errors.Join(registry.Register(m.runs), registry.Register(m.seconds))
}

// count counts runs that succeeded, by how long they took, and runs that failed.
func (m *Metrics) count(succeeded []float64, failed int32) {
	for _, seconds := range succeeded {
		m.runs.WithLabelValues("succeeded").Inc()
		m.seconds.Observe(seconds)
	}
	m.runs.WithLabelValues("failed").Add(float64(max(failed, 0)))
}
