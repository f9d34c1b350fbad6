package report

import (
	"cmp"
	"fmt"
	"math"
	"slices"

	"loadline.dev/loadline/pkg/evaluate/findings"
	"loadline.dev/loadline/pkg/evaluate/observed"
	"loadline.dev/loadline/pkg/report/page"
	"loadline.dev/loadline/pkg/text"
)

const (
	// maxVictims is how many workloads have a bar, and maxPods how many pods of one have.
	maxVictims = 25
	maxPods    = 5
)

// kinds are how bars show causes, in the order of the key.
var kinds = []struct {
	of    observed.Kind
	shown page.KeyEntry
}{
	{observed.ByNeighbour, page.KeyEntry{Kind: page.Neighbour, Text: "neighbours"}},
	{observed.ByLimit, page.KeyEntry{Kind: page.Limit, Text: "its own limit"}},
	{observed.ByHypervisor, page.KeyEntry{Kind: page.Hypervisor, Text: "hypervisor"}},
	{observed.ByItself, page.KeyEntry{Kind: page.Itself, Text: "its own threads"}},
	{observed.BySystem, page.KeyEntry{Kind: page.System, Text: "the node outside of pods"}},
	{observed.ByEnded, page.KeyEntry{Kind: page.Ended, Text: "pods that have ended"}},
	{observed.ByUnclear, page.KeyEntry{Kind: page.Unclear, Text: "not clear"}},
}

// victims returns a bar for each workload that is slowed down, which opens to its pods.
func victims(s *Situation) page.Section {
	groups := s.ByWorkload()
	slices.SortStableFunc(groups, func(a, b findings.Group) int { return cmp.Compare(b.Felt(), a.Felt()) })
	of := map[string][]*findings.Finding{}
	for i := range s.Findings {
		f := &s.Findings[i]
		of[f.Workload] = append(of[f.Workload], f)
	}
	var rows []page.BarRow
	var left, leftPods int
	for i := range groups {
		g := &groups[i]
		if len(rows) == maxVictims {
			left, leftPods = left+1, leftPods+g.Slowed
			continue
		}
		rows = append(rows, s.victim(g, of[g.Workload]))
	}
	section := page.Section{Title: "Slowed down", Bars: s.bars("time beyond running alone; one scale for all", rows)}
	if left > 0 {
		section.Notes = append(section.Notes, fmt.Sprintf("And %s with %s that are slowed down less: narrow the view to see them.",
			text.Counted(left, "workload"), text.Counted(leftPods, "pod")))
	}
	return section
}

// bars returns bars of causes, with the key to them.
func (s *Situation) bars(of string, rows []page.BarRow) *page.Bars {
	return &page.Bars{
		Of: of, Rows: rows, Key: keyOf(rows), Heads: page.BarHeads{Name: "slowed", Figure: "dilation", Part: "because of", Value: "added dilation (×)"},
		SparksAre: "dilation over " + s.PastIs, SparkEvery: s.PastEvery,
	}
}

// victim returns the bar of a workload, or of its only pod.
func (s *Situation) victim(g *findings.Group, pods []*findings.Finding) page.BarRow {
	if len(pods) == 1 {
		return s.podBar(pods[0])
	}
	slowed := text.Count(int64(g.Slowed)) + " of " + text.Counted(g.Pods, "pod")
	row := page.BarRow{
		Name: g.Workload, Detail: fmt.Sprintf("%s, the worst %s · since %s", slowed, text.Times(g.Worst), since(g.SinceSeconds, g.AtLeast)),
		Figure: text.Times(g.Dilation), Words: slowWords(g.Causes, g.PerUnit), Parts: barParts(g.Causes), Severity: rated(g.Dilation, s.Above),
		Remedy: remedyLine(groupRemedy(g), &g.Remedy),
	}
	row.Spark, row.SparkIs = s.past(g.Of)
	for i, f := range pods {
		if i == maxPods {
			row.Detail += fmt.Sprintf(" · the worst %d are shown", maxPods)
			break
		}
		row.Of = append(row.Of, s.podBar(f))
	}
	return row
}

