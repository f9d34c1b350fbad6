package profile

import (
	"fmt"
	"math"
	"slices"
	"strings"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/resource"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/util/sets"
	"k8s.io/apimachinery/pkg/util/validation/field"

	"loadline.dev/loadline/apis/loadline/v1alpha1"
	"loadline.dev/loadline/pkg/model/contention"
)

// sumTolerance is the rounding error of loadings that add up to 1.
const sumTolerance = 1e-9

// MaxError is the maximum width of a result in use: the largest half width of the 95 % confidence
// intervals of its loadings and pressures. At ± 0.25 an interval is half of the range of a fraction. A
// wider one does not distinguish a pod that needs a resource for a quarter of its time from one that
// needs it for three quarters, and so is worth less than a declared guess (little, half, nearly all).
const MaxError = 0.25

// TooWide names the components of a measured vector that are less precise than ± [MaxError], such as
// "cpu 1.00 ± 0.99", "" for none. A single sample has no interval, which counts as infinitely wide;
// results without an interval from other writers are accepted.
func TooWide(m *v1alpha1.MeasuredVector) string {
	var wide []string
	for i := range m.Resources {
		r := &m.Resources[i]
		text := tooWide(r.Name, r.Loading, r.LoadingError)
		if text == "" {
			text = tooWide(r.Name+" pressure", r.Pressure, r.PressureError)
		}
		if text == "" && r.Loading != nil && r.LoadingError == nil && r.Samples != nil && *r.Samples == 1 {
			text = fmt.Sprintf("%s %.2f from one sample", r.Name, r.Loading.AsApproximateFloat64())
		}
		if text != "" {
			wide = append(wide, text)
		}
	}
	return strings.Join(wide, ", ")
}

// tooWide writes a value whose interval is too wide, "" for another. The half width is
// rounded up, so that it does not look like [MaxError].
func tooWide(name string, value, halfWidth *resource.Quantity) string {
	if value == nil || halfWidth == nil || halfWidth.AsApproximateFloat64() <= MaxError {
		return ""
	}
	return fmt.Sprintf("%s %.2f ± %.2f", name, value.AsApproximateFloat64(), math.Ceil(100*halfWidth.AsApproximateFloat64()-1e-6)/100)
}

// measurements reads the measured vectors of a workload, none where its profile does not ask for them.
// Those that are too wide to use are returned separately.
func measurements(p *v1alpha1.WorkloadProfile) (all []*InUse, tooWide []*v1alpha1.MeasuredVector, errs field.ErrorList) {
	if p.Spec.Measurement == nil {
		return nil, nil, nil
	}
	classes := sets.New[string]()
	for i := range p.Status.Measurements {
		m, path := &p.Status.Measurements[i], field.NewPath("status", "measurements").Index(i)
		errs = append(errs, ofClass(classes, m.NodeProfile, path)...)
		if m.Time == nil {
			errs = append(errs, field.Required(path.Child("time"), "say when it was measured"))
		}
		demands, more := measured(m, path.Child("resources"))
		effects, moreStill := measuredEffects(m, path.Child("interference"))
		demands, errs = append(demands, effects...), slices.Concat(errs, more, moreStill)
		if TooWide(m) != "" {
			tooWide = append(tooWide, m)
			continue
		}
		all = append(all, &InUse{Class: m.NodeProfile, Measured: m, Demands: demands})
	}
	return all, tooWide, errs
}

// ofClass adds the class of a result to those of the results before it, or returns its errors.
func ofClass(classes sets.Set[string], name string, path *field.Path) (errs field.ErrorList) {
	if name == "" {
		errs = append(errs, field.Required(path.Child("nodeProfile"), "say of which class of nodes it is"))
	}
	if classes.Has(name) {
		errs = append(errs, field.Duplicate(path.Child("nodeProfile"), name))
	}
	classes.Insert(name)
	return errs
}

// leastSensitivity stands for a measured sensitivity of 0, since 0 means the loading in
// the model. It is half of the last digit that a status has.
const leastSensitivity = 0.0005

// measured reads a measured vector. What lies outside the range of a fraction, or
// adds up to more than the whole, does so by the error of the measurement, and is
// brought back.
func measured(m *v1alpha1.MeasuredVector, path *field.Path) (demands []NamedDemand, errs field.ErrorList) {
	if len(m.Resources) == 0 {
		return nil, field.ErrorList{field.Required(path, "list at least one resource")}
	}
	seen := sets.New[string]()
	total := 0.0
	for i := range m.Resources {
		r, path := &m.Resources[i], path.Index(i)
		if seen.Has(r.Name) {
			errs = append(errs, field.Duplicate(path.Child("name"), r.Name))
		}
		seen.Insert(r.Name)
		d := NamedDemand{Resource: r.Name}
		for _, err := range []*field.Error{
			clamped(r.Loading, path.Child("loading"), &d.Loading),
			clamped(r.Pressure, path.Child("pressure"), &d.Pressure),
			threads(r.Threads, path.Child("threads"), &d.Threads),
		} {
			if err != nil {
				errs = append(errs, err)
			}
		}
		if r.Sensitivity != nil {
			d.Sensitivity = max(leastSensitivity, inRange(r.Sensitivity))
		}
		d.Margins = margins(r)
		total += d.Loading
		demands = append(demands, d)
	}
	if total > 1 {
		for i := range demands {
			demands[i].Loading /= total
		}
	}
	return demands, errs
}

