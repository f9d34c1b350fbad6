package sizing

import (
	"errors"
	"fmt"
	"math"
)

// Grid is the range of arrival rates that the paper looks at, with a service rate of 1:
// Step, 2·Step, … up to Limit.
type Grid struct {
	Limit float64 // the paper's K, above 0
	Step  float64 // above 0 and at most Limit
}

// PaperGrid returns 0.1, 0.2, … 40: Table 1 of Hu et al.
func PaperGrid() Grid { return Grid{Limit: 40, Step: 0.1} }

// points returns how many rates there are.
func (g Grid) points() int { return int(math.Round(g.Limit / g.Step)) }

// rate returns the i-th rate, i from 1.
func (g Grid) rate(i int) float64 { return g.Limit * float64(i) / float64(g.points()) }

func (g Grid) validate() error {
	if !(g.Step > 0 && g.Limit >= g.Step) || g.Limit/g.Step > 1e6 {
		return fmt.Errorf("grid: a step of %v and a limit of %v are not from one to a million steps", g.Step, g.Limit)
	}
	return nil
}

// needs returns the fewest servers for an SLA at each rate of the grid.
func (g Grid) needs(sla SLA) ([]int, error) {
	c := Class{Name: sla.String(), Service: 1, SLA: sla}
	if err := errors.Join(g.validate(), Validate([]Class{c})); err != nil {
		return nil, err
	}
	needs := make([]int, g.points())
	for i := range needs {
		m, err := servers(g.rate(i+1), 1, sla)
		if err != nil {
			return nil, err
		}
		needs[i] = m
	}
	return needs, nil
}

// G returns how many servers an SLA asks for on average, in the paper's units: Eq. (4)
// of Hu et al. as a sum over the grid's rates of m(λ)/K, without the factor dλ, the
// grid's step. With the step it would be an average; Tables 3 to 5 are without.
func G(sla SLA, grid Grid) (float64, error) {
	needs, err := grid.needs(sla)
	if err != nil {
		return 0, err
	}
	sum := 0
	for _, m := range needs {
		sum += m
	}
	return float64(sum) / grid.Limit, nil
}

// Difference returns the SLA difference D = |G(a) − G(b)|: Eq. (5) of Hu et al.
func Difference(a, b SLA, grid Grid) (float64, error) {
	one, err := G(a, grid)
	if err != nil {
		return 0, err
	}
	other, err := G(b, grid)
	return math.Abs(one - other), err
}

// ServersOf returns the fewest servers of two dedicated pools, m_D, and of a shared
// one, m_S, for two classes with a service rate of 1: Eqs. (2) and (3) of Hu et al.
func ServersOf(arrivals [2]float64, slas [2]SLA) (dedicated, shared int, err error) {
	for k, sla := range slas {
		alone, errAlone := servers(arrivals[k], 1, sla)
		together, errTogether := servers(arrivals[0]+arrivals[1], 1, sla)
		if err := errors.Join(errAlone, errTogether); err != nil {
			return 0, 0, err
		}
		dedicated += alone
		shared = max(shared, together)
	}
	return dedicated, shared, nil
}

// Heuristic chooses between dedicated pools and a shared one for two classes with a
// service rate of 1 as Algorithm 2 of Hu et al. does: dedicated if the class with the
// stricter SLA has at most so large a share of the arrivals as the angle for their SLA
// difference allows.
func Heuristic(arrivals [2]float64, slas [2]SLA, table AngleTable, grid Grid) (Strategy, error) {
	var g [2]float64
	for k, sla := range slas {
		value, err := G(sla, grid)
		if err != nil {
			return "", err
		}
		g[k] = value
	}
	return table.choose(arrivals, g), nil
}

// choose is Algorithm 2, given G of both SLAs.
func (t AngleTable) choose(arrivals, g [2]float64) Strategy {
	loose, strict := arrivals[0], arrivals[1]
	if g[0] > g[1] {
		loose, strict = strict, loose
	}
	if alpha := t.Angle(math.Abs(g[0] - g[1])); alpha > 0 && angle(loose, strict) <= alpha {
		return DedicatedPools
	}
	return SharedPool
}

// angle returns the angle of a point of Figs. 4 to 8 in degrees, from the axis of the
// class with the looser SLA.
func angle(loose, strict float64) float64 { return math.Atan2(strict, loose) * 180 / math.Pi }

// checkSLA returns the error of an SLA that cannot be met at a service rate of 1.
func checkSLA(sla SLA) error {
	return Validate([]Class{{Name: sla.String(), Service: 1, SLA: sla}})
}