// podBar returns the bar of a pod.
func (s *Situation) podBar(f *findings.Finding) page.BarRow {
	row := page.BarRow{
		Name: f.Pod.Pod, Link: link(s.PodLink, f.Pod.Pod), Detail: f.Node + " · since " + since(f.SinceSeconds, f.AtLeast),
		Figure: text.Times(f.Dilation), Words: slowWords(f.Causes, f.PerUnit), Parts: barParts(f.Causes), Severity: rated(f.Felt(), s.Above),
		Remedy: remedyLine(remedy(&f.Remedy, &f.Pod), &f.Remedy),
	}
	row.Spark, row.SparkIs = s.past(f.Pod.Pod)
	return row
}

// becauseOf says why a pod is slowed down, as far as that was worked out.
func becauseOf(causes []observed.Cause) string {
	if len(causes) == 0 {
		return "why is being worked out"
	}
	return "because of " + because(causes, fewCauses)
}

// slowWords says why a pod is slowed down, and how much longer units of its work take, where that is known.
func slowWords(causes []observed.Cause, u *findings.PerUnit) string {
	switch {
	case u == nil:
		return becauseOf(causes)
	case len(causes) == 0:
		return UnitWords(u)
	default:
		return becauseOf(causes) + "; " + UnitWords(u)
	}
}

// past returns the dilations of a pod over the last while, and what they are in words.
func (s *Situation) past(pod string) (values []float64, words string) {
	if s.Past == nil {
		return nil, ""
	}
	values = s.Past(pod)
	low, high, known := math.Inf(1), 0.0, 0
	for _, v := range values {
		if !math.IsNaN(v) {
			low, high, known = min(low, v), max(high, v), known+1
		}
	}
	if known < 2 {
		return nil, ""
	}
	return values, fmt.Sprintf("from %s to %s", text.Times(low), text.Times(high))
}

// remedyLine says what would help, and what comes of it.
func remedyLine(what string, r *findings.Remedy) string {
	switch {
	case r.Action == findings.Leave && r.Problem == "" && r.ByHand == nil:
		return "Nothing in the cluster helps."
	case r.Action == "":
		return ""
	}
	line := text.Capitalized(what)
	if after := then(r); after != text.Absent {
		line += " → " + after
	}
	return line + "."
}

// barParts returns the parts of a bar, the neighbours that are many and small as one.
func barParts(causes []observed.Cause) (parts []page.BarPart) {
	for _, r := range reasons(causes, maxBarParts, smallPart/2*observed.Causes(causes).Sum()) {
		parts = append(parts, page.BarPart{Kind: kindOf(r.kind), Name: r.name, Figure: text.Added(r.dilation), Value: r.dilation})
	}
	return parts
}

// kindOf returns how a bar shows a kind of cause.
func kindOf(kind observed.Kind) page.Kind {
	for i := range kinds {
		if kinds[i].of == kind {
			return kinds[i].shown.Kind
		}
	}
	return page.Unclear
}

// maxBarParts is how many neighbours have a part of a bar of their own.
const maxBarParts = 12

// keyOf explains the kinds that occur in bars.
func keyOf(rows []page.BarRow) (key []page.KeyEntry) {
	occurs := map[page.Kind]bool{}
	var look func([]page.BarRow)
	look = func(rows []page.BarRow) {
		for i := range rows {
			for _, p := range rows[i].Parts {
				occurs[p.Kind] = true
			}
			look(rows[i].Of)
		}
	}
	look(rows)
	for _, k := range kinds {
		if occurs[k.shown.Kind] {
			key = append(key, k.shown)
		}
	}
	return key
}

// rated returns how a page shows how bad a dilation is.
func rated(dilation, above float64) string {
	switch severity(dilation, above) {
	case text.Bad:
		return "bad"
	case text.Warning:
		return "warning"
	default:
		return ""
	}
}
