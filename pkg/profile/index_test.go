package profile_test

import (
	"context"
	"fmt"
	"sync"
	"testing"

	"github.com/go-logr/logr/funcr"
	"github.com/google/go-cmp/cmp"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/client-go/tools/cache"

	"loadline.dev/loadline/apis/config"
	"loadline.dev/loadline/apis/loadline/v1alpha1"
	"loadline.dev/loadline/pkg/model/loading"
	"loadline.dev/loadline/pkg/profile"
)

// cpuOf returns the loading of cpu in the vector of a pod.
func cpuOf(s *profile.Snapshot, p *corev1.Pod) float64 { return s.Vector(p)[0].Loading }

// spends returns a change of a profile's loading of cpu.
func spends(fraction string) func(*v1alpha1.WorkloadProfile) {
	return func(p *v1alpha1.WorkloadProfile) {
		p.Spec.Resources = []v1alpha1.ResourceDemand{demand("cpu", fraction)}
	}
}

// unprofiled is the loading of cpu of a pod that follows no profile.
const unprofiled = 0.1

func TestAPodFollowsTheProfilesOfItsNamespaceOnly(t *testing.T) {
	t.Parallel()
	elsewhere := declared("web", demand("cpu", "0.25"))
	elsewhere.Namespace = "elsewhere"
	x := indexOf(declared("web", demand("cpu", "0.5")), elsewhere)
	s := x.Snapshot()
	if w := s.Workload(pod("web")); w == nil || w.Namespace != "shop" || w.Name != "web" {
		t.Errorf("the pod follows %+v, want shop/web", w)
	}
	if w := s.Workload(pod("other")); w != nil {
		t.Errorf("a pod that no profile matches follows %+v", w)
	}
	stranger := pod("web")
	stranger.Namespace = "empty"
	if w := s.Workload(stranger); w != nil {
		t.Errorf("a pod of another namespace follows %+v", w)
	}
	if got := cpuOf(s, stranger); got != unprofiled {
		t.Errorf("its loading of cpu is %v, want %v by its requests", got, unprofiled)
	}
}

func TestASnapshotFollowsEveryChangeOfASpec(t *testing.T) {
	t.Parallel()
	web := declared("web", demand("cpu", "0.5"))
	recreated := declared("web", demand("cpu", "0.75"))
	recreated.UID = "another uid"
	faster := changed(recreated, spends("0.25"))
	wrong := changed(faster, spends("2"))
	corrected := changed(wrong, spends("0.125"))

	steps := []struct {
		name   string
		change func(*profile.Index)
		want   float64
	}{
		{"nothing yet", func(*profile.Index) {}, unprofiled},
		{"added", func(x *profile.Index) { x.OnAdd(web, false) }, 0.5},
		{"deleted and recreated, seen as an update", func(x *profile.Index) { x.OnUpdate(web, recreated) }, 0.75},
		{"changed", func(x *profile.Index) { x.OnUpdate(recreated, faster) }, 0.25},
		{"made invalid", func(x *profile.Index) { x.OnUpdate(faster, wrong) }, unprofiled},
		{"corrected", func(x *profile.Index) { x.OnUpdate(wrong, corrected) }, 0.125},
		{"deleted", func(x *profile.Index) { x.OnDelete(corrected) }, unprofiled},
		{"added again", func(x *profile.Index) { x.OnAdd(web, false) }, 0.5},
		{"deleted while the watch was broken", func(x *profile.Index) {
			x.OnDelete(cache.DeletedFinalStateUnknown{Key: "shop/web", Obj: web})
		}, unprofiled},
	}
	x := indexOf()
	for i, step := range steps {
		step.change(x)
		s := x.Snapshot()
		if got := cpuOf(s, pod("web")); got != step.want {
			t.Errorf("%s: the loading of cpu is %v, want %v", step.name, got, step.want)
		}
		if s.Version != uint64(i) {
			t.Errorf("%s: version %d, want %d", step.name, s.Version, i)
		}
	}
}

