package fit_test

import (
	"encoding/json"
	"fmt"
	"math"
	"testing"

	"pgregory.net/rapid"

	"loadline.dev/loadline/apis/loadline/v1alpha1"
	"loadline.dev/loadline/pkg/evaluate/fits"
	"loadline.dev/loadline/pkg/model/fit"
	"loadline.dev/loadline/pkg/validate"
)

// Whatever was measured, profiles of it keep to every rule of the API.
func TestEveryProfileOfAFitIsValid(t *testing.T) {
	t.Parallel()
	rules, err := validate.Load()
	if err != nil {
		t.Fatal(err)
	}
	rapid.Check(t, func(t *rapid.T) {
		result, err := fit.Fit(extremeRuns().Draw(t, "runs"), fit.Options{MaxResources: rapid.SampledFrom([]int{1, 2, 10}).Draw(t, "resources"), Folds: 2})
		if err != nil {
			t.Skip(err)
		}
		device := rapid.StringMatching(`[a-z][-a-z0-9]{0,60}[a-z]`).Draw(t, "device")
		all, err := fits.DeviceProfilesOf(result, device, v1alpha1.SharingTimeSliced)
		if err != nil {
			t.Skip(err)
		}
		documents := []validate.Document{document(t, all.Node)}
		for _, w := range all.Workloads {
			documents = append(documents, document(t, w))
		}
		answer, err := rules.Check(t.Context(), validate.Input{Documents: documents})
		if err != nil {
			t.Fatal(err)
		}
		for _, f := range answer.Findings {
			t.Errorf("%s", f.String())
		}
	})
}

func document(t *rapid.T, object any) validate.Document {
	t.Helper()
	text, err := json.Marshal(object)
	if err != nil {
		t.Fatal(err)
	}
	return validate.Document{Place: validate.Place{File: "a.json", Document: 1, Line: 1}, Text: text}
}

// extremeRuns are those of few jobs, with dilations of all sizes.
func extremeRuns() *rapid.Generator[[]fit.Run] {
	return rapid.Custom(func(t *rapid.T) []fit.Run {
		var runs []fit.Run
		for r := range rapid.IntRange(1, 8).Draw(t, "runs") {
			run := fit.Run{Name: fmt.Sprint(r)}
			for range rapid.IntRange(1, 4).Draw(t, "members") {
				run.Members = append(run.Members, fit.Member{
					Job:      rapid.SampledFrom([]string{"a", "b", "LM (batch size 10)", "4th"}).Draw(t, "job"),
					Dilation: math.Exp(rapid.Float64Range(math.Log(fit.MinDilation), math.Log(fit.MaxDilation)).Draw(t, "logarithm")),
				})
			}
			runs = append(runs, run)
		}
		return runs
	})
}
