package poolplan

import (
	"github.com/prometheus/client_golang/prometheus"
	"github.com/prometheus/client_golang/prometheus/promauto"

	"loadline.dev/loadline/apis/loadline/v1alpha1"
)

// Metrics show the servers that pools need and have, and their results.
type Metrics struct {
	needed   *prometheus.GaugeVec
	desired  *prometheus.GaugeVec
	current  *prometheus.GaugeVec
	attained *prometheus.GaugeVec
	scalings *prometheus.CounterVec
}

// NewMetrics returns metrics that count nothing yet, registered with a registry that has none of their names.
func NewMetrics(registry prometheus.Registerer) *Metrics {
	register := promauto.With(registry)
	pool := []string{"plan", "pool"}
	m := &Metrics{
		needed: register.NewGaugeVec(prometheus.GaugeOpts{
			Name: "loadline_pool_servers_needed",
			Help: "The fewest servers with which every class of a pool keeps its SLA.",
		}, pool),
		desired: register.NewGaugeVec(prometheus.GaugeOpts{
			Name: "loadline_pool_replicas_desired",
			Help: "Replicas that a pool should have, within its bounds.",
		}, pool),
		current: register.NewGaugeVec(prometheus.GaugeOpts{
			Name: "loadline_pool_replicas_current",
			Help: "Replicas that the scale target of a pool is asked to have.",
		}, pool),
		attained: register.NewGaugeVec(prometheus.GaugeOpts{
			Name: "loadline_pool_sla_attained_ratio",
			Help: "Predicted probability with which a class keeps within the response time of its SLA, with the servers that its pool needs.",
		}, []string{"plan", "pool", "class"}),
		scalings: register.NewCounterVec(prometheus.CounterOpts{
			Name: "loadline_pool_scalings_total",
			Help: "How many times a pool was scaled, by direction: up or down.",
		}, []string{"plan", "pool", "direction"}),
	}
	return m
}

// show shows the pools of a plan, and no others of it.
func (m *Metrics) show(plan *v1alpha1.PoolPlan) {
	for _, v := range []*prometheus.GaugeVec{m.needed, m.desired, m.current, m.attained} {
		v.DeletePartialMatch(prometheus.Labels{"plan": plan.Name})
	}
	for i := range plan.Status.Pools {
		p := &plan.Status.Pools[i]
		set := func(v *prometheus.GaugeVec, n *int32) {
			if n != nil {
				v.WithLabelValues(plan.Name, p.Name).Set(float64(*n))
			}
		}
		set(m.needed, p.Servers)
		set(m.desired, p.DesiredReplicas)
		set(m.current, p.CurrentReplicas)
		for _, c := range p.Classes {
			if c.Attained != nil {
				m.attained.WithLabelValues(plan.Name, p.Name, c.Name).Set(c.Attained.AsApproximateFloat64())
			}
		}
	}
}

// scaled counts a move.
func (m *Metrics) scaled(plan string, made *move) {
	direction := "up"
	if made.to < made.from {
		direction = "down"
	}
	m.scalings.WithLabelValues(plan, made.pool, direction).Inc()
}

// forget drops the metrics of a plan that is gone.
func (m *Metrics) forget(plan string) {
	gone := prometheus.Labels{"plan": plan}
	for _, v := range []*prometheus.GaugeVec{m.needed, m.desired, m.current, m.attained} {
		v.DeletePartialMatch(gone)
	}
	m.scalings.DeletePartialMatch(gone)
}