func TestOnlyWhatVectorsAndServersFollowFromMakesANewVersion(t *testing.T) {
	t.Parallel()
	web := measured(declared("web", demand("cpu", "0.5")), on("big", noon, found("cpu", "0.625", "0.75")))
	big := calibrated(machines("big", servers("disk", 4)), "network", 3)
	for _, change := range []func(*v1alpha1.WorkloadProfileStatus){
		func(s *v1alpha1.WorkloadProfileStatus) { s.Pods = new(int32(7)) },
		func(s *v1alpha1.WorkloadProfileStatus) { s.Conditions = []metav1.Condition{{Type: "Measured"}} },
		func(s *v1alpha1.WorkloadProfileStatus) {
			s.Measuring = &v1alpha1.MeasurementProgress{NodeProfile: "big"}
		},
		func(s *v1alpha1.WorkloadProfileStatus) { s.Measurements[0].Resources[0].Loading = quantity("625m") },
		func(*v1alpha1.WorkloadProfileStatus) {}, // as after a broken watch
	} {
		x := indexOf(web, big)
		before := x.Snapshot()
		next := web.DeepCopy()
		change(&next.Status)
		x.OnUpdate(web, next)
		nodes := big.DeepCopy()
		nodes.Status.Nodes, nodes.Status.Conditions = new(int32(7)), []metav1.Condition{{Type: "Ready"}}
		x.OnUpdate(big, nodes)
		if x.Snapshot() != before {
			t.Errorf("a new snapshot of %+v", next.Status)
		}
	}
	for _, change := range []func(*v1alpha1.WorkloadProfileStatus){
		func(s *v1alpha1.WorkloadProfileStatus) { s.Measurements = nil },
		func(s *v1alpha1.WorkloadProfileStatus) { s.Measurements[0].NodeProfile = "small" },
		func(s *v1alpha1.WorkloadProfileStatus) { s.Measurements[0].Time = new(metav1.NewTime(noon.Add(1))) },
		func(s *v1alpha1.WorkloadProfileStatus) { s.Measurements[0].Resources[0].Name = "disk" },
		func(s *v1alpha1.WorkloadProfileStatus) { s.Measurements[0].Resources[0].Loading = quantity("0.5") },
		func(s *v1alpha1.WorkloadProfileStatus) { s.Measurements[0].Resources[0].Pressure = quantity("0.5") },
		func(s *v1alpha1.WorkloadProfileStatus) { s.Measurements[0].Resources[0].Sensitivity = quantity("0.5") },
		func(s *v1alpha1.WorkloadProfileStatus) { s.Measurements[0].Resources[0].Threads = new(int32(2)) },
		func(s *v1alpha1.WorkloadProfileStatus) { s.Measurements[0].Resources[0].LoadingError = quantity("0.3") },
		func(s *v1alpha1.WorkloadProfileStatus) {
			s.Measurements[0].Resources[0].PressureError = quantity("0.3")
		},
	} {
		x := indexOf(web, big)
		before := x.Snapshot()
		next := web.DeepCopy()
		change(&next.Status)
		x.OnUpdate(web, next)
		if after := x.Snapshot(); after.Version <= before.Version {
			t.Errorf("the same snapshot of %+v", next.Status.Measurements)
		}
	}

	x := indexOf(web, big)
	x.OnUpdate(web, changed(web, spends("0.25")))
	if v := x.Snapshot().Version; v != 1 {
		t.Errorf("after a change of spec the version is %d, want 1", v)
	}
	x.OnUpdate(big, calibrated(big.DeepCopy(), "network", 5))
	if v := x.Snapshot().Version; v != 2 {
		t.Errorf("after another calibration the version is %d, want 2", v)
	}
}

func TestAMeasurementCountsAsSoonAsItIsThere(t *testing.T) {
	t.Parallel()
	web := measured(declared("web"))
	x := indexOf(web)
	cpu := func(class string) float64 { return x.Snapshot().VectorOn(class, pod("web"))[0].Loading }
	if got := cpu("big"); got != unprofiled {
		t.Errorf("before it is measured the loading of cpu is %v, want %v by its requests", got, unprofiled)
	}
	next := measured(web.DeepCopy(), on("big", noon, found("cpu", "0.625", "0.75")))
	x.OnUpdate(web, next)
	if got := cpu("big"); got != 0.625 {
		t.Errorf("once it is measured the loading of cpu is %v, want 0.625", got)
	}
	x.OnUpdate(next, changed(next, func(p *v1alpha1.WorkloadProfile) {
		p.Spec.Measurement, p.Spec.Resources = nil, []v1alpha1.ResourceDemand{demand("cpu", "0.5")}
	}))
	if got := cpu("big"); got != 0.5 {
		t.Errorf("once no measurement is wanted the loading of cpu is %v, want the declared 0.5", got)
	}
}

