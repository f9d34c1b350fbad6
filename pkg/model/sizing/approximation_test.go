package sizing_test

import (
	"math"
	"math/rand/v2"
	"testing"

	"loadline.dev/loadline/pkg/model/sizing"
)

// A long job that is served makes many short ones wait: two servers attain 92.0 % of the
// short ones by simulation, one server 24.1 % as Pollaczek and Khinchine say.
func TestShortJobsWaitForLongOnes(t *testing.T) {
	classes := []sizing.Class{
		{Name: "batch", Arrival: 0.33, Service: 1, SLA: sizing.SLA{Within: 4.4, Probability: 0.6}},
		{Name: "web", Arrival: 57, Service: 100, SLA: sizing.SLA{Within: 0.1, Probability: 0.9}},
	}
	pool := fewest(t, classes, sizing.Options{})
	if pool.Servers != 2 || pool.Error != 0 || pool.FewerMayDo || pool.MoreMayBeNeeded {
		t.Fatalf("%+v", pool)
	}
	if math.Abs(pool.Attained[1]-0.920) > 0.002 || math.Abs(pool.WithFewer[1]-0.241) > 0.001 {
		t.Errorf("two servers attain %.4f of web, one %.4f", pool.Attained[1], pool.WithFewer[1])
	}
}

// For any classes, the answer is uncertain if and only if an SLA is met, or missed with one server
// fewer, by less than the error.
func TestAnApproximationThatDecidesIsSaid(t *testing.T) {
	t.Parallel()
	r := rand.New(rand.NewPCG(17, 8))
	approximated := 0
	for range 40 {
		classes := []sizing.Class{
			{Arrival: 1 + 2*r.Float64(), Service: 1, SCV: []float64{sizing.Constant, 0.5, 1}[r.IntN(3)], SLA: sizing.SLA{Within: 5, Probability: 0.5}},
			{Arrival: 20 + 20*r.Float64(), Service: 20, SCV: []float64{sizing.Constant, 0.5, 1}[r.IntN(3)], SLA: sizing.SLA{Within: 0.3, Probability: 0.5}},
		}
		servers := fewest(t, classes, sizing.Options{}).Servers
		attained, err := sizing.Attain(t.Context(), classes, servers, nil, sizing.Options{})
		if err != nil {
			t.Fatal(err)
		}
		exact := classes[0].SCV == 1 && classes[1].SCV == 1
		for _, by := range []float64{-1e-4, 1e-4} { // the SLA is met, and missed, by little
			classes[1].SLA.Probability = attained[1] + by
			pool := fewest(t, classes, sizing.Options{})
			if (pool.Error == 0) != exact {
				t.Errorf("%+v: the error is %v", classes, pool.Error)
			}
			near := pool.Error > 0
			if near {
				approximated++
			}
			if by < 0 && (pool.Servers != servers || pool.MoreMayBeNeeded != near) {
				t.Errorf("%+v: %d servers are just enough, it says %+v", classes, servers, pool)
			}
			if by > 0 && (pool.Servers != servers+1 || pool.FewerMayDo != near) {
				t.Errorf("%+v: %d servers are just too few, it says %+v", classes, servers, pool)
			}
		}
		classes[1].SLA.Probability = attained[1] - 0.2
		if pool := fewest(t, classes, sizing.Options{}); pool.Servers == servers && pool.MoreMayBeNeeded {
			t.Errorf("%+v: an SLA that is met by far is in doubt: %+v", classes, pool)
		}
	}
	if approximated == 0 {
		t.Error("no set has an error")
	}
}
