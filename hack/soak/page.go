package main

import (
	"fmt"
	"io"
	"maps"
	"slices"
	"strings"
	"time"

	"loadline.dev/loadline/hack/soak/trend"
)

// kinds are those of verdicts, in the order of a page.
var kinds = []trend.Kind{trend.Grows, trend.Stepped, trend.Bounded, trend.Small, trend.Falls, trend.Steady, trend.Short}

// writePage writes what a run showed, as Markdown.
func writePage(w io.Writer, r *record, samples []sample, all []judged) error {
	p := &page{w: w}
	p.print("%d samples of %d series in %s, from %s on, of which the first %s are the warm-up; a day is %s. ",
		len(samples), len(all), r.Length.Duration, r.Began.UTC().Format("2006-01-02 15:04 MST"), r.WarmUp.Duration, day)
	p.print("Commit %s, Kubernetes %s, %d cores, %d real nodes and %d that KWOK plays.\n\n", r.Commit, r.Server, r.Cores, r.Real, r.Played)
	p.verdicts(all)
	for _, k := range kinds[:4] {
		p.series(k, all)
	}
	p.levels(r, all)
	p.totals("writes that changed nothing", "changes nothing: ", samples)
	p.totals("requests that failed", "failed: ", samples)
	p.counts("done", r.Done)
	p.counts("failed", r.Failed)
	p.counts("not sampled", r.Missed)
	p.print("Clients saw %d changes of Loadline's objects, and open pages were told %d times of something new.\n", r.Changes, r.Told)
	for _, text := range r.Left {
		p.print("\nLeft at the end: %s\n", text)
	}
	return p.err
}

// page writes until the first error.
type page struct {
	w   io.Writer
	err error
}

func (p *page) print(format string, args ...any) {
	if p.err == nil {
		_, p.err = fmt.Fprintf(p.w, format, args...)
	}
}

// verdicts writes how many series have which verdict, by the parts of Loadline.
func (p *page) verdicts(all []judged) {
	counts := map[string]map[trend.Kind]int{}
	for i := range all {
		if counts[all[i].part] == nil {
			counts[all[i].part] = map[trend.Kind]int{}
		}
		counts[all[i].part][all[i].Kind]++
	}
	p.print("| series of |")
	for _, k := range kinds {
		p.print(" %s |", k)
	}
	p.print("\n|---|%s\n", strings.Repeat("---|", len(kinds)))
	for _, part := range slices.Sorted(maps.Keys(counts)) {
		p.print("| %s |", part)
		for _, k := range kinds {
			p.print(" %d |", counts[part][k])
		}
		p.print("\n")
	}
	p.print("\n")
}

const header = "| series | mean | at the end | a day | 95 %% interval | matters from | values |\n|---|---|---|---|---|---|---|\n"

// series writes those of a verdict, if there are any.
func (p *page) series(k trend.Kind, all []judged) {
	some := slices.DeleteFunc(slices.Clone(all), func(j judged) bool { return j.Kind != k })
	if len(some) == 0 {
		return
	}
	p.print("%s:\n\n"+header, k)
	for i := range some {
		p.line(&some[i])
	}
	p.print("\n")
	why := map[string]bool{}
	for i := range some {
		if b := boundOf(some[i].part, some[i].what); k == trend.Bounded && b != nil {
			why[fmt.Sprintf("%s, %s: up to %s, as %s", b.part, b.prefix, some[i].unit.text(b.most), b.why)] = true
		}
	}
	for _, text := range slices.Sorted(maps.Keys(why)) {
		p.print("- %s\n", text)
	}
	if len(why) > 0 {
		p.print("\n")
	}
}

func (p *page) line(j *judged) {
	p.print("| %s | %s | %s | %s | %s to %s | %s | %d |\n", j.name(), j.unit.text(j.Mean), j.unit.text(j.Last), j.unit.text(j.PerDay), j.unit.text(j.Low), j.unit.text(j.High),
		j.unit.text(j.Matters), j.Cycles)
}

// levels writes the series that every program has, and rates in all, whatever their verdicts.
func (p *page) levels(r *record, all []judged) {
	p.print("What every program takes, and asks in all:\n\n| series | mean | a day | 95 %% interval | verdict |\n|---|---|---|---|---|\n")
	for i := range all {
		j := &all[i]
		if !slices.Contains([]string{"heap", "resident memory", "goroutines", "open files", "series", "all requests", "log lines", "processor time"}, j.what) || j.Cycles == 0 {
			continue
		}
		if j.Kind == trend.Short {
			p.print("| %s | %s | | | %s |\n", j.name(), j.unit.text(j.Mean), j.Kind)
			continue
		}
		p.print("| %s | %s | %s | %s to %s | %s |\n", j.name(), j.unit.text(j.Mean), j.unit.text(j.PerDay), j.unit.text(j.Low), j.unit.text(j.High), j.Kind)
	}
	p.print("\n")
	p.instances(r, all)
}

// instances writes which instances of programs were not there all the time, or are of a container that was started again.
func (p *page) instances(r *record, all []judged) {
	for i := range all {
		j := &all[i]
		if j.what != "resident memory" {
			continue // every instance has it
		}
		late, early := j.first > r.Cycle.Duration, j.last < r.Length.Duration-r.Cycle.Duration
		if strings.Contains(j.instance, "restart") || late || early {
			p.print("%s %s was there from %s to %s.\n\n", j.part, j.instance, j.first.Round(time.Second), j.last.Round(time.Second))
		}
	}
	for i := range all {
		if j := &all[i]; j.resets > 0 {
			p.print("%s was reset %d times.\n\n", j.name(), j.resets)
		}
	}
}

// totals writes what counters with a prefix came to, in all programs.
func (p *page) totals(title, prefix string, samples []sample) {
	totals := map[string]int{}
	if len(samples) > 0 {
		for name, n := range samples[len(samples)-1].Counters {
			part, _, what := split(name)
			if rest, is := strings.CutPrefix(what, prefix); is {
				totals[part+": "+rest] = int(n)
			}
		}
	}
	p.counts(title, totals)
}

// counts writes how often something happened, the most frequent first.
func (p *page) counts(title string, counts map[string]int) {
	if len(counts) == 0 {
		p.print("No %s.\n\n", title)
		return
	}
	p.print("| %s | number |\n|---|---|\n", title)
	names := slices.SortedFunc(maps.Keys(counts), func(a, b string) int {
		if counts[a] != counts[b] {
			return counts[b] - counts[a]
		}
		return strings.Compare(a, b)
	})
	const most = 40
	for _, name := range names[:min(len(names), most)] {
		p.print("| %.300s | %d |\n", strings.NewReplacer("\n", " ", "|", "/").Replace(name), counts[name])
	}
	if len(names) > most {
		p.print("| %d others | |\n", len(names)-most)
	}
	p.print("\n")
}

// text writes a value in the unit.
func (u unit) text(value float64) string {
	value /= u.per
	format := "%.2f"
	switch {
	case value >= 1000 || value <= -1000:
		format = "%.0f"
	case value >= 100 || value <= -100:
		format = "%.1f"
	}
	text := fmt.Sprintf(format, value)
	if u.name != "" {
		text += " " + u.name
	}
	return text
}
