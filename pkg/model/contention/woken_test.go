package contention_test

import (
	"math"
	"testing"

	"pgregory.net/rapid"

	"loadline.dev/loadline/pkg/model/contention"
	"loadline.dev/loadline/pkg/model/loading"
	"loadline.dev/loadline/pkg/model/queueing"
	"loadline.dev/loadline/test/modeltest"
)

// withBursts returns vectors with a mean burst at the first resource.
func withBursts(jobs []loading.Vector, burst float64) []loading.Vector {
	all := make([]loading.Vector, len(jobs))
	for j, v := range jobs {
		all[j] = append(loading.Vector(nil), v...)
		all[j][0].Burst = burst
	}
	return all
}

func shared(t *testing.T, jobs []loading.Vector, servers ...int) *contention.Prediction {
	t.Helper()
	p, err := contention.PredictSharing(jobs, servers, contention.EqualShares(0, len(jobs)), queueing.Options{})
	if err != nil {
		t.Fatal(err)
	}
	return p
}

// Twenty threads on sixteen processors hardly ever share one, and yet wait for one that is not found idle, or not left at once.
func TestShortBurstsWaitForProcessorsThatAreDueToThem(t *testing.T) {
	t.Parallel()
	jobs := make([]loading.Vector, 20)
	for j := range jobs {
		jobs[j] = loading.Loadings(0.6)
	}
	const processors = 16
	fluid, long, short := shared(t, jobs, processors), shared(t, withBursts(jobs, 1), processors), shared(t, withBursts(jobs, 5e-4), processors)
	if d := fluid.Dilations[0]; d > 1.01 || long.Dilations[0] > d+0.001 || short.Dilations[0] < d+0.02 {
		t.Errorf("dilations %v without bursts, %v with those of 1 s, %v of 0.5 ms", d, long.Dilations[0], short.Dilations[0])
	}
	if delay := short.Delay(0, 0); math.Abs(delay-(short.Dilations[0]-1)) > 1e-9 {
		t.Errorf("delayed by %v at the processors, dilated %v times", delay, short.Dilations[0])
	}
}

func TestBurstsOfAJobAloneAreNoDilation(t *testing.T) {
	t.Parallel()
	v := loading.Loadings(0.7)
	v[0].Threads, v[0].Burst = 8, 5e-4
	if p := shared(t, []loading.Vector{v}, 8); p.Dilations[0] != 1 {
		t.Errorf("dilated %v times", p.Dilations[0])
	}
}

// The processor need not be the first resource, and a job need not use it.
func TestAJobThatNeverComputesIsNotWoken(t *testing.T) {
	t.Parallel()
	reader := loading.Loadings(0.5)
	reader[0].Threads = 2
	busy := loading.Vector{{}, {Loading: 0.5, Pressure: 0.5, Threads: 2, Burst: 1e-3}}
	sharing := contention.EqualShares(1, 2)
	p, err := contention.PredictSharing([]loading.Vector{reader, busy}, []int{1, 2}, sharing, queueing.Options{})
	if err != nil {
		t.Fatal(err)
	}
	for j, d := range p.Dilations {
		if math.Abs(d-1) > 1e-9 {
			t.Errorf("job %d, which meets no other: dilated %v times", j, d)
		}
	}
}

// On one processor nothing depends on bursts where weights are equal and there is no limit. Everywhere the parts of a dilation add up to it.
func TestBurstsAddToDilationsOnSeveralProcessors(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		servers := modeltest.DrawServers(t, 2, 8)
		jobs := modeltest.DrawVectors(t, 2, 2, 6)
		for _, v := range jobs {
			for i := range v {
				v[i].Pressure, v[i].Sensitivity = v[i].Loading, 0
			}
		}
		sharing := contention.EqualShares(0, len(jobs))
		fluid, err := contention.PredictSharing(jobs, servers, sharing, queueing.Options{})
		if err != nil {
			t.Fatal(err)
		}
		p, err := contention.PredictSharing(withBursts(jobs, 1e-3), servers, sharing, queueing.Options{})
		if err != nil {
			t.Fatal(err)
		}
		bounds, err := contention.BoundSharing(withBursts(jobs, 1e-3), servers, sharing)
		if err != nil {
			t.Fatal(err)
		}
		const rounding = 1e-9
		for j, dilation := range p.Dilations {
			parts := 1.0
			for i := range servers {
				parts += p.Delay(j, i)
			}
			if math.Abs(parts-dilation) > rounding*dilation {
				t.Fatalf("job %d of %v on %v: parts add up to %v, dilated %v times", j, jobs, servers, parts, dilation)
			}
			if dilation > 1+(bounds[j]-1)*(1+solutionError)+solutionError {
				t.Fatalf("job %d of %v on %v: dilated %v times, with a bound of %v", j, jobs, servers, dilation, bounds[j])
			}
			if servers[0] == 1 && math.Abs(dilation/fluid.Dilations[j]-1) > rounding {
				t.Fatalf("job %d of %v on one processor: dilated %v times, %v without bursts", j, jobs, dilation, fluid.Dilations[j])
			}
		}
	})
}
