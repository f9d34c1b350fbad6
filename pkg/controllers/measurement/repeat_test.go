package measurement

import (
	"math"
	"strings"
	"testing"
	"time"

	batchv1 "k8s.io/api/batch/v1"
	"k8s.io/apimachinery/pkg/api/resource"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"loadline.dev/loadline/apis/loadline/v1alpha1"
	"loadline.dev/loadline/pkg/controllers/probejob"
	"loadline.dev/loadline/pkg/evaluate/prediction"
)

func TestAShortTargetRunsAgainWithinAStepUntilItWasSeenForLongEnough(t *testing.T) {
	t.Parallel()
	s := newSimulation(t, filecomp(only("cpu")), targetJob(), worker("worker-1", 1))
	s.neutral = 1700 * time.Millisecond
	ran := map[string]time.Duration{} // by the step and its round
	p := s.until(v1alpha1.ReasonMeasured, func() {
		var jobs batchv1.JobList
		s.must(s.List(t.Context(), &jobs, client.HasLabels{probejob.MeasurementKey}))
		targets := 0
		m := s.profile().Status.Measuring
		if m == nil {
			return
		}
		for i := range jobs.Items {
			if jobs.Items[i].Labels[probejob.StepKey] == m.Step && jobs.Items[i].Spec.Template.Spec.Containers[0].Name != probejob.ProbeContainer {
				targets++
			}
		}
		ran[m.Step] = max(ran[m.Step], time.Duration(targets)*s.neutral)
	})
	m := vector(t, p, v1alpha1.NoNodeProfile, map[string]float64{"cpu": 0.58})
	if got := time.Duration(*m.NeutralMillis) * time.Millisecond; math.Abs(float64(got-s.neutral)) > 0.02*float64(s.neutral) {
		t.Errorf("the neutral time is %v, want that of one run, %v", got, s.neutral)
	}
	if got := ran["alone"]; got < enough || got >= enough+s.neutral {
		t.Errorf("alone it ran for %v, want the fewest runs that take %v", got, enough)
	}
	if got := ran["beside-cpu"]; got < enough/2 || got >= enough {
		t.Errorf("beside the probe it did as much as in %v alone, want fewer runs than alone, since each takes longer, for %v", got, enough)
	}
	s.nothingLeft()
}

func TestATargetThatRunsForLongEnoughRunsOnce(t *testing.T) {
	t.Parallel()
	for once, want := range map[time.Duration]int{
		0: 1, time.Nanosecond: maxRuns, enough/2 - 1: 3, enough / 2: 2, enough - 1: 2, enough: 1, time.Hour: 1,
	} {
		if got := runsOf(once); got != want {
			t.Errorf("a target of %v runs %d times, want %d", once, got, want)
		}
	}
}

// What is measured too widely is no result: it neither is used nor takes the place of
// one that is.
func TestAResultThatIsTooWideIsNotUsed(t *testing.T) {
	t.Parallel()
	few := func(m *v1alpha1.Measurement) { m.MaxRounds = new(int32(2)) }
	for name, before := range map[string][]v1alpha1.MeasuredVector{
		"the first": nil,
		"in place of one in use": {{
			NodeProfile: v1alpha1.NoNodeProfile, Node: "worker-1", Time: &metav1.Time{Time: noon.Add(-time.Hour)}, Question: "another", Method: v1alpha1.MethodProbes, Rounds: new(int32(3)),
			Resources: []v1alpha1.MeasuredLoading{measured("cpu", "0.5", "0.02"), measured("disk", "0.4", "0.02")},
		}},
		"in place of one of an earlier version": {{
			NodeProfile: v1alpha1.NoNodeProfile, Node: "worker-1", Time: &metav1.Time{Time: noon.Add(-time.Hour)}, Question: "another", Method: v1alpha1.MethodProbes, Rounds: new(int32(3)),
			Resources: []v1alpha1.MeasuredLoading{measured("cpu", "1", "0.99"), measured("disk", "0", "0.02")},
		}},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			profile := filecomp(few)
			profile.Status.Measurements = before
			s := newSimulation(t, profile, targetJob(), worker("worker-1", 1))
			s.noise = 0.2
			p := s.until(v1alpha1.ReasonImprecise)
			c := s.condition()
			inUse := name == "in place of one in use"
			if used := c.Status == metav1.ConditionTrue; used != inUse {
				t.Errorf("the condition is %s, while a result is in use: %v", c.Status, inUse)
			}
			for _, want := range []string{"the result is not used, being wider than ± 0.25: ", "after 2 rounds", "raise maxRounds", "tried again at"} {
				if !strings.Contains(c.Message, want) {
					t.Errorf("%q does not say %q", c.Message, want)
				}
			}
			if got, want := len(p.Status.Measurements), len(before); got != want {
				t.Errorf("there are %d results, want the %d that there were", got, want)
			}
			_, err := prediction.Predict(prediction.Input{Profiles: []v1alpha1.WorkloadProfile{*p}, Cores: 1})
			if inUse != (err == nil) {
				t.Errorf("predicting it gives %v, while a result is in use: %v", err, inUse)
			}
			s.nothingLeft()
		})
	}
}

// measured is a component of a result, the pressure as wide as the loading.
func measured(name, loading, halfWidth string) v1alpha1.MeasuredLoading {
	return v1alpha1.MeasuredLoading{
		Name: name, Threads: new(int32(1)), Samples: new(int32(3)),
		Loading: new(resource.MustParse(loading)), LoadingError: new(resource.MustParse(halfWidth)),
		Pressure: new(resource.MustParse(loading)), PressureError: new(resource.MustParse(halfWidth)),
	}
}
