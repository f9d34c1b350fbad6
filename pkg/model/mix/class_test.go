package mix_test

import (
	"math"
	"testing"

	"pgregory.net/rapid"

	"loadline.dev/loadline/pkg/model/loading"
	"loadline.dev/loadline/pkg/model/mix"
	"loadline.dev/loadline/test/modeltest"
)

func TestAFasterResourceTakesLessOfALongerTime(t *testing.T) {
	// Of 1 s alone 0.5 s are at the cpu, which is twice as fast here, 0.3 s at the
	// disk, which is half as fast, and 0.2 s idle: 0.25 + 0.6 + 0.2 = 1.05 s.
	class := mix.NodeClass{Servers: []int{1, 1}, Speeds: []float64{2, 0.5}}
	vector := loading.Vector{{Loading: 0.5, Pressure: 0.4, Threads: 2}, {Loading: 0.3, Pressure: 0.3}}
	got, stretch := class.On(vector)
	if !modeltest.Close(stretch, 1.05) {
		t.Errorf("stretched by %v, want 1.05", stretch)
	}
	want := loading.Vector{
		{Loading: 0.25 / 1.05, Pressure: 0.2 / 1.05, Threads: 2},
		{Loading: 0.6 / 1.05, Pressure: 0.6 / 1.05},
	}
	for i := range want {
		if !modeltest.Close(got[i].Loading, want[i].Loading) || !modeltest.Close(got[i].Pressure, want[i].Pressure) || got[i].Threads != want[i].Threads {
			t.Errorf("resource %d: %+v, want %+v", i, got[i], want[i])
		}
	}
}

func TestAVectorIsTheSameOnNodesOfSpeedOne(t *testing.T) {
	vector := loading.Loadings(0.5, 0.3)
	for _, speeds := range [][]float64{nil, {1}, {1, 1}} {
		got, stretch := mix.NodeClass{Servers: []int{1, 1}, Speeds: speeds}.On(vector)
		if !modeltest.Close(stretch, 1) || !modeltest.Close(got[0].Loading, 0.5) || !modeltest.Close(got[1].Loading, 0.3) {
			t.Errorf("speeds %v: %v, stretched by %v", speeds, got, stretch)
		}
	}
}

// What speeds change is the demands; whatever they are, the vector stays one.
func TestAVectorStaysAVectorOnAnyClass(t *testing.T) {
	t.Parallel()
	rapid.Check(t, func(t *rapid.T) {
		const m = 3
		speed := rapid.Float64Range(1e-3, 1e3)
		class := mix.NodeClass{Servers: modeltest.DrawServers(t, m, 4), Speeds: rapid.SliceOfN(speed, 0, m).Draw(t, "speeds")}
		vector := modeltest.DrawVector(t, m, 4)
		got, stretch := class.On(vector)
		if err := got.Validate(); err != nil {
			t.Fatal(err)
		}
		idle, idleThere := 1.0, 1.0
		for i := range vector {
			by := 1.0
			if i < len(class.Speeds) {
				by = class.Speeds[i]
			}
			idle -= vector[i].Loading
			idleThere -= got[i].Loading
			if want := vector[i].Loading / by; math.Abs(got[i].Loading*stretch-want) > 1e-9*max(1, want) {
				t.Fatalf("resource %d takes %v, want %v", i, got[i].Loading*stretch, want)
			}
		}
		if math.Abs(idleThere*stretch-max(0, idle)) > 1e-9*stretch {
			t.Fatalf("idle for %v of %v, want %v", idleThere*stretch, stretch, idle)
		}
	})
}

func TestAClassOfNodesIsValidated(t *testing.T) {
	for name, test := range map[string]struct {
		class mix.NodeClass
		want  string
	}{
		"no servers":      {mix.NodeClass{Servers: []int{1, 0}}, "resource 1: invalid number of servers: 0 is not between 1 and 16384"},
		"too many speeds": {mix.NodeClass{Servers: []int{1}, Speeds: []float64{1, 1}}, "2 speeds for 1 resources"},
		"no speed":        {mix.NodeClass{Servers: []int{1}, Speeds: []float64{0}}, "resource 0: speed: 0 is not a finite number above 0"},
		"a NaN speed":     {mix.NodeClass{Servers: []int{1}, Speeds: []float64{math.NaN()}}, "resource 0: speed: NaN is not a finite number above 0"},
		"no resource":     {mix.NodeClass{Servers: []int{1}, Processor: 1}, "processor: 1 is neither −1 nor the index of one of 1 resources"},
		"another":         {mix.NodeClass{Servers: []int{1}, Processor: -2}, "processor: -2 is neither −1 nor the index of one of 1 resources"},
		"an endless one":  {mix.NodeClass{Servers: []int{1}, Speeds: []float64{math.Inf(1)}}, "resource 0: speed: +Inf is not a finite number above 0"},
	} {
		if err := test.class.Validate(); err == nil || err.Error() != test.want {
			t.Errorf("%s: got %v, want %q", name, err, test.want)
		}
	}
	if err := (mix.NodeClass{Servers: []int{1, 2}, Speeds: []float64{3}}).Validate(); err != nil {
		t.Errorf("a class with fewer speeds than resources: %v", err)
	}
}
