package pools

import (
	"errors"
	"fmt"
	"math"
	"time"

	"k8s.io/apimachinery/pkg/api/resource"
	"k8s.io/apimachinery/pkg/util/validation/field"

	"loadline.dev/loadline/apis/loadline/v1alpha1"
	"loadline.dev/loadline/pkg/evaluate/manifest"
	"loadline.dev/loadline/pkg/model/sizing"
	"loadline.dev/loadline/pkg/profile"
	"loadline.dev/loadline/pkg/text"
)

// Measurement holds the answers of queries about a class. Nil means not asked yet.
type Measurement struct {
	Class string
	// Arrival is per second, Service in seconds.
	Arrival, Service *Reading
}

// Reading is the last answer to a query.
type Reading struct {
	// Value is a number, which may be of no use: NaN, 0 or negative. It counts
	// unless Never is set.
	Value float64
	// Never reports whether there was no answer yet.
	Never bool
	// Age is how old the answer is.
	Age time.Duration
	// Problem is why there is none that is newer, nil for no problem.
	Problem error
}

// Error says why there is no plan. The reason is that of the condition
// Ready.
type Error struct {
	Reason string
	err    error
}

func (e *Error) Error() string { return e.err.Error() }

// Unwrap returns the cause, such as a [sizing.InfeasibleError].
func (e *Error) Unwrap() error { return e.err }

// Defaults of the API.
const (
	defaultTolerance = 0.1
	defaultMaxAge    = 120 * time.Second
)

// resolved holds the inputs of the classes of a plan.
type resolved struct {
	inputs  []ClassInput
	classes []sizing.Class
	held    string // why no reading is newer, for one that is still good
	invalid field.ErrorList
	missing error // the first reading of no use, a *Error
	// faults are why a class cannot be sized that follows a profile, by its index, in a
	// plan that lists pools: its pool has no answer then, and the others have theirs.
	faults map[int]error
}

// resolve finds the rates and times of every class.
func resolve(in *Input) *resolved {
	r := &resolved{faults: map[int]error{}}
	for i := range in.Plan.Spec.Classes {
		before := r.invalid
		r.invalid = nil
		r.add(in, i)
		if len(r.invalid) > 0 && r.mayFail(in, i) {
			r.faults[i] = &Error{v1alpha1.ReasonInvalid, r.invalid.ToAggregate()}
			r.invalid = nil
		}
		r.invalid = append(before, r.invalid...)
	}
	return r
}

// mayFail reports whether a class may be without an answer while others have one: it follows
// a profile, which others may have written than the plan, and the plan lists pools.
func (*resolved) mayFail(in *Input, i int) bool {
	return len(in.Plan.Spec.Pools) > 0 && in.Plan.Spec.Classes[i].Profile != nil
}

// err returns why the classes cannot be sized, nil if they can.
func (r *resolved) err() error {
	if len(r.invalid) > 0 {
		return &Error{v1alpha1.ReasonInvalid, r.invalid.ToAggregate()}
	}
	return r.missing
}

// add resolves a class.
func (r *resolved) add(in *Input, i int) {
	spec := &in.Plan.Spec.Classes[i]
	path := field.NewPath("spec", "classes").Index(i)
	p := r.profile(in, spec, path)
	measured := measurement(in, spec.Name)
	maxAge := defaultMaxAge
	if prometheus := in.Plan.Spec.Prometheus; prometheus != nil && prometheus.MaxAgeSeconds != nil {
		maxAge = time.Duration(*prometheus.MaxAgeSeconds) * time.Second
	}
	input := ClassInput{Class: spec.Name, SCV: 1}
	input.Arrival = r.arrival(spec, p, measured.Arrival, maxAge, path.Child("arrival"))
	input.Service = r.service(spec, p, measured.Service, maxAge, path.Child("service"))
	class := sizing.Class{Name: spec.Name, SLA: r.sla(spec, p, path.Child("sla"))}
	if spec.Service != nil && spec.Service.SCV != nil {
		input.SCV = r.number(spec.Service.SCV, 100, path.Child("service", "scv"))
	}
	if class.SCV = input.SCV; class.SCV == 0 {
		class.SCV = sizing.Constant
	}
	if input.Arrival != nil {
		class.Arrival = input.Arrival.Value
	}
	if input.Service != nil {
		class.Service = 1 / input.Service.Value
	}
	if spec.CostPerServer != nil {
		if class.Cost = r.number(spec.CostPerServer, 1e6, path.Child("costPerServer")); class.Cost == 0 {
			r.refuse(path.Child("costPerServer"), digits(spec.CostPerServer), "a cost is above 0")
		}
	}
	r.inputs = append(r.inputs, input)
	r.classes = append(r.classes, class)
}

