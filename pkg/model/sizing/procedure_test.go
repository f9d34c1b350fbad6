package sizing

import (
	"context"
	"errors"
	"fmt"
	"math"
	"math/rand/v2"
)

// Setting is a row of Tables 6 to 9 of Hu et al.: how the parameters of two classes are
// drawn. The service rate is 1.
type Setting struct {
	Rates    Draw       // λ; rates that are not above 0, or add up to more than 40, are drawn again
	Times    [2]float64 // x is uniform between these
	Promises [2]float64 // y is uniform between these; SLAs that no servers can meet are drawn again
}

// Draw is a distribution of arrival rates.
type Draw struct {
	Kind string  // U(0, A), N(A, B²), or E(A), an exponential distribution with mean A
	A, B float64 // A is above 0, both are at most 40
}

// String returns the paper's notation.
func (d Draw) String() string {
	switch d.Kind {
	case "U":
		return fmt.Sprintf("U(0, %g)", d.A)
	case "N":
		return fmt.Sprintf("N(%g, %g)", d.A, d.B)
	default:
		return fmt.Sprintf("E(%g)", d.A)
	}
}

func (d Draw) from(r *rand.Rand) float64 {
	switch d.Kind {
	case "U":
		return d.A * r.Float64()
	case "N":
		return d.A + d.B*r.NormFloat64()
	default:
		return d.A * r.ExpFloat64()
	}
}

// maxRate bounds the sum of the rates of both classes.
const maxRate = 40

// PaperSettings returns the six rows of Tables 7 to 9. The paper writes N(20, σ²), and in
// the tables N(20, 5) and N(20, 10): the second number is taken for σ.
func PaperSettings() []Setting {
	promises := [2]float64{0.8, 0.95}
	return []Setting{
		{Draw{"U", 40, 0}, [2]float64{2, 5}, promises},
		{Draw{"U", 40, 0}, [2]float64{2, 10}, promises},
		{Draw{"N", 20, 5}, [2]float64{2, 5}, promises},
		{Draw{"N", 20, 10}, [2]float64{2, 5}, promises},
		{Draw{"E", 10, 0}, [2]float64{2, 5}, promises},
		{Draw{"E", 20, 0}, [2]float64{2, 5}, promises},
	}
}

// validate makes sure that draws end.
func (s Setting) validate() error {
	switch {
	case s.Rates.Kind != "U" && s.Rates.Kind != "N" && s.Rates.Kind != "E":
		return fmt.Errorf("rates.kind: %q is none of U, N, E", s.Rates.Kind)
	case !(s.Rates.A > 0 && s.Rates.A <= maxRate) || !(s.Rates.B >= 0 && s.Rates.B <= maxRate):
		return fmt.Errorf("rates: %v and %v are not above 0, and at least 0, and at most %d", s.Rates.A, s.Rates.B, maxRate)
	case !(s.Times[0] <= s.Times[1]) || !(s.Promises[0] <= s.Promises[1]):
		return fmt.Errorf("times, promises: %v, %v are not in ascending order", s.Times, s.Promises)
	}
	if err := checkSLA(SLA{s.Times[1], s.Promises[0]}); err != nil {
		return fmt.Errorf("times, promises: %w", err)
	}
	return nil
}

// draw returns the classes of one combination: steps 1 to 3 of both procedures.
func (s Setting) draw(r *rand.Rand) [2]Class {
	var classes [2]Class
	for {
		for k := range classes {
			rate := math.Inf(-1)
			for !(rate > 0 && rate <= maxRate) {
				rate = s.Rates.from(r)
			}
			classes[k] = Class{Name: fmt.Sprint(k + 1), Arrival: rate, Service: 1}
		}
		if classes[0].Arrival+classes[1].Arrival <= maxRate {
			break
		}
	}
	for k := range classes {
		for feasible := false; !feasible; {
			sla := SLA{s.Times[0] + (s.Times[1]-s.Times[0])*r.Float64(), s.Promises[0] + (s.Promises[1]-s.Promises[0])*r.Float64()}
			classes[k].SLA = sla
			feasible = checkSLA(sla) == nil
		}
	}
	return classes
}

// Correct has the results of Procedure 1: the fraction of combinations in which a way
// to choose finds the fewest servers.
type Correct struct {
	Heuristic float64 // the paper's S
	Shared    float64 // of always choosing a shared pool
	Dedicated float64 // of always choosing dedicated pools
}

