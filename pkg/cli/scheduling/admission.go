package scheduling

import (
	"context"
	"fmt"

	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"loadline.dev/loadline/pkg/admission"
	"loadline.dev/loadline/pkg/cli/verb"
)

// Admission lists what bounds the resources of the pods of a cluster. Objects that the user may not list count as if there were none, and
// a warning says so.
func Admission(ctx context.Context, c client.Reader, warnings *verb.Stream) (*admission.Input, error) {
	ranges, quotas := &corev1.LimitRangeList{}, &corev1.ResourceQuotaList{}
	for _, list := range []client.ObjectList{ranges, quotas} {
		err := c.List(ctx, list)
		if apierrors.IsForbidden(err) {
			if err := warnings.Warn("%s: whether the API server would refuse a change because of them is not known", verb.OneLine(err)); err != nil {
				return nil, err
			}
			continue
		}
		if err != nil {
			return nil, fmt.Errorf("listing what bounds the resources of pods: %w", err)
		}
	}
	return &admission.Input{LimitRanges: ranges.Items, Quotas: quotas.Items}, nil
}
