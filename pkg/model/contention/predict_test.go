package contention_test

import (
	"errors"
	"fmt"
	"math"
	"slices"
	"testing"

	"pgregory.net/rapid"

	"loadline.dev/loadline/pkg/model/contention"
	"loadline.dev/loadline/pkg/model/loading"
	"loadline.dev/loadline/pkg/model/mix"
	"loadline.dev/loadline/pkg/model/price"
	"loadline.dev/loadline/pkg/model/queueing"
	"loadline.dev/loadline/test/modeltest"
	"loadline.dev/loadline/test/oracle"
)

var solvers = []queueing.Solver{queueing.Auto, queueing.FirstOrder, queueing.Schweitzer, queueing.Linearizer, queueing.Exact}

// Table 1 of the Epochs paper: J1 = (1, 2) and J2 = (3, 5) seconds.
func TestPredictReproducesTable1OfEpochs(t *testing.T) {
	jobs := []loading.Vector{loading.Loadings(1.0/3, 2.0/3), loading.Loadings(3.0/8, 5.0/8)}
	for solver, want := range map[queueing.Solver][2]float64{
		queueing.Schweitzer: {4.69165, 12.44226}, // 4.69 and 12.44 in print
		queueing.Exact:      {4.625, 12 + 1.0/3},
	} {
		got := modeltest.Predict(t, jobs, []int{1, 1}, queueing.Options{Solver: solver, Tolerance: 1e-9}).Dilations
		for j, neutral := range []float64{3, 8} {
			if math.Abs(got[j]*neutral-want[j]) > 5e-6 {
				t.Errorf("%v: J%d takes %.6f s, want %.5f", solver, j+1, got[j]*neutral, want[j])
			}
		}
	}
}

// The first-order rung is the model that the scheduler plugin prices with.
func TestFirstOrderIsTheLoadsDilationWithinTheBounds(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		const m = 3
		servers := modeltest.DrawServers(t, m, 8)
		jobs := modeltest.DrawVectors(t, m, 4, 12)
		prediction, err := contention.Predict(jobs, servers, queueing.Options{Solver: queueing.FirstOrder})
		if err != nil {
			t.Fatal(err)
		}
		load := price.NewLoad(servers)
		for _, v := range jobs {
			load.Add(v)
		}
		want, responses := make([]float64, len(jobs)), make([]float64, len(jobs))
		for j, v := range jobs {
			want[j] = load.Dilation(v)
			responses[j] = want[j] * oracle.Alone(servers, v)
		}
		bound, boundAlone := false, false
		for i, c := range servers {
			bound = bound || busy(jobs, responses, i) > float64(c)
			for _, v := range jobs {
				boundAlone = boundAlone || busy([]loading.Vector{v}, []float64{oracle.Alone(servers, v)}, i) > float64(c)
			}
		}
		for j := range jobs {
			got := prediction.Dilations[j]
			// Package queueing takes a presence of less than 1e-9 for none.
			within := 1e-7 * want[j]
			if !boundAlone && got < want[j]-within || !bound && !boundAlone && math.Abs(got-want[j]) > within {
				t.Fatalf("job %d: dilation %v, the load says %v (a resource is beyond its bound: %v)", j, got, want[j], bound)
			}
		}
	})
}

// busy returns the mean number of servers of a resource that the jobs keep busy: their loadings, as
// far as these are also pressures, over their responses in own times.
func busy(jobs []loading.Vector, responses []float64, resource int) float64 {
	sum := 0.0
	for j, v := range jobs {
		if resource < len(v) {
			sum += float64(max(1, v[resource].Threads)) * min(v[resource].Loading, v[resource].Pressure) / responses[j]
		}
	}
	return sum
}

func TestPredictionsKeepTheBoundsWithEverySolver(t *testing.T) {
	t.Parallel()
	for _, solver := range solvers {
		t.Run(solver.String(), func(t *testing.T) {
			t.Parallel()
			rapid.Check(t, func(t *rapid.T) {
				const m = 2
				servers := modeltest.DrawServers(t, m, 16)
				jobs := modeltest.DrawVectors(t, m, 4, 12)
				prediction, err := contention.Predict(jobs, servers, queueing.Options{Solver: solver})
				if errors.Is(err, queueing.ErrNotStandard) || errors.Is(err, queueing.ErrTooLarge) || errors.Is(err, queueing.ErrUnsettled) {
					t.Skip(err)
				}
				if err != nil {
					t.Fatal(err)
				}
				responses := make([]float64, len(jobs))
				for j, dilation := range prediction.Dilations {
					if !(dilation >= 1) || math.IsInf(dilation, 0) {
						t.Fatalf("job %d: dilation %v is below 1 or not finite", j, dilation)
					}
					alone, err := contention.Alone(jobs[j], servers, queueing.Options{Solver: solver})
					if err != nil {
						t.Fatal(err)
					}
					responses[j] = dilation * alone
				}
				for i, c := range servers {
					if got := busy(jobs, responses, i); got > float64(c)*(1+1e-8) {
						t.Fatalf("resource %d: %v of %d servers are busy", i, got, c)
					}
				}
			})
		})
	}
}

