package profile

import (
	"errors"

	"k8s.io/apimachinery/pkg/api/resource"
	"k8s.io/apimachinery/pkg/util/sets"
	"k8s.io/apimachinery/pkg/util/validation"
	"k8s.io/apimachinery/pkg/util/validation/field"

	"loadline.dev/loadline/apis/loadline/v1alpha1"
	"loadline.dev/loadline/pkg/model/loading"
)

// effects reads the pods' effects at interference resources.
func effects(spec *v1alpha1.WorkloadProfileSpec) ([]NamedDemand, field.ErrorList) {
	queues := sets.New[string]()
	for i := range spec.Resources {
		queues.Insert(spec.Resources[i].Name)
	}
	path := field.NewPath("spec", "interference")
	if len(spec.Interference) > 0 && spec.Measurement == nil && spec.Observation == nil && !slows(queues) {
		return nil, field.ErrorList{field.Required(field.NewPath("spec", "resources"), "interference makes service take longer: list cpu, or the device that serves the pods, such as gpu; or say under spec.measurement how to measure it, or under spec.observation that gauges observe it")}
	}
	var errs field.ErrorList
	all := make([]NamedDemand, 0, len(spec.Interference))
	for i := range spec.Interference {
		r, path := &spec.Interference[i], path.Index(i)
		if queues.Has(r.Name) {
			errs = append(errs, field.Duplicate(path.Child("name"), r.Name))
		}
		queues.Insert(r.Name)
		for _, problem := range validation.IsDNS1035Label(r.Name) {
			errs = append(errs, field.Invalid(path.Child("name"), r.Name, problem))
		}
		e, err := effect(r, path)
		if err != nil {
			errs = append(errs, err)
			continue
		}
		all = append(all, NamedDemand{Resource: r.Name, Demand: loading.Demand{Threads: 1, Effect: e}})
	}
	if len(errs) > 0 {
		return nil, errs
	}
	return all, nil
}

// slows reports whether there may be interference with service at some of the resources: the processor, or a device.
func slows(queues sets.Set[string]) bool {
	return queues.Has("cpu") || len(queues.Difference(sets.New(builtIn...))) > 0
}

// effect reads one of them.
func effect(r *v1alpha1.Interference, path *field.Path) (*loading.Effect, *field.Error) {
	e := &loading.Effect{}
	if r.Pressure != nil {
		e.Pressure = r.Pressure.AsApproximateFloat64()
		if !(e.Pressure >= 0 && e.Pressure <= loading.MaxPressure) {
			return nil, field.Invalid(path.Child("pressure"), r.Pressure.String(), "is not between 0 and 1000")
		}
	}
	for k := range r.Curve {
		p, path := &r.Curve[k], path.Child("curve").Index(k)
		point := loading.Point{}
		for _, part := range []struct {
			name string
			from *resource.Quantity
			to   *float64
		}{{"pressure", p.Pressure, &point.Pressure}, {"inflation", p.Inflation, &point.Inflation}} {
			if part.from == nil {
				return nil, field.Required(path.Child(part.name), "a point of a curve has a pressure and an inflation")
			}
			*part.to = part.from.AsApproximateFloat64()
		}
		e.Curve = append(e.Curve, point)
	}
	if wrong, is := errors.AsType[*loading.CurveError](e.Curve.Validate()); is {
		written := r.Curve[wrong.Point].Inflation
		if wrong.Field == "pressure" {
			written = r.Curve[wrong.Point].Pressure
		}
		return nil, field.Invalid(path.Child("curve").Index(wrong.Point).Child(wrong.Field), written.String(), wrong.Rule)
	}
	return e, nil
}

// measuredEffects reads the measured effects at interference resources. An effect that is less precise than ± [MaxError]
// is left out: a declared effect replaces it, or none.
func measuredEffects(m *v1alpha1.MeasuredVector, path *field.Path) (all []NamedDemand, errs field.ErrorList) {
	for i := range m.Interference {
		r, path := &m.Interference[i], path.Index(i)
		precise := margin(r.PressureError) <= MaxError
		spec := v1alpha1.Interference{Name: r.Name, Pressure: r.Pressure}
		for _, point := range r.Curve {
			precise = precise && margin(point.InflationError) <= MaxError
			spec.Curve = append(spec.Curve, v1alpha1.CurvePoint{Pressure: point.Pressure, Inflation: point.Inflation})
		}
		e, err := effect(&spec, path)
		switch {
		case err != nil:
			errs = append(errs, err)
		case precise:
			all = append(all, NamedDemand{Resource: r.Name, Demand: loading.Demand{Threads: 1, Effect: e}})
		}
	}
	return all, errs
}
