package chart

import (
	"bytes"
	"fmt"
	"io"
	"math"
	"testing"

	"pgregory.net/rapid"
)

func threeEstimates() Intervals {
	return Intervals{
		Title: "Against round robin", Quantity: "improvement", Unit: "%", Zero: "as round robin", Confidence: 0.95,
		Estimates: []Estimate{
			{Name: "random", Value: -1.25, Low: -3, High: 0.5},
			{Name: "least dilation", Value: 17.7, Low: 13.1, High: 22},
			{Name: "single run", Value: 4, Low: math.NaN(), High: math.NaN()},
		},
	}
}

func TestIntervalsAreWrittenWithTheirSignsAndAsManyDecimals(t *testing.T) {
	t.Parallel()
	wantTexts(t, threeEstimates(),
		"Against round robin", "improvement (%), 95% confidence interval", "as round robin",
		"random  ", "-1.2% (-3.0 to +0.5)", "least dilation  ", "+17.7% (+13.1 to +22.0)", "single run  ", "+4.0%")
}

func TestNumbersThatRoundToZeroHaveNoSign(t *testing.T) {
	t.Parallel()
	wantTexts(t, Intervals{
		Quantity: "improvement", Confidence: 0.9,
		Estimates: []Estimate{{Name: "a", Value: 0.001, Low: -0.001, High: 200}},
	}, "improvement, 90% confidence interval", "0 (0 to +200)", "0")
}

func TestAnIntervalRulesOutZeroOrNot(t *testing.T) {
	t.Parallel()
	nan := math.NaN()
	for estimate, want := range map[Estimate]bool{
		{Low: 1, High: 2}:                true,
		{Low: -2, High: -1}:              true,
		{Low: -1, High: 2}:               false,
		{Low: 0, High: 2}:                false,
		{Low: -2, High: 0}:               false,
		{Value: 3, Low: nan, High: nan}:  false,
		{Value: -3, Low: nan, High: nan}: false,
	} {
		if got := estimate.rulesOutZero(); got != want {
			t.Errorf("%+v: %v, want %v", estimate, got, want)
		}
	}
}

func TestTheDotOfAnEstimateThatDoesNotRuleOutZeroIsHollow(t *testing.T) {
	t.Parallel()
	whites := func(low float64) int {
		chart := Intervals{Quantity: "x", Confidence: 0.95, Estimates: []Estimate{{Name: "a", Value: 2, Low: low, High: 3}}}
		return bytes.Count(encoded(t, chart, SVG), []byte("#FFFFFF"))
	}
	if filled, hollow := whites(1), whites(-1); hollow != filled+1 {
		t.Errorf("%d white places with a filled dot, %d with a hollow one", filled, hollow)
	}
}

func TestIntervalsThatCannotBeDrawnSayWhichField(t *testing.T) {
	t.Parallel()
	of := func(estimates ...Estimate) Intervals {
		return Intervals{Quantity: "x", Confidence: 0.95, Estimates: estimates}
	}
	good := Estimate{Name: "a", Value: 1, Low: 0, High: 2}
	for name, c := range map[string]struct {
		chart Intervals
		want  string
	}{
		"no quantity":      {Intervals{}, `quantity: is empty; name what was estimated`},
		"no confidence":    {Intervals{Quantity: "x", Estimates: []Estimate{good}}, `confidence: 0 is not between 0 and 1`},
		"too confident":    {Intervals{Quantity: "x", Confidence: 95}, `confidence: 95 is not between 0 and 1`},
		"no estimates":     {of(), `estimates: there are 0; a chart shows 1 to 60`},
		"many estimates":   {of(make([]Estimate, 61)...), `estimates: there are 61; a chart shows 1 to 60`},
		"a name twice":     {of(good, good), `estimates[1].name: "a" is also the name of estimates[0]`},
		"not a number":     {of(Estimate{Name: "b", Value: math.NaN()}), `estimates[0] ("b").value: NaN is not a finite number within ±1e+290`},
		"one end only":     {of(Estimate{Name: "b", High: math.NaN()}), `estimates[0] ("b").high: NaN is not a finite number within ±1e+290`},
		"no lower end":     {of(Estimate{Name: "b", Low: math.Inf(-1)}), `estimates[0] ("b").low: -Inf is not a finite number within ±1e+290`},
		"outside, below":   {of(Estimate{Name: "b", Value: 1, Low: 2, High: 3}), `estimates[0] ("b").value: 1 is not in its interval, from 2 to 3`},
		"ends in disorder": {of(Estimate{Name: "b", Value: 2.5, Low: 3, High: 2}), `estimates[0] ("b").value: 2.5 is not in its interval, from 3 to 2`},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			if err := Encode(io.Discard, c.chart, SVG); errorText(err) != c.want {
				t.Errorf("error = %v\nwant    %s", err, c.want)
			}
		})
	}
}

func TestIntervalsOfAnyValuesCanBeDrawn(t *testing.T) {
	t.Parallel()
	rapid.Check(t, func(t *rapid.T) {
		chart := Intervals{
			Quantity: "x", Title: rapid.String().Draw(t, "title"), Unit: rapid.String().Draw(t, "unit"),
			Zero: rapid.String().Draw(t, "zero"), Confidence: rapid.Float64Range(0.001, 0.999).Draw(t, "confidence"),
		}
		number := rapid.OneOf(rapid.Float64Range(-maxMagnitude, maxMagnitude), rapid.Float64Range(-3, 3), rapid.Just(0.0))
		for i := range rapid.IntRange(1, 5).Draw(t, "estimates") {
			e := Estimate{Name: rapid.StringN(0, 60, -1).Draw(t, "name") + fmt.Sprint(i), Low: math.NaN(), High: math.NaN()}
			e.Value = number.Draw(t, "value")
			if rapid.Bool().Draw(t, "interval") {
				e.Low, e.High = min(e.Value, number.Draw(t, "low")), max(e.Value, number.Draw(t, "high"))
			}
			chart.Estimates = append(chart.Estimates, e)
		}
		wantFinitePlaces(t, chart)
	})
}
