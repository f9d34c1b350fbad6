package server

import (
	"github.com/prometheus/client_golang/prometheus"
	"github.com/prometheus/client_golang/prometheus/promauto"
)

// Metrics count the connections that servers closed. All methods may be called at once.
type Metrics struct {
	closed *prometheus.CounterVec
}

// Why connections are closed.
const (
	evicted = "evicted" // too many were open, most of them of that address
	refused = "refused" // its request was answered, but not admitted
)

// NewMetrics returns metrics of no connections yet, registered with a registry that has none of their names.
func NewMetrics(registry prometheus.Registerer) *Metrics {
	return &Metrics{promauto.With(registry).NewCounterVec(prometheus.CounterOpts{
		Name: "loadline_connections_closed_total",
		Help: "Connections that were closed by the port that they came to: evicted, because too many were open and their address had the most, or refused, because their request had no valid token or no right.",
	}, []string{"port", "reason"})}
}

// counter returns a function that counts connections to a port that are closed for a reason.
func (m *Metrics) counter(port Port, reason string) func() {
	return m.closed.WithLabelValues(string(port), reason).Inc
}
