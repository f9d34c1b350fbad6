// Package explained writes an explanation of a pod's place, of package explanation, as people read it: on a terminal, and on a page.
package explained

import (
	"fmt"
	"slices"
	"strings"
	"time"

	"k8s.io/apimachinery/pkg/util/duration"

	"loadline.dev/loadline/apis/loadline/v1alpha1"
	"loadline.dev/loadline/pkg/evaluate/explanation"
	"loadline.dev/loadline/pkg/profile"
	"loadline.dev/loadline/pkg/report"
	"loadline.dev/loadline/pkg/text"
)

// negligible is the bound below which a number prints as 0.00.
const negligible = 0.005

// Explanation is an answer in the parts that people read, in this order.
type Explanation struct {
	// Headlines say how the pod runs, or would run.
	Headlines []string
	// Resources shows where it waits and whom it makes wait, nil where it does neither, and Neighbours the other pods, nil but for a wide
	// explanation.
	Resources, Neighbours *text.Table
	// Lines say more: of devices, weights, limits, what another request would do, and where the vector is from.
	Lines []string
	// Ranking shows what nodes would cost, nil where that was not asked for, and Conclusion says which is the best.
	Ranking    *text.Table
	Conclusion []string
}

// Of returns an answer as people read it at a moment. A wide one has all neighbours and nodes.
func Of(e *explanation.Answer, wide bool, now time.Time) *Explanation {
	x := &Explanation{Headlines: headlines(e)}
	if len(e.Resources) > 0 {
		x.Resources = resourceTable(e, wide)
	}
	if wide && len(e.Neighbours) > 0 {
		x.Neighbours = neighbourTable(e)
	}
	x.Lines = lines(e, wide, now)
	if e.Nodes == nil {
		return x
	}
	x.Ranking = rankingTable(e, wide)
	if e.Simulation == nil {
		x.Conclusion = append([]string{bestNode(e)}, roomLines(e)...)
	}
	return x
}

// lines say what there is to say besides the tables.
func lines(e *explanation.Answer, wide bool, now time.Time) []string {
	lines := append(deviceLines(e), weightLines(e)...)
	if !wide {
		lines = append(lines, slowed(e)...)
	}
	lines = append(lines, WhatIf(e)...)
	here := "here"
	if e.Simulation == nil {
		lines = append(lines, limits(e, wide)...)
	} else {
		here = "there"
		lines = append(lines, exceededLines(e, wide)...)
	}
	if e.NeutralSeconds != nil && e.Dilation != nil {
		lines = append(lines, fmt.Sprintf("Alone it takes %s, %s %s.", text.Seconds(*e.NeutralSeconds, 1), here, text.Seconds(*e.NeutralSeconds**e.Dilation, 1)))
	}
	if e.Service != nil {
		lines = append(lines, serviceLine(e.Service))
	}
	lines = append(lines, vectorLine(&e.Vector, e.Rules, now))
	lines = append(lines, assumedNeighbours(e)...)
	if e.Importance != nil && e.Nodes != nil {
		lines = append(lines, importanceLine(e))
	}
	lines = append(lines, report.CaveatLines(e.Caveats)...)
	if placed := placedLine(e, now); placed != "" {
		lines = append(lines, placed)
	}
	if e.Simulation != nil {
		lines = append(lines, oneOf(e.Simulation)...)
	}
	return lines
}

// serviceLine says how much slower the pod serves than when quiet.
func serviceLine(s *explanation.Service) string {
	if s.Inflation < 1+negligible {
		return fmt.Sprintf("Each %s takes no more CPU time than when quiet, by its work counter.", s.Unit)
	}
	line := fmt.Sprintf("Each %s takes %.2f times as much CPU time as when quiet, by its work counter", s.Unit, s.Inflation)
	if len(s.Beside) > 0 {
		line += fmt.Sprintf("; %s of that beside %s", text.Added(s.Adds), strings.Join(s.Beside, " or "))
	}
	return line + ". That is not part of the dilation."
}

// headlines say how the pod runs, or would run.
func headlines(e *explanation.Answer) []string {
	switch {
	case e.Simulation != nil:
		return simulated(e)
	case e.Dilation == nil:
		lines := []string{e.Pod + " waits for a node."}
		if e.Unschedulable != "" {
			lines = append(lines, fmt.Sprintf("%s says: %s", e.SchedulerName, text.Printable(e.Unschedulable)))
		}
		return lines
	case asFastAsAlone(e):
		return []string{fmt.Sprintf("%s runs on %s as fast as alone.", e.Pod, e.Node)}
	}
	line := fmt.Sprintf("%s runs on %s, %s times slower than alone", e.Pod, e.Node, slower(e))
	if because := because(e, nil); len(because) > 0 {
		line += ", because of " + strings.Join(because, ", ")
	}
	return []string{line + "."}
}