// blame returns the contribution of each job to the dilation of job j at all resources.
func blame(p *contention.Prediction, resources, j int) []float64 {
	sum := p.BlameAt(j, 0)
	for i := 1; i < resources; i++ {
		for k, b := range p.BlameAt(j, i) {
			sum[k] += b
		}
	}
	return sum
}

func TestBlameAddsUpToTheDilation(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		const m = 3
		servers := modeltest.DrawServers(t, m, 4)
		jobs := modeltest.DrawVectors(t, m, 3, 10)
		prediction, err := contention.Predict(jobs, servers, queueing.Options{})
		if err != nil {
			t.Fatal(err)
		}
		for j := range jobs {
			delay, blamed := 0.0, 0.0
			for i := range servers {
				delay += prediction.Delay(j, i)
			}
			for k, b := range blame(prediction, m, j) {
				if b < 0 {
					t.Fatalf("job %d speeds job %d up by %v", k, j, -b)
				}
				blamed += b
			}
			want := prediction.Dilations[j] - 1
			if math.Abs(delay-want) > 1e-9*(1+want) || math.Abs(blamed-want) > 1e-9*(1+want) {
				t.Fatalf("job %d: λ − 1 is %v, delays add up to %v and blame to %v", j, want, delay, blamed)
			}
		}
	})
}

// The third job has the node solved approximately, the first one alone is solved exactly.
// Its threads wait for each other only.
func TestAJobThatMeetsNoOtherIsNotDilated(t *testing.T) {
	servers := []int{1, 1, 1}
	for threads := 2; threads <= 4; threads++ {
		for _, p := range []float64{0.1, 0.3, 0.5, 0.7, 0.9} {
			jobs := []loading.Vector{
				{{Loading: p, Pressure: p, Threads: threads}, {Loading: 1 - p, Pressure: 1 - p, Threads: 2}},
				{{}, {}, {Loading: 0.5, Pressure: 0.5, Threads: 2}},
				{{}, {}, {Loading: 0.5, Pressure: 0.25, Threads: 2}},
			}
			prediction := modeltest.Predict(t, jobs, servers, queueing.Options{})
			if prediction.Solution.Solver == queueing.Exact || prediction.Dilations[0] != 1 || prediction.Dilations[1] <= 1 {
				t.Errorf("%d threads of %v: %v, dilations %v", threads, p, prediction.Solution.Solver, prediction.Dilations)
			}
			mixes, err := mix.NewMixes(mix.NodeClass{Servers: servers}, queueing.Options{})
			if err != nil {
				t.Fatal(err)
			}
			types := make([]*mix.JobType, len(jobs))
			together := mixes.Empty()
			for j, v := range jobs {
				types[j] = &mix.JobType{Vector: v}
				together = together.With(types[j])
			}
			if first, second := together.Dilation(types[0]), together.Dilation(types[1]); first != 1 || second <= 1 {
				t.Errorf("%d threads of %v: dilations %v and %v in a together", threads, p, first, second)
			}
		}
	}
}

func TestBlameFallsOnThoseWhoAreThere(t *testing.T) {
	jobs := []loading.Vector{loading.Loadings(0.58, 0.42), loading.Loadings(0, 1), loading.Loadings(0.3, 0.1)}
	prediction := modeltest.Predict(t, jobs, []int{1, 1}, queueing.Options{Solver: queueing.FirstOrder})
	if got := blame(prediction, 2, 2)[2]; got != 0 {
		t.Errorf("a job with one thread is to blame for %v of its own dilation", got)
	}
	if got := prediction.BlameAt(2, 0)[1]; got != 0 {
		t.Errorf("a job that leaves the CPU alone is to blame for %v there", got)
	}
	if got := prediction.BlameAt(2, 1); got[1] <= got[0] {
		t.Errorf("at the disk %v is blamed on the job that is always there, %v on the other", got[1], got[0])
	}
}

