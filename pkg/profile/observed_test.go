package profile_test

import (
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/util/sets"

	"loadline.dev/loadline/apis/loadline/v1alpha1"
	"loadline.dev/loadline/pkg/model/contention"
	"loadline.dev/loadline/pkg/model/loading"
	"loadline.dev/loadline/pkg/profile"
)

// follows returns the profile with a vector that follows observations.
func follows(p *v1alpha1.WorkloadProfile, mode string, all ...v1alpha1.WorkloadObservation) *v1alpha1.WorkloadProfile {
	p.Spec.Observation, p.Status.Observations = &v1alpha1.Observation{Mode: mode}, all
	return p
}

// recommends is a recommendation for a class of nodes from the observations until a time.
func recommends(class string, at time.Time, fraction string, threads int32) v1alpha1.WorkloadObservation {
	return v1alpha1.WorkloadObservation{
		NodeProfile: class, Time: new(metav1.NewTime(at)), CPULoading: quantity("0.9"), CPULoadingSpread: quantity("0.1"), ObservedSeconds: new(int64(3000)),
		Recommended: &v1alpha1.RecommendedLoading{CPULoading: quantity(fraction), Threads: &threads},
	}
}

func TestAnObservedVectorIsUsedWhereItIsApplied(t *testing.T) {
	t.Parallel()
	seen := []v1alpha1.WorkloadObservation{recommends("big", noon, "0.25", 2), recommends("small", noon.Add(time.Hour), "0.625", 1), {NodeProfile: "new"}}
	of := func(fraction float64, threads int) *loading.Demand {
		return &loading.Demand{Loading: fraction, Pressure: fraction, Threads: threads}
	}
	for name, c := range map[string]struct {
		profile *v1alpha1.WorkloadProfile
		class   string
		want    *loading.Demand
	}{
		"of the class":                {follows(declared("web"), v1alpha1.ModeApply, seen...), "big", of(0.25, 2)},
		"of the class seen last":      {follows(declared("web"), v1alpha1.ModeApply, seen...), "other", of(0.625, 1)},
		"of any class":                {follows(declared("web"), v1alpha1.ModeApply, seen...), profile.AnyClass, of(0.625, 1)},
		"not recommended yet":         {follows(declared("web"), v1alpha1.ModeApply, seen[2]), "new", nil},
		"advice":                      {follows(declared("web"), v1alpha1.ModeAdvise, seen...), "big", nil},
		"without a mode":              {follows(declared("web"), "", seen...), "big", nil},
		"no longer asked for":         {declared("web", demand("cpu", "0.1")), "big", of(0.1, 1)},
		"measured there":              {follows(measured(declared("web"), on("big", noon, found("cpu", "0.75", "0.75"))), v1alpha1.ModeApply, seen...), "big", of(0.75, 1)},
		"measured elsewhere":          {follows(measured(declared("web"), on("big", noon, found("cpu", "0.75", "0.75"))), v1alpha1.ModeApply, seen...), "small", of(0.625, 1)},
		"measured, on a class of its": {follows(measured(declared("web"), on("big", noon, found("cpu", "0.75", "0.75"))), v1alpha1.ModeApply, seen...), "other", of(0.75, 1)},
		"brought back into range":     {follows(declared("web"), v1alpha1.ModeApply, recommends("big", noon, "1.2", 1)), "big", of(1, 1)},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			if len(c.profile.Spec.Resources) > 0 {
				c.profile.Status.Observations = seen
			}
			var got *loading.Demand
			if v := valid(t, c.profile).On(c.class); v != nil {
				got = &v.Vector[0]
			}
			if diff := cmp.Diff(c.want, got); diff != "" {
				t.Errorf("unexpected demand at the cpu (-want +got):\n%s", diff)
			}
		})
	}
}

