package profile_test

import (
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"pgregory.net/rapid"

	"loadline.dev/loadline/apis/loadline/v1alpha1"
	"loadline.dev/loadline/pkg/model/contention"
	"loadline.dev/loadline/pkg/model/loading"
	"loadline.dev/loadline/pkg/profile"
)

var evening = noon.Add(6 * time.Hour)

func TestAWorkloadHasTheVectorOfTheClassOfNodes(t *testing.T) {
	t.Parallel()
	big, small := on("big", noon, found("cpu", "0.625", "0.75")), on("small", evening, found("cpu", "0.8", "0.9"))
	none := on(v1alpha1.NoNodeProfile, noon, found("cpu", "0.1", "0.1"))
	tests := map[string]struct {
		profile *v1alpha1.WorkloadProfile
		want    map[string]float64 // the loading of cpu by class
	}{
		"declared alone": {
			declared("web", demand("cpu", "0.5")),
			map[string]float64{"big": 0.5, v1alpha1.NoNodeProfile: 0.5, profile.AnyClass: 0.5},
		},
		"declared, and not measured yet": {
			measured(declared("web", demand("cpu", "0.5"))),
			map[string]float64{"big": 0.5, v1alpha1.NoNodeProfile: 0.5, profile.AnyClass: 0.5},
		},
		"declared and measured": {
			measured(declared("web", demand("cpu", "0.5")), big, small),
			map[string]float64{"big": 0.625, "small": 0.8, "other": 0.5, v1alpha1.NoNodeProfile: 0.5, profile.AnyClass: 0.8},
		},
		"measured alone": {
			measured(declared("web"), small, big),
			map[string]float64{"big": 0.625, "small": 0.8, "other": 0.8, v1alpha1.NoNodeProfile: 0.8, profile.AnyClass: 0.8},
		},
		"measured on nodes without a class": {
			measured(declared("web"), none),
			map[string]float64{"big": 0.1, v1alpha1.NoNodeProfile: 0.1, profile.AnyClass: 0.1},
		},
		"measured at one moment": {
			measured(declared("web"), on("b", noon, found("cpu", "0.2", "0")), on("a", noon, found("cpu", "0.1", "0"))),
			map[string]float64{"a": 0.1, "b": 0.2, "c": 0.1},
		},
	}
	for name, test := range tests {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			w := valid(t, test.profile)
			for class, want := range test.want {
				if got := w.On(class).Vector[0].Loading; got != want {
					t.Errorf("on %q: the loading of cpu is %v, want %v", class, got, want)
				}
			}
		})
	}
	if v := valid(t, measured(declared("web"))).On("big"); v != nil {
		t.Errorf("not measured yet, and in use: %+v", v)
	}
}

func TestDeclaredResourcesThatWereNotMeasuredCountBesideTheMeasuredOnes(t *testing.T) {
	t.Parallel()
	tests := map[string]struct {
		measured []v1alpha1.MeasuredLoading
		declared []v1alpha1.ResourceDemand
		want     map[string]loading.Demand
		leftOut  []string
	}{
		"one that fits": {
			[]v1alpha1.MeasuredLoading{found("cpu", "0.625", "0.75")},
			[]v1alpha1.ResourceDemand{demand("cpu", "0.1"), demand("network", "0.375")},
			map[string]loading.Demand{"cpu": {Loading: 0.625, Pressure: 0.75, Threads: 1}, "network": loading.Symmetric(0.375)},
			nil,
		},
		"one that does not, before one that does": {
			[]v1alpha1.MeasuredLoading{found("cpu", "0.8", "0.8")},
			[]v1alpha1.ResourceDemand{demand("disk", "0.3"), demand("network", "0.2")},
			map[string]loading.Demand{"cpu": loading.Symmetric(0.8), "network": loading.Symmetric(0.2)},
			[]string{"disk"},
		},
		"beside what takes all the time": {
			[]v1alpha1.MeasuredLoading{found("cpu", "1.01", "1.02")},
			[]v1alpha1.ResourceDemand{demand("disk", "0.001"), demand("network", "0")},
			map[string]loading.Demand{"cpu": loading.Symmetric(1), "network": loading.Symmetric(0)},
			[]string{"disk"},
		},
		"nothing declared": {
			[]v1alpha1.MeasuredLoading{{Name: "cpu", Loading: quantity("0.5"), Pressure: quantity("0.25"), Threads: new(int32(8))}},
			nil,
			map[string]loading.Demand{"cpu": {Loading: 0.5, Pressure: 0.25, Threads: 8}},
			nil,
		},
		"how sensitive it is": {
			[]v1alpha1.MeasuredLoading{
				{Name: "cpu", Loading: quantity("0.25"), Pressure: quantity("0.3"), Sensitivity: quantity("0.2"), Threads: new(int32(1))},
				{Name: "disk", Loading: quantity("0.5"), Pressure: quantity("0.5"), Sensitivity: quantity("-0.01"), Threads: new(int32(1))},
				{Name: "network", Loading: quantity("0.1"), Pressure: quantity("0.1"), Sensitivity: quantity("1.01"), Threads: new(int32(1))},
			},
			nil,
			map[string]loading.Demand{
				"cpu":     {Loading: 0.25, Pressure: 0.3, Sensitivity: 0.2, Threads: 1},
				"disk":    {Loading: 0.5, Pressure: 0.5, Sensitivity: 0.0005, Threads: 1}, // which is not to be taken for 0.5
				"network": {Loading: 0.1, Pressure: 0.1, Sensitivity: 1, Threads: 1},
			},
			nil,
		},
		"errors of the measurement": {
			[]v1alpha1.MeasuredLoading{found("cpu", "0.9", "1.1"), found("disk", "0.6", "0.6"), found("network", "-0.02", "-0.01")},
			nil,
			map[string]loading.Demand{"cpu": {Loading: 0.6, Pressure: 1, Threads: 1}, "disk": {Loading: 0.4, Pressure: 0.6, Threads: 1}, "network": loading.Symmetric(0)},
			nil,
		},
	}
	for name, test := range tests {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			v := valid(t, measured(declared("web", test.declared...), on("big", noon, test.measured...))).On("big")
			got := map[string]loading.Demand{}
			for _, d := range v.Demands {
				got[d.Resource] = d.Demand
			}
			if diff := cmp.Diff(test.want, got, cmpopts.EquateApprox(0, 1e-12)); diff != "" {
				t.Errorf("unexpected demands (-want +got):\n%s", diff)
			}
			if diff := cmp.Diff(test.leftOut, v.LeftOut); diff != "" {
				t.Errorf("unexpectedly left out (-want +got):\n%s", diff)
			}
		})
	}
}

