package installation

import (
	coordinationv1 "k8s.io/api/coordination/v1"

	"loadline.dev/loadline/apis/loadline/v1alpha1"
	"loadline.dev/loadline/pkg/evaluate/savings"
	"loadline.dev/loadline/pkg/gauge/usage"
)

// Facts are what an installation is judged by. An error stands for what could not be
// found out.
type Facts struct {
	// Host and Kubernetes are the address and the version of the API server.
	Host, Kubernetes string
	// BuiltWith is the minor version of Kubernetes, such as 1.36, that Loadline is made of, empty if that is not known.
	BuiltWith string
	// Without names the components that are not to be there.
	Without []string

	// Kinds are those of our API that are served.
	Kinds    []string
	KindsErr error

	Components    []Component
	ComponentsErr error
	Gauges        []Gauges
	GaugesErr     error

	// Observed is what those get who ask for what gauges observe, nil if there are no gauges, or the user may not ask.
	Observed    *ObservedFacts
	ObservedErr error

	// Scheduler is what its configuration says, nil if that is not known.
	Scheduler    *SchedulerFacts
	SchedulerErr error

	// Leases are those of the namespaces where leaders are elected.
	Leases    []coordinationv1.Lease
	LeasesErr error

	Policies    []Policy
	PoliciesErr error
	// NoMutating says that the API server has no MutatingAdmissionPolicy v1.
	NoMutating bool

	Workloads    []v1alpha1.WorkloadProfile
	WorkloadsErr error
	Nodes        []v1alpha1.NodeProfile
	NodesErr     error

	// Contention is how much pods slow each other down, nil if no profile says what they use, or no pod uses anything.
	Contention    *savings.Contention
	ContentionErr error
}

// The names of Loadline's plugins in a scheduler's configuration: the one that scores nodes, and the one that orders
// the pods that wait.
const (
	DilationPlugin = "Dilation"
	SLAOrderPlugin = "SLAOrder"
)

// SchedulerFacts is what the configuration of a scheduler says about Loadline.
type SchedulerFacts struct {
	// Names are the schedulers that place pods by dilation.
	Names []string
	// Elects reports whether replicas elect a leader.
	Elects bool
}

// ObservedFacts are of one time of asking for what gauges observe, as kubectl loadline who does.
type ObservedFacts struct {
	// Gauges is how many there are, Answered of how many there was an answer, and ByManager how many of these were the manager's.
	Gauges, Answered, ByManager int
	// Refused are the gauges whose answers are refused, by the manager or by who asks, in the order of their nodes, and RefusedBesides
	// is how many more there are.
	Refused        []usage.Refusal
	RefusedBesides int
	// Problem is why the first of the others did not answer, and Note why the manager did not answer for all.
	Problem, Note string
}

// Policy is an admission policy of Loadline.
type Policy struct {
	Name  string
	Bound bool // it does nothing else
}
