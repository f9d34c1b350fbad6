package profile

import (
	"slices"

	"k8s.io/apimachinery/pkg/api/equality"
	"k8s.io/utils/ptr"

	"loadline.dev/loadline/apis/loadline/v1alpha1"
)

// SameWorkload reports whether two states of a profile of one name give the same
// vectors: measurements and what is recommended by observations count, the rest of the
// status does not.
func SameWorkload(old, next *v1alpha1.WorkloadProfile) bool {
	return old.UID == next.UID && old.Generation == next.Generation &&
		slices.EqualFunc(old.Status.Measurements, next.Status.Measurements, sameVector) &&
		(!appliesObserved(next) || slices.EqualFunc(old.Status.Observations, next.Status.Observations, sameRecommendation))
}

func sameRecommendation(a, b v1alpha1.WorkloadObservation) bool {
	return a.NodeProfile == b.NodeProfile && equality.Semantic.DeepEqual(a.Recommended, b.Recommended)
}

func sameVector(a, b v1alpha1.MeasuredVector) bool {
	return a.NodeProfile == b.NodeProfile && a.Time.Equal(b.Time) && ptr.Equal(a.NeutralMillis, b.NeutralMillis) &&
		slices.EqualFunc(a.Resources, b.Resources, sameLoading) && equality.Semantic.DeepEqual(a.Interference, b.Interference)
}

func sameLoading(a, b v1alpha1.MeasuredLoading) bool {
	return a.Name == b.Name && ptr.Equal(a.Threads, b.Threads) &&
		equality.Semantic.DeepEqual(a.Loading, b.Loading) && equality.Semantic.DeepEqual(a.Pressure, b.Pressure) &&
		equality.Semantic.DeepEqual(a.Sensitivity, b.Sensitivity) &&
		equality.Semantic.DeepEqual(a.LoadingError, b.LoadingError) && equality.Semantic.DeepEqual(a.PressureError, b.PressureError)
}

// SameNodeClass reports whether two states of a profile of one name give the same
// servers: what was calibrated counts, the rest of the status does not.
func SameNodeClass(old, next *v1alpha1.NodeProfile) bool {
	return old.UID == next.UID && old.Generation == next.Generation &&
		slices.EqualFunc(old.Status.Resources, next.Status.Resources, sameServers)
}

func sameServers(a, b v1alpha1.CalibratedResource) bool {
	return a.Name == b.Name && a.Time.Equal(b.Time) && ptr.Equal(a.Servers, b.Servers)
}
