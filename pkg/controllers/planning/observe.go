package planning

import (
	"context"
	"fmt"
	"iter"
	"slices"
	"time"

	"sigs.k8s.io/controller-runtime/pkg/client"

	"loadline.dev/loadline/apis/loadline/v1alpha1"
	"loadline.dev/loadline/pkg/evaluate/observed"
	"loadline.dev/loadline/pkg/evaluate/remediations"
	"loadline.dev/loadline/pkg/gauge/collected"
	"loadline.dev/loadline/pkg/gauge/usage"
)

const (
	// window is how much of the latest past a plan is made of, and least how much of it a node must have been observed.
	window = 5 * time.Minute
	least  = time.Minute
	// mostIntervals is how many intervals of a node are looked at for a plan: more than a window has, unless intervals are shorter than a
	// second. allIntervals is about how many are of all nodes, and fewest how many of each in any case: in a large cluster less of the past,
	// which takes less time. In memory are those of one node at a time.
	mostIntervals, allIntervals, fewest = 300, 20_000, 8
)

// span is when an interval was, by the clock of the manager. The clock of a node may be another one and may be set, and between intervals
// there may be a gap; so it is as long as by either of the two ways to tell.
type span struct{ start, end time.Time }

// spans returns when the intervals of a report were, made now.
func spans(r *usage.Report, now time.Time) []span {
	all := make([]span, len(r.Intervals))
	if len(all) == 0 {
		return all
	}
	last := r.Intervals[len(all)-1].End
	until := now.Add(-seconds(r.AgeSeconds))
	end := until // by the lengths of the intervals
	for i, v := range slices.Backward(r.Intervals) {
		byNode := until.Add(v.End.Sub(last))
		start := end.Add(-seconds(v.Seconds))
		all[i] = span{start: earlier(start, byNode.Add(-seconds(v.Seconds))), end: later(end, byNode)}
		end = start
	}
	return all
}

func earlier(a, b time.Time) time.Time {
	if b.Before(a) {
		return b
	}
	return a
}

func later(a, b time.Time) time.Time {
	if b.After(a) {
		return b
	}
	return a
}

func seconds(s float64) time.Duration { return time.Duration(s * float64(time.Second)) }

// since returns the intervals of a report that began at a time or later.
func since(r *usage.Report, when, now time.Time) []usage.Interval {
	for i, s := range spans(r, now) {
		if !s.start.Before(when) {
			return r.Intervals[i:]
		}
	}
	return nil
}

// until returns the intervals of a report that had ended at a time.
func until(r *usage.Report, when, now time.Time) []usage.Interval {
	all := spans(r, now)
	n := len(all)
	for n > 0 && all[n-1].end.After(when) {
		n--
	}
	return r.Intervals[:n]
}

// lengthOf returns how long intervals are together.
func lengthOf(intervals []usage.Interval) time.Duration {
	sum := 0.0
	for i := range intervals {
		sum += intervals[i].Seconds
	}
	return seconds(sum)
}

// sights returns what gauges saw of all nodes since the last change there, one after the other. Those that were not observed for long enough
// have a problem.
func sights(history *collected.History, changed map[string]time.Time, now time.Time) iter.Seq[*observed.Sight] {
	return func(yield func(*observed.Sight) bool) {
		names := history.Nodes()
		last := min(mostIntervals, max(fewest, allIntervals/max(1, len(names))))
		for _, name := range names {
			report, is := history.Report(name, last)
			if !is {
				continue // forgotten meanwhile
			}
			s := &observed.Sight{Node: name, Intervals: since(&report, changed[name], now), Age: seconds(report.AgeSeconds)}
			if length := lengthOf(s.Intervals); length < least {
				s.Intervals, s.Problem = nil, fmt.Sprintf("it was observed for %v only since the manager began to, or a pod was changed there", length.Round(time.Second))
			}
			if !yield(s) {
				return
			}
		}
	}
}

// changes returns when the last change of a pod of each node was made, or undone.
func changes(all []v1alpha1.Remediation) map[string]time.Time {
	last := map[string]time.Time{}
	for i := range all {
		c := &all[i]
		when := c.Status.AppliedTime
		if undone(c) {
			when = c.Status.CompletionTime
		}
		if when == nil {
			continue
		}
		for _, name := range remediations.Nodes(c) {
			last[name] = later(last[name], when.Time)
		}
	}
	return last
}

// NodesUnderWay returns the nodes of changes that are under way. These are judged by what gauges saw there before, too.
func NodesUnderWay(ctx context.Context, c client.Reader) (map[string]bool, error) {
	var all v1alpha1.RemediationList
	if err := c.List(ctx, &all); err != nil {
		return nil, fmt.Errorf("listing Remediations: %w", err)
	}
	nodes := map[string]bool{}
	for i := range all.Items {
		r := &all.Items[i]
		if !remediations.Running(r) {
			continue
		}
		for _, name := range remediations.Nodes(r) {
			nodes[name] = true
		}
	}
	return nodes, nil
}

// undone reports whether a change was started and did not stay.
func undone(c *v1alpha1.Remediation) bool {
	step := remediations.Step(c)
	return remediations.Complete(c) && remediations.Started(c) && (step == v1alpha1.ReasonRolledBack || step == v1alpha1.ReasonFailed)
}

// madeBefore returns when the last change of a pod of each node was made that stays, of those that were made before another one was started.
// What did not win and was undone hardly made a difference.
func madeBefore(r *v1alpha1.Remediation, all []v1alpha1.Remediation) map[string]time.Time {
	others := slices.DeleteFunc(slices.Clone(all), func(c v1alpha1.Remediation) bool {
		return c.Namespace == r.Namespace && c.Name == r.Name || undone(&c) || c.Status.AppliedTime == nil || !c.Status.AppliedTime.Before(r.Status.StartTime)
	})
	return changes(others)
}