func TestNoJobIsToBlameForItsOwnDilation(t *testing.T) {
	v := loading.Vector{{Loading: 1, Pressure: 1, Threads: 32}}
	prediction := modeltest.Predict(t, []loading.Vector{v, v}, []int{16}, queueing.Options{})
	if blame := prediction.BlameAt(0, 0); !modeltest.Close(prediction.Dilations[0], 2) || blame[0] != 0 || !modeltest.Close(blame[1], 1) {
		t.Errorf("twice 32 busy threads on 16 cores: dilation %v, blamed on %v, want 2, and 1 on the other", prediction.Dilations[0], blame)
	}
}

func TestPressureThatEqualsTheLoadingIsTheStandardTheory(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		n := rapid.IntRange(1, 8).Draw(t, "n")
		jobs := make([]loading.Vector, n)
		network := &queueing.Network{Servers: modeltest.DrawServers(t, 2, 3)}
		for j := range jobs {
			a := rapid.Float64Range(0.01, 1).Draw(t, "a")
			b := (1 - a) * rapid.Float64Range(0, 1).Draw(t, "b")
			jobs[j] = loading.Loadings(a, b)
			network.Classes = append(network.Classes, queueing.Class{Demands: []float64{a, b}, Idle: max(0, 1-a-b)})
		}
		for _, solver := range []queueing.Solver{queueing.Schweitzer, queueing.Exact} {
			options := queueing.Options{Solver: solver, Tolerance: 1e-10}
			want, err := queueing.Solve(network, options)
			if err != nil {
				t.Fatal(err)
			}
			got, err := contention.Predict(jobs, network.Servers, options)
			if err != nil {
				t.Fatal(err)
			}
			for j := range jobs {
				if math.Abs(got.Dilations[j]-want.Dilations[j]) > 1e-8*want.Dilations[j] {
					t.Fatalf("%v, job %d: dilation %v, standard theory %v", solver, j, got.Dilations[j], want.Dilations[j])
				}
			}
		}
	})
}

// The fixed point of the definition, by hand: two jobs at one server; the pressure of the first is
// half of its sensitivity.
func TestAGentleJobSlowsItsNeighbourLess(t *testing.T) {
	jobs := []loading.Vector{{{Loading: 0.6, Pressure: 0.3}}, loading.Loadings(0.5)}
	got := modeltest.Predict(t, jobs, []int{1}, queueing.Options{Solver: queueing.Schweitzer, Tolerance: 1e-12})
	for j, other := range []int{1, 0} {
		q := jobs[other][0].Pressure * (1 + got.Wait(other, 0)) / got.Dilations[other]
		if want := 1 + jobs[j][0].Loading*q; math.Abs(got.Dilations[j]-want) > 1e-9 || math.Abs(got.Presence(other, 0)-q) > 1e-9 {
			t.Errorf("job %d: dilation %v, presence of the other %v, want %v and %v", j, got.Dilations[j], got.Presence(other, 0), want, q)
		}
	}
	even := modeltest.Predict(t, []loading.Vector{loading.Loadings(0.6), jobs[1]}, []int{1}, queueing.Options{Solver: queueing.Schweitzer})
	if got.Dilations[1] >= even.Dilations[1] {
		t.Errorf("the neighbour of a gentle job is dilated by %v, of an ordinary one by %v", got.Dilations[1], even.Dilations[1])
	}
}

// Beside a job that is always there, a job waits by its sensitivity, and makes the other
// wait by its pressure, whatever its loading.
func TestSensitivityAndPressureAreWhatAProbeTells(t *testing.T) {
	t.Parallel()
	job := loading.Vector{{Loading: 0.73, Pressure: 0.9, Sensitivity: 0.55}, {Loading: 0.24, Pressure: 0.24, Sensitivity: 0.2}}
	probe := loading.Loadings(1)
	for _, solver := range []queueing.Solver{queueing.Auto, queueing.FirstOrder, queueing.Linearizer} {
		got := modeltest.Predict(t, []loading.Vector{job, probe}, []int{1, 1}, queueing.Options{Solver: solver, Tolerance: 1e-10})
		for j, want := range []float64{1.55, 1.9} {
			if math.Abs(got.Dilations[j]-want) > 1e-6 {
				t.Errorf("%v, job %d: dilation %v, want %v", solver, j, got.Dilations[j], want)
			}
		}
	}
	// Four such jobs keep the resource busy all the time, which takes each its loading.
	crowd := modeltest.Predict(t, slices.Repeat([]loading.Vector{job}, 4), []int{1, 1}, queueing.Options{})
	if crowd.Dilations[0] < 4*0.73-1e-9 {
		t.Errorf("four jobs with a loading of 0.73 are dilated by %v, less than %v", crowd.Dilations[0], 4*0.73)
	}
}

