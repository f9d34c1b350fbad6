package profile_test

import (
	"math"
	"slices"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"

	"loadline.dev/loadline/apis/loadline/v1alpha1"
	"loadline.dev/loadline/pkg/model/loading"
	"loadline.dev/loadline/pkg/profile"
)

// interferes is an effect with a curve of pressures and inflations in turns.
func interferes(name, pressure string, curve ...string) v1alpha1.Interference {
	i := v1alpha1.Interference{Name: name}
	if pressure != "" {
		i.Pressure = quantity(pressure)
	}
	for k := 0; k < len(curve); k += 2 {
		i.Curve = append(i.Curve, v1alpha1.CurvePoint{Pressure: quantity(curve[k]), Inflation: quantity(curve[k+1])})
	}
	return i
}

func TestInterferenceIsPartOfEveryVectorOfAProfile(t *testing.T) {
	t.Parallel()
	effect := loading.Demand{Threads: 1, Effect: &loading.Effect{
		Pressure: 0.7, Curve: loading.Curve{{Pressure: 0.5, Inflation: 1.3}, {Pressure: 1, Inflation: 1.8}},
	}}
	p := declared("web", demand("cpu", "0.5"))
	p.Spec.Interference = []v1alpha1.Interference{interferes("llc", "700m", "0.5", "1.3", "1", "1.8"), interferes("core", "2")}
	sockets := machines("sockets", servers("cpu", 64))
	sockets.Spec.Interference = []v1alpha1.ResourceDomains{{Name: "core", Domains: new(int32(32))}, {Name: "llc", Domains: new(int32(4))}}

	w := valid(t, p, sockets)
	want := loading.Vector{loading.Symmetric(0.5), {}, {}, {}, effect, {Threads: 1, Effect: &loading.Effect{Pressure: 2}}}
	if diff := cmp.Diff(want, w.On("sockets").Vector, cmpopts.EquateApprox(0, 1e-15)); diff != "" {
		t.Errorf("declared: unexpected vector (-want +got):\n%s", diff)
	}
	if diff := cmp.Diff([]int{64, 1, 1, 1, 4, 32}, indexOf(sockets).Snapshot().Servers(node("sockets", "64"))); diff != "" {
		t.Errorf("unexpected servers (-want +got):\n%s", diff)
	}
	// A measurement of the loadings keeps the declared effects, also where no loading is declared.
	for _, resources := range [][]v1alpha1.ResourceDemand{{demand("cpu", "0.5")}, nil} {
		p.Spec.Resources = resources
		w = valid(t, measured(p, on("sockets", noon, found("cpu", "0.8", "0.9"))), sockets)
		if got := w.On("sockets").Vector; got[0].Loading != 0.8 || got[4].Effect == nil || got[5].Effect == nil {
			t.Errorf("measured: the vector is %+v", got)
		}
	}
	if w.On("others").Vector[4].Effect == nil {
		t.Error("the effect is missing on nodes of other classes")
	}
}

// pressed is a measured effect with the given inflation at pressures of 0.5 and 1, the latter within
// an error.
func pressed(name, pressure, half, full, within string) v1alpha1.MeasuredInterference {
	return v1alpha1.MeasuredInterference{Name: name, Pressure: quantity(pressure), Curve: []v1alpha1.MeasuredCurvePoint{
		{Pressure: quantity("0.5"), Inflation: quantity(half)}, {Pressure: quantity("1"), Inflation: quantity(full), InflationError: quantity(within)},
	}}
}

func TestMeasuredInterferenceGoesBeforeDeclared(t *testing.T) {
	t.Parallel()
	p := measured(declared("web", demand("cpu", "0.5")), on("any", noon, found("cpu", "0.8", "0.9")))
	p.Spec.Interference = []v1alpha1.Interference{interferes("llc", "0.1", "1", "1.1"), interferes("memory-bandwidth", "0.2", "1", "1.2")}
	p.Status.Measurements[0].Interference = []v1alpha1.MeasuredInterference{
		pressed("llc", "0.5", "1.25", "1.5", "0.1"), pressed("memory-bandwidth", "0.5", "1.25", "1.5", "0.3"), // the latter is too wide
	}
	v := valid(t, p).On("any").Vector
	if got := v[4].Effect.Curve.At(1); math.Abs(got-1.5) > 1e-9 {
		t.Errorf("at the cache it is %v, want 1.5 as measured", got)
	}
	if got := v[3].Effect.Curve.At(1); math.Abs(got-1.2) > 1e-9 {
		t.Errorf("at memory it is %v, want 1.2 as declared", got)
	}
	if names := profile.Named(p); !slices.Contains(names, "llc") {
		t.Errorf("the profile names %v", names)
	}
	// A measurement that came later has another effect: that is another profile to the scheduler.
	later := p.DeepCopy()
	later.Status.Measurements[0].Interference[0].Pressure = quantity("0.6")
	if !profile.SameWorkload(p, p.DeepCopy()) || profile.SameWorkload(p, later) {
		t.Error("a changed pressure is not noticed")
	}
	p.Status.Measurements[0].Interference[0].Curve[0].Inflation = quantity("2")
	_, errs := profile.NewWorkload(p, profile.NewResources(nil))
	want := []string{`status.measurements[0].interference[0].curve[1].inflation: Invalid value: "1500m": is not at least 2, that of the point before, and at most 1000`}
	if diff := cmp.Diff(want, messages(errs)); diff != "" {
		t.Errorf("unexpected errors (-want +got):\n%s", diff)
	}
}