func TestANewResourceIsKnownInEveryNamespace(t *testing.T) {
	t.Parallel()
	here, elsewhere := declared("web", demand("gpu", "0.5")), declared("web", demand("gpu", "0.25"), demand("fpga", "0.25"))
	elsewhere.Namespace = "elsewhere"
	stranger := pod("web")
	stranger.Namespace = "elsewhere"

	x := indexOf(here, elsewhere)
	unknown := func(p *corev1.Pod) []string { return x.Snapshot().Workload(p).On(profile.AnyClass).Unknown }
	if diff := cmp.Diff([]string{"gpu", "fpga"}, unknown(stranger)); diff != "" {
		t.Fatalf("before: unexpected unknown resources (-want +got):\n%s", diff)
	}

	big := machines("big", servers("gpu", 8))
	x.OnAdd(big, false)
	if diff := cmp.Diff([]string(nil), unknown(pod("web"))); diff != "" {
		t.Errorf("unexpected unknown resources (-want +got):\n%s", diff)
	}
	if diff := cmp.Diff([]string{"fpga"}, unknown(stranger)); diff != "" {
		t.Errorf("unexpected unknown resources (-want +got):\n%s", diff)
	}
	none := loading.Demand{}
	if diff := cmp.Diff(loading.Vector{none, none, none, none, none, loading.Symmetric(0.25)}, x.Snapshot().Vector(stranger)); diff != "" {
		t.Errorf("unexpected vector (-want +got):\n%s", diff)
	}

	x.OnDelete(big)
	if diff := cmp.Diff([]string{"gpu"}, unknown(pod("web"))); diff != "" {
		t.Errorf("after the profile is gone: unexpected unknown resources (-want +got):\n%s", diff)
	}
	if n := len(x.Snapshot().Vector(pod("web"))); n != 5 {
		t.Errorf("after the profile is gone: a vector of %d resources, want 5", n)
	}
}

func TestAnOldSnapshotAnswersAsBefore(t *testing.T) {
	t.Parallel()
	web, big := declared("web", demand("cpu", "0.5")), machines("big", servers("disk", 4))
	x := indexOf(web, big)
	old := x.Snapshot()

	x.OnUpdate(web, changed(web, spends("0.25")))
	x.OnAdd(declared("db", demand("disk", "1")), false)
	x.OnAdd(machines("gpu-node", servers("gpu", 8)), false)
	x.OnDelete(big)
	next := x.Snapshot()

	check := func(name string, s *profile.Snapshot, cpu float64, db bool, servers []int, profiles int) {
		if got := cpuOf(s, pod("web")); got != cpu {
			t.Errorf("%s: the loading of cpu is %v, want %v", name, got, cpu)
		}
		if got := s.Workload(pod("db")) != nil; got != db {
			t.Errorf("%s: db has a profile: %v, want %v", name, got, db)
		}
		if diff := cmp.Diff(servers, s.Servers(node("big", "2"))); diff != "" {
			t.Errorf("%s: unexpected servers (-want +got):\n%s", name, diff)
		}
		if valid, ignored := s.Counts(); valid != profiles || ignored != 0 {
			t.Errorf("%s: %d profiles, %d ignored, want %d and 0", name, valid, ignored, profiles)
		}
	}
	check("old", old, 0.5, false, []int{2, 4, 1, 1, 1}, 2)
	check("new", next, 0.25, true, []int{2, 1, 1, 1, 1, 1}, 3)
}