func TestASensitivityThatEqualsTheLoadingSaysNothing(t *testing.T) {
	t.Parallel()
	rapid.Check(t, func(t *rapid.T) {
		servers := modeltest.DrawServers(t, 2, 3)
		silent := modeltest.DrawVectors(t, 2, 2, 5)
		said := make([]loading.Vector, len(silent))
		for j, v := range silent {
			said[j] = slices.Clone(v)
			for i := range v {
				silent[j][i].Sensitivity, said[j][i].Sensitivity = 0, v[i].Loading
			}
		}
		want, err := contention.Predict(silent, servers, queueing.Options{})
		if err != nil {
			t.Fatal(err)
		}
		got, err := contention.Predict(said, servers, queueing.Options{})
		if err != nil {
			t.Fatal(err)
		}
		if !slices.Equal(got.Dilations, want.Dilations) {
			t.Fatalf("dilations %v, without saying so %v", got.Dilations, want.Dilations)
		}
	})
}

func TestEqualJobsAreCopiesOfOneClass(t *testing.T) {
	padded := append(loading.Loadings(0.3), loading.Demand{}) // the same job
	jobs := slices.Repeat([]loading.Vector{loading.Loadings(0.3), padded, loading.Loadings(0.2, 0.3)}, 100)
	prediction := modeltest.Predict(t, jobs, []int{16, 1}, queueing.Options{Solver: queueing.Linearizer})
	if got := len(prediction.Solution.Dilations); got != 2 {
		t.Errorf("%d classes, want 2", got)
	}
	if prediction.Dilations[0] != prediction.Dilations[1] || prediction.Dilations[0] == prediction.Dilations[2] {
		t.Errorf("dilations %v, want the first two equal and the third not", prediction.Dilations[:3])
	}
}

func TestPredictRefusesBadInput(t *testing.T) {
	good := loading.Loadings(0.5)
	for name, test := range map[string]struct {
		jobs    []loading.Vector
		servers []int
		want    string
	}{
		"no servers":           {[]loading.Vector{good}, []int{0}, "resource 0: invalid number of servers: 0 is not between 1 and 16384"},
		"a loading beyond one": {[]loading.Vector{good, loading.Loadings(2)}, []int{1}, "job 1: resource 0: loading: 2 is not a fraction from 0 to 1"},
		"a NaN loading":        {[]loading.Vector{loading.Loadings(math.NaN())}, []int{1}, "job 0: resource 0: loading: NaN is not a fraction from 0 to 1"},
		"a NaN sensitivity":    {[]loading.Vector{{{Loading: 0.1, Sensitivity: math.NaN()}}}, []int{1}, "job 0: resource 0: sensitivity: NaN is not a fraction from 0 to 1"},
		"an infinite pressure": {[]loading.Vector{{{Pressure: math.Inf(1)}}}, []int{1}, "job 0: resource 0: pressure: +Inf is not a fraction from 0 to 1"},
		"a negative loading":   {[]loading.Vector{loading.Loadings(-0.1)}, []int{1}, "job 0: resource 0: loading: -0.1 is not a fraction from 0 to 1"},
		"a sum beyond one":     {[]loading.Vector{loading.Loadings(0.8, 0.3)}, []int{1, 1}, "job 0: loading: 1.1 in all is more than 1: loadings are fractions of the neutral time"},
		"an unknown resource":  {[]loading.Vector{loading.Loadings(0.1, 0.1)}, []int{1}, "job 0: 2 demands for 1 resources"},
	} {
		if _, err := contention.Predict(test.jobs, test.servers, queueing.Options{}); err == nil || err.Error() != test.want {
			t.Errorf("%s: got %v, want %q", name, err, test.want)
		}
	}
	if _, err := contention.Predict(nil, []int{1}, queueing.Options{Tolerance: -1}); err == nil || err.Error() != "tolerance: -1 is not a finite number of at least 0" {
		t.Errorf("a negative tolerance: got %v", err)
	}
	if _, err := contention.Predict([]loading.Vector{{{Loading: 0.5, Pressure: 0.1}}, good}, []int{1}, queueing.Options{Solver: queueing.Exact}); !errors.Is(err, queueing.ErrNotStandard) {
		t.Errorf("an exact prediction of an asymmetric job: got %v", err)
	}
}

