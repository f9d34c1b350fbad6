package scenario_test

import (
	"math"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"loadline.dev/loadline/hack/scenario"
	"loadline.dev/loadline/pkg/model/loading"
)

func options() scenario.Options {
	return scenario.Options{Seed: 1, Nodes: 50, Requested: 0.6, Steps: 6, ProfileError: 0.2}
}

func newScenario(t *testing.T, o scenario.Options) *scenario.Scenario {
	t.Helper()
	s, err := scenario.New(o)
	if err != nil {
		t.Fatal(err)
	}
	return s
}

func TestASeedGivesOneScenario(t *testing.T) {
	t.Parallel()
	if diff := cmp.Diff(newScenario(t, options()), newScenario(t, options())); diff != "" {
		t.Errorf("twice the same seed: %s", diff)
	}
	other := options()
	other.Seed = 2
	if cmp.Equal(newScenario(t, options()).Pods, newScenario(t, other).Pods) {
		t.Error("another seed gives the same pods")
	}
}

func TestMoreStepsLeaveEarlierOnesAsTheyAre(t *testing.T) {
	t.Parallel()
	long := options()
	long.Steps = 12
	want := newScenario(t, options()).Pods
	if diff := cmp.Diff(want, newScenario(t, long).Pods[:len(want)]); diff != "" {
		t.Errorf("(-6 steps +12 steps)\n%s", diff)
	}
}

func TestOtherErrorsOfProfilesLeaveThePodsAsTheyAre(t *testing.T) {
	t.Parallel()
	exact := options()
	exact.ProfileError = 0
	a, b := newScenario(t, options()), newScenario(t, exact)
	if len(a.Pods) != len(b.Pods) {
		t.Fatalf("%d and %d pods", len(a.Pods), len(b.Pods))
	}
	for i := range a.Applications {
		if diff := cmp.Diff(a.Applications[i].Vector, b.Applications[i].Vector); diff != "" {
			t.Errorf("%s: %s", a.Applications[i].Name, diff)
		}
		if diff := cmp.Diff(b.Applications[i].Vector, b.Applications[i].Declared); diff != "" {
			t.Errorf("%s: an exact profile is off: %s", b.Applications[i].Name, diff)
		}
	}
}

func TestApplicationsComputeForAsLongAtATimeAsTheirClassSays(t *testing.T) {
	t.Parallel()
	for _, a := range newScenario(t, options()).Applications {
		if ms := 1000 * a.Vector[scenario.CPU].Burst; !(ms >= a.Class.Bursts.From && ms <= a.Class.Bursts.To) {
			t.Errorf("%s: bursts of %v ms", a.Name, ms)
		}
	}
}

// At each step as much is requested as was asked for, and at most one pod of 8 cores more.
func TestTheClusterStaysAsFull(t *testing.T) {
	t.Parallel()
	s := newScenario(t, options())
	want := int64(0.6 * float64(s.Cores()) * 1000)
	for step := range s.Steps + 1 {
		requested := int64(0)
		for _, i := range s.Present(step) {
			requested += s.Pods[i].Application.MilliCPU
		}
		if requested < want || requested > want+8000 {
			t.Errorf("step %d: %dm are requested, want %dm", step, requested, want)
		}
	}
	if len(s.Going(3)) == 0 || len(s.Coming(3)) == 0 {
		t.Error("at step 3 no pods leave, or none come")
	}
}

// The shares of classes are those of classes.go: groups have 20 pods at most, so that none is further off than that.
func TestClassesHaveTheirSharesOfThePods(t *testing.T) {
	t.Parallel()
	s := newScenario(t, options())
	pods := map[*scenario.Class]float64{}
	present := s.Present(0)
	for _, i := range present {
		pods[s.Pods[i].Application.Class]++
	}
	sum := 0.0
	for c, n := range pods {
		sum += c.Share
		if math.Abs(n-c.Share*float64(len(present))) > 20 {
			t.Errorf("%s: %v of %d pods, want %v of them", c.Name, n, len(present), c.Share)
		}
	}
	if math.Abs(sum-1) > 1e-9 {
		t.Errorf("the shares add up to %v", sum)
	}
}

// Half of what is requested is used, but not by each application alike: requests do not tell what pods use.
func TestRequestsDoNotTellWhatPodsUse(t *testing.T) {
	t.Parallel()
	large := options()
	large.Nodes = 1000
	s := newScenario(t, large)
	used, requested := 0.0, 0.0
	more, less := 0, 0
	for _, i := range s.Present(0) {
		a := s.Pods[i].Application
		cpu := a.Vector[scenario.CPU]
		use := cpu.Loading * float64(cpu.Threads) * 1000
		used += use
		requested += float64(a.MilliCPU)
		if use > float64(a.MilliCPU) {
			more++
		}
		if use < float64(a.MilliCPU)/4 {
			less++
		}
	}
	if ratio := used / requested; ratio < 0.4 || ratio > 0.6 {
		t.Errorf("%.2f of what is requested is used", ratio)
	}
	if more < len(s.Present(0))/20 || less < len(s.Present(0))/20 {
		t.Errorf("of %d pods %d use more than they request, and %d less than a quarter", len(s.Present(0)), more, less)
	}
}

