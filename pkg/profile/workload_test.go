package profile_test

import (
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"loadline.dev/loadline/apis/loadline/v1alpha1"
	"loadline.dev/loadline/pkg/model/loading"
	"loadline.dev/loadline/pkg/profile"
)

func TestAnInvalidWorkloadProfileIsRefusedByFieldValueAndRule(t *testing.T) {
	t.Parallel()
	const (
		bothOrNone = "give either loading or demandMillis, and not both"
		noNeutral  = "spec.neutralMillis: Required value: demandMillis is turned into a loading by dividing it by neutralMillis"
		tooMuch    = "the loadings add up to more than 1; they are fractions of the neutral time, so they may add up to 1 at most (the rest is idle time)"
	)
	demandMillis := func(name string, millis int64) v1alpha1.ResourceDemand {
		return v1alpha1.ResourceDemand{Name: name, DemandMillis: new(millis)}
	}
	resources := func(demands ...v1alpha1.ResourceDemand) func(*v1alpha1.WorkloadProfileSpec) {
		return func(spec *v1alpha1.WorkloadProfileSpec) { spec.Resources = demands }
	}
	selector := func(s *metav1.LabelSelector) func(*v1alpha1.WorkloadProfileSpec) {
		return func(spec *v1alpha1.WorkloadProfileSpec) { spec.Selector = s }
	}
	expression := func(operator metav1.LabelSelectorOperator, values ...string) func(*v1alpha1.WorkloadProfileSpec) {
		return selector(&metav1.LabelSelector{MatchExpressions: []metav1.LabelSelectorRequirement{{Key: "app", Operator: operator, Values: values}}})
	}
	tests := map[string]struct {
		spec func(*v1alpha1.WorkloadProfileSpec)
		want []string
	}{
		"no selector":   {selector(nil), []string{"spec.selector: Required value: say which labels to match; {} matches all"}},
		"no resources":  {resources(), []string{"spec.resources: Required value: list at least one resource, or say under spec.measurement how to measure them, or under spec.observation that gauges observe them"}},
		"neither":       {func(spec *v1alpha1.WorkloadProfileSpec) { *spec = v1alpha1.WorkloadProfileSpec{} }, []string{"spec.selector: Required value: say which labels to match; {} matches all", "spec.resources: Required value: list at least one resource, or say under spec.measurement how to measure them, or under spec.observation that gauges observe them"}},
		"a label value": {selector(app("two words")), []string{`spec.selector.matchLabels: Invalid value: "two words": ` + notAValue}},
		"two label values": {
			selector(&metav1.LabelSelector{MatchLabels: map[string]string{"app": "ä", "tier": "-"}}),
			[]string{`spec.selector.matchLabels: Invalid value: "-": ` + notAValue, `spec.selector.matchLabels: Invalid value: "ä": ` + notAValue},
		},
		"an unknown operator":  {expression("Is", "web"), []string{`spec.selector.matchExpressions[0].operator: Invalid value: "Is": not a valid selector operator`}},
		"In without values":    {expression(metav1.LabelSelectorOpIn), []string{"spec.selector.matchExpressions[0].values: Required value: must be specified when `operator` is 'In' or 'NotIn'"}},
		"Exists with a value":  {expression(metav1.LabelSelectorOpExists, "a"), []string{"spec.selector.matchExpressions[0].values: Forbidden: may not be specified when `operator` is 'Exists' or 'DoesNotExist'"}},
		"a loading above 1":    {resources(demand("cpu", "1.000000001")), []string{`spec.resources[0].loading: Invalid value: "1.000000001": is not a fraction from 0 to 1`}},
		"a loading in percent": {resources(demand("disk", "0"), demand("cpu", "58")), []string{`spec.resources[1].loading: Invalid value: "58": is not a fraction from 0 to 1`}},
		"a negative loading":   {resources(demand("cpu", "-1m")), []string{`spec.resources[0].loading: Invalid value: "-1m": is not a fraction from 0 to 1`}},
		"a huge loading":       {resources(demand("cpu", "1e400")), []string{`spec.resources[0].loading: Invalid value: "10e399": is not a fraction from 0 to 1`}},
		"a pressure above 1": {
			resources(v1alpha1.ResourceDemand{Name: "cpu", Loading: quantity("0.5"), Pressure: quantity("1.5")}),
			[]string{`spec.resources[0].pressure: Invalid value: "1500m": is not a fraction from 0 to 1`},
		},
		"bursts of no time": {
			resources(v1alpha1.ResourceDemand{Name: "cpu", Loading: quantity("0.5"), BurstMillis: new(int64(0))}),
			[]string{"spec.resources[0].burstMillis: Invalid value: 0: must be at least 1"},
		},
		"bursts at a disk": {
			resources(v1alpha1.ResourceDemand{Name: "disk", Loading: quantity("0.5"), BurstMillis: new(int64(50))}),
			[]string{"spec.resources[0].burstMillis: Invalid value: 50: only bursts of computing count: set it at the resource cpu only"},
		},
		"neither a loading nor a demand": {
			resources(v1alpha1.ResourceDemand{Name: "cpu"}), []string{`spec.resources[0]: Invalid value: "cpu": ` + bothOrNone},
		},
		"a loading and a demand": {
			resources(v1alpha1.ResourceDemand{Name: "cpu", Loading: quantity("0.5"), DemandMillis: new(int64(50))}),
			[]string{`spec.resources[0]: Invalid value: "cpu": ` + bothOrNone},
		},
		"demands without a neutral time": {
			resources(demandMillis("cpu", 50), demandMillis("disk", 50)), []string{noNeutral, noNeutral},
		},
		"a neutral time of 0": {
			func(spec *v1alpha1.WorkloadProfileSpec) { spec.NeutralMillis = new(int64(0)) },
			[]string{"spec.neutralMillis: Invalid value: 0: must be at least 1"},
		},
		"a demand longer than the neutral time": {
			func(spec *v1alpha1.WorkloadProfileSpec) {
				spec.NeutralMillis, spec.Resources = new(int64(100)), []v1alpha1.ResourceDemand{demandMillis("cpu", 101)}
			},
			[]string{"spec.resources[0].demandMillis: Invalid value: 101: is not between 0 and neutralMillis (100)"},
		},
		"a negative demand": {
			func(spec *v1alpha1.WorkloadProfileSpec) {
				spec.NeutralMillis, spec.Resources = new(int64(100)), []v1alpha1.ResourceDemand{demandMillis("cpu", -1)}
			},
			[]string{"spec.resources[0].demandMillis: Invalid value: -1: is not between 0 and neutralMillis (100)"},
		},
		"loadings and demands that add up to more than 1": {
			func(spec *v1alpha1.WorkloadProfileSpec) {
				spec.NeutralMillis = new(int64(100))
				spec.Resources = []v1alpha1.ResourceDemand{demand("cpu", "0.58"), demandMillis("disk", 56)}
			},
			[]string{`spec.resources: Invalid value: "1.14": ` + tooMuch},
		},
		"no threads":       {resources(v1alpha1.ResourceDemand{Name: "cpu", Loading: quantity("1"), Threads: new(int32(0))}), []string{"spec.resources[0].threads: Invalid value: 0: is not between 1 and 1024"}},
		"too many threads": {resources(v1alpha1.ResourceDemand{Name: "cpu", Loading: quantity("1"), Threads: new(int32(16385))}), []string{"spec.resources[0].threads: Invalid value: 16385: is not between 1 and 1024"}},
		"one name twice":   {resources(demand("cpu", "0.1"), demand("cpu", "0.1")), []string{`spec.resources[1].name: Duplicate value: "cpu"`}},
		"a Unicode name":   {resources(demand("plätte", "0.1")), []string{`spec.resources[0].name: Invalid value: "plätte": ` + notALabel}},
		"no name":          {resources(demand("", "0.1")), []string{`spec.resources[0].name: Invalid value: "": ` + notALabel}},
		"a long name":      {resources(demand(strings.Repeat("a", 64), "0.1")), []string{`spec.resources[0].name: Invalid value: "` + strings.Repeat("a", 64) + `": must be no more than 63 characters`}},
		"several mistakes": {
			func(spec *v1alpha1.WorkloadProfileSpec) {
				spec.Selector = nil
				spec.Resources = []v1alpha1.ResourceDemand{demand("cpu", "2"), demand("4g", "0.1"), {Name: "disk"}}
			},
			[]string{
				"spec.selector: Required value: say which labels to match; {} matches all",
				`spec.resources[0].loading: Invalid value: "2": is not a fraction from 0 to 1`,
				`spec.resources[1].name: Invalid value: "4g": ` + notALabel,
				`spec.resources[2]: Invalid value: "disk": ` + bothOrNone,
			},
		},
	}
	for name, test := range tests {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			p := declared("web", demand("cpu", "0.5"))
			test.spec(&p.Spec)
			for range 20 { // a map is read in another order each time
				w, errs := profile.NewWorkload(p, profile.NewResources(nil))
				if w != nil {
					t.Errorf("in use as %+v", w)
				}
				if diff := cmp.Diff(test.want, messages(errs)); diff != "" {
					t.Fatalf("unexpected errors (-want +got):\n%s", diff)
				}
			}
		})
	}
}

