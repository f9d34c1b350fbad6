package report

import (
	"slices"
	"strings"

	"loadline.dev/loadline/pkg/evaluate/replays"
	"loadline.dev/loadline/pkg/report/chart"
	"loadline.dev/loadline/pkg/report/page"
)

// ReplayPage returns the report of a replay. The footer says what made it.
func ReplayPage(a *replays.Answer, footer string) page.Page {
	p := page.Page{Title: strings.TrimSpace("Replay " + a.Name), Summary: ReplaySummary(a), Footer: footer}
	if len(a.Policies) == 0 {
		return p
	}
	p.Sections = []page.Section{
		{Title: "Policies", Table: ReplayTable(a, false), Text: mainLegend(a), Notes: ReplayNotes(a), Charts: comparisons(a)},
		{Title: "Details", Table: ReplayDetails(a), Text: detailLegend},
	}
	if charts := occupancies(a); len(charts) > 0 {
		p.Sections = append(p.Sections, page.Section{
			Title: "Nodes over time", Charts: charts,
			Text: "How busy the busiest resource of each node was in the first run of each policy. Where there are many nodes a row is the mean of several.",
		})
	}
	return p
}

func mainLegend(a *replays.Answer) string {
	text := "MAKESPAN is from the first arrival to the last completion. MEAN to P99 are of execution times. DILATION is how many times " +
		"longer than alone jobs run, WAITED how long they wait at the scheduler on average. The columns of resources say how busy they are."
	if hasSLA(a) {
		text += " SLA MET are the jobs that kept within the SLA of their profile, among those that have one."
	}
	if len(a.Policies) > 1 {
		text += " SAVED is by how much the mean response time, waiting included, is less than with " + a.Policies[0].Policy + "."
	}
	return text
}

const detailLegend = "RESPONSE is the mean time from arrival to completion. The columns of resources are of the busiest node."

// comparisons are the charts that show more than the table: of several runs, of
// jobs that were slowed down.
func comparisons(a *replays.Answer) []chart.Chart {
	var all []chart.Chart
	if a.Runs > len(a.Policies) {
		all = append(all, ReplayImprovements(a), ReplayMakespans(a))
	}
	const noticeable = 1.005
	for i := range a.Policies {
		if a.Policies[i].Dilation.Max >= noticeable {
			all = append(all, ReplayDilations(a))
			break
		}
	}
	return known(all)
}

func occupancies(a *replays.Answer) []chart.Chart {
	var all []chart.Chart
	for i := range a.Policies {
		if runs := a.Policies[i].Runs; len(runs) > 0 {
			all = append(all, ReplayOccupancy(runs[0]))
		}
	}
	return known(all)
}

// known leaves out charts that have nothing to show.
func known(charts []chart.Chart) []chart.Chart {
	return slices.DeleteFunc(charts, func(c chart.Chart) bool { return c == nil })
}
