package mix_test

import (
	"errors"
	"fmt"
	"math"
	"slices"
	"strings"
	"testing"

	"pgregory.net/rapid"

	"loadline.dev/loadline/pkg/model/contention"
	"loadline.dev/loadline/pkg/model/loading"
	"loadline.dev/loadline/pkg/model/mix"
	"loadline.dev/loadline/pkg/model/price"
	"loadline.dev/loadline/pkg/model/queueing"
	"loadline.dev/loadline/test/modeltest"
)

func newMixes(t testing.TB, class mix.NodeClass, options queueing.Options) *mix.Mixes {
	t.Helper()
	mixes, err := mix.NewMixes(class, options)
	if err != nil {
		t.Fatal(err)
	}
	return mixes
}

// drawn is a class of nodes, types of jobs, and jobs of those types.
type drawn struct {
	class mix.NodeClass
	types []*mix.JobType
	jobs  []*mix.JobType
}

func draw(t *rapid.T) drawn {
	const m = 3
	d := drawn{class: mix.NodeClass{
		Processor: -1, // all resources are shared by threads
		Servers:   modeltest.DrawServers(t, m, 3),
		Speeds:    rapid.SliceOfN(rapid.Float64Range(0.25, 4), 0, m).Draw(t, "speeds"),
	}}
	for k := range rapid.IntRange(1, 4).Draw(t, "types") {
		vector := modeltest.DrawVector(t, m, 2)
		if k > 0 && rapid.IntRange(0, 2).Draw(t, "twin") == 0 {
			vector = slices.Clone(d.types[0].Vector)
		}
		d.types = append(d.types, &mix.JobType{Name: fmt.Sprint(k), Vector: vector})
	}
	d.jobs = rapid.SliceOfN(rapid.SampledFrom(d.types), 0, 8).Draw(t, "jobs")
	return d
}

// vectors returns the jobs converted to nodes of the class.
func (d drawn) vectors() []loading.Vector {
	vectors := make([]loading.Vector, len(d.jobs))
	for j, job := range d.jobs {
		vectors[j], _ = d.class.On(job.Vector)
	}
	return vectors
}

func mixOf(mixes *mix.Mixes, jobs []*mix.JobType) *mix.Mix {
	mix := mixes.Empty()
	for _, job := range jobs {
		mix = mix.With(job)
	}
	return mix
}

func TestAMixIsPredictedAsItsJobsAre(t *testing.T) {
	t.Parallel()
	rapid.Check(t, func(t *rapid.T) {
		d := draw(t)
		mixes, err := mix.NewMixes(d.class, queueing.Options{})
		if err != nil {
			t.Fatal(err)
		}
		together := mixOf(mixes, d.jobs)
		// In the order of the together: where the best solver just about settles, another
		// order may tip the scales.
		d.jobs = nil
		for _, part := range together.Parts() {
			d.jobs = append(d.jobs, slices.Repeat([]*mix.JobType{part.Type}, part.Copies)...)
		}
		vectors := d.vectors()
		prediction, err := contention.Predict(vectors, d.class.Servers, queueing.Options{})
		if err != nil {
			t.Fatal(err)
		}
		utilization := make([]float64, len(d.class.Servers))
		busiest := 0.0
		for j, job := range d.jobs {
			if got, want := together.Dilation(job), prediction.Dilations[j]; !modeltest.Close(got, want) {
				t.Fatalf("job %d: dilation %v, want %v", j, got, want)
			}
			alone, err := contention.Alone(vectors[j], d.class.Servers, queueing.Options{})
			if err != nil {
				t.Fatal(err)
			}
			for i, demand := range vectors[j] {
				utilization[i] += demand.Loading * float64(max(1, demand.Threads)) / (together.Dilation(job) * alone) / float64(d.class.Servers[i])
			}
		}
		for i, want := range utilization {
			if got := together.Utilization(i); math.Abs(got-want) > 1e-12 {
				t.Fatalf("resource %d is utilized by %v, want %v", i, got, want)
			}
			busiest = max(busiest, want)
		}
		if got := together.MaxUtilization(); math.Abs(got-busiest) > 1e-12 {
			t.Fatalf("the busiest resource is utilized by %v, want %v", got, busiest)
		}
		if err := mixes.Err(); err != nil {
			t.Fatal(err)
		}
	})
}

func TestAMixHasThePricesOfItsLoad(t *testing.T) {
	t.Parallel()
	rapid.Check(t, func(t *rapid.T) {
		d := draw(t)
		mixes, err := mix.NewMixes(d.class, queueing.Options{})
		if err != nil {
			t.Fatal(err)
		}
		together := mixOf(mixes, d.jobs)
		load := price.NewLoad(d.class.Servers)
		for _, v := range d.vectors() {
			load.Add(v)
		}
		prices := load.Prices()
		for _, job := range d.types {
			vector, _ := d.class.On(job.Vector)
			if got, want := together.Price(job), prices.Of(price.NewCandidate(vector)); !modeltest.Close(got, want) {
				t.Fatalf("type %s costs %v, want %v", job.Name, got, want)
			}
		}
	})
}

