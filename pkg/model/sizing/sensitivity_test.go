package sizing_test

import (
	"math"
	"math/rand/v2"
	"slices"
	"testing"

	"loadline.dev/loadline/pkg/model/sizing"
)

// Just inside of each factor the same servers do, just outside they do not.
func TestSensitivityIsWhereTheAnswerChanges(t *testing.T) {
	t.Parallel()
	r := rand.New(rand.NewPCG(8, 1))
	for n := range 40 {
		classes := draw(r, 1+n%3)
		o := sizing.Options{Discipline: sizing.Discipline(n / 3 % 2)}
		pool := fewest(t, classes, o)
		s, err := sizing.Sensitive(t.Context(), classes, pool, o)
		if err != nil {
			t.Fatal(err)
		}
		holds := func(arrivals func(k int) float64, services float64) bool {
			changed := slices.Clone(classes)
			for k := range changed {
				changed[k].Arrival *= arrivals(k)
				changed[k].Service *= services
			}
			attained, err := sizing.Attain(t.Context(), changed, pool.Servers, pool.Order, o)
			if err != nil {
				return false // it cannot keep up
			}
			return !slices.ContainsFunc(indices(len(changed)), func(k int) bool { return attained[k] < changed[k].SLA.Probability })
		}
		check := func(name string, factor float64, holds func(f float64) bool) {
			outside := 1 + 1e-6
			if name == "services" {
				outside = 1 / outside
			}
			if math.IsNaN(factor) || !holds(1+(factor-1)*(1-1e-9)) || holds(factor*outside) {
				t.Errorf("%v %+v: %s hold up to a factor %v: inside %v, outside %v", o.Discipline, classes, name, factor, holds(1+(factor-1)*(1-1e-9)), holds(factor*outside))
			}
		}
		check("arrivals", s.AllArrivals, func(f float64) bool { return holds(func(int) float64 { return f }, 1) })
		check("services", s.AllServices, func(f float64) bool { return holds(func(int) float64 { return 1 }, f) })
		for k := range classes {
			check("the class's arrivals", s.Arrival[k], func(f float64) bool {
				return holds(func(other int) float64 {
					if other == k {
						return f
					}
					return 1
				}, 1)
			})
		}
	}
}

func TestSensitivityOfAPlansPoolIsOfItsClasses(t *testing.T) {
	classes := []sizing.Class{class(0.6, 3, 0.95), class(3.6, 5, 0.8), class(0, 3, 0.9)}
	plan, err := sizing.Dedicated(t.Context(), classes, sizing.Options{})
	if err != nil {
		t.Fatal(err)
	}
	for k, pool := range plan.Pools {
		s, err := sizing.Sensitive(t.Context(), classes, pool, sizing.Options{})
		if err != nil || len(s.Arrival) != 1 || math.Abs(s.Arrival[0]-s.AllArrivals) > 1e-9 && k != 2 {
			t.Errorf("pool %d: %+v, %v", k, s, err)
		}
		if k == 2 && !(math.IsInf(s.AllArrivals, 1) && s.AllServices > 0.7 && s.AllServices < 0.8) { // 1 − e^(−3f) = 0.9
			t.Errorf("with no arrivals: %+v", s)
		}
	}
	if _, err := sizing.Sensitive(t.Context(), classes, sizing.Pool{Classes: []int{7}, Servers: 1}, sizing.Options{}); err == nil {
		t.Error("there is no class 7")
	}
}
