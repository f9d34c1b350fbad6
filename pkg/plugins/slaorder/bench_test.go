package slaorder

import (
	"fmt"
	"testing"

	fwk "k8s.io/kube-scheduler/framework"
	"k8s.io/kubernetes/pkg/scheduler/framework"
	"k8s.io/kubernetes/pkg/scheduler/framework/plugins/queuesort"

	"loadline.dev/loadline/apis/config"
	"loadline.dev/loadline/apis/loadline/v1alpha1"
)

// benchQueue returns a plugin that knows 20 classes, and pods that wait.
func benchQueue(d config.Discipline, pods int) (*tested, []*framework.QueuedPodInfo) {
	const classes = 20
	var profiles []*v1alpha1.WorkloadProfile
	for i := range classes {
		profiles = append(profiles, promising(fmt.Sprintf("app-%d", i), 3+float64(i)/10, 0.9))
	}
	o := newTested(d, 600, 3600, profiles...)
	infos := make([]*framework.QueuedPodInfo, pods)
	for i := range infos {
		infos[i] = queued(pod(fmt.Sprintf("6f1c9a52-pod-with-a-uid-of-36-%07d", i), fmt.Sprintf("app-%d", i%classes), 0), float64(i)/1000, float64(i)/1000)
	}
	return o, infos
}

// BenchmarkLess reports the time of one comparison, of pods of different classes, beside
// that of kube-scheduler's own plugin.
func BenchmarkLess(b *testing.B) {
	for _, pods := range []int{1000, 100_000} {
		o, infos := benchQueue(config.PDP, pods)
		compare := func(name string, plugin fwk.QueueSortPlugin) {
			b.Run(fmt.Sprintf("%s/pods=%d", name, pods), func(b *testing.B) {
				b.ReportAllocs()
				i := 0
				for b.Loop() {
					plugin.Less(infos[i], infos[(i+7)%pods])
					if i++; i == pods {
						i = 0
					}
				}
			})
		}
		compare("PrioritySort", &queuesort.PrioritySort{})
		compare("SLAOrder,unseen", o)
		o.seen(infos...)
		compare("SLAOrder", o)
	}
}

// BenchmarkUpdate reports the time to take in a changed profile, with 10,000 profiles and pods that wait in one namespace: one of
// these, and one of another namespace.
func BenchmarkUpdate(b *testing.B) {
	for _, namespace := range []string{"default", "other"} {
		b.Run("namespace="+namespace, func(b *testing.B) {
			var profiles []*v1alpha1.WorkloadProfile
			for i := range 10_000 {
				profiles = append(profiles, promising(fmt.Sprintf("app-%d", i), 3, 0.9))
			}
			o := newTested(config.HOL, 600, 3600, profiles...)
			for i := range 10_000 {
				o.waiting.OnAdd(pod(fmt.Sprint(i), fmt.Sprintf("app-%d", i), 0), false)
			}
			changed := promising("app-0", 3, 0.9)
			changed.Namespace = namespace
			for b.Loop() {
				changed = changed.DeepCopy()
				changed.Generation++
				o.index.OnUpdate(nil, changed)
				o.update()
			}
		})
	}
}

// BenchmarkReport reports the time to count the pods that wait for the metrics, which
// happens once in a reportInterval.
func BenchmarkReport(b *testing.B) {
	for _, pods := range []int{0, 1000, 100_000} {
		b.Run(fmt.Sprintf("pods=%d", pods), func(b *testing.B) {
			o, infos := benchQueue(config.PDP, pods)
			o.seen(infos...)
			for b.Loop() {
				o.waiting.report()
			}
		})
	}
}
