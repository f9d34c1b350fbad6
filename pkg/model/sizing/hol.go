package sizing

import (
	"cmp"
	"fmt"
	"slices"

	"loadline.dev/loadline/pkg/model/queueing"
)

// holPool is a pool in which waiting jobs of higher classes go first.
//
// The paper gives the class with the larger G(SLA) the higher priority. Here any order counts with
// which all SLAs are met, and one is found if there is one: the attained probability of a class
// depends on which classes are above it, but not on their order, and never falls as it moves up. So
// the lowest place may go to any class that meets its SLA there, the next one to any of the others,
// and so on, without ever going back: Audsley, "On priority assignment in fixed priority
// scheduling", Information Processing Letters 79 (1), 2001.
type holPool struct {
	classes []Class
	loosest []int // the classes in the order in which they are tried at the bottom
	queue   queueing.MMm
}

func (s holPool) servers() int { return s.queue.Servers() }

func (holPool) bound() float64 { return 0 }

func (s holPool) order() ([]int, bool) {
	left := slices.Clone(s.loosest)
	order := make([]int, len(left))
	for place := len(order) - 1; place >= 0; place-- {
		i := slices.IndexFunc(left, func(k int) bool {
			return s.below(left, k) >= s.classes[k].SLA.Probability
		})
		if i < 0 {
			return nil, false
		}
		order[place] = left[i]
		left = slices.Delete(left, i, i+1)
	}
	return order, true
}

// below returns the attained probability of a class if all others of a set are above it, and the
// rest of the classes below.
func (s holPool) below(set []int, k int) float64 {
	above := 0.0
	for _, other := range set {
		if other != k {
			above += s.classes[other].Arrival
		}
	}
	own := s.classes[k].Arrival
	return s.within(1, []float64{above, own, max(0, arrivals(s.classes)-above-own)}, s.classes[k].SLA.Within)
}

func (s holPool) attained(order []int) []float64 {
	rates := make([]float64, len(order))
	for place, k := range order {
		rates[place] = s.classes[k].Arrival
	}
	attained := make([]float64, len(order))
	for place, k := range order {
		attained[k] = s.within(place, rates, s.classes[k].SLA.Within)
	}
	return attained
}

func (s holPool) within(place int, rates []float64, x float64) float64 {
	q, err := s.queue.Prioritized(rates)
	if err != nil {
		panic(err) // the rates are the queue's own
	}
	return q.ResponseWithin(place, x)
}

// holPoolWith returns the pool with a number of servers, in which classes are tried at the
// bottom in the order given.
func holPoolWith(classes []Class, servers int, loosest []int) (computedPool, error) {
	if err := checkRates(classes); err != nil {
		return nil, err
	}
	q, err := queueing.NewMMm(arrivals(classes), classes[0].Service, servers)
	if err != nil {
		return nil, err
	}
	return holPool{classes, loosest, q}, nil
}

func checkRates(classes []Class) error {
	for _, c := range classes {
		if c.scv() != 1 || c.Service != classes[0].Service {
			return fmt.Errorf("%w: class %q has a rate of %v and a squared coefficient of variation of %v, class %q a rate of %v; use FCFS, or a pool for each",
				ErrDifferentRates, c.Name, c.Service, c.scv(), classes[0].Name, classes[0].Service)
		}
	}
	return nil
}

// loosestFirst returns the classes in the order of the servers that their SLAs would
// need without priorities.
func loosestFirst(classes []Class, o Options) ([]int, error) {
	if err := checkRates(classes); err != nil {
		return nil, err
	}
	o.Discipline = FCFS
	need := make([]int, len(classes))
	for k, c := range classes {
		c.Arrival = arrivals(classes)
		var err error
		need[k], err = count([]Class{c}, 1, queueing.MaxQueueServers, o)
		if err != nil {
			return nil, err
		}
	}
	order := indices(classes)
	slices.SortStableFunc(order, func(a, b int) int { return cmp.Compare(need[a], need[b]) })
	return order, nil
}

// servers returns the fewest servers of an M/M/m queue for a feasible SLA: Algorithm 1
// of Hu et al., but from the fewest servers that keep up with the load.
func servers(arrival, service float64, sla SLA) (int, error) {
	queues, err := queueing.Queues(arrival, service)
	if err != nil {
		return 0, err
	}
	for q := range queues {
		if q.ResponseWithin(sla.Within) >= sla.Probability {
			return q.Servers(), nil
		}
	}
	return queueing.MaxQueueServers, nil
}
