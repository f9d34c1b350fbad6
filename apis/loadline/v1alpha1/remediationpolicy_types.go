package v1alpha1

import (
	"k8s.io/apimachinery/pkg/api/resource"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
)

// RemediationPolicy says of which pods Loadline proposes changes that win dilation, such
// as a higher CPU limit or a move to another node, whether it carries them out, and how
// many at once. Each change is a Remediation. Of several policies that select a pod, those
// whose mode is not Advise go first, among them the oldest, then the first by name.
//
// +kubebuilder:object:root=true
// +kubebuilder:subresource:status
// +kubebuilder:resource:scope=Cluster,shortName=rmp,categories=loadline
// +kubebuilder:printcolumn:name="Mode",type=string,JSONPath=`.spec.mode`
// +kubebuilder:printcolumn:name="State",type=string,priority=1,JSONPath=`.spec.state`
// +kubebuilder:printcolumn:name="Ready",type=string,JSONPath=`.status.conditions[?(@.type=="Ready")].status`
// +kubebuilder:printcolumn:name="Paused",type=string,JSONPath=`.status.conditions[?(@.type=="Paused")].status`
// +kubebuilder:printcolumn:name="Proposed",type=integer,JSONPath=`.status.proposed`
// +kubebuilder:printcolumn:name="Running",type=integer,JSONPath=`.status.running`
// +kubebuilder:printcolumn:name="Succeeded",type=integer,JSONPath=`.status.succeeded`
// +kubebuilder:printcolumn:name="Rolled back",type=integer,JSONPath=`.status.rolledBack`
// +kubebuilder:printcolumn:name="Failed",type=integer,JSONPath=`.status.failed`
// +kubebuilder:printcolumn:name="Won",type=string,JSONPath=`.status.win`
// +kubebuilder:printcolumn:name="Conflicted",type=string,priority=1,JSONPath=`.status.conditions[?(@.type=="Conflicted")].status`
// +kubebuilder:printcolumn:name="Age",type=date,JSONPath=`.metadata.creationTimestamp`
// +kubebuilder:printcolumn:name="Message",type=string,priority=1,JSONPath=`.status.conditions[?(@.type=="Ready")].message`
type RemediationPolicy struct {
	metav1.TypeMeta `json:",inline"`
	// metadata is the standard object metadata.
	// +optional
	metav1.ObjectMeta `json:"metadata,omitempty"`

	// spec says which pods may be changed, how, and how many at once.
	// +optional
	Spec RemediationPolicySpec `json:"spec,omitempty,omitzero"`

	// status says what was done, and what it won.
	// +optional
	Status RemediationPolicyStatus `json:"status,omitempty,omitzero"`
}

