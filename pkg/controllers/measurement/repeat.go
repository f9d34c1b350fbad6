package measurement

import (
	"time"
)

// A target that ends soon is run again and again within a step, one run after the
// other, until it has been seen for long enough. Its times are those of one run.
const (
	// enough is the least time that a target must have run within a step: many times the tenths of
	// a second by which processes begin sooner or later, and the periods by which schedulers and
	// disks share.
	enough = 10 * time.Second
	// maxRuns is how often a target runs at most within a step.
	maxRuns = 12
	// turnover is how long it takes from the end of a run to the beginning of the next.
	turnover = 4 * time.Second
)

// runsOf returns how often a target runs within a step that takes so long.
func runsOf(once time.Duration) int {
	if once <= 0 {
		return 1
	}
	return int(min(maxRuns, (enough+once-1)/once))
}
