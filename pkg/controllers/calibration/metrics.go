package calibration

import (
	"github.com/prometheus/client_golang/prometheus"
	"github.com/prometheus/client_golang/prometheus/promauto"
)

// How calibrations end, as metrics say it.
const (
	outcomeCalibrated  = "calibrated"
	outcomeUnsaturated = "unsaturated"
	outcomeFailed      = "failed"
	outcomeInterrupted = "interrupted"
)

// Metrics count the calibrations of NodeProfiles' resources.
type Metrics struct {
	calibrations *prometheus.CounterVec
	seconds      prometheus.Histogram
}

// NewMetrics returns metrics that count nothing yet, registered with a registry that has none of their names.
func NewMetrics(registry prometheus.Registerer) *Metrics {
	register := promauto.With(registry)
	m := &Metrics{
		calibrations: register.NewCounterVec(prometheus.CounterOpts{
			Name: "loadline_calibrations_total",
			Help: "Calibrations of a resource of a NodeProfile that have ended, by whether they found the servers (calibrated), could not keep the resource busy (unsaturated), failed, or were interrupted too often.",
		}, []string{"outcome"}),
		seconds: register.NewHistogram(prometheus.HistogramOpts{
			Name:    "loadline_calibration_duration_seconds",
			Help:    "How long the calibrations of a resource took, however they ended, with all attempts.",
			Buckets: prometheus.ExponentialBuckets(5, 2, 11), // 5 s to 1.4 h
		}),
	}
	for _, outcome := range []string{outcomeCalibrated, outcomeUnsaturated, outcomeFailed, outcomeInterrupted} {
		m.calibrations.WithLabelValues(outcome) // a rate does not see the first of a series that was not there
	}
	return m
}

// count counts a calibration that has ended.
func (m *Metrics) count(e *ending) {
	m.calibrations.WithLabelValues(e.outcome).Inc()
	m.seconds.Observe(e.seconds)
}
