package report

import (
	"fmt"
	"strings"

	"loadline.dev/loadline/pkg/evaluate/plan"
	"loadline.dev/loadline/pkg/text"
)

// PlanTable shows the steps of a plan. A wide table names all pods that they help or cost.
func PlanTable(p *plan.Plan, wide bool) *text.Table {
	t := text.NewTable(text.Right("STEP"), text.Left("CHANGE"), text.Whole("WINS"), text.Right("LEFT"), text.Left("HELPS"), text.Left("COSTS"))
	for i := range p.Steps {
		s := &p.Steps[i]
		helped, cost := effects(s.Pods, wide)
		t.Add(text.Count(int64(i+1)), Change(&s.Change), interval(s.Win), amount(s.Left), helped, cost)
	}
	return t
}

// Change describes a change of a plan.
func Change(c *plan.Change) string {
	of := " of " + c.Pod
	if c.Container != "" {
		of = " of " + c.Container + " in " + c.Pod
	}
	switch {
	case c.Action == plan.MovePod:
		return fmt.Sprintf("move %s from %s to %s", c.Pod, c.Node, c.To)
	case c.Action == plan.RaiseLimit && c.Request != nil:
		return "limit and request " + c.Limit.String() + of + now(c.WasLimit)
	case c.Action == plan.RaiseLimit:
		return "limit " + c.Limit.String() + of + now(c.WasLimit)
	case c.Limit != nil:
		return "request and limit " + c.Request.String() + of + now(c.WasRequest)
	default:
		return "request " + c.Request.String() + of + now(c.WasRequest)
	}
}

// amount writes an excess, or a part of one.
func amount(excess float64) string { return strings.TrimSuffix(text.Times(excess), "×") }

// interval writes a win with its bounds.
func interval(i plan.Interval) string {
	return fmt.Sprintf("%s (%s to %s)", amount(i.Value), amount(i.Low), amount(i.High))
}

// effects names the pods that a step helps, and those that it costs something: the first of each, or all.
func effects(all []plan.Effect, wide bool) (helped, cost string) {
	var better, worse []string
	for i := range all {
		e := &all[i]
		line := fmt.Sprintf("%s %s → %s", e.Pod, amount(e.Now), text.Times(e.Then))
		if e.Then < e.Now {
			better = append(better, line)
		} else {
			worse = append([]string{line}, worse...) // those that lose most are last
		}
	}
	return firstOf(better, wide), firstOf(worse, wide)
}

// firstOf returns the first of some names and how many more there are, or all.
func firstOf(names []string, all bool) string {
	switch {
	case len(names) == 0:
		return text.Absent
	case all || len(names) == 1:
		return strings.Join(names, ", ")
	default:
		return fmt.Sprintf("%s and %d more", names[0], len(names)-1)
	}
}

// PlanNotes says what a plan wins in all, after how many steps most of that is won, and what else follows from its steps.
func PlanNotes(p *plan.Plan) []string {
	if p.Excess == 0 {
		return []string{fmt.Sprintf("No pod that was observed is slowed down more than %s: there is nothing to change.", text.Times(p.Above))}
	}
	line := fmt.Sprintf("Excess above %s: %s now", text.Times(p.Above), amount(p.Excess))
	if len(p.Steps) == 0 {
		return []string{line + ", and no change that may be made is known to take from it."}
	}
	lines := []string{line + fmt.Sprintf(", %s after %s.", amount(p.Left), text.Counted(len(p.Steps), "step"))}
	if bend := p.Bend(); bend < len(p.Steps) {
		lines[0] += fmt.Sprintf(" The first %s %s of it.", takes(bend), text.Percent((p.Excess-p.Steps[bend-1].Left)/p.Excess))
	}
	for i := range p.Steps {
		if why := p.Steps[i].NotInPlace; why != "" {
			lines = append(lines, fmt.Sprintf("Step %d: not in place: %s.", i+1, why))
		}
		for _, note := range p.Steps[i].Notes {
			lines = append(lines, fmt.Sprintf("Step %d: %s.", i+1, note))
		}
	}
	return lines
}

// takes says how many steps take.
func takes(steps int) string {
	if steps == 1 {
		return "takes"
	}
	return fmt.Sprintf("%d take", steps)
}
