package measurement

import (
	"fmt"
	"math"

	"k8s.io/apimachinery/pkg/api/resource"
	"k8s.io/utils/ptr"

	"loadline.dev/loadline/apis/loadline/v1alpha1"
	"loadline.dev/loadline/pkg/model/experiment"
)

// This file is where a measurement becomes an experiment of the model, and its samples
// become those of the status.

// model returns the node in the form of the model.
func (n *node) model() experiment.Host {
	return experiment.Host{Name: n.name(), Resources: n.resources, Servers: n.capacity, Neighbours: n.neighbours}
}

// fromStatus returns the samples of a status.
func fromStatus(samples []v1alpha1.MeasurementSample) []experiment.Sample {
	all := make([]experiment.Sample, len(samples))
	for i := range samples {
		s := &samples[i]
		all[i] = experiment.Sample{
			Round: int(*s.Round), Step: experiment.Step(s.Step),
			TargetNanos: float64(ptr.Deref(s.TargetNanos, 0)), TargetCPUNanos: float64(ptr.Deref(s.TargetCPUNanos, 0)),
			ProbeDilation: fromQuantity(s.ProbeDilation), ProbeUnitsPerSecond: fromQuantity(s.ProbeUnitsPerSecond), SelfDilation: fromQuantity(s.SelfDilation),
		}
		if s.ProbeComputing != nil {
			all[i].ProbeComputing = new(fromQuantity(s.ProbeComputing))
		}
	}
	return all
}

// toStatus returns samples as a status has them.
func toStatus(samples ...experiment.Sample) []v1alpha1.MeasurementSample {
	all := make([]v1alpha1.MeasurementSample, len(samples))
	for i, s := range samples {
		all[i] = v1alpha1.MeasurementSample{
			Round: new(int32(s.Round)), Step: string(s.Step),
			TargetNanos: toNanos(s.TargetNanos), TargetCPUNanos: toNanos(s.TargetCPUNanos),
			ProbeDilation: toQuantity(s.ProbeDilation), ProbeUnitsPerSecond: toQuantity(s.ProbeUnitsPerSecond), SelfDilation: toQuantity(s.SelfDilation),
		}
		if s.ProbeComputing != nil {
			all[i].ProbeComputing = quantity(*s.ProbeComputing)
		}
	}
	return all
}

func toNanos(x float64) *int64 {
	if x == 0 {
		return nil
	}
	return new(int64(x))
}

func fromQuantity(q *resource.Quantity) float64 {
	if q == nil {
		return 0
	}
	return q.AsApproximateFloat64()
}

func toQuantity(x float64) *resource.Quantity {
	if x == 0 {
		return nil
	}
	return quantity(x)
}

// quantity returns a number with six significant digits.
func quantity(x float64) *resource.Quantity {
	digits := 6
	if x != 0 {
		digits = max(0, 5-int(math.Floor(math.Log10(math.Abs(x)))))
	}
	q := resource.MustParse(fmt.Sprintf("%.*f", min(digits, 9), x))
	return &q
}
