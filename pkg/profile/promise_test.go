package profile_test

import (
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"loadline.dev/loadline/apis/loadline/v1alpha1"
	"loadline.dev/loadline/pkg/model/sizing"
	"loadline.dev/loadline/pkg/profile"
)

func TestAWorkloadPromisesTheResponseTimeOfItsSLA(t *testing.T) {
	t.Parallel()
	tests := map[string]struct {
		sla  *v1alpha1.SLA
		want *sizing.SLA
	}{
		"no SLA":           {nil, nil},
		"a dilation alone": {&v1alpha1.SLA{MaxDilation: quantity("1.5")}, nil},
		"a response time":  {&v1alpha1.SLA{ResponseTimeMillis: new(int64(2500))}, &sizing.SLA{Within: 2.5, Probability: 0.95}},
		"with a probability": {
			&v1alpha1.SLA{ResponseTimeMillis: new(int64(1)), Probability: quantity("999m")}, &sizing.SLA{Within: 0.001, Probability: 0.999},
		},
	}
	for name, test := range tests {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			p := promising(test.sla)
			p.Spec.NeutralMillis = new(int64(1500))
			w, errs := profile.NewWorkload(p, profile.NewResources(nil))
			if len(errs) > 0 {
				t.Fatal(errs)
			}
			if diff := cmp.Diff(test.want, w.SLA); diff != "" {
				t.Errorf("unexpected promise (-want +got):\n%s", diff)
			}
			if w.NeutralSeconds != 1.5 {
				t.Errorf("it takes %v s, want 1.5", w.NeutralSeconds)
			}
		})
	}
}

func TestAnSLAThatIsNoPromiseIsRefused(t *testing.T) {
	t.Parallel()
	tests := map[string]struct {
		sla  *v1alpha1.SLA
		want string
	}{
		"no time": {&v1alpha1.SLA{ResponseTimeMillis: new(int64(0))}, "spec.sla.responseTimeMillis: Invalid value: 0: must be at least 1"},
		"a probability of 0": {
			&v1alpha1.SLA{ResponseTimeMillis: new(int64(1)), Probability: quantity("0")},
			`spec.sla.probability: Invalid value: "0": must be more than 0 and less than 1`,
		},
		"a probability of 1": {
			&v1alpha1.SLA{ResponseTimeMillis: new(int64(1)), Probability: quantity("1")},
			`spec.sla.probability: Invalid value: "1": must be more than 0 and less than 1`,
		},
	}
	for name, test := range tests {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			if _, errs := profile.NewWorkload(promising(test.sla), profile.NewResources(nil)); len(errs) != 1 || !strings.Contains(errs[0].Error(), test.want) {
				t.Errorf("%v, want %s", errs, test.want)
			}
		})
	}
}

// promising returns a valid profile with an SLA.
func promising(sla *v1alpha1.SLA) *v1alpha1.WorkloadProfile {
	p := declared("job", demand("cpu", "0.5"))
	p.Spec.SLA = sla
	return p
}

func TestASnapshotListsTheWorkloadsOfAllNamespaces(t *testing.T) {
	t.Parallel()
	elsewhere, invalid := declared("elsewhere", demand("cpu", "1")), declared("invalid")
	elsewhere.Namespace = "depot"
	index := indexOf(declared("a", demand("cpu", "1")), declared("b", demand("cpu", "1")), elsewhere, invalid)
	var names []string
	for w := range index.Snapshot().Workloads() {
		names = append(names, w.Namespace+"/"+w.Name)
	}
	slices.Sort(names)
	if diff := cmp.Diff([]string{"depot/elsewhere", "shop/a", "shop/b"}, names); diff != "" {
		t.Errorf("unexpected workloads (-want +got):\n%s", diff)
	}
	for range index.Snapshot().Workloads() {
		break
	}
}

func TestImportanceIsBounded(t *testing.T) {
	t.Parallel()
	for value, want := range map[string]float64{"": 1, "0.01": 0.01, "5": 5, "100": 100, "0": 0, "-1": 0, "100.1": 0, "1e400": 0} {
		p := promising(nil)
		if value != "" {
			p.Spec.Importance = quantity(value)
		}
		w, errs := profile.NewWorkload(p, profile.NewResources(nil))
		if want == 0 {
			if len(errs) != 1 || errs[0].Field != "spec.importance" || !strings.Contains(errs[0].Detail, "above 0 and at most 100") {
				t.Errorf("%q: %v", value, errs)
			}
		} else if len(errs) > 0 || w.Importance != want {
			t.Errorf("%q: %+v, %v", value, w, errs)
		}
	}
}

func TestANeutralCorrectionIsBounded(t *testing.T) {
	t.Parallel()
	for value, want := range map[string]float64{"": 1, "0.001": 0.001, "4.89": 4.89, "1000000": 1e6, "0": 0, "0.0009": 0, "-1": 0, "1000001": 0} {
		p := promising(nil)
		if value != "" {
			p.Spec.NeutralCorrection = quantity(value)
		}
		w, errs := profile.NewWorkload(p, profile.NewResources(nil))
		if want == 0 {
			if len(errs) != 1 || errs[0].Field != "spec.neutralCorrection" || !strings.Contains(errs[0].Detail, "from 0.001 to 1000000") {
				t.Errorf("%s: %v", value, errs)
			}
		} else if len(errs) > 0 || w.NeutralCorrection != want {
			t.Errorf("%q: %v, %v", value, errs, w)
		}
	}
}

func TestANeutralCorrectionChangesNoVector(t *testing.T) {
	t.Parallel()
	p := promising(nil)
	p.Spec.NeutralMillis = new(int64(1500))
	plain, errs := profile.NewWorkload(p, profile.NewResources(nil))
	p.Spec.NeutralCorrection = quantity("4.89")
	corrected, more := profile.NewWorkload(p, profile.NewResources(nil))
	if len(errs)+len(more) > 0 {
		t.Fatal(errs, more)
	}
	if diff := cmp.Diff(plain.On(profile.AnyClass), corrected.On(profile.AnyClass)); diff != "" || plain.NeutralSeconds != corrected.NeutralSeconds {
		t.Errorf("%v s and %v s; vectors (-without +with it):\n%s", plain.NeutralSeconds, corrected.NeutralSeconds, diff)
	}
}
