package status

import (
	"bytes"
	"strings"

	"loadline.dev/loadline/pkg/cli/verb"
	"loadline.dev/loadline/pkg/evaluate/installation"
	"loadline.dev/loadline/pkg/text"
)

// colors are those of the states.
var colors = map[installation.State]verb.Color{installation.StateOK: verb.Green, installation.StateWarning: verb.Yellow, installation.StateFailed: verb.Red}

// printAnswer prints the answer for people: each check, and the actions to take.
func printAnswer(p *verb.Page, a *installation.Answer) error {
	table := text.NewTable(text.Left("CHECK"), text.Left("STATE"), text.Left("WHAT"))
	for _, c := range a.Checks {
		table.Add(c.Name, string(c.State), c.Message)
	}
	var text bytes.Buffer
	table.NoHeader = p.NoHeaders
	if err := table.Write(&text); err != nil {
		return err
	}
	lines := strings.Split(strings.TrimSuffix(text.String(), "\n"), "\n")
	headers := len(lines) - len(a.Checks)
	if err := p.Lines(lines[:headers]...); err != nil {
		return err
	}
	for i, c := range a.Checks {
		line, state := lines[headers+i], string(c.State)
		begin := len(c.Name) + strings.Index(line[len(c.Name):], state) // names are of letters
		err := p.Spans(verb.Span{Text: line[:begin]}, verb.Span{Text: state, Color: colors[c.State]}, verb.Span{Text: line[begin+len(state):]})
		if err != nil {
			return err
		}
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
