package profile_test

import (
	"fmt"
	"maps"
	"reflect"
	"slices"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"
	"k8s.io/apimachinery/pkg/api/resource"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"loadline.dev/loadline/apis/loadline/v1alpha1"
	"loadline.dev/loadline/pkg/profile"
)

// change is a change of one field of an API object, inside fields that are set and the first elements of lists.
type change struct {
	path string
	set  func(object reflect.Value) // a copy of the object
}

// changes returns one change of each field below a value.
func changes(path string, v reflect.Value, at func(reflect.Value) reflect.Value) (all []change) {
	if changed, leaf := another(v); leaf {
		return []change{{path, func(object reflect.Value) { at(object).Set(changed) }}}
	}
	switch v.Kind() {
	case reflect.Pointer:
		return changes(path, v.Elem(), func(o reflect.Value) reflect.Value { return at(o).Elem() })
	case reflect.Slice:
		return changes(path+"[0]", v.Index(0), func(o reflect.Value) reflect.Value { return at(o).Index(0) })
	case reflect.Struct:
		for i := range v.NumField() {
			all = append(all, changes(path+"."+v.Type().Field(i).Name, v.Field(i), func(o reflect.Value) reflect.Value { return at(o).Field(i) })...)
		}
		return all
	default:
		panic(fmt.Sprintf("%s: no change of a %s is known", path, v.Type()))
	}
}

// another returns a value that differs from v, where v has no parts that could differ: it is a scalar, or empty.
func another(v reflect.Value) (changed reflect.Value, leaf bool) {
	switch x := v.Interface().(type) {
	case resource.Quantity:
		return reflect.ValueOf(*resource.NewMilliQuantity(x.MilliValue()*9/10, resource.DecimalSI)), true
	case metav1.Time:
		return reflect.ValueOf(metav1.NewTime(x.Add(time.Hour))), true
	case map[string]string:
		more := maps.Clone(x)
		if more == nil {
			more = map[string]string{}
		}
		more["another"] = "label"
		return reflect.ValueOf(more), true
	}
	changed = reflect.New(v.Type()).Elem()
	switch v.Kind() {
	case reflect.Int32, reflect.Int64:
		changed.SetInt(v.Int() + 1)
	case reflect.String:
		changed.SetString(v.String() + "x")
	case reflect.Pointer:
		if !v.IsNil() {
			return v, false
		}
		changed.Set(reflect.New(v.Type().Elem()))
	case reflect.Slice:
		if v.Len() > 0 {
			return v, false
		}
		changed.Set(reflect.MakeSlice(v.Type(), 1, 1))
	default:
		return v, false
	}
	return changed, true
}

// full are valid profiles that between them have all fields that a Workload is made of: a profile cannot be declared and observed.
func full() map[string]*v1alpha1.WorkloadProfile {
	point := v1alpha1.CurvePoint{Pressure: quantity("0.5"), Inflation: quantity("1.25")}
	p := measured(declared("web", v1alpha1.ResourceDemand{
		Name: "cpu", Loading: quantity("0.5"), Pressure: quantity("0.25"), Threads: new(int32(2)), BurstMillis: new(int64(5)),
	}, v1alpha1.ResourceDemand{Name: "disk", Loading: quantity("0.125")}))
	p.Spec.Interference = []v1alpha1.Interference{{Name: "cache", Pressure: quantity("0.5"), Curve: []v1alpha1.CurvePoint{point}}}
	p.Spec.NeutralMillis = new(int64(2000))
	p.Spec.NeutralCorrection = quantity("2")
	p.Spec.SLA = &v1alpha1.SLA{ResponseTimeMillis: new(int64(5000)), Probability: quantity("0.9"), MaxDilation: quantity("1.5")}
	p.Spec.Importance = quantity("3")
	cpu := found("cpu", "0.125", "0.25")
	cpu.Sensitivity, cpu.LoadingError, cpu.PressureError, cpu.SensitivityError = quantity("0.1"), quantity("0.01"), quantity("0.02"), quantity("0.03")
	cpu.Samples = new(int32(3))
	onBig := on("big", noon, cpu)
	onBig.NeutralMillis = new(int64(1500))
	onBig.Interference = []v1alpha1.MeasuredInterference{{
		Name: "cache", Pressure: quantity("0.25"), PressureError: quantity("0.01"),
		Curve: []v1alpha1.MeasuredCurvePoint{{Pressure: quantity("0.5"), Inflation: quantity("1.5"), InflationError: quantity("0.1"), Samples: new(int32(2))}},
	}}
	p.Status.Measurements = []v1alpha1.MeasuredVector{onBig, on("small", noon.Add(time.Minute), found("cpu", "0.25", "0.25"))}
	once := p.DeepCopy()
	once.Spec.NeutralMillis = nil // the measured one counts
	once.Status.Measurements[0].Time = new(metav1.NewTime(noon.Add(time.Hour)))
	once.Status.Measurements[0].Resources[0].LoadingError, once.Status.Measurements[0].Resources[0].Samples = nil, new(int32(1))
	observed := declared("web")
	observed.Spec.Observation = &v1alpha1.Observation{Mode: v1alpha1.ModeApply}
	observed.Status.Observations = []v1alpha1.WorkloadObservation{{
		NodeProfile: "big", Time: new(metav1.NewTime(noon)), CPULoadingSpread: quantity("0.1"), ObservedSeconds: new(int64(600)), BurstMillis: quantity("5"),
		DiskLoadingSpread: quantity("0.1"),
		Recommended:       &v1alpha1.RecommendedLoading{CPULoading: quantity("0.75"), DiskLoading: quantity("0.125"), Threads: new(int32(2))},
	}}
	bursting := declared("web", demand("cpu", "0.5"))
	bursting.Status.Observations = []v1alpha1.WorkloadObservation{{NodeProfile: "big", BurstMillis: quantity("5")}}
	return map[string]*v1alpha1.WorkloadProfile{"measured": p, "measured once": once, "observed": observed, "declared": bursting}
}

