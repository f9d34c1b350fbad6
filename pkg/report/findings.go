package report

import (
	"cmp"
	"fmt"
	"math"
	"slices"
	"time"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/resource"
	"k8s.io/apimachinery/pkg/util/duration"

	"loadline.dev/loadline/pkg/evaluate/findings"
	"loadline.dev/loadline/pkg/evaluate/observed"
	"loadline.dev/loadline/pkg/text"
)

// FindingsTable shows the pods that are slowed down, the causes and the remedies, the worst first. A wide table has more
// columns.
func FindingsTable(a *findings.Answer, wide bool) *text.Table {
	perUnit := servesUnits(a)
	columns := findingsColumns(perUnit)
	if wide {
		columns = append(columns,
			text.Left("NODE"), text.Left("WORKLOAD"), text.Right("PREDICTED"), text.Right("CPUS"), text.Right("WAITING"), text.Right("THROTTLED"), text.Left("VECTOR"))
	}
	t := text.NewTable(columns...)
	for i := range a.Findings {
		f := &a.Findings[i]
		row := findingRow(f, wide, perUnit)
		if wide {
			row = append(row, f.Node, f.Workload, predicted(f.Predicted), text.Value(f.CPUs), text.Value(f.Waiting), text.Value(f.Throttled), vector(&f.Pod))
		}
		t.Add(row...)
		t.Rate(0, severity(f.Felt(), a.Above))
	}
	return t
}

// severity rates a dilation, given from which on it makes a finding.
func severity(dilation, above float64) text.Severity {
	const bad = 2
	switch {
	case dilation < above:
		return text.Unrated
	case dilation < bad:
		return text.Warning
	default:
		return text.Bad
	}
}

// shownOfNode is how many pods of a node have rows of their own in a table of the worst.
const shownOfNode = 10

// WorstTable shows the findings like [FindingsTable], of each node the worst ten, and the others together in a row.
func WorstTable(a *findings.Answer) *text.Table {
	perUnit := servesUnits(a)
	t := text.NewTable(findingsColumns(perUnit)...)
	add := func(row []string, dilation float64) {
		t.Add(row...)
		t.Rate(0, severity(dilation, a.Above))
	}
	worst, others := a.Worst(shownOfNode)
	for i := range worst {
		for len(others) > 0 && others[0].Felt() > worst[i].Felt() {
			add(othersRow(&others[0], perUnit), others[0].Dilation)
			others = others[1:]
		}
		add(findingRow(&worst[i], false, perUnit), worst[i].Felt())
	}
	for i := range others {
		add(othersRow(&others[i], perUnit), others[i].Dilation)
	}
	return t
}

// findingsColumns returns the columns of findings, with one for units of work where some pod has a work counter.
func findingsColumns(perUnit bool) []text.Column {
	columns := []text.Column{text.Right("DILATION"), text.Left("VICTIM")}
	if perUnit {
		columns = append(columns, text.Left("PER UNIT"))
	}
	return append(columns, text.Left("SINCE"), text.Left("BECAUSE OF"), text.Left("AT"), text.Left("REMEDY"), text.Left("THEN"))
}

func findingRow(f *findings.Finding, wide, perUnit bool) []string {
	row := []string{text.TimesWithin(f.Dilation, &f.DilationError), f.Pod.Pod}
	if perUnit {
		row = append(row, unitTimes(f.PerUnit))
	}
	return append(row, since(f.SinceSeconds, f.AtLeast), because(f.Causes, shownCauses(wide)), f.Resource, remedy(&f.Remedy, &f.Pod), then(&f.Remedy))
}

// othersRow is the row of the pods of a node that are slowed down less than those with rows of their own.
func othersRow(g *findings.Group, perUnit bool) []string {
	row := []string{
		text.Times(g.Dilation) + " each",
		fmt.Sprintf("%s of %s (%s together)", text.Counted(g.Slowed, "more pod"), g.Node, text.Added(float64(g.Slowed)*(g.Dilation-1))),
	}
	if perUnit {
		row = append(row, text.Absent)
	}
	return append(row, since(g.SinceSeconds, g.AtLeast), because(g.Causes, fewCauses), g.Resource, groupRemedy(g), then(&g.Remedy))
}

