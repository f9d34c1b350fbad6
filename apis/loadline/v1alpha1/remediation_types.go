package v1alpha1

import (
	"k8s.io/apimachinery/pkg/api/resource"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
)

// Remediation is one change of one pod of its namespace that wins dilation for the pods
// of the cluster together: what it is, what it is predicted to win, who approved it, how
// far it is, and what it won. Loadline makes Remediations for a RemediationPolicy. Its
// spec does not change, except for the approval.
//
// +kubebuilder:object:root=true
// +kubebuilder:subresource:status
// +kubebuilder:resource:scope=Namespaced,shortName=remedy,categories=loadline
// +kubebuilder:printcolumn:name="Change",type=string,JSONPath=`.status.change`
// +kubebuilder:printcolumn:name="Pod",type=string,JSONPath=`.spec.pod.name`
// +kubebuilder:printcolumn:name="State",type=string,JSONPath=`.status.conditions[?(@.type=="Complete")].reason`
// +kubebuilder:printcolumn:name="Predicted",type=string,JSONPath=`.status.predicted`
// +kubebuilder:printcolumn:name="Won",type=string,JSONPath=`.status.win`
// +kubebuilder:printcolumn:name="Node",type=string,priority=1,JSONPath=`.spec.pod.node`
// +kubebuilder:printcolumn:name="Policy",type=string,priority=1,JSONPath=`.spec.policy`
// +kubebuilder:printcolumn:name="Age",type=date,JSONPath=`.metadata.creationTimestamp`
// +kubebuilder:printcolumn:name="Message",type=string,priority=1,JSONPath=`.status.conditions[?(@.type=="Complete")].message`
type Remediation struct {
	metav1.TypeMeta `json:",inline"`
	// metadata is the standard object metadata.
	// +optional
	metav1.ObjectMeta `json:"metadata,omitempty"`

	// spec says what is changed, why, and who approved it.
	// +required
	Spec RemediationSpec `json:"spec,omitzero"`

	// status says how far the change is, and what it won.
	// +optional
	Status RemediationStatus `json:"status,omitempty,omitzero"`
}

// RemediationSpec is a proposed change.
//
// +kubebuilder:validation:XValidation:rule="self.policy == oldSelf.policy && self.pod == oldSelf.pod && has(self.workload) == has(oldSelf.workload) && (!has(self.workload) || self.workload == oldSelf.workload) && self.change == oldSelf.change && self.prediction == oldSelf.prediction",message="only the approval of a Remediation can be changed: what it does, and what it is predicted to win, stay as they were proposed"
type RemediationSpec struct {
	// policy is the name of the RemediationPolicy that it is made for.
	// +required
	// +kubebuilder:validation:MinLength=1
	// +kubebuilder:validation:MaxLength=253
	Policy string `json:"policy,omitempty"`

	// pod is the pod that is changed.
	// +required
	Pod RemediationPod `json:"pod,omitzero"`

	// workload is what the pod belongs to, such as its Deployment. Budgets and the
	// cool-down count by it. Left out for a pod that nothing owns.
	// +optional
	Workload *WorkloadReference `json:"workload,omitempty"`

	// change is what is done to the pod.
	// +required
	Change RemediationChange `json:"change,omitzero"`

	// prediction is what the change is expected to win.
	// +required
	Prediction RemediationPrediction `json:"prediction,omitzero"`

	// approval is the decision of a person, where the mode of the policy is Approve.
	// +optional
	Approval *RemediationApproval `json:"approval,omitempty"`
}

// RemediationPod is the pod that is changed.
type RemediationPod struct {
	// name is its name.
	// +required
	// +kubebuilder:validation:MinLength=1
	// +kubebuilder:validation:MaxLength=253
	Name string `json:"name,omitempty"`

	// uid is its UID: a pod that was made anew under the same name is another one.
	// +required
	// +kubebuilder:validation:MinLength=1
	// +kubebuilder:validation:MaxLength=128
	UID string `json:"uid,omitempty"`

	// node is the node that it runs on.
	// +required
	// +kubebuilder:validation:MinLength=1
	// +kubebuilder:validation:MaxLength=253
	Node string `json:"node,omitempty"`
}

