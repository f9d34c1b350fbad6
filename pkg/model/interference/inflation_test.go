package interference_test

import (
	"math"
	"math/bits"
	"math/rand/v2"
	"testing"

	"gonum.org/v1/gonum/mat"
	"pgregory.net/rapid"

	"loadline.dev/loadline/pkg/model/contention"
	"loadline.dev/loadline/pkg/model/loading"
	"loadline.dev/loadline/pkg/model/mix"
	"loadline.dev/loadline/pkg/model/queueing"
	"loadline.dev/loadline/test/modeltest"
)

// interfering is a job that computes for a while and is then elsewhere, again and again, both for exponential times. It
// presses on others at one interference resource, and they on it.
type interfering struct {
	loading, pressure float64
	curve             loading.Curve
}

func (j interfering) vector() loading.Vector {
	return loading.Vector{loading.Symmetric(j.loading), {Effect: &loading.Effect{Pressure: j.pressure, Curve: j.curve}}}
}

// chain returns the dilations of jobs on a number of cores, from the Markov chain of the set of jobs at the processor. Those at
// the processor share it equally, a random set of them running at any instant, and each job that runs is slowed down by the others
// that run.
func chain(jobs []interfering, cores int) []float64 {
	n := len(jobs)
	states := 1 << n
	leaving := func(set uint, j int) float64 { // the rate at which j completes a burst of mean 1·loading
		there := bits.OnesCount(set)
		running, sum, sets := min(there, cores), 0.0, 0
		for run := set; ; run = (run - 1) & set { // subsets
			if run>>j&1 == 1 && bits.OnesCount(run) == running {
				pressure := 0.0
				for k := range jobs {
					if k != j && run>>k&1 == 1 {
						pressure += jobs[k].pressure
					}
				}
				sum += 1 / jobs[j].curve.At(pressure)
				sets++
			}
			if run == 0 {
				break
			}
		}
		return sum / float64(sets) * float64(running) / float64(there) / jobs[j].loading
	}
	balance := mat.NewDense(states, states, nil)
	for set := range uint(states) {
		for j := range jobs {
			var rate float64
			switch there := set>>j&1 == 1; {
			case there:
				rate = leaving(set, j)
			case jobs[j].loading < 1:
				rate = 1 / (1 - jobs[j].loading)
			default:
				rate = 1e7 // is elsewhere for no time
			}
			to := int(set ^ 1<<j)
			balance.Set(to, int(set), balance.At(to, int(set))+rate)
			balance.Set(int(set), int(set), balance.At(int(set), int(set))-rate)
		}
	}
	right := mat.NewVecDense(states, nil)
	for set := range states {
		balance.Set(0, set, 1)
	}
	right.SetVec(0, 1)
	var p mat.VecDense
	if err := p.SolveVec(balance, right); err != nil && !isCondition(err) {
		panic(err)
	}
	dilations := make([]float64, n)
	for j := range jobs {
		completions := 0.0
		for set := range uint(states) {
			if set>>j&1 == 1 {
				completions += p.AtVec(int(set)) * leaving(set, j)
			}
		}
		dilations[j] = 1 / completions // a cycle takes 1 alone
	}
	return dilations
}

func isCondition(err error) bool {
	_, is := err.(mat.Condition) //nolint:errorlint // gonum returns it unwrapped
	return is
}

func randomCurve(r *rand.Rand) loading.Curve {
	var c loading.Curve
	pressure, inflation := 0.0, 1.0
	for range 1 + r.IntN(4) {
		pressure += 0.1 + r.Float64()
		inflation += r.Float64() * r.Float64()
		c = append(c, loading.Point{Pressure: pressure, Inflation: inflation})
	}
	return c
}

// Interference of several jobs agrees with the Markov chain except for the effect of averaging: 0.3 % on average over these
// worlds, and up to 12 % where curves have steps.
func TestInterferenceIsThatOfTheMarkovChain(t *testing.T) {
	t.Parallel()
	r := rand.New(rand.NewPCG(21, 1))
	sum, worst, without, n := 0.0, 0.0, 0.0, 0
	for range 400 {
		cores := 1 + r.IntN(4)
		jobs := make([]interfering, 1+r.IntN(5))
		vectors, plain := make([]loading.Vector, len(jobs)), make([]loading.Vector, len(jobs))
		for j := range jobs {
			jobs[j] = interfering{loading: 0.05 + 0.95*r.Float64(), pressure: r.Float64(), curve: randomCurve(r)}
			if r.IntN(4) == 0 {
				jobs[j].loading = 1
			}
			if r.IntN(5) == 0 {
				jobs[j].curve = nil
			}
			vectors[j] = jobs[j].vector()
			plain[j] = vectors[j][:1]
		}
		exact := chain(jobs, cores)
		p, queues := modeltest.Predict(t, vectors, []int{cores, 1}, queueing.Options{}), modeltest.Predict(t, plain, []int{cores}, queueing.Options{})
		for j, want := range exact {
			off := math.Abs(p.Dilations[j]-want) / want
			sum, worst, n = sum+off, max(worst, off), n+1
			without += math.Abs(queues.Dilations[j]-want) / want
		}
	}
	t.Logf("%d dilations: off by %.2f %% on average, %.1f %% at worst; without interference by %.1f %%", n, 100*sum/float64(n), 100*worst, 100*without/float64(n))
	if mean := sum / float64(n); mean > 0.004 || worst > 0.15 {
		t.Errorf("off by %.4f on average, %.4f at worst", mean, worst)
	}
}