// Procedure1 evaluates the heuristic on a number of combinations: section 3.5 of Hu et al.
func Procedure1(ctx context.Context, s Setting, combinations int, table AngleTable, seed uint64) (Correct, error) {
	if err := s.validate(); err != nil {
		return Correct{}, err
	}
	r := rand.New(rand.NewPCG(seed, 1))
	var counts [3]int
	for range combinations {
		if err := ctx.Err(); err != nil {
			return Correct{}, err
		}
		classes := s.draw(r)
		rates, slas := [2]float64{classes[0].Arrival, classes[1].Arrival}, [2]SLA{classes[0].SLA, classes[1].SLA}
		chosen, err := ByAngle(classes[:], table)
		if err != nil {
			return Correct{}, err
		}
		dedicated, shared, err := ServersOf(rates, slas)
		if err != nil {
			return Correct{}, err
		}
		if chosen.Strategy == DedicatedPools && dedicated <= shared || chosen.Strategy == SharedPool && shared <= dedicated {
			counts[0]++
		}
		if shared <= dedicated {
			counts[1]++
		}
		if dedicated <= shared {
			counts[2]++
		}
	}
	n := float64(combinations)
	return Correct{float64(counts[0]) / n, float64(counts[1]) / n, float64(counts[2]) / n}, nil
}

// Comparison has the results of Procedure 2, by discipline: FCFS, HOL and, if it was
// asked for, PDP.
type Comparison struct {
	// Top is the fraction of combinations in which no other discipline needs fewer
	// servers: q_F, q_H and q_P of Table 8.
	Top [3]float64
	// Ahead is by how many servers fewer PDP does on average than FCFS and HOL, where it
	// needs fewer than both: Δ_F and Δ_H of Table 9. 0 if PDP was not asked for.
	Ahead [2]float64
	// Servers is the mean number of servers of each discipline.
	Servers [3]float64
}

// Procedure2 compares disciplines on a number of combinations: section 4.3 of Hu et al.
// FCFS is the better of shared and dedicated, as the paper's step 4 has it; HOL gives the
// class with the larger G(SLA) the higher priority, where [Fewest] takes the better order.
// With simulation nil it leaves PDP out.
func Procedure2(ctx context.Context, s Setting, combinations int, simulation *Simulation, seed uint64) (Comparison, error) {
	if err := s.validate(); err != nil {
		return Comparison{}, err
	}
	r := rand.New(rand.NewPCG(seed, 2))
	var c Comparison
	ahead := 0
	for range combinations {
		if err := ctx.Err(); err != nil {
			return Comparison{}, err
		}
		classes := s.draw(r)
		needs, err := serversByDiscipline(ctx, classes, simulation)
		if err != nil {
			return Comparison{}, err
		}
		least := math.MaxInt
		for _, m := range needs {
			least = min(least, m)
		}
		for d, m := range needs {
			if m == least {
				c.Top[d] += 1 / float64(combinations)
			}
			c.Servers[d] += float64(m) / float64(combinations)
		}
		if len(needs) == 3 && needs[2] < needs[0] && needs[2] < needs[1] {
			ahead++
			c.Ahead[0] += float64(needs[0] - needs[2])
			c.Ahead[1] += float64(needs[1] - needs[2])
		}
	}
	if ahead > 0 {
		c.Ahead[0] /= float64(ahead)
		c.Ahead[1] /= float64(ahead)
	}
	return c, nil
}

// serversByDiscipline returns m_F, m_H and, with a simulation, m_P.
func serversByDiscipline(ctx context.Context, classes [2]Class, simulation *Simulation) ([]int, error) {
	dedicated, shared, err := ServersOf([2]float64{classes[0].Arrival, classes[1].Arrival}, [2]SLA{classes[0].SLA, classes[1].SLA})
	if err != nil {
		return nil, err
	}
	hol, err := serversByG(classes)
	if err != nil {
		return nil, err
	}
	needs := []int{min(dedicated, shared), hol}
	if simulation == nil {
		return needs, nil
	}
	pdp, err := Fewest(ctx, classes[:], Options{Discipline: PDP, Simulation: *simulation})
	return append(needs, pdp.Servers), err
}

// serversByG returns the fewest servers with priority for the class with the larger
// G(SLA): section 4.1 of Hu et al.
func serversByG(classes [2]Class) (int, error) {
	first, err1 := classes[0].MeanServers()
	second, err2 := classes[1].MeanServers()
	if err := errors.Join(err1, err2); err != nil {
		return 0, err
	}
	order := []int{0, 1}
	if second > first {
		order = []int{1, 0}
	}
	least, err := stable(classes[:], 1, Options{})
	if err != nil {
		return 0, err
	}
	for m := least; ; m++ {
		s, err := holPoolWith(classes[:], m, order)
		if err != nil {
			return 0, err
		}
		if furthestBelow(classes[:], s.attained(order)) < 0 {
			return m, nil
		}
	}
}
