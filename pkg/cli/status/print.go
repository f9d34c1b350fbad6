package status

import (
	"loadline.dev/loadline/pkg/cli/verb"
	"loadline.dev/loadline/pkg/evaluate/installation"
	"loadline.dev/loadline/pkg/text"
)

// severities are those of the states.
var severities = map[installation.State]text.Severity{
	installation.StateOK: text.Good, installation.StateWarning: text.Warning, installation.StateFailed: text.Bad,
}

// printAnswer prints the answer for people: each check, and the actions to take.
func printAnswer(p *verb.Page, a *installation.Answer) error {
	const state = 1 // the index of its column
	table := text.NewTable(text.Left("CHECK"), text.Left("STATE"), text.Whole("WHAT"))
	for _, c := range a.Checks {
		table.Add(c.Name, string(c.State), c.Message)
		table.Rate(state, severities[c.State])
	}
	if err := p.Table(table); err != nil {
		return err
	}
	return p.Lines(advice(a)...)
}

// advice recommends actions on checks that are not ok.
func advice(a *installation.Answer) (lines []string) {
	for _, c := range a.Checks {
		if c.Do == "" {
			continue
		}
		if len(lines) == 0 {
			lines = append(lines, "", "To do:")
		}
		lines = append(lines, "  "+c.Name+": "+c.Do)
	}
	return lines
}
