package measurement

import (
	"github.com/prometheus/client_golang/prometheus"
	"github.com/prometheus/client_golang/prometheus/promauto"

	"loadline.dev/loadline/apis/loadline/v1alpha1"
)

// outcomes are how measurements end.
var outcomes = []string{
	v1alpha1.ReasonMeasured, v1alpha1.ReasonImprecise, v1alpha1.ReasonTargetFailed, v1alpha1.ReasonProbeFailed, v1alpha1.ReasonUnsaturated,
	v1alpha1.ReasonInconsistent, v1alpha1.ReasonInterrupted, reasonStopped, reasonAbandoned,
}

// Metrics count measurements.
type Metrics struct {
	ended   *prometheus.CounterVec
	rounds  prometheus.Counter
	seconds prometheus.Histogram
	active  prometheus.Gauge
}

// NewMetrics returns metrics that count nothing yet, registered with a registry that has none of their names.
func NewMetrics(registry prometheus.Registerer) *Metrics {
	register := promauto.With(registry)
	m := &Metrics{
		ended: register.NewCounterVec(prometheus.CounterOpts{
			Name: "loadline_measurements_total",
			Help: "Measurements of WorkloadProfiles that have ended, by how: Measured, Imprecise, or the reason for which there is no result.",
		}, []string{"outcome"}),
		rounds: register.NewCounter(prometheus.CounterOpts{
			Name: "loadline_measurement_rounds_total",
			Help: "Rounds of measurements of WorkloadProfiles that have ended.",
		}),
		seconds: register.NewHistogram(prometheus.HistogramOpts{
			Name:    "loadline_measurement_duration_seconds",
			Help:    "How long measurements of WorkloadProfiles took that have a result.",
			Buckets: prometheus.ExponentialBuckets(30, 2, 12), // 30 s to 17 h
		}),
		active: register.NewGauge(prometheus.GaugeOpts{
			Name: "loadline_measurements_active",
			Help: "Measurements of WorkloadProfiles that are going on.",
		}),
	}
	for _, outcome := range outcomes {
		m.ended.WithLabelValues(outcome) // a rate does not see the first of a series that was not there
	}
	return m
}

// count counts the steps and measurements that a plan ends.
func (m *Metrics) count(p plan) {
	m.rounds.Add(float64(p.rounds))
	if p.ended == nil {
		return
	}
	m.ended.WithLabelValues(p.ended.outcome).Inc()
	if p.ended.result {
		m.seconds.Observe(p.ended.seconds)
	}
}