// margins reads the half widths of the intervals of a component. Results of versions without that of
// the sensitivity get the loading's.
func margins(r *v1alpha1.MeasuredLoading) contention.Margins {
	m := contention.Margins{Loading: margin(r.LoadingError), Pressure: margin(r.PressureError), Sensitivity: margin(r.SensitivityError)}
	if r.SensitivityError == nil && r.Sensitivity != nil {
		m.Sensitivity = m.Loading
	}
	return m
}

// margin returns the half width of an interval, 0 where none is known.
func margin(q *resource.Quantity) float64 {
	if q == nil {
		return 0
	}
	return max(0, q.AsApproximateFloat64())
}

// clamped reads a measured fraction.
func clamped(q *resource.Quantity, path *field.Path, into *float64) *field.Error {
	if q == nil {
		return field.Required(path, "every measured resource has it")
	}
	*into = inRange(q)
	return nil
}

// inRange returns the fraction nearest to the measured value.
func inRange(q *resource.Quantity) float64 { return min(max(0, q.AsApproximateFloat64()), 1) }

// add adds the declared demands at resources that were not measured, as long as
// the loadings add up to at most 1.
func (v *InUse) add(declared []NamedDemand) {
	measured := sets.New[string]()
	total := 0.0
	for _, d := range v.Demands {
		measured.Insert(d.Resource)
		total += d.Loading
	}
	for _, d := range declared {
		switch {
		case measured.Has(d.Resource):
		case total+d.Loading > 1+sumTolerance:
			v.LeftOut = append(v.LeftOut, d.Resource)
		default:
			total += d.Loading
			v.Demands = append(v.Demands, d)
		}
	}
}

// later reports whether a is used rather than b on nodes of other classes: measured before observed,
// then the later one; among those of one moment the class decides.
func later(a, b *InUse) bool {
	if (a.Measured != nil) != (b.Measured != nil) {
		return a.Measured != nil
	}
	if ta, tb := a.Time(), b.Time(); !ta.Equal(tb) {
		return tb.Before(ta)
	}
	return a.Class < b.Class
}

// Time returns when the vector was measured or observed last, nil if it is declared.
func (v *InUse) Time() *metav1.Time {
	switch {
	case v.Measured != nil:
		return v.Measured.Time
	case v.Observed != nil:
		return v.Observed.Time
	default:
		return nil
	}
}

// NeutralMillis returns the neutral time of a workload on the nodes of a class,
// in milliseconds, nil if it is unknown: the declared one, else the one measured
// there, else the one measured last. Results that are not used do not count. Classes
// are named as in [Workload.On].
func NeutralMillis(p *v1alpha1.WorkloadProfile, class string) *int64 {
	if p.Spec.NeutralMillis != nil || p.Spec.Measurement == nil {
		return p.Spec.NeutralMillis
	}
	var latest *InUse
	for i := range p.Status.Measurements {
		m := &p.Status.Measurements[i]
		v := &InUse{Class: m.NodeProfile, Measured: m}
		switch {
		case m.NeutralMillis == nil || *m.NeutralMillis < 1 || TooWide(m) != "":
		case m.NodeProfile == class:
			return m.NeutralMillis
		case latest == nil || later(v, latest):
			latest = v
		}
	}
	if latest == nil {
		return nil
	}
	return latest.Measured.NeutralMillis
}

// Named returns the names of the resources that a profile gives loadings for,
// declared, observed or measured, or effects. A name may occur more than once.
func Named(p *v1alpha1.WorkloadProfile) []string {
	var names []string
	for i := range p.Spec.Resources {
		names = append(names, p.Spec.Resources[i].Name)
	}
	for i := range p.Spec.Interference {
		names = append(names, p.Spec.Interference[i].Name)
	}
	if appliesObserved(p) {
		names = append(names, string(corev1.ResourceCPU))
	}
	if observesDisk(p) {
		names = append(names, disk)
	}
	if p.Spec.Measurement == nil {
		return names
	}
	for i := range p.Status.Measurements {
		for _, r := range p.Status.Measurements[i].Resources {
			names = append(names, r.Name)
		}
		for _, r := range p.Status.Measurements[i].Interference {
			names = append(names, r.Name)
		}
	}
	return names
}
