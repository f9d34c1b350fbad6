package chart

import (
	"fmt"
	"slices"
)

// checkNames returns an error that says which name of a list is empty or taken; list and of make
// the name of the field, such as samples[2].name with ".name" as of.
func checkNames(list, of string, names []string) error {
	for i, name := range names {
		if name == "" {
			return fmt.Errorf("%s[%d]%s: is empty", list, i, of)
		}
		if first := slices.Index(names, name); first < i {
			return fmt.Errorf("%s[%d]%s: %q is also the name of %s[%d]", list, i, of, name, list, first)
		}
	}
	return nil
}

func (d Comparison) names() []string {
	return namesOf(d.Contenders, func(contender Contender) string { return contender.Name })
}

func (d Distribution) names() []string {
	return namesOf(d.Samples, func(sample Sample) string { return sample.Name })
}

func (d Intervals) names() []string {
	return namesOf(d.Estimates, func(estimate Estimate) string { return estimate.Name })
}

func (s Scatter) names() []string {
	return namesOf(s.Series, func(series Series) string { return series.Name })
}

func (s Staircase) names() []string {
	return namesOf(s.Stairs, func(stair Stair) string { return stair.Name })
}

func (t Timeline) names() []string {
	return namesOf(t.Schedules, func(schedule Schedule) string { return schedule.Name })
}

func (o Occupancy) names() []string {
	return namesOf(o.Strips, func(strip Strip) string { return strip.Machine })
}

func (g Regions) names() []string {
	return namesOf(g.Findings, func(finding Finding) string { return finding.Name })
}

// namesOf returns the names of a list.
func namesOf[T any](list []T, name func(T) string) []string {
	names := make([]string, len(list))
	for i, item := range list {
		names[i] = name(item)
	}
	return names
}
