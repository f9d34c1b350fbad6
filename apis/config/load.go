package config

import (
	"fmt"
	"math"
	"slices"
	"time"

	"k8s.io/apimachinery/pkg/api/resource"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/util/sets"
	"k8s.io/apimachinery/pkg/util/validation"
	"k8s.io/apimachinery/pkg/util/validation/field"

	"loadline.dev/loadline/apis/config/v1alpha1"
	"loadline.dev/loadline/apis/decode"
)

// LoadDilationArgs reads the arguments of the Dilation plugin as kube-scheduler
// hands them over: nil where the user gave none, else the raw JSON or YAML of a
// v1alpha1.DilationArgs (apiVersion and kind may be left out). Unknown fields
// are refused. The error names every offending field, its value and the rule.
func LoadDilationArgs(obj runtime.Object) (*DilationArgs, error) {
	versioned := &v1alpha1.DilationArgs{}
	if err := read(obj, "DilationArgs", versioned); err != nil {
		return nil, err
	}
	versioned.SetDefaults()
	if err := validate(versioned).ToAggregate(); err != nil {
		return nil, err
	}
	args := &DilationArgs{
		SyncTimeoutSeconds: *versioned.SyncTimeoutSeconds,
		Objective:          versioned.Objective,
		PackingMaxDilation: versioned.Packing.MaxDilation.AsApproximateFloat64(),
		GuardMode:          versioned.Guard.Mode,
		Limits: Limits{
			MinMaxDilation: versioned.Limits.MinMaxDilation.AsApproximateFloat64(),
			MaxImportance:  versioned.Limits.MaxImportance.AsApproximateFloat64(),
		},
		EventsPerSecond: *versioned.EventsPerSecond,
	}
	if hold := versioned.Hold; hold != nil {
		args.HoldMaxDilation = hold.MaxDilation.AsApproximateFloat64()
		args.HoldMaxWait = time.Duration(*hold.MaxWaitSeconds) * time.Second
	}
	for _, r := range versioned.Requests {
		args.Requests = append(args.Requests, RequestRule{
			Resource:    r.Resource,
			Request:     r.Request,
			PerThread:   r.PerThread.AsApproximateFloat64(),
			Utilization: r.Utilization.AsApproximateFloat64(),
			Minimum:     r.Minimum.AsApproximateFloat64(),
		})
	}
	return args, nil
}

// read reads arguments of a kind into a versioned object, which stays empty where
// the user gave none.
func read(obj runtime.Object, kind string, into runtime.Object) error {
	if obj == nil {
		return nil
	}
	unknown, ok := obj.(*runtime.Unknown)
	if !ok {
		return fmt.Errorf("want args to be of type %s, got %T", kind, obj)
	}
	if len(unknown.Raw) == 0 {
		return nil
	}
	text, err := decode.JSON(unknown.Raw)
	if err != nil {
		return fmt.Errorf("reading %s: %w", kind, err)
	}
	var written metav1.TypeMeta
	lenient, strict := decode.Decoder{Lenient: true}, decode.Decoder{}
	if err := lenient.Object(text, &written); err != nil {
		return err
	}
	if err := checkKind(written.GroupVersionKind(), v1alpha1.GroupVersion.WithKind(kind)); err != nil {
		return err
	}
	return strict.Object(text, into)
}

// checkKind refuses arguments that say that they are of another kind, or of another version of it.
func checkKind(written, want schema.GroupVersionKind) error {
	switch {
	case written == want:
	case written.Kind != "" && written.Kind != want.Kind:
		return field.NotSupported(field.NewPath("kind"), written.Kind, []string{want.Kind})
	case !written.GroupVersion().Empty() && written.GroupVersion() != want.GroupVersion():
		return field.NotSupported(field.NewPath("apiVersion"), written.GroupVersion().String(), []string{want.GroupVersion().String()})
	}
	return nil
}

func validate(args *v1alpha1.DilationArgs) field.ErrorList {
	var errs field.ErrorList
	errs = append(errs, validateSeconds(field.NewPath("syncTimeoutSeconds"), *args.SyncTimeoutSeconds, 0)...)
	errs = append(errs, validatePlacing(args)...)
	path := field.NewPath("requests")
	if len(args.Requests) == 0 {
		errs = append(errs, field.Required(path, "without a rule, pods that no profile matches would weigh nothing; leave the field out for the default"))
	}
	seen := sets.New[string]()
	someMinimum := false
	for i := range args.Requests {
		r, path := &args.Requests[i], path.Index(i)
		if seen.Has(r.Resource) {
			errs = append(errs, field.Duplicate(path.Child("resource"), r.Resource))
		}
		seen.Insert(r.Resource)
		someMinimum = someMinimum || r.Minimum.Sign() > 0
		errs = append(errs, validateRule(r, path)...)
	}
	if len(args.Requests) > 0 && !someMinimum {
		errs = append(errs, field.Required(path, "at least one rule must have a minimum above 0, or pods without requests would weigh nothing"))
	}
	return errs
}

