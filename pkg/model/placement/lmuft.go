package placement

// DefaultThreshold is the threshold of [LMUFT] if none is given.
const DefaultThreshold = 0.8

// LMUFT is [LMUF] with a threshold: a job waits at the scheduler until there is a
// node whose busiest resource is not busier than that.
type LMUFT struct {
	// Threshold is a utilization above 0 and at most 1. Zero means
	// [DefaultThreshold].
	Threshold float64
}

// Name returns "lmuf-t".
func (LMUFT) Name() string { return "lmuf-t" }

// Choose returns the node of the least maximum utilization, −1 if that is above
// the threshold.
func (l LMUFT) Choose(now float64, j *Job, nodes []*NodeState) int {
	threshold := l.Threshold
	if threshold == 0 {
		threshold = DefaultThreshold
	}
	best := LMUF{}.Choose(now, j, nodes)
	if nodes[best].Running.Mix().MaxUtilization() > threshold {
		return -1
	}
	return best
}
