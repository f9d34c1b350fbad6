package sizing

import (
	"context"
	"errors"
	"fmt"
	"math"

	"loadline.dev/loadline/pkg/model/queueing"
)

// Sensitivity says how far rates may move before a pool is too small for its SLAs. All
// values are factors of the rates given.
type Sensitivity struct {
	// Arrival has, for each class of the pool, the largest factor of its own rate of
	// arrivals; +Inf for a class with none.
	Arrival []float64
	// AllArrivals is the largest factor of the rates of arrivals of all classes at
	// once; +Inf if there are none.
	AllArrivals float64
	// AllServices is the smallest factor of the rates of service of all classes at once.
	AllServices float64
}

// Sensitive returns the sensitivity of a pool that [Fewest] or a plan gave for the
// classes. It is computed to twelve digits, for HOL with the pool's order of
// priority; for simulated disciplines it is found to 1 % by many simulations. The errors
// are those of [Fewest].
func Sensitive(ctx context.Context, classes []Class, pool Pool, o Options) (Sensitivity, error) {
	if err := errors.Join(o.validate(), Validate(classes)); err != nil {
		return Sensitivity{}, err
	}
	p := &probe{servers: pool.Servers, simulated: o.Discipline.Simulated()}
	place := map[int]int{}
	for i, k := range pool.Classes {
		if k < 0 || k >= len(classes) {
			return Sensitivity{}, fmt.Errorf("pool.classes[%d]: there is no class %d", i, k)
		}
		place[k] = i
		p.classes = append(p.classes, classes[k])
		p.load += classes[k].load()
	}
	for _, k := range pool.Order {
		p.order = append(p.order, place[k])
	}
	if err := checkOrder(p.order, len(p.classes), o.Discipline); err != nil {
		return Sensitivity{}, err
	}
	p.attain = func(changed []Class) ([]float64, error) { return attain(ctx, changed, p.servers, p.order, o) }
	s := Sensitivity{AllArrivals: p.arrivals(-1), AllServices: p.services()}
	for k := range p.classes {
		s.Arrival = append(s.Arrival, p.arrivals(k))
	}
	return s, p.err
}

// probe changes the rates of a pool.
type probe struct {
	classes   []Class
	order     []int
	servers   int
	load      float64
	attain    func(changed []Class) ([]float64, error)
	simulated bool
	err       error
}

// margin returns the margin of the SLA that the pool meets least, with all rates of service, and of
// arrivals of one class or, if it is −1, of all, times a factor. It is negative if the pool misses
// an SLA.
func (p *probe) margin(class int, arrival, service float64) float64 {
	if p.err != nil {
		return -1
	}
	changed := make([]Class, len(p.classes))
	for k, c := range p.classes {
		if class < 0 || k == class {
			c.Arrival *= arrival
		}
		c.Service *= service
		changed[k] = c
	}
	attained, err := p.attain(changed)
	if err != nil {
		if !errors.Is(err, queueing.ErrUnstable) {
			p.err = err
		}
		return -1
	}
	return margin(changed, attained)
}

// arrivals returns the largest factor of the arrivals of one class, or all.
func (p *probe) arrivals(class int) float64 {
	moving := p.load
	if class >= 0 {
		moving = p.classes[class].load()
	}
	if moving == 0 {
		return math.Inf(1)
	}
	most := 1 + (float64(p.servers)-p.load)/moving
	return p.largest(1, most, func(f float64) float64 { return p.margin(class, f, 1) })
}

// services returns the smallest factor of the rates of service, by way of the largest
// factor of service times.
func (p *probe) services() float64 {
	slower := func(f float64) float64 { return p.margin(-1, 1, 1/f) }
	most := 2.0
	if p.load > 0 {
		most = float64(p.servers) / p.load
	} else {
		for slower(most) >= 0 {
			most *= 2
		}
	}
	return 1 / p.largest(1, most, slower)
}

// largest is the function of that name, to 1 % for simulated pools.
func (p *probe) largest(low, high float64, margin func(float64) float64) float64 {
	if !p.simulated {
		return largest(low, high, margin)
	}
	for high-low > 0.01*low && p.err == nil {
		middle := (low + high) / 2
		if margin(middle) >= 0 {
			low = middle
		} else {
			high = middle
		}
	}
	return low
}