func TestAnObservedVectorHasTheMarginsOfItsSpread(t *testing.T) {
	t.Parallel()
	v := valid(t, follows(declared("web"), v1alpha1.ModeApply, recommends("big", noon, "0.25", 2))).On("big")
	want := contention.Margins{Loading: 0.0196, Pressure: 0.0196} // 1.96 · 0.1/√100
	if diff := cmp.Diff(want, v.Demands[0].Margins, cmpopts.EquateApprox(0, 1e-12)); diff != "" {
		t.Errorf("unexpected margins (-want +got):\n%s", diff)
	}
}

// atDisk is a recommendation with a demand at the disk, and a spread of what was observed there.
func atDisk(o v1alpha1.WorkloadObservation, fraction string) v1alpha1.WorkloadObservation {
	o.Recommended.DiskLoading, o.DiskLoading, o.DiskLoadingSpread = quantity(fraction), quantity("0.4"), quantity("0.2")
	return o
}

func TestAnObservedVectorHasTheDiskOnceThatIsRecommended(t *testing.T) {
	t.Parallel()
	at := func(fraction float64, threads int) loading.Demand {
		return loading.Demand{Loading: fraction, Pressure: fraction, Threads: threads}
	}
	for name, c := range map[string]struct {
		seen v1alpha1.WorkloadObservation
		want loading.Vector // at the cpu and the disk
	}{
		"not recommended":   {recommends("big", noon, "0.25", 2), loading.Vector{at(0.25, 2), {}}},
		"recommended":       {atDisk(recommends("big", noon, "0.25", 2), "0.5"), loading.Vector{at(0.25, 2), at(0.5, 2)}},
		"none":              {atDisk(recommends("big", noon, "0.25", 2), "0"), loading.Vector{at(0.25, 2), at(0, 2)}},
		"less than none":    {atDisk(recommends("big", noon, "0.25", 2), "-3"), loading.Vector{at(0.25, 2), at(0, 2)}},
		"more than is left": {atDisk(recommends("big", noon, "0.75", 1), "1.5"), loading.Vector{at(0.75, 1), at(0.25, 1)}},
		"beside all":        {atDisk(recommends("big", noon, "7", 1), "0.5"), loading.Vector{at(1, 1), at(0, 1)}},
	} {
		if diff := cmp.Diff(c.want, valid(t, follows(declared("web"), v1alpha1.ModeApply, c.seen)).On("big").Vector[:2]); diff != "" {
			t.Errorf("%s (-want +got):\n%s", name, diff)
		}
	}
	v := valid(t, follows(declared("web"), v1alpha1.ModeApply, atDisk(recommends("big", noon, "0.25", 1), "0.5"))).On("big")
	want := contention.Margins{Loading: 0.0392, Pressure: 0.0392} // 1.96 · 0.2/√100
	if diff := cmp.Diff(want, v.Demands[1].Margins, cmpopts.EquateApprox(0, 1e-12)); diff != "" {
		t.Errorf("unexpected margins at the disk (-want +got):\n%s", diff)
	}
	applied := follows(declared("web"), v1alpha1.ModeApply, atDisk(recommends("big", noon, "0.25", 1), "0.5"))
	if diff := cmp.Diff([]string{"cpu", "disk"}, profile.Named(applied)); diff != "" {
		t.Errorf("unexpected resources (-want +got):\n%s", diff)
	}
}

func TestADiskIsKnownWhereAProfileOfNodesSaysWhatItServes(t *testing.T) {
	t.Parallel()
	known := indexOf(
		machines("declared", servers("disk", 8)), machines("none", servers("cpu", 4)), calibrated(machines("calibrated"), "disk", 4), calibrated(machines("waits"), "disk"),
	).Snapshot().KnownDisks()
	if diff := cmp.Diff([]string{"calibrated", "declared"}, sets.List(known)); diff != "" {
		t.Errorf("-want +got:\n%s", diff)
	}
}

