package scheduling

import (
	"context"

	autoscalingv2 "k8s.io/api/autoscaling/v2"
	batchv1 "k8s.io/api/batch/v1"
	policyv1 "k8s.io/api/policy/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"loadline.dev/loadline/pkg/evaluate/disruption"
)

// Disruption lists what decides whether pods may be disrupted, besides the pods: of the cluster, or of a namespace if an option says so.
// Objects that may not be listed count as if there were none, and so does a VerticalPodAutoscaler that cannot be read.
func (l *Lister) Disruption(ctx context.Context, options ...client.ListOption) (*disruption.Input, error) {
	var (
		budgets    policyv1.PodDisruptionBudgetList
		jobs       batchv1.JobList
		horizontal autoscalingv2.HorizontalPodAutoscalerList
		vertical   unstructured.UnstructuredList
	)
	vertical.SetGroupVersionKind(disruption.VerticalPodAutoscalerVersion.WithKind("VerticalPodAutoscalerList"))
	for _, list := range []client.ObjectList{&budgets, &jobs, &horizontal, &vertical} {
		if err := l.list(ctx, list, "what pods may be disrupted by", "whether they keep pods from moving is not known", options...); err != nil {
			return nil, err
		}
	}
	in := &disruption.Input{Budgets: budgets.Items, Jobs: jobs.Items, HorizontalPodAutoscalers: horizontal.Items}
	for i := range vertical.Items {
		v, err := disruption.ReadVerticalPodAutoscaler(&vertical.Items[i])
		if err != nil {
			if l.Unlisted == nil {
				return nil, err
			}
			if err := l.Unlisted(err, "whether it has pods resized is not known"); err != nil {
				return nil, err
			}
			continue
		}
		in.VerticalPodAutoscalers = append(in.VerticalPodAutoscalers, *v)
	}
	return in, nil
}
