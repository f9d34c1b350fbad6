package main

import (
	"cmp"
	"slices"
	"strings"
	"time"

	"loadline.dev/loadline/hack/soak/trend"
)

// judged is a series with its verdict.
type judged struct {
	trend.Verdict

	part, instance, what string
	unit                 unit
	resets               int
	first, last          time.Duration
}

// name returns the name of a series for people, such as "manager 1: heap".
func (j *judged) name() string {
	return strings.TrimSuffix(j.part+" "+j.instance, " ") + ": " + j.what
}

// judge returns all series of a run with their verdicts, in the order of their names.
func judge(r *record, samples []sample) []judged {
	values, counters := map[string][]trend.Point{}, map[string][]trend.Point{}
	for i := range samples {
		at := time.Duration(samples[i].Seconds * float64(time.Second))
		for name, v := range samples[i].Values {
			values[name] = append(values[name], trend.Point{At: at, Value: v})
		}
	}
	for name := range counted(samples) {
		counters[name] = counts(samples, name)
	}
	var all []judged
	for name, points := range values {
		j := named(name, false)
		all = append(all, j.judge(r, points))
	}
	for name, points := range counters {
		j := named(name, true)
		var rates []trend.Point
		rates, j.resets = trend.PerMinute(points)
		all = append(all, j.judge(r, rates))
	}
	slices.SortFunc(all, func(a, b judged) int {
		return cmp.Or(cmp.Compare(a.part, b.part), cmp.Compare(a.what, b.what), cmp.Compare(a.instance, b.instance))
	})
	return all
}

func named(name string, counter bool) judged {
	j := judged{}
	j.part, j.instance, j.what = split(name)
	j.unit = unitOf(j.what, counter)
	return j
}

// judge returns a series with the verdict about its points.
func (j judged) judge(r *record, points []trend.Point) judged {
	if len(points) > 0 {
		j.first, j.last = points[0].At, points[len(points)-1].At
	}
	j.Verdict = trend.Judge(points, ruleOf(r, j.part, j.what, j.unit))
	return j
}

// counted returns the names of all counters.
func counted(samples []sample) map[string]bool {
	names := map[string]bool{}
	for i := range samples {
		for name := range samples[i].Counters {
			names[name] = true
		}
	}
	return names
}

// counts returns what a counter was in each sample. Of all instances of a program it is 0 before it is there: it counts what happens, which
// had not happened. Of one instance it begins when that does.
func counts(samples []sample, name string) []trend.Point {
	_, instance, _ := split(name)
	var points []trend.Point
	for i := range samples {
		value, is := samples[i].Counters[name]
		if !is && instance != "" {
			continue
		}
		points = append(points, trend.Point{At: time.Duration(samples[i].Seconds * float64(time.Second)), Value: value})
	}
	return points
}
