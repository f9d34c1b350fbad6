package status

import (
	"bytes"
	"fmt"
	"io"
	"strings"

	"loadline.dev/loadline/pkg/cli/verb"
	"loadline.dev/loadline/pkg/evaluate/installation"
	"loadline.dev/loadline/pkg/report/text"
)

// printAnswer prints the answer for people: each check, and what there is to do.
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
	lines := strings.SplitAfter(text.String(), "\n")
	first := len(lines) - 1 - len(a.Checks) // the lines end in an empty one
	paint := verb.Painter(p.Writer)
	colors := map[installation.State]verb.Color{installation.StateOK: verb.Green, installation.StateWarning: verb.Yellow, installation.StateFailed: verb.Red}
	for i, c := range a.Checks {
		start := len(c.Name) // the state follows, and names are of letters
		line := &lines[first+i]
		*line = (*line)[:start] + strings.Replace((*line)[start:], string(c.State), paint(colors[c.State], string(c.State)), 1)
	}
	_, err := io.WriteString(p, strings.Join(lines, "")+advice(a))
	return err
}

// advice says what to do about what is not ok.
func advice(a *installation.Answer) string {
	var b strings.Builder
	for _, c := range a.Checks {
		if c.Do == "" {
			continue
		}
		if b.Len() == 0 {
			b.WriteString("\nTo do:\n")
		}
		fmt.Fprintf(&b, "  %s: %s\n", c.Name, c.Do)
	}
	return b.String()
}