// RemediationPolicySpec is what an administrator allows.
//
// +kubebuilder:validation:XValidation:rule="!has(self.mode) || self.mode == 'Advise' || has(self.allow)",fieldPath=".allow",reason=FieldValueRequired,message="the modes Approve and Automatic change pods: list the changes that may be made, such as [RaiseLimit]"
type RemediationPolicySpec struct {
	// mode says what becomes of a proposed change: Advise shows it, Approve carries it
	// out once its spec.approval says so, Automatic carries it out. Defaults to Advise.
	// +optional
	// +default="Advise"
	// +kubebuilder:validation:Enum=Advise;Approve;Automatic
	Mode string `json:"mode,omitempty"`

	// state is Active, or Suspended: then no change is started. Those that are running
	// are completed, with their roll-back. Defaults to Active.
	// +optional
	// +default="Active"
	// +kubebuilder:validation:Enum=Active;Suspended
	State string `json:"state,omitempty"`

	// namespaceSelector chooses namespaces by their labels. Left out, it chooses all.
	// +optional
	// +kubebuilder:validation:XValidation:rule="!has(self.matchExpressions) || self.matchExpressions.all(e, e.operator in ['In', 'NotIn', 'Exists', 'DoesNotExist'])",message="operator must be In, NotIn, Exists or DoesNotExist"
	// +kubebuilder:validation:XValidation:rule="!has(self.matchExpressions) || self.matchExpressions.all(e, e.operator in ['In', 'NotIn'] == (has(e.values) && size(e.values) > 0))",message="operators In and NotIn need values; Exists and DoesNotExist take none"
	// +kubebuilder:validation:XValidation:rule="!has(self.matchLabels) || size(self.matchLabels) <= 8",message="a selector has at most 8 matchLabels"
	// +kubebuilder:validation:XValidation:rule="!has(self.matchExpressions) || size(self.matchExpressions) <= 8",message="a selector has at most 8 matchExpressions"
	// +kubebuilder:validation:XValidation:rule="!has(self.matchExpressions) || self.matchExpressions.map(e, has(e.values) ? size(e.values) : 0).sum() <= 64",message="the matchExpressions of a selector have at most 64 values in all"
	NamespaceSelector *metav1.LabelSelector `json:"namespaceSelector,omitempty"`

	// podSelector chooses pods of these namespaces by their labels. Left out, it chooses all.
	// +optional
	// +kubebuilder:validation:XValidation:rule="!has(self.matchExpressions) || self.matchExpressions.all(e, e.operator in ['In', 'NotIn', 'Exists', 'DoesNotExist'])",message="operator must be In, NotIn, Exists or DoesNotExist"
	// +kubebuilder:validation:XValidation:rule="!has(self.matchExpressions) || self.matchExpressions.all(e, e.operator in ['In', 'NotIn'] == (has(e.values) && size(e.values) > 0))",message="operators In and NotIn need values; Exists and DoesNotExist take none"
	// +kubebuilder:validation:XValidation:rule="!has(self.matchLabels) || size(self.matchLabels) <= 8",message="a selector has at most 8 matchLabels"
	// +kubebuilder:validation:XValidation:rule="!has(self.matchExpressions) || size(self.matchExpressions) <= 8",message="a selector has at most 8 matchExpressions"
	// +kubebuilder:validation:XValidation:rule="!has(self.matchExpressions) || self.matchExpressions.map(e, has(e.values) ? size(e.values) : 0).sum() <= 64",message="the matchExpressions of a selector have at most 64 values in all"
	PodSelector *metav1.LabelSelector `json:"podSelector,omitempty"`

	// criticalPods says whether pods of the namespace kube-system, those of the priority
	// classes system-node-critical and system-cluster-critical, and Loadline's own, which
	// have the label app.kubernetes.io/part-of=loadline, are chosen, too: Exclude or
	// Include. Defaults to Exclude.
	// +optional
	// +default="Exclude"
	// +kubebuilder:validation:Enum=Exclude;Include
	CriticalPods string `json:"criticalPods,omitempty"`

	// allow lists the changes that are proposed: RaiseRequest and LowerRequest change the
	// CPU request of a container in place, RaiseLimit its CPU limit, and Move evicts a pod
	// so that it is made anew on another node. Left out, all are proposed; the modes
	// Approve and Automatic need the list.
	// +optional
	// +listType=set
	// +kubebuilder:validation:MinItems=1
	// +kubebuilder:validation:MaxItems=4
	// +kubebuilder:validation:items:Enum=RaiseRequest;LowerRequest;RaiseLimit;Move
	Allow []string `json:"allow,omitempty"`

	// above is the dilation from which on a pod is helped, from 1 to 1000. Defaults to 1.2.
	// +optional
	// +kubebuilder:validation:Schemaless
	// +kubebuilder:validation:XIntOrString
	// +kubebuilder:validation:MaxLength=20
	// +kubebuilder:validation:XValidation:rule="string(self).matches('^[-+]?([0-9]+[.]?[0-9]*|[.][0-9]+)[numkM]?$') && quantity(string(self)).compareTo(quantity('1')) >= 0 && quantity(string(self)).compareTo(quantity('1000')) <= 0",message="a dilation is how many times as long a pod takes as alone: write a number from 1 to 1000, such as \"1.2\""
	Above *resource.Quantity `json:"above,omitempty"`

	// budget bounds the changes. Left out, its fields have their defaults.
	// +optional
	Budget *RemediationBudget `json:"budget,omitempty"`

	// coolDownSeconds is for how long after a change of a workload no other one is
	// started, in seconds. Defaults to 1800.
	// +optional
	// +kubebuilder:validation:Minimum=0
	// +kubebuilder:validation:Maximum=604800
	CoolDownSeconds *int32 `json:"coolDownSeconds,omitempty"`

	// minPodAgeSeconds is for how long a pod must have been running to be changed, in
	// seconds. Defaults to 300.
	// +optional
	// +kubebuilder:validation:Minimum=0
	// +kubebuilder:validation:Maximum=604800
	MinPodAgeSeconds *int32 `json:"minPodAgeSeconds,omitempty"`

	// observeSeconds is for how long after a change the pods are observed before it is
	// judged, in seconds, from 30 to 2400: what was observed before is kept for an hour.
	// Defaults to 300.
	// +optional
	// +kubebuilder:validation:Minimum=30
	// +kubebuilder:validation:Maximum=2400
	ObserveSeconds *int32 `json:"observeSeconds,omitempty"`

	// proposalSeconds is how long a proposed change may wait to be approved and started
	// before it expires, in seconds. Defaults to 3600.
	// +optional
	// +kubebuilder:validation:Minimum=60
	// +kubebuilder:validation:Maximum=604800
	ProposalSeconds *int32 `json:"proposalSeconds,omitempty"`

	// history is how many completed Remediations of the policy are kept, the latest. Those
	// of the last hour, and of the cool-down, are kept as well. Defaults to 100.
	// +optional
	// +kubebuilder:validation:Minimum=10
	// +kubebuilder:validation:Maximum=1000
	History *int32 `json:"history,omitempty"`

	// singleReplicas lists the workloads whose pods may be moved although fewer than two
	// of them are ready.
	// +optional
	// +listType=map
	// +listMapKey=namespace
	// +listMapKey=kind
	// +listMapKey=name
	// +kubebuilder:validation:MinItems=1
	// +kubebuilder:validation:MaxItems=256
	SingleReplicas []NamespacedWorkload `json:"singleReplicas,omitempty"`
}

