package report

import (
	"fmt"
	"slices"
	"strings"

	"loadline.dev/loadline/pkg/evaluate/findings"
	"loadline.dev/loadline/pkg/text"
)

// servesUnits reports whether some finding is about a pod with a work counter.
func servesUnits(a *findings.Answer) bool {
	return slices.ContainsFunc(a.Findings, func(f findings.Finding) bool { return f.PerUnit != nil })
}

// unitTimes writes how much longer a unit of work takes, such as "1.38× per request".
func unitTimes(u *findings.PerUnit) string {
	if u == nil {
		return text.Absent
	}
	return text.Times(u.Dilation) + " per " + u.Unit
}

// UnitWords says how much longer units of a pod's work take, such as "requests take 1.38 times as long: 1.12 times by waiting, 1.23 times by slower
// service beside Deployment batch/thrash".
func UnitWords(u *findings.PerUnit) string {
	words := fmt.Sprintf("%s take %.2f times as long: %.2f times by waiting, %.2f times by slower service", plural(u.Unit), u.Dilation, u.Waiting, u.Inflation)
	if len(u.Beside) > 0 {
		words += " beside " + strings.Join(u.Beside, " or ")
	}
	return words
}

// plural returns the plural of a unit in lower-case letters.
func plural(unit string) string {
	switch {
	case strings.HasSuffix(unit, "s"), strings.HasSuffix(unit, "x"), strings.HasSuffix(unit, "ch"), strings.HasSuffix(unit, "sh"):
		return unit + "es"
	case strings.HasSuffix(unit, "y") && !strings.HasSuffix(unit, "ay") && !strings.HasSuffix(unit, "ey") && !strings.HasSuffix(unit, "oy"):
		return strings.TrimSuffix(unit, "y") + "ies"
	default:
		return unit + "s"
	}
}

// unitNotes says of the findings with a work counter, the worst first, what makes their units slower.
func unitNotes(a *findings.Answer) (lines []string) {
	const shown = 10
	for i := range a.Findings {
		if f := &a.Findings[i]; f.PerUnit != nil && len(lines) < shown {
			lines = append(lines, f.Pod.Pod+": "+UnitWords(f.PerUnit)+".")
		}
	}
	return lines
}
