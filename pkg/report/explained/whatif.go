package explained

import (
	"fmt"
	"strings"

	"k8s.io/apimachinery/pkg/api/resource"

	"loadline.dev/loadline/pkg/evaluate/explanation"
	"loadline.dev/loadline/pkg/text"
)

// weightLines say what weight and limit do to the pod.
func weightLines(e *explanation.Answer) (lines []string) {
	if e.Throttling != nil {
		lines = append(lines, fmt.Sprintf("Its own limit of %s makes it take %s as long even alone; that is part of its time alone.", e.Limit, text.Times(*e.Throttling)))
	}
	if e.MaxThrottling != nil {
		lines = append(lines, fmt.Sprintf("Its own limit of %s counts as if it computed for short times only; if it computes for long at a time, it takes up to %s as long alone: "+
			"burstMillis in its profile says for how long it does.", e.Limit, text.Times(*e.MaxThrottling)))
	}
	if e.ExclusiveCores > 0 {
		lines = append(lines, fmt.Sprintf("It has %s for itself.", text.Counted(e.ExclusiveCores, "core")))
	}
	if w := e.Weight; w != nil {
		line := fmt.Sprintf("It requests %s of the CPU and its neighbour %s %s, which gets %s times as much where both want it; with equal requests it would be %s times slower.",
			requested(e.Request), w.Neighbour, requested(&w.Request), strings.TrimSuffix(text.Decimal(w.Times, 1), ".0"), times(*e.EqualDilation))
		if w.Remedy != nil {
			line += fmt.Sprintf(" A request of %s (now %s) would make it %s times%s.", w.Remedy.Request, e.Request, times(w.Remedy.Dilation), changed(w.Remedy))
		}
		lines = append(lines, line)
	}
	return lines
}

// requested writes a request.
func requested(cpu *resource.Quantity) string {
	if cpu == nil || cpu.IsZero() {
		return "nothing"
	}
	return cpu.String()
}

// WhatIf answers what another request or limit would do.
func WhatIf(e *explanation.Answer) []string {
	w := e.WhatIf
	if w == nil {
		return nil
	}
	asked := "a request of " + w.Request.String()
	if w.Limit != nil {
		asked += " and a limit of " + w.Limit.String()
	}
	now := "now " + times(*e.Dilation)
	switch {
	case w.Target != nil && !*w.Met:
		return []string{fmt.Sprintf("No request that fits keeps it below %s: with %s it would be %s times slower than alone (%s)%s.",
			text.Times(*w.Target), asked, times(w.Dilation), now, changed(w))}
	case w.Target != nil && w.Request.IsZero():
		return []string{fmt.Sprintf("Even without a request it would be %s times slower than alone (%s), which is not above %s%s.",
			times(w.Dilation), now, text.Times(*w.Target), changed(w))}
	case w.Target != nil:
		return []string{fmt.Sprintf("The smallest request that keeps it below %s is %s (now %s): it would be %s times slower than alone (%s)%s.",
			text.Times(*w.Target), w.Request, e.Request, times(w.Dilation), now, changed(w))}
	}
	line := fmt.Sprintf("With %s it would be %s times slower than alone (%s)", asked, times(w.Dilation), now)
	if w.Throttling != nil {
		line += fmt.Sprintf(", where alone takes %s as long by its own limit", text.Times(*w.Throttling))
	}
	if w.MaxThrottling != nil {
		line += fmt.Sprintf(" (up to %s, if it computes for long at a time)", text.Times(*w.MaxThrottling))
	}
	return []string{line + changed(w) + "."}
}

// changed states the change of the neighbours: ", and etl/web-1 1.20 times (now 1.06)".
func changed(w *explanation.WhatIf) string {
	const shown = 3
	var parts []string
	for i, n := range w.Neighbours {
		if i == shown {
			parts = append(parts, fmt.Sprintf("%d more", len(w.Neighbours)-shown))
			break
		}
		parts = append(parts, fmt.Sprintf("%s %s times (now %s)", n.Pod, times(n.Dilation), times(n.Now)))
	}
	if len(parts) == 0 {
		return ""
	}
	return ", and " + strings.Join(parts, ", ")
}

// times writes a dilation without its sign.
func times(dilation float64) string { return strings.TrimSuffix(text.Times(dilation), "×") }