func TestInvalidProfilesAreCountedAndLogged(t *testing.T) {
	t.Parallel()
	var logged []string
	x := profile.NewIndex([]config.RequestRule{cpuRule}, funcr.New(func(_, args string) { logged = append(logged, args) }, funcr.Options{}))
	x.OnAdd(declared("web", demand("cpu", "0.5")), true)
	x.OnAdd(declared("heavy", demand("cpu", "2")), true)
	x.OnAdd(machines("big", servers("disk", 4)), true)
	x.OnAdd(machines("none", servers("disk", 0)), true)
	x.OnAdd(&corev1.Pod{}, true)
	x.OnDelete(cache.DeletedFinalStateUnknown{Key: "shop/lost"})

	if valid, ignored := x.Snapshot().Counts(); valid != 2 || ignored != 2 {
		t.Errorf("%d profiles in use and %d ignored, want 2 and 2", valid, ignored)
	}
	want := []string{
		`"msg"="Ignored an object that is not a profile" "error"=null "type"="*v1.Pod"`,
		`"msg"="Ignored an object that is not a profile" "error"=null "type"="<nil>"`,
		`"msg"="Ignored an invalid profile" "error"="spec.resources[0].servers: Invalid value: 0: is not between 1 and 16384" ` +
			`"kind"="NodeProfile" "namespace"="" "name"="none"`,
		`"msg"="Ignored an invalid profile" "error"="spec.resources[0].loading: Invalid value: \"2\": is not a fraction from 0 to 1" ` +
			`"kind"="WorkloadProfile" "namespace"="shop" "name"="heavy"`,
	}
	if diff := cmp.Diff(want, logged); diff != "" {
		t.Errorf("unexpected log (-want +got):\n%s", diff)
	}
}

func TestASnapshotOfAnUnchangedIndexCostsNoMemory(t *testing.T) { // not parallel: it counts allocations
	x := indexOf(declared("web", demand("cpu", "0.5")))
	x.Snapshot()
	if n := testing.AllocsPerRun(100, func() { x.Snapshot() }); n > 0 {
		t.Errorf("%v allocations, want none", n)
	}
}

// Several writers each change a profile of their own, and the nodes' resources
// change, while readers look: each reader sees versions grow and whole
// profiles, and each writer its own last change.
func TestAnIndexIsSafeForConcurrentUse(t *testing.T) {
	t.Parallel()
	const writers, readers, changes = 4, 4, 200
	x := indexOf()
	writing, stop := context.WithCancel(t.Context())

	var reading sync.WaitGroup
	for range readers {
		reading.Go(func() {
			last := uint64(0)
			for writing.Err() == nil {
				s := x.Snapshot()
				if s.Version < last {
					t.Errorf("version %d after %d", s.Version, last)
					return
				}
				last = s.Version
				for n := range writers {
					v := s.Vector(pod(fmt.Sprint("app-", n)))
					if len(v) != len(s.Resources().Names()) {
						t.Errorf("a vector of %d among %d resources", len(v), len(s.Resources().Names()))
						return
					}
					if v[0].Loading != unprofiled && v[0] != v[1] {
						t.Errorf("half of a change: %+v", v)
						return
					}
				}
			}
		})
	}
	var done sync.WaitGroup
	for n := range writers {
		done.Go(func() {
			p := declared(fmt.Sprint("app-", n), demand("cpu", "0"))
			for i := range changes {
				fraction := fmt.Sprintf("%dm", i)
				p = changed(p, func(p *v1alpha1.WorkloadProfile) {
					p.Spec.Resources = []v1alpha1.ResourceDemand{demand("cpu", fraction), demand("disk", fraction)}
				})
				x.OnUpdate(nil, p)
				if got, want := cpuOf(x.Snapshot(), pod(p.Name)), float64(i)/1000; got < want-1e-12 || got > want+1e-12 {
					t.Errorf("%s: wrote %v, read %v", p.Name, want, got)
					return
				}
			}
		})
	}
	done.Go(func() {
		gpus := machines("gpu-node", servers("gpu", 8))
		for range changes {
			x.OnAdd(gpus, false)
			if n := len(x.Snapshot().Resources().Names()); n != 6 {
				t.Errorf("%d resources with a NodeProfile that adds one, want 6", n)
			}
			x.OnDelete(gpus)
		}
	})
	done.Wait()
	stop()
	reading.Wait()
}

func TestTheEmptySelectorIsTheDefaultOfANamespace(t *testing.T) {
	t.Parallel()
	rest := declared("rest", demand("cpu", "0.25"))
	rest.Spec.Selector = &metav1.LabelSelector{}
	x := indexOf(rest, declared("web", demand("cpu", "0.5")))
	for name, want := range map[string]string{"web": "web", "other": "rest"} {
		if got := x.Snapshot().Workload(pod(name)).Name; got != want {
			t.Errorf("%s follows %s, want %s", name, got, want)
		}
	}
}
