package plan

import (
	"github.com/go-logr/logr"
	corev1 "k8s.io/api/core/v1"

	"loadline.dev/loadline/apis/config"
	configv1alpha1 "loadline.dev/loadline/apis/config/v1alpha1"
	"loadline.dev/loadline/apis/loadline/v1alpha1"
	"loadline.dev/loadline/pkg/node"
	"loadline.dev/loadline/pkg/profile"
)

// Promises returns what pods are promised by the sla.maxDilation of their profiles, as far as an operator's limits let that count; nothing
// to those of namespaces whose label turns the guard off. A plan keeps promises where the guard only warns, too.
func Promises(profiles []v1alpha1.WorkloadProfile, namespaces []corev1.Namespace, limits config.Limits) func(*corev1.Pod) node.Promise {
	index := profile.NewIndex(nil, logr.Discard())
	for i := range profiles {
		index.OnAdd(&profiles[i], true)
	}
	snapshot, off := index.Snapshot(), map[string]bool{}
	for i := range namespaces {
		mode, _ := node.GuardModeOf(namespaces[i].Labels)
		off[namespaces[i].Name] = mode == configv1alpha1.GuardOff
	}
	return func(pod *corev1.Pod) node.Promise {
		mode := configv1alpha1.GuardEnforce
		if off[pod.Namespace] {
			mode = configv1alpha1.GuardOff
		}
		return node.NewPromise(pod, snapshot.Workload(pod), mode, limits)
	}
}
