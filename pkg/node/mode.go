package node

import (
	configv1alpha1 "loadline.dev/loadline/apis/config/v1alpha1"
	"loadline.dev/loadline/apis/loadline/v1alpha1"
)

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
