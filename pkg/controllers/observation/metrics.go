package observation

import (
	"math"

	"github.com/prometheus/client_golang/prometheus"
	"github.com/prometheus/client_golang/prometheus/promauto"

	"loadline.dev/loadline/pkg/evaluate/observations"
	"loadline.dev/loadline/pkg/gauge/collect"
)

// Metrics show how collecting goes, and how well dilations are predicted.
type Metrics struct {
	errors    *prometheus.HistogramVec
	targets   prometheus.Gauge
	refused   prometheus.Gauge
	requests  *prometheus.CounterVec
	intervals prometheus.Counter
	duration  prometheus.Gauge

	workMetrics
}

// NewMetrics returns metrics that count nothing yet, registered with a registry that has none of their names.
func NewMetrics(registry prometheus.Registerer) *Metrics {
	register := promauto.With(registry)
	m := &Metrics{
		workMetrics: newWorkMetrics(register),
		errors: register.NewHistogramVec(prometheus.HistogramOpts{
			Name:    "loadline_prediction_relative_error",
			Help:    "By which part the predicted dilation of a pod that follows a WorkloadProfile is off what gauges observed, |predicted/observed − 1|, by direction: high if it was predicted to take longer than it did, else low.",
			Buckets: []float64{0.01, 0.02, 0.05, 0.1, 0.15, 0.25, 0.5, 1, 2, 5},
		}, []string{"direction"}),
		targets: register.NewGauge(prometheus.GaugeOpts{
			Name: "loadline_collection_targets",
			Help: "How many gauges there are to ask what they observed.",
		}),
		refused: register.NewGauge(prometheus.GaugeOpts{
			Name: "loadline_collection_refused_targets",
			Help: "How many gauges answered last what is refused, because it breaks the rules of reports or is too large. kubectl loadline status names their nodes.",
		}),
		requests: register.NewCounterVec(prometheus.CounterOpts{
			Name: "loadline_collection_requests_total",
			Help: "How many times gauges were asked what they observed, by outcome: answered or failed.",
		}, []string{"outcome"}),
		intervals: register.NewCounter(prometheus.CounterOpts{
			Name: "loadline_collection_intervals_total",
			Help: "How many intervals gauges handed on.",
		}),
		duration: register.NewGauge(prometheus.GaugeOpts{
			Name: "loadline_collection_duration_seconds",
			Help: "How long it took to ask all gauges, the last time.",
		}),
	}
	for _, direction := range []string{"high", "low"} { // there from the beginning, so that a rate is right from the first on
		m.errors.WithLabelValues(direction)
	}
	for _, outcome := range []string{"answered", "failed"} {
		m.requests.WithLabelValues(outcome)
	}
	return m
}

// collected takes note of a round.
func (m *Metrics) collected(r *collect.Round) {
	m.targets.Set(float64(r.Gauges))
	m.refused.Set(float64(len(r.Refused)))
	m.requests.WithLabelValues("answered").Add(float64(r.Asked - r.Failed))
	m.requests.WithLabelValues("failed").Add(float64(r.Failed))
	m.intervals.Add(float64(r.Intervals))
	m.duration.Set(r.Took.Seconds())
}

// predicted takes note of a prediction.
func (m *Metrics) predicted(p *observations.Prediction) {
	direction := "low"
	if p.Error() > 0 {
		direction = "high"
	}
	m.errors.WithLabelValues(direction).Observe(math.Abs(p.Error()))
}
