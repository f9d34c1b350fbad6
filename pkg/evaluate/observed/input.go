package observed

import (
	"time"

	corev1 "k8s.io/api/core/v1"

	"loadline.dev/loadline/pkg/cgroup"
	"loadline.dev/loadline/pkg/gauge/usage"
)

// Input is what findings are made of.
type Input struct {
	// Nodes and Pods are those of the cluster: all, so that a remedy can be another node.
	Nodes []corev1.Node
	Pods  []corev1.Pod
	// Sights are the reports of the gauges, at most one for each node.
	Sights []Sight
	// Weights say how nodes make weights of CPU requests of which the gauge does not say which version of control groups
	// they have, and whether they give whole cores away.
	Weights cgroup.Options
	// Window is how much of the latest past an observation is made of, two intervals at least; 0 means [Window].
	Window time.Duration
	// WithoutDisks takes all time for which pods were blocked for time alone: for observations that are compared with others of which
	// nothing is kept of disks.
	WithoutDisks bool
}

// Sight is the report of a gauge on its node.
type Sight struct {
	Node string
	// Intervals follow each other, the oldest first; they must be valid.
	Intervals []usage.Interval
	// Age is how long ago the last one ended, by the clock of the gauge.
	Age time.Duration
	// Problem says why there are no intervals, if that is so.
	Problem string
}

const (
	// DefaultAbove is the smallest dilation of a finding unless another one is given.
	DefaultAbove = 1.2
	// Window is how much of the latest past an observation is made of unless another window is given, two intervals at least.
	Window = time.Minute
	// Evidence is the shortest time for which a pod must have been observed to be judged, and evidenceIntervals the smallest
	// number of intervals.
	Evidence          = 15 * time.Second
	evidenceIntervals = 2
	// MaxAge is the largest age of an observation, unless three of its intervals are longer.
	MaxAge       = time.Minute
	stalePeriods = 3
)
