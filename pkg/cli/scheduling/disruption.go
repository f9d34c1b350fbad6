package scheduling

import (
	"context"
	"fmt"

	autoscalingv2 "k8s.io/api/autoscaling/v2"
	batchv1 "k8s.io/api/batch/v1"
	policyv1 "k8s.io/api/policy/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/api/meta"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"loadline.dev/loadline/pkg/cli/verb"
	"loadline.dev/loadline/pkg/evaluate/disruption"
)

// Disruption lists what decides whether the pods of a cluster may be disrupted. Objects that the user may not list count as if there
// were none, and a warning says so.
func Disruption(ctx context.Context, c client.Reader, warnings *verb.Stream) (*disruption.Input, error) {
	budgets, jobs, horizontal := &policyv1.PodDisruptionBudgetList{}, &batchv1.JobList{}, &autoscalingv2.HorizontalPodAutoscalerList{}
	vertical := &unstructured.UnstructuredList{}
	vertical.SetGroupVersionKind(disruption.VerticalPodAutoscalerVersion.WithKind("VerticalPodAutoscalerList"))
	for _, list := range []client.ObjectList{budgets, jobs, horizontal, vertical} {
		err := c.List(ctx, list)
		switch {
		case meta.IsNoMatchError(err) || apierrors.IsNotFound(err): // no such thing is installed
		case apierrors.IsForbidden(err):
			if err := warnings.Warn("%s: whether they keep pods from moving is not known", verb.OneLine(err)); err != nil {
				return nil, err
			}
		case err != nil:
			return nil, fmt.Errorf("listing what pods may be disrupted by: %w", err)
		}
	}
	in := &disruption.Input{Budgets: budgets.Items, Jobs: jobs.Items, HorizontalPodAutoscalers: horizontal.Items}
	for i := range vertical.Items {
		v, err := disruption.ReadVerticalPodAutoscaler(&vertical.Items[i])
		if err != nil {
			return nil, err
		}
		in.VerticalPodAutoscalers = append(in.VerticalPodAutoscalers, *v)
	}
	return in, nil
}
