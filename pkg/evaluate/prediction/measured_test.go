package prediction_test

import (
	"math"
	"strings"
	"testing"

	"loadline.dev/loadline/apis/loadline/v1alpha1"
	"loadline.dev/loadline/pkg/evaluate/prediction"
	"loadline.dev/loadline/test/given"
)

func TestAPredictionUsesWhatWasMeasuredOnTheClassOfTheNode(t *testing.T) {
	t.Parallel()
	job := given.Measured(given.Workload("web", 0), given.On("big", given.Noon, 1000, given.Found("cpu", "0.5")), given.On("small", given.Evening, 2000, given.Found("cpu", "1")))
	for name, test := range map[string]struct {
		nodes    []v1alpha1.NodeProfile
		neutral  float64
		dilation float64 // of two, on one core
	}{
		"a class that was measured":            {[]v1alpha1.NodeProfile{given.Class("big", given.GPUs(1))}, 1, 1.25},
		"another class that was measured":      {[]v1alpha1.NodeProfile{given.Class("small", given.GPUs(1))}, 2, 2},
		"a class that was not":                 {[]v1alpha1.NodeProfile{given.Class("other", given.GPUs(1))}, 2, 2},
		"a class that the fit does not have":   {nil, 2, 2},
		"a class with two calibrated servers":  {[]v1alpha1.NodeProfile{given.Serving(given.Calibrated(given.Class("small"), "cpu"), "cpu", 2)}, 2, 1},
		"a class that is not calibrated (yet)": {[]v1alpha1.NodeProfile{given.Calibrated(given.Class("small"), "cpu")}, 2, 2},
	} {
		p, err := prediction.Predict(prediction.Input{
			Profiles: []v1alpha1.WorkloadProfile{job}, Pods: []prediction.Pods{{Name: "web", Copies: 2}}, Nodes: test.nodes, Cores: 1, Solver: "first-order",
		})
		if err != nil {
			t.Errorf("%s: %v", name, err)
			continue
		}
		if got := p.Pods[0]; math.Abs(got.Dilation-test.dilation) > 1e-12 || *got.NeutralSeconds != test.neutral {
			t.Errorf("%s: dilation %v after %v s, want %v after %v s", name, got.Dilation, *got.NeutralSeconds, test.dilation, test.neutral)
		}
	}
	_, err := prediction.Predict(prediction.Input{Profiles: []v1alpha1.WorkloadProfile{given.Measured(given.Workload("web", 0))}, Cores: 1})
	const want = `pods "shop/web": has no loading vector yet: list it in spec.resources, or wait until status.measurements holds what was measured, or status.observations what is recommended`
	if err == nil || err.Error() != want {
		t.Errorf("error %v, want %s", err, want)
	}
}

// known returns a measured component with its interval.
func known(l v1alpha1.MeasuredLoading, halfWidth string) v1alpha1.MeasuredLoading {
	l.LoadingError, l.PressureError = given.Quantity(halfWidth), given.Quantity(halfWidth)
	return l
}

// λ = 1 + p·q, of p and q within margins.
func TestAPredictionCarriesTheIntervalsOfItsVectors(t *testing.T) {
	t.Parallel()
	sure := given.Measured(given.Workload("sure", 0), given.On("big", given.Noon, 1000, given.Found("cpu", "0.5")))
	unsure := given.Measured(given.Workload("unsure", 0), given.On("big", given.Noon, 1000, known(given.Found("cpu", "0.4"), "0.04")))
	for name, test := range map[string]struct {
		profiles []v1alpha1.WorkloadProfile
		want     []float64
	}{
		"none known":     {[]v1alpha1.WorkloadProfile{sure}, nil},
		"of the other":   {[]v1alpha1.WorkloadProfile{sure, unsure}, []float64{0.02, 0.02}},
		"alone: certain": {[]v1alpha1.WorkloadProfile{unsure}, []float64{0}},
	} {
		got, err := prediction.Predict(prediction.Input{Profiles: test.profiles, Cores: 1})
		if err != nil {
			t.Fatal(err)
		}
		for i, pods := range got.Pods {
			switch {
			case test.want == nil:
				if pods.DilationError != nil {
					t.Errorf("%s: %s is known to ± %v", name, pods.Profile, *pods.DilationError)
				}
			case pods.DilationError == nil || math.Abs(*pods.DilationError-test.want[i]) > 1e-9:
				t.Errorf("%s: %s is known to ± %v, want %v", name, pods.Profile, pods.DilationError, test.want[i])
			}
		}
	}
	wide := given.Measured(given.Workload("wide", 0), given.On("big", given.Noon, 1000, known(given.Found("cpu", "1"), "0.99")))
	_, err := prediction.Predict(prediction.Input{Profiles: []v1alpha1.WorkloadProfile{wide}, Cores: 1})
	if want := "what was measured is not used, being wider than ± 0.25: cpu 1.00 ± 0.99"; err == nil || !strings.Contains(err.Error(), want) {
		t.Errorf("the error is %v, want %q", err, want)
	}
}
