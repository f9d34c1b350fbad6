package inflation_test

import (
	"math"
	"slices"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"
	"pgregory.net/rapid"

	"loadline.dev/loadline/pkg/model/inflation"
)

// anySeries draws a series within the rules, however odd.
func anySeries(t *rapid.T) []inflation.Interval {
	neighbours := rapid.IntRange(0, 4).Draw(t, "neighbours")
	number := rapid.OneOf(rapid.Just(0.), rapid.Just(1e18), rapid.Float64Range(0, 1e-12), rapid.Float64Range(0, 100), rapid.Float64Range(1, 2))
	length := rapid.SampledFrom([]int{0, 20, 60, 150}).Draw(t, "length")
	return rapid.SliceOfN(rapid.Custom(func(t *rapid.T) inflation.Interval {
		return inflation.Interval{
			Slot: rapid.Int64Range(-3, 80).Draw(t, "slot"), Pod: rapid.IntRange(0, 3).Draw(t, "pod"),
			Seconds: rapid.OneOf(rapid.Just(60.), rapid.Float64Range(1e-9, 1e9)).Draw(t, "seconds"),
			CPU:     number.Draw(t, "cpu"), Units: number.Draw(t, "units"),
			Neighbours: rapid.SliceOfN(number, neighbours, neighbours).Draw(t, "cpus"),
		}
	}), length, length).Draw(t, "series")
}

// anyBefore draws what was before a series, within the rules, or nothing.
func anyBefore(t *rapid.T) *inflation.Before {
	if rapid.Bool().Draw(t, "nothing before") {
		return nil
	}
	number := rapid.OneOf(rapid.Just(1e18), rapid.Float64Range(1e-12, 1e-9), rapid.Float64Range(1e-3, 100))
	return &inflation.Before{
		Overhead: rapid.OneOf(rapid.Just(0.), number).Draw(t, "overhead"), PerUnit: number.Draw(t, "per unit"), Rate: number.Draw(t, "rate"),
		Error: rapid.OneOf(rapid.Just(0.), number).Draw(t, "error"), Slots: rapid.SampledFrom([]int{0, 1, 30, inflation.MaxIntervals}).Draw(t, "slots"),
	}
}

func TestNoSeriesHasAValueThatIsNoNumber(t *testing.T) {
	t.Parallel()
	rapid.Check(t, func(t *rapid.T) {
		e, err := inflation.AnalyzeAfter(anySeries(t), anyBefore(t))
		if err != nil {
			return
		}
		values := []inflation.Value{e.Quiet, e.Inflation}
		for _, f := range e.Effects {
			values = append(values, f.PerCPU, f.Adds)
		}
		for _, v := range values {
			if !(v.Low >= 0 && v.Low <= v.Value && v.Value <= v.High) || math.IsInf(v.High, 0) {
				t.Fatalf("%+v is no value with its interval", v)
			}
		}
		for _, f := range append([]float64{e.Overhead, e.PerUnit, e.Rate, e.Now}, e.Pods...) {
			if !(f >= 0) || math.IsInf(f, 0) {
				t.Fatalf("%+v has a number that is none", e)
			}
		}
	})
}

// TestTheUnitAndTheOrderChangeNothingElse needs 6 digits: the robust fit ends when steps are smaller than 1e-6.
func TestTheUnitAndTheOrderChangeNothingElse(t *testing.T) {
	t.Parallel()
	rapid.Check(t, func(t *rapid.T) {
		random := seeded(rapid.IntRange(0, 1000).Draw(t, "seed"))
		s := plain()
		s.slots, s.pods = 80, 1
		s.neighbours, s.effects = []func(int, int) float64{onOff(1, 20, 5), telegraph(random, 1, s.slots, 12)}, []float64{0.3, 0}
		series, _ := s.series(random)
		want, err := inflation.Analyze(series)
		if err != nil {
			t.Fatal(err)
		}
		factor := rapid.Float64Range(0.001, 1000).Draw(t, "factor")
		other := slices.Clone(series)
		for i := range other {
			other[i].Units *= factor
			other[i].Slot += 1000
		}
		random.Shuffle(len(other), func(i, k int) { other[i], other[k] = other[k], other[i] })
		got, err := inflation.Analyze(other)
		if err != nil {
			t.Fatal(err)
		}
		if diff := cmp.Diff(want.Inflation, got.Inflation, cmpopts.EquateApprox(1e-5, 0)); diff != "" {
			t.Error(diff)
		}
		if diff := cmp.Diff(named(want), named(got)); diff != "" {
			t.Error(diff)
		}
		if diff := cmp.Diff(want.Quiet.Value, factor*got.Quiet.Value, cmpopts.EquateApprox(1e-5, 0)); diff != "" {
			t.Error(diff)
		}
	})
}

func BenchmarkTheLargestSeries(b *testing.B) {
	random := seeded(1)
	s := plain()
	s.pods, s.slots = 32, inflation.MaxIntervals/32
	for range inflation.MaxNeighbours {
		s.neighbours, s.effects = append(s.neighbours, telegraph(random, 1, s.slots, 12)), append(s.effects, 0)
	}
	series, _ := s.series(random)
	for b.Loop() {
		if _, err := inflation.Analyze(series); err != nil {
			b.Fatal(err)
		}
	}
}
