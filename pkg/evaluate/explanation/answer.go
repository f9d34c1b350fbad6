package explanation

import (
	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/resource"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"loadline.dev/loadline/apis/config"
	configv1alpha1 "loadline.dev/loadline/apis/config/v1alpha1"
	"loadline.dev/loadline/apis/loadline/v1alpha1"
	"loadline.dev/loadline/pkg/cgroup"
	"loadline.dev/loadline/pkg/node"
	"loadline.dev/loadline/pkg/profile"
)

// Input holds the objects that explain the place of a pod.
type Input struct {
	Pod *corev1.Pod
	// Nodes are that of the pod, or all, and Pods those that are on these nodes.
	Nodes []corev1.Node
	Pods  []corev1.Pod
	// Ranked asks for a ranking of the nodes.
	Ranked bool
	// Feasibility says where the pod may go. It is needed for a ranking, and for a simulation.
	Feasibility node.Feasibility

	// Workloads and Classes are the profiles that pods and nodes may follow.
	Workloads []v1alpha1.WorkloadProfile
	Classes   []v1alpha1.NodeProfile
	// Requests are the rules for pods without a profile, and Rules says where these
	// are from.
	Requests []config.RequestRule
	Rules    string
	// Weights say how the nodes make weights of CPU requests.
	Weights cgroup.Options
	// WhatIf asks what another request or limit would do, nil for nothing.
	WhatIf *Change
	// Schedulers are the names of those that place pods by dilation; nil if that is
	// not known.
	Schedulers []string
	// GuardMode is the mode of the guard of the pod's scheduler in namespaces that set none, empty for off, and Namespaces are
	// those that may say.
	GuardMode  configv1alpha1.GuardMode
	Namespaces []corev1.Namespace
	// Limits bound what profiles may ask of that scheduler.
	Limits config.Limits
	// Hold is when that scheduler lets pods wait.
	Hold Hold
}

// Hold is when a scheduler lets pods wait for nodes that are less contended. The zero value is never.
type Hold struct {
	// MaxDilation is how much a pod may be dilated on a node that is taken at once, 0 for as much as may be.
	MaxDilation float64 `json:"maxDilation"`
	// MaxWaitSeconds is after how long the best node is taken all the same, 0 for never.
	MaxWaitSeconds float64 `json:"maxWaitSeconds"`
}

// Answer says how a pod fares where it is, and what other nodes would cost.
type Answer struct {
	Pod string `json:"pod"`
	// Simulation is absent for a pod that is there. Else the answer says how the pod would run on Node.
	Simulation *Simulation `json:"simulation,omitempty"`
	// Node is absent for a pod that waits for one, or that fits no node.
	Node        string `json:"node,omitempty"`
	NodeProfile string `json:"nodeProfile,omitempty"`
	// SchedulerName is the scheduler of the pod, and PlacedTime when it placed it.
	SchedulerName string       `json:"schedulerName"`
	PlacedTime    *metav1.Time `json:"placedTime,omitempty"`
	// Unschedulable is the scheduler's reason for finding no node for a pod that waits for one: which bound it waits for, or that
	// it is held. It is absent where the scheduler says nothing.
	Unschedulable string `json:"unschedulable,omitempty"`
	// ByDilation reports whether that scheduler places by dilation, if that is known.
	ByDilation *bool `json:"byDilation,omitempty"`

	// Vector says where the pod's loading vector is from, and Rules where the rules
	// of the scheduler are, such as those for pods without a profile.
	Vector VectorSource `json:"vector"`
	Rules  string       `json:"rules"`
	// GuardMode is the mode of the scheduler's guard in namespaces that set none, by the same rules.
	GuardMode configv1alpha1.GuardMode `json:"guardMode"`
	// Hold is when the scheduler lets the pod wait, absent for never.
	Hold *Hold `json:"hold,omitempty"`
	// Importance is how many times the pod's waiting counts in costs, absent if once. ProfileImportance is that of its profile
	// where the scheduler lets less count; then both are there.
	Importance        *float64 `json:"importance,omitempty"`
	ProfileImportance *float64 `json:"profileImportance,omitempty"`

	// Dilation is how many times slower than alone the pod runs, by Solver, and
	// DilationError the half width of its 95 % confidence interval: what follows from
	// the intervals of the vectors. It is absent where they have none.
	Dilation      *float64 `json:"dilation,omitempty"`
	DilationError *float64 `json:"dilationError,omitempty"`
	Solver        string   `json:"solver,omitempty"`
	DilationLimit
	NeutralSeconds *float64 `json:"neutralSeconds,omitempty"`
	// Service is how much slower it serves than when quiet, absent where no work counter says. Dilation is without it.
	Service *Service `json:"service,omitempty"`
	// Request and Limit are the CPU that the pod requests and may use, in effect; no limit is absent. EqualDilation is what the
	// dilation would be if all pods shared the CPU alike, without limits.
	Request       *resource.Quantity `json:"request,omitempty"`
	Limit         *resource.Quantity `json:"limit,omitempty"`
	QoSClass      corev1.PodQOSClass `json:"qosClass,omitempty"`
	EqualDilation *float64           `json:"equalDilation,omitempty"`
	// Throttling is by how much its own limit makes the neutral time longer, which is then the longer one; absent if it does
	// not. MaxThrottling is how much that may be at most: see [node.MaxThrottling]. ExclusiveCores is how many cores the pod
	// has for itself.
	Throttling     *float64 `json:"throttling,omitempty"`
	MaxThrottling  *float64 `json:"maxThrottling,omitempty"`
	ExclusiveCores int      `json:"exclusiveCores,omitempty"`
	// Weight says how a neighbour with more weight affects the pod, absent if it does not.
	Weight *Weight `json:"weight,omitempty"`
	WhatIf *WhatIf `json:"whatIf,omitempty"`
	// Devices are those of the node that the pod uses, where others may use them, too.
	Devices []UsedDevice `json:"devices,omitempty"`
	// IgnoredAnnotations says which pods of the nodes have an annotation of devices that is wrong, and which namespaces a label
	// of the guard.
	IgnoredAnnotations []string `json:"ignoredAnnotations,omitempty"`
	// Caveats are the fields of the manifests of the pod and of its neighbours that are not taken into account.
	Caveats []node.Caveat `json:"caveats,omitempty"`
	// Resources are those at which the pod waits or makes others wait, those first
	// that make most of the dilation.
	Resources []Resource `json:"resources,omitempty"`
	// Neighbours are the other pods of the node, those first that the pod slows most.
	Neighbours []Neighbour `json:"neighbours,omitempty"`

	// Nodes are ranked by cost; after those that take the pod come those that it would wait to be less contended, then those that
	// the guard refuses, and last those that do not fit.
	Nodes []RankedNode `json:"nodes,omitempty"`
	// MakesRoom are what would make room for the pod, each of them alone, where no node takes it and the guard refuses some.
	MakesRoom []string `json:"makesRoom,omitempty"`
}

