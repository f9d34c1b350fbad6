package sizing

import "math"

// MeanServers returns how many servers the SLA of a class takes on average over a range
// of arrival rates, in the paper's units: G(SLA), Eq. (4) of Hu et al., as a sum over the
// rates of Table 1, of m(λ)/K, without the factor dλ, the step between rates. With the
// step it would be an average; Tables 3 to 5 are without. The more demanding an SLA, the
// larger. The class's own arrival rate does not matter, nor its SCV: service is
// exponential. The errors are those of [Validate]: an [InfeasibleError] where no number
// of servers meets the SLA.
func (c Class) MeanServers() (float64, error) {
	c.Arrival, c.SCV = 0, 0
	if err := Validate([]Class{c}); err != nil {
		return 0, err
	}
	needs, err := paperGrid().needs(SLA{c.SLA.Within * c.Service, c.SLA.Probability})
	sum := 0
	for _, m := range needs {
		sum += m
	}
	return float64(sum) / paperGrid().limit, err
}

// grid is a range of arrival rates, with a service rate of 1: from one step up to a
// limit, the paper's K.
type grid struct{ limit, step float64 }

// paperGrid returns 0.1, 0.2, … 40: Table 1 of Hu et al.
func paperGrid() grid { return grid{40, 0.1} }

// needs returns the fewest servers for a feasible SLA at each rate of the grid.
func (g grid) needs(sla SLA) ([]int, error) {
	points := int(math.Round(g.limit / g.step))
	needs := make([]int, points)
	for i := range needs {
		m, err := servers(g.limit*float64(i+1)/float64(points), 1, sla)
		if err != nil {
			return nil, err
		}
		needs[i] = m
	}
	return needs, nil
}
