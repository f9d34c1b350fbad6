package profile_test

import (
	"fmt"
	"testing"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"

	"loadline.dev/loadline/apis/loadline/v1alpha1"
	"loadline.dev/loadline/pkg/profile"
)

// manyProfiles returns n profiles of one namespace for the pods of an app of their own.
// One of ten is for every app but one in place of that, of no more than can be in use.
func manyProfiles(n int) []any {
	profiles := make([]any, n)
	for i := range profiles {
		p := declared(fmt.Sprintf("app-%d", i), demand("cpu", "0.5"), demand("disk", "0.25"))
		if i%10 == 9 && i/10 < profile.MaxCompared-1 {
			p.Spec.Selector = &metav1.LabelSelector{MatchExpressions: []metav1.LabelSelectorRequirement{
				{Key: "app", Operator: metav1.LabelSelectorOpNotIn, Values: []string{p.Name}},
			}}
		}
		profiles[i] = p
	}
	return profiles
}

// BenchmarkVector reports the time to find the profile of a pod and its vector.
func BenchmarkVector(b *testing.B) {
	for _, n := range []int{10, 1_000, 10_000} {
		b.Run(fmt.Sprintf("profiles=%d", n), func(b *testing.B) {
			s := indexOf(manyProfiles(n)...).Snapshot()
			pods := make([]*corev1.Pod, n)
			for i := range pods {
				pods[i] = pod(fmt.Sprintf("app-%d", i))
			}
			b.ReportAllocs()
			i := 0
			for b.Loop() {
				if s.Vector(pods[i]) == nil {
					b.Fatal("no vector")
				}
				if i++; i == n {
					i = 0
				}
			}
		})
	}
}

// BenchmarkSnapshotAfterOneChange reports the time of the first Snapshot after
// one of 10,000 profiles changed, all in one namespace or 100 in each of 100.
func BenchmarkSnapshotAfterOneChange(b *testing.B) {
	const profiles = 10_000
	for _, namespaces := range []int{1, 100} {
		b.Run(fmt.Sprintf("profiles=%d/namespaces=%d", profiles, namespaces), func(b *testing.B) {
			all := manyProfiles(profiles)
			for i, p := range all {
				if p, ok := p.(*v1alpha1.WorkloadProfile); ok {
					p.Namespace = fmt.Sprintf("namespace-%d", i%namespaces)
					p.UID = types.UID(fmt.Sprint(i))
				}
			}
			x := indexOf(all...)
			x.Snapshot()
			p, ok := all[0].(*v1alpha1.WorkloadProfile)
			if !ok {
				b.Fatal("not a profile")
			}
			b.ReportAllocs()
			for b.Loop() {
				p = changed(p, func(*v1alpha1.WorkloadProfile) {})
				x.OnUpdate(nil, p)
				x.Snapshot()
			}
		})
	}
}