func TestAnEmptyNodeIsPredicted(t *testing.T) {
	for _, jobs := range [][]loading.Vector{nil, {}, {nil}, {loading.Loadings()}} {
		prediction := modeltest.Predict(t, jobs, []int{1}, queueing.Options{})
		if len(prediction.Dilations) != len(jobs) {
			t.Errorf("%d dilations for %d jobs", len(prediction.Dilations), len(jobs))
		}
		for _, dilation := range prediction.Dilations {
			if dilation != 1 {
				t.Errorf("a job that asks for nothing is dilated by %v", dilation)
			}
		}
	}
}

func ExamplePredict() {
	jobs := []loading.Vector{
		loading.Loadings(0.58, 0.42), // filecomp
		loading.Loadings(0.10, 0.90), // backup
		loading.Loadings(0.80, 0.05), // encoder
	}
	prediction, err := contention.Predict(jobs, []int{1, 1}, queueing.Options{})
	if err != nil {
		fmt.Println(err)
		return
	}
	fmt.Printf("filecomp is %.2f times slower (%v)\n", prediction.Dilations[0], prediction.Solution.Solver)
	for i, resource := range []string{"cpu", "disk"} {
		blame := prediction.BlameAt(0, i)
		fmt.Printf("%s %.2f: backup %.2f, encoder %.2f\n", resource, prediction.Delay(0, i), blame[1], blame[2])
	}
	// Output:
	// filecomp is 1.93 times slower (exact)
	// cpu 0.55: backup 0.10, encoder 0.45
	// disk 0.39: backup 0.35, encoder 0.03
}

// A pressure measured next to the loading has the node solved by another solver, which
// must not matter: c uses no disk, where a and b wait for each other.
func TestAMeasuredPressureHardlyChangesAPrediction(t *testing.T) {
	t.Parallel()
	a, c := loading.Loadings(0.28, 0.72), loading.Loadings(1)
	measured := slices.Clone(a)
	measured[1].Pressure = 0.719
	exact := modeltest.Predict(t, []loading.Vector{a, a, c}, []int{1, 1}, queueing.Options{})
	got := modeltest.Predict(t, []loading.Vector{measured, a, c}, []int{1, 1}, queueing.Options{})
	if exact.Solution.Solver != queueing.Exact || got.Solution.Solver != queueing.Linearizer {
		t.Fatalf("solved by %v and %v", exact.Solution.Solver, got.Solution.Solver)
	}
	for j, want := range exact.Dilations {
		if math.Abs(got.Dilations[j]/want-1) > 0.005 {
			t.Errorf("job %d: dilation %.4f, with the pressure as the loading %.4f", j, got.Dilations[j], want)
		}
	}
}

// A job finds the queue of the network without it, and so on down to a job alone: the recursion
// over all subsets, which the Linearizer approximates.
func TestSensitivityHoldsInTheNetworksThatLackAJob(t *testing.T) {
	t.Parallel()
	jobs := []loading.Vector{
		{{Loading: 0.4, Pressure: 0.8, Sensitivity: 0.3}}, {{Loading: 0.3, Pressure: 0.7, Sensitivity: 0.2}}, {{Loading: 0.1, Pressure: 0.1, Sensitivity: 0.1}},
	}
	var find func(there []int) (dilations, presences map[int]float64)
	find = func(there []int) (dilations, presences map[int]float64) {
		dilations, presences = map[int]float64{}, map[int]float64{}
		for at, j := range there {
			d, found := jobs[j][0], 0.0
			_, others := find(slices.Delete(slices.Clone(there), at, at+1))
			for _, presence := range others {
				found += presence
			}
			waits := d.Sensitivity * found
			dilations[j] = 1 + waits
			presences[j] = (d.Pressure + waits) / dilations[j]
		}
		return dilations, presences
	}
	want, _ := find([]int{0, 1, 2})
	got := modeltest.Predict(t, jobs, []int{1}, queueing.Options{Solver: queueing.Linearizer})
	for j := range jobs {
		if math.Abs(got.Dilations[j]/want[j]-1) > 1e-4 {
			t.Errorf("job %d: dilation %v, by the recursion %v", j, got.Dilations[j], want[j])
		}
	}
}
