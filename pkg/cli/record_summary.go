package cli

import (
	"errors"
	"fmt"
	"maps"
	"slices"
	"strings"
	"time"

	"loadline.dev/loadline/pkg/report/text"

	"loadline.dev/loadline/pkg/record"
	"loadline.dev/loadline/pkg/trace"
)

// describe says what a recording is, and what it is worth.
func describe(r *record.Recording, to string) string {
	var b strings.Builder
	if to == "-" {
		to = "standard output"
	}
	at := func(job trace.Job) string {
		return r.Start.Add(time.Duration(job.Arrival) * time.Second).Format(time.RFC3339)
	}
	fmt.Fprintf(&b, "Recorded %s of %s in %s: arrivals from %s to %s.\n", counted(len(r.Jobs), "job"),
		counted(len(r.Profiles), "WorkloadProfile"), to, at(r.Jobs[0]), at(r.Jobs[len(r.Jobs)-1]))
	if r.Measured > 0 {
		fmt.Fprintf(&b, "For %s the neutral time is the time from start to end, which includes what other pods cost.\n", counted(r.Measured, "job"))
	}
	if r.Derived > 0 {
		fmt.Fprintf(&b, "For %s that no WorkloadProfile matches the demands are derived from requests.\n", counted(r.Derived, "job"))
	}
	if len(r.Timeless) > 0 {
		fmt.Fprintf(&b, "To do better, set neutralMillis in %s.\n", some(slices.Sorted(maps.Keys(r.Timeless))))
	}
	if len(r.Columnless) > 0 {
		fmt.Fprintf(&b, "Requests of %s are left out: no column can be named after them.\n", some(r.Columnless))
	}
	if r.InvalidProfiles > 0 {
		fmt.Fprintf(&b, "Ignored %s; kubectl get workloadprofiles tells which are not Ready.\n", counted(r.InvalidProfiles, "invalid WorkloadProfile"))
	}
	if left := leftOut(r); left != "" {
		fmt.Fprintf(&b, "Left out %s.\n", left)
	}
	return b.String()
}

// nothingRecorded is the error for a trace without jobs, which nobody could read.
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
	return counted(total, "pod") + ": " + strings.Join(parts, "; ")
}

// some lists the first names.
func some(names []string) string {
	const most = 5
	if more := len(names) - most; more > 0 {
		return fmt.Sprintf("%s and %d more", strings.Join(names[:most], ", "), more)
	}
	return strings.Join(names, ", ")
}

// counted says how many there are of something: "1 job", "1,204 jobs".
func counted(n int, of string) string {
	if n != 1 {
		of += "s"
	}
	return text.Count(int64(n)) + " " + of
}