// steep is a curve that doubles service beside one standard job.
var steep = loading.Curve{{Pressure: 0.5, Inflation: 1.2}, {Pressure: 1, Inflation: 2}}

func TestAJobBesideAStandardJobIsSlowedDownByItsCurve(t *testing.T) {
	t.Parallel()
	victim, bubble := interfering{1, 0, steep}.vector(), interfering{1, 0.75, nil}.vector()
	p := modeltest.Predict(t, []loading.Vector{victim, bubble}, []int{2, 1}, queueing.Options{})
	if want := 1.6; math.Abs(p.Dilations[0]-want) > 1e-12 || p.Dilations[1] != 1 {
		t.Errorf("dilations are %v, want %v and 1", p.Dilations, want)
	}
	if blame := p.BlameAt(0, 1); math.Abs(blame[1]-0.6) > 1e-12 || blame[0] != 0 {
		t.Errorf("the blame at the cache is %v, want 0.6 for the other job", blame)
	}
}

func TestJobsThatTakeTurnsOnOneCoreDoNotInterfere(t *testing.T) {
	t.Parallel()
	jobs := []loading.Vector{interfering{1, 1, steep}.vector(), interfering{1, 1, steep}.vector()}
	p := modeltest.Predict(t, jobs, []int{1, 1}, queueing.Options{})
	if p.Dilations[0] != 2 || p.Delay(0, 1) != 0 {
		t.Errorf("the dilation is %v, of which %v at the cache; want 2 and 0", p.Dilations[0], p.Delay(0, 1))
	}
}

func TestJobsInOtherDomainsDoNotInterfere(t *testing.T) {
	t.Parallel()
	jobs := []loading.Vector{interfering{1, 1, steep}.vector(), interfering{1, 1, steep}.vector()}
	for _, test := range []struct {
		cores, domains int
		want           float64
	}{{4, 1, 2}, {4, 2, 1}, {4, 4, 1}, {2, 5, 1}} {
		p := modeltest.Predict(t, jobs, []int{test.cores, test.domains}, queueing.Options{})
		if got := p.Dilations[0]; math.Abs(got-test.want) > 1e-9 {
			t.Errorf("%d cores, %d domains: %v, want %v", test.cores, test.domains, got, test.want)
		}
	}
}

// Three threads on three cores slow each other down alone, too: that is part of the neutral time.
func TestWhatAJobsOwnThreadsDoToEachOtherIsNoDilation(t *testing.T) {
	t.Parallel()
	job := interfering{0.8, 0.4, steep}.vector()
	job[0].Threads = 3
	alone := modeltest.Predict(t, []loading.Vector{job}, []int{3, 1}, queueing.Options{})
	if alone.Dilations[0] != 1 || alone.Delay(0, 1) != 0 {
		t.Errorf("alone it is dilated by %v", alone.Dilations[0])
	}
	beside := modeltest.Predict(t, []loading.Vector{job, interfering{0.5, 1, nil}.vector()}, []int{4, 1}, queueing.Options{})
	single := modeltest.Predict(t, []loading.Vector{job[:1], loading.Loadings(0.5)}, []int{4}, queueing.Options{})
	if got := beside.Dilations[0]; got < 1.05 || single.Dilations[0] != 1 {
		t.Errorf("beside another it is dilated by %v, without interference by %v", got, single.Dilations[0])
	}
}

