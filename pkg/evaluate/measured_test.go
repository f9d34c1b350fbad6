package evaluate_test

import (
	"fmt"
	"io"
	"math"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"loadline.dev/loadline/apis/loadline/v1alpha1"
	"loadline.dev/loadline/pkg/evaluate"
	"loadline.dev/loadline/pkg/model/contention/fit"
)

// probed returns the profile with its vector measured, and these found so far.
func probed(p v1alpha1.WorkloadProfile, vectors ...v1alpha1.MeasuredVector) v1alpha1.WorkloadProfile {
	p.Spec.Measurement, p.Status.Measurements = &v1alpha1.Measurement{}, vectors
	return p
}

// on is what was found on a class of nodes at a time.
func on(class string, at metav1.Time, millis int64, resources ...v1alpha1.MeasuredLoading) v1alpha1.MeasuredVector {
	return v1alpha1.MeasuredVector{NodeProfile: class, Time: &at, NeutralMillis: &millis, Resources: resources}
}

// found is a measured component, of one thread.
func found(name, loading string) v1alpha1.MeasuredLoading {
	return v1alpha1.MeasuredLoading{Name: name, Loading: quantity(loading), Pressure: quantity(loading), Threads: new(int32(1))}
}

// calibrated returns the profile with resources to calibrate.
func calibrated(p v1alpha1.NodeProfile, names ...string) v1alpha1.NodeProfile {
	p.Spec.Calibration = &v1alpha1.Calibration{}
	for _, name := range names {
		p.Spec.Calibration.Resources = append(p.Spec.Calibration.Resources, v1alpha1.ProbedResource{Name: name})
	}
	return p
}

// serving returns the profile with the servers that a calibration found; 0 is one
// that could not.
func serving(p v1alpha1.NodeProfile, name string, servers int32) v1alpha1.NodeProfile {
	r := v1alpha1.CalibratedResource{Name: name, Time: &noon}
	if servers > 0 {
		r.Servers = &servers
	}
	p.Status.Resources = append(p.Status.Resources, r)
	return p
}

