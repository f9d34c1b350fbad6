package v1alpha1

import (
	"k8s.io/apimachinery/pkg/api/resource"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
)

// ShareTree is a tree of groups that share some processors by weight. Its leaves
// are workloads: those of its spec, and the WorkloadProfiles of its namespaces whose
// fairShare names it. What one leaves, others may use. Its status says how long the
// jobs of each workload take, on average, while all of them are at work.
//
// +kubebuilder:object:root=true
// +kubebuilder:subresource:status
// +kubebuilder:resource:scope=Cluster,shortName=sht,categories=loadline
// +kubebuilder:printcolumn:name="Processors",type=integer,JSONPath=`.spec.processors`
// +kubebuilder:printcolumn:name="Utilization",type=string,JSONPath=`.status.utilization`
// +kubebuilder:printcolumn:name="Workloads",type=integer,JSONPath=`.status.workloadCount`
// +kubebuilder:printcolumn:name="SLAs missed",type=integer,JSONPath=`.status.missedSLAs`
// +kubebuilder:printcolumn:name="Left out",type=integer,priority=1,JSONPath=`.status.leftOutCount`
// +kubebuilder:printcolumn:name="Ready",type=string,JSONPath=`.status.conditions[?(@.type=="Ready")].status`
// +kubebuilder:printcolumn:name="Reason",type=string,JSONPath=`.status.conditions[?(@.type=="Ready")].reason`
// +kubebuilder:printcolumn:name="Age",type=date,JSONPath=`.metadata.creationTimestamp`
// +kubebuilder:printcolumn:name="Message",type=string,priority=1,JSONPath=`.status.conditions[?(@.type=="Ready")].message`
type ShareTree struct {
	metav1.TypeMeta `json:",inline"`
	// metadata is the standard object metadata.
	// +optional
	metav1.ObjectMeta `json:"metadata,omitempty"`

	// spec says which groups there are and what they get.
	// +optional
	Spec ShareTreeSpec `json:"spec,omitempty,omitzero"`

	// status says how long jobs take.
	// +optional
	Status ShareTreeStatus `json:"status,omitempty,omitzero"`
}

// ShareTreeSpec is a tree as a list of its groups and workloads, in any order. A
// tree without groups has all workloads side by side.
//
// +kubebuilder:validation:XValidation:rule="!has(self.groups) || self.groups.all(g, !has(g.parent) || self.groups.exists(p, p.name == g.parent))",fieldPath=".groups",message="a parent is not the name of a group in spec.groups; leave it out for a group at the top"
// +kubebuilder:validation:XValidation:rule="!has(self.workloads) || self.workloads.all(w, !has(w.group) || (has(self.groups) && self.groups.exists(g, g.name == w.group)))",fieldPath=".workloads",message="a workload's group is not the name of a group in spec.groups; leave it out for a workload at the top"
// +kubebuilder:validation:XValidation:rule="!has(self.workloads) || !has(self.groups) || self.workloads.all(w, !self.groups.exists(g, g.name == w.name))",fieldPath=".workloads",message="a workload has the name of a group; each needs its own"
type ShareTreeSpec struct {
	// processors is how many processors are shared, each of which serves one job
	// at a time. Defaults to 1.
	// +optional
	// +default=1
	// +kubebuilder:validation:Minimum=1
	// +kubebuilder:validation:Maximum=4096
	Processors *int32 `json:"processors,omitempty"`

	// namespaces lists the namespaces whose WorkloadProfiles join the tree by their
	// fairShare. Those of other namespaces are left out, and so are those that would
	// leave the tree without an answer; status.leftOut names them. Left out, no
	// WorkloadProfile joins.
	// +optional
	// +listType=set
	// +kubebuilder:validation:MinItems=1
	// +kubebuilder:validation:MaxItems=256
	// +kubebuilder:validation:items:MaxLength=63
	// +kubebuilder:validation:items:XValidation:rule="self.matches('^[a-z0-9]([-a-z0-9]*[a-z0-9])?$')",message="a namespace's name consists of lower-case letters, digits and '-', and begins and ends with a letter or digit"
	Namespaces []string `json:"namespaces,omitempty"`

	// groups lists the inner nodes of the tree. In a tree without namespaces each must
	// have members in the end: groups, or workloads of the spec.
	// +optional
	// +listType=map
	// +listMapKey=name
	// +kubebuilder:validation:MinItems=1
	// +kubebuilder:validation:MaxItems=256
	Groups []ShareGroup `json:"groups,omitempty"`

	// workloads lists leaves that are no WorkloadProfiles.
	// +optional
	// +listType=map
	// +listMapKey=name
	// +kubebuilder:validation:MinItems=1
	// +kubebuilder:validation:MaxItems=512
	Workloads []ShareWorkload `json:"workloads,omitempty"`
}