func TestAProfileWithWrongInterferenceIsInvalid(t *testing.T) {
	t.Parallel()
	for name, test := range map[string]struct {
		resources    []v1alpha1.ResourceDemand
		interference []v1alpha1.Interference
		want         string
	}{
		"no cpu": {
			[]v1alpha1.ResourceDemand{demand("disk", "1")},
			[]v1alpha1.Interference{interferes("llc", "1")},
			"spec.resources: Required value: interference makes service take longer: list cpu, or the device that serves the pods, such as gpu; or say under spec.measurement how to measure it, or under spec.observation that gauges observe it",
		},
		"a resource with a queue": {
			[]v1alpha1.ResourceDemand{demand("cpu", "0.5"), demand("llc", "0.1")},
			[]v1alpha1.Interference{interferes("llc", "1")},
			`spec.interference[0].name: Duplicate value: "llc"`,
		},
		"one name twice":      {nil, []v1alpha1.Interference{interferes("llc", "1"), interferes("llc", "1")}, `spec.interference[1].name: Duplicate value: "llc"`},
		"a negative pressure": {nil, []v1alpha1.Interference{interferes("llc", "-1")}, `spec.interference[0].pressure: Invalid value: "-1": is not between 0 and 1000`},
		"a Unicode name":      {nil, []v1alpha1.Interference{interferes("größe", "1")}, `spec.interference[0].name: Invalid value: "größe": ` + notALabel},
		"half a point": {
			nil,
			[]v1alpha1.Interference{{Name: "llc", Curve: []v1alpha1.CurvePoint{{Pressure: quantity("1")}}}},
			"spec.interference[0].curve[0].inflation: Required value: a point of a curve has a pressure and an inflation",
		},
		"points out of order": {
			nil,
			[]v1alpha1.Interference{interferes("llc", "1", "1", "1.5", "0.5", "2")},
			"spec.interference[0].curve[1].pressure: Invalid value: \"500m\": is not above 1, that of the point before, and at most 1000",
		},
		"a falling curve": {
			nil,
			[]v1alpha1.Interference{interferes("llc", "1", "0.5", "1.5", "1", "1.2")},
			"spec.interference[0].curve[1].inflation: Invalid value: \"1200m\": is not at least 1.5, that of the point before, and at most 1000",
		},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			p := declared("web", demand("cpu", "0.5"))
			if test.resources != nil {
				p.Spec.Resources = test.resources
			}
			p.Spec.Interference = test.interference
			_, errs := profile.NewWorkload(p, profile.NewResources(nil))
			if diff := cmp.Diff([]string{test.want}, messages(errs)); diff != "" {
				t.Errorf("unexpected errors (-want +got):\n%s", diff)
			}
		})
	}
}

func TestANodeProfileWithWrongDomainsIsInvalid(t *testing.T) {
	t.Parallel()
	for name, test := range map[string]struct {
		domains v1alpha1.ResourceDomains
		want    string
	}{
		"none":                    {v1alpha1.ResourceDomains{Name: "llc"}, "spec.interference[0].domains: Invalid value: 0: is not between 1 and 16384"},
		"a resource with servers": {v1alpha1.ResourceDomains{Name: "cpu", Domains: new(int32(2))}, `spec.interference[0].name: Duplicate value: "cpu"`},
	} {
		p := machines("big", servers("cpu", 4))
		p.Spec.Interference = []v1alpha1.ResourceDomains{test.domains}
		_, errs := profile.NewNodeClass(p)
		if diff := cmp.Diff([]string{test.want}, messages(errs)); diff != "" {
			t.Errorf("%s: unexpected errors (-want +got):\n%s", name, diff)
		}
	}
}
