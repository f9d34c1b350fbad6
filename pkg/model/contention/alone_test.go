package contention_test

import (
	"errors"
	"math"
	"slices"
	"testing"

	"pgregory.net/rapid"

	"loadline.dev/loadline/pkg/model/contention"
	"loadline.dev/loadline/pkg/model/loading"
	"loadline.dev/loadline/pkg/model/mix"
	"loadline.dev/loadline/pkg/model/queueing"
	"loadline.dev/loadline/test/modeltest"
)

// unsolvable reports whether a solver cannot take a network, which is no failure.
func unsolvable(err error) bool {
	return errors.Is(err, queueing.ErrNotStandard) || errors.Is(err, queueing.ErrTooLarge) || errors.Is(err, queueing.ErrUnsettled)
}

func TestAloneEveryJobHasADilationOf1(t *testing.T) {
	t.Parallel()
	for _, solver := range solvers {
		t.Run(solver.String(), func(t *testing.T) {
			t.Parallel()
			rapid.Check(t, func(t *rapid.T) {
				const m = 2
				servers, v := modeltest.DrawServers(t, m, 8), modeltest.DrawVector(t, m, 24)
				options := queueing.Options{Solver: solver}
				prediction, err := contention.Predict([]loading.Vector{v}, servers, options)
				if unsolvable(err) {
					t.Skip(err)
				}
				if err != nil {
					t.Fatal(err)
				}
				if got := prediction.Dilations[0]; got != 1 {
					t.Fatalf("dilation %v alone", got)
				}
				for i := range servers {
					if got := prediction.Delay(0, i); got != 0 {
						t.Fatalf("delay %v at resource %d alone", got, i)
					}
				}
				ends, err := mix.CompletionsBy([]mix.Run{{Start: 5, Neutral: 7, Vector: v}}, servers, options)
				if err != nil {
					t.Fatal(err)
				}
				if math.Abs(ends[0]-12) > 1e-12 {
					t.Fatalf("done at %v, want its neutral time after its start, 12", ends[0])
				}
			})
		})
	}
}

func TestInAReplayAJobAloneHasADilationOf1AndTakesItsNeutralTimeThere(t *testing.T) {
	t.Parallel()
	rapid.Check(t, func(t *rapid.T) {
		const m = 2
		servers, v := modeltest.DrawServers(t, m, 4), modeltest.DrawVector(t, m, 8)
		mixes, err := mix.NewMixes(mix.NodeClass{Servers: servers}, queueing.Options{})
		if err != nil {
			t.Fatal(err)
		}
		job := &mix.JobType{Name: "job", Vector: v}
		running := mix.NewRunning(mixes)
		running.Start(job, 3, 0)
		alone, err := contention.Alone(v, servers, queueing.Options{})
		if err != nil || mixes.Err() != nil {
			t.Fatal(err, mixes.Err())
		}
		if got := running.Mix().Dilation(job); got != 1 {
			t.Fatalf("dilation %v alone", got)
		}
		if got := running.Next(); math.Abs(got-3*alone) > 1e-12*got {
			t.Fatalf("it takes %v, want 3 own times of %v", got, alone)
		}
		for i, c := range servers {
			if got := running.Mix().Utilization(i); v[i].Pressure >= v[i].Loading && v[i].Sensitivity == 0 && got > 1+1e-9 {
				t.Fatalf("resource %d with %d servers is %v busy", i, c, got)
			}
		}
	})
}