func asFastAsAlone(e *explanation.Answer) bool {
	return *e.Dilation < 1+negligible && (e.DilationError == nil || *e.DilationError < negligible)
}

// slower returns how many times slower than alone the pod runs.
func slower(e *explanation.Answer) string {
	return strings.TrimSuffix(text.TimesWithin(*e.Dilation, e.DilationError), "×")
}

// because returns the resources and devices that slow the pod, each with its part of the dilation, "disk 0.14", and a
// remark by its name.
func because(e *explanation.Answer, remark map[string]string) (parts []string) {
	for _, r := range e.Resources {
		if r.Device == "" && r.Waits >= negligible {
			parts = append(parts, fmt.Sprintf("%s %.2f%s", r.Name, r.Waits, remark[r.Name]))
		}
	}
	for _, d := range e.Devices {
		if waits := waitsAt(e, d.Name); waits >= negligible {
			parts = append(parts, fmt.Sprintf("%s %.2f%s", d.Name, waits, remark[d.Name]))
		}
	}
	return parts
}

func resourceTable(e *explanation.Answer, wide bool) *text.Table {
	t := text.NewTable(text.Left("RESOURCE"), text.Right("SERVERS"), text.Right("LOADING"),
		text.Right("WAITS"), text.Left("BECAUSE OF"), text.Right("INFLICTS"), text.Left("ON"))
	for _, r := range e.Resources {
		loading := fmt.Sprintf("%.2f", r.Loading)
		if r.Threads > 1 {
			loading = fmt.Sprintf("%d × %s", r.Threads, loading)
		}
		servers := text.Count(int64(r.Servers))
		if r.Domains > 0 {
			servers, loading = text.Counted(r.Domains, "domain"), fmt.Sprintf("pressure %.2f", r.Pressure)
		}
		t.Add(nameOf(&r), servers, loading,
			fmt.Sprintf("%.2f", r.Waits), listed(r.Because, wide), fmt.Sprintf("%.2f", r.Inflicts), listed(r.On, wide))
	}
	return t
}

// listed lists pods and their parts: "shop/cart-0 0.12, shop/db-0 0.03, 4 more 0.02".
func listed(list []explanation.Part, wide bool) string {
	shown := 2
	if wide {
		shown = 5
	}
	var parts []string
	rest, more := 0.0, 0
	for i, s := range list {
		if i < shown && s.Dilation >= negligible {
			parts = append(parts, fmt.Sprintf("%s %.2f", s.Pod, s.Dilation))
			continue
		}
		rest += s.Dilation
		more++
	}
	if more > 0 && rest >= negligible {
		parts = append(parts, fmt.Sprintf("%d more %.2f", more, rest))
	}
	if len(parts) == 0 {
		return text.Absent
	}
	return strings.Join(parts, ", ")
}

func neighbourTable(e *explanation.Answer) *text.Table {
	t := text.NewTable(text.Left("NEIGHBOUR"), text.Left("PROFILE"), text.Right("REQUEST"), text.Right("CPU LIMIT"),
		text.Right("DILATION"), text.Right("WITHOUT IT"), text.Right("LIMIT"))
	for _, n := range e.Neighbours {
		profile, limit := text.Absent, text.Absent
		if n.Profile != "" {
			profile = n.Profile
		}
		request, most := n.Request.String(), text.Absent
		if n.Limit != nil {
			most = n.Limit.String()
		}
		if n.MaxDilation != nil {
			limit = text.Times(*n.MaxDilation)
		}
		t.Add(n.Pod, profile, request, most, text.TimesWithin(n.Dilation, n.DilationError), text.Times(n.Without), limit)
	}
	return t
}

// slowed says whom the pod slows down most.
func slowed(e *explanation.Answer) []string {
	const shown = 3
	var parts []string
	more := 0
	for _, n := range e.Neighbours {
		switch {
		case n.Dilation-n.Without < negligible:
		case len(parts) < shown:
			parts = append(parts, fmt.Sprintf("%s from %s to %s", n.Pod, text.Times(n.Without), text.TimesWithin(n.Dilation, n.DilationError)))
		default:
			more++
		}
	}
	if len(parts) == 0 {
		return nil
	}
	if more > 0 {
		parts = append(parts, fmt.Sprintf("and %d more (-o wide lists all)", more))
	}
	slows := "It slows "
	if e.Simulation != nil {
		slows = "It would slow "
	}
	return []string{slows + strings.Join(parts, ", ") + "."}
}

