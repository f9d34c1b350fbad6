package config

import (
	"slices"

	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/util/validation/field"

	"loadline.dev/loadline/apis/config/v1alpha1"
)

// Discipline is how the classes of pods that wait are ordered.
type Discipline string

// The disciplines.
const (
	// HOL takes pods of the class with the more demanding SLA first.
	HOL Discipline = "HOL"
	// PDP takes pods of the class that is furthest behind its SLA first.
	PDP Discipline = "PDP"
)

// SLAOrderArgs are the arguments of the SLAOrder plugin.
type SLAOrderArgs struct {
	Discipline Discipline
	// MaxWaitSeconds is how long a pod waits before it goes before the classes of its
	// priority, at least 1.
	MaxWaitSeconds int32
	// WindowSeconds is how far back the attained frequency of PDP reaches, at least
	// [MinWindowSeconds].
	WindowSeconds int32
	// SyncTimeoutSeconds is how long the plugin waits at start-up for the profiles to
	// be read, at least 0.
	SyncTimeoutSeconds int32
}

// MinWindowSeconds is the shortest window: pods' times are known to the second, and the
// window moves in sixtieths.
const MinWindowSeconds = 60

// LoadSLAOrderArgs reads the arguments of the SLAOrder plugin as [LoadDilationArgs]
// reads those of Dilation.
func LoadSLAOrderArgs(obj runtime.Object) (*SLAOrderArgs, error) {
	versioned := &v1alpha1.SLAOrderArgs{}
	if err := read(obj, "SLAOrderArgs", versioned); err != nil {
		return nil, err
	}
	versioned.SetDefaults()
	if err := validateSLAOrder(versioned).ToAggregate(); err != nil {
		return nil, err
	}
	return &SLAOrderArgs{
		Discipline:         Discipline(versioned.Discipline),
		MaxWaitSeconds:     *versioned.MaxWaitSeconds,
		WindowSeconds:      *versioned.WindowSeconds,
		SyncTimeoutSeconds: *versioned.SyncTimeoutSeconds,
	}, nil
}

func validateSLAOrder(args *v1alpha1.SLAOrderArgs) field.ErrorList {
	var errs field.ErrorList
	if known := []string{string(HOL), string(PDP)}; !slices.Contains(known, args.Discipline) {
		errs = append(errs, field.NotSupported(field.NewPath("discipline"), args.Discipline, known))
	}
	return slices.Concat(errs,
		validateSeconds(field.NewPath("maxWaitSeconds"), *args.MaxWaitSeconds, 1),
		validateSeconds(field.NewPath("windowSeconds"), *args.WindowSeconds, MinWindowSeconds),
		validateSeconds(field.NewPath("syncTimeoutSeconds"), *args.SyncTimeoutSeconds, 0))
}
