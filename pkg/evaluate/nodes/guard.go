package nodes

import (
	configv1alpha1 "loadline.dev/loadline/apis/config/v1alpha1"
	"loadline.dev/loadline/apis/loadline/v1alpha1"
)

// Bound is how much a pod may be dilated, and what the scheduler's guard does where it would be dilated more. The zero value
// is no bound.
type Bound struct {
	Max  float64
	Mode configv1alpha1.GuardMode
}

// NewBound returns the bound of a pod in a namespace of a mode: none where the mode is Off, or the maximum 0.
func NewBound(maximum float64, mode configv1alpha1.GuardMode) Bound {
	if maximum == 0 || mode == configv1alpha1.GuardOff {
		return Bound{}
	}
	return Bound{maximum, mode}
}

// Enforced returns the bound if nodes are refused for it, else 0.
func (b Bound) Enforced() float64 {
	if b.Mode != configv1alpha1.GuardEnforce {
		return 0
	}
	return b.Max
}

// labelled are the modes as the label of a namespace has them.
var labelled = map[string]configv1alpha1.GuardMode{
	"off": configv1alpha1.GuardOff, "warn": configv1alpha1.GuardWarn, "enforce": configv1alpha1.GuardEnforce,
}

// GuardModeOf returns the mode of the guard that the labels of a namespace say, empty where they say none. It is not valid
// where they say something else, which the guard ignores.
func GuardModeOf(labels map[string]string) (mode configv1alpha1.GuardMode, valid bool) {
	label, said := labels[v1alpha1.GuardLabel]
	mode = labelled[label]
	return mode, !said || mode != ""
}
