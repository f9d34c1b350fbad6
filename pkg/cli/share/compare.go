package share

import (
	"fmt"
	"time"

	"loadline.dev/loadline/pkg/cli/verb"
	"loadline.dev/loadline/pkg/evaluate/shares"
	"loadline.dev/loadline/pkg/text"
)

// compareTimeout is how long a method may take.
const compareTimeout = 20 * time.Second

// printComparedMethods prints a table, unless there is nothing to print.
func printComparedMethods(p *verb.Page, all []shares.ComparedMethod) error {
	if len(all) == 0 {
		return nil
	}
	if err := p.Lines(""); err != nil {
		return err
	}
	table := text.NewTable(text.Left("METHOD"), text.Right("TIME"), text.Right("ERROR"), text.Right("CLAIMED"), text.Right("EVALUATIONS"))
	for _, m := range all {
		if m.GivenUp != "" {
			table.Add(m.Method, m.GivenUp)
			continue
		}
		table.Add(m.Method, text.ElapsedSeconds(*m.ElapsedSeconds), fmt.Sprintf("%.0e", *m.Error), fmt.Sprintf("%.0e", *m.Claimed), text.Count(int64(m.Evaluations)))
	}
	return p.Table(table)
}
