package profile

import (
	"k8s.io/apimachinery/pkg/util/validation/field"

	"loadline.dev/loadline/apis/loadline/v1alpha1"
	"loadline.dev/loadline/pkg/model/sizing"
)

// DefaultSLAProbability is the probability of an SLA that does not say it.
const DefaultSLAProbability = 0.95

// promise returns the SLA that a profile declares for the response time of its jobs, nil for none.
func promise(spec *v1alpha1.WorkloadProfileSpec) (*sizing.SLA, field.ErrorList) {
	if spec.SLA == nil || spec.SLA.ResponseTimeMillis == nil {
		return nil, nil
	}
	path := field.NewPath("spec", "sla")
	millis := *spec.SLA.ResponseTimeMillis
	if millis < 1 {
		return nil, field.ErrorList{field.Invalid(path.Child("responseTimeMillis"), millis, "must be at least 1")}
	}
	sla := &sizing.SLA{Within: float64(millis) / 1000, Probability: DefaultSLAProbability}
	if p := spec.SLA.Probability; p != nil {
		if sla.Probability = Nearest(p); !(sla.Probability > 0 && sla.Probability < 1) {
			return nil, field.ErrorList{field.Invalid(path.Child("probability"), p.String(), "must be more than 0 and less than 1")}
		}
	}
	return sla, nil
}
