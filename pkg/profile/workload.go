package profile

import (
	"cmp"
	"math"
	"slices"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/resource"
	"k8s.io/apimachinery/pkg/util/validation/field"

	"loadline.dev/loadline/apis/loadline/v1alpha1"
	"loadline.dev/loadline/pkg/model/contention"
	"loadline.dev/loadline/pkg/model/loading"
	"loadline.dev/loadline/pkg/model/sizing"
)

// AnyClass stands for an unknown class of nodes.
const AnyClass = ""

// NamedDemand is a pod's demand at the named resource.
type NamedDemand struct {
	Resource string
	loading.Demand
	// Margins are those of a measurement, zero where none are known.
	Margins contention.Margins
}

// InUse is the vector of a workload that is in use on some class of nodes. It must not be changed.
type InUse struct {
	// Class is the class of nodes that the vector was measured or observed on, as in
	// [Workload.On]; empty if it is declared.
	Class string
	// Measured is the measurement that the vector is of, nil if it was not measured.
	Measured *v1alpha1.MeasuredVector
	// Observed is the observation that the vector is recommended by, nil if there is none.
	Observed *v1alpha1.WorkloadObservation
	// Demands are the components of the vector: those that were measured, then
	// those that are declared, in the order of the profile.
	Demands []NamedDemand
	// LeftOut names the resources that are declared and were not measured, and
	// whose loadings do not fit beside the measured ones: they would add up to
	// more than 1.
	LeftOut []string
	// Unknown names the resources of demands that no node is said to have.
	Unknown []string
	// Vector holds the demands at known resources, in the snapshot's order.
	Vector loading.Vector
}

// Workload is a valid WorkloadProfile, ready for use.
type Workload struct {
	Namespace, Name string
	// State numbers the states that an [Index] compiled, of all profiles, from 1: another state of this one has another number.
	// It is 0 of a profile that is in no index.
	State uint64
	// MaxDilation is how many times longer than alone a pod may take by its SLA, at least 1; 0 if that says nothing of it.
	MaxDilation float64
	// Importance is the factor of its pods' waits in the prices of nodes, above 0 and at most 100. See [Snapshot.Importance].
	Importance float64
	// SLA is the declared bound on the response time of its jobs, nil for none.
	SLA *sizing.SLA
	// NeutralSeconds is the neutral time of a job in use on nodes of [AnyClass], 0 if it
	// is unknown.
	NeutralSeconds float64
	// NeutralCorrection is the neutral time over the one that was stated for measured dilations, from [MinNeutralCorrection]
	// to [MaxNeutralCorrection], 1 if they are equal.
	NeutralCorrection float64

	declared *InUse   // nil: nothing is
	found    []*InUse // measured or observed, by the names of their classes
	tooWide  []*v1alpha1.MeasuredVector
	byClass  map[string]*InUse // of found
	latest   *InUse            // the latest measured, else the latest observed vector, nil for none
	matcher  matcher
}

func (w *Workload) rank() *matcher { return &w.matcher }

// EquallySpecific reports whether only age and name decide between w and other.
func (w *Workload) EquallySpecific(other *Workload) bool {
	return w.matcher.learned == other.matcher.learned && w.matcher.requirements == other.matcher.requirements
}

// NewWorkload returns the profile ready for use in a cluster with the given resources, or its errors. The API server refuses most
// errors on its own; those that were stored before it had the rule arrive here. Measurements and observations count for as long
// as the profile asks for them.
func NewWorkload(p *v1alpha1.WorkloadProfile, resources *Resources) (*Workload, field.ErrorList) {
	w := &Workload{Namespace: p.Namespace, Name: p.Name}
	var selectorErrs field.ErrorList
	w.matcher, selectorErrs = newMatcher(&p.ObjectMeta, p.Spec.Selector)
	declared, demandErrs := demands(&p.Spec)
	interference, effectErrs := effects(&p.Spec)
	measured, tooWide, measuredErrs := measurements(p)
	observed, observedErrs := observations(p)
	var dilationErrs, importanceErrs, correctionErrs field.ErrorList
	w.MaxDilation, dilationErrs = maxDilation(p.Spec.SLA)
	w.Importance, importanceErrs = importance(p.Spec.Importance)
	w.NeutralCorrection, correctionErrs = neutralCorrection(p.Spec.NeutralCorrection)
	sla, slaErrs := promise(&p.Spec)
	if errs := slices.Concat(selectorErrs, demandErrs, effectErrs, measuredErrs, observedErrs, dilationErrs, importanceErrs, correctionErrs, slaErrs); len(errs) > 0 {
		return nil, errs
	}
	w.SLA = sla
	if millis := NeutralMillis(p, AnyClass); millis != nil {
		w.NeutralSeconds = float64(*millis) / 1000
	}
	w.matcher.learned = p.Spec.Observation != nil && p.Spec.Measurement == nil
	bursts := burstsOf(p, declared)
	if len(declared) > 0 {
		declared = append(declared, interference...)
		w.declared = resources.use(&InUse{Demands: slices.Clone(declared)}, &bursts)
	} else {
		declared = interference
	}
	w.tooWide = tooWide
	if n := len(measured) + len(observed); n > 0 {
		w.byClass = make(map[string]*InUse, n)
	}
	for _, v := range slices.Concat(measured, observed) {
		if _, is := w.byClass[v.Class]; is {
			continue // it was measured there, too
		}
		v.add(declared)
		w.byClass[v.Class] = resources.use(v, &bursts)
		w.found = append(w.found, v)
		if w.latest == nil || later(v, w.latest) {
			w.latest = v
		}
	}
	slices.SortFunc(w.found, func(a, b *InUse) int { return cmp.Compare(a.Class, b.Class) })
	return w, nil
}

