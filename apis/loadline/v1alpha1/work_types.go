package v1alpha1

import (
	"k8s.io/apimachinery/pkg/api/resource"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
)

// Work names the counter of the units of work that the pods do, so that CPU seconds
// per unit say how much slower they serve beside some neighbours: caches, memory
// bandwidth and hyper-threads make instructions slower without any waiting.
//
// +kubebuilder:validation:XValidation:rule="has(self.metrics) != has(self.prometheus)",message="say where the counter is: in metrics, which each pod serves at a port, or in prometheus, and not in both"
type Work struct {
	// unit is what is counted, in the singular, such as request, row or frame.
	// +required
	// +kubebuilder:validation:MinLength=1
	// +kubebuilder:validation:MaxLength=32
	// +kubebuilder:validation:XValidation:rule="self.matches('^[a-z]+([ -][a-z]+)*$')",message="a unit is a word in lower-case letters, in the singular, such as request"
	Unit string `json:"unit,omitempty"`

	// metrics reads the counter from the pods, in the text format of Prometheus, by
	// HTTP at the address of each pod. Pods in the network of their node are not read.
	// +optional
	Metrics *WorkMetrics `json:"metrics,omitempty"`

	// prometheus reads the counter from the Prometheus that the manager was given. It
	// asks for series with the labels namespace and pod of the pods that follow the
	// profile, and for no others.
	// +optional
	Prometheus *WorkCounter `json:"prometheus,omitempty"`
}

// WorkCounter names a counter, of which the series of a pod are added up.
type WorkCounter struct {
	// name is that of the counter, such as http_requests_total.
	// +required
	// +kubebuilder:validation:MinLength=1
	// +kubebuilder:validation:MaxLength=128
	// +kubebuilder:validation:XValidation:rule="self.matches('^[a-zA-Z_:][a-zA-Z0-9_:]*$')",message="the name of a counter consists of letters, digits, '_' and ':', and does not start with a digit, such as http_requests_total"
	Name string `json:"name,omitempty"`

	// matchLabels are labels that series must have to be counted. Defaults to none: all
	// series of the name are.
	// +optional
	// +listType=map
	// +listMapKey=name
	// +kubebuilder:validation:MinItems=1
	// +kubebuilder:validation:MaxItems=8
	MatchLabels []WorkLabel `json:"matchLabels,omitempty"`
}

// WorkMetrics is a counter among the metrics that a pod serves.
type WorkMetrics struct {
	// port is the number of the port of the pod.
	// +required
	// +kubebuilder:validation:Minimum=1
	// +kubebuilder:validation:Maximum=65535
	Port *int32 `json:"port,omitempty"`

	// path is that of the metrics. Defaults to /metrics.
	// +optional
	// +default="/metrics"
	// +kubebuilder:validation:MinLength=1
	// +kubebuilder:validation:MaxLength=256
	// +kubebuilder:validation:XValidation:rule="self.matches('^/[a-zA-Z0-9._~/-]*$')",message="a path starts with '/' and consists of letters, digits and the characters . _ ~ / -, such as /metrics"
	Path string `json:"path,omitempty"`

	WorkCounter `json:",inline"`
}

// WorkLabel is a label of a series.
type WorkLabel struct {
	// name is that of the label, other than namespace and pod.
	// +required
	// +kubebuilder:validation:MinLength=1
	// +kubebuilder:validation:MaxLength=128
	// +kubebuilder:validation:XValidation:rule="self.matches('^[a-zA-Z_][a-zA-Z0-9_]*$') && !(self in ['namespace', 'pod', '__name__'])",message="the name of a label consists of letters, digits and '_', and does not start with a digit; namespace and pod are those of the pods already"
	Name string `json:"name,omitempty"`

	// value is that of the label.
	// +required
	// +kubebuilder:validation:MinLength=1
	// +kubebuilder:validation:MaxLength=256
	Value string `json:"value,omitempty"`
}

