package dilation

import (
	"sync"

	"k8s.io/component-base/metrics"
	"k8s.io/component-base/metrics/legacyregistry"

	"loadline.dev/loadline/apis/config/v1alpha1"
	"loadline.dev/loadline/pkg/profile"
)

// Where a pod's vector comes from, as a metric label.
const (
	fromProfile  = "profile"
	fromRequests = "requests"
)

// Why a pod waits, as a metric label.
const (
	byGuard = "guard"
	byHold  = "hold"
)

// The plugin's metrics, served with the scheduler's own.
var (
	podsScored = metrics.NewCounterVec(&metrics.CounterOpts{
		Namespace: "loadline", Subsystem: "dilation", Name: "pods_scored_total",
		Help:           "Pods whose nodes were scored, by where their loading vector came from: a WorkloadProfile, or their requests for want of one.",
		StabilityLevel: metrics.ALPHA,
	}, []string{"vector"})
	nodesRepriced = metrics.NewCounter(&metrics.CounterOpts{
		Namespace: "loadline", Subsystem: "dilation", Name: "nodes_repriced_total",
		Help:           "Nodes whose prices were computed, once for nodes that are alike, because their pods, a WorkloadProfile that these follow, or a NodeProfile had changed.",
		StabilityLevel: metrics.ALPHA,
	})
	profiles = metrics.NewGaugeVec(&metrics.GaugeOpts{
		Namespace: "loadline", Subsystem: "dilation", Name: "profiles",
		Help:           "WorkloadProfiles and NodeProfiles known to the scheduler: used, or ignored because they are invalid.",
		StabilityLevel: metrics.ALPHA,
	}, []string{"state"})
	nodesSolved = metrics.NewCounter(&metrics.CounterOpts{
		Namespace: "loadline", Subsystem: "dilation", Name: "nodes_solved_total",
		Help:           "Nodes whose pods' dilations were computed by the accurate model, because they might come near a bound.",
		StabilityLevel: metrics.ALPHA,
	})
	nodesEstimated = metrics.NewCounter(&metrics.CounterOpts{
		Namespace: "loadline", Subsystem: "dilation", Name: "nodes_estimated_total",
		Help:           "Nodes whose pods' dilations were estimated, to be scored by the objective Packing or SLARisk.",
		StabilityLevel: metrics.ALPHA,
	})
	nodesRefused = metrics.NewCounterVec(&metrics.CounterOpts{
		Namespace: "loadline", Subsystem: "dilation", Name: "nodes_refused_total",
		Help:           "Nodes refused for a pod that no node took: because of its own bound (pod), of that of a pod there (neighbour), or because it is held (hold).",
		StabilityLevel: metrics.ALPHA,
	}, []string{"bound"})
	waitingPods = metrics.NewGaugeVec(&metrics.GaugeOpts{
		Namespace: "loadline", Subsystem: "dilation", Name: "waiting_pods",
		Help:           "Pods that no node takes because of a bound (guard), and pods that are held until nodes are less contended (hold).",
		StabilityLevel: metrics.ALPHA,
	}, []string{"by"})
	boundsExceeded = metrics.NewCounterVec(&metrics.CounterOpts{
		Namespace: "loadline", Subsystem: "dilation", Name: "bounds_exceeded_total",
		Help:           "Pods that were predicted to be dilated more than sla.maxDilation allows when a pod was placed, by the mode of their namespace.",
		StabilityLevel: metrics.ALPHA,
	}, []string{"mode"})
	predictedDilation = metrics.NewHistogram(&metrics.HistogramOpts{
		Namespace: "loadline", Subsystem: "dilation", Name: "predicted_dilation",
		Help:           "Dilations that were predicted for pods when they were placed, of those that have an event that says so.",
		Buckets:        []float64{1.01, 1.02, 1.05, 1.1, 1.2, 1.5, 2, 3, 5, 10},
		StabilityLevel: metrics.ALPHA,
	})

	registerMetrics = sync.OnceFunc(func() { // one scheduler may run several profiles
		legacyregistry.MustRegister(podsScored, nodesRepriced, profiles, nodesSolved, nodesEstimated, nodesRefused, waitingPods, boundsExceeded, predictedDilation)
		// From the start, so that what has not happened yet is 0 and not unknown:
		reportRefusals(&refusals{})
		for _, by := range []string{byGuard, byHold} {
			waitingPods.WithLabelValues(by).Set(0)
		}
		for _, mode := range []v1alpha1.GuardMode{v1alpha1.GuardWarn, v1alpha1.GuardEnforce} {
			boundsExceeded.WithLabelValues(string(mode)).Add(0)
		}
	})
)

func reportVector(profiled bool) {
	source := fromRequests
	if profiled {
		source = fromProfile
	}
	podsScored.WithLabelValues(source).Inc()
}

func reportProfiles(s *profile.Snapshot) {
	used, ignored := s.Counts()
	profiles.WithLabelValues("used").Set(float64(used))
	profiles.WithLabelValues("ignored").Set(float64(ignored))
}

func reportRefusals(r *refusals) {
	nodesRefused.WithLabelValues("pod").Add(float64(r.own))
	nodesRefused.WithLabelValues("neighbour").Add(float64(r.others))
	nodesRefused.WithLabelValues("hold").Add(float64(r.held))
}
