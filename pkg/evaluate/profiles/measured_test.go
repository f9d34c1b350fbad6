package profiles_test

import (
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"loadline.dev/loadline/apis/loadline/v1alpha1"
	"loadline.dev/loadline/pkg/evaluate/profiles"
	"loadline.dev/loadline/test/given"
)

func TestReadySaysWhichMeasuredVectorIsUsedWhere(t *testing.T) {
	t.Parallel()
	big, none := given.On("big", given.Noon, 1000, given.Found("cpu", "0.6")), given.On(v1alpha1.NoNodeProfile, given.Evening, 2000, given.Found("cpu", "0.8"))
	var many []v1alpha1.MeasuredVector
	for i := range 7 {
		many = append(many, given.On(fmt.Sprint("c", i), metav1.NewTime(given.Noon.Add(time.Duration(-i)*time.Hour)), 1, given.Found("cpu", "0.1")))
	}
	const uses = "True Measured: the scheduler uses the measured vectors for the pods that follow this profile: "
	tests := map[string]struct {
		profile v1alpha1.WorkloadProfile
		want    string
		vector  string // in use
	}{
		"declared, and to be measured": {given.Measured(given.Workload("web", 0, given.CPU("0.5"))), used, "cpu 500m"},
		"to be measured": {
			given.Measured(given.Workload("web", 0)),
			"Unknown NotMeasured: the scheduler places the pods that follow this profile by their requests until their vector is measured; " +
				"the condition Measured says how that goes",
			"",
		},
		"measured too widely": {
			given.Measured(given.Workload("web", 0), given.On("big", given.Noon, 1000, within(given.Found("cpu", "1"), "0.99"))),
			"Unknown NotMeasured: the scheduler places the pods that follow this profile by their requests until their vector is measured; " +
				"the condition Measured says how that goes; what was measured on nodes of big is not used, being wider than ± 0.25: cpu 1.00 ± 0.99",
			"",
		},
		"measured too widely, and declared": {
			given.Measured(given.Workload("web", 0, given.CPU("0.5")), given.On("big", given.Noon, 1000, within(given.Found("cpu", "1"), "0.99"))),
			used + "; what was measured on nodes of big is not used, being wider than ± 0.25: cpu 1.00 ± 0.99",
			"cpu 500m",
		},
		"measured here and there": {
			given.Measured(given.Workload("web", 0), big, none),
			uses + "on nodes without a NodeProfile that of 2026-07-01T18:00:00Z, on nodes of big that of 2026-07-01T12:00:00Z, on others that of nodes without a NodeProfile",
			"cpu 800m after 2000 ms",
		},
		"declared and measured": {
			given.Measured(given.Workload("web", 0, given.CPU("0.1"), given.Disk("0.25")), big),
			uses + "on nodes of big that of 2026-07-01T12:00:00Z, on others the one in spec.resources",
			"cpu 600m, disk 250m after 1000 ms",
		},
		"declared what does not fit": {
			given.Measured(given.Workload("web", 0, given.Disk("0.5")), big, none),
			uses + "on nodes without a NodeProfile that of 2026-07-01T18:00:00Z, on nodes of big that of 2026-07-01T12:00:00Z, on others the one in spec.resources" +
				"; it leaves out disk of spec.resources where, with what was measured, the loadings would add up to more than 1",
			"cpu 800m after 2000 ms",
		},
		"measured at a resource of no node": {
			given.Measured(given.Workload("web", 0), given.On("big", given.Noon, 1, given.Found("gpu", "0.5"))),
			"True UnknownResource: the scheduler ignores the demand at gpu: no NodeProfile names such a resource; " +
				"correct the name, or add it to the profile of the nodes that have it",
			"gpu 500m after 1 ms",
		},
		"measured on many classes": {
			given.Measured(given.Workload("web", 0), many...),
			uses + "on nodes of c0 that of 2026-07-01T12:00:00Z, on nodes of c1 that of 2026-07-01T11:00:00Z, on nodes of c2 that of 2026-07-01T10:00:00Z, " +
				"on nodes of c3 that of 2026-07-01T09:00:00Z, on nodes of c4 that of 2026-07-01T08:00:00Z, on those of 2 more their own, on others that of nodes of c0",
			"cpu 100m after 1 ms",
		},
	}
	for name, test := range tests {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			status := profiles.WorkloadProfiles([]v1alpha1.WorkloadProfile{test.profile}, nil, nil, given.Noon)[0]
			if diff := cmp.Diff(test.want, says(status.Conditions, v1alpha1.ConditionReady)); diff != "" {
				t.Errorf("unexpected condition (-want +got):\n%s", diff)
			}
			var parts []string
			for _, r := range status.Resources {
				parts = append(parts, r.Name+" "+r.Loading.String())
			}
			vector := strings.Join(parts, ", ")
			if status.NeutralMillis != nil {
				vector += fmt.Sprintf(" after %d ms", *status.NeutralMillis)
			}
			if vector != test.vector {
				t.Errorf("the vector in use is %q, want %q", vector, test.vector)
			}
		})
	}
}

// keen is a measured component of one thread that waits for less than its loading.
func keen(name, loading, sensitivity string) v1alpha1.MeasuredLoading {
	m := given.Found(name, loading)
	m.Sensitivity = given.Quantity(sensitivity)
	return m
}