// Service is how much slower a pod serves a unit of its work, by the work counter of its profile.
type Service struct {
	// Unit is what is counted, such as request.
	Unit string `json:"unit"`
	// Inflation is how many times as many CPU seconds a unit takes as when quiet.
	Inflation float64 `json:"inflation"`
	// Beside are the workloads that this goes with, if any, and Adds is what they add to it.
	Beside []string `json:"beside,omitempty"`
	Adds   float64  `json:"adds,omitempty"`
}

// VectorSource says where a loading vector is from.
type VectorSource struct {
	Source profile.Source `json:"source"`
	// Profile is the WorkloadProfile that the pod follows, if any: one that is not
	// measured yet leaves the pod to its requests.
	Profile string `json:"profile,omitempty"`
	// Of a measurement: on nodes of which class, on which, when, and the largest half
	// width of the 95 % confidence intervals of its loadings.
	NodeProfile string       `json:"nodeProfile,omitempty"`
	Node        string       `json:"node,omitempty"`
	Time        *metav1.Time `json:"time,omitempty"`
	Error       *float64     `json:"error,omitempty"`
	// Ignored are resources of the profile that do not count: see the condition Ready
	// of the profile.
	Ignored []string `json:"ignored,omitempty"`
}

// Resource describes a pod at a resource of its node.
type Resource struct {
	Name string `json:"name"`
	// Device is the device whose resource it is, such as gpu-0, absent if it is the node's.
	Device string `json:"device,omitempty"`
	// Servers is how many servers the resource has, or Domains how many there are of it if it is shared without a queue:
	// pods do not wait there, but compute for longer.
	Servers  int     `json:"servers,omitempty"`
	Domains  int     `json:"domains,omitempty"`
	Loading  float64 `json:"loading"`
	Pressure float64 `json:"pressure"`
	// Sensitivity is absent where it is the loading.
	Sensitivity float64 `json:"sensitivity,omitzero"`
	Threads     int     `json:"threads"`
	// Waits is what waiting for others, or computing for longer, adds to the dilation of the pod, and Because due to
	// which pods.
	Waits   float64 `json:"waits"`
	Because []Part  `json:"because,omitempty"`
	// Inflicts is how much the pod adds to the dilation of others, and On says whose.
	Inflicts float64 `json:"inflicts"`
	On       []Part  `json:"on,omitempty"`
}

// UsedDevice is a device that a pod uses.
type UsedDevice struct {
	Name string `json:"name"`
	// With are the other pods that use it. Assumed says that no annotation says so of the pod, or of one of them: pods are
	// then assumed to be where the fewest were when they were created.
	With    []string `json:"with,omitempty"`
	Assumed bool     `json:"assumed,omitempty"`
}

// Part is the part of a dilation that has to do with a pod.
type Part struct {
	Pod      string  `json:"pod"`
	Dilation float64 `json:"dilation"`
}

// Neighbour is another pod of the node.
type Neighbour struct {
	Pod     string `json:"pod"`
	Profile string `json:"profile,omitempty"`
	// Assumed says that its vector is assumed from its requests.
	Assumed  bool               `json:"assumed,omitempty"`
	Request  *resource.Quantity `json:"request,omitempty"`
	Limit    *resource.Quantity `json:"limit,omitempty"`
	QoSClass corev1.PodQOSClass `json:"qosClass,omitempty"`
	// Dilation is how many times slower than alone it runs, and Without how many if
	// the explained pod were gone.
	Dilation      float64  `json:"dilation"`
	DilationError *float64 `json:"dilationError,omitempty"`
	Without       float64  `json:"without"`
	DilationLimit
}

// DilationLimit is how much a pod may be dilated where it is; of one that waits for a node, where it can use no more processors
// than its CPU request covers.
type DilationLimit struct {
	// MaxDilation is absent where the pod's profile promises nothing.
	MaxDilation *float64 `json:"maxDilation,omitempty"`
	// MaxDilationReason says why MaxDilation is not sla.maxDilation of the profile, and is absent where it is.
	MaxDilationReason string `json:"maxDilationReason,omitempty"`
}
