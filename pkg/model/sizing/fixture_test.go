package sizing_test

import (
	"fmt"
	"math/rand/v2"
	"testing"

	"loadline.dev/loadline/pkg/model/sizing"
)

// class returns a class with a service rate of 1.
func class(arrival, within, probability float64) sizing.Class {
	return sizing.Class{Name: fmt.Sprintf("%g/s", arrival), Arrival: arrival, Service: 1, SLA: sizing.SLA{Within: within, Probability: probability}}
}

// draw returns classes whose SLAs can be met, with one rate of service.
func draw(r *rand.Rand, n int) []sizing.Class {
	var classes []sizing.Class
	for len(classes) < n {
		c := class(0.2+10*r.Float64()*r.Float64(), 2+8*r.Float64()*r.Float64(), 0.5+0.47*r.Float64())
		c.Name = fmt.Sprintf("c%d", len(classes))
		if c.SLA.Probability < c.Bound() {
			classes = append(classes, c)
		}
	}
	return classes
}

func fewest(t testing.TB, classes []sizing.Class, o sizing.Options) sizing.Pool {
	t.Helper()
	pool, err := sizing.Fewest(t.Context(), classes, o)
	if err != nil {
		t.Fatal(err)
	}
	return pool
}

func best(t testing.TB, classes []sizing.Class, o sizing.Options) sizing.Plan {
	t.Helper()
	plan, err := sizing.Best(t.Context(), classes, o)
	if err != nil {
		t.Fatal(err)
	}
	return plan
}
