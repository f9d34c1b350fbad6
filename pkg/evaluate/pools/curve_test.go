package pools

import (
	"testing"

	"loadline.dev/loadline/pkg/model/sizing"
)

func TestACurveStepsWhereOneServerMoreIsNeeded(t *testing.T) {
	t.Parallel()
	class := sizing.Class{Name: "a", Service: 1, SLA: sizing.SLA{Within: 3, Probability: 0.9}}
	needs := func(rate float64) int {
		class := class
		class.Arrival = rate
		pool, err := sizing.Fewest(t.Context(), []sizing.Class{class}, sizing.Options{})
		if err != nil {
			t.Fatal(err)
		}
		return pool.Servers
	}
	for _, c := range []struct {
		now, to float64
		log     bool
	}{{3, 10, false}, {3, 10, true}, {1000, 2000, false}, {1000, 1e6, true}, {4e5, 1e6, false}} {
		class.Arrival = c.now
		climber := climber{ctx: t.Context(), class: class, from: 0.5, to: c.to, log: c.log}
		steps, err := climber.climb()
		if err != nil {
			t.Fatal(err)
		}
		for k := 1; k < len(steps); k++ {
			at, before := steps[k], steps[k-1]
			if !(at.Arrival > before.Arrival && at.Servers > before.Servers && at.Servers == needs(at.Arrival)) {
				t.Errorf("up to %v: the steps %+v and %+v do not rise, or are wrong", c.to, before, at)
			}
			isNow := before.Arrival <= c.now && c.now < at.Arrival
			if just := at.Arrival * (1 - 1e-7); (isNow || c.to == 10) && needs(just) != before.Servers {
				t.Errorf("up to %v: the step at %v begins before", c.to, at.Arrival)
			}
			if isNow && before.Servers != needs(c.now) {
				t.Errorf("up to %v: %v servers now, want %v", c.to, before.Servers, needs(c.now))
			}
		}
		if c.to == 10 && len(steps) != needs(10)-needs(0.5)+1 {
			t.Errorf("there are %d steps", len(steps))
		}
	}
}

func TestAClassThatIsFarSmallerThanAnotherTakesALogarithmicScale(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct {
		rates    []float64
		from, to float64
		log      bool
	}{
		"alike":          {[]float64{1, 3}, 0, 6, false},
		"far apart":      {[]float64{0.1, 30}, 0.05, 60, true},
		"one of nothing": {[]float64{0, 3}, 0, 6, false},
		"nothing at all": {[]float64{0, 0}, 0, 4, false},
	} {
		var classes []sizing.Class
		for _, rate := range c.rates {
			classes = append(classes, sizing.Class{Arrival: rate, Service: 2})
		}
		if from, to, log := rateAxis(classes); from != c.from || to != c.to || log != c.log {
			t.Errorf("%s: the axis is from %v to %v, logarithmic %v", name, from, to, log)
		}
	}
}