// WorkObservation is how many CPU seconds a unit of work takes on the nodes of one
// class.
type WorkObservation struct {
	// nodeProfile is the class, by the name of its NodeProfile, or "(none)" for
	// nodes that follow none.
	// +required
	// +kubebuilder:validation:MinLength=1
	// +kubebuilder:validation:MaxLength=253
	NodeProfile string `json:"nodeProfile,omitempty"`

	// quiet is how many CPU seconds a unit takes at the present rate without the
	// neighbours that are seen to make it slower.
	// +required
	Quiet EstimatedQuantity `json:"quiet,omitzero"`

	// overhead is how many CPU seconds a second a pod uses without any work, which is
	// in quiet as well. Absent from observations of version 0.3.
	// +optional
	Overhead *resource.Quantity `json:"overhead,omitempty"`

	// revision is that of the pods that were observed, by the label of their controller.
	// +optional
	// +kubebuilder:validation:MaxLength=63
	Revision string `json:"revision,omitempty"`

	// inflation is how many times as many CPU seconds a unit takes now, in the five
	// minutes before time; absent where nothing is done.
	// +optional
	Inflation *EstimatedQuantity `json:"inflation,omitempty"`

	// unitsPerSecond is how many units a pod does in a second now.
	// +required
	UnitsPerSecond *resource.Quantity `json:"unitsPerSecond,omitempty"`

	// pods is how many pods were observed.
	// +required
	// +kubebuilder:validation:Minimum=0
	Pods *int32 `json:"pods,omitempty"`

	// minutes is how many minutes of observation the numbers are by.
	// +required
	// +kubebuilder:validation:Minimum=0
	Minutes *int32 `json:"minutes,omitempty"`

	// slowest are the pods whose units take longest now.
	// +optional
	// +listType=map
	// +listMapKey=name
	// +kubebuilder:validation:MaxItems=20
	Slowest []WorkPod `json:"slowest,omitempty"`

	// neighbours says what goes with the inflation.
	// +required
	Neighbours WorkNeighbours `json:"neighbours,omitzero"`

	// time is when the last observation ended.
	// +required
	Time *metav1.Time `json:"time,omitempty"`
}

// EstimatedQuantity is an estimate with its confidence interval.
type EstimatedQuantity struct {
	// value is the estimate.
	// +required
	Value *resource.Quantity `json:"value,omitempty"`

	// low is the lower end of the interval, at 95 % unless it is said otherwise.
	// +required
	Low *resource.Quantity `json:"low,omitempty"`

	// high is the upper end.
	// +required
	High *resource.Quantity `json:"high,omitempty"`
}

// WorkPod is a pod with its inflation.
type WorkPod struct {
	// name is that of the pod.
	// +required
	// +kubebuilder:validation:MinLength=1
	// +kubebuilder:validation:MaxLength=253
	Name string `json:"name,omitempty"`

	// inflation is how many times as many CPU seconds its units take as when quiet.
	// +required
	Inflation *resource.Quantity `json:"inflation,omitempty"`
}

// WorkNeighbours is what goes with an inflation.
type WorkNeighbours struct {
	// reason says why neighbours are named, or why none is: Named, NotNow (those that
	// inflated before are away), NoEvidence (none of them goes with it, with 99 %
	// confidence for all that were tested), NotTested (all of them are there all the
	// time, or come with the load of the pods themselves), or TooShort (of the
	// observation).
	// +required
	// +kubebuilder:validation:Enum=Named;NotNow;NoEvidence;NotTested;TooShort
	Reason string `json:"reason,omitempty"`

	// named are those that go with it, all together where they cannot be told apart.
	// +optional
	// +listType=atomic
	// +kubebuilder:validation:MaxItems=8
	Named []WorkNeighbour `json:"named,omitempty"`

	// adds is what they add to the inflation now. Its interval holds with a confidence
	// of 99 % for all neighbours that were tested together.
	// +optional
	Adds *EstimatedQuantity `json:"adds,omitempty"`
}

// WorkNeighbour is a workload with pods on the same nodes.
type WorkNeighbour struct {
	// podUID is the UID of one of its pods, for those who may list it.
	// +required
	// +kubebuilder:validation:MinLength=1
	// +kubebuilder:validation:MaxLength=128
	PodUID string `json:"podUID,omitempty"`

	// workload is what it is, such as Deployment shop/cart, if it is in the namespace of
	// the profile: names of other namespaces are not for all who read this one.
	// +optional
	// +kubebuilder:validation:MinLength=1
	// +kubebuilder:validation:MaxLength=512
	Workload string `json:"workload,omitempty"`
}

// Reasons of WorkNeighbours.
const (
	// NeighboursNamed says that neighbours are named.
	NeighboursNamed = "Named"
	// NeighboursNotNow says that those that inflated before are away.
	NeighboursNotNow = "NotNow"
	// NeighboursNoEvidence says that none goes with it.
	NeighboursNoEvidence = "NoEvidence"
	// NeighboursNotTested says that none came and went by itself.
	NeighboursNotTested = "NotTested"
	// NeighboursTooShort says that the observation is too short.
	NeighboursTooShort = "TooShort"
)

// Condition type and reasons of WorkloadProfiles with a work counter.
const (
	// ConditionWorkObserved is True when status.work is of recent readings.
	ConditionWorkObserved = "WorkObserved"

	// ReasonWorkRead says that the counter is read, and CPU time goes with it.
	ReasonWorkRead = "Read"
	// ReasonWorkTooShort says that it is not read for long enough.
	ReasonWorkTooShort = "TooShort"
	// ReasonWorkUnreadable says that the counter cannot be read of any pod.
	ReasonWorkUnreadable = "Unreadable"
	// ReasonWorkUnrelated says that CPU time does not go with what is counted.
	ReasonWorkUnrelated = "Unrelated"
	// ReasonWorkNoPrometheus says that the manager was given no Prometheus to ask.
	ReasonWorkNoPrometheus = "NoPrometheus"
)
