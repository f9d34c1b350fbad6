package profile_test

import (
	"fmt"
	"maps"
	"slices"
	"testing"

	gocmp "github.com/google/go-cmp/cmp"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"pgregory.net/rapid"

	"loadline.dev/loadline/apis/loadline/v1alpha1"
	"loadline.dev/loadline/pkg/profile"
)

// next returns a later state of a profile.
func next(p *v1alpha1.WorkloadProfile, change func(*v1alpha1.WorkloadProfile)) *v1alpha1.WorkloadProfile {
	p = p.DeepCopy()
	p.Generation++
	change(p)
	return p
}

func of(namespace string, p *v1alpha1.WorkloadProfile) *v1alpha1.WorkloadProfile {
	p.Namespace = namespace
	return p
}

func TestWhatPodsFollowOutlivesChangesOfOtherProfiles(t *testing.T) {
	t.Parallel()
	cart, pay := declared("cart", demand("cpu", "0.5")), declared("pay", demand("disk", "0.5"))
	specific := declared("canary", demand("network", "0.5"))
	specific.Spec.Selector = &metav1.LabelSelector{MatchLabels: map[string]string{"app": "cart", "track": "canary"}}
	set := func(p any) func(*profile.Index) { return func(x *profile.Index) { x.OnAdd(p, false) } }
	loaded := func(p *v1alpha1.WorkloadProfile) { p.Spec.Resources[0].Loading = quantity("0.25") }
	invalid := func(p *v1alpha1.WorkloadProfile) { p.Spec.Resources[0].Loading = quantity("2") }
	for name, test := range map[string]struct {
		change func(*profile.Index)
		want   bool // that they follow the same
	}{
		"nothing":                            {func(*profile.Index) {}, true},
		"the profile of other pods changes":  {set(next(pay, loaded)), true},
		"the profile of other pods is gone":  {func(x *profile.Index) { x.OnDelete(pay) }, true},
		"there is one more in its namespace": {set(declared("new", demand("cpu", "1"))), true},
		"there is one in another namespace":  {set(of("etl", declared("cart", demand("cpu", "1")))), true},
		"an invalid one comes":               {set(next(declared("bad", demand("cpu", "1")), invalid)), true},
		"the nodes have another profile":     {set(machines("big", servers("disk", 4))), true},
		"its profile changes":                {set(next(cart, loaded)), false},
		"its profile becomes invalid":        {set(next(cart, invalid)), false},
		"its profile is gone":                {func(x *profile.Index) { x.OnDelete(cart) }, false},
		"there is a more specific profile":   {set(specific), false},
		"a profile comes for one without":    {set(of("web", declared("cart", demand("cpu", "1")))), false},
		"the nodes have another resource":    {set(machines("big", servers("gpu", 4))), false},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			x := indexOf(cart, pay)
			canary, without := pod("cart"), pod("cart")
			canary.Labels["track"], without.Namespace = "canary", "web"
			f := x.Snapshot().Follow([]*corev1.Pod{pod("cart"), canary, without})
			test.change(x)
			for range 2 { // it goes on saying so
				if got := f.In(x.Snapshot()); got != test.want {
					t.Errorf("they follow the same: %t, want %t", got, test.want)
				}
			}
		})
	}
}

func TestOnlyProfilesOfNodesChangeTheVersionOfNodes(t *testing.T) {
	t.Parallel()
	x := indexOf(declared("cart", demand("cpu", "0.5")))
	before := x.Snapshot()
	x.OnAdd(declared("pay", demand("cpu", "0.5")), false)
	if now := x.Snapshot(); now.NodesVersion != before.NodesVersion || now.Version == before.Version {
		t.Errorf("a WorkloadProfile came, and the versions are %d and %d, were %d and %d", now.Version, now.NodesVersion, before.Version, before.NodesVersion)
	}
	x.OnAdd(machines("big", servers("disk", 2)), false)
	if now := x.Snapshot(); now.NodesVersion == before.NodesVersion {
		t.Error("a NodeProfile came, and the version is the same")
	}
}