// ShareGroup is an inner node of a tree.
//
// +kubebuilder:validation:XValidation:rule="!has(self.parent) || self.parent != self.name",fieldPath=".parent",message="a group cannot be its own parent"
type ShareGroup struct {
	// name is what the group is called.
	// +required
	// +kubebuilder:validation:MinLength=1
	// +kubebuilder:validation:MaxLength=63
	// +kubebuilder:validation:XValidation:rule="self.matches('^[a-z0-9]([-.a-z0-9]*[a-z0-9])?$')",message="a name consists of lower-case letters, digits, '-' and '.', and begins and ends with a letter or digit"
	Name string `json:"name,omitempty"`

	// parent is the group that it is in. Left out, it is at the top.
	// +optional
	// +kubebuilder:validation:MinLength=1
	// +kubebuilder:validation:MaxLength=63
	Parent string `json:"parent,omitempty"`

	// share is the weight of the group among its siblings.
	// +required
	// +kubebuilder:validation:XValidation:rule="self >= 1",message="a share must be at least 1 (remove the group if it should get nothing)"
	// +kubebuilder:validation:Maximum=1000000000
	Share *int32 `json:"share,omitempty"`
}

// ShareWorkload is a leaf of a tree.
type ShareWorkload struct {
	// name is what the workload is called.
	// +required
	// +kubebuilder:validation:MinLength=1
	// +kubebuilder:validation:MaxLength=63
	// +kubebuilder:validation:XValidation:rule="self.matches('^[a-z0-9]([-.a-z0-9]*[a-z0-9])?$')",message="a name consists of lower-case letters, digits, '-' and '.', and begins and ends with a letter or digit"
	Name string `json:"name,omitempty"`

	// group is the group that it is in. Left out, it is at the top.
	// +optional
	// +kubebuilder:validation:MinLength=1
	// +kubebuilder:validation:MaxLength=63
	Group string `json:"group,omitempty"`

	// share is the weight of the workload among its siblings.
	// +required
	// +kubebuilder:validation:XValidation:rule="self >= 1",message="a share must be at least 1 (remove the workload if it should get nothing)"
	// +kubebuilder:validation:Maximum=1000000000
	Share *int32 `json:"share,omitempty"`

	// utilization is how many processors the workload keeps busy on average, at
	// least 0, such as "0.2" for a fifth of one.
	// +required
	// +kubebuilder:validation:Schemaless
	// +kubebuilder:validation:XIntOrString
	// +kubebuilder:validation:MaxLength=20
	// +kubebuilder:validation:XValidation:rule="string(self).matches('^[-+]?([0-9]+[.]?[0-9]*|[.][0-9]+)[numkM]?$') && quantity(string(self)).compareTo(quantity('0')) >= 0 && quantity(string(self)).compareTo(quantity('4096')) <= 0",message="a utilization is how many processors are kept busy on average: write a number that is not negative, such as \"0.2\""
	Utilization *resource.Quantity `json:"utilization,omitempty"`

	// serviceMillis is how long a job takes on average with a processor to itself,
	// in milliseconds. Left out, it is not known, and responses are given relative
	// to it only; workloads of one tree give it either all or none.
	// +optional
	// +kubebuilder:validation:Minimum=1
	// +kubebuilder:validation:Maximum=1000000000000
	ServiceMillis *int64 `json:"serviceMillis,omitempty"`

	// sla is what is asked of the mean response time.
	// +optional
	SLA *SLA `json:"sla,omitempty"`
}

// ShareTreeStatus is what response times a tree gives.
type ShareTreeStatus struct {
	// conditions are Ready (response times are predicted).
	// +optional
	// +listType=map
	// +listMapKey=type
	// +kubebuilder:validation:MaxItems=8
	Conditions []metav1.Condition `json:"conditions,omitempty"`

	// observedGeneration is the generation of the spec that the status is of.
	// +optional
	// +kubebuilder:validation:Minimum=0
	ObservedGeneration *int64 `json:"observedGeneration,omitempty"`

	// utilization is how many processors all workloads keep busy on average.
	// +optional
	Utilization *resource.Quantity `json:"utilization,omitempty"`

	// workloadCount is how many workloads the tree has.
	// +optional
	// +kubebuilder:validation:Minimum=0
	WorkloadCount *int32 `json:"workloadCount,omitempty"`

	// missedSLAs is how many workloads have a mean response time above that of
	// their SLA.
	// +optional
	// +kubebuilder:validation:Minimum=0
	MissedSLAs *int32 `json:"missedSLAs,omitempty"`

	// leftOutCount is how many WorkloadProfiles name the tree and are not among its
	// workloads.
	// +optional
	// +kubebuilder:validation:Minimum=0
	LeftOutCount *int32 `json:"leftOutCount,omitempty"`

	// leftOut are the first 32 of these, of each namespace in turn.
	// +optional
	// +listType=map
	// +listMapKey=name
	// +kubebuilder:validation:MaxItems=32
	LeftOut []ShareTreeLeftOut `json:"leftOut,omitempty"`

	// workloads are the leaves with their response times, in the order of the
	// tree; the first 1000 of them. Empty while none are predicted.
	// +optional
	// +listType=map
	// +listMapKey=name
	// +kubebuilder:validation:MaxItems=1000
	Workloads []ShareTreeWorkload `json:"workloads,omitempty"`
}

