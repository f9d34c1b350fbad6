package contention_test

import (
	"math"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"

	"pgregory.net/rapid"

	"loadline.dev/loadline/pkg/model/contention"
	"loadline.dev/loadline/pkg/model/loading"
	"loadline.dev/loadline/pkg/model/queueing"
	"loadline.dev/loadline/test/modeltest"
)

func margins(t *testing.T, p *contention.Prediction, unsure ...contention.Unsure) []float64 {
	t.Helper()
	got, err := p.Margins(unsure, queueing.Options{})
	if err != nil {
		t.Fatal(err)
	}
	return got
}

// For two jobs λ = 1 + p·q: the margin of one factor is scaled by the other.
func TestTheMarginOfADilationIsThatOfTheVectorTimesTheNeighbour(t *testing.T) {
	t.Parallel()
	jobs := []loading.Vector{loading.Loadings(0.5, 0.2), loading.Loadings(0.4, 0.3)}
	p := modeltest.Predict(t, jobs, []int{1, 1}, queueing.Options{})
	all := func(x float64) contention.Margins {
		return contention.Margins{Loading: x, Pressure: x, Sensitivity: x}
	}
	cpu := contention.Unsure{Jobs: []int{0}, Resource: 0, Margins: all(0.1)}
	disk := contention.Unsure{Jobs: []int{0}, Resource: 1, Margins: all(0.1)}
	other := contention.Unsure{Jobs: []int{1}, Resource: 0, Margins: all(0.05)}
	for what, test := range map[string]struct {
		unsure []contention.Unsure
		want   float64
	}{
		"nothing":                   {nil, 0},
		"one component":             {[]contention.Unsure{cpu}, 0.1 * 0.4},
		"another resource":          {[]contention.Unsure{disk}, 0.1 * 0.3},
		"errors add up by squares":  {[]contention.Unsure{cpu, disk}, 0.1 * 0.5},
		"what the neighbour is":     {[]contention.Unsure{other}, 0.05 * 0.5},
		"all":                       {[]contention.Unsure{cpu, disk, other}, math.Sqrt(0.05*0.05 + 0.025*0.025)},
		"a margin of 0 is no error": {[]contention.Unsure{{Jobs: []int{0}}}, 0},
	} {
		if got := margins(t, p, test.unsure...); len(got) != 2 || math.Abs(got[0]-test.want) > 1e-9 {
			t.Errorf("%s: the margins are %v, want %v", what, got, test.want)
		}
	}
}

// Copies have one and the same vector, and so the same error.
func TestTheMarginsOfCopiesAreNotIndependent(t *testing.T) {
	t.Parallel()
	v := loading.Loadings(0.5)
	p := modeltest.Predict(t, []loading.Vector{v, v}, []int{1}, queueing.Options{})
	got := margins(t, p, contention.Unsure{Jobs: []int{0, 1}, Margins: contention.Margins{Loading: 0.01, Pressure: 0.01}})
	if want := 0.51*0.51 - 0.25; math.Abs(got[0]-want) > 1e-9 {
		t.Errorf("the margin is %v, want %v", got[0], want)
	}
}

func TestAJobAloneIsCertainlyNotDilated(t *testing.T) {
	t.Parallel()
	v := loading.Vector{{Loading: 0.5, Pressure: 0.5, Threads: 4}}
	p := modeltest.Predict(t, []loading.Vector{v}, []int{1}, queueing.Options{})
	if got := margins(t, p, contention.Unsure{Jobs: []int{0}, Margins: contention.Margins{Loading: 0.2, Pressure: 0.2}}); got[0] != 0 {
		t.Errorf("the margin is %v", got[0])
	}
}

// A world in which vectors are off by independent normal errors: of 2,000 such worlds
// the intervals have the dilation of the truth in 95 %, three standard errors (0.0049)
// allowed, and some more, since they are wider where a fraction ends or a dilation bends.
func TestMarginsCoverTheTruth(t *testing.T) {
	t.Parallel()
	const worlds = 2000
	random := rand.New(rand.NewPCG(1, 2))
	covered := 0
	for range worlds {
		var truth, measured []loading.Vector
		var unsure []contention.Unsure
		for j := range 3 {
			a := 0.2 + 0.3*random.Float64()
			b := 0.2 + 0.2*random.Float64()
			truth = append(truth, loading.Loadings(a, b))
			seen := loading.Loadings(a, b)
			for i := range seen {
				const sigma = 0.02
				seen[i] = loading.Symmetric(seen[i].Loading + sigma*random.NormFloat64())
				const margin = 1.96 * sigma
				unsure = append(unsure, contention.Unsure{Jobs: []int{j}, Resource: i, Margins: contention.Margins{Loading: margin, Pressure: margin}})
			}
			measured = append(measured, seen)
		}
		want := modeltest.Predict(t, truth, []int{1, 1}, queueing.Options{}).Dilations[0]
		p := modeltest.Predict(t, measured, []int{1, 1}, queueing.Options{})
		if math.Abs(p.Dilations[0]-want) <= margins(t, p, unsure...)[0] {
			covered++
		}
	}
	if got := float64(covered) / worlds; math.Abs(got-0.95) > 0.02 {
		t.Errorf("intervals of 95 %% have the truth in %v of all worlds", got)
	}
}

func TestMarginsAreFiniteForAnyVectors(t *testing.T) {
	t.Parallel()
	rapid.Check(t, func(t *rapid.T) {
		const m = 2
		servers, jobs := modeltest.DrawServers(t, m, 3), modeltest.DrawVectors(t, m, 3, 4)
		p, err := contention.Predict(jobs, servers, queueing.Options{})
		if err != nil {
			t.Fatal(err)
		}
		var unsure []contention.Unsure
		for j := range jobs {
			margin := rapid.Float64Range(0, 1).Draw(t, "margin")
			unsure = append(unsure, contention.Unsure{Jobs: []int{j}, Resource: rapid.IntRange(0, m-1).Draw(t, "resource"), Margins: contention.Margins{Loading: margin, Pressure: margin / 2, Sensitivity: margin}})
		}
		before := slices.Clone(jobs)
		got, err := p.Margins(unsure, queueing.Options{})
		if err != nil {
			t.Fatal(err)
		}
		for j, margin := range got {
			if !(margin >= 0) || math.IsInf(margin, 1) {
				t.Fatalf("job %d: margin %v", j, margin)
			}
			if !slices.Equal(jobs[j], before[j]) {
				t.Fatalf("job %d has changed", j)
			}
		}
	})
}

func TestMarginsNameWhatIsNone(t *testing.T) {
	t.Parallel()
	p := modeltest.Predict(t, []loading.Vector{loading.Loadings(0.5)}, []int{1}, queueing.Options{})
	for _, margin := range []float64{-0.1, math.NaN(), math.Inf(1)} {
		_, err := p.Margins([]contention.Unsure{{Jobs: []int{0}, Margins: contention.Margins{Pressure: margin}}}, queueing.Options{})
		if err == nil || !strings.Contains(err.Error(), "component 0: margin: ") {
			t.Errorf("a margin of %v: %v", margin, err)
		}
	}
}
