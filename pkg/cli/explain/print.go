package explain

import (
	"time"

	"loadline.dev/loadline/pkg/cli/verb"
	"loadline.dev/loadline/pkg/evaluate/explanation"
	"loadline.dev/loadline/pkg/report/explained"
	"loadline.dev/loadline/pkg/text"
)

// printAnswer prints the answer for people: the pod's dilation, its causes, the pod's effect on others, and its
// dilation elsewhere. A wide page has all neighbours and nodes.
func printAnswer(p *verb.Page, e *explanation.Answer, now time.Time) error {
	x := explained.Of(e, p.Wide, now)
	if err := p.Lines(x.Headlines...); err != nil {
		return err
	}
	for _, table := range []*text.Table{x.Resources, x.Neighbours} {
		if table == nil {
			continue
		}
		if err := p.Table(table); err != nil {
			return err
		}
	}
	if err := p.Lines(x.Lines...); err != nil || x.Ranking == nil {
		return err
	}
	if err := p.Lines(""); err != nil {
		return err
	}
	if err := p.Table(x.Ranking); err != nil {
		return err
	}
	return p.Lines(x.Conclusion...)
}