// A pod with a core of its own waits for no other pod, and shares the cache all the same.
func TestJobsWithCoresOfTheirOwnShareCaches(t *testing.T) {
	t.Parallel()
	apart := loading.Vector{{}, {Effect: &loading.Effect{Pressure: 1, Curve: steep, Exclusive: 1}}}
	jobs := []loading.Vector{apart, interfering{1, 0.5, steep}.vector(), interfering{1, 0.5, steep}.vector()}
	p := modeltest.Predict(t, jobs, []int{1, 1}, queueing.Options{})
	// The two share a core and slow the first down by 1.2, and it slows them down to half, on top of sharing.
	for j, want := range []float64{1.2, 4, 4} {
		if math.Abs(p.Dilations[j]-want) > 1e-9 {
			t.Errorf("job %d is dilated by %v, want %v", j, p.Dilations[j], want)
		}
	}
}

func effects(t *rapid.T, resources int) loading.Vector {
	v := loading.Loadings(rapid.Float64Range(0, 0.7).Draw(t, "cpu"), rapid.Float64Range(0, 0.3).Draw(t, "disk"))
	v[0].Threads = rapid.IntRange(1, 3).Draw(t, "threads")
	for range resources {
		var e *loading.Effect
		if rapid.Bool().Draw(t, "effect") {
			e = &loading.Effect{Pressure: rapid.SampledFrom([]float64{0, 0.1, 0.5, 1, 3}).Draw(t, "pressure")}
			if rapid.Bool().Draw(t, "sensitive") {
				e.Curve = loading.Curve{{Pressure: rapid.Float64Range(0.1, 2).Draw(t, "at"), Inflation: rapid.Float64Range(1, 5).Draw(t, "by")}}
			}
		}
		v = append(v, loading.Demand{Effect: e})
	}
	return v
}

// Whatever jobs there are: dilations are finite and at least 1, delays and blames add up to them, with shares and
// without, and a replay, which meets a mix job by job, says the same.
func TestInterferenceIsAddedUpAndReplayed(t *testing.T) {
	t.Parallel()
	rapid.Check(t, func(t *rapid.T) {
		servers := []int{rapid.IntRange(1, 6).Draw(t, "cores"), 1, rapid.IntRange(1, 3).Draw(t, "caches"), 1}
		jobs := make([]loading.Vector, rapid.IntRange(1, 6).Draw(t, "jobs"))
		sharing := contention.Sharing{Shares: make([]loading.Share, len(jobs))}
		for j := range jobs {
			jobs[j] = effects(t, 2)
			sharing.Shares[j] = loading.Share{Weight: rapid.Float64Range(1, 20).Draw(t, "weight")}
			if rapid.Bool().Draw(t, "limited") {
				sharing.Shares[j].Limit = rapid.Float64Range(0.2, 2).Draw(t, "limit")
			}
		}
		equal, err := contention.Predict(jobs, servers, queueing.Options{})
		if err != nil {
			t.Fatal(err)
		}
		shared, err := contention.PredictSharing(jobs, servers, sharing, queueing.Options{})
		if err != nil {
			t.Fatal(err)
		}
		for _, p := range []*contention.Prediction{equal, shared} {
			for j, dilation := range p.Dilations {
				sum := 1.0
				for i := range servers {
					delay := p.Delay(j, i)
					blame := 0.0
					for _, b := range p.BlameAt(j, i) {
						blame += b
					}
					if !(delay >= 0) || math.Abs(blame-delay) > 1e-9*dilation {
						t.Fatalf("job %d, resource %d: a delay of %v, of which %v is blamed", j, i, delay, blame)
					}
					sum += delay
				}
				if !(dilation >= 1) || math.IsInf(dilation, 1) || math.Abs(sum-dilation) > 1e-9*dilation {
					t.Fatalf("job %d is dilated by %v, its delays add up to %v", j, dilation, sum)
				}
			}
		}
		mixes, err := mix.NewMixes(mix.NodeClass{Servers: servers, Processor: -1}, queueing.Options{})
		if err != nil {
			t.Fatal(err)
		}
		types, together := make([]*mix.JobType, len(jobs)), mixes.Empty()
		for j, v := range jobs {
			types[j] = &mix.JobType{Vector: v}
			together = together.With(types[j])
		}
		// In the order of the mix: where an approximation barely settles, another order may settle elsewhere. So may equal jobs if
		// one has an effect that changes nothing: they are two classes in a mix.
		var ordered []loading.Vector
		for _, part := range together.Parts() {
			ordered = append(ordered, part.Type.Vector)
		}
		inOrder := modeltest.Predict(t, ordered, servers, queueing.Options{})
		for k, part := range together.Parts() {
			if got, want := together.Dilation(part.Type), inOrder.Dilations[k]; math.Abs(got-want) > 1e-3*want {
				t.Fatalf("job %d is dilated by %v in a replay, by %v in a prediction", k, got, want)
			}
		}
		if mixes.Err() != nil {
			t.Fatal(mixes.Err())
		}
	})
}

