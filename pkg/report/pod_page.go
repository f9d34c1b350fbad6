package report

import (
	"fmt"
	"slices"

	"loadline.dev/loadline/pkg/evaluate/findings"
	"loadline.dev/loadline/pkg/report/page"
	"loadline.dev/loadline/pkg/text"
)

// PodPage returns the page about a pod as it was observed: how much slower than alone it runs, because of what, and what would help. There is
// none for a pod that was not observed.
func PodPage(s *Situation, name string) (p page.Page, is bool) {
	at, found := slices.BinarySearchFunc(s.Pods, name, func(p findings.Pod, name string) int {
		switch {
		case p.Pod < name:
			return -1
		case p.Pod > name:
			return 1
		default:
			return 0
		}
	})
	if !found {
		return page.Page{}, false
	}
	pod := &s.Pods[at]
	p = page.Page{Title: fmt.Sprintf("%s takes %s as long as alone", name, text.TimesWithin(pod.Dilation, &pod.DilationError))}
	if pod.Short {
		p.Title = name + " was observed too shortly to judge"
	}
	p.Status = fmt.Sprintf("%s, on %s.", pod.Workload, pod.Node)
	row := page.BarRow{
		Name: name, Figure: text.Times(pod.Dilation), Parts: barParts(pod.Causes), Severity: rated(pod.Felt(), s.Above),
		Words: "nothing slows it down noticeably",
	}
	switch {
	case len(pod.Causes) > 0 && pod.PerUnit != nil:
		row.Words = "because of " + because(pod.Causes, allCauses) + "; " + UnitWords(pod.PerUnit)
	case len(pod.Causes) > 0:
		row.Words = "because of " + because(pod.Causes, allCauses)
	case pod.PerUnit != nil:
		row.Words = UnitWords(pod.PerUnit)
	}
	if i := slices.IndexFunc(s.Findings, func(f findings.Finding) bool { return f.Pod.Pod == name }); i >= 0 {
		f := &s.Findings[i]
		row.Detail = "since " + since(f.SinceSeconds, f.AtLeast)
		row.Remedy = remedyLine(remedy(&f.Remedy, &f.Pod), &f.Remedy)
	}
	row.Spark, row.SparkIs = s.past(name)
	bars := s.bars("time beyond running alone", []page.BarRow{row})
	bars.Full = max(1, pod.Dilation-1)
	p.Sections = append(p.Sections,
		page.Section{Title: "Why is it slow?", Bars: bars},
		page.Section{Title: "Predicted and observed", Table: ObservedPodsTable([]findings.Pod{*pod}, s.Above)},
	)
	return p, true
}
