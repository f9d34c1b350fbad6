package mix_test

import (
	"math"
	"testing"

	"loadline.dev/loadline/pkg/model/contention"
	"loadline.dev/loadline/pkg/model/loading"
	"loadline.dev/loadline/pkg/model/mix"
	"loadline.dev/loadline/pkg/model/queueing"
	"loadline.dev/loadline/test/modeltest"
)

// typesOn returns mixes on nodes whose first resource is the processor.
func typesOn(t *testing.T, servers ...int) *mix.Mixes {
	t.Helper()
	mixes, err := mix.NewMixes(mix.NodeClass{Servers: servers}, queueing.Options{})
	if err != nil {
		t.Fatal(err)
	}
	return mixes
}

func TestALimitIsPartOfTheNeutralTime(t *testing.T) {
	t.Parallel()
	for name, test := range map[string]struct {
		servers int
		job     mix.JobType
		want    float64
	}{
		"needs more than its limit":                {1, mix.JobType{Vector: loading.Loadings(0.6), Limit: 0.3}, 2},
		"needs no more":                            {1, mix.JobType{Vector: loading.Loadings(0.3), Limit: 0.3}, 1},
		"threads need more together":               {4, mix.JobType{Vector: loading.Vector{{Loading: 0.5, Pressure: 0.5, Threads: 4}}, Limit: 1}, 2},
		"threads that wait for each other anyhow":  {1, mix.JobType{Vector: loading.Vector{{Loading: 1, Pressure: 1, Threads: 2}}, Limit: 1}, 2},
		"and are held back besides":                {1, mix.JobType{Vector: loading.Vector{{Loading: 1, Pressure: 1, Threads: 2}}, Limit: 0.5}, 4},
		"a limit at what is not the processor":     {1, mix.JobType{Vector: loading.Loadings(0, 0.6), Limit: 0.3}, 1},
		"a limit that is next to nothing":          {1, mix.JobType{Vector: loading.Loadings(1), Limit: 1e-9}, 1e9},
		"a limit that is less than any":            {1, mix.JobType{Vector: loading.Loadings(1), Limit: math.SmallestNonzeroFloat64}, 1e9},
		"a limit that is more than the node has":   {1, mix.JobType{Vector: loading.Loadings(1), Limit: 1e9}, 1},
		"a job that does nothing":                  {1, mix.JobType{Limit: 0.1}, 1},
		"a resource that all jobs leave untouched": {1, mix.JobType{Vector: loading.Loadings(0, 0), Limit: 0.1}, 1},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			mixes := typesOn(t, test.servers, 1)
			if got := mixes.Stretch(&test.job); math.Abs(got/test.want-1) > 1e-9 || mixes.Err() != nil {
				t.Errorf("stretched by %v, want %v (%v)", got, test.want, mixes.Err())
			}
			if got := mixes.Empty().With(&test.job).Dilation(&test.job); got != 1 {
				t.Errorf("alone it is dilated by %v", got)
			}
		})
	}
}

// A CPU-bound job with a limit of 0.25 of the processor is there for a quarter of its time, and for longer where it waits,
// since it is then throttled for less. So the other job waits longer than beside a job that computes for a quarter of its
// time, and less than beside one without a limit.
func TestAJobThatIsHeldBackIsInTheWayForLess(t *testing.T) {
	t.Parallel()
	held, free := &mix.JobType{Vector: loading.Loadings(1), Limit: 0.25}, &mix.JobType{Vector: loading.Loadings(0.5)}
	as, always := &mix.JobType{Vector: loading.Loadings(0.25)}, &mix.JobType{Vector: loading.Loadings(1)}
	mixes := typesOn(t, 1)
	limited, measured, unlimited := mixes.Empty().With(held).With(free), mixes.Empty().With(as).With(free), mixes.Empty().With(always).With(free)
	p, err := contention.PredictSharing([]loading.Vector{held.Vector, free.Vector}, []int{1}, contention.Sharing{Shares: []loading.Share{{Limit: 0.25}, {}}}, queueing.Options{})
	if err != nil {
		t.Fatal(err)
	}
	got := limited.Dilation(free)
	if math.Abs(got/p.Dilations[1]-1) > 1e-3 || limited.Dilation(held) != 1 {
		t.Errorf("dilated by %v, want %v, and %v, want 1", got, p.Dilations[1], limited.Dilation(held))
	}
	if least, most := measured.Dilation(free), unlimited.Dilation(free); !(got > least && got < most) {
		t.Errorf("dilated by %v, not between %v and %v", got, least, most)
	}
	if got, want := limited.Price(free), measured.Price(free); !modeltest.Close(got, want) {
		t.Errorf("price %v, want %v", got, want)
	}
	if err := mixes.Err(); err != nil {
		t.Error(err)
	}
}

func TestEqualVectorsWithOtherLimitsAreOtherJobs(t *testing.T) {
	t.Parallel()
	half, most := &mix.JobType{Vector: loading.Loadings(1), Limit: 0.5}, &mix.JobType{Vector: loading.Loadings(1), Limit: 0.9}
	busy := &mix.JobType{Vector: loading.Loadings(1)}
	mix := typesOn(t, 1).Empty().With(half).With(most).With(busy).With(busy)
	if a, b := mix.Dilation(half), mix.Dilation(most); !(a > 1 && b > 1) || modeltest.Close(a, b) {
		t.Errorf("dilated by %v and %v", a, b)
	}
}

func TestSharesAreValidated(t *testing.T) {
	t.Parallel()
	for want, job := range map[string]mix.JobType{
		`jobs of type "a": weight: -1 is not a finite number of at least 0`:  {Name: "a", Weight: -1},
		`jobs of type "b": weight: NaN is not a finite number of at least 0`: {Name: "b", Weight: math.NaN()},
		`jobs of type "c": limit: +Inf is not a finite number of at least 0`: {Name: "c", Limit: math.Inf(1)},
		`jobs of type "d": limit: NaN is not a finite number of at least 0`:  {Name: "d", Limit: math.NaN()},
	} {
		mixes := typesOn(t, 1)
		mixes.Empty().With(&job)
		if err := mixes.Err(); err == nil || err.Error() != want {
			t.Errorf("got %v, want %q", err, want)
		}
	}
}
