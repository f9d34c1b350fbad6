package report

import (
	"cmp"
	"fmt"
	"math"
	"slices"

	"loadline.dev/loadline/pkg/evaluate/findings"
	"loadline.dev/loadline/pkg/evaluate/observed"
	"loadline.dev/loadline/pkg/report/chart"
	"loadline.dev/loadline/pkg/report/page"
	"loadline.dev/loadline/pkg/text"
)

// NodePage returns the page about a node: what loads its resources, against how much there is of each, who slows whom there, and its pods.
// There is none for a node that is not part of the answer.
func NodePage(s *Situation, name string) (p page.Page, is bool) {
	at := slices.IndexFunc(s.Nodes, func(n findings.NodeSummary) bool { return n.Name == name })
	if at < 0 {
		return page.Page{}, false
	}
	n := &s.Nodes[at]
	if n.Problem != "" {
		return page.Page{Title: name + " is not observed", Summary: n.Problem}, true
	}
	var pods []findings.Pod
	for i := range s.Pods {
		if s.Pods[i].Node == name {
			pods = append(pods, s.Pods[i])
		}
	}
	slices.SortStableFunc(pods, func(a, b findings.Pod) int { return cmp.Compare(b.Dilation, a.Dilation) })
	p = page.Page{
		Title:  fmt.Sprintf("%s: %s of %s slowed down", name, text.Count(int64(n.Slowed)), text.Counted(n.Pods, "pod")),
		Status: fmt.Sprintf("%s; observed %.0f s ago.", busyLine(n), n.AgeSeconds),
	}
	if r := remark(n); r != "" {
		p.Summary = r
	}
	p.Sections = append(p.Sections, loadLines(n, pods))
	slowed := make([]*findings.Pod, 0, len(pods))
	for i := range pods {
		if q := &pods[i]; !q.Short && q.Dilation >= shownDilation && len(q.Causes) > 0 {
			slowed = append(slowed, q)
		}
	}
	if len(slowed) > 0 {
		h, _ := heatMap(slowed, causeWorkload, func(q *findings.Pod) string { return q.Workload })
		h.Full = mostAdded(s.Answer)
		p.Sections = append(p.Sections, page.Section{
			Title: "Who slows whom here?", Charts: []chart.Chart{h},
			Text: "By workload: what each adds to the dilation of the others, on average over their pods. Colours mean the same on every node.",
		})
	}
	p.Sections = append(p.Sections, page.Section{
		Title: "Pods", Table: ObservedPodsTable(pods, s.Above), Link: s.PodLink,
		Notes: []string{ObservedPodsTotals(pods)},
	})
	return p, true
}

// causeWorkload names a cause by its workload.
func causeWorkload(c *observed.Cause) string {
	if c.Kind == observed.ByNeighbour {
		return cmp.Or(c.Workload, c.Pod) + atDisk(c)
	}
	if c.Kind == observed.ByLimit {
		return "own limits" + atDisk(c)
	}
	return cause(c)
}

// maxLoads is how many pods have a part of a load line of their own.
const maxLoads = 12

// loadLines returns what the pods of a node would use of its resources if none waited, against how much there is: the sum of their loading
// vectors, and the load line.
func loadLines(n *findings.NodeSummary, pods []findings.Pod) page.Section {
	part := func(kind page.Kind, name string, load float64) page.BarPart {
		return page.BarPart{Kind: kind, Name: name, Figure: text.Decimal(load, 2), Value: load}
	}
	row := func(resource string, servers float64, of func(*findings.Pod) float64) page.BarRow {
		all := slices.Clone(pods)
		slices.SortStableFunc(all, func(a, b findings.Pod) int { return cmp.Compare(of(&b), of(&a)) })
		r := page.BarRow{Name: resource}
		sum, rest, more := 0.0, 0.0, 0
		for i := range all {
			load := of(&all[i])
			sum += load
			if i >= maxLoads || load < 0.005*servers {
				rest, more = rest+load, more+1
				continue
			}
			r.Parts = append(r.Parts, part(page.Plain, all[i].Pod, load))
		}
		if rest > 0 {
			r.Parts = append(r.Parts, part(page.Unclear, text.Counted(more, "pod")+" together", rest))
		}
		r.Figure = fmt.Sprintf("%.2f", sum)
		r.Words = "most by " + text.Absent
		if len(r.Parts) > 0 && sum > 0 {
			r.Words = "most by " + r.Parts[0].Label()
		}
		return r
	}
	cpu := row("cpu", float64(n.CPUs), func(p *findings.Pod) float64 { return p.CPULoading * p.Threads })
	cpu.Detail = fmt.Sprintf("of %s", text.Counted(n.CPUs, "processor"))
	outside := max(0, n.Busy-n.PodsBusy) * float64(n.CPUs)
	if outside >= 0.005 {
		cpu.Parts = append(cpu.Parts, part(page.System, "the node outside of pods", outside))
	}
	if sum := barSum(&cpu); sum > float64(n.CPUs) {
		cpu.Severity = "bad"
	}
	bars := &page.Bars{
		Of:   "processors that pods would use if none of them waited",
		Mark: float64(n.CPUs), MarkIs: "load line: what the node has",
		Rows: []page.BarRow{cpu}, Heads: page.BarHeads{Name: "resource", Figure: "load", Part: "by", Value: "processors"},
		Key: []page.KeyEntry{{Kind: page.Plain, Text: "a pod"}, {Kind: page.Unclear, Text: "smaller pods"}, {Kind: page.System, Text: "the node outside of pods"}},
	}
	s := page.Section{Title: "How deep is it loaded?", Bars: bars}
	disk := row("disk", 1, func(p *findings.Pod) float64 { return p.DiskLoading * p.Threads })
	if sum := barSum(&disk); sum >= 0.005 && !n.BlockedUnknown {
		s.Notes = append(s.Notes, fmt.Sprintf("Threads blocked by block I/O: %.2f at a time, %s. The kernel does not tell waiting for a disk from using it.", sum, disk.Words))
	}
	if n.Stolen >= 0.005 {
		s.Notes = append(s.Notes, fmt.Sprintf("The hypervisor ran something else for %s of the time.", text.Percent(n.Stolen)))
	}
	return s
}

func barSum(r *page.BarRow) (sum float64) {
	for _, p := range r.Parts {
		sum += p.Value
	}
	return math.Round(1000*sum) / 1000
}
