// Package v1alpha1 holds the arguments of Loadline's scheduler plugins as users
// write them in a KubeSchedulerConfiguration.
//
// +kubebuilder:object:generate=true
// +groupName=config.loadline.dev
package v1alpha1
