package findings

import (
	"k8s.io/apimachinery/pkg/api/resource"

	"loadline.dev/loadline/pkg/evaluate/observed"
	"loadline.dev/loadline/pkg/evaluate/plan"
)

// Answer says which pods are slowed down, because of what, and what would help.
type Answer struct {
	// Above is the smallest dilation of a finding.
	Above float64 `json:"above"`
	// Findings are the pods that are slowed down, the worst first.
	Findings []Finding `json:"findings"`
	// Plan is the sequence of changes that the remedies are steps of.
	Plan *plan.Plan `json:"plan"`
	// Pods are all that were observed, by their names; Short is how many of them were observed too shortly to be judged.
	Pods  []Pod `json:"pods"`
	Short int   `json:"short"`
	// Unsure is how many of them have a dilation of at least Above that differs too much between intervals to be a finding.
	Unsure int `json:"unsure,omitempty"`
	// Unseen is how many pods run on nodes of which there is no observation.
	Unseen int `json:"unseen"`
	// Nodes are all nodes, by their names.
	Nodes []NodeSummary `json:"nodes"`

	unseen []unseenPod // of which Unseen is the number
}

// unseenPod is a pod on a node of which there is no observation.
type unseenPod struct{ namespace, node string }

// NodeSummary describes a node.
type NodeSummary struct {
	Name string `json:"name"`
	// Problem says why nothing is, if that is so.
	Problem string `json:"problem,omitempty"`
	// AgeSeconds is how old the observation is.
	AgeSeconds float64 `json:"ageSeconds"`
	// CPUs is how many processors pods may run on; Busy and Stolen are the fractions of their time that they ran anything and that the
	// hypervisor took from them. PodsBusy is the part of Busy that was pods'.
	CPUs int `json:"cpus"`
	// OtherCPUs are other numbers of processors that pods had for less of the time. What is said of the node is of the time with CPUs.
	OtherCPUs []int `json:"otherCPUs,omitempty"`
	// BlockedUnknown means that the kernel of the node does not account how long tasks are blocked, nor by the pressure of pods for how long
	// some task was.
	BlockedUnknown bool `json:"blockedUnknown,omitempty"`
	// BlockedByPressure means that how long tasks are blocked is by the pressure of pods: of tasks that are at the same time it counts one.
	BlockedByPressure bool `json:"blockedByPressure,omitempty"`
	// UnlearnedDisks are those for which a pod that used them was blocked, and of which the gauge has not seen yet what they take when they are quiet:
	// waiting there counts as time alone.
	UnlearnedDisks []string `json:"unlearnedDisks,omitempty"`
	// BusyDisks are those of which it has only seen what they take when they are busy: pods waited there for longer than is said.
	BusyDisks []string `json:"busyDisks,omitempty"`
	// UncountedDisks are those at which something was done while a pod was blocked, and of which the kernel counts the operations of no pod:
	// waiting there counts as time alone.
	UncountedDisks []string `json:"uncountedDisks,omitempty"`

	Busy     float64 `json:"busy"`
	PodsBusy float64 `json:"podsBusy"`
	Stolen   float64 `json:"stolen"`
	// Pods is how many were observed, and Slowed how many of these are findings.
	Pods   int `json:"pods"`
	Slowed int `json:"slowed"`
}

// Pod holds the observations of a pod.
type Pod struct {
	Pod  string `json:"pod"`
	Node string `json:"node"`
	// Workload is the owner of the pod, such as Deployment shop/cart; the pod itself where it stands alone.
	Workload string `json:"workload"`
	// Request and Limit are the CPU that it requests and may use; no limit is absent.
	Request *resource.Quantity `json:"request"`
	Limit   *resource.Quantity `json:"limit,omitempty"`
	// Seconds is for how long the pod was observed.
	Seconds float64 `json:"seconds"`
	// Dilation is how many times longer the pod took than it would have alone and without a limit, and DilationError the half
	// width of its 95 % confidence interval, by how much it differed between intervals.
	Dilation      float64 `json:"dilation"`
	DilationError float64 `json:"dilationError"`
	// Predicted is the dilation that the model of the node has for the pod, by the vectors of all, with what it was observed to wait at
	// disks; absent for pods that do next to nothing, and on nodes of more than 40 pods where none is slowed down.
	Predicted *float64 `json:"predicted,omitempty"`
	// CPULoading and DiskLoading are the fractions of the time alone that a thread of the pod ran and was blocked by block I/O,
	// and Threads how many threads are active at once.
	CPULoading  float64 `json:"cpuLoading"`
	DiskLoading float64 `json:"diskLoading"`
	// Alone is what a profile says of the pod. It is absent where it is not known for how long disks served it: because what they take for an
	// operation when they are quiet is not learned, or because what the pod did there does not explain for how long it was blocked.
	Alone   *Loadings `json:"alone,omitempty"`
	Threads float64   `json:"threads"`
	// BurstSeconds is for how long a thread computes at a time, absent where the gauge does not tell.
	BurstSeconds float64 `json:"burstSeconds,omitempty"`
	// CPUs is how many processors the pod kept busy on average; Waiting, Throttled and Blocked how many of its threads waited
	// for one, were held back by its limit, and were blocked. Blocked is absent where the kernel does not account it, and DiskLoading
	// is 0 there.
	CPUs      float64  `json:"cpus"`
	Waiting   float64  `json:"waiting"`
	Throttled float64  `json:"throttled"`
	Blocked   *float64 `json:"blocked,omitempty"`
	// Unseen is the fraction of CPUs that tasks used which came and went between two readings.
	Unseen float64 `json:"unseen"`
	// Pressure is the fraction of the time that some task waited, by the kernel's pressure stall information, if it has that.
	Pressure *float64 `json:"pressure,omitempty"`
	// Causes are why it is dilated, those that make most of it first, from a dilation of 1.05 on. They add up to Dilation − 1.
	Causes []observed.Cause `json:"causes,omitempty"`
	// PerUnit is how much longer a unit of its work takes, absent where no work counter says.
	PerUnit *PerUnit `json:"perUnit,omitempty"`
	// Short means that it was observed too shortly to be judged.
	Short bool `json:"short,omitempty"`
}