// ShareTreeWorkload is the response time of a leaf.
type ShareTreeWorkload struct {
	// name is that in the spec, or namespace/name of a WorkloadProfile.
	// +required
	// +kubebuilder:validation:MinLength=1
	// +kubebuilder:validation:MaxLength=317
	Name string `json:"name,omitempty"`

	// portion is the part of the processors that it gets while all workloads have
	// jobs.
	// +optional
	Portion *resource.Quantity `json:"portion,omitempty"`

	// utilization is how many processors it keeps busy on average.
	// +optional
	Utilization *resource.Quantity `json:"utilization,omitempty"`

	// responseFactor is the mean response time relative to the mean service time.
	// +optional
	ResponseFactor *resource.Quantity `json:"responseFactor,omitempty"`

	// responseMillis is the mean response time in milliseconds, where the service
	// time is known.
	// +optional
	// +kubebuilder:validation:Minimum=0
	ResponseMillis *int64 `json:"responseMillis,omitempty"`

	// sla says whether the mean keeps within the SLA. Left out where there is none.
	// +optional
	// +kubebuilder:validation:Enum=Met;Missed
	SLA string `json:"sla,omitempty"`
}

// ShareTreeLeftOut is a WorkloadProfile that names the tree and is not part of it.
type ShareTreeLeftOut struct {
	// name is namespace/name of the WorkloadProfile.
	// +required
	// +kubebuilder:validation:MinLength=1
	// +kubebuilder:validation:MaxLength=317
	Name string `json:"name,omitempty"`

	// reason is why: NamespaceNotListed, Invalid, Overloaded, TooMany or TooCostly.
	// +required
	// +kubebuilder:validation:Enum=NamespaceNotListed;Invalid;Overloaded;TooMany;TooCostly
	Reason string `json:"reason,omitempty"`

	// message says what to do about it.
	// +optional
	// +kubebuilder:validation:MaxLength=512
	Message string `json:"message,omitempty"`
}

// Verdicts on an SLA.
const (
	// SLAMet says that the mean response time keeps within the SLA.
	SLAMet = "Met"
	// SLAMissed says that it does not.
	SLAMissed = "Missed"
)

// FairShare puts the jobs of a WorkloadProfile into a ShareTree that lists its namespace.
type FairShare struct {
	// tree is the name of the ShareTree.
	// +required
	// +kubebuilder:validation:MinLength=1
	// +kubebuilder:validation:MaxLength=253
	Tree string `json:"tree,omitempty"`

	// group is the group of the tree that it is in. Left out, it is at the top.
	// +optional
	// +kubebuilder:validation:MinLength=1
	// +kubebuilder:validation:MaxLength=63
	Group string `json:"group,omitempty"`

	// share is the weight of the workload among its siblings.
	// +required
	// +kubebuilder:validation:XValidation:rule="self >= 1",message="a share must be at least 1 (remove fairShare if it should get nothing)"
	// +kubebuilder:validation:Maximum=1000000000
	Share *int32 `json:"share,omitempty"`

	// utilization is how many processors the workload keeps busy on average, at
	// least 0, such as "0.2" for a fifth of one. Defaults to arrival.ratePerSecond
	// × neutralMillis.
	// +optional
	// +kubebuilder:validation:Schemaless
	// +kubebuilder:validation:XIntOrString
	// +kubebuilder:validation:MaxLength=20
	// +kubebuilder:validation:XValidation:rule="string(self).matches('^[-+]?([0-9]+[.]?[0-9]*|[.][0-9]+)[numkM]?$') && quantity(string(self)).compareTo(quantity('0')) >= 0 && quantity(string(self)).compareTo(quantity('4096')) <= 0",message="a utilization is how many processors are kept busy on average: write a number that is not negative, such as \"0.2\""
	Utilization *resource.Quantity `json:"utilization,omitempty"`
}

// ShareTreeList is a list of trees.
//
// +kubebuilder:object:root=true
type ShareTreeList struct {
	metav1.TypeMeta `json:",inline"`
	// metadata is the standard list metadata.
	// +optional
	metav1.ListMeta `json:"metadata,omitempty"`

	// items are the trees.
	Items []ShareTree `json:"items"`
}
