package v1alpha1

import (
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

	// minimum is the request that a pod is taken to make at least. Defaults to
	// 100m for cpu, the amount that kube-scheduler too takes a pod without a
	// request to need, and to 0 otherwise.
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