// Loadings are the fractions of its time without any waiting, for other threads of the pod either, for which a thread runs and disks serve it.
type Loadings struct {
	CPU  float64 `json:"cpu"`
	Disk float64 `json:"disk"`
}

// Finding is a pod that is slowed down.
type Finding struct {
	Pod
	// SinceSeconds is for how long it has been, and AtLeast means that it was when the observation began.
	SinceSeconds float64 `json:"sinceSeconds"`
	AtLeast      bool    `json:"atLeast,omitempty"`
	// Resource is where it waits most: cpu or disk.
	Resource string `json:"resource"`
	// Remedy is what would help.
	Remedy Remedy `json:"remedy"`
}

// Action is the kind of a remedy.
type Action string

// Actions.
const (
	// RaiseRequest gives the pod another CPU request, and so more weight, and LowerRequest gives a neighbour less.
	RaiseRequest Action = "RaiseRequest"
	LowerRequest Action = "LowerRequest"
	// RaiseLimit gives it, or one of its containers, another CPU limit.
	RaiseLimit Action = "RaiseLimit"
	// MovePod moves the pod to another node.
	MovePod Action = "MovePod"
	// MoveNeighbour moves a neighbour to another node.
	MoveNeighbour Action = "MoveNeighbour"
	// Leave changes nothing: nothing helps without leaving another pod about as badly off.
	Leave Action = "Leave"
)

// Remedy is what the plan of the answer does for a pod: the step that helps it most, and how the pod fares after all steps.
type Remedy struct {
	Action Action `json:"action"`
	// Step is the number of the step in the plan, from 1. Several findings may have the same one.
	Step int `json:"step,omitempty"`
	// Request and Limit are the new ones.
	Request *resource.Quantity `json:"request,omitempty"`
	Limit   *resource.Quantity `json:"limit,omitempty"`
	// Container is the one whose request or limit it is, absent where that is the only one of its pod, or the pod as a whole.
	Container string `json:"container,omitempty"`
	// Pod is the one that changes, or moves to Node; absent where the slowed pod itself has another request or limit.
	Pod  string `json:"pod,omitempty"`
	Node string `json:"node,omitempty"`
	// Dilation is that of the slowed pod after the whole plan, and Margin how much larger it may be, with 95 % confidence.
	Dilation float64 `json:"dilation"`
	Margin   float64 `json:"margin,omitempty"`
	// Others are the other pods of which the step changes the dilation.
	Others []Change `json:"others,omitempty"`
	// Problem says what would have to be known to decide whether something else would help.
	Problem string `json:"problem,omitempty"`
	// ByHand is what may help besides at a disk, where the pod waits for what it names. No step of a plan does it, and Dilation has the pod
	// wait there as before.
	ByHand *ByHand `json:"byHand,omitempty"`
}

// ByHand is advice about a disk.
type ByHand struct {
	// Device is the name of the disk, such as vda.
	Device string `json:"device"`
	// Pod is the neighbour that the pod waits for most there: to be moved to another node or disk, or to be held back by a limit (io.max) or
	// a weight (io.weight). Absent where it is the pod's own limit, to be raised, that it waits for.
	Pod string `json:"pod,omitempty"`
}

// Change is the effect of a remedy on another pod.
type Change struct {
	Pod string `json:"pod"`
	// Now is the dilation with all earlier steps in place, and Then what becomes of it.
	Now  float64 `json:"now"`
	Then float64 `json:"then"`
}
