package sizing_test

import (
	"context"
	"errors"
	"math"
	"testing"

	"github.com/google/go-cmp/cmp"

	"loadline.dev/loadline/pkg/model/sizing"
)

var twoClasses = []sizing.Class{class(29.8, 2.32, 0.841), class(1.34, 4.69, 0.829)}

func TestSimulationsAreTheSameWithAnyNumberOfWorkers(t *testing.T) {
	t.Parallel()
	for _, d := range []sizing.Discipline{sizing.PDP, sizing.LateLast} {
		o := sizing.Options{Discipline: d, Simulation: sizing.Simulation{Seed: 3, Jobs: 5000, Replications: 16, Workers: 1}}
		want := fewest(t, twoClasses, o)
		for _, workers := range []int{0, 2, 7} {
			o.Simulation.Workers = workers
			if diff := cmp.Diff(want, fewest(t, twoClasses, o)); diff != "" {
				t.Errorf("%v with %d workers (-1 +%d):\n%s", d, workers, workers, diff)
			}
		}
	}
}

func TestSimulationsStopWhenTheContextEnds(t *testing.T) {
	ctx, cancel := context.WithCancel(t.Context())
	o := sizing.Options{Discipline: sizing.PDP, Simulation: sizing.Simulation{Jobs: 100_000, Progress: func(sizing.Progress) { cancel() }}}
	if _, err := sizing.Fewest(ctx, twoClasses, o); !errors.Is(err, context.Canceled) {
		t.Errorf("%v", err)
	}
	if _, err := sizing.Best(ctx, twoClasses, sizing.Options{}); !errors.Is(err, context.Canceled) {
		t.Errorf("%v", err)
	}
}

func TestProgressTellsHowFarASimulationIs(t *testing.T) {
	last := sizing.Progress{}
	o := sizing.Options{Discipline: sizing.PDP, Simulation: sizing.Simulation{Jobs: 2000, Replications: 16, Progress: func(p sizing.Progress) {
		if p.Servers == last.Servers && p.Replications <= last.Replications || p.Replications > 16 || p.Classes != 2 {
			t.Errorf("%+v after %+v", p, last)
		}
		last = p
	}}}
	fewest(t, twoClasses, o)
	if last.Replications == 0 {
		t.Error("there was no progress")
	}
}

// PDP needs no more servers than FCFS, and late jobs last no more than PDP; each is
// sure that its servers do, and that one fewer does not.
func TestPDPMeetsSLAsWithFewServers(t *testing.T) {
	t.Parallel()
	fcfs := fewest(t, twoClasses, sizing.Options{})
	before := fcfs.Servers
	for _, d := range []sizing.Discipline{sizing.PDP, sizing.LateLast} {
		pool := fewest(t, twoClasses, sizing.Options{Discipline: d, Simulation: sizing.Simulation{Jobs: 30_000}})
		if pool.Servers > before || pool.Undecided {
			t.Errorf("%v needs %d servers (undecided: %v), before %d", d, pool.Servers, pool.Undecided, before)
		}
		for k, c := range twoClasses {
			if pool.Attained[k]-pool.HalfWidth[k] < c.SLA.Probability || pool.HalfWidth[k] <= 0 {
				t.Errorf("%v: class %d attains %v ± %v", d, k, pool.Attained[k], pool.HalfWidth[k])
			}
		}
		before = pool.Servers
	}
	if before == fcfs.Servers {
		t.Error("neither does with a server less than FCFS")
	}
}

// Different rates of service, where there is no control variate: with enough servers that no job
// waits, classes attain the probability of their service.
func TestSimulationServesEachClassAtItsRate(t *testing.T) {
	t.Parallel()
	fast := sizing.Class{Name: "fast", Arrival: 10, Service: 10, SLA: sizing.SLA{Within: 0.2, Probability: 0.8}}
	slow := sizing.Class{Name: "slow", Arrival: 0.5, Service: 0.5, SLA: sizing.SLA{Within: 4, Probability: 0.8}}
	got, err := sizing.Attain(t.Context(), []sizing.Class{fast, slow}, 30, nil, sizing.Options{Discipline: sizing.PDP, Simulation: sizing.Simulation{Jobs: 50_000}})
	if err != nil {
		t.Fatal(err)
	}
	for k, c := range []sizing.Class{fast, slow} {
		if math.Abs(got[k]-c.Bound()) > 0.005 {
			t.Errorf("class %s: %v, want %v", c.Name, got[k], c.Bound())
		}
	}
}

func TestSimulationRefusesOtherService(t *testing.T) {
	classes := []sizing.Class{class(1, 3, 0.9), class(1, 3, 0.9)}
	classes[1].SCV = 2
	if _, err := sizing.Fewest(t.Context(), classes, sizing.Options{Discipline: sizing.PDP}); err == nil {
		t.Error("it is simulated with a squared coefficient of variation of 2")
	}
}

func TestPlansOfSimulatedPools(t *testing.T) {
	t.Parallel()
	classes := append([]sizing.Class{class(2, 5, 0.8)}, twoClasses...)
	plan := best(t, classes, sizing.Options{Discipline: sizing.PDP, Simulation: sizing.Simulation{Jobs: 5000, Replications: 16}})
	fcfs := best(t, classes, sizing.Options{})
	if plan.Gap != 0 || plan.Cost > fcfs.Cost {
		t.Errorf("%+v costs %v, FCFS %v", plan, plan.Cost, fcfs.Cost)
	}
	s, err := sizing.Sensitive(t.Context(), classes, plan.Pools[0], sizing.Options{Discipline: sizing.PDP, Simulation: sizing.Simulation{Jobs: 5000, Replications: 16}})
	if err != nil || !(s.AllArrivals >= 1) || !(s.AllServices <= 1) {
		t.Errorf("%+v, %v", s, err)
	}
}