// GroupsTable shows findings by workload, given from which dilation on there are some.
func GroupsTable(groups []findings.Group, above float64, wide bool) *text.Table {
	perUnit := slices.ContainsFunc(groups, func(g findings.Group) bool { return g.PerUnit != nil })
	columns := []text.Column{text.Right("DILATION"), text.Right("WORST"), text.Left("WORKLOAD")}
	if perUnit {
		columns = append(columns, text.Left("WORST PER UNIT"))
	}
	t := text.NewTable(append(columns, text.Right("PODS"), text.Left("SINCE"), text.Left("BECAUSE OF"), text.Left("AT"), text.Left("REMEDY FOR THE WORST"), text.Left("THEN"))...)
	for i := range groups {
		g := &groups[i]
		row := []string{text.Times(g.Dilation), text.Times(g.Worst), g.Workload}
		if perUnit {
			row = append(row, unitTimes(g.PerUnit))
		}
		t.Add(append(row, fmt.Sprintf("%d of %d", g.Slowed, g.Pods), since(g.SinceSeconds, g.AtLeast), because(g.Causes, shownCauses(wide)), g.Resource,
			groupRemedy(g), then(&g.Remedy))...)
		t.Rate(0, severity(g.Dilation, above))
	}
	return t
}

// since writes a duration.
func since(seconds float64, atLeast bool) string {
	t := duration.HumanDuration(time.Duration(seconds * float64(time.Second)))
	if atLeast {
		return "> " + t
	}
	return t
}

// cause names a cause, and the disk where it is one.
func cause(c *observed.Cause) string { return who(c) + atDisk(c) }

// atDisk says at which disk a cause is: " at disk vda".
func atDisk(c *observed.Cause) string {
	switch {
	case c.Resource != observed.Disk:
		return ""
	case c.Device == "":
		return " at disks"
	default:
		return " at disk " + c.Device
	}
}

// who names what a cause is.
func who(c *observed.Cause) string {
	switch c.Kind {
	case observed.ByNeighbour:
		return cmp.Or(c.Pod, c.Workload)
	case observed.ByLimit:
		return limit(c)
	case observed.ByHypervisor:
		return "the hypervisor (steal)"
	case observed.ByItself:
		return "its own threads"
	case observed.BySystem:
		return "the node outside of pods"
	case observed.ByEnded:
		return "pods that have ended"
	case observed.ByUnclear:
		return "not clear"
	default:
		return string(c.Kind)
	}
}

// limit names a limit of a pod, or of one of its containers: "proxy's limit of 100m".
func limit(c *observed.Cause) string {
	line := "its own limit"
	if c.Container != "" {
		line = c.Container + "'s limit"
	}
	if c.Limit != nil {
		line += " of " + c.Limit.String()
	}
	if c.Assumed {
		line = "perhaps " + line
	}
	return line
}

// remedy describes the remedy for a pod, with the step of the plan that it is, and what may help by hand.
func remedy(r *findings.Remedy, pod *findings.Pod) string {
	byHand := advice(r.ByHand)
	switch {
	case r.Action != findings.Leave && byHand != "":
		return planned(r, pod) + "; " + byHand
	case r.Action != findings.Leave:
		return planned(r, pod)
	case r.Problem != "":
		return "not known: " + r.Problem
	}
	return cmp.Or(byHand, "leave it")
}

// advice says what may help at a disk, "" for nothing.
func advice(a *findings.ByHand) string {
	switch {
	case a == nil:
		return ""
	case a.Pod == "":
		return "by hand: raise its io.max at " + a.Device
	default:
		return fmt.Sprintf("by hand: io.max for %s, or another disk or node", a.Pod)
	}
}

