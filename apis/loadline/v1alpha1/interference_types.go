package v1alpha1

import "k8s.io/apimachinery/pkg/api/resource"

// Interference is what a pod has to do with one interference resource of its
// node: one that is shared without a queue, such as a last-level cache. Whoever
// presses there makes what others compute take longer; nobody waits. Where pods
// run on one core in turns they do not interfere, as only one of them runs.
//
// Pressures are in units of the standard job of the resource at full intensity,
// which presses with 1.
type Interference struct {
	// name is the resource: llc (the last-level cache), memory-bandwidth, core
	// (what the hyper-threads of a core share), or any other name. It must not be
	// one of spec.resources: a resource has a queue or has none.
	// +required
	// +kubebuilder:validation:MinLength=1
	// +kubebuilder:validation:MaxLength=63
	// +kubebuilder:validation:XValidation:rule="self.matches('^[a-z]([-a-z0-9]*[a-z0-9])?$')",message="a resource name consists of lower-case letters, digits and '-', and starts with a letter, such as llc or memory-bandwidth"
	Name string `json:"name,omitempty"`

	// pressure is how hard each thread of the pod presses on others while it
	// runs, from 0 to 1000. Defaults to 0.
	// +optional
	// +kubebuilder:validation:Schemaless
	// +kubebuilder:validation:XIntOrString
	// +kubebuilder:validation:MaxLength=20
	// +kubebuilder:validation:XValidation:rule="string(self).matches('^[-+]?([0-9]+[.]?[0-9]*|[.][0-9]+)[numkM]?$') && quantity(string(self)).compareTo(quantity('0')) >= 0 && quantity(string(self)).compareTo(quantity('1000')) <= 0",message="a pressure is how hard a thread presses, where the standard job presses with 1: write a number from 0 to 1000, such as \"0.7\""
	Pressure *resource.Quantity `json:"pressure,omitempty"`

	// curve is by how much longer the pod computes under the pressure of others:
	// its sensitivity curve. It is 1 without pressure, linear between the points, and
	// constant beyond the last one. Without a curve nothing slows the pod down.
	// +optional
	// +listType=atomic
	// +kubebuilder:validation:MinItems=1
	// +kubebuilder:validation:MaxItems=16
	// +kubebuilder:validation:XValidation:rule="self.map(p, string(p.pressure).matches('^[-+]?([0-9]+[.]?[0-9]*|[.][0-9]+)[numkM]?$') ? quantity(string(p.pressure)).asApproximateFloat() : 0.0).isSorted()",message="the points of a curve are in the order of their pressures, the smallest first"
	// +kubebuilder:validation:XValidation:rule="self.map(p, string(p.inflation).matches('^[-+]?([0-9]+[.]?[0-9]*|[.][0-9]+)[numkM]?$') ? quantity(string(p.inflation)).asApproximateFloat() : 0.0).isSorted()",message="a curve never falls: more pressure does not make a pod faster"
	Curve []CurvePoint `json:"curve,omitempty"`
}

// CurvePoint is one point of a sensitivity curve.
type CurvePoint struct {
	// pressure is that of all the threads that run at the same time, above 0.
	// +required
	// +kubebuilder:validation:Schemaless
	// +kubebuilder:validation:XIntOrString
	// +kubebuilder:validation:MaxLength=20
	// +kubebuilder:validation:XValidation:rule="string(self).matches('^[-+]?([0-9]+[.]?[0-9]*|[.][0-9]+)[numkM]?$') && quantity(string(self)).compareTo(quantity('0')) > 0 && quantity(string(self)).compareTo(quantity('1000')) <= 0",message="the pressure of a point is above 0 and at most 1000: write a number such as \"0.5\""
	Pressure *resource.Quantity `json:"pressure,omitempty"`

	// inflation is how many times longer the pod computes then, at least 1: the
	// CPU time that its work takes under the pressure over that without.
	// +required
	// +kubebuilder:validation:Schemaless
	// +kubebuilder:validation:XIntOrString
	// +kubebuilder:validation:MaxLength=20
	// +kubebuilder:validation:XValidation:rule="string(self).matches('^[-+]?([0-9]+[.]?[0-9]*|[.][0-9]+)[numkM]?$') && quantity(string(self)).compareTo(quantity('1')) >= 0 && quantity(string(self)).compareTo(quantity('1000')) <= 0",message="an inflation is how many times longer a pod computes: write a number from 1 to 1000, such as \"1.3\""
	Inflation *resource.Quantity `json:"inflation,omitempty"`
}

// ResourceDomains is how many of an interference resource a node has.
type ResourceDomains struct {
	// name is the resource, as in the interference of WorkloadProfiles.
	// +required
	// +kubebuilder:validation:MinLength=1
	// +kubebuilder:validation:MaxLength=63
	// +kubebuilder:validation:XValidation:rule="self.matches('^[a-z]([-a-z0-9]*[a-z0-9])?$')",message="a resource name consists of lower-case letters, digits and '-', and starts with a letter, such as llc or memory-bandwidth"
	Name string `json:"name,omitempty"`

	// domains is how many there are: the last-level caches of a node, its sockets,
	// its physical cores. Pods interfere where they run in the same one at the same
	// time; a pod may run on any core that it shares with others.
	// +required
	// +kubebuilder:validation:XValidation:rule="self >= 1 && self <= 16384",message="a node has between 1 and 16384 domains; leave out a resource that it does not have"
	Domains *int32 `json:"domains,omitempty"`
}