func TestReadySaysWhichMeasuredVectorIsUsedWhere(t *testing.T) {
	t.Parallel()
	big, none := on("big", noon, 1000, found("cpu", "0.6")), on(v1alpha1.NoNodeProfile, evening, 2000, found("cpu", "0.8"))
	var many []v1alpha1.MeasuredVector
	for i := range 7 {
		many = append(many, on(fmt.Sprint("c", i), metav1.NewTime(noon.Add(time.Duration(-i)*time.Hour)), 1, found("cpu", "0.1")))
	}
	const uses = "True Measured: the scheduler uses the measured vectors for the pods that follow this profile: "
	tests := map[string]struct {
		profile v1alpha1.WorkloadProfile
		want    string
		vector  string // in use
	}{
		"declared, and to be measured": {probed(workload("web", 0, cpu("0.5"))), used, "cpu 500m"},
		"to be measured": {
			probed(workload("web", 0)),
			"Unknown NotMeasured: the scheduler places the pods that follow this profile by their requests until their vector is measured; " +
				"the condition Measured says how that goes",
			"",
		},
		"measured too widely": {
			probed(workload("web", 0), on("big", noon, 1000, within(found("cpu", "1"), "0.99"))),
			"Unknown NotMeasured: the scheduler places the pods that follow this profile by their requests until their vector is measured; " +
				"the condition Measured says how that goes; what was measured on nodes of big is not used, being wider than ± 0.25: cpu 1.00 ± 0.99",
			"",
		},
		"measured too widely, and declared": {
			probed(workload("web", 0, cpu("0.5")), on("big", noon, 1000, within(found("cpu", "1"), "0.99"))),
			used + "; what was measured on nodes of big is not used, being wider than ± 0.25: cpu 1.00 ± 0.99",
			"cpu 500m",
		},
		"measured here and there": {
			probed(workload("web", 0), big, none),
			uses + "on nodes without a NodeProfile that of 2026-07-01T18:00:00Z, on nodes of big that of 2026-07-01T12:00:00Z, on others that of nodes without a NodeProfile",
			"cpu 800m after 2000 ms",
		},
		"declared and measured": {
			probed(workload("web", 0, cpu("0.1"), disk("0.25")), big),
			uses + "on nodes of big that of 2026-07-01T12:00:00Z, on others the one in spec.resources",
			"cpu 600m, disk 250m after 1000 ms",
		},
		"declared what does not fit": {
			probed(workload("web", 0, disk("0.5")), big, none),
			uses + "on nodes without a NodeProfile that of 2026-07-01T18:00:00Z, on nodes of big that of 2026-07-01T12:00:00Z, on others the one in spec.resources" +
				"; it leaves out disk of spec.resources where, with what was measured, the loadings would add up to more than 1",
			"cpu 800m after 2000 ms",
		},
		"measured at a resource of no node": {
			probed(workload("web", 0), on("big", noon, 1, found("gpu", "0.5"))),
			"True UnknownResource: the scheduler ignores the demand at gpu: no NodeProfile names such a resource; " +
				"correct the name, or add it to the profile of the nodes that have it",
			"gpu 500m after 1 ms",
		},
		"measured on many classes": {
			probed(workload("web", 0), many...),
			uses + "on nodes of c0 that of 2026-07-01T12:00:00Z, on nodes of c1 that of 2026-07-01T11:00:00Z, on nodes of c2 that of 2026-07-01T10:00:00Z, " +
				"on nodes of c3 that of 2026-07-01T09:00:00Z, on nodes of c4 that of 2026-07-01T08:00:00Z, on those of 2 more their own, on others that of nodes of c0",
			"cpu 100m after 1 ms",
		},
	}
	for name, test := range tests {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			status := evaluate.WorkloadProfiles([]v1alpha1.WorkloadProfile{test.profile}, nil, nil, noon)[0]
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
	m := found(name, loading)
	m.Sensitivity = quantity(sensitivity)
	return m
}

func TestTheVectorInUseTellsWhatWaitingCosts(t *testing.T) {
	t.Parallel()
	p := probed(workload("web", 0, cpu("0.1")), on("big", noon, 1000, keen("disk", "0.8", "0.5"), found("network", "0.1")))
	var got []string
	for _, r := range evaluate.WorkloadProfiles([]v1alpha1.WorkloadProfile{p}, nil, nil, noon)[0].Resources {
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

func TestAFitIsPulledTowardsMeasuredSensitivities(t *testing.T) {
	t.Parallel()
	web := probed(workload("web", 0), on("big", noon, 1000, keen("disk", "0.8", "0.5")))
	probe := workload("probe", 0, disk("1"))
	pair := fit.Run{Name: "pair", Members: []fit.Member{{Job: "probe", Dilation: 2}, {Job: "probe", Dilation: 2}}}
	answer, err := evaluate.Fit(evaluate.FitInput{
		Runs: []fit.Run{pair}, Options: fit.Options{Resources: []string{"disk"}}, Declared: []v1alpha1.WorkloadProfile{web, probe},
	})
	if err != nil {
		t.Fatal(err)
	}
	i := slices.IndexFunc(answer.Jobs, func(j evaluate.FittedJob) bool { return j.Name == "web" })
	if got := answer.Jobs[i]; math.Abs(got.Sensitivity[0].Value-0.5) > 0.01 || math.Abs(got.Pressure[0].Value-0.8) > 0.01 {
		t.Errorf("nothing else is known of web, which is %+v, want sensitivity 0.5 and pressure 0.8", got)
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
			calibrated(class("big"), "disk"),
			"Unknown NotMeasured: the scheduler uses the defaults for the nodes that follow this profile until their servers are calibrated; " +
				"the condition Calibrated says how that goes",
			"",
		},
		"not yet, beside what is declared": {
			calibrated(class("big", gpus(8)), "disk", "cpu"),
			served + "; the default stands for disk, cpu until the servers are found", "gpu 8",
		},
		"all": {serving(calibrated(class("big"), "disk"), "disk", 8), uses + "disk 8 (2026-07-01T12:00:00Z)", "disk 8"},
		"some, beside what is declared": {
			serving(serving(calibrated(class("big", gpus(8)), "disk", "cpu", "network"), "disk", 8), "network", 0),
			uses + "disk 8 (2026-07-01T12:00:00Z), and those in spec.resources; the default stands for cpu, network until the servers are found",
			"disk 8, gpu 8",
		},
		"what is declared anyway": {serving(calibrated(class("big", gpus(8)), "gpu"), "gpu", 4), served, "gpu 8"},
		"invalid": {
			calibrated(class("big", gpus(0)), "disk"),
			"False Invalid: the scheduler ignores this profile: spec.resources[0].servers: Invalid value: 0: is not between 1 and 16384", "",
		},
	} {
		status := evaluate.NodeProfiles([]v1alpha1.NodeProfile{test.profile}, nil, noon)[0]
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
	p := probed(workload("web", 0, cpu("0.5")), on("big", noon, 1000, found("cpu", "0.6")))
	p.Status.Measuring = &v1alpha1.MeasurementProgress{NodeProfile: "small", Node: "worker-1"}
	p.Status.Conditions = []metav1.Condition{{Type: v1alpha1.ConditionMeasured, Status: metav1.ConditionTrue, Reason: v1alpha1.ReasonMeasured, LastTransitionTime: noon}}
	status := evaluate.WorkloadProfiles([]v1alpha1.WorkloadProfile{p}, nil, nil, evening)[0]
	if diff := cmp.Diff(p.Status.Measurements, status.Measurements); diff != "" {
		t.Errorf("measurements (-before +after):\n%s", diff)
	}
	if diff := cmp.Diff(p.Status.Measuring, status.Measuring); diff != "" {
		t.Errorf("measuring (-before +after):\n%s", diff)
	}
	if diff := cmp.Diff(p.Status.Conditions[0], status.Conditions[0]); diff != "" {
		t.Errorf("the condition Measured (-before +after):\n%s", diff)
	}

	n := serving(calibrated(class("big"), "disk"), "disk", 8)
	n.Status.Calibrating = &v1alpha1.CalibrationProgress{Resource: "disk", Node: "worker-1"}
	after := evaluate.NodeProfiles([]v1alpha1.NodeProfile{n}, nil, evening)[0]
	if diff := cmp.Diff(n.Status.Resources, after.Resources); diff != "" {
		t.Errorf("calibrated resources (-before +after):\n%s", diff)
	}
	if diff := cmp.Diff(n.Status.Calibrating, after.Calibrating); diff != "" {
		t.Errorf("calibrating (-before +after):\n%s", diff)
	}
}

func TestAPredictionUsesWhatWasMeasuredOnTheClassOfTheNode(t *testing.T) {
	t.Parallel()
	job := probed(workload("web", 0), on("big", noon, 1000, found("cpu", "0.5")), on("small", evening, 2000, found("cpu", "1")))
	for name, test := range map[string]struct {
		nodes    []v1alpha1.NodeProfile
		neutral  float64
		dilation float64 // of two, on one core
	}{
		"a class that was measured":            {[]v1alpha1.NodeProfile{class("big", gpus(1))}, 1, 1.25},
		"another class that was measured":      {[]v1alpha1.NodeProfile{class("small", gpus(1))}, 2, 2},
		"a class that was not":                 {[]v1alpha1.NodeProfile{class("other", gpus(1))}, 2, 2},
		"a class that nobody knows":            {nil, 2, 2},
		"a class with two calibrated servers":  {[]v1alpha1.NodeProfile{serving(calibrated(class("small"), "cpu"), "cpu", 2)}, 2, 1},
		"a class that is not calibrated (yet)": {[]v1alpha1.NodeProfile{calibrated(class("small"), "cpu")}, 2, 2},
	} {
		p, err := evaluate.Predict(evaluate.PredictionInput{
			Profiles: []v1alpha1.WorkloadProfile{job}, Pods: []evaluate.Pods{{Profile: "web", Copies: 2}}, Nodes: test.nodes, Cores: 1, Solver: "first-order",
		})
		if err != nil {
			t.Errorf("%s: %v", name, err)
			continue
		}
		if got := p.Pods[0]; math.Abs(got.Dilation-test.dilation) > 1e-12 || *got.NeutralSeconds != test.neutral {
			t.Errorf("%s: dilation %v after %v s, want %v after %v s", name, got.Dilation, *got.NeutralSeconds, test.dilation, test.neutral)
		}
	}
	_, err := evaluate.Predict(evaluate.PredictionInput{Profiles: []v1alpha1.WorkloadProfile{probed(workload("web", 0))}, Cores: 1})
	const want = `pods "shop/web": has no loading vector yet: list it in spec.resources, or wait until status.measurements holds what was measured`
	if err == nil || err.Error() != want {
		t.Errorf("error %v, want %s", err, want)
	}
}

func TestAReplayUsesWhatWasMeasuredAndMissesOnlyWhatItNeeds(t *testing.T) {
	t.Parallel()
	profiles := []v1alpha1.WorkloadProfile{
		probed(workload("web", 0), on("big", noon, 1000, found("cpu", "0.5")), on("small", evening, 2000, found("cpu", "1"))),
		probed(workload("unknown", 0)),
	}
	nodes := []v1alpha1.NodeProfile{serving(calibrated(class("big"), "cpu"), "cpu", 2), class("small", gpus(1))}
	// run replays two jobs that arrive at once, and returns how long they take.
	run := func(t *testing.T, jobs string, classes ...string) (float64, error) {
		t.Helper()
		replay := &v1alpha1.TraceReplay{Spec: v1alpha1.TraceReplaySpec{
			Trace: &v1alpha1.ReplayTrace{}, Policies: []v1alpha1.ReplayPolicy{{Name: "round-robin"}}, Solver: "first-order",
		}}
		for i, class := range classes {
			replay.Spec.Nodes = append(replay.Spec.Nodes, v1alpha1.ReplayNodes{Name: fmt.Sprint("node", i), NodeProfile: class})
		}
		r, err := evaluate.NewReplay(evaluate.ReplayInput{Replay: replay, Workloads: profiles, Nodes: nodes, Open: func() (io.ReadCloser, string, error) {
			return io.NopCloser(strings.NewReader("#loadline-trace/v1\ntype,arrival\n" + jobs)), "jobs.csv", nil
		}})
		if err != nil {
			t.Fatal(err)
		}
		result, err := r.Run(t.Context(), 0, evaluate.ReplayWatch{})
		return result.MakespanSeconds, err
	}
	for name, test := range map[string]struct {
		classes []string
		want    float64
	}{
		"two servers, measured there":   {[]string{"big"}, 1},
		"one server, measured there":    {[]string{"small"}, 4},
		"classes that differ":           {[]string{"small", "big"}, 2}, // each on its own, with the latest vector
		"nodes of no class":             {[]string{""}, 4},
		"nodes of one class, and again": {[]string{"big", "big"}, 1},
	} {
		if got, err := run(t, "web,0\nweb,0\n", test.classes...); err != nil || math.Abs(got-test.want) > 1e-9 {
			t.Errorf("%s: done after %v s (%v), want %v s", name, got, err, test.want)
		}
	}
	const want = `jobs.csv, line 3: type "unknown": the WorkloadProfile has no loading vector yet: list it in spec.resources, or wait until status.measurements holds what was measured; or give the job demands of its own`
	if _, err := run(t, "unknown,0\n", "big"); err == nil || err.Error() != want {
		t.Errorf("error %v, want %s", err, want)
	}
}

func TestAPlanUsesTheMeasuredNeutralTime(t *testing.T) {
	t.Parallel()
	p := probed(workload("web", 0), on("big", noon, 500), on("small", evening, 2000))
	p.Spec.Arrival = &v1alpha1.Arrival{RatePerSecond: quantity("0.5")}
	p.Spec.SLA = &v1alpha1.SLA{ResponseTimeMillis: new(int64(9000))}
	plan := poolPlan(t, "classes: [{name: web, profile: {namespace: shop, name: web}}]")
	answer := func() (*evaluate.PoolPlanAnswer, error) {
		return evaluate.PoolPlan(t.Context(), evaluate.PoolPlanInput{Plan: plan, Profiles: []v1alpha1.WorkloadProfile{p}})
	}
	a, err := answer()
	if err != nil {
		t.Fatal(err)
	}
	if got := a.Inputs[0].Service; got.Value != 2 || got.Source != v1alpha1.SourceProfile {
		t.Errorf("the service time is %+v, want 2 s of the profile", got)
	}
	p.Spec.NeutralMillis = new(int64(1000))
	if a, err = answer(); err != nil || a.Inputs[0].Service.Value != 1 {
		t.Errorf("with a declared neutral time the service time is %+v (%v), want 1 s", a.Inputs[0].Service, err)
	}
	p.Spec.NeutralMillis, p.Status.Measurements = nil, nil
	if _, err := answer(); err == nil || !strings.Contains(err.Error(), "the WorkloadProfile shop/web has no neutralMillis") {
		t.Errorf("without any neutral time: %v", err)
	}
}

func TestAFitIsPulledTowardsWhatWasMeasured(t *testing.T) {
	t.Parallel()
	in := evaluate.FitInput{
		Runs:     []fit.Run{{Members: []fit.Member{{Job: "a", Dilation: 1.2}, {Job: "b", Dilation: 1.2}}}},
		Options:  fit.Options{Resources: []string{"cpu"}},
		Declared: []v1alpha1.WorkloadProfile{probed(workload("a", 0))},
	}
	_, err := evaluate.Fit(in)
	const want = "profile a: has no loading vector yet: list it in spec.resources, or wait until status.measurements holds what was measured"
	if err == nil || err.Error() != want {
		t.Errorf("error %v, want %s", err, want)
	}
	in.Declared[0] = probed(in.Declared[0], on("big", noon, 1, found("gpu", "0.6")))
	if _, err := evaluate.Fit(in); err == nil || err.Error() != `profile a: resource "gpu" is not among the resources of the fit` {
		t.Errorf("a measured resource is not looked at: %v", err)
	}
}

// within returns a measured component with its interval.
func within(l v1alpha1.MeasuredLoading, halfWidth string) v1alpha1.MeasuredLoading {
	l.LoadingError, l.PressureError = quantity(halfWidth), quantity(halfWidth)
	return l
}

// λ = 1 + p·q, of p and q within margins.
func TestAPredictionCarriesTheIntervalsOfItsVectors(t *testing.T) {
	t.Parallel()
	sure := probed(workload("sure", 0), on("big", noon, 1000, found("cpu", "0.5")))
	unsure := probed(workload("unsure", 0), on("big", noon, 1000, within(found("cpu", "0.4"), "0.04")))
	for name, test := range map[string]struct {
		profiles []v1alpha1.WorkloadProfile
		want     []float64
	}{
		"none known":     {[]v1alpha1.WorkloadProfile{sure}, nil},
		"of the other":   {[]v1alpha1.WorkloadProfile{sure, unsure}, []float64{0.02, 0.02}},
		"alone: certain": {[]v1alpha1.WorkloadProfile{unsure}, []float64{0}},
	} {
		got, err := evaluate.Predict(evaluate.PredictionInput{Profiles: test.profiles, Cores: 1})
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
	wide := probed(workload("wide", 0), on("big", noon, 1000, within(found("cpu", "1"), "0.99")))
	_, err := evaluate.Predict(evaluate.PredictionInput{Profiles: []v1alpha1.WorkloadProfile{wide}, Cores: 1})
	if want := "what was measured is not used, being wider than ± 0.25: cpu 1.00 ± 0.99"; err == nil || !strings.Contains(err.Error(), want) {
		t.Errorf("the error is %v, want %q", err, want)
	}
}
