package explanation

import (
	"slices"

	corev1 "k8s.io/api/core/v1"

	"loadline.dev/loadline/apis/loadline/v1alpha1"
	"loadline.dev/loadline/pkg/evaluate/inflations"
	"loadline.dev/loadline/pkg/evaluate/workloads"
)

// service returns how much slower the pod serves than when quiet, nil where its profile does not say.
func (x *explainer) service(w *v1alpha1.WorkloadProfile) *Service {
	if w.Spec.Work == nil {
		return nil
	}
	of := inflations.Of(w, x.Pod.Name, inflations.ByUID(x.Pods))
	if of == nil {
		return nil
	}
	return &Service{Unit: of.Unit, Inflation: of.Inflation, Beside: of.Beside, Adds: of.Adds}
}

// slowerBeside returns the workloads among pods beside which pods of the same profile were seen to serve slower.
func (x *explainer) slowerBeside(pods []*corev1.Pod) (found []string) {
	if len(x.goWith) == 0 {
		return nil
	}
	for _, p := range pods {
		if workload := workloads.Of(p); slices.Contains(x.goWith, workload) && !slices.Contains(found, workload) {
			found = append(found, workload)
		}
	}
	slices.Sort(found)
	return found
}
