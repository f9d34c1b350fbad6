package observed

import (
	"maps"
	"slices"

	"loadline.dev/loadline/pkg/gauge/usage"
)

// processors returns the number of processors that pods had for most of the time of some intervals, at least one, and the other numbers
// that there were. Of numbers that were there equally long it is the latest.
//
// A number that changes for some intervals only would otherwise have the node modelled by whatever the last one has. What was busy on
// other processors says nothing of these, so that only the intervals with the number that is returned show how busy they were.
func processors(intervals []usage.Interval) (cpus int, others []int) {
	seconds := map[int]float64{}
	for i := range intervals {
		seconds[intervals[i].CPUs] += intervals[i].Seconds
	}
	const rounding = 0.01 // of the whole: intervals are of about the same length
	longest := 0.0
	for _, s := range seconds {
		longest = max(longest, s)
	}
	for _, v := range slices.Backward(intervals) {
		if seconds[v.CPUs] >= longest*(1-rounding) {
			cpus = v.CPUs
			break
		}
	}
	delete(seconds, cpus)
	return cpus, slices.Sorted(maps.Keys(seconds))
}
