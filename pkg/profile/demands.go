package profile

import (
	"fmt"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/resource"
	"k8s.io/apimachinery/pkg/util/sets"
	"k8s.io/apimachinery/pkg/util/validation"
	"k8s.io/apimachinery/pkg/util/validation/field"

	"loadline.dev/loadline/apis/loadline/v1alpha1"
	"loadline.dev/loadline/pkg/model/loading"
)

// demands reads the demands of a spec, none where they are to be measured or observed.
func demands(spec *v1alpha1.WorkloadProfileSpec) ([]NamedDemand, field.ErrorList) {
	path := field.NewPath("spec", "resources")
	if len(spec.Resources) == 0 && spec.Measurement == nil && spec.Observation == nil {
		return nil, field.ErrorList{field.Required(path, "list at least one resource, or say under spec.measurement how to measure them, or under spec.observation that gauges observe them")}
	}
	if n := spec.NeutralMillis; n != nil && *n < 1 {
		return nil, field.ErrorList{field.Invalid(field.NewPath("spec", "neutralMillis"), *n, "must be at least 1")}
	}
	var errs field.ErrorList
	seen := sets.New[string]()
	all := make([]NamedDemand, 0, len(spec.Resources))
	vector := make(loading.Vector, 0, len(spec.Resources))
	for i := range spec.Resources {
		r, path := &spec.Resources[i], path.Index(i)
		if seen.Has(r.Name) {
			errs = append(errs, field.Duplicate(path.Child("name"), r.Name))
		}
		seen.Insert(r.Name)
		for _, problem := range validation.IsDNS1035Label(r.Name) {
			errs = append(errs, field.Invalid(path.Child("name"), r.Name, problem))
		}
		d, err := demand(spec, r, path)
		if err != nil {
			errs = append(errs, err)
			continue
		}
		all = append(all, NamedDemand{Resource: r.Name, Demand: d})
		vector = append(vector, d)
	}
	if len(errs) > 0 {
		return nil, errs
	}
	if err := vector.Validate(); err != nil { // each demand is valid: it is the sum
		return nil, field.ErrorList{field.Invalid(path, sum(vector), "the loadings add up to more than 1; they are fractions of the neutral time, so they may add up to 1 at most (the rest is idle time)")}
	}
	return all, nil
}

func sum(v loading.Vector) string {
	total := 0.0
	for _, d := range v {
		total += d.Loading
	}
	return fmt.Sprintf("%.6g", total)
}

// demand reads one demand, and checks everything but the sum over all.
func demand(spec *v1alpha1.WorkloadProfileSpec, r *v1alpha1.ResourceDemand, path *field.Path) (loading.Demand, *field.Error) {
	var d loading.Demand
	switch {
	case (r.Loading == nil) == (r.DemandMillis == nil):
		return d, field.Invalid(path, r.Name, "give either loading or demandMillis, and not both")
	case r.DemandMillis != nil && spec.NeutralMillis == nil:
		return d, field.Required(field.NewPath("spec", "neutralMillis"), "demandMillis is turned into a loading by dividing it by neutralMillis")
	case r.DemandMillis != nil:
		d.Loading = float64(*r.DemandMillis) / float64(*spec.NeutralMillis)
		if !(d.Loading >= 0 && d.Loading <= 1) {
			return d, field.Invalid(path.Child("demandMillis"), *r.DemandMillis, fmt.Sprintf("is not between 0 and neutralMillis (%d)", *spec.NeutralMillis))
		}
	default:
		if err := fraction(r.Loading, path.Child("loading"), &d.Loading); err != nil {
			return d, err
		}
	}
	d.Pressure = d.Loading
	if r.Pressure != nil {
		if err := fraction(r.Pressure, path.Child("pressure"), &d.Pressure); err != nil {
			return d, err
		}
	}
	if err := burst(r, path.Child("burstMillis"), &d.Burst); err != nil {
		return d, err
	}
	return d, threads(r.Threads, path.Child("threads"), &d.Threads)
}

// burst reads the time for which a thread computes at a time, in seconds, 0 where it is not given.
func burst(r *v1alpha1.ResourceDemand, path *field.Path, into *float64) *field.Error {
	switch {
	case r.BurstMillis == nil:
		return nil
	case r.Name != string(corev1.ResourceCPU):
		return field.Invalid(path, *r.BurstMillis, "only bursts of computing count: set it at the resource cpu only")
	case *r.BurstMillis < 1:
		return field.Invalid(path, *r.BurstMillis, "must be at least 1")
	}
	*into = float64(*r.BurstMillis) / 1000
	return nil
}

// fraction reads a number from 0 to 1.
func fraction(q *resource.Quantity, path *field.Path, into *float64) *field.Error {
	*into = q.AsApproximateFloat64()
	if !(*into >= 0 && *into <= 1) {
		return field.Invalid(path, q.String(), "is not a fraction from 0 to 1")
	}
	return nil
}

// MaxThreads is the largest number of threads of a pod at one resource: the cost of computing with the pods of a node grows with
// it, and few machines run more.
const MaxThreads = 1024

// threads reads a number of threads, 1 where there is none.
func threads(n *int32, path *field.Path, into *int) *field.Error {
	*into = 1
	if n == nil {
		return nil
	}
	if *into = int(*n); *into < 1 || *into > MaxThreads {
		return field.Invalid(path, *n, fmt.Sprintf("is not between 1 and %d", MaxThreads))
	}
	return nil
}
