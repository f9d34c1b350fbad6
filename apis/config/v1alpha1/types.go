package v1alpha1

import (
	"encoding/json"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/resource"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/schema"
)

// GroupVersion is the group and version of the arguments.
var GroupVersion = schema.GroupVersion{Group: "config.loadline.dev", Version: "v1alpha1"}

// AddToScheme adds the types of this package to a scheme.
func AddToScheme(scheme *runtime.Scheme) error {
	scheme.AddKnownTypes(GroupVersion, &DilationArgs{}, &SLAOrderArgs{})
	return nil
}

// DilationArgs are the arguments of the Dilation plugin.
//
// +kubebuilder:object:root=true
type DilationArgs struct {
	metav1.TypeMeta `json:",inline"`

	// requests say how a pod that no WorkloadProfile matches gets its loading
	// vector from its resource requests. Defaults to one rule for cpu: a pod
	// uses all the cpu that it requests, and 100m where it requests less.
	Requests []RequestRule `json:"requests,omitempty"`

	// syncTimeoutSeconds is how long the plugin waits at start-up for the
	// profiles to be read. After that scheduling begins without them, and they
	// count from when they arrive. Defaults to 30.
	SyncTimeoutSeconds *int32 `json:"syncTimeoutSeconds,omitempty"`

	// objective says which nodes score best. Defaults to Total.
	Objective Objective `json:"objective,omitempty"`

	// packing says how much pods may be dilated where the objective is Packing.
	Packing *Packing `json:"packing,omitempty"`

	// guard says what happens where a pod would be dilated more than sla.maxDilation
	// of its WorkloadProfile allows.
	Guard *Guard `json:"guard,omitempty"`

	// limits are what the operator of the cluster lets WorkloadProfiles ask for at most:
	// who may write a profile in some namespace has no more.
	Limits *Limits `json:"limits,omitempty"`

	// hold lets pods wait while they would be dilated too much on every node. Without
	// it none waits for that.
	Hold *Hold `json:"hold,omitempty"`

	// eventsPerSecond is how many pods per second get an event with the dilation that
	// is predicted when they are placed; 0 for none. Defaults to 5.
	EventsPerSecond *int32 `json:"eventsPerSecond,omitempty"`
}

// Objective is by what nodes are scored.
type Objective string

const (
	// ObjectiveTotal prefers the node where the pod and its neighbours together are
	// dilated least.
	ObjectiveTotal Objective = "Total"
	// ObjectiveOwn prefers the node where the pod itself is dilated least.
	ObjectiveOwn Objective = "Own"
	// ObjectiveSLARisk prefers the node where the pod that is nearest to its
	// sla.maxDilation is furthest from it, and among equals as Total does.
	ObjectiveSLARisk Objective = "SLARisk"
	// ObjectivePacking prefers the fullest node on which no pod is dilated more than
	// packing.maxDilation, and where there is none as Total does: as few nodes as
	// possible are used.
	ObjectivePacking Objective = "Packing"
)

// Packing are the arguments of the objective Packing.
type Packing struct {
	// maxDilation is how many times longer than alone pods may take on a node that is
	// filled, more than 1. Defaults to 1.2.
	MaxDilation *resource.Quantity `json:"maxDilation,omitempty"`
}

// Guard says what happens where pods would be dilated more than they may be.
type Guard struct {
	// mode holds for the bounds of pods in namespaces without the label
	// loadline.dev/guard, which is off, warn or enforce. Defaults to Off.
	Mode GuardMode `json:"mode,omitempty"`
}

// Limits bound what WorkloadProfiles ask for. What goes beyond a limit counts as the limit.
type Limits struct {
	// minMaxDilation is the lowest sla.maxDilation that counts, more than 1: a lower one
	// counts as this. Defaults to 1.05.
	MinMaxDilation *resource.Quantity `json:"minMaxDilation,omitempty"`

	// maxImportance is the largest importance that counts, from 1 to 100: a larger one
	// counts as this. Defaults to 10.
	MaxImportance *resource.Quantity `json:"maxImportance,omitempty"`
}

// GuardMode is what happens where a pod would be dilated more than it may be.
type GuardMode string

const (
	// GuardOff lets bounds be exceeded.
	GuardOff GuardMode = "Off"
	// GuardWarn lets them be exceeded, and says so in an event and a metric.
	GuardWarn GuardMode = "Warn"
	// GuardEnforce refuses nodes where they would be exceeded.
	GuardEnforce GuardMode = "Enforce"
)

// UnmarshalJSON reads a mode. It takes false for GuardOff: that is what YAML makes of Off without quotes. Of On it makes true,
// which is no mode.
func (m *GuardMode) UnmarshalJSON(data []byte) error {
	switch string(data) {
	case "false":
		*m = GuardOff
	case "true":
		*m = "true"
	default:
		return json.Unmarshal(data, (*string)(m))
	}
	return nil
}

// Hold lets pods wait for a node that is less contended.
type Hold struct {
	// maxDilation is how many times longer than alone a pod may take on a node; where
	// it would take longer on all nodes, it waits. It must be more than 1.
	MaxDilation *resource.Quantity `json:"maxDilation,omitempty"`

	// maxWaitSeconds is how long a pod waits for that, from when it is first held;
	// then the best node is taken. 0 is as long as it takes. Defaults to 300.
	MaxWaitSeconds *int32 `json:"maxWaitSeconds,omitempty"`
}

// RequestRule derives the demand at one resource from one kind of request.
type RequestRule struct {
	// resource is the resource of the loading vector, such as cpu.
	Resource string `json:"resource,omitempty"`

	// request is what pods request, such as cpu or nvidia.com/gpu. Defaults to
	// the resource.
	Request corev1.ResourceName `json:"request,omitempty"`

	// perThread is the amount of the request that makes one thread. Defaults
	// to 1.
	PerThread *resource.Quantity `json:"perThread,omitempty"`

	// utilization is the fraction of its request that a pod is taken to use,
	// more than 0 and at most 1. Defaults to 1.
	Utilization *resource.Quantity `json:"utilization,omitempty"`

	// minimum is the request that a pod is taken to make at least; of cpu no more
	// than its limit. Defaults to 100m for cpu, the amount that kube-scheduler too
	// takes a pod without a request to need, and to 0 otherwise.
	Minimum *resource.Quantity `json:"minimum,omitempty"`
}

// SLAOrderArgs are the arguments of the SLAOrder plugin.
//
// +kubebuilder:object:root=true
type SLAOrderArgs struct {
	metav1.TypeMeta `json:",inline"`

	// discipline is how the classes of pods that wait are ordered: HOL takes
	// pods of the WorkloadProfile with the more demanding SLA first, PDP those of
	// the one that is furthest behind its SLA. Defaults to PDP.
	Discipline string `json:"discipline,omitempty"`

	// maxWaitSeconds is how long a pod waits before it goes before the classes
	// of its priority, at least 1. No pod that is queued twice as long after it
	// goes before it. Defaults to 600.
	MaxWaitSeconds *int32 `json:"maxWaitSeconds,omitempty"`

	// windowSeconds is how far back the frequency reaches with which a class met
	// its SLA, at least 60. Defaults to 3600.
	WindowSeconds *int32 `json:"windowSeconds,omitempty"`

	// syncTimeoutSeconds is how long the plugin waits at start-up for the
	// profiles to be read. After that scheduling begins without them, and they
	// count from when they arrive. Defaults to 30.
	SyncTimeoutSeconds *int32 `json:"syncTimeoutSeconds,omitempty"`
}
