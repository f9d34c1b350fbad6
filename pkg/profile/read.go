package profile

import (
	"slices"

	"k8s.io/apimachinery/pkg/api/equality"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"loadline.dev/loadline/apis/loadline/v1alpha1"
)

// This file alone defines which parts of a profile an [Index] reads: the parts that a watch keeps, and the comparison of two
// states. A test walks all fields of the API and fails where one that changes a [Workload] or a [NodeClass] is missing here.

// read returns the parts that make a [Workload]: the spec, except for how to measure and observe, and the results in the status
// that the spec asks for. The rest, mostly managed fields and the manager's conditions, would be kept for nothing.
func read(p *v1alpha1.WorkloadProfile) *v1alpha1.WorkloadProfile {
	r := &v1alpha1.WorkloadProfile{
		ObjectMeta: metav1.ObjectMeta{
			Namespace: p.Namespace, Name: p.Name, UID: p.UID, ResourceVersion: p.ResourceVersion, Generation: p.Generation,
			CreationTimestamp: p.CreationTimestamp,
		},
		Spec: p.Spec,
	}
	if p.Spec.Measurement != nil {
		r.Spec.Measurement = &v1alpha1.Measurement{} // only whether there is one counts
		r.Status.Measurements = p.Status.Measurements
	}
	if p.Spec.Observation != nil {
		r.Spec.Observation = &v1alpha1.Observation{Mode: p.Spec.Observation.Mode}
	}
	switch {
	case appliesObserved(p):
		r.Status.Observations = p.Status.Observations
	case takesBursts(p):
		for i := range p.Status.Observations {
			if o := &p.Status.Observations[i]; o.BurstMillis != nil {
				r.Status.Observations = append(r.Status.Observations, v1alpha1.WorkloadObservation{NodeProfile: o.NodeProfile, BurstMillis: o.BurstMillis})
			}
		}
	}
	return r
}

// SameWorkload reports whether two states of a profile of one name give the same vectors: measurements and the recommendations and
// bursts of observations count, the rest of the status does not.
func SameWorkload(old, next *v1alpha1.WorkloadProfile) bool {
	return SameButObserved(old, next) && slices.EqualFunc(read(old).Status.Observations, read(next).Status.Observations, sameRecommendation)
}

// SameButObserved reports whether nothing that makes vectors differs between two states of a profile of one name, unless it is observed.
func SameButObserved(old, next *v1alpha1.WorkloadProfile) bool {
	return old.UID == next.UID && old.Generation == next.Generation &&
		equality.Semantic.DeepEqual(read(old).Status.Measurements, read(next).Status.Measurements)
}

// sameRecommendation reports whether two observations recommend the same, and have the same burst. Each round of the manager observes anew, mostly to the
// same end; how long and how evenly is for people.
func sameRecommendation(a, b v1alpha1.WorkloadObservation) bool {
	return a.NodeProfile == b.NodeProfile && equality.Semantic.DeepEqual(a.Recommended, b.Recommended) && equality.Semantic.DeepEqual(a.BurstMillis, b.BurstMillis)
}

// SameNodeClass reports whether two states of a profile of one name give the same servers: calibrated values count, the rest of
// the status does not.
func SameNodeClass(old, next *v1alpha1.NodeProfile) bool {
	return old.UID == next.UID && old.Generation == next.Generation && equality.Semantic.DeepEqual(old.Status.Resources, next.Status.Resources)
}
