package v1alpha1

import (
	"k8s.io/apimachinery/pkg/api/resource"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
)

// Observation has a loading vector follow what gauges observe of the pods.
type Observation struct {
	// mode says what is done with what status.observations recommends: advise shows
	// it, and the scheduler places the pods by their requests; apply has the scheduler
	// use it. Defaults to advise.
	// +optional
	// +default="advise"
	// +kubebuilder:validation:Enum=advise;apply
	Mode string `json:"mode,omitempty"`
}

// ObservedProfilesLabel on a namespace says whether its workloads without a
// WorkloadProfile are given one that follows what gauges observe: off (no), advise (one
// of mode advise) or apply (one of mode apply). The manager has a default for
// namespaces without the label.
const ObservedProfilesLabel = "loadline.dev/observed-profiles"

// ModeOff is the value of [ObservedProfilesLabel] that has no profiles made; the others
// are [ModeAdvise] and [ModeApply].
const ModeOff = "off"

// ManagedByLabel marks with the value [ManagedByManager] the WorkloadProfiles that the
// manager made, and changes or deletes as the label of their namespace says. One whose
// label was removed, or whose spec has more than a selector and an observation, belongs
// to its namespace's users.
const ManagedByLabel = "app.kubernetes.io/managed-by"

// ManagedByManager is the value of [ManagedByLabel] on what the manager made.
const ManagedByManager = "loadline-manager"

// WorkloadObservation is what gauges observed of the pods that follow a profile, on
// the nodes of one class, over the fifteen minutes before its time. It is shown
// and compared with the vector in use, which takes its burstMillis unless the
// profile declares that.
type WorkloadObservation struct {
	// nodeProfile is the class, by the name of its NodeProfile, or "(none)" for
	// nodes that follow none.
	// +required
	// +kubebuilder:validation:MinLength=1
	// +kubebuilder:validation:MaxLength=253
	NodeProfile string `json:"nodeProfile,omitempty"`

	// cpuLoading is the fraction of its time that a thread of the pods ran, from 0 to
	// 1, without the time that it waited for a processor, nor, as far as gauges tell,
	// at a disk for operations of others: the mean over pods and time.
	// +required
	CPULoading *resource.Quantity `json:"cpuLoading,omitempty"`

	// cpuLoadingSpread is the standard deviation of that between pods and between the
	// half minutes in which they were observed, from 0.
	// +required
	CPULoadingSpread *resource.Quantity `json:"cpuLoadingSpread,omitempty"`

	// diskLoading is the fraction of the same time for which disks served a thread of
	// the pods, from 0 to what cpuLoading leaves of 1: the mean over pods and over the
	// time in which gauges could tell. Waiting at a disk, for other operations, for a
	// limit of the pod or for want of memory, is no part of it. It is absent
	// where gauges could not tell in five of the fifteen minutes: they must report
	// disks, as they do from version 0.4 on, and have seen them quiet.
	// +optional
	DiskLoading *resource.Quantity `json:"diskLoading,omitempty"`

	// diskLoadingSpread is the standard deviation of that, as of cpuLoading, from 0.
	// +optional
	DiskLoadingSpread *resource.Quantity `json:"diskLoadingSpread,omitempty"`

	// threads is how many threads of a pod are active at once, at least 1: the mean over
	// pods and time.
	// +required
	Threads *resource.Quantity `json:"threads,omitempty"`

	// burstMillis is for how long a thread of the pods computes at a time before it
	// waits for anything but a processor, in milliseconds, above 0: the mean over the
	// time that threads ran. It follows what is observed in steps, of a quarter at
	// least and of a factor of two at most. It is absent where kernels do not count
	// that, and from gauges before version 0.4.
	// +optional
	BurstMillis *resource.Quantity `json:"burstMillis,omitempty"`

	// pods is how many pods were observed.
	// +required
	// +kubebuilder:validation:Minimum=0
	Pods *int32 `json:"pods,omitempty"`

	// observedSeconds is for how long they were observed, in all, in seconds.
	// +required
	// +kubebuilder:validation:Minimum=0
	ObservedSeconds *int64 `json:"observedSeconds,omitempty"`

	// time is when the last observation ended.
	// +required
	Time *metav1.Time `json:"time,omitempty"`

	// recommended is the vector that a profile with spec.observation has on nodes of
	// the class. It follows what is observed in steps, the larger the more was
	// observed.
	// +optional
	Recommended *RecommendedLoading `json:"recommended,omitempty"`
}

// RecommendedLoading is a vector that follows what is observed.
type RecommendedLoading struct {
	// cpuLoading is the fraction of its neutral time that each thread of a pod spends
	// at the cpu, from 0 to 1.
	// +required
	CPULoading *resource.Quantity `json:"cpuLoading,omitempty"`

	// diskLoading is the fraction of its neutral time for which a disk serves each
	// thread of a pod, from 0 to what cpuLoading leaves of 1. It is absent, and pods
	// have no demand there, until that was observed, and on classes of nodes whose
	// NodeProfile does not say how many requests their disk serves at once.
	// +optional
	DiskLoading *resource.Quantity `json:"diskLoading,omitempty"`

	// threads is how many threads of a pod use the cpu, and the disk, at once.
	// +required
	// +kubebuilder:validation:Minimum=1
	// +kubebuilder:validation:Maximum=1024
	Threads *int32 `json:"threads,omitempty"`
}

// PredictionAccuracy is how well the model predicts the dilations of the pods that
// follow a profile, over the hour before its time: given the loadings that were
// observed of all pods on their nodes. On classes of nodes whose NodeProfile says how
// many requests their disk serves at once the model has the disk; elsewhere pods wait
// there as long as they did.
type PredictionAccuracy struct {
	// meanRelativeError is the mean of |predicted/observed − 1| over the predictions,
	// from 0.
	// +required
	MeanRelativeError *resource.Quantity `json:"meanRelativeError,omitempty"`

	// predictions is how many there are.
	// +required
	// +kubebuilder:validation:Minimum=0
	Predictions *int32 `json:"predictions,omitempty"`

	// time is when the last of them was made.
	// +required
	Time *metav1.Time `json:"time,omitempty"`
}
