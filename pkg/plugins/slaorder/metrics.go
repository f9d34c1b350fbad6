package slaorder

import (
	"strconv"
	"sync"
	"time"

	"k8s.io/apimachinery/pkg/types"
	"k8s.io/component-base/metrics"
	"k8s.io/component-base/metrics/legacyregistry"
)

// maxShown is how many classes have time series, the first by namespace and name.
const maxShown = 1000

// reportInterval is how often the pods that wait are counted for the metrics.
const reportInterval = 10 * time.Second

// others is what the pods are counted under that have no class with time series of its own.
var others = types.NamespacedName{Namespace: "(others)", Name: "(others)"}

// The plugin's metrics, served with the scheduler's own. Their label for the namespace of a profile
// is not called namespace: a Prometheus gives that name to the namespace of what it scrapes, and
// would rename ours.
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
	endedPods = metrics.NewGaugeVec(&metrics.GaugeOpts{
		Namespace: "loadline", Subsystem: "slaorder", Name: "class_ended_pods",
		Help:           "Pods of a WorkloadProfile that succeeded within the window, in time or not. There is none where no pod did.",
		StabilityLevel: metrics.ALPHA,
	}, classLabels)
	waitingGauge = metrics.NewGaugeVec(&metrics.GaugeOpts{
		Namespace: "loadline", Subsystem: "slaorder", Name: "waiting_pods",
		Help:           "Pods that wait to be placed, by the scheduler that they name, the WorkloadProfile whose SLA they are ordered by, and whether they are overdue: have waited maxWaitSeconds or longer. Pods without one, and those of profiles that are not shown, are (others).",
		StabilityLevel: metrics.ALPHA,
	}, []string{"scheduler_name", "profile_namespace", "profile", "overdue"})
	overduePlaced = metrics.NewCounter(&metrics.CounterOpts{
		Namespace: "loadline", Subsystem: "slaorder", Name: "overdue_pods_total",
		Help:           "Pods that were bound after they had waited maxWaitSeconds, from when they went before the classes of their priority.",
		StabilityLevel: metrics.ALPHA,
	})

	classLabels = []string{"profile_namespace", "profile"}

	registerMetrics = sync.OnceFunc(func() { // one scheduler may run several profiles
		legacyregistry.MustRegister(target, attained, endedPods, waitingGauge, overduePlaced)
	})
)

// forgetClasses drops the time series of all classes but those of the pods that wait.
func forgetClasses() {
	target.Reset()
	attained.Reset()
	endedPods.Reset()
}

func reportTarget(c *class) {
	target.WithLabelValues(c.Namespace, c.Name).Set(c.sla.Probability)
}

func reportAttained(c *class, met, total int) {
	if total == 0 {
		attained.DeleteLabelValues(c.Namespace, c.Name)
		endedPods.DeleteLabelValues(c.Namespace, c.Name)
		return
	}
	attained.WithLabelValues(c.Namespace, c.Name).Set(float64(met) / float64(total))
	endedPods.WithLabelValues(c.Namespace, c.Name).Set(float64(total))
}

// waits counts pods that wait, those that are not overdue and those that are.
type waits struct{ inTime, overdue int }

func (w *waits) add(other waits) {
	w.inTime += other.inTime
	w.overdue += other.overdue
}

// reportWaiting shows how many pods of a scheduler wait, by class, in place of what it showed last.
func reportWaiting(schedulerName string, last, now map[types.NamespacedName]waits) {
	for name := range last {
		if _, still := now[name]; !still {
			for _, isOverdue := range []bool{false, true} {
				waitingGauge.DeleteLabelValues(schedulerName, name.Namespace, name.Name, strconv.FormatBool(isOverdue))
			}
		}
	}
	for name, n := range now {
		waitingGauge.WithLabelValues(schedulerName, name.Namespace, name.Name, "false").Set(float64(n.inTime))
		waitingGauge.WithLabelValues(schedulerName, name.Namespace, name.Name, "true").Set(float64(n.overdue))
	}
}