// planned describes the step of a plan.
func planned(r *findings.Remedy, pod *findings.Pod) string {
	var line string
	switch r.Action {
	case findings.RaiseRequest, findings.LowerRequest:
		line = "request " + r.Request.String() + ofWhom(r, pod.Request)
	case findings.RaiseLimit:
		line = "limit " + r.Limit.String() + ofContainer(r, pod)
	case findings.MovePod:
		line = "move it to " + r.Node
	case findings.MoveNeighbour:
		line = "move " + r.Pod + " to " + r.Node
	default:
		line = string(r.Action)
	}
	return step(r.Step) + line
}

// step names a step of a plan, before what it does.
func step(n int) string {
	if n == 0 {
		return ""
	}
	return fmt.Sprintf("step %d: ", n)
}

// ofWhom names the container and the other pod that a request or limit is of, or how much the pod itself has now.
func ofWhom(r *findings.Remedy, has *resource.Quantity) string {
	line := ""
	if r.Container != "" {
		line = " of " + r.Container
	}
	switch {
	case r.Pod != "":
		return line + " of " + r.Pod
	case r.Container != "":
		return line
	default:
		return now(has)
	}
}

// ofContainer names the container whose limit a remedy raises, if not the pod's, and the present limit.
func ofContainer(r *findings.Remedy, pod *findings.Pod) string {
	if r.Container == "" || r.Pod != "" {
		return ofWhom(r, pod.Limit)
	}
	is := func(c observed.Cause) bool { return c.Kind == observed.ByLimit && c.Container == r.Container }
	atCPU := observed.Causes(pod.Causes).At(string(corev1.ResourceCPU))
	if i := slices.IndexFunc(atCPU, is); i >= 0 {
		return " of " + r.Container + now(atCPU[i].Limit)
	}
	return " of " + r.Container
}

// groupRemedy describes the remedy for the worst-off pod of a group. No other column of its row names that pod.
func groupRemedy(g *findings.Group) string {
	if g.Remedy.Action == findings.MovePod {
		return step(g.Remedy.Step) + "move " + g.Of + " to " + g.Remedy.Node
	}
	return remedy(&g.Remedy, &findings.Pod{})
}

func now(q *resource.Quantity) string {
	if q == nil {
		return ""
	}
	return " (now " + q.String() + ")"
}

// then describes how the pod fares with all remedies, and what this one does to others.
func then(r *findings.Remedy) string {
	if r.Action == findings.Leave {
		return text.Absent
	}
	worse, better := 0.0, 0.0
	var worst *findings.Change
	for i := range r.Others {
		o := &r.Others[i]
		if o.Then < o.Now {
			better += o.Now - o.Then
			continue
		}
		worse += o.Then - o.Now
		if worst == nil || o.Then-o.Now > worst.Then-worst.Now {
			worst = o
		}
	}
	line := text.Times(r.Dilation)
	if most := r.Dilation + r.Margin; r.Margin >= smallCause {
		line += fmt.Sprintf(" (at most %s)", text.Times(most))
	}
	switch {
	case worst == nil:
		line += ", slows no other pod"
	case len(r.Others) > 1 && worse > worst.Then-worst.Now:
		line += fmt.Sprintf(", slows %s by %.2f, others by %.2f", worst.Pod, worst.Then-worst.Now, worse-(worst.Then-worst.Now))
	default:
		line += fmt.Sprintf(", slows %s by %.2f", worst.Pod, worst.Then-worst.Now)
	}
	if better >= smallCause {
		line += fmt.Sprintf(", relieves others by %.2f", better)
	}
	return line
}

func predicted(dilation *float64) string {
	if dilation == nil {
		return text.Absent
	}
	return text.Times(*dilation)
}

// vector writes a loading vector as observed.
func vector(p *findings.Pod) string {
	line := fmt.Sprintf("cpu %.2f", p.CPULoading)
	if p.DiskLoading >= 0.005 {
		line += fmt.Sprintf(", disk %.2f", p.DiskLoading)
	}
	if p.Threads >= 1.5 {
		line += fmt.Sprintf(" × %.1f threads", p.Threads)
	}
	return line
}

