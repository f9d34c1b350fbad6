package findings

import (
	"time"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/resource"

	"loadline.dev/loadline/pkg/cgroup"
	"loadline.dev/loadline/pkg/gauge/usage"
	"loadline.dev/loadline/pkg/node"
)

// Input is what findings are made of.
type Input struct {
	// Nodes and Pods are those of the cluster: all, so that a remedy can be another node.
	Nodes []corev1.Node
	Pods  []corev1.Pod
	// Feasibility says where pods may be moved; nil for nowhere.
	Feasibility node.Feasibility
	// Sights are the reports of the gauges, at most one for each node.
	Sights []Sight
	// Weights say how nodes make weights of CPU requests of which the gauge does not say which version of control groups
	// they have, and whether they give whole cores away.
	Weights cgroup.Options
	// Above is the smallest dilation of a finding, above 1; 0 means [DefaultAbove].
	Above float64
}

// Sight is the report of a gauge on its node.
type Sight struct {
	Node string
	// Intervals follow each other, the oldest first; they must be valid.
	Intervals []usage.Interval
	// Age is how long ago the last one ended, by the clock of the gauge.
	Age time.Duration
	// Problem says why there are no intervals, if that is so.
	Problem string
}

const (
	// DefaultAbove is the smallest dilation of a finding unless another one is given.
	DefaultAbove = 1.2
	// Window is how much of the latest past an observation is made of, two intervals at least.
	Window = time.Minute
	// Evidence is the shortest time for which a pod must have been observed to be judged, and evidenceIntervals the smallest
	// number of intervals.
	Evidence          = 15 * time.Second
	evidenceIntervals = 2
	// MaxAge is the largest age of an observation, unless three of its intervals are longer.
	MaxAge       = time.Minute
	stalePeriods = 3
)

// Answer says which pods are slowed down, because of what, and what would help.
type Answer struct {
	// Above is the smallest dilation of a finding.
	Above float64 `json:"above"`
	// Findings are the pods that are slowed down, the worst first.
	Findings []Finding `json:"findings"`
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
	// BlockedUnknown means that the kernel of the node does not account how long tasks are blocked.
	BlockedUnknown bool    `json:"blockedUnknown,omitempty"`
	Busy           float64 `json:"busy"`
	PodsBusy       float64 `json:"podsBusy"`
	Stolen         float64 `json:"stolen"`
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
	// Predicted is the dilation that the model of the node has for the pod, by the vectors of all; absent for pods that do next
	// to nothing, and on nodes of more than 40 pods where none is slowed down.
	Predicted *float64 `json:"predicted,omitempty"`
	// CPULoading and DiskLoading are the fractions of the time alone that a thread of the pod ran and was blocked by block I/O,
	// and Threads how many threads are active at once.
	CPULoading  float64 `json:"cpuLoading"`
	DiskLoading float64 `json:"diskLoading"`
	Threads     float64 `json:"threads"`
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
	Causes []Cause `json:"causes,omitempty"`
	// Short means that it was observed too shortly to be judged.
	Short bool `json:"short,omitempty"`
}

// Finding is a pod that is slowed down.
type Finding struct {
	Pod
	// SinceSeconds is for how long it has been, and AtLeast means that it was when the observation began.
	SinceSeconds float64 `json:"sinceSeconds"`
	AtLeast      bool    `json:"atLeast,omitempty"`
	// Resource is where it waits.
	Resource string `json:"resource"`
	// Remedy is what would help.
	Remedy Remedy `json:"remedy"`
}

// Kind is the kind of a cause.
type Kind string

// Kinds of causes.
const (
	// ByNeighbour is another pod on the node.
	ByNeighbour Kind = "Neighbour"
	// ByLimit is a limit of the pod, or of one of its containers.
	ByLimit Kind = "Limit"
	// ByHypervisor is that the hypervisor ran something else.
	ByHypervisor Kind = "Hypervisor"
	// ByItself is that the pod has more threads than the node has processors.
	ByItself Kind = "Itself"
	// BySystem is what runs on the node in no pod.
	BySystem Kind = "System"
	// ByUnclear is waiting that nothing which was observed explains.
	ByUnclear Kind = "Unclear"
)

// Cause is one reason why a pod is slowed down.
type Cause struct {
	Kind Kind `json:"kind"`
	// Pod and Workload are those of a neighbour.
	Pod      string `json:"pod,omitempty"`
	Workload string `json:"workload,omitempty"`
	// Container is the container that a limit is of, absent where it is that of the pod as a whole, or of its only container, and Limit
	// is how much CPU that is. Assumed says that the gauge does not report which of several limits it is: it is the smallest.
	Container string             `json:"container,omitempty"`
	Limit     *resource.Quantity `json:"limit,omitempty"`
	Assumed   bool               `json:"assumed,omitempty"`
	// Dilation is how much it adds.
	Dilation float64 `json:"dilation"`
}

// Action is the kind of a remedy.
type Action string

// Actions.
const (
	// RaiseRequest gives the pod another CPU request, and so more weight.
	RaiseRequest Action = "RaiseRequest"
	// RaiseLimit gives it, or one of its containers, another CPU limit.
	RaiseLimit Action = "RaiseLimit"
	// MovePod moves the pod to another node.
	MovePod Action = "MovePod"
	// MoveNeighbour moves a neighbour to another node.
	MoveNeighbour Action = "MoveNeighbour"
	// Leave changes nothing: nothing helps without leaving another pod about as badly off.
	Leave Action = "Leave"
)

// Remedy is a change that would help a pod, and its predicted effect.
type Remedy struct {
	Action Action `json:"action"`
	// Request and Limit are the new ones.
	Request *resource.Quantity `json:"request,omitempty"`
	Limit   *resource.Quantity `json:"limit,omitempty"`
	// Container is the one whose limit it is, absent as of a [Cause].
	Container string `json:"container,omitempty"`
	// Pod is the one that moves, to Node.
	Pod  string `json:"pod,omitempty"`
	Node string `json:"node,omitempty"`
	// Dilation is that of the slowed pod then.
	Dilation float64 `json:"dilation"`
	// Others are the other pods of which the dilation changes, on this node and on that to which a pod moves.
	Others []Change `json:"others,omitempty"`
	// Problem says why not all remedies could be tried, or what would have to be known to decide whether another one would help
	// more.
	Problem string `json:"problem,omitempty"`
}

// Change is the effect of a remedy on another pod.
type Change struct {
	Pod string `json:"pod"`
	// Now is the dilation that was observed, and Then what becomes of it by the model.
	Now  float64 `json:"now"`
	Then float64 `json:"then"`
}
