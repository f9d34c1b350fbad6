package crossed_test

import (
	"fmt"
	"math"
	"testing"

	"pgregory.net/rapid"

	"loadline.dev/loadline/hack/accuracy/crossed"
)

var domains = map[string][]string{"cpu": {"core"}, "l1i": {"core"}, "llc": {"socket"}, "membw": {"socket"}}

func mustFit(t *testing.T, observations []crossed.Observation) *crossed.Model {
	t.Helper()
	m, err := crossed.Fit(observations, domains)
	if err != nil {
		t.Fatal(err)
	}
	return m
}

// With variances of 1, the mean of n observations of one job beside one stressor is
// kept to n·3/(1 + n·3) of its distance from what is assumed of the mean, which
// nothing is: only the thousandth of it that its variance lets through is lost.
func TestAnObservationIsPredictedAsItWas(t *testing.T) {
	t.Parallel()
	m := mustFit(t, []crossed.Observation{{"vips", "cpu", 1.6}})
	if got := m.Predict("vips", "cpu"); math.Abs(got-1.6) > 0.002 {
		t.Errorf("got %v, want 1.6", got)
	}
	if got := m.Predict("other", "llc"); math.Abs(got-1.6) > 0.003 {
		t.Errorf("another job beside another stressor: %v, want the mean", got)
	}
}

func TestAJobIsExpectedToSufferAlikeFromStressorsOfOneDomain(t *testing.T) {
	t.Parallel()
	var all []crossed.Observation
	for _, stressor := range []string{"cpu", "l1i", "llc", "membw"} {
		for j := range 4 {
			all = append(all, crossed.Observation{Job: fmt.Sprint("job-", j), Stressor: stressor, Dilation: 1.3})
		}
	}
	all = append(all, crossed.Observation{Job: "new", Stressor: "llc", Dilation: 2})
	m := mustFit(t, all)
	same, other, average := m.Predict("new", "membw"), m.Predict("new", "cpu"), m.Predict("job-0", "cpu")
	if !(2 > same && same > other*1.05 && other > average) {
		t.Errorf("beside the other stressor of the socket %v, of the core %v; other jobs %v", same, other, average)
	}
}

func TestPredictionsAreFiniteAndAtLeastOne(t *testing.T) {
	t.Parallel()
	rapid.Check(t, func(t *rapid.T) {
		names := rapid.SampledFrom([]string{"a", "b", "c"})
		stressors := rapid.SampledFrom([]string{"cpu", "l1i", "llc", "else"})
		observations := rapid.SliceOfN(rapid.Custom(func(t *rapid.T) crossed.Observation {
			return crossed.Observation{names.Draw(t, "job"), stressors.Draw(t, "stressor"), rapid.Float64Range(1e-3, 1e6).Draw(t, "dilation")}
		}), 1, 20).Draw(t, "observations")
		m, err := crossed.Fit(observations, domains)
		if err != nil {
			t.Fatal(err)
		}
		if got := m.Predict(names.Draw(t, "asked"), stressors.Draw(t, "beside")); !(got >= 1) || math.IsInf(got, 1) {
			t.Errorf("predicted %v", got)
		}
	})
}

func TestBadObservationsAreRefused(t *testing.T) {
	t.Parallel()
	good := crossed.Observation{"a", "cpu", 1.2}
	for name, test := range map[string]struct {
		observations []crossed.Observation
		want         string
	}{
		"none":     {nil, "observations: there are none"},
		"too many": {make([]crossed.Observation, 1001), "observations: 1001 are more than 1000"},
		"no job":   {[]crossed.Observation{good, {"", "cpu", 1}}, `observations[1]: job "", stressor "cpu": a name is empty`},
		"NaN":      {[]crossed.Observation{{"a", "cpu", math.NaN()}}, "observations[0]: dilation: NaN is not a finite number above 0"},
		"infinite": {[]crossed.Observation{{"a", "cpu", math.Inf(1)}}, "observations[0]: dilation: +Inf is not a finite number above 0"},
		"zero":     {[]crossed.Observation{{"a", "cpu", 0}}, "observations[0]: dilation: 0 is not a finite number above 0"},
	} {
		if _, err := crossed.Fit(test.observations, domains); err == nil || err.Error() != test.want {
			t.Errorf("%s: got %v, want %q", name, err, test.want)
		}
	}
}