// limits says how near the pod is to its limit, and which neighbours are above theirs.
func limits(e *explanation.Answer, wide bool) (lines []string) {
	const shown = 3
	if e.Dilation != nil && e.MaxDilation != nil {
		verdict := "within"
		if *e.Dilation > *e.MaxDilation {
			verdict = "above"
		}
		lines = append(lines, fmt.Sprintf("That is %s its limit of %s.", verdict, limitText(*e.MaxDilation, e.MaxDilationReason)))
	}
	above := 0
	for _, n := range e.Neighbours {
		if n.MaxDilation == nil || n.Dilation <= *n.MaxDilation {
			continue
		}
		if above++; above > shown && !wide {
			continue
		}
		text := fmt.Sprintf("%s is above its limit: %s, and %s is allowed", n.Pod, text.Times(n.Dilation), limitText(*n.MaxDilation, n.MaxDilationReason))
		if n.Without <= *n.MaxDilation {
			text += "; without this pod it would not be"
		}
		lines = append(lines, text+".")
	}
	if above > shown && !wide {
		lines = append(lines, fmt.Sprintf("So are %d more pods.", above-shown))
	}
	return lines
}

// limitText writes the limit on a pod's dilation, and why that differs from its profile's, if it does.
func limitText(most float64, reason string) string {
	if reason == "" {
		return text.Times(most)
	}
	return fmt.Sprintf("%s (%s)", text.Times(most), reason)
}

// vectorLine says where the vector of the pod is from.
func vectorLine(v *explanation.VectorSource, rules string, now time.Time) string {
	var text string
	switch {
	case v.Source == profile.SourceMeasured, v.Source == profile.SourceObserved:
		on := "nodes of " + v.NodeProfile
		if v.NodeProfile == v1alpha1.NoNodeProfile {
			on = "nodes without a NodeProfile"
		}
		text = fmt.Sprintf("Vector: WorkloadProfile %s, %s %s ago on %s", v.Profile, strings.ToLower(string(v.Source)), age(now.Sub(v.Time.Time)), on)
		if v.Error != nil {
			text += fmt.Sprintf(" (± %.2f at most)", *v.Error)
		}
	case v.Source == profile.SourceDeclared:
		text = "Vector: WorkloadProfile " + v.Profile + ", as declared"
	case v.Profile != "":
		text = "Vector: assumed from its requests, since WorkloadProfile " + v.Profile + " has no vector in use yet (rules: " + rules + ")"
	default:
		text = "Vector: assumed from its requests, since it follows no WorkloadProfile (rules: " + rules + ")"
	}
	if len(v.Ignored) > 0 {
		text += "; it leaves out " + strings.Join(v.Ignored, ", ")
	}
	return text + "."
}

// assumedNeighbours names the neighbours that matter whose vectors are assumed.
func assumedNeighbours(e *explanation.Answer) []string {
	var assumed []string
	for i := range e.Neighbours {
		if n := &e.Neighbours[i]; n.Assumed && matters(e, n) {
			assumed = append(assumed, n.Pod)
		}
	}
	if len(assumed) == 0 {
		return nil
	}
	return []string{"What these pods use is assumed from their requests: " + text.Names(assumed) + "."}
}

// matters reports whether a neighbour is said to slow the pod, or to be slowed by it.
func matters(e *explanation.Answer, n *explanation.Neighbour) bool {
	of := func(p explanation.Part) bool { return p.Pod == n.Pod && p.Dilation >= negligible }
	return slices.ContainsFunc(e.Resources, func(r explanation.Resource) bool {
		return slices.ContainsFunc(r.Because, of) || slices.ContainsFunc(r.On, of)
	})
}

// importanceLine states the factor of the pod's waits.
func importanceLine(e *explanation.Answer) string {
	if asked := e.ProfileImportance; asked != nil {
		return fmt.Sprintf("Its profile has an importance of %v, of which the scheduler lets %v count: costs count what it waits that many times.", *asked, *e.Importance)
	}
	return fmt.Sprintf("Its profile has an importance of %v: costs count what it waits that many times.", *e.Importance)
}

// placedLine says which scheduler placed the pod, nothing if none has.
func placedLine(e *explanation.Answer, now time.Time) string {
	if e.Node == "" || e.Simulation != nil {
		if e.ByDilation != nil && !*e.ByDilation {
			return fmt.Sprintf("Its scheduler is %s, which does not go by these prices.", e.SchedulerName)
		}
		return ""
	}
	text := "Placed by " + e.SchedulerName
	if e.PlacedTime != nil {
		text += " " + age(now.Sub(e.PlacedTime.Time)) + " ago"
	}
	if e.ByDilation != nil && !*e.ByDilation {
		text += ", which does not go by these prices"
	}
	return text + "."
}

// age writes how long ago something was, as kubectl does.
func age(d time.Duration) string { return duration.HumanDuration(max(0, d)) }