// WorkloadReference names a workload of the namespace.
type WorkloadReference struct {
	// apiVersion is that of the workload, such as apps/v1.
	// +required
	// +kubebuilder:validation:MinLength=1
	// +kubebuilder:validation:MaxLength=317
	APIVersion string `json:"apiVersion,omitempty"`

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

// RemediationChange is what is done to a pod. A change of a request or limit is made in
// place, and is undone where it does not win; a move evicts the pod, and cannot be undone.
//
// +kubebuilder:validation:XValidation:rule="(self.action == 'Move') == !has(self.container)",fieldPath=".container",message="RaiseRequest, LowerRequest and RaiseLimit change one container: name it; Move changes none"
// +kubebuilder:validation:XValidation:rule="!(self.action in ['RaiseRequest', 'LowerRequest']) || has(self.request)",fieldPath=".request",reason=FieldValueRequired,message="RaiseRequest and LowerRequest change the CPU request: say from what to what"
// +kubebuilder:validation:XValidation:rule="self.action != 'RaiseLimit' || has(self.limit)",fieldPath=".limit",reason=FieldValueRequired,message="RaiseLimit changes the CPU limit: say from what to what"
// +kubebuilder:validation:XValidation:rule="self.action == 'Move' || !has(self.request) || !string(self.request.from).matches('^[-+]?([0-9]+[.]?[0-9]*|[.][0-9]+)[numkM]?$') || !string(self.request.to).matches('^[-+]?([0-9]+[.]?[0-9]*|[.][0-9]+)[numkM]?$') || quantity(string(self.request.to)).compareTo(quantity(string(self.request.from))) * (self.action == 'LowerRequest' ? -1 : 1) > 0",fieldPath=".request",message="RaiseRequest and RaiseLimit go from a smaller amount to a larger one, and LowerRequest from a larger one to a smaller one"
// +kubebuilder:validation:XValidation:rule="self.action == 'Move' || !has(self.limit) || !string(self.limit.from).matches('^[-+]?([0-9]+[.]?[0-9]*|[.][0-9]+)[numkM]?$') || !string(self.limit.to).matches('^[-+]?([0-9]+[.]?[0-9]*|[.][0-9]+)[numkM]?$') || quantity(string(self.limit.to)).compareTo(quantity(string(self.limit.from))) * (self.action == 'LowerRequest' ? -1 : 1) > 0",fieldPath=".limit",message="RaiseRequest and RaiseLimit go from a smaller amount to a larger one, and LowerRequest from a larger one to a smaller one"
// +kubebuilder:validation:XValidation:rule="self.action != 'Move' || !has(self.request) && !has(self.limit)",fieldPath=".request",message="a pod that is moved keeps its requests and limits"
// +kubebuilder:validation:XValidation:rule="self.action == 'Move' || !has(self.toNode)",fieldPath=".toNode",message="only Move has a node to go to"
type RemediationChange struct {
	// action is RaiseRequest, LowerRequest, RaiseLimit or Move.
	// +required
	// +kubebuilder:validation:Enum=RaiseRequest;LowerRequest;RaiseLimit;Move
	Action string `json:"action,omitempty"`

	// container is the container whose CPU request or limit changes.
	// +optional
	// +kubebuilder:validation:MinLength=1
	// +kubebuilder:validation:MaxLength=63
	Container string `json:"container,omitempty"`

	// request is how its CPU request changes. Left out, it stays.
	// +optional
	Request *CPUChange `json:"request,omitempty"`

	// limit is how its CPU limit changes. Left out, it stays.
	// +optional
	Limit *CPUChange `json:"limit,omitempty"`

	// toNode is the node that a moved pod is predicted to go to. Left out, the change
	// wins wherever it goes.
	// +optional
	// +kubebuilder:validation:MinLength=1
	// +kubebuilder:validation:MaxLength=253
	ToNode string `json:"toNode,omitempty"`
}

// CPUChange is from what to what an amount of CPU changes. Kubernetes lets a pod neither
// lose a request or limit nor, with its class of service, be given one.
type CPUChange struct {
	// from is the amount before, in CPUs, above 0, such as 300m.
	// +required
	// +kubebuilder:validation:Schemaless
	// +kubebuilder:validation:XIntOrString
	// +kubebuilder:validation:MaxLength=20
	// +kubebuilder:validation:XValidation:rule="string(self).matches('^[-+]?([0-9]+[.]?[0-9]*|[.][0-9]+)[numkM]?$') && quantity(string(self)).compareTo(quantity('0')) > 0 && quantity(string(self)).compareTo(quantity('4096')) <= 0",message="an amount of CPU is above 0 and at most 4096: write a number of CPUs such as 300m"
	From *resource.Quantity `json:"from,omitempty"`

	// to is the amount afterwards, in CPUs, above 0, such as "1".
	// +required
	// +kubebuilder:validation:Schemaless
	// +kubebuilder:validation:XIntOrString
	// +kubebuilder:validation:MaxLength=20
	// +kubebuilder:validation:XValidation:rule="string(self).matches('^[-+]?([0-9]+[.]?[0-9]*|[.][0-9]+)[numkM]?$') && quantity(string(self)).compareTo(quantity('0')) > 0 && quantity(string(self)).compareTo(quantity('4096')) <= 0",message="an amount of CPU is above 0 and at most 4096: write a number of CPUs such as 300m"
	To *resource.Quantity `json:"to,omitempty"`
}

// RemediationPrediction is what a change is expected to win: by how much the dilations of
// all pods together become less, 1 for a pod that takes twice as long as alone before and
// as long as alone afterwards.
//
// +kubebuilder:validation:XValidation:rule="!has(self.low) || !has(self.high) || !string(self.low).matches('^[-+]?([0-9]+[.]?[0-9]*|[.][0-9]+)[numkM]?$') || !string(self.high).matches('^[-+]?([0-9]+[.]?[0-9]*|[.][0-9]+)[numkM]?$') || quantity(string(self.low)).compareTo(quantity(string(self.high))) <= 0",fieldPath=".low",message="low is above high: an interval begins with its lower end"
type RemediationPrediction struct {
	// win is the expected value.
	// +required
	// +kubebuilder:validation:Schemaless
	// +kubebuilder:validation:XIntOrString
	// +kubebuilder:validation:MaxLength=20
	// +kubebuilder:validation:XValidation:rule="string(self).matches('^[-+]?([0-9]+[.]?[0-9]*|[.][0-9]+)[numkM]?$')",message="a win is a number in units of dilation, such as \"0.84\""
	Win *resource.Quantity `json:"win,omitempty"`

	// low is the lower end of the interval that it lies in with a probability of 95 %.
	// +required
	// +kubebuilder:validation:Schemaless
	// +kubebuilder:validation:XIntOrString
	// +kubebuilder:validation:MaxLength=20
	// +kubebuilder:validation:XValidation:rule="string(self).matches('^[-+]?([0-9]+[.]?[0-9]*|[.][0-9]+)[numkM]?$')",message="a win is a number in units of dilation, such as \"0.84\""
	Low *resource.Quantity `json:"low,omitempty"`

	// high is the upper end.
	// +required
	// +kubebuilder:validation:Schemaless
	// +kubebuilder:validation:XIntOrString
	// +kubebuilder:validation:MaxLength=20
	// +kubebuilder:validation:XValidation:rule="string(self).matches('^[-+]?([0-9]+[.]?[0-9]*|[.][0-9]+)[numkM]?$')",message="a win is a number in units of dilation, such as \"0.84\""
	High *resource.Quantity `json:"high,omitempty"`

	// pods are those whose dilation changes most, with the pod itself.
	// +optional
	// +listType=map
	// +listMapKey=namespace
	// +listMapKey=name
	// +kubebuilder:validation:MaxItems=16
	Pods []PredictedPod `json:"pods,omitempty"`
}

// PredictedPod is how the dilation of a pod changes.
type PredictedPod struct {
	// namespace is that of the pod.
	// +required
	// +kubebuilder:validation:MinLength=1
	// +kubebuilder:validation:MaxLength=63
	Namespace string `json:"namespace,omitempty"`

	// name is its name.
	// +required
	// +kubebuilder:validation:MinLength=1
	// +kubebuilder:validation:MaxLength=253
	Name string `json:"name,omitempty"`

	// now is its dilation when the change was proposed, at least 1.
	// +required
	// +kubebuilder:validation:Schemaless
	// +kubebuilder:validation:XIntOrString
	// +kubebuilder:validation:MaxLength=20
	// +kubebuilder:validation:XValidation:rule="string(self).matches('^[-+]?([0-9]+[.]?[0-9]*|[.][0-9]+)[numkM]?$') && quantity(string(self)).compareTo(quantity('1')) >= 0",message="a dilation is how many times as long a pod takes as alone: write a number that is at least 1, such as \"1.5\""
	Now *resource.Quantity `json:"now,omitempty"`

	// then is its dilation after the change, at least 1.
	// +required
	// +kubebuilder:validation:Schemaless
	// +kubebuilder:validation:XIntOrString
	// +kubebuilder:validation:MaxLength=20
	// +kubebuilder:validation:XValidation:rule="string(self).matches('^[-+]?([0-9]+[.]?[0-9]*|[.][0-9]+)[numkM]?$') && quantity(string(self)).compareTo(quantity('1')) >= 0",message="a dilation is how many times as long a pod takes as alone: write a number that is at least 1, such as \"1.5\""
	Then *resource.Quantity `json:"then,omitempty"`
}

// RemediationApproval is the decision of a person. The admission policy
// remediation.loadline.dev has it signed by the user who writes it.
type RemediationApproval struct {
	// decision is Approved or Rejected. Once the change has been started it has no effect.
	// +required
	// +kubebuilder:validation:Enum=Approved;Rejected
	Decision string `json:"decision,omitempty"`

	// by is the name of the user who decided, as the API server knows it.
	// +required
	// +kubebuilder:validation:MinLength=1
	// +kubebuilder:validation:MaxLength=512
	By string `json:"by,omitempty"`
}

// Values of the enumerations of Remediation.
const (
	// ActionRaiseRequest raises the CPU request of a container.
	ActionRaiseRequest = "RaiseRequest"
	// ActionLowerRequest lowers it.
	ActionLowerRequest = "LowerRequest"
	// ActionRaiseLimit raises the CPU limit of a container, or has it raised.
	ActionRaiseLimit = "RaiseLimit"
	// ActionMove has a pod made anew on another node.
	ActionMove = "Move"

	// DecisionApproved lets a change be started.
	DecisionApproved = "Approved"
	// DecisionRejected drops it.
	DecisionRejected = "Rejected"
)

// RemediationStatus is how far a change is, and what it won.
type RemediationStatus struct {
	// conditions are Complete (nothing more is done, with the outcome as its reason; until
	// then the reason is the step under way), Approved, Applied (the pod is changed),
	// Proven (the change has won) and RolledBack (it was undone).
	// +optional
	// +listType=map
	// +listMapKey=type
	// +kubebuilder:validation:MaxItems=8
	Conditions []metav1.Condition `json:"conditions,omitempty"`

	// observedGeneration is the generation of the spec that the status is of.
	// +optional
	// +kubebuilder:validation:Minimum=0
	ObservedGeneration *int64 `json:"observedGeneration,omitempty"`

	// change is the change in words.
	// +optional
	// +kubebuilder:validation:MaxLength=512
	Change string `json:"change,omitempty"`

	// startTime is when it was decided that the change is made. Everything that is done to
	// the pod is done later.
	// +optional
	StartTime *metav1.Time `json:"startTime,omitempty"`

	// controller is the UID of what makes the pod of a move anew.
	// +optional
	// +kubebuilder:validation:MaxLength=128
	Controller string `json:"controller,omitempty"`

	// deadline is when the step under way is given up.
	// +optional
	Deadline *metav1.Time `json:"deadline,omitempty"`

	// appliedTime is when the pod was seen to be changed, and from when on it is observed.
	// +optional
	AppliedTime *metav1.Time `json:"appliedTime,omitempty"`

	// completionTime is when nothing more was to be done.
	// +optional
	CompletionTime *metav1.Time `json:"completionTime,omitempty"`

	// replacement is the pod that was made in place of one that was moved.
	// +optional
	Replacement *RemediationPod `json:"replacement,omitempty"`

	// predicted is what the change is predicted to win with its interval, in words, such as
	// 0.80 (0.50 to 1.10).
	// +optional
	// +kubebuilder:validation:MaxLength=128
	Predicted string `json:"predicted,omitempty"`

	// win is what the change has won with its interval, in words, such as 0.84 (0.60 to 1.00).
	// +optional
	// +kubebuilder:validation:MaxLength=128
	Win string `json:"win,omitempty"`

	// realized is what the change has won, compared with what would have been without it
	// at the load of afterwards.
	// +optional
	Realized *RealizedWin `json:"realized,omitempty"`
}

// RealizedWin is what a change has won.
type RealizedWin struct {
	// win is by how much the dilations of all pods together are less.
	// +required
	Win *resource.Quantity `json:"win,omitempty"`

	// low is the lower end of the interval that it lies in with a probability of 95 %.
	// +required
	Low *resource.Quantity `json:"low,omitempty"`

	// high is the upper end.
	// +required
	High *resource.Quantity `json:"high,omitempty"`

	// ratio is win as a fraction of what was predicted. Left out where nothing was.
	// +optional
	Ratio *resource.Quantity `json:"ratio,omitempty"`
}

// RemediationList is a list of Remediations.
//
// +kubebuilder:object:root=true
type RemediationList struct {
	metav1.TypeMeta `json:",inline"`
	// metadata is the standard list metadata.
	// +optional
	metav1.ListMeta `json:"metadata,omitempty"`

	// items are the Remediations.
	Items []Remediation `json:"items"`
}
