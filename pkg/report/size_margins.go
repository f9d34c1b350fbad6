package report

import (
	"fmt"
	"math"

	"loadline.dev/loadline/pkg/report/chart"
	"loadline.dev/loadline/pkg/text"
)

// marginScale puts margins, the savings of dedicated pools over a shared one, into few findings.
// Where all servers cost the same it distinguishes them by numbers of servers.
type marginScale struct {
	// steps are the least numbers of servers of each degree, from 1 on; only the first
	// counts where costs differ.
	steps   []int
	largest int // servers of the largest margin
	cost    bool
}

// maxDegrees is how many degrees there are on each side, so that their colours can be
// distinguished.
const maxDegrees = 4

// newMarginScale makes a scale for all margins of a map. Numbers of servers have a degree each if
// there are few, else each degree is larger than the last by a constant factor.
func newMarginScale(margins [][]float64, sameCost bool) marginScale {
	s := marginScale{steps: []int{1}, largest: 1, cost: !sameCost}
	if s.cost {
		return s
	}
	for _, row := range margins {
		for _, margin := range row {
			s.largest = max(s.largest, int(math.Round(math.Abs(margin))))
		}
	}
	ratio := 1
	if s.largest > maxDegrees {
		ratio = int(math.Ceil(math.Pow(float64(s.largest+1), 1.0/maxDegrees) - 1e-9))
	}
	for len(s.steps) < maxDegrees {
		last := s.steps[len(s.steps)-1]
		next := last * ratio
		if ratio == 1 {
			next = last + 1
		}
		if next > s.largest {
			break
		}
		s.steps = append(s.steps, next)
	}
	return s
}

// findings lists what may be found: dedicated pools being best by far first, a shared
// one last.
func (s marginScale) findings() []chart.Finding {
	n := len(s.steps)
	all := make([]chart.Finding, 2*n+1)
	all[n] = chart.Finding{Name: "as many servers either way"}
	if s.cost {
		all[n].Name = "the same cost either way"
	}
	for degree := 1; degree <= n; degree++ {
		lean := float64(degree) / maxDegrees
		all[n-degree] = chart.Finding{Name: s.name("dedicated pools need", "dedicated pools cost", degree), Lean: lean}
		all[n+degree] = chart.Finding{Name: s.name("a shared pool needs", "a shared pool costs", degree), Lean: -lean}
	}
	return all
}

// name returns the meaning of a degree.
func (s marginScale) name(needs, costs string, degree int) string {
	if s.cost {
		return costs + " less"
	}
	least, largest := s.steps[degree-1], s.largest
	if degree < len(s.steps) {
		largest = s.steps[degree] - 1
	}
	if least == largest {
		return needs + " " + text.Counted(least, "server") + " fewer"
	}
	return fmt.Sprintf("%s %d to %d servers fewer", needs, least, largest)
}

// finding returns the index of the finding for a margin.
func (s marginScale) finding(margin float64) int {
	const nothing = 1e-9 // of a cost
	n, degree := len(s.steps), 0
	if math.Abs(margin) > nothing {
		degree = 1
	}
	for !s.cost && degree > 0 && degree < n && int(math.Round(math.Abs(margin))) >= s.steps[degree] {
		degree++
	}
	if margin > 0 {
		return n - degree
	}
	return n + degree
}