// Pods of the same applications request less, so that more of them come.
func TestPodsUseMoreOfWhatTheyRequestWhereTheyAreToldTo(t *testing.T) {
	t.Parallel()
	ratio := func(use float64) (ratio float64, pods int) {
		large := options()
		large.Nodes, large.Use = 1000, use
		s := newScenario(t, large)
		used, requested := 0.0, 0.0
		for _, i := range s.Present(0) {
			a := s.Pods[i].Application
			cpu := a.Vector[scenario.CPU]
			used += cpu.Loading * float64(cpu.Threads) * 1000
			requested += float64(a.MilliCPU)
		}
		return used / requested, len(s.Present(0))
	}
	as, pods := ratio(0)
	if one, alike := ratio(1); one != as || alike != pods {
		t.Errorf("1 is not the default: %v, not %v", one, as)
	}
	if twice, more := ratio(2); math.Abs(twice/as-2) > 0.2 || more <= pods { // requests are rounded to what people write
		t.Errorf("%.2f of what is requested is used, by %d pods, where it was %.2f, by %d", twice, more, as, pods)
	}
}

func TestProfilesAreValidAndKeepTheirClassesPromises(t *testing.T) {
	t.Parallel()
	s := newScenario(t, options())
	profiles := s.WorkloadProfiles()
	if len(profiles) != len(s.Applications) {
		t.Fatalf("%d profiles for %d applications", len(profiles), len(s.Applications))
	}
	for i, a := range s.Applications {
		for _, v := range []loading.Vector{a.Vector, a.Declared} {
			if err := v.Validate(); err != nil {
				t.Errorf("%s: %v", a.Name, err)
			}
		}
		p := profiles[i]
		if got := p.Spec.SLA.MaxDilation.AsApproximateFloat64(); got != a.Class.MaxDilation || got < 1 {
			t.Errorf("%s: the SLA of the profile is %v, that of the class %v", a.Name, got, a.Class.MaxDilation)
		}
		declared := 0
		for _, r := range p.Spec.Resources {
			at := map[string]int{"cpu": scenario.CPU, "disk": scenario.Disk, "network": scenario.Network}[r.Name]
			if d := a.Declared[at]; float64(r.Loading.MilliValue()) != math.Round(d.Loading*1000) || int(*r.Threads) != d.Threads {
				t.Errorf("%s: the profile has %v with %d threads at %s, the vector %+v", a.Name, r.Loading, *r.Threads, r.Name, d)
			}
			declared++
		}
		if declared == 0 {
			t.Errorf("%s: the profile declares nothing", a.Name)
		}
		pod := s.PodObject(&scenario.Pod{Name: "pod", Application: a}, "loadline")
		for key, value := range p.Spec.Selector.MatchLabels {
			if pod.Labels[key] != value {
				t.Errorf("%s: the profile selects %s=%s, which its pod does not have", a.Name, key, value)
			}
		}
	}
}

func TestPodsHaveNamesOfTheirOwn(t *testing.T) {
	t.Parallel()
	seen := map[string]bool{}
	for _, p := range newScenario(t, options()).Pods {
		if seen[p.Name] || p.Goes <= p.Comes {
			t.Errorf("pod %q from %d to %d, seen before: %t", p.Name, p.Comes, p.Goes, seen[p.Name])
		}
		seen[p.Name] = true
	}
}

func TestWrongOptionsAreRefused(t *testing.T) {
	t.Parallel()
	for want, change := range map[string]func(*scenario.Options){
		"nodes: 4 ":          func(o *scenario.Options) { o.Nodes = 4 },
		"requested: 0 ":      func(o *scenario.Options) { o.Requested = 0 },
		"requested: 0.9 ":    func(o *scenario.Options) { o.Requested = 0.9 },
		"requested: NaN ":    func(o *scenario.Options) { o.Requested = math.NaN() },
		"steps: -1 ":         func(o *scenario.Options) { o.Steps = -1 },
		"profileError: NaN ": func(o *scenario.Options) { o.ProfileError = math.NaN() },
		"profileError: 1.1 ": func(o *scenario.Options) { o.ProfileError = 1.1 },
		"use: 0.1 ":          func(o *scenario.Options) { o.Use = 0.1 },
	} {
		o := options()
		change(&o)
		if _, err := scenario.New(o); err == nil || !strings.HasPrefix(err.Error(), want) {
			t.Errorf("want an error that begins with %q, got %v", want, err)
		}
	}
}

// Other profiles are all that differs, so that a placement of one scenario is one of the other.
func TestOtherProfilesLeaveAllElseAsItIs(t *testing.T) {
	t.Parallel()
	s := newScenario(t, options())
	far := options()
	far.ProfileError = 0.5
	for _, other := range []*scenario.Scenario{s.WithProfileError("far", 0.5), s.WithoutHalfOfProfiles("half"), s.WithProfiles("none", nil)} {
		if other.Namespace() == s.Namespace() {
			t.Errorf("both have the namespace %s", s.Namespace())
		}
		for i := range s.Pods {
			a, b := s.Pods[i].Application, other.Pods[i].Application
			if s.Pods[i].Name != other.Pods[i].Name || a.Name != b.Name || !cmp.Equal(a.Vector, b.Vector) {
				t.Fatalf("%s: pod %v is %v", other.Namespace(), s.Pods[i], other.Pods[i])
			}
		}
	}
	if diff := cmp.Diff(newScenario(t, far).WorkloadProfiles()[0].Spec, s.WithProfileError("far", 0.5).WorkloadProfiles()[0].Spec); diff != "" {
		t.Errorf("(-made with the error +given it later)\n%s", diff)
	}
	if n := len(s.WithoutHalfOfProfiles("half").WorkloadProfiles()); n != len(s.Applications)-len(s.Applications)/2 {
		t.Errorf("%d of %d profiles are left", n, len(s.Applications))
	}
	if n := len(s.WithProfiles("none", nil).WorkloadProfiles()); n != 0 {
		t.Errorf("%d profiles are left of none", n)
	}
}