func TestAWorkloadProfileBecomesAVectorInTheOrderOfTheResources(t *testing.T) {
	t.Parallel()
	gpus := machines("gpu-node", servers("gpu", 8), servers("cpu", 64))
	rounding := cmpopts.EquateApprox(0, 1e-15) // 0.7 is read as 7 · 0.1
	tests := map[string]struct {
		neutralMillis int64
		demands       []v1alpha1.ResourceDemand
		want          loading.Vector // cpu, disk, network, memory-bandwidth, llc, gpu
	}{
		"loadings": {
			0,
			[]v1alpha1.ResourceDemand{demand("gpu", "0.25"), demand("cpu", "500m")},
			loading.Vector{loading.Symmetric(0.5), {}, {}, {}, {}, loading.Symmetric(0.25)},
		},
		"loadings that add up to 1 but for rounding": {
			0,
			[]v1alpha1.ResourceDemand{demand("cpu", "0.7"), demand("disk", "0.1"), demand("network", "0.2")},
			loading.Vector{loading.Symmetric(0.7), loading.Symmetric(0.1), loading.Symmetric(0.2), {}, {}, {}},
		},
		"every way to write 1": {
			0,
			[]v1alpha1.ResourceDemand{demand("cpu", "1000000000n"), demand("disk", "0")},
			loading.Vector{loading.Symmetric(1), loading.Symmetric(0), {}, {}, {}, {}},
		},
		"service demands": {
			400,
			[]v1alpha1.ResourceDemand{{Name: "disk", DemandMillis: new(int64(100))}, {Name: "network", DemandMillis: new(int64(300))}},
			loading.Vector{{}, loading.Symmetric(0.25), loading.Symmetric(0.75), {}, {}, {}},
		},
		"a pressure of its own, and threads": {
			0,
			[]v1alpha1.ResourceDemand{{Name: "cpu", Loading: quantity("0.5"), Pressure: quantity("1"), Threads: new(int32(1024))}},
			loading.Vector{{Loading: 0.5, Pressure: 1, Threads: 1024}, {}, {}, {}, {}, {}},
		},
	}
	for name, test := range tests {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			p := declared("web", test.demands...)
			if test.neutralMillis > 0 {
				p.Spec.NeutralMillis = new(test.neutralMillis)
			}
			w := valid(t, p, gpus).On("any")
			if diff := cmp.Diff(test.want, w.Vector, rounding); diff != "" {
				t.Errorf("unexpected vector (-want +got):\n%s", diff)
			}
			if err := w.Vector.Validate(); err != nil {
				t.Errorf("the model refuses the vector: %v", err)
			}
			if len(w.Unknown) > 0 {
				t.Errorf("unknown: %v, want none", w.Unknown)
			}
		})
	}
}

func TestADemandAtAResourceThatNoNodeHasIsLeftOutAndNamed(t *testing.T) {
	t.Parallel()
	p := declared("web", demand("dsik", "0.4"), demand("cpu", "0.5"), demand("gpu", "0.1"))
	w := valid(t, p).On("any")
	if diff := cmp.Diff([]string{"dsik", "gpu"}, w.Unknown); diff != "" {
		t.Errorf("unexpected unknown resources (-want +got):\n%s", diff)
	}
	if diff := cmp.Diff(loading.Vector{loading.Symmetric(0.5), {}, {}, {}, {}}, w.Vector); diff != "" {
		t.Errorf("unexpected vector (-want +got):\n%s", diff)
	}
	want := []profile.NamedDemand{
		{Resource: "dsik", Demand: loading.Symmetric(0.4)},
		{Resource: "cpu", Demand: loading.Symmetric(0.5)},
		{Resource: "gpu", Demand: loading.Symmetric(0.1)},
	}
	if diff := cmp.Diff(want, w.Demands); diff != "" {
		t.Errorf("unexpected demands (-want +got):\n%s", diff)
	}
}