// The number of periods that a throttled job needs grows by the factor by which its service is slower, in predictions and in
// replays.
func TestAThrottledJobIsSlowedDownByItsWholeCurve(t *testing.T) {
	t.Parallel()
	victim, bubble := interfering{1, 0, steep}.vector(), interfering{1, 1, nil}.vector()
	servers := []int{2, 1}
	sharing := contention.Sharing{Shares: []loading.Share{{Limit: 0.5}, {}}}
	p, err := contention.PredictSharing([]loading.Vector{victim, bubble}, servers, sharing, queueing.Options{})
	if err != nil {
		t.Fatal(err)
	}
	mixes, err := mix.NewMixes(mix.NodeClass{Servers: servers}, queueing.Options{})
	if err != nil {
		t.Fatal(err)
	}
	limited, free := &mix.JobType{Vector: victim, Limit: 0.5}, &mix.JobType{Vector: bubble}
	replayed := mixes.Empty().With(limited).With(free).Dilation(limited)
	if want := 2.0; math.Abs(p.Dilations[0]-want) > 1e-4 || math.Abs(replayed-want) > 1e-4 {
		t.Errorf("predicted %v, replayed %v, want %v", p.Dilations[0], replayed, want)
	}
	if got := p.Throttling(0); math.Abs(got-2) > 1e-4 {
		t.Errorf("the limit lengthens the time alone by %v, want 2", got)
	}
}

func TestInvalidEffectsAreRefused(t *testing.T) {
	t.Parallel()
	effect := func(e loading.Effect) loading.Vector { return loading.Vector{{}, {Effect: &e}} }
	curve := func(points ...loading.Point) loading.Vector { return effect(loading.Effect{Curve: points}) }
	for name, test := range map[string]struct {
		vector loading.Vector
		want   string
	}{
		"of the processor":     {loading.Vector{{Effect: &loading.Effect{}}}, "resource 0: effect.of: 0 is not the index of a resource with a queue"},
		"with a loading":       {loading.Vector{{}, {Loading: 0.1, Effect: &loading.Effect{}}}, "resource 1: loading: 0.1 is at a resource that is shared without a queue"},
		"with a pressure":      {loading.Vector{{}, {Pressure: 0.1, Effect: &loading.Effect{}}}, "resource 1: pressure: 0.1 is at a resource that is shared without a queue: it belongs to the effect"},
		"negative pressure":    {effect(loading.Effect{Pressure: -1}), "resource 1: effect.pressure: -1 is not between 0 and 1000"},
		"no pressure":          {effect(loading.Effect{Pressure: math.NaN()}), "resource 1: effect.pressure: NaN is not between 0 and 1000"},
		"more than all time":   {effect(loading.Effect{Exclusive: 1.5}), "resource 1: effect.exclusive: 1.5 is not a fraction from 0 to 1"},
		"a point at 0":         {curve(loading.Point{Pressure: 0, Inflation: 1}), "resource 1: effect.curve[0].pressure: 0 is not above 0, that of the point before, and at most 1000"},
		"points out of order":  {curve(loading.Point{Pressure: 1, Inflation: 1}, loading.Point{Pressure: 1, Inflation: 2}), "resource 1: effect.curve[1].pressure: 1 is not above 1, that of the point before, and at most 1000"},
		"a falling curve":      {curve(loading.Point{Pressure: 1, Inflation: 2}, loading.Point{Pressure: 2, Inflation: 1.5}), "resource 1: effect.curve[1].inflation: 1.5 is not at least 2, that of the point before, and at most 1000"},
		"a speed-up":           {curve(loading.Point{Pressure: 1, Inflation: 0.5}), "resource 1: effect.curve[0].inflation: 0.5 is not at least 1, that of the point before, and at most 1000"},
		"an infinite slowdown": {curve(loading.Point{Pressure: 1, Inflation: math.Inf(1)}), "resource 1: effect.curve[0].inflation: +Inf is not at least 1, that of the point before, and at most 1000"},
	} {
		if err := test.vector.Validate(); err == nil || err.Error() != test.want {
			t.Errorf("%s: got %v, want %s", name, err, test.want)
		}
	}
}

func TestACurveIsLinearBetweenItsPointsAndConstantBeyond(t *testing.T) {
	t.Parallel()
	for pressure, want := range map[float64]float64{0: 1, 0.25: 1.1, 0.5: 1.2, 0.75: 1.6, 1: 2, 7: 2} {
		if got := steep.At(pressure); math.Abs(got-want) > 1e-12 {
			t.Errorf("beside %v it is %v, want %v", pressure, got, want)
		}
	}
	if got := loading.Curve(nil).At(1); got != 1 {
		t.Errorf("no curve is %v, want 1", got)
	}
}
