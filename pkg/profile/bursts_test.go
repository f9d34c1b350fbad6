package profile_test

import (
	"testing"

	"loadline.dev/loadline/apis/loadline/v1alpha1"
	"loadline.dev/loadline/pkg/profile"
)

// bursting is an observation of bursts on a class of nodes, of a recommended loading of a quarter.
func bursting(class, millis string) v1alpha1.WorkloadObservation {
	o := recommends(class, noon, "0.25", 1)
	o.BurstMillis = quantity(millis)
	return o
}

func TestAVectorHasTheDeclaredBurstElseTheObservedOne(t *testing.T) {
	t.Parallel()
	withBurst := demand("cpu", "0.5")
	withBurst.BurstMillis = new(int64(7))
	observed := []v1alpha1.WorkloadObservation{bursting("big", "0.25"), bursting("small", "80.75")}
	onBig := on("big", noon, found("cpu", "0.75", "0.75"))
	for name, c := range map[string]struct {
		profile *v1alpha1.WorkloadProfile
		seen    []v1alpha1.WorkloadObservation
		class   string
		want    float64
	}{
		"declared":                            {declared("web", withBurst), observed, "big", 0.007},
		"declared without a burst":            {declared("web", demand("cpu", "0.5")), observed[:1], "other", 0.00025},
		"declared, the mean of the classes":   {declared("web", demand("cpu", "0.5")), observed, "big", 0.0405},
		"declared, and none was observed":     {declared("web", demand("cpu", "0.5")), []v1alpha1.WorkloadObservation{recommends("big", noon, "0.25", 1)}, "big", 0},
		"measured":                            {measured(declared("web"), onBig), observed, "big", 0.00025},
		"measured, and the burst is declared": {measured(declared("web", withBurst), onBig), observed, "big", 0.007},
		"observed":                            {follows(declared("web"), v1alpha1.ModeApply), observed, "small", 0.08075},
		"no number of milliseconds":           {declared("web", demand("cpu", "0.5")), []v1alpha1.WorkloadObservation{bursting("big", "-3")}, "big", 0},
		"more than any":                       {declared("web", demand("cpu", "0.5")), []v1alpha1.WorkloadObservation{bursting("big", "1e15")}, "big", 1e9},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			c.profile.Status.Observations = c.seen
			v := valid(t, c.profile).On(c.class)
			if got := v.Vector[0].Burst; got != c.want {
				t.Errorf("the burst is %v s, want %v", got, c.want)
			}
			if v := valid(t, profile.Read(c.profile)).On(c.class); v.Vector[0].Burst != c.want {
				t.Errorf("a watch keeps %v s", v.Vector[0].Burst)
			}
			next := c.profile.DeepCopy()
			next.Status.Observations[0].BurstMillis = quantity("3")
			if counts := c.want != 0.007; profile.SameWorkload(c.profile, next) == counts { // a declared one wins
				t.Errorf("that another burst was observed counts: %v, want %v", !counts, counts)
			}
		})
	}
}

func TestOnlyTheCPUHasABurst(t *testing.T) {
	t.Parallel()
	p := declared("web", demand("cpu", "0.5"), demand("disk", "0.25"))
	p.Status.Observations = []v1alpha1.WorkloadObservation{bursting("big", "5")}
	for _, d := range valid(t, p).On("big").Demands {
		if (d.Burst > 0) != (d.Resource == "cpu") {
			t.Errorf("%s has bursts of %v s", d.Resource, d.Burst)
		}
	}
}
