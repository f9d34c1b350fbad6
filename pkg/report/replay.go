package report

import (
	"fmt"
	"strings"

	"loadline.dev/loadline/apis/loadline/v1alpha1"
	"loadline.dev/loadline/pkg/evaluate/replays"
	"loadline.dev/loadline/pkg/text"
)

// ReplayTable returns the table of a replay's results: a row per policy. A wide one has the columns of [ReplayDetails], too.
// Columns without a value, such as jobs with an SLA, are left out.
func ReplayTable(a *replays.Answer, wide bool) *text.Table {
	columns := append([]replayColumn{{text.Left("POLICY"), policyName}}, mainColumns(a)...)
	if wide {
		columns = append(columns, detailColumns(a)...)
	}
	return replayTable(a, columns)
}

// ReplayDetails returns a table of less common figures.
func ReplayDetails(a *replays.Answer) *text.Table {
	return replayTable(a, append([]replayColumn{{text.Left("POLICY"), policyName}}, detailColumns(a)...))
}

func replayTable(a *replays.Answer, columns []replayColumn) *text.Table {
	headers := make([]text.Column, len(columns))
	for i, column := range columns {
		headers[i] = column.header
	}
	t := text.NewTable(headers...)
	for i := range a.Policies {
		cells := make([]string, len(columns))
		for k, column := range columns {
			cells[k] = column.cell(&a.Policies[i])
		}
		t.Add(cells...)
	}
	return t
}

// replayColumn is a column of a table, and its text for a policy.
type replayColumn struct {
	header text.Column
	cell   func(*replays.Policy) string
}

// figure is a column of numbers of the jobs that were done, if any was.
func figure(header string, cell func(*replays.Policy) string) replayColumn {
	return replayColumn{text.Right(header), func(p *replays.Policy) string {
		if p.Jobs == 0 {
			return text.Absent
		}
		return cell(p)
	}}
}

func mainColumns(a *replays.Answer) []replayColumn {
	type policy = replays.Policy
	columns := []replayColumn{
		figure("MAKESPAN", func(p *policy) string { return text.ElapsedSeconds(p.MakespanSeconds.Mean) }),
		figure("MEAN", func(p *policy) string { return text.ElapsedSeconds(p.Execution.Mean) }),
		figure("P50", func(p *policy) string { return text.ElapsedSeconds(p.Execution.P50) }),
		figure("P95", func(p *policy) string { return text.ElapsedSeconds(p.Execution.P95) }),
		figure("P99", func(p *policy) string { return text.ElapsedSeconds(p.Execution.P99) }),
		figure("DILATION", func(p *policy) string { return text.Times(p.Dilation.Mean) }),
		figure("WAITED", func(p *policy) string { return waited(p, p.Wait.Mean) }),
	}
	for _, name := range replayResources(a) {
		columns = append(columns, figure(strings.ToUpper(name), func(p *policy) string { return text.Percent(utilization(p, name).Mean) }))
	}
	if hasSLA(a) {
		columns = append(columns, figure("SLA MET", slaMet))
	}
	if len(a.Policies) > 1 {
		columns = append(columns, figure("SAVED", saved), replayColumn{text.Left(""), func(p *policy) string { return bestMark(a, p) }})
	}
	return columns
}

func detailColumns(a *replays.Answer) []replayColumn {
	type policy = replays.Policy
	columns := []replayColumn{
		{text.Right("JOBS"), func(p *policy) string { return text.Count(int64(p.Jobs)) }},
		{text.Right("DROPPED"), func(p *policy) string { return text.Count(int64(p.Dropped)) }},
		figure("RESPONSE", func(p *policy) string { return text.ElapsedSeconds(p.Response.Mean) }),
		figure("DILATION P95", func(p *policy) string { return text.Times(p.Dilation.P95) }),
		figure("DILATION P99", func(p *policy) string { return text.Times(p.Dilation.P99) }),
		figure("WAITED P99", func(p *policy) string { return waited(p, p.Wait.P99) }),
	}
	for _, name := range replayResources(a) {
		columns = append(columns, figure(strings.ToUpper(name)+" MAX", func(p *policy) string { return text.Percent(utilization(p, name).Busiest) }))
	}
	return columns
}

func policyName(p *replays.Policy) string {
	if p.Partial {
		return p.Policy + " (partial)"
	}
	return p.Policy
}

// waited writes how long jobs waited; absent if none did.
func waited(p *replays.Policy, seconds float64) string {
	if p.Waited == 0 {
		return text.Absent
	}
	return text.ElapsedSeconds(seconds)
}

func hasSLA(a *replays.Answer) bool {
	for i := range a.Policies {
		if a.Policies[i].SLAAttained != nil {
			return true
		}
	}
	return false
}

func slaMet(p *replays.Policy) string {
	if p.SLAAttained == nil {
		return text.Absent
	}
	return text.Percent(*p.SLAAttained)
}

