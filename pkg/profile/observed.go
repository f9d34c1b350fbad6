package profile

import (
	"math"
	"slices"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/resource"
	"k8s.io/apimachinery/pkg/util/sets"
	"k8s.io/apimachinery/pkg/util/validation/field"

	"loadline.dev/loadline/apis/loadline/v1alpha1"
	"loadline.dev/loadline/pkg/model/contention"
)

// appliesObserved reports whether the recommendations of observations are in use.
func appliesObserved(p *v1alpha1.WorkloadProfile) bool {
	return p.Spec.Observation != nil && p.Spec.Observation.Mode == v1alpha1.ModeApply
}

// observations reads the recommendations of the observations of a workload, none where its profile
// does not apply them.
func observations(p *v1alpha1.WorkloadProfile) (all []*InUse, errs field.ErrorList) {
	if p.Spec.Observation != nil && len(p.Spec.Resources) > 0 {
		return nil, field.ErrorList{field.Forbidden(field.NewPath("spec", "observation"), "resources declares the vector: leave one of them out")}
	}
	if !appliesObserved(p) {
		return nil, nil
	}
	classes := sets.New[string]()
	for i := range p.Status.Observations {
		o, path := &p.Status.Observations[i], field.NewPath("status", "observations").Index(i)
		if o.Recommended == nil {
			continue
		}
		errs = append(errs, ofClass(classes, o.NodeProfile, path)...)
		if o.Time == nil {
			errs = append(errs, field.Required(path.Child("time"), "say when it was observed"))
		}
		d := NamedDemand{Resource: string(corev1.ResourceCPU), Margins: observedMargins(o, o.CPULoadingSpread)}
		path = path.Child("recommended")
		if o.Recommended.CPULoading == nil {
			errs = append(errs, field.Required(path.Child("cpuLoading"), "every recommendation has it"))
		} else {
			d.Loading = inRange(o.Recommended.CPULoading)
			d.Pressure = d.Loading
		}
		if err := threads(o.Recommended.Threads, path.Child("threads"), &d.Threads); err != nil {
			errs = append(errs, err)
		}
		use := &InUse{Class: o.NodeProfile, Observed: o, Demands: []NamedDemand{d}}
		if o.Recommended.DiskLoading != nil {
			at := NamedDemand{Resource: disk, Margins: observedMargins(o, o.DiskLoadingSpread)}
			at.Loading = min(inRange(o.Recommended.DiskLoading), 1-d.Loading) // each is rounded
			at.Pressure, at.Threads = at.Loading, d.Threads
			use.Demands = append(use.Demands, at)
		}
		all = append(all, use)
	}
	return all, errs
}

// observesDisk reports whether a profile uses recommendations with a demand at the disk.
func observesDisk(p *v1alpha1.WorkloadProfile) bool {
	return appliesObserved(p) && slices.ContainsFunc(p.Status.Observations, func(o v1alpha1.WorkloadObservation) bool {
		return o.Recommended != nil && o.Recommended.DiskLoading != nil
	})
}

// sampleSeconds is about how long each of the samples is that a spread is of.
const sampleSeconds = 30

// observedMargins returns the half widths of the 95 % confidence intervals of an observed
// demand, by its spread, as if samples were independent.
func observedMargins(o *v1alpha1.WorkloadObservation, spread *resource.Quantity) contention.Margins {
	if o.ObservedSeconds == nil {
		return contention.Margins{}
	}
	const normal = 1.96
	samples := max(1, float64(*o.ObservedSeconds)/sampleSeconds)
	half := min(1, normal*margin(spread)/math.Sqrt(samples))
	return contention.Margins{Loading: half, Pressure: half}
}
