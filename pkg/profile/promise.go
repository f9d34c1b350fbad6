package profile

import (
	"strconv"

	"k8s.io/apimachinery/pkg/api/resource"
	"k8s.io/apimachinery/pkg/util/validation/field"

	"loadline.dev/loadline/apis/loadline/v1alpha1"
	"loadline.dev/loadline/pkg/model/sizing"
)

// DefaultSLAProbability is the probability of an SLA that does not say it.
const DefaultSLAProbability = 0.95

// promise returns what a profile promises of the response time of its jobs, nil if it
// promises nothing of it.
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

// Nearest returns the number that is nearest to a quantity. The quantity's own
// approximation makes 0.9500000000000001 of 0.95.
func Nearest(q *resource.Quantity) float64 {
	decimal := q.DeepCopy() // which asking for its digits changes
	value, err := strconv.ParseFloat(decimal.AsDec().String(), 64)
	if err != nil {
		return q.AsApproximateFloat64()
	}
	return value
}
