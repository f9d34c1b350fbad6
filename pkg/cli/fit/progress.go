package fit

import (
	"fmt"
	"time"

	"loadline.dev/loadline/pkg/cli/verb"
)

// progress is a line that shows the progress of a fit's current work:
//
//	predicting runs left out  ████████████░░░░░░░░░░░░  50%, 9s left
type progress struct {
	*verb.Progress
	doing string
	start time.Time // of that
}

func newProgress(s *verb.Stream) *progress { return &progress{Progress: verb.NewProgress(s)} }

// update records the current work and its completed share, and shows the line.
func (p *progress) update(doing string, done float64) {
	p.Show(func(now time.Time) string {
		if doing != p.doing {
			p.doing, p.start = doing, now
		}
		return fitLine(doing, done, now.Sub(p.start))
	})
}

func fitLine(doing string, done float64, elapsed time.Duration) string {
	line := fmt.Sprintf("%s  %s", doing, verb.Bar(done))
	if elapsed > 0 {
		line += verb.Left(done, elapsed)
	}
	return line
}