// After any change, the profiles that pods followed hold exactly where each pod still follows the same state of the same
// profile; each state has a number of its own; and the reported namespaces are exactly those in which a pod follows another
// profile.
func TestWhatPodsFollowHoldsWhereEachFollowsTheSame(t *testing.T) {
	t.Parallel()
	rapid.Check(t, func(t *rapid.T) {
		namespaces := []string{"shop", "etl", "web"}
		var pods []*corev1.Pod
		for i, namespace := range namespaces[:2] {
			for j, labels := range []map[string]string{nil, {"app": "a"}, {"app": "b", "tier": "a"}, {"app": "c", "zone": "", "tier": "b"}} {
				pods = append(pods, &corev1.Pod{ObjectMeta: metav1.ObjectMeta{Namespace: namespace, Name: fmt.Sprint(i, j), Labels: labels}})
			}
		}
		x, now := indexOf(), map[string]*v1alpha1.WorkloadProfile{}
		before := x.Snapshot()
		f := before.Follow(pods)
		states := map[uint64]*profile.Workload{}
		t.Repeat(map[string]func(*rapid.T){
			"set": func(t *rapid.T) {
				p := profiles().Draw(t, "profile")
				p.Namespace, p.Generation = rapid.SampledFrom(namespaces).Draw(t, "namespace"), int64(rapid.IntRange(1, 1<<30).Draw(t, "generation"))
				x.OnUpdate(nil, p)
				now[p.Namespace+"/"+p.Name] = p
			},
			"delete": func(t *rapid.T) {
				if len(now) == 0 {
					t.Skip("there is none")
				}
				name := rapid.SampledFrom(slices.Sorted(maps.Keys(now))).Draw(t, "name")
				x.OnDelete(now[name])
				delete(now, name)
			},
			"": func(t *rapid.T) {
				s := x.Snapshot()
				fresh := s.Follow(pods)
				changed := s.Changed(before)
				for j, pod := range pods {
					if w := before.Workload(pod); w != s.Workload(pod) && !slices.Contains(changed, pod.Namespace) {
						t.Fatalf("pod %d of %s follows another profile, and %v changed", j, pod.Namespace, changed)
					}
				}
				if got, want := f.In(s), slices.Equal(f.Workloads, fresh.Workloads); got != want {
					t.Fatalf("they follow the same: %t, want %t", got, want)
				} else if !got {
					f = fresh
				}
				for w := range s.Workloads() {
					if had := states[w.State]; had != nil && had != w {
						t.Fatalf("state %d is of %s/%s and of %s/%s", w.State, had.Namespace, had.Name, w.Namespace, w.Name)
					}
					states[w.State] = w
				}
				before = s
			},
		})
	})
}

func TestChangedNamespaces(t *testing.T) {
	t.Parallel()
	cart := declared("cart", demand("cpu", "0.5"))
	bad := next(of("etl", declared("bad", demand("cpu", "1"))), func(p *v1alpha1.WorkloadProfile) { p.Spec.Selector = nil })
	x := indexOf(cart, of("etl", declared("sort", demand("disk", "1"))), bad)
	before := x.Snapshot()
	x.OnDelete(cart)
	x.OnAdd(of("new", declared("cart", demand("cpu", "0.5"))), false)
	x.OnUpdate(bad, next(bad, func(p *v1alpha1.WorkloadProfile) {}))
	changed := x.Snapshot().Changed(before)
	slices.Sort(changed)
	if diff := gocmp.Diff([]string{"new", "shop"}, changed); diff != "" {
		t.Errorf("unexpected namespaces (-want +got):\n%s", diff)
	}
	for _, namespace := range []string{"shop", "etl", "unknown"} {
		n := len(slices.Collect(x.Snapshot().WorkloadsIn(namespace)))
		if want := map[string]int{"etl": 1}[namespace]; n != want {
			t.Errorf("%s has %d profiles, want %d", namespace, n, want)
		}
	}
}

func TestLookingAgainAtWhatPodsFollowAllocatesNothing(t *testing.T) {
	x := indexOf(declared("cart", demand("cpu", "0.5")))
	f := x.Snapshot().Follow([]*corev1.Pod{pod("cart"), pod("pay")})
	x.OnAdd(declared("other", demand("cpu", "0.5")), false)
	snapshots := []*profile.Snapshot{x.Snapshot()}
	x.OnAdd(of("etl", declared("other", demand("cpu", "0.5"))), false)
	snapshots = append(snapshots, x.Snapshot())
	if n := testing.AllocsPerRun(100, func() {
		for _, s := range snapshots {
			f.In(s)
		}
	}); n != 0 {
		t.Errorf("it allocates %v times", n)
	}
}