func TestTheModelTakesEveryVectorThatIsMeasured(t *testing.T) {
	t.Parallel()
	rapid.Check(t, func(t *rapid.T) {
		fractions := rapid.SampledFrom([]string{"-5", "-0.01", "0", "0.3333333333", "0.5", "0.99", "1", "1.03", "7"})
		var found []v1alpha1.MeasuredLoading
		for _, name := range rapid.SliceOfNDistinct(rapid.SampledFrom([]string{"cpu", "disk", "network"}), 1, 3, rapid.ID).Draw(t, "measured") {
			found = append(found, v1alpha1.MeasuredLoading{Name: name, Loading: quantity(fractions.Draw(t, "loading")), Pressure: quantity(fractions.Draw(t, "pressure")), Sensitivity: quantity(fractions.Draw(t, "sensitivity"))})
		}
		p := measured(declared("web", demand("disk", "0.5"), demand("memory-bandwidth", "0.3333333333")), on("big", noon, found...))
		w, errs := profile.NewWorkload(p, profile.NewResources(nil))
		if len(errs) > 0 {
			t.Fatal(errs.ToAggregate())
		}
		if err := w.On("big").Vector.Validate(); err != nil {
			t.Fatal(err)
		}
	})
}

func TestAnInvalidMeasurementIsRefusedByFieldValueAndRule(t *testing.T) {
	t.Parallel()
	at := new(metav1.NewTime(noon))
	tests := map[string]struct {
		vectors []v1alpha1.MeasuredVector
		want    []string
	}{
		"nothing": {
			[]v1alpha1.MeasuredVector{{}},
			[]string{
				"status.measurements[0].nodeProfile: Required value: say of which class of nodes it is",
				"status.measurements[0].time: Required value: say when it was measured",
				"status.measurements[0].resources: Required value: list at least one resource",
			},
		},
		"no numbers": {
			[]v1alpha1.MeasuredVector{{NodeProfile: "big", Time: at, Resources: []v1alpha1.MeasuredLoading{{Name: "cpu", Threads: new(int32(0))}}}},
			[]string{
				"status.measurements[0].resources[0].loading: Required value: every measured resource has it",
				"status.measurements[0].resources[0].pressure: Required value: every measured resource has it",
				"status.measurements[0].resources[0].threads: Invalid value: 0: is not between 1 and 1024",
			},
		},
		"twice the same": {
			[]v1alpha1.MeasuredVector{on("big", noon, found("cpu", "1", "1"), found("cpu", "1", "1")), on("big", noon, found("cpu", "1", "1"))},
			[]string{
				`status.measurements[0].resources[1].name: Duplicate value: "cpu"`,
				`status.measurements[1].nodeProfile: Duplicate value: "big"`,
			},
		},
	}
	for name, test := range tests {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			w, errs := profile.NewWorkload(measured(declared("web", demand("cpu", "0.5")), test.vectors...), profile.NewResources(nil))
			if w != nil {
				t.Errorf("in use as %+v", w)
			}
			if diff := cmp.Diff(test.want, messages(errs)); diff != "" {
				t.Errorf("unexpected errors (-want +got):\n%s", diff)
			}
		})
	}
}

