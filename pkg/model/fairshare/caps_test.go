package fairshare_test

import (
	"testing"

	"loadline.dev/loadline/pkg/model/fairshare"
	"loadline.dev/loadline/pkg/model/queueing"
)

func TestACapIsAProcessorOfThatSpeed(t *testing.T) {
	t.Parallel()
	tree := build(t, group("x", 3, workload("a", 1, 0.1), workload("b", 2, 0.3)), workload("c", 1, 0.2))
	r := solve(t, tree, fairshare.Options{Method: fairshare.Caps})
	if off := furthest(t, r.Factors, []float64{1 / (0.25 - 0.1), 1 / (0.5 - 0.3), 1 / (0.25 - 0.2)}); off > 1e-14 {
		t.Errorf("%v", r.Factors)
	}
}

// At a constant service time half as much waits: Pollaczek and Khinchin.
func TestACapTakesAnyServiceTimes(t *testing.T) {
	t.Parallel()
	a, b := workload("a", 1, 0.2), workload("b", 1, 0.1)
	a.Service, a.SecondMoment = 2, 4
	r := solve(t, build(t, a, b), fairshare.Options{Method: fairshare.Caps})
	// The service takes 4 s, and 0.4 of the time.
	if off := furthest(t, r.Responses, []float64{4 + 0.4*4/(2*0.6), 1 / 0.4}); off > 1e-14 {
		t.Errorf("%v", r.Responses)
	}
}

func TestACapOfWholeProcessorsIsAnMMmQueue(t *testing.T) {
	t.Parallel()
	r := solve(t, build(t, workload("a", 3, 2.5), workload("b", 1, 0)), fairshare.Options{Method: fairshare.Caps, Servers: 4})
	queue, err := queueing.NewMMm(2.5, 1, 3)
	if err != nil {
		t.Fatal(err)
	}
	if off := furthest(t, r.Factors, []float64{meanResponse(queue), 1}); off > 1e-14 {
		t.Errorf("%v, want %v", r.Factors, meanResponse(queue))
	}
}

// A cap between 1 and 2: one job runs at speed 1, more at the speed of the cap together.
func TestACapOfPartsOfProcessorsIsABirthDeathProcess(t *testing.T) {
	t.Parallel()
	const limit, load = 1.5, 1.2
	jobs, weights := 0.0, 1.0
	p := 1.0
	for n := 1; n < 2000; n++ {
		p *= load / min(float64(n), limit)
		weights += p
		jobs += float64(n) * p
	}
	r := solve(t, build(t, workload("a", 3, load), workload("b", 1, 0.1)), fairshare.Options{Method: fairshare.Caps, Servers: 2})
	if off := furthest(t, r.Factors[:1], []float64{jobs / weights / load}); off > 1e-13 {
		t.Errorf("%v, want %v", r.Factors[0], jobs/weights/load)
	}
}
