package slaorder

import (
	"sync"

	"k8s.io/component-base/metrics"
	"k8s.io/component-base/metrics/legacyregistry"
)

// maxShown is how many classes have time series, the first by namespace and name.
const maxShown = 1000

// The plugin's metrics, served with the scheduler's own.
var (
	target = metrics.NewGaugeVec(&metrics.GaugeOpts{
		Namespace: "loadline", Subsystem: "slaorder", Name: "class_target_ratio",
		Help:           "Fraction of the pods of a WorkloadProfile that should end within the response time of its SLA. The first 1000 by namespace and name are shown.",
		StabilityLevel: metrics.ALPHA,
	}, classLabels)
	attained = metrics.NewGaugeVec(&metrics.GaugeOpts{
		Namespace: "loadline", Subsystem: "slaorder", Name: "class_attained_ratio",
		Help:           "Fraction of the pods of a WorkloadProfile that ended within the response time of its SLA, of those that succeeded within the window. There is none where no pod did.",
		StabilityLevel: metrics.ALPHA,
	}, classLabels)
	overdue = metrics.NewCounter(&metrics.CounterOpts{
		Namespace: "loadline", Subsystem: "slaorder", Name: "overdue_pods_total",
		Help:           "Pods that were bound after they had waited maxWaitSeconds, from when they went before the classes of their priority.",
		StabilityLevel: metrics.ALPHA,
	})

	classLabels = []string{"namespace", "profile"}

	registerMetrics = sync.OnceFunc(func() { // one scheduler may run several profiles
		legacyregistry.MustRegister(target, attained, overdue)
	})
)

// forgetClasses drops the time series of all classes.
func forgetClasses() {
	target.Reset()
	attained.Reset()
}

func reportTarget(c *class) {
	target.WithLabelValues(c.Namespace, c.Name).Set(c.sla.Probability)
}

func reportAttained(c *class, met, total int) {
	if total == 0 {
		attained.DeleteLabelValues(c.Namespace, c.Name)
		return
	}
	attained.WithLabelValues(c.Namespace, c.Name).Set(float64(met) / float64(total))
}
