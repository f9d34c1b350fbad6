package inflation_test

import (
	"math"
	"math/rand/v2"
	"strings"
	"testing"

	"loadline.dev/loadline/pkg/model/inflation"
)

// halves returns what a series says of its first slots, as what was before the others, and the others.
func halves(t *testing.T, series []inflation.Interval, at int64) (*inflation.Before, []inflation.Interval) {
	t.Helper()
	var first, second []inflation.Interval
	for _, v := range series {
		if v.Slot < at {
			first = append(first, v)
		} else {
			second = append(second, v)
		}
	}
	e, err := inflation.Analyze(first)
	if err != nil {
		t.Fatal(err)
	}
	return &inflation.Before{
		Overhead: e.Overhead, PerUnit: e.PerUnit, Rate: e.Rate, Error: (e.Quiet.High - e.Quiet.Low) / 2 / e.Quiet.Value, Slots: e.Slots,
	}, second
}

// A neighbour came while nothing was read, and has been there ever since: only what was known before tells that it makes units slower.
func TestWhatWasKnownBeforeASeriesIsQuiet(t *testing.T) {
	t.Parallel()
	for seed := range 20 {
		s := plain()
		s.slots, s.neighbours, s.effects = 160, []func(int, int) float64{func(slot, _ int) float64 {
			if slot >= 120 {
				return 2
			}
			return 0
		}}, []float64{0.15}
		series, truth := s.series(seeded(seed))
		before, after := halves(t, series, 120)
		alone, err := inflation.Analyze(after)
		if err != nil {
			t.Fatal(err)
		}
		if math.Abs(alone.Inflation.Value-1) > 0.05 {
			t.Errorf("seed %d: without what was before the inflation is %v", seed, alone.Inflation)
		}
		e, err := inflation.AnalyzeAfter(after, before)
		if err != nil {
			t.Fatal(err)
		}
		if math.Abs(e.Inflation.Value/truth-1) > 0.05 || e.Inflation.Low > truth || e.Inflation.High < truth {
			t.Errorf("seed %d: the inflation is %v, and %v in truth", seed, e.Inflation, truth)
		}
		if len(named(e)) > 0 || e.Untested[0] != inflation.Constant && e.Untested[0] != inflation.Staying {
			t.Errorf("seed %d: the neighbour is named, of which nothing is known before: %v, %v", seed, e.Effects, e.Untested)
		}
	}
}

// What is known after a break is about what is known without one.
func TestABreakChangesLittle(t *testing.T) {
	t.Parallel()
	for name, change := range map[string]func(s *simulation, random *rand.Rand){
		"nothing happens":          func(*simulation, *rand.Rand) {},
		"the load falls":           func(s *simulation, _ *rand.Rand) { s.rate = func(t int) float64 { return 100 - 80*float64(t)/200 } },
		"the load does not change": func(s *simulation, _ *rand.Rand) { s.rate = func(int) float64 { return 100 } },
		"one unit in ten seconds":  func(s *simulation, _ *rand.Rand) { s.overhead, s.rate = 0, func(int) float64 { return 0.1 } },
		"a thrasher comes and goes": func(s *simulation, _ *rand.Rand) {
			s.neighbours, s.effects = []func(int, int) float64{onOff(2, 9, 4)}, []float64{0.2}
		},
		"an episode after the break": func(s *simulation, _ *rand.Rand) {
			s.slower = func(t int) float64 { return 1 + 0.3*math.Floor(float64(t)/180) }
		},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			for seed := range 20 {
				s, random := plain(), seeded(seed)
				s.slots = 200
				change(s, random)
				series, _ := s.series(random)
				want, err := inflation.Analyze(series)
				if err != nil {
					t.Fatal(err)
				}
				before, after := halves(t, series, 130)
				got, err := inflation.AnalyzeAfter(after, before)
				if err != nil {
					t.Fatal(err)
				}
				if math.Abs(got.Quiet.Value/want.Quiet.Value-1) > 0.03 || math.Abs(got.Inflation.Value/want.Inflation.Value-1) > 0.03 {
					t.Errorf("seed %d: quiet %v, without the break %v; inflation %v and %v", seed, got.Quiet, want.Quiet, got.Inflation, want.Inflation)
				}
				if wide := (got.Quiet.High - got.Quiet.Low) / (want.Quiet.High - want.Quiet.Low); wide < 0.3 || wide > 4 {
					t.Errorf("seed %d: the interval of quiet is %.2f times as wide as without the break", seed, wide)
				}
			}
		})
	}
}

// What has been for longer than what was before stands for is the reference, as in a series without a break.
func TestWhatWasBeforeIsOutvoted(t *testing.T) {
	t.Parallel()
	s := plain()
	s.slots, s.slower = 200, func(slot int) float64 { return 1 + 0.3*math.Floor(float64(slot)/100) }
	series, _ := s.series(seeded(1))
	before, after := halves(t, series, 100)
	for slots, want := range map[int]float64{0: 1, 50: 1, 80: 1, 130: 1.3, 300: 1.3} {
		before.Slots = slots
		e, err := inflation.AnalyzeAfter(after, before)
		if err != nil {
			t.Fatal(err)
		}
		if math.Abs(e.Inflation.Value/want-1) > 0.05 {
			t.Errorf("after what stands for %d slots the inflation is %v, want %v", slots, e.Inflation, want)
		}
	}
}

func TestWhatCannotHaveBeenBeforeIsRefused(t *testing.T) {
	t.Parallel()
	series, _ := plain().series(seeded(1))
	for want, change := range map[string]func(b *inflation.Before){
		"before.overhead: -1 is not":   func(b *inflation.Before) { b.Overhead = -1 },
		"before.overhead: NaN is not":  func(b *inflation.Before) { b.Overhead = math.NaN() },
		"before.perUnit: 0 is not":     func(b *inflation.Before) { b.PerUnit = 0 },
		"before.perUnit: +Inf is not":  func(b *inflation.Before) { b.PerUnit = math.Inf(1) },
		"before.rate: 0 is not":        func(b *inflation.Before) { b.Rate = 0 },
		"before.error: -0.1 is not":    func(b *inflation.Before) { b.Error = -0.1 },
		"before.slots: -1 is not from": func(b *inflation.Before) { b.Slots = -1 },
		"before.slots: 5000 is not":    func(b *inflation.Before) { b.Slots = 5000 },
	} {
		b := &inflation.Before{Overhead: 0.05, PerUnit: 0.004, Rate: 100, Error: 0.01, Slots: 100}
		change(b)
		if _, err := inflation.AnalyzeAfter(series, b); err == nil || !strings.HasPrefix(err.Error(), want) {
			t.Errorf("got %v, want %s…", err, want)
		}
	}
}