// forPeople are fields of results that change a Workload, but nothing that is computed of it.
var forPeople = []string{
	".Status.Observations[0].Time", ".Status.Observations[0].CPULoadingSpread", ".Status.Observations[0].DiskLoadingSpread",
	".Status.Observations[0].ObservedSeconds",
}

// A watch keeps every API field that changes the result of a profile, and a change of the field counts.
func TestEveryFieldThatAWorkloadIsMadeOfReachesTheIndex(t *testing.T) {
	t.Parallel()
	nodes := machines("big", servers("disk", 2))
	nodes.Spec.Interference = []v1alpha1.ResourceDomains{{Name: "cache"}}
	resources := indexOf(nodes).Snapshot().Resources()
	given := func(p *v1alpha1.WorkloadProfile) any {
		w, errs := profile.NewWorkload(p, resources)
		if w == nil {
			return errs.ToAggregate().Error()
		}
		return w
	}
	all := cmp.Options{cmp.Exporter(func(reflect.Type) bool { return true }), cmpopts.IgnoreFields(profile.InUse{}, "Measured", "Observed"), cmpopts.IgnoreFields(profile.Workload{}, "tooWide")}
	differ := func(a, b *v1alpha1.WorkloadProfile) bool { return !cmp.Equal(given(a), given(b), all) }
	read := 0
	for name, p := range full() {
		if _, errs := profile.NewWorkload(p, resources); len(errs) > 0 {
			t.Fatalf("%s: %v", name, errs)
		}
		for _, c := range changes("", reflect.ValueOf(*p), func(o reflect.Value) reflect.Value { return o }) {
			next := p.DeepCopy()
			c.set(reflect.ValueOf(next).Elem())
			if !differ(p, next) {
				continue
			}
			read++
			if differ(next, profile.Read(next)) {
				t.Errorf("%s: a watch drops %s", name, c.path)
			}
			ofSpec := !reflect.DeepEqual(p.Spec, next.Spec) || !reflect.DeepEqual(p.ObjectMeta, next.ObjectMeta) // of another generation, or object
			if !ofSpec && !slices.Contains(forPeople, c.path) && profile.SameWorkload(p, next) {
				t.Errorf("%s: a change of %s counts as none", name, c.path)
			}
		}
	}
	if read < 40 {
		t.Errorf("only %d fields make a difference", read)
	}
}

// The same for a NodeProfile, which a watch keeps whole.
func TestEveryFieldThatANodeClassIsMadeOfCountsAsAChange(t *testing.T) {
	t.Parallel()
	p := calibrated(machines("big", servers("gpu", 8)), "disk", 2)
	given := func(p *v1alpha1.NodeProfile) any {
		class, errs := profile.NewNodeClass(p)
		if class == nil {
			return errs.ToAggregate().Error()
		}
		return class
	}
	read := 0
	for _, c := range changes(".Status", reflect.ValueOf(p.Status), func(o reflect.Value) reflect.Value { return o.FieldByName("Status") }) {
		next := p.DeepCopy()
		c.set(reflect.ValueOf(next).Elem())
		if cmp.Equal(given(p), given(next), cmp.Exporter(func(reflect.Type) bool { return true })) {
			continue
		}
		read++
		if profile.SameNodeClass(p, next) {
			t.Errorf("a change of %s counts as none", c.path)
		}
	}
	if read == 0 {
		t.Error("nothing of the status makes a difference")
	}
}