// Equal mixes are one, however they came about.
func TestAMixIsKnownByItsAddress(t *testing.T) {
	t.Parallel()
	rapid.Check(t, func(t *rapid.T) {
		d := draw(t)
		mixes, err := mix.NewMixes(d.class, queueing.Options{})
		if err != nil {
			t.Fatal(err)
		}
		together := mixOf(mixes, d.jobs)
		if shuffled := mixOf(mixes, rapid.Permutation(d.jobs).Draw(t, "shuffled")); shuffled != together {
			t.Fatalf("the same jobs in another order are another together: %v and %v", together.Parts(), shuffled.Parts())
		}
		for _, job := range d.types {
			if back := together.With(job).Without(job); back != together {
				t.Fatalf("%s came and went: %v and %v", job.Name, together.Parts(), back.Parts())
			}
		}
		for _, job := range d.jobs {
			if back := together.Without(job).With(job); back != together {
				t.Fatalf("%s went and came: %v and %v", job.Name, together.Parts(), back.Parts())
			}
		}
		if together.Jobs() != len(d.jobs) {
			t.Fatalf("%d jobs, want %d", together.Jobs(), len(d.jobs))
		}
		copies := map[*mix.JobType]int{}
		for _, job := range d.jobs {
			copies[job]++
		}
		for _, part := range together.Parts() {
			if part.Copies == 0 || copies[part.Type] != part.Copies {
				t.Fatalf("%d copies of %s, want %d", part.Copies, part.Type.Name, copies[part.Type])
			}
			delete(copies, part.Type)
		}
		if len(copies) > 0 {
			t.Fatalf("the together %v lacks %d types", together.Parts(), len(copies))
		}
		for _, job := range rapid.Permutation(d.jobs).Draw(t, "leaving") {
			together = together.Without(job)
		}
		if together != mixes.Empty() {
			t.Fatalf("when all have left there are %v", together.Parts())
		}
	})
}

// Which type was met first changes no bit of any number: a replay that forgets its
// mixes now and then is the same as one that does not.
func TestAMixIsTheSameAfterForgetting(t *testing.T) {
	t.Parallel()
	rapid.Check(t, func(t *rapid.T) {
		d := draw(t)
		mixes, err := mix.NewMixes(d.class, queueing.Options{Solver: queueing.Linearizer})
		if err != nil {
			t.Fatal(err)
		}
		before := mixOf(mixes, d.jobs)
		dilations := map[*mix.JobType]float64{}
		for _, job := range d.jobs {
			dilations[job] = before.Dilation(job)
		}
		size, most := mixes.Size(), before.MaxUtilization()
		if errors.Is(mixes.Err(), queueing.ErrUnsettled) {
			t.Skip("without an answer there is nothing to remember")
		}
		mixes.Forget()
		for _, job := range rapid.Permutation(d.types).Draw(t, "met first") {
			mixes.Empty().With(job)
		}
		after := mixes.Recall(before)
		if len(d.jobs) > 0 && after == before {
			t.Fatal("nothing was forgotten")
		}
		if again := mixOf(mixes, d.jobs); again != after {
			t.Fatalf("recalled %v, want %v", after.Parts(), again.Parts())
		}
		for _, job := range d.jobs {
			if got := after.Dilation(job); got != dilations[job] {
				t.Fatalf("dilation %v after forgetting, %v before", got, dilations[job])
			}
		}
		if got := after.MaxUtilization(); got != most {
			t.Fatalf("utilized by %v after forgetting, %v before", got, most)
		}
		if mixes.Forget(); mixes.Size() > 1 || size < 1 {
			t.Fatalf("size %d before forgetting, %d after", size, mixes.Size())
		}
	})
}

func TestTheFirstErrorOfMixesStays(t *testing.T) {
	good := &mix.JobType{Name: "good", Vector: loading.Loadings(0.5)}
	tests := map[string]struct {
		options queueing.Options
		types   []*mix.JobType
		want    string
	}{
		"an invalid vector": {
			queueing.Options{},
			[]*mix.JobType{good, {Name: "odd", Vector: loading.Loadings(math.NaN())}, {Name: "worse", Vector: loading.Loadings(2)}},
			`jobs of type "odd": resource 0: loading: NaN is not a fraction from 0 to 1`,
		},
		"a resource that the nodes do not have": {
			queueing.Options{}, []*mix.JobType{{Name: "io", Vector: loading.Loadings(0.5, 0.5)}}, `jobs of type "io": 2 demands for 1 resources`,
		},
		"what a solver cannot take": {
			queueing.Options{Solver: queueing.Exact}, []*mix.JobType{good, {Name: "gentle", Vector: loading.Vector{{Loading: 0.5, Pressure: 0.1}}}}, "pressure",
		},
	}
	for name, test := range tests {
		mixes := newMixes(t, mix.NodeClass{Servers: []int{1}}, test.options)
		mix := mixOf(mixes, test.types)
		mix.MaxUtilization()
		first := mixes.Err()
		if first == nil || !strings.Contains(first.Error(), test.want) {
			t.Errorf("%s: got %v, want %q", name, first, test.want)
		}
		mixes.Empty().With(good).Dilation(good)
		mixes.Forget()
		if got := mixes.Err(); got != first { //nolint:errorlint // the very same error
			t.Errorf("%s: then %v instead of %v", name, got, first)
		}
	}
}

func TestMixesOfAnInvalidClassAreRefused(t *testing.T) {
	if _, err := mix.NewMixes(mix.NodeClass{Servers: []int{0}}, queueing.Options{}); err == nil {
		t.Error("a class with no servers was taken")
	}
}

func TestAJobNeedsNotWhatItLeavesAlone(t *testing.T) {
	mixes := newMixes(t, mix.NodeClass{Servers: []int{1}}, queueing.Options{})
	job := &mix.JobType{Name: "cpu only", Vector: loading.Loadings(1, 0, 0)}
	mix := mixes.Empty().With(job).With(job)
	if got := mix.Dilation(job); got != 2 || mixes.Err() != nil {
		t.Errorf("dilation %v, error %v", got, mixes.Err())
	}
}