func TestTheVectorInUseTellsWhatWaitingCosts(t *testing.T) {
	t.Parallel()
	p := given.Measured(given.Workload("web", 0, given.CPU("0.1")), given.On("big", given.Noon, 1000, keen("disk", "0.8", "0.5"), given.Found("network", "0.1")))
	var got []string
	for _, r := range profiles.WorkloadProfiles([]v1alpha1.WorkloadProfile{p}, nil, nil, given.Noon)[0].Resources {
		part := r.Name
		if r.Sensitivity != nil {
			part += " " + r.Sensitivity.String()
		}
		got = append(got, part)
	}
	if diff := cmp.Diff([]string{"disk 500m", "network", "cpu"}, got); diff != "" {
		t.Errorf("unexpected sensitivities (-want +got):\n%s", diff)
	}
}

func TestReadySaysWhichServersAreCalibrated(t *testing.T) {
	t.Parallel()
	const uses = "True Calibrated: the scheduler uses the calibrated servers for the nodes that follow this profile: "
	for name, test := range map[string]struct {
		profile v1alpha1.NodeProfile
		want    string
		servers string // in use
	}{
		"not yet": {
			given.Calibrated(given.Class("big"), "disk"),
			"Unknown NotMeasured: the scheduler uses the defaults for the nodes that follow this profile until their servers are calibrated; " +
				"the condition Calibrated says how that goes",
			"",
		},
		"not yet, beside what is declared": {
			given.Calibrated(given.Class("big", given.GPUs(8)), "disk", "cpu"),
			served + "; the default stands for disk, cpu until the servers are found", "gpu 8",
		},
		"all": {given.Serving(given.Calibrated(given.Class("big"), "disk"), "disk", 8), uses + "disk 8 (2026-07-01T12:00:00Z)", "disk 8"},
		"some, beside what is declared": {
			given.Serving(given.Serving(given.Calibrated(given.Class("big", given.GPUs(8)), "disk", "cpu", "network"), "disk", 8), "network", 0),
			uses + "disk 8 (2026-07-01T12:00:00Z), and those in spec.resources; the default stands for cpu, network until the servers are found",
			"disk 8, gpu 8",
		},
		"what is declared anyway": {given.Serving(given.Calibrated(given.Class("big", given.GPUs(8)), "gpu"), "gpu", 4), served, "gpu 8"},
		"invalid": {
			given.Calibrated(given.Class("big", given.GPUs(0)), "disk"),
			"False Invalid: the scheduler ignores this profile: spec.resources[0].servers: Invalid value: 0: is not between 1 and 16384", "",
		},
	} {
		status := profiles.NodeProfiles([]v1alpha1.NodeProfile{test.profile}, nil, given.Noon)[0]
		if diff := cmp.Diff(test.want, says(status.Conditions, v1alpha1.ConditionReady)); diff != "" {
			t.Errorf("%s: unexpected condition (-want +got):\n%s", name, diff)
		}
		var servers []string
		for _, s := range status.Servers {
			servers = append(servers, fmt.Sprintf("%s %d", s.Name, *s.Servers))
		}
		if got := strings.Join(servers, ", "); got != test.servers {
			t.Errorf("%s: the servers in use are %q, want %q", name, got, test.servers)
		}
	}
}

func TestWhatMeasurementsWriteStaysAsItIs(t *testing.T) {
	t.Parallel()
	p := given.Measured(given.Workload("web", 0, given.CPU("0.5")), given.On("big", given.Noon, 1000, given.Found("cpu", "0.6")))
	p.Status.Measuring = &v1alpha1.MeasurementProgress{NodeProfile: "small", Node: "worker-1"}
	p.Status.Conditions = []metav1.Condition{{Type: v1alpha1.ConditionMeasured, Status: metav1.ConditionTrue, Reason: v1alpha1.ReasonMeasured, LastTransitionTime: given.Noon}}
	status := profiles.WorkloadProfiles([]v1alpha1.WorkloadProfile{p}, nil, nil, given.Evening)[0]
	if diff := cmp.Diff(p.Status.Measurements, status.Measurements); diff != "" {
		t.Errorf("measurements (-before +after):\n%s", diff)
	}
	if diff := cmp.Diff(p.Status.Measuring, status.Measuring); diff != "" {
		t.Errorf("measuring (-before +after):\n%s", diff)
	}
	if diff := cmp.Diff(p.Status.Conditions[0], status.Conditions[0]); diff != "" {
		t.Errorf("the condition Measured (-before +after):\n%s", diff)
	}

	n := given.Serving(given.Calibrated(given.Class("big"), "disk"), "disk", 8)
	n.Status.Calibrating = &v1alpha1.CalibrationProgress{Resource: "disk", Node: "worker-1"}
	after := profiles.NodeProfiles([]v1alpha1.NodeProfile{n}, nil, given.Evening)[0]
	if diff := cmp.Diff(n.Status.Resources, after.Resources); diff != "" {
		t.Errorf("calibrated resources (-before +after):\n%s", diff)
	}
	if diff := cmp.Diff(n.Status.Calibrating, after.Calibrating); diff != "" {
		t.Errorf("calibrating (-before +after):\n%s", diff)
	}
}

// within returns a measured component with its interval.
func within(l v1alpha1.MeasuredLoading, halfWidth string) v1alpha1.MeasuredLoading {
	l.LoadingError, l.PressureError = given.Quantity(halfWidth), given.Quantity(halfWidth)
	return l
}
