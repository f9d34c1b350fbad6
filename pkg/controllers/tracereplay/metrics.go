package tracereplay

import (
	"github.com/prometheus/client_golang/prometheus"
	"github.com/prometheus/client_golang/prometheus/promauto"
)

// Metrics count the runs of TraceReplays.
type Metrics struct {
	runs    *prometheus.CounterVec
	seconds prometheus.Histogram
}

// NewMetrics returns metrics that count nothing yet, registered with a registry that has none of their names.
func NewMetrics(registry prometheus.Registerer) *Metrics {
	register := promauto.With(registry)
	m := &Metrics{
		runs: register.NewCounterVec(prometheus.CounterOpts{
			Name: "loadline_replay_runs_total",
			Help: "Runs of TraceReplays that have ended, by whether they succeeded or failed.",
		}, []string{"result"}),
		seconds: register.NewHistogram(prometheus.HistogramOpts{
			Name:    "loadline_replay_run_duration_seconds",
			Help:    "How long the runs of TraceReplays took that succeeded.",
			Buckets: prometheus.ExponentialBuckets(0.1, 4, 10), // 0.1 s to 7 h
		}),
	}
	for _, result := range []string{"succeeded", "failed"} { // a rate does not see the first of a series that was not there
		m.runs.WithLabelValues(result)
	}
	return m
}

// count counts runs that succeeded, by how long they took, and runs that failed.
func (m *Metrics) count(succeeded []float64, failed int32) {
	for _, seconds := range succeeded {
		m.runs.WithLabelValues("succeeded").Inc()
		m.seconds.Observe(seconds)
	}
	m.runs.WithLabelValues("failed").Add(float64(max(failed, 0)))
}