// RemediationBudget is how many changes there may be. With 0 for any of them no change is
// started.
type RemediationBudget struct {
	// atOnce is how many changes of the policy are running at once. Defaults to 3.
	// +optional
	// +kubebuilder:validation:Minimum=0
	// +kubebuilder:validation:Maximum=1000
	AtOnce *int32 `json:"atOnce,omitempty"`

	// perNode is how many changes, of all policies, are running at once that involve one
	// node: as the node of the pod, or the one that it is moved to. Defaults to 1.
	// +optional
	// +kubebuilder:validation:Minimum=0
	// +kubebuilder:validation:Maximum=1000
	PerNode *int32 `json:"perNode,omitempty"`

	// perWorkload is how many changes of pods of one workload, of all policies, are
	// running at once. Defaults to 1.
	// +optional
	// +kubebuilder:validation:Minimum=0
	// +kubebuilder:validation:Maximum=1000
	PerWorkload *int32 `json:"perWorkload,omitempty"`

	// perNamespace is how many changes of pods of one namespace, of all policies, are
	// running at once. Defaults to 2.
	// +optional
	// +kubebuilder:validation:Minimum=0
	// +kubebuilder:validation:Maximum=1000
	PerNamespace *int32 `json:"perNamespace,omitempty"`

	// perHour is how many changes of the policy are started within an hour. Defaults to 12.
	// +optional
	// +kubebuilder:validation:Minimum=0
	// +kubebuilder:validation:Maximum=1000
	PerHour *int32 `json:"perHour,omitempty"`
}