// maxDilation reads how far an SLA lets pods be dilated.
func maxDilation(sla *v1alpha1.SLA) (float64, field.ErrorList) {
	if sla == nil || sla.MaxDilation == nil {
		return 0, nil
	}
	most := sla.MaxDilation.AsApproximateFloat64()
	if !(most >= 1) || math.IsInf(most, 1) {
		path := field.NewPath("spec", "sla", "maxDilation")
		return 0, field.ErrorList{field.Invalid(path, sla.MaxDilation.String(), "a dilation is how many times longer than alone a job takes: at least 1")}
	}
	return most, nil
}

// importance reads the factor of the pods' waits.
func importance(q *resource.Quantity) (float64, field.ErrorList) {
	if q == nil {
		return 1, nil
	}
	const most = 100
	times := q.AsApproximateFloat64()
	if !(times > 0) || times > most {
		return 0, field.ErrorList{field.Invalid(field.NewPath("spec", "importance"), q.String(), "an importance is how many times as much a slowdown counts: above 0 and at most 100")}
	}
	return times, nil
}

// The range of a neutral time over the stated one: that of dilations, and ten times as far down.
const (
	MinNeutralCorrection = 1e-3
	MaxNeutralCorrection = 1e6
)

// neutralCorrection reads the ratio of the neutral time to the stated one.
func neutralCorrection(q *resource.Quantity) (float64, field.ErrorList) {
	if q == nil {
		return 1, nil
	}
	times := q.AsApproximateFloat64()
	if !(times >= MinNeutralCorrection && times <= MaxNeutralCorrection) {
		return 0, field.ErrorList{field.Invalid(field.NewPath("spec", "neutralCorrection"), q.String(), "a correction is how many times as long a job takes alone as was stated: from 0.001 to 1000000")}
	}
	return times, nil
}

// Importance returns the factor of a pod's waits in the prices of nodes: see [Snapshot.ImportanceOf].
func (s *Snapshot) Importance(pod *corev1.Pod) float64 { return s.ImportanceOf(s.Workload(pod)) }

// ImportanceOf returns the factor of the waits of pods that follow a profile, nil for none: as the profile says, but at most the
// limit of [Index.LimitImportance]; 1 for pods that follow none.
func (s *Snapshot) ImportanceOf(w *Workload) float64 {
	switch {
	case w == nil:
		return 1
	case s.maxImportance > 0:
		return min(w.Importance, s.maxImportance)
	default:
		return w.Importance
	}
}

// use fills in the bursts and the vector.
func (r *Resources) use(v *InUse, bursts *bursts) *InUse {
	bursts.fill(v)
	v.Vector = make(loading.Vector, len(r.names))
	for _, d := range v.Demands {
		if i, ok := r.index[d.Resource]; ok {
			v.Vector[i] = d.Demand
			if at, is := r.served[d.Resource]; is && d.Effect != nil {
				effect := *d.Effect
				effect.Of = at
				v.Vector[i].Effect = &effect
			}
		} else {
			v.Unknown = append(v.Unknown, d.Resource)
		}
	}
	return v
}

// On returns the vector in use on the nodes of a class, by the name of its NodeProfile or [v1alpha1.NoNodeProfile]: the one
// measured there, else the one observed there, else the declared one, else the one of another class that was measured last, else
// the one observed last. On nodes of [AnyClass] it is the last measurement, else the last observation, else the declared one. It
// is nil for a workload with no vector declared, measured or observed yet.
func (w *Workload) On(class string) *InUse {
	if w.latest == nil {
		return w.declared
	}
	if class == AnyClass {
		return w.latest
	}
	if m, ok := w.byClass[class]; ok {
		return m
	}
	return w.Elsewhere()
}

// Found returns the vectors that were measured or observed on a class of nodes, by the
// names of their classes. The list must not be changed.
func (w *Workload) Found() []*InUse { return w.found }

// TooWide returns the measurements that are not used: see [TooWide]. The list must not
// be changed.
func (w *Workload) TooWide() []*v1alpha1.MeasuredVector { return w.tooWide }

// Elsewhere returns the vector in use on the nodes of classes where none was
// measured or observed, as [Workload.On] does.
func (w *Workload) Elsewhere() *InUse { return cmp.Or(w.declared, w.latest) }