func (r *resolved) refuse(path *field.Path, value any, rule string) {
	r.invalid = append(r.invalid, field.Invalid(path, value, rule))
}

func (r *resolved) require(path *field.Path, what string) {
	r.invalid = append(r.invalid, field.Required(path, what))
}

// number returns a quantity, which must be between 0 and a limit.
func (r *resolved) number(q *resource.Quantity, limit float64, path *field.Path) float64 {
	value := profile.Nearest(q)
	if !(value >= 0 && value <= limit) {
		r.refuse(path, digits(q), fmt.Sprintf("must be a number from 0 to %g", limit))
	}
	return value
}

// profile returns the profile of a class, nil if it has none.
func (r *resolved) profile(in *Input, spec *v1alpha1.PoolClass, path *field.Path) *v1alpha1.WorkloadProfile {
	if spec.Profile == nil {
		return nil
	}
	for i := range in.Profiles {
		p := &in.Profiles[i]
		if p.Name == spec.Profile.Name && (p.Namespace == spec.Profile.Namespace || p.Namespace == "") {
			return p
		}
	}
	missing := field.Invalid(path.Child("profile"), spec.Profile.Namespace+"/"+spec.Profile.Name, "there is no such WorkloadProfile")
	r.invalid = append(r.invalid, missing.WithOrigin(manifest.OriginMissing))
	return nil
}

// measurement returns the measured values of a class.
func measurement(in *Input, class string) Measurement {
	for _, m := range in.Measured {
		if m.Class == class {
			return m
		}
	}
	return Measurement{Class: class}
}

// arrival returns the arrival rate of a class, nil if it is not known.
func (r *resolved) arrival(spec *v1alpha1.PoolClass, p *v1alpha1.WorkloadProfile, reading *Reading, maxAge time.Duration, path *field.Path) *InputValue {
	const limit = 1e9
	a := spec.Arrival
	switch {
	case a != nil && a.RatePerSecond != nil && a.Query != "":
		r.refuse(path, a.Query, "give either ratePerSecond or query, and not both")
	case a != nil && a.RatePerSecond != nil:
		return &InputValue{Value: r.number(a.RatePerSecond, limit, path.Child("ratePerSecond")), Source: v1alpha1.SourceSpec}
	case a != nil && a.Query != "":
		return r.read(spec.Name, "arrival rate", reading, maxAge)
	case p != nil && p.Spec.Arrival != nil && p.Spec.Arrival.RatePerSecond != nil:
		return &InputValue{Value: r.number(p.Spec.Arrival.RatePerSecond, limit, path.Child("ratePerSecond")), Source: v1alpha1.SourceProfile}
	case p != nil:
		r.require(path, fmt.Sprintf("the WorkloadProfile %s has no arrival.ratePerSecond: give ratePerSecond or query here, or the rate there", text.QualifiedName(p)))
	case spec.Profile == nil:
		r.require(path, "give ratePerSecond, query, or a profile that has it")
	}
	return nil
}

// service returns the mean service time of a class, nil if it is not known.
func (r *resolved) service(spec *v1alpha1.PoolClass, p *v1alpha1.WorkloadProfile, reading *Reading, maxAge time.Duration, path *field.Path) *InputValue {
	s := spec.Service
	switch {
	case s != nil && s.MeanMillis != nil && s.Query != "":
		r.refuse(path, s.Query, "give either meanMillis or query, and not both")
	case s != nil && s.MeanMillis != nil:
		if *s.MeanMillis < 1 {
			r.refuse(path.Child("meanMillis"), *s.MeanMillis, "a service time is at least 1 millisecond")
			return nil
		}
		return &InputValue{Value: float64(*s.MeanMillis) / 1000, Source: v1alpha1.SourceSpec}
	case s != nil && s.Query != "":
		return r.read(spec.Name, "service time", reading, maxAge)
	case p != nil && neutralSeconds(p) > 0:
		return &InputValue{Value: neutralSeconds(p), Source: v1alpha1.SourceProfile}
	case p != nil:
		r.require(path, fmt.Sprintf("the WorkloadProfile %s has no neutralMillis: give meanMillis or query here, or the time there", text.QualifiedName(p)))
	case spec.Profile == nil:
		r.require(path, "give meanMillis, query, or a profile that has it")
	}
	return nil
}