// validatePlacing checks what decides which node a pod gets, and whether it gets one.
func validatePlacing(args *v1alpha1.DilationArgs) field.ErrorList {
	var errs field.ErrorList
	objectives := []v1alpha1.Objective{v1alpha1.ObjectiveTotal, v1alpha1.ObjectiveOwn, v1alpha1.ObjectiveSLARisk, v1alpha1.ObjectivePacking}
	if !slices.Contains(objectives, args.Objective) {
		errs = append(errs, field.NotSupported(field.NewPath("objective"), args.Objective, objectives))
	}
	modes := []v1alpha1.GuardMode{v1alpha1.GuardOff, v1alpha1.GuardWarn, v1alpha1.GuardEnforce}
	if !slices.Contains(modes, args.Guard.Mode) {
		errs = append(errs, field.NotSupported(field.NewPath("guard", "mode"), args.Guard.Mode, modes))
	}
	errs = append(errs, validateDilation(args.Packing.MaxDilation, field.NewPath("packing", "maxDilation"))...)
	errs = append(errs, validateLimits(args.Limits, field.NewPath("limits"))...)
	if hold, path := args.Hold, field.NewPath("hold"); hold != nil {
		errs = append(errs, validateDilation(hold.MaxDilation, path.Child("maxDilation"))...)
		errs = append(errs, validateSeconds(path.Child("maxWaitSeconds"), *hold.MaxWaitSeconds, 0)...)
	}
	if events := *args.EventsPerSecond; events < 0 {
		errs = append(errs, field.Invalid(field.NewPath("eventsPerSecond"), events, "must be at least 0"))
	}
	return errs
}

// validateLimits checks what WorkloadProfiles may ask for at most.
func validateLimits(limits *v1alpha1.Limits, path *field.Path) field.ErrorList {
	errs := validateDilation(limits.MinMaxDilation, path.Child("minMaxDilation"))
	if most := limits.MaxImportance.AsApproximateFloat64(); !(most >= 1 && most <= 100) {
		errs = append(errs, field.Invalid(path.Child("maxImportance"), limits.MaxImportance.String(), "must be from 1, the importance of a profile that sets none, to 100"))
	}
	return errs
}

// validateDilation checks how much pods may be dilated.
func validateDilation(most *resource.Quantity, path *field.Path) field.ErrorList {
	if most == nil {
		return field.ErrorList{field.Required(path, "say how many times longer than alone a pod may take, such as \"1.5\"")}
	}
	if d := most.AsApproximateFloat64(); d <= 1 || math.IsInf(d, 1) {
		return field.ErrorList{field.Invalid(path, most.String(), "must be more than 1: how many times longer than alone a pod may take")}
	}
	return nil
}

func validateSeconds(path *field.Path, seconds, atLeast int32) field.ErrorList {
	if seconds < atLeast {
		return field.ErrorList{field.Invalid(path, seconds, fmt.Sprintf("must be at least %d", atLeast))}
	}
	return nil
}

func validateRule(r *v1alpha1.RequestRule, path *field.Path) field.ErrorList {
	var errs field.ErrorList
	for _, problem := range validation.IsDNS1035Label(r.Resource) {
		errs = append(errs, field.Invalid(path.Child("resource"), r.Resource, problem))
	}
	for _, problem := range validation.IsQualifiedName(string(r.Request)) {
		errs = append(errs, field.Invalid(path.Child("request"), r.Request, problem))
	}
	if p := r.PerThread.AsApproximateFloat64(); p <= 0 || math.IsInf(p, 1) {
		errs = append(errs, field.Invalid(path.Child("perThread"), r.PerThread.String(), "must be more than 0 and at most 1e308"))
	}
	if u := r.Utilization.AsApproximateFloat64(); u <= 0 || u > 1 {
		errs = append(errs, field.Invalid(path.Child("utilization"), r.Utilization.String(), "must be more than 0 and at most 1"))
	}
	if m := r.Minimum.AsApproximateFloat64(); m < 0 || math.IsInf(m, 1) {
		errs = append(errs, field.Invalid(path.Child("minimum"), r.Minimum.String(), "must be at least 0 and at most 1e308"))
	}
	return errs
}
