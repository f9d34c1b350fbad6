package recording

import (
	"errors"
	"fmt"
	"maps"
	"slices"
	"strings"
	"time"

	"loadline.dev/loadline/pkg/record"
	"loadline.dev/loadline/pkg/text"
	"loadline.dev/loadline/pkg/trace"
)

// describe describes a recording, and its value for a replay.
func describe(r *record.Recording, to string) (lines []string) {
	if to == "-" {
		to = "standard output"
	}
	at := func(job trace.Job) string {
		return r.Start.Add(time.Duration(job.Arrival) * time.Second).Format(time.RFC3339)
	}
	lines = append(lines, fmt.Sprintf("Recorded %s of %s in %s: arrivals from %s to %s.", text.Counted(len(r.Jobs), "job"),
		text.Counted(len(r.Profiles), "WorkloadProfile"), to, at(r.Jobs[0]), at(r.Jobs[len(r.Jobs)-1])))
	if r.Measured > 0 {
		lines = append(lines, fmt.Sprintf("For %s the neutral time is the time from start to end, which includes what other pods cost.", text.Counted(r.Measured, "job")))
	}
	if r.Derived > 0 {
		lines = append(lines, fmt.Sprintf("For %s that no WorkloadProfile matches the demands are assumed from requests.", text.Counted(r.Derived, "job")))
	}
	if len(r.Timeless) > 0 {
		lines = append(lines, fmt.Sprintf("To do better, set neutralMillis in %s.", text.Names(slices.Sorted(maps.Keys(r.Timeless)))))
	}
	if len(r.Columnless) > 0 {
		lines = append(lines, fmt.Sprintf("Requests of %s are left out: no column can be named after them.", text.Names(r.Columnless)))
	}
	if r.InvalidProfiles > 0 {
		lines = append(lines, fmt.Sprintf("Ignored %s; kubectl get workloadprofiles shows which are not Ready.", text.Counted(r.InvalidProfiles, "invalid WorkloadProfile")))
	}
	if left := leftOut(r); left != "" {
		lines = append(lines, fmt.Sprintf("Left out %s.", left))
	}
	return lines
}

// nothingRecorded is the error for a trace without jobs, which could not be read.
func nothingRecorded(r *record.Recording, watched bool) error {
	left := leftOut(r)
	switch {
	case left != "":
		return errors.New("no pod makes a job, so there is no trace to write; left out " + left)
	case watched:
		return errors.New("no pod finished, so there is no trace to write: check -n, -l and --since, or watch for longer")
	default:
		return errors.New("there are no pods, so there is no trace to write: check -n, -l and --since")
	}
}

// leftOut says how many pods are no jobs, and why; nothing if there are none.
func leftOut(r *record.Recording) string {
	total := 0
	var parts []string
	for _, reason := range record.Reasons() {
		n := r.LeftOut[reason]
		if n == 0 {
			continue
		}
		total += n
		part := text.Count(int64(n)) + " " + string(reason)
		if reason == record.StillRunning {
			part += " (--include-running takes those whose profile has neutralMillis)"
		}
		parts = append(parts, part)
	}
	if total == 0 {
		return ""
	}
	return text.Counted(total, "pod") + ": " + strings.Join(parts, "; ")
}
