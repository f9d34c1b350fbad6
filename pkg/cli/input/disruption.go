package input

import (
	autoscalingv2 "k8s.io/api/autoscaling/v2"
	batchv1 "k8s.io/api/batch/v1"
	policyv1 "k8s.io/api/policy/v1"
	"k8s.io/apimachinery/pkg/runtime/schema"

	"loadline.dev/loadline/apis/decode"
	"loadline.dev/loadline/pkg/evaluate/disruption"
)

// Disruption returns the kinds that say whether pods may be disrupted.
func Disruption() []Kind {
	return []Kind{
		ofDisruption(policyv1.SchemeGroupVersion, "PodDisruptionBudget", func(in *disruption.Input) *[]policyv1.PodDisruptionBudget { return &in.Budgets }),
		ofDisruption(batchv1.SchemeGroupVersion, "Job", func(in *disruption.Input) *[]batchv1.Job { return &in.Jobs }),
		ofDisruption(autoscalingv2.SchemeGroupVersion, "HorizontalPodAutoscaler", func(in *disruption.Input) *[]autoscalingv2.HorizontalPodAutoscaler {
			return &in.HorizontalPodAutoscalers
		}),
		ofDisruption(disruption.VerticalPodAutoscalerVersion, "VerticalPodAutoscaler", func(in *disruption.Input) *[]disruption.VerticalPodAutoscaler {
			return &in.VerticalPodAutoscalers
		}),
	}
}

// ofDisruption returns a kind whose objects are added to a list of [Objects.Disruption].
func ofDisruption[T any](version schema.GroupVersion, name string, list func(*disruption.Input) *[]T) Kind {
	return Kind{version.WithKind(name), true, func(all *Objects, object *decode.Value, decoder *decode.Decoder) error {
		var one T
		if err := decoder.Into(object, &one); err != nil {
			return err
		}
		to := list(&all.Disruption)
		*to = append(*to, one)
		return nil
	}}
}