// With one number for loading and pressure, a job with threads is equivalent to that number of jobs
// in the same network. Their exact responses, which take another path through the solver, give its
// dilation.
func TestAJobWithThreadsIsThatManyJobsOverThoseOfTheJobAlone(t *testing.T) {
	t.Parallel()
	rapid.Check(t, func(t *rapid.T) {
		const m = 2
		servers := modeltest.DrawServers(t, m, 3)
		exact := queueing.Options{Solver: queueing.Exact}
		jobs := make([]loading.Vector, rapid.IntRange(2, 3).Draw(t, "jobs"))
		var single []loading.Vector
		first := make([]int, len(jobs))
		for j := range jobs {
			a := rapid.Float64Range(0.01, 1).Draw(t, "a")
			jobs[j] = loading.Loadings(a, (1-a)*rapid.Float64Range(0, 1).Draw(t, "b"))
			threads := rapid.IntRange(1, 3).Draw(t, "threads")
			first[j] = len(single)
			single = append(single, slices.Repeat([]loading.Vector{jobs[j]}, threads)...)
			jobs[j] = slices.Clone(jobs[j])
			for i := range jobs[j] {
				jobs[j][i].Threads = threads
			}
		}
		got, err := contention.Predict(jobs, servers, exact)
		if err != nil {
			t.Fatal(err)
		}
		together, err := queueing.Solve(network(single, servers), exact)
		if err != nil {
			t.Fatal(err)
		}
		for j := range jobs {
			alone, err := queueing.Solve(network(single[first[j]:][:jobs[j][0].Threads], servers), exact)
			if err != nil {
				t.Fatal(err)
			}
			if want := together.Dilations[first[j]] / alone.Dilations[0]; math.Abs(got.Dilations[j]-want) > 1e-9*want {
				t.Fatalf("job %d: dilation %v, its threads as jobs say %v", j, got.Dilations[j], want)
			}
		}
	})
}

// network is the closed network of jobs with one thread, each a class of its own.
func network(jobs []loading.Vector, servers []int) *queueing.Network {
	n := &queueing.Network{Servers: servers}
	for _, v := range jobs {
		class := queueing.Class{Idle: 1}
		for _, d := range v {
			class.Demands = append(class.Demands, d.Loading)
			class.Idle -= d.Loading
		}
		class.Idle = max(0, class.Idle)
		n.Classes = append(n.Classes, class)
	}
	return n
}

// Two threads that compute half of their time, on one core, are the machine repair model, and so
// are the four threads of two such pods.
func TestTwoPodsOfTwoThreadsEachByHand(t *testing.T) {
	t.Parallel()
	v := loading.Vector{{Loading: 0.5, Pressure: 0.5, Threads: 2}}
	// Each of n threads is idle for ½ and served for ½ on average. The weight of k at the
	// core is n!/(n − k)!, and a cycle takes ½·n/utilization.
	cycle := func(n int) float64 {
		sum, weight := 1.0, 1.0
		for k := range n {
			weight *= float64(n - k)
			sum += weight
		}
		return 0.5 * float64(n) / (1 - 1/sum)
	}
	prediction := modeltest.Predict(t, []loading.Vector{v, v}, []int{1}, queueing.Options{})
	if want := cycle(4) / cycle(2); !modeltest.Close(prediction.Dilations[0], want) {
		t.Errorf("dilation %v, want %v", prediction.Dilations[0], want)
	}
	if alone, err := contention.Alone(v, []int{1}, queueing.Options{}); err != nil || !modeltest.Close(alone, cycle(2)) {
		t.Errorf("alone it takes %v own times (%v), want %v", alone, err, cycle(2))
	}
}

func TestAloneNamesWhatIsInvalid(t *testing.T) {
	t.Parallel()
	for want, test := range map[string]struct {
		v       loading.Vector
		servers []int
	}{
		"resource 0: invalid number of servers: 0 is not between 1 and 16384": {loading.Loadings(1), []int{0}},
		"resource 0: loading: NaN is not a fraction from 0 to 1":              {loading.Loadings(math.NaN()), []int{1}},
		"2 demands for 1 resources":                                           {loading.Loadings(0.5, 0.5), []int{1}},
	} {
		if _, err := contention.Alone(test.v, test.servers, queueing.Options{}); err == nil || err.Error() != want {
			t.Errorf("the error is %v, want %q", err, want)
		}
	}
}
