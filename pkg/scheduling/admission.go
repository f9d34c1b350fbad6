package scheduling

import (
	"context"

	corev1 "k8s.io/api/core/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"loadline.dev/loadline/pkg/admission"
)

// Admission lists what bounds the resources of pods. Objects that may not be listed count as if there were none.
func (l *Lister) Admission(ctx context.Context) (*admission.Input, error) {
	ranges, quotas := &corev1.LimitRangeList{}, &corev1.ResourceQuotaList{}
	for _, list := range []client.ObjectList{ranges, quotas} {
		if err := l.list(ctx, list, "what bounds the resources of pods", "whether the API server would refuse a change because of them is not known"); err != nil {
			return nil, err
		}
	}
	return &admission.Input{LimitRanges: ranges.Items, Quotas: quotas.Items}, nil
}
