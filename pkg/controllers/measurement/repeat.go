package measurement

import (
	"fmt"
	"time"

	batchv1 "k8s.io/api/batch/v1"

	"loadline.dev/loadline/pkg/controllers/probejob"
	"loadline.dev/loadline/pkg/probe/result"
)

// A target that ends soon is run again and again within a step, one run after the
// other, until it has been seen for long enough. Its times are those of one run.
const (
	// enough is for how long a target must have run within a step: many times the
	// tenths of a second by which processes begin sooner or later, and the periods
	// by which schedulers and disks share.
	enough = 10 * time.Second
	// maxRuns is how often a target runs at most within a step.
	maxRuns = 12
	// turnover is how long it takes from the end of a run to the beginning of the next.
	turnover = 4 * time.Second
)

// repeat adds the runs of a target after the first, as far as they have begun or are to
// begin: one more when the last has ended well and all were too short, as long as the
// probe is there, if there is one.
func (in *input) repeat(runs []run, target func(role string) *batchv1.Job) []run {
	ran := time.Duration(0)
	for n := 2; n <= maxRuns; n++ {
		last := in.outcomes[runs[len(runs)-1].job.Name]
		watch, err := result.ParseWatch(last.Messages[probejob.WatchContainer])
		if last.State != probejob.Succeeded || err != nil {
			return runs // what is wrong with the report is said when the step is over
		}
		ran += time.Duration(watch.End - watch.Begin)
		role := fmt.Sprintf("%s-%d", roleTarget, n)
		again := run{role: role, job: target(role)}
		if in.job(again.job.Name) == nil && (ran >= enough || !in.accompanied(runs)) {
			return runs
		}
		runs = append(runs, again)
	}
	return runs
}

// accompanied reports whether the probe of a step goes on, or none belongs to it.
func (in *input) accompanied(runs []run) bool {
	return runs[0].role != roleProbe || in.outcomes[runs[0].job.Name].State == probejob.Running
}

// runsOf returns how often a target runs within a step that takes so long.
func runsOf(once time.Duration) int {
	if once <= 0 {
		return 1
	}
	return int(min(maxRuns, (enough+once-1)/once))
}
