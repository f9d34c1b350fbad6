package cli

import (
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"loadline.dev/loadline/apis/config"
	"loadline.dev/loadline/apis/loadline/v1alpha1"
)

// placementInput is what the place of a pod is explained by.
type placementInput struct {
	pod   *corev1.Pod
	nodes []corev1.Node // that of the pod, or all
	pods  []corev1.Pod  // of these nodes
	// ranked asks for a ranking of the nodes.
	ranked bool

	workloads []v1alpha1.WorkloadProfile
	classes   []v1alpha1.NodeProfile
	requests  []config.RequestRule // for pods without a profile
	rules     string               // where these are from
	scheduler *schedulerConfig     // nil if not known
}

// explanation tells how a pod fares where it is, and what other nodes would cost.
type explanation struct {
	Pod string `json:"pod"`
	// Node is absent for a pod that waits for one.
	Node        string `json:"node,omitempty"`
	NodeProfile string `json:"nodeProfile,omitempty"`
	// SchedulerName is the scheduler of the pod, and PlacedTime when it placed it.
	SchedulerName string       `json:"schedulerName"`
	PlacedTime    *metav1.Time `json:"placedTime,omitempty"`
	// ByDilation tells whether that scheduler places by dilation, if that is known.
	ByDilation *bool `json:"byDilation,omitempty"`

	// Vector says where the pod's loading vector is from, and Rules where the rules
	// for pods without a profile are.
	Vector vectorSource `json:"vector"`
	Rules  string       `json:"rules"`

	// Dilation is how many times slower than alone the pod runs, by Solver, and
	// DilationError the half width of its 95 % confidence interval: what follows from
	// the intervals of the vectors. It is absent where they have none.
	Dilation       *float64 `json:"dilation,omitempty"`
	DilationError  *float64 `json:"dilationError,omitempty"`
	Solver         string   `json:"solver,omitempty"`
	MaxDilation    *float64 `json:"maxDilation,omitempty"`
	NeutralSeconds *float64 `json:"neutralSeconds,omitempty"`
	// Resources are those at which the pod waits or makes others wait, those first
	// that make most of the dilation.
	Resources []explainedResource `json:"resources,omitempty"`
	// Neighbours are the other pods of the node, those first that the pod slows most.
	Neighbours []neighbour `json:"neighbours,omitempty"`

	// Nodes are ranked by cost; those that do not fit come last.
	Nodes []rankedNode `json:"nodes,omitempty"`
}

// vectorSource says where a loading vector is from.
type vectorSource struct {
	// Source is Measured, Declared or Requests.
	Source string `json:"source"`
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

// Sources of vectors.
const (
	fromMeasurement = "Measured"
	fromDeclaration = "Declared"
	fromRequests    = "Requests"
)

// explainedResource is what a pod does at a resource of its node.
type explainedResource struct {
	Name     string  `json:"name"`
	Servers  int     `json:"servers"`
	Loading  float64 `json:"loading"`
	Pressure float64 `json:"pressure"`
	// Sensitivity is absent where it is the loading.
	Sensitivity float64 `json:"sensitivity,omitzero"`
	Threads     int     `json:"threads"`
	// Waits is what waiting for others adds to the dilation of the pod, and Because due
	// to which pods.
	Waits   float64    `json:"waits"`
	Because []podShare `json:"because,omitempty"`
	// Inflicts is what the pod adds to the dilation of others, and On to whose.
	Inflicts float64    `json:"inflicts"`
	On       []podShare `json:"on,omitempty"`
}

// podShare is the part of a dilation that has to do with a pod.
type podShare struct {
	Pod      string  `json:"pod"`
	Dilation float64 `json:"dilation"`
}

// neighbour is another pod of the node.
type neighbour struct {
	Pod     string `json:"pod"`
	Profile string `json:"profile,omitempty"`
	// Dilation is how many times slower than alone it runs, and Without how many if
	// the explained pod were gone.
	Dilation      float64  `json:"dilation"`
	DilationError *float64 `json:"dilationError,omitempty"`
	Without       float64  `json:"without"`
	MaxDilation   *float64 `json:"maxDilation,omitempty"`
}