// ObservedPodsTotals sums up what pods do.
func ObservedPodsTotals(pods []findings.Pod) string {
	var cpus, waiting, throttled float64
	for i := range pods {
		p := &pods[i]
		cpus, waiting, throttled = cpus+p.CPUs, waiting+p.Waiting, throttled+p.Throttled
	}
	return fmt.Sprintf("%s: %.1f processors busy, %.1f threads waiting for one, %.1f throttled.", text.Counted(len(pods), "pod"), cpus, waiting, throttled)
}

// ObservedPodsTable shows the present state of pods, given from which dilation on one is slowed down.
func ObservedPodsTable(pods []findings.Pod, above float64) *text.Table {
	const dilation = 5 // the index of its column
	t := text.NewTable(
		text.Left("POD"), text.Right("CPUS"), text.Right("WAITING"), text.Right("THROTTLED"), text.Right("BLOCKED"), text.Right("DILATION"),
		text.Right("PREDICTED"), text.Left("VECTOR"), text.Left("NODE"),
	)
	for i := range pods {
		p := &pods[i]
		t.Add(p.Pod, cores(p.CPUs), cores(p.Waiting), cores(p.Throttled), blocked(p.Blocked), text.TimesWithin(p.Dilation, &p.DilationError), predicted(p.Predicted), vector(p), p.Node)
		t.Rate(dilation, severity(p.Dilation, above))
	}
	return t
}

// cores writes numbers of processors or threads so that a column of them can be compared.
func cores(n float64) string { return fmt.Sprintf("%.3f", n) }

// blocked writes how many threads are blocked, if that is observed.
func blocked(threads *float64) string {
	if threads == nil {
		return text.Absent
	}
	return cores(*threads)
}

// ObservedNodesTotals sums up what nodes do that are observed.
func ObservedNodesTotals(nodes []findings.NodeSummary) string {
	var observed, cpus, pods, slowed int
	var busy, stolen float64
	for i := range nodes {
		n := &nodes[i]
		if n.Problem != "" {
			continue
		}
		observed, cpus, pods, slowed = observed+1, cpus+n.CPUs, pods+n.Pods, slowed+n.Slowed
		busy, stolen = busy+n.Busy*float64(n.CPUs), stolen+n.Stolen*float64(n.CPUs)
	}
	if cpus == 0 {
		return "No node is observed."
	}
	line := fmt.Sprintf("%s: %.1f of %s busy (%s)", text.Counted(observed, "node"), busy, text.Counted(cpus, "processor"), text.Percent(busy/float64(cpus)))
	if tenths := math.Round(10*stolen) / 10; tenths > 0 {
		line += fmt.Sprintf(", %.1f stolen", tenths)
	}
	return line + fmt.Sprintf("; %s, %s slowed down.", text.Counted(pods, "pod"), text.Count(int64(slowed)))
}

// ObservedNodesTable shows the present state of nodes.
func ObservedNodesTable(nodes []findings.NodeSummary) *text.Table {
	t := text.NewTable(
		text.Left("NODE"), text.Right("CPUS"), text.Right("BUSY"), text.Right("BY PODS"), text.Right("STOLEN"), text.Right("PODS"), text.Right("SLOWED"),
		text.Right("AGE"), text.Whole("REMARK"),
	)
	for _, n := range nodes {
		if n.Problem != "" {
			t.Add(n.Name, text.Absent, text.Absent, text.Absent, text.Absent, text.Absent, text.Absent, text.Absent, n.Problem)
			continue
		}
		t.Add(n.Name, text.Count(int64(n.CPUs)), text.Percent(n.Busy), text.Percent(n.PodsBusy), text.Percent(n.Stolen), text.Count(int64(n.Pods)),
			text.Count(int64(n.Slowed)), fmt.Sprintf("%.0fs", n.AgeSeconds), remark(&n))
	}
	return t
}
