package fits_test

import (
	"math"
	"slices"
	"testing"

	"loadline.dev/loadline/apis/loadline/v1alpha1"
	"loadline.dev/loadline/pkg/evaluate/fits"
	"loadline.dev/loadline/pkg/model/fit"
	"loadline.dev/loadline/test/given"
)

func TestAFitIsPulledTowardsMeasuredSensitivities(t *testing.T) {
	t.Parallel()
	keen := given.Found("disk", "0.8") // waits for less than its loading
	keen.Sensitivity = given.Quantity("0.5")
	web := given.Measured(given.Workload("web", 0), given.On("big", given.Noon, 1000, keen))
	probe := given.Workload("probe", 0, given.Disk("1"))
	pair := fit.Run{Name: "pair", Members: []fit.Member{{Job: "probe", Dilation: 2}, {Job: "probe", Dilation: 2}}}
	answer, err := fits.Fit(fits.Input{
		Runs: []fit.Run{pair}, Options: fit.Options{Resources: []string{"disk"}}, Declared: []v1alpha1.WorkloadProfile{web, probe},
	})
	if err != nil {
		t.Fatal(err)
	}
	i := slices.IndexFunc(answer.Jobs, func(j fits.Job) bool { return j.Name == "web" })
	if got := answer.Jobs[i]; math.Abs(got.Sensitivity[0].Value-0.5) > 0.01 || math.Abs(got.Pressure[0].Value-0.8) > 0.01 {
		t.Errorf("nothing else is known of web, which is %+v, want sensitivity 0.5 and pressure 0.8", got)
	}
}

func TestAFitIsPulledTowardsWhatWasMeasured(t *testing.T) {
	t.Parallel()
	in := fits.Input{
		Runs:     []fit.Run{{Members: []fit.Member{{Job: "a", Dilation: 1.2}, {Job: "b", Dilation: 1.2}}}},
		Options:  fit.Options{Resources: []string{"cpu"}},
		Declared: []v1alpha1.WorkloadProfile{given.Measured(given.Workload("a", 0))},
	}
	_, err := fits.Fit(in)
	const want = "profile a: has no loading vector yet: list it in spec.resources, or wait until status.measurements holds what was measured, or status.observations what is recommended"
	if err == nil || err.Error() != want {
		t.Errorf("error %v, want %s", err, want)
	}
	in.Declared[0] = given.Measured(in.Declared[0], given.On("big", given.Noon, 1, given.Found("gpu", "0.6")))
	if _, err := fits.Fit(in); err == nil || err.Error() != `profile a: resource "gpu" is not among the resources of the fit` {
		t.Errorf("a measured resource is not looked at: %v", err)
	}
}
