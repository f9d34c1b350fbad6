// Package v1alpha1 holds Loadline's API: what users declare about their
// workloads and nodes, and what Loadline answers.
//
// Fractions are quantities ("0.58" or "580m"), times are integers with the unit
// in the name, and status holds conditions. The rules on single objects are in
// the schema, with messages that say what to write instead; the rules between
// objects are reported as conditions by the manager.
//
// +kubebuilder:object:generate=true
// +groupName=loadline.dev
package v1alpha1
