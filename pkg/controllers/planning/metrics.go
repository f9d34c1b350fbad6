package planning

import (
	"time"

	"github.com/prometheus/client_golang/prometheus"
	"github.com/prometheus/client_golang/prometheus/promauto"

	"loadline.dev/loadline/pkg/evaluate/plan"
)

// The steps that may fail, as metrics say it.
const (
	reading  = "read"
	planning = "plan"
	writing  = "write"
)

// Metrics show how plans come out.
type Metrics struct {
	excess    *prometheus.GaugeVec
	duration  prometheus.Histogram
	errors    *prometheus.CounterVec
	withdrawn prometheus.Counter
}

// NewMetrics returns metrics that count nothing yet, registered with a registry that has none of their names.
func NewMetrics(registry prometheus.Registerer) *Metrics {
	register := promauto.With(registry)
	m := &Metrics{
		excess: register.NewGaugeVec(prometheus.GaugeOpts{
			Name: "loadline_plan_excess_dilation",
			Help: "How far the dilations of all observed pods together are above the smallest spec.above of RemediationPolicies, weighted by priorities: now, and left after the changes of the plan. Nothing without a policy.",
		}, []string{"when"}),
		duration: register.NewHistogram(prometheus.HistogramOpts{
			Name:    "loadline_plan_duration_seconds",
			Help:    "How long it took to read the cluster and to make a plan of it.",
			Buckets: []float64{0.1, 0.25, 0.5, 1, 2.5, 5, 10, 30, 60, 300},
		}),
		errors: register.NewCounterVec(prometheus.CounterOpts{
			Name: "loadline_plan_errors_total",
			Help: "How many times changes were not proposed because of an error, by the step in which it was met: read (the cluster), plan or write (Remediations).",
		}, []string{"step"}),
		withdrawn: register.NewCounter(prometheus.CounterOpts{
			Name: "loadline_plan_withdrawn_total",
			Help: "How many proposed changes were withdrawn, because they were no longer part of the plan.",
		}),
	}
	for _, step := range []string{reading, planning, writing} { // there from the beginning, so that a rate is right from the first on
		m.errors.WithLabelValues(step)
	}
	return m
}

// planned shows how a plan came out that took a while.
func (m *Metrics) planned(p *plan.Plan, took time.Duration) {
	m.excess.WithLabelValues("now").Set(p.Excess)
	m.excess.WithLabelValues("left").Set(p.Left)
	m.duration.Observe(took.Seconds())
}

// none shows that there is no plan.
func (m *Metrics) none() { m.excess.Reset() }