// saved writes "12.3% ± 0.4%".
func saved(p *replays.Policy) string {
	e := p.Improvement
	switch {
	case e == nil:
		return text.Absent
	case e.Low == nil:
		return text.Percent(e.Mean)
	default:
		return text.Percent(e.Mean) + " ± " + text.Percent((*e.High-*e.Low)/2)
	}
}

// bestMark marks the best policy, unless all are as good.
func bestMark(a *replays.Answer, p *replays.Policy) string {
	if p.Policy != a.Best {
		return ""
	}
	for i := range a.Policies {
		if a.Policies[i].Response.Mean > p.Response.Mean*(1+1e-9) {
			return "best"
		}
	}
	return ""
}

// replayResources lists the resources that some policy used, in order.
func replayResources(a *replays.Answer) []string {
	var names []string
	seen := map[string]bool{}
	for i := range a.Policies {
		for _, u := range a.Policies[i].Utilization {
			if !seen[u.Resource] {
				seen[u.Resource] = true
				names = append(names, u.Resource)
			}
		}
	}
	return names
}

func utilization(p *replays.Policy, resource string) replays.ResourceUtilization {
	for _, u := range p.Utilization {
		if u.Resource == resource {
			return u
		}
	}
	return replays.ResourceUtilization{}
}

// ReplaySummary returns the answer in a sentence or two.
func ReplaySummary(a *replays.Answer) string {
	sentence := bestSentence(a)
	if a.Partial {
		sentence += fmt.Sprintf(" The answer is partial: it is of the jobs that were done in %s of %s runs.", text.Count(int64(a.Done)), text.Count(int64(a.Runs)))
	}
	return sentence
}

func bestSentence(a *replays.Answer) string {
	if !anyJob(a) {
		return "No job was done."
	}
	for i := range a.Policies {
		p := &a.Policies[i]
		if p.Policy != a.Best {
			continue
		}
		sentence := fmt.Sprintf("With %s a job takes %s on average", p.Policy, text.ElapsedSeconds(p.Response.Mean))
		if p.Waited > 0 {
			sentence += fmt.Sprintf(", of which it waits %s at the scheduler", text.ElapsedSeconds(p.Wait.Mean))
		}
		sentence += fmt.Sprintf("; it runs %s as long as alone.", text.Times(p.Dilation.Mean))
		if p.Improvement != nil && p.Improvement.Mean > 0 {
			sentence += fmt.Sprintf(" That is %s less than with %s.", saved(p), a.Policies[0].Policy)
		}
		return sentence
	}
	return "No policy is the best: some runs were ended before their time."
}

// ReplayNotes describes how cores are shared, where not equally or where the user did not say, the assumptions about jobs, and
// the jobs that were dropped or skipped.
func ReplayNotes(a *replays.Answer) []string {
	var notes []string
	switch {
	case a.CPUShares == v1alpha1.CPUSharesRequests:
		notes = append(notes, "Jobs share cores by what they request of the cpu.")
	case unequalRequests(a):
		notes = append(notes, "Jobs request different amounts of cpu, but share cores equally here; Kubernetes shares them by requests: set cpuShares (--cpu-shares) to requests.")
	}
	if a.DemandsAssumed {
		notes = append(notes, "The trace says what jobs request; how they spend their time is assumed from that.")
	}
	for i := range a.Policies {
		p := &a.Policies[i]
		if p.Dropped == 0 {
			continue
		}
		who := p.Policy
		if same := sameDrops(a); same && i > 0 {
			break
		} else if same && len(a.Policies) > 1 {
			who = "every policy"
		}
		notes = append(notes, fmt.Sprintf("With %s %s dropped. The first: %s.", who, jobsWere(p.Dropped, ""), p.FirstDrop))
	}
	if len(a.Policies) > 0 && len(a.Policies[0].Runs) > 0 {
		if run := a.Policies[0].Runs[0]; run.Skipped > 0 {
			notes = append(notes, fmt.Sprintf("%s left out. The first: %s.", jobsWere(run.Skipped, " of the trace"), run.FirstSkip))
		}
	}
	return notes
}

// unequalRequests reports whether a run was of jobs that request different amounts of cpu.
func unequalRequests(a *replays.Answer) bool {
	for i := range a.Policies {
		for _, run := range a.Policies[i].Runs {
			if run.UnequalRequests {
				return true
			}
		}
	}
	return false
}

// sameDrops reports whether all policies dropped the same.
func sameDrops(a *replays.Answer) bool {
	for i := range a.Policies {
		if a.Policies[i].Dropped != a.Policies[0].Dropped || a.Policies[i].FirstDrop != a.Policies[0].FirstDrop {
			return false
		}
	}
	return true
}

func jobsWere(n int, which string) string {
	if n == 1 {
		return "1 job" + which + " was"
	}
	return text.Count(int64(n)) + " jobs" + which + " were"
}