// neutralSeconds returns the neutral time of a workload wherever it runs, 0 if
// it is unknown.
func neutralSeconds(p *v1alpha1.WorkloadProfile) float64 {
	if millis := profile.NeutralMillis(p, profile.AnyClass); millis != nil {
		return float64(max(0, *millis)) / 1000
	}
	return 0
}

// sla returns the SLA of a class.
func (r *resolved) sla(spec *v1alpha1.PoolClass, p *v1alpha1.WorkloadProfile, path *field.Path) sizing.SLA {
	var within *int64
	var probability *resource.Quantity
	switch {
	case spec.SLA != nil:
		within, probability = spec.SLA.ResponseTimeMillis, spec.SLA.Probability
	case p != nil && p.Spec.SLA != nil:
		within, probability = p.Spec.SLA.ResponseTimeMillis, p.Spec.SLA.Probability
	}
	sla := sizing.SLA{Probability: profile.DefaultSLAProbability}
	switch {
	case within == nil && p != nil:
		r.require(path.Child("responseTimeMillis"), fmt.Sprintf("the WorkloadProfile %s has no sla.responseTimeMillis: give it here or there", text.QualifiedName(p)))
	case within == nil && spec.Profile == nil:
		r.require(path.Child("responseTimeMillis"), "give it, or a profile that has it")
	case within == nil: // the profile is missing, which is said already
	case *within < 1:
		r.refuse(path.Child("responseTimeMillis"), *within, "a response time is at least 1 millisecond")
	default:
		sla.Within = float64(*within) / 1000
	}
	if probability != nil {
		if sla.Probability = profile.Nearest(probability); !(sla.Probability > 0 && sla.Probability < 1) {
			r.refuse(path.Child("probability"), digits(probability), "a probability is above 0 and below 1")
		}
	}
	return sla
}

// read returns the answer of a query, nil if it is not usable.
func (r *resolved) read(class, what string, reading *Reading, maxAge time.Duration) *InputValue {
	if reading == nil {
		reading = &Reading{Never: true, Problem: errors.New("it is read from a running Prometheus only")}
	}
	lacks := func(reason, format string, arguments ...any) *InputValue {
		if r.missing == nil {
			r.missing = &Error{reason, fmt.Errorf("class %q: its %s is not known: %s", class, what, fmt.Sprintf(format, arguments...))}
		}
		return nil
	}
	age := max(reading.Age, 0)
	switch value := reading.Value; {
	case reading.Never && reading.Problem != nil:
		return lacks(v1alpha1.ReasonMissingData, "%v", reading.Problem)
	case reading.Never:
		return lacks(v1alpha1.ReasonMissingData, "the query was not asked yet")
	case math.IsNaN(value) || math.IsInf(value, 0) || value < 0:
		return lacks(v1alpha1.ReasonMissingData, "the query answers %v, which is no number above 0", value)
	case value == 0:
		return lacks(v1alpha1.ReasonMissingData, "the query answers 0: either no job arrives, or nobody counts them")
	case age > maxAge && reading.Problem != nil:
		return lacks(v1alpha1.ReasonStaleData, "the last answer is %v old, more than %v: %v", age.Round(time.Second), maxAge, reading.Problem)
	case age > maxAge:
		return lacks(v1alpha1.ReasonStaleData, "the answer is %v old, more than %v", age.Round(time.Second), maxAge)
	}
	if reading.Problem != nil && r.held == "" {
		r.held = fmt.Sprintf("class %q: its %s is %v old, for there is no new one: %v", class, what, age.Round(time.Second), reading.Problem)
	}
	return &InputValue{Value: reading.Value, Source: v1alpha1.SourceQuery, AgeSeconds: new(age.Seconds())}
}