func TestTheNeutralTimeIsTheDeclaredOneElseThatOfTheClassElseTheLatest(t *testing.T) {
	t.Parallel()
	took := func(v v1alpha1.MeasuredVector, millis int64) v1alpha1.MeasuredVector {
		v.NeutralMillis = new(millis)
		return v
	}
	big, small := took(on("big", noon), 1000), took(on("small", evening), 2000)
	untimed := on("untimed", evening.Add(time.Hour))
	stated := measured(declared("web"), big, small)
	stated.Spec.NeutralMillis = new(int64(500))
	withdrawn := measured(declared("web"), big)
	withdrawn.Spec.Measurement = nil
	for name, test := range map[string]struct {
		profile *v1alpha1.WorkloadProfile
		class   string
		want    int64 // 0: not known
	}{
		"declared":                {stated, "big", 500},
		"measured there":          {measured(declared("web"), big, small, untimed), "big", 1000},
		"measured elsewhere":      {measured(declared("web"), big, small, untimed), "other", 2000},
		"measured there, no time": {measured(declared("web"), big, untimed), "untimed", 1000},
		"where nobody knows":      {measured(declared("web"), small, big), profile.AnyClass, 2000},
		"not measured yet":        {measured(declared("web")), "big", 0},
		"no longer asked for":     {withdrawn, "big", 0},
	} {
		got := int64(0)
		if n := profile.NeutralMillis(test.profile, test.class); n != nil {
			got = *n
		}
		if got != test.want {
			t.Errorf("%s: %d ms, want %d", name, got, test.want)
		}
	}
}

func TestAResultThatIsTooWideIsNotUsed(t *testing.T) {
	t.Parallel()
	within := func(loading, pressure string) v1alpha1.MeasuredLoading {
		l := found("cpu", "0.6", "0.5")
		if loading != "" {
			l.LoadingError = quantity(loading)
		}
		if pressure != "" {
			l.PressureError = quantity(pressure)
		}
		return l
	}
	for name, test := range map[string]struct {
		loading, pressure string
		samples           int32
		tooWide           string
	}{
		"precise":               {"0.03", "0.03", 5, ""},
		"just used":             {"0.25", "0.25", 5, ""},
		"just not used":         {"0.251", "0.03", 5, "cpu 0.60 ± 0.26"},
		"of no use":             {"0.99", "0.99", 5, "cpu 0.60 ± 0.99"},
		"a wide pressure":       {"0.03", "0.4", 5, "cpu pressure 0.50 ± 0.40"},
		"one sample":            {"", "", 1, "cpu 0.60 from one sample"},
		"written by others":     {"", "", 5, ""},
		"an error of no number": {"-1", "0", 5, ""},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			l := within(test.loading, test.pressure)
			l.Samples = &test.samples
			m := on("big", noon, l)
			if got := profile.TooWide(&m); got != test.tooWide {
				t.Errorf("too wide is %q, want %q", got, test.tooWide)
			}
			w := valid(t, measured(declared("web"), m))
			if used := w.On("big") != nil; used != (test.tooWide == "") {
				t.Errorf("it is used: %v", used)
			}
			if got := len(w.TooWide()); (got == 1) != (test.tooWide != "") {
				t.Errorf("%d results are too wide", got)
			}
		})
	}
}

func TestWhereAResultIsTooWideTheDeclaredVectorIsUsed(t *testing.T) {
	t.Parallel()
	wide := found("cpu", "1", "1")
	wide.LoadingError = quantity("0.99")
	w := valid(t, measured(declared("web", demand("cpu", "0.5")), on("big", noon, wide)))
	if got := w.On("big"); got == nil || got.Measured != nil {
		t.Errorf("the vector in use is %+v, want the declared one", got)
	}
}

func TestPodsWithOneVectorShareWhatIsNotKnownOfIt(t *testing.T) {
	t.Parallel()
	l := found("cpu", "0.6", "0.5")
	l.LoadingError, l.PressureError, l.Sensitivity = quantity("0.03"), quantity("0.02"), quantity("0.4")
	resources := profile.NewResources(nil)
	use := func(p *v1alpha1.WorkloadProfile) *profile.InUse {
		w, errs := profile.NewWorkload(p, resources)
		if len(errs) > 0 {
			t.Fatal(errs.ToAggregate())
		}
		return w.On("big")
	}
	web, plain := use(measured(declared("web"), on("big", noon, l))), use(declared("plain", demand("cpu", "0.5")))
	want := []contention.Unsure{{Jobs: []int{0, 3}, Resource: 0, Margins: contention.Margins{Loading: 0.03, Pressure: 0.02, Sensitivity: 0.03}}}
	if got := resources.Unsure([]*profile.InUse{web, nil, plain, web}); !cmp.Equal(got, want) {
		t.Errorf("unsure is %+v, want %+v", got, want)
	}
}