// NamespacedWorkload names a workload.
type NamespacedWorkload struct {
	// namespace is that of the workload.
	// +required
	// +kubebuilder:validation:MinLength=1
	// +kubebuilder:validation:MaxLength=63
	Namespace string `json:"namespace,omitempty"`

	// kind is its kind, such as Deployment.
	// +required
	// +kubebuilder:validation:MinLength=1
	// +kubebuilder:validation:MaxLength=63
	Kind string `json:"kind,omitempty"`

	// name is its name.
	// +required
	// +kubebuilder:validation:MinLength=1
	// +kubebuilder:validation:MaxLength=253
	Name string `json:"name,omitempty"`
}

// Values of the enumerations of RemediationPolicy.
const (
	// RemediationAdvise shows changes and makes none.
	RemediationAdvise = "Advise"
	// RemediationApprove makes those that are approved.
	RemediationApprove = "Approve"
	// RemediationAutomatic makes changes.
	RemediationAutomatic = "Automatic"

	// PolicyActive lets changes be started.
	PolicyActive = "Active"
	// PolicySuspended does not.
	PolicySuspended = "Suspended"

	// CriticalExclude leaves critical pods alone.
	CriticalExclude = "Exclude"
	// CriticalInclude does not.
	CriticalInclude = "Include"
)

// RemediationLabel with the value [RemediationOff] on a namespace has its pods left alone
// by all policies: no change is started, and one that is running is neither completed nor
// rolled back until the label is gone. On the namespace that the manager runs in it does
// so for all pods of the cluster.
const RemediationLabel = "loadline.dev/remediation"

// RemediationOff is the value of [RemediationLabel] that stops changes.
const RemediationOff = "off"

// RemediationPolicyStatus is what was done, as far as the Remediations are kept.
type RemediationPolicyStatus struct {
	// conditions are Ready (changes can be started), Paused (none is, because the last
	// ones won too little) and Conflicted (an older policy has some of the same pods).
	// +optional
	// +listType=map
	// +listMapKey=type
	// +kubebuilder:validation:MaxItems=8
	Conditions []metav1.Condition `json:"conditions,omitempty"`

	// observedGeneration is the generation of the spec that the status is of.
	// +optional
	// +kubebuilder:validation:Minimum=0
	ObservedGeneration *int64 `json:"observedGeneration,omitempty"`

	// proposed is how many changes wait to be approved or started.
	// +optional
	// +kubebuilder:validation:Minimum=0
	Proposed *int32 `json:"proposed,omitempty"`

	// running is how many were started and are not complete.
	// +optional
	// +kubebuilder:validation:Minimum=0
	Running *int32 `json:"running,omitempty"`

	// succeeded is how many were made and stay.
	// +optional
	// +kubebuilder:validation:Minimum=0
	Succeeded *int32 `json:"succeeded,omitempty"`

	// rolledBack is how many were undone, because they did not win.
	// +optional
	// +kubebuilder:validation:Minimum=0
	RolledBack *int32 `json:"rolledBack,omitempty"`

	// failed is how many could not be made, or did not win and cannot be undone.
	// +optional
	// +kubebuilder:validation:Minimum=0
	Failed *int32 `json:"failed,omitempty"`

	// predictedWin is by how much the judged changes were predicted to lower the
	// dilations of all pods together.
	// +optional
	PredictedWin *resource.Quantity `json:"predictedWin,omitempty"`

	// realizedWin is by how much they did.
	// +optional
	RealizedWin *resource.Quantity `json:"realizedWin,omitempty"`

	// win is what the judged changes won of what was predicted, in words, such as
	// 2.10 of 2.40.
	// +optional
	// +kubebuilder:validation:MaxLength=128
	Win string `json:"win,omitempty"`
}

// RemediationPolicyList is a list of policies.
//
// +kubebuilder:object:root=true
type RemediationPolicyList struct {
	metav1.TypeMeta `json:",inline"`
	// metadata is the standard list metadata.
	// +optional
	metav1.ListMeta `json:"metadata,omitempty"`

	// items are the policies.
	Items []RemediationPolicy `json:"items"`
}
