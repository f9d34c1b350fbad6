package dilation

import (
	"sync"

	"k8s.io/component-base/metrics"
	"k8s.io/component-base/metrics/legacyregistry"

	"loadline.dev/loadline/pkg/profile"
)

// Where a pod's vector comes from, as a metric label.
const (
	fromProfile  = "profile"
	fromRequests = "requests"
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
		Help:           "Nodes whose prices were computed again because their pods, or the profiles, had changed.",
		StabilityLevel: metrics.ALPHA,
	})
	profiles = metrics.NewGaugeVec(&metrics.GaugeOpts{
		Namespace: "loadline", Subsystem: "dilation", Name: "profiles",
		Help:           "WorkloadProfiles and NodeProfiles known to the scheduler: used, or ignored because they are invalid.",
		StabilityLevel: metrics.ALPHA,
	}, []string{"state"})

	registerMetrics = sync.OnceFunc(func() { // one scheduler may run several profiles
		legacyregistry.MustRegister(podsScored, nodesRepriced, profiles)
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
