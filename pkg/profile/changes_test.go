package profile_test

import (
	"fmt"
	"testing"

	gocmp "github.com/google/go-cmp/cmp"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
	"pgregory.net/rapid"

	"loadline.dev/loadline/apis/loadline/v1alpha1"
	"loadline.dev/loadline/pkg/profile"
)

// An index takes in only what changed. Whatever the changes, it answers as one does that
// reads the profiles that are left in the first place, and a snapshot goes on answering as
// it did.
func TestAnIndexThatChangedAnswersAsANewOneAndItsSnapshotsStay(t *testing.T) {
	t.Parallel()
	rapid.Check(t, func(t *rapid.T) {
		x, now := indexOf(), map[types.NamespacedName]*v1alpha1.WorkloadProfile{}
		generation := int64(0)
		set := func(p *v1alpha1.WorkloadProfile, namespace string) {
			generation++
			p.Namespace, p.Generation = namespace, generation
			x.OnUpdate(nil, p)
			now[types.NamespacedName{Namespace: namespace, Name: p.Name}] = p
		}
		namespaces := rapid.SampledFrom([]string{"shop", "etl", "web"})
		gpus := machines("gpu-node", servers("gpu", 8))
		var taken []*profile.Snapshot
		var answered []map[string]string
		t.Repeat(map[string]func(*rapid.T){
			"set": func(t *rapid.T) { set(profiles().Draw(t, "profile"), namespaces.Draw(t, "namespace")) },
			"set many": func(t *rapid.T) {
				namespace := namespaces.Draw(t, "namespace")
				for i := range rapid.IntRange(1, 40).Draw(t, "profiles") {
					p := declared(fmt.Sprintf("many-%d", i), demand("cpu", "1"))
					p.Spec.Selector = &metav1.LabelSelector{MatchLabels: map[string]string{"app": fmt.Sprint(i)}}
					set(p, namespace)
				}
			},
			"set an invalid one": func(t *rapid.T) {
				p := profiles().Draw(t, "profile")
				p.Spec.Resources[0].Loading = quantity("2")
				set(p, namespaces.Draw(t, "namespace"))
			},
			"delete": func(*rapid.T) {
				for name, p := range now {
					x.OnDelete(p)
					delete(now, name)
					break
				}
			},
			"delete one that is not there": func(*rapid.T) { x.OnDelete(declared("unknown")) },
			"delete all of a namespace": func(t *rapid.T) {
				namespace := namespaces.Draw(t, "namespace")
				for name, p := range now {
					if name.Namespace == namespace {
						x.OnDelete(p)
						delete(now, name)
					}
				}
			},
			"name another resource": func(*rapid.T) { x.OnAdd(gpus, false) },
			"name it no longer":     func(*rapid.T) { x.OnDelete(gpus) },
			"take a snapshot": func(*rapid.T) {
				taken = append(taken, x.Snapshot())
				answered = append(answered, answers(x.Snapshot()))
			},
		})
		fresh := indexOf()
		for _, p := range now {
			fresh.OnAdd(p, true)
		}
		if diff := gocmp.Diff(answers(fresh.Snapshot()), answers(x.Snapshot())); diff != "" {
			t.Fatalf("an index that changed answers differently (-new +changed):\n%s", diff)
		}
		for i, s := range taken {
			if diff := gocmp.Diff(answered[i], answers(s)); diff != "" {
				t.Fatalf("a snapshot has changed (-then +now):\n%s", diff)
			}
		}
	})
}

// answers returns which profiles pods of several labels follow, and how many profiles
// there are: all but the one of nodes.
func answers(s *profile.Snapshot) map[string]string {
	all := map[string]string{}
	for _, namespace := range []string{"shop", "etl", "web"} {
		for _, labels := range []map[string]string{
			nil, {"app": "a"}, {"app": "b", "tier": "a"}, {"app": "c", "zone": "", "tier": "b"}, {"app": "0"}, {"app": "17"}, {"app": "39", "zone": "a"},
		} {
			w := s.Workload(&corev1.Pod{ObjectMeta: metav1.ObjectMeta{Namespace: namespace, Labels: labels}})
			if w != nil {
				all[fmt.Sprint(namespace, labels)] = fmt.Sprint(w.Namespace, "/", w.Name, " ", len(w.On(profile.AnyClass).Vector) == len(s.Resources().Names()))
			}
		}
	}
	workloads := 0
	for range s.Workloads() {
		workloads++
	}
	used, ignored := s.Counts()
	if len(s.Resources().Names()) == 6 {
		used-- // the profile of nodes
	}
	all["counts"] = fmt.Sprint(workloads, " ", used, " ", ignored)
	return all
}