func TestAnInvalidObservationIsRefusedByFieldValueAndRule(t *testing.T) {
	t.Parallel()
	twice := recommends("big", noon, "0.25", 0)
	twice.Time, twice.Recommended.CPULoading = nil, nil
	unnamed := recommends("", noon, "0.25", 1)
	for name, c := range map[string]struct {
		profile *v1alpha1.WorkloadProfile
		want    []string
	}{
		"beside what is declared": {
			follows(declared("web", demand("cpu", "0.1")), v1alpha1.ModeAdvise),
			[]string{"spec.observation: Forbidden: resources declares the vector: leave one of them out"},
		},
		"what others wrote": {
			follows(declared("web"), v1alpha1.ModeApply, unnamed, recommends("big", noon, "0.25", 1), twice),
			[]string{
				"status.observations[0].nodeProfile: Required value: say of which class of nodes it is",
				`status.observations[2].nodeProfile: Duplicate value: "big"`,
				"status.observations[2].time: Required value: say when it was observed",
				"status.observations[2].recommended.cpuLoading: Required value: every recommendation has it",
				"status.observations[2].recommended.threads: Invalid value: 0: is not between 1 and 1024",
			},
		},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			_, errs := profile.NewWorkload(c.profile, profile.NewResources(nil))
			if diff := cmp.Diff(c.want, messages(errs)); diff != "" {
				t.Errorf("unexpected errors (-want +got):\n%s", diff)
			}
		})
	}
}

// A team's declaration goes before a profile that only observes, even one that is older and more
// specific.
func TestAProfileThatOnlyObservesTakesNoPodsFromOthers(t *testing.T) {
	t.Parallel()
	observed := follows(declared("web"), v1alpha1.ModeApply, recommends("big", noon, "0.25", 1))
	observed.CreationTimestamp = metav1.NewTime(noon.Add(-time.Hour))
	all := declared("all", demand("cpu", "0.1"))
	all.Spec.Selector = &metav1.LabelSelector{}
	waits := measured(declared("waits"))
	waits.Spec.Selector = &metav1.LabelSelector{}
	for name, c := range map[string]struct {
		profiles []any
		want     string
	}{
		"declared": {[]any{observed, all}, "all"},
		"measured": {[]any{observed, waits}, "waits"},
		"alone":    {[]any{observed}, "web"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			if got := indexOf(c.profiles...).Snapshot().Workload(pod("web")); got == nil || got.Name != c.want {
				t.Errorf("the pod follows %v, want %s", got, c.want)
			}
		})
	}
}

func TestARecommendationCountsAsSoonAsItIsThere(t *testing.T) {
	t.Parallel()
	p := follows(declared("web"), v1alpha1.ModeApply)
	x := indexOf(p)
	if got := cpuOf(x.Snapshot(), pod("web")); got != 0.1 { // by the rule
		t.Errorf("without a recommendation the loading is %v", got)
	}
	next := p.DeepCopy()
	next.Status.Observations = []v1alpha1.WorkloadObservation{recommends(v1alpha1.NoNodeProfile, noon, "0.25", 1)}
	x.OnUpdate(p, next)
	before := x.Snapshot()
	if got := cpuOf(before, pod("web")); got != 0.25 {
		t.Errorf("with a recommendation the loading is %v", got)
	}
	later := next.DeepCopy()
	later.Status.Observations[0].CPULoading, later.Status.Observations[0].Time = quantity("0.5"), new(metav1.NewTime(noon.Add(time.Hour)))
	if x.OnUpdate(next, later); x.Snapshot().Version != before.Version {
		t.Error("what is observed and recommends nothing else made a new version")
	}
	withDisk := later.DeepCopy()
	withDisk.Status.Observations[0].Recommended.DiskLoading = quantity("0.5")
	if x.OnUpdate(later, withDisk); x.Snapshot().Vector(pod("web"))[1].Loading != 0.5 {
		t.Error("a recommendation at the disk made no new vector")
	}
}
