package evaluate

import (
	"cmp"
	"errors"
	"fmt"
	"slices"
	"strings"
	"time"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/resource"

	"loadline.dev/loadline/apis/loadline/v1alpha1"
	"loadline.dev/loadline/pkg/model/contention"
	"loadline.dev/loadline/pkg/model/queueing"
	"loadline.dev/loadline/pkg/profile"
)

// Pods are some pods of one workload that start together.
type Pods struct {
	// Profile names the workload: name, or namespace/name.
	Profile string
	// Copies is how many pods, at least 1.
	Copies int
	// Start is when they start, not before 0.
	Start time.Duration
}

// PredictionInput is what a prediction is about: pods that share a node.
type PredictionInput struct {
	Profiles []v1alpha1.WorkloadProfile
	// Pods are those on the node. None means one of each profile, all from the
	// start.
	Pods []Pods
	// Nodes may hold profiles of nodes; they tell which resources there are.
	Nodes []v1alpha1.NodeProfile
	// Node names the one of Nodes that the node follows. Empty means the only
	// one, or none if there are none.
	Node string
	// Cores is how many cores the node has, at least 1, where its profile does
	// not say.
	Cores int
	// Solver is one of [Solvers]; empty is the first.
	Solver string
	// Requests hold the CPU that a pod of each profile requests, by the profile's name as in Pods; nil means that all
	// pods share alike. Where there are any, every profile with a pod on the node must have one. Pods have no limits.
	Requests map[string]resource.Quantity
}

// Prediction is how much the pods of a node slow each other down.
type Prediction struct {
	// Solver is the solver that was used.
	Solver string `json:"solver"`
	// Resources are the node's, those that some pod uses.
	Resources []Servers `json:"resources"`
	// Pods are the pods, in the order of the input.
	Pods []PodsPrediction `json:"pods"`
	// DoneAtSeconds is when the last pod is done, absent if the neutral time of
	// some is not known.
	DoneAtSeconds *float64 `json:"doneAtSeconds,omitempty"`
}

// Servers is how many servers a resource has.
type Servers struct {
	Name    string `json:"name"`
	Servers int    `json:"servers"`
}

// PodsPrediction is how much some pods of one workload are slowed down.
type PodsPrediction struct {
	Profile      string  `json:"profile"`
	Copies       int     `json:"copies"`
	StartSeconds float64 `json:"startSeconds"`
	// NeutralSeconds is the completion time alone, absent if not known.
	NeutralSeconds *float64 `json:"neutralSeconds,omitempty"`
	// Dilation is how much slower than alone the pods run while all pods of the
	// prediction are there, and DilationError the half width of its 95 % confidence
	// interval: what follows from the intervals of the vectors. It is absent where
	// they have none.
	Dilation      float64  `json:"dilation"`
	DilationError *float64 `json:"dilationError,omitempty"`
	// Request is the CPU that each of the pods requests, absent if all pods share alike, and EqualDilation what the
	// dilation would be if they did.
	Request       *resource.Quantity `json:"request,omitempty"`
	EqualDilation *float64           `json:"equalDilation,omitempty"`
	// DoneAtSeconds is when the pods are done, each pod being there only from
	// its start until it is done. Absent if a neutral time is not known.
	DoneAtSeconds *float64 `json:"doneAtSeconds,omitempty"`
	// Waits say which resources the dilation comes from, the largest part
	// first. They add up to the dilation less 1.
	Waits []Wait `json:"waits"`
}

// Wait is the part of a dilation that comes from one resource.
type Wait struct {
	Resource string  `json:"resource"`
	Dilation float64 `json:"dilation"`
	// Because says which pods it is that are waited for, the largest part
	// first. They add up to Dilation.
	Because []Because `json:"because"`
}

// Because is the part of a wait that the pods of one workload are to blame for.
type Because struct {
	Profile  string  `json:"profile"`
	Dilation float64 `json:"dilation"`
}

// maxCopies bounds the pods of one prediction.
const maxCopies = 10_000

// Predict tells how much the pods of a node slow each other down. The error
// names the field, the value and the rule.
func Predict(in PredictionInput) (*Prediction, error) {
	solver, err := SolverNamed(in.Solver)
	if err != nil {
		return nil, err
	}
	n, err := newSharedNode(in)
	if err != nil {
		return nil, err
	}
	options := queueing.Options{Solver: solver}
	equal, err := contention.Predict(n.vectors, n.servers, options)
	if err != nil {
		return nil, err
	}
	together := equal
	if n.sharing != nil {
		if together, err = contention.PredictSharing(n.vectors, n.servers, *n.sharing, options); err != nil {
			return nil, err
		}
	}
	p := &Prediction{Solver: together.Solution.Solver.String(), Resources: n.used()}
	margins, err := together.Margins(n.unsure, options)
	if err != nil {
		return nil, err
	}
	for g, some := range n.groups {
		p.Pods = append(p.Pods, n.prediction(g, together))
		if len(n.unsure) > 0 {
			p.Pods[g].DilationError = &margins[some.first]
		}
		if n.sharing != nil {
			p.Pods[g].Request, p.Pods[g].EqualDilation = new(in.Requests[some.Profile]), &equal.Dilations[some.first]
		}
	}
	if err := n.complete(p, options); err != nil {
		return nil, err
	}
	return p, nil
}

// sharedNode is a node and the pods on it, as the model takes them.
type sharedNode struct {
	class   string   // that vectors are of: see profile.Workload
	names   []string // of the resources
	servers []int
	groups  []group
	vectors []contention.Vector // one per pod, those of a group together
	unsure  []contention.Unsure // components of vectors
	sharing *contention.Sharing // nil where all pods share alike
}

// group is some pods of one workload.
type group struct {
	Pods
	profile *v1alpha1.WorkloadProfile
	inUse   *profile.InUse
	first   int      // their place in vectors
	neutral *float64 // seconds
}

func newSharedNode(in PredictionInput) (*sharedNode, error) {
	if len(in.Profiles) == 0 {
		return nil, errors.New("there is no WorkloadProfile")
	}
	if in.Cores < 1 || in.Cores > contention.MaxServers {
		return nil, fmt.Errorf("cores: %d is not between 1 and %d", in.Cores, contention.MaxServers)
	}
	classes, class, err := nodeClass(in)
	if err != nil {
		return nil, err
	}
	var others []string // a resource that no NodeProfile names has one server
	for i := range in.Profiles {
		others = append(others, profile.Named(&in.Profiles[i])...)
	}
	resources := profile.NewResources(classes, others...)
	node := &corev1.Node{Status: corev1.NodeStatus{Allocatable: corev1.ResourceList{
		corev1.ResourceCPU: *resource.NewQuantity(int64(in.Cores), resource.DecimalSI),
	}}}
	n := &sharedNode{class: profile.AnyClass, names: resources.Names(), servers: resources.Servers(node, class)}
	if class != nil {
		n.class = class.Class()
	}
	pods := in.Pods
	if len(pods) == 0 {
		for i := range in.Profiles {
			pods = append(pods, Pods{Profile: QualifiedName(&in.Profiles[i]), Copies: 1})
		}
	}
	for _, some := range pods {
		if err := n.add(some, in.Profiles, resources); err != nil {
			return nil, fmt.Errorf("pods %q: %w", some.Profile, err)
		}
	}
	var used []*profile.InUse // by the pods
	for _, g := range n.groups {
		used = append(used, slices.Repeat([]*profile.InUse{g.inUse}, g.Copies)...)
	}
	n.unsure = resources.Unsure(used)
	if in.Requests != nil {
		if n.sharing, err = n.share(in.Requests); err != nil {
			return nil, err
		}
	}
	return n, nil
}

// nodeClass returns the profiles of nodes, and the one that the node follows.
func nodeClass(in PredictionInput) (classes []*profile.NodeClass, chosen *profile.NodeClass, err error) {
	var names []string
	for i := range in.Nodes {
		class, errs := profile.NewNodeClass(&in.Nodes[i])
		if len(errs) > 0 {
			return nil, nil, fmt.Errorf("node profile %s: %w", in.Nodes[i].Name, errs.ToAggregate())
		}
		classes = append(classes, class)
		names = append(names, class.Name)
		if class.Name == in.Node || in.Node == "" && len(in.Nodes) == 1 {
			chosen = class
		}
	}
	switch {
	case chosen != nil || len(in.Nodes) == 0 && in.Node == "":
		return classes, chosen, nil
	case in.Node == "":
		return nil, nil, fmt.Errorf("node: there are several NodeProfiles, choose one: %s", strings.Join(names, ", "))
	default:
		return nil, nil, fmt.Errorf("node: %q is not a NodeProfile of the input (%s)", in.Node, strings.Join(names, ", "))
	}
}

// add puts pods on the node.
func (n *sharedNode) add(pods Pods, profiles []v1alpha1.WorkloadProfile, resources *profile.Resources) error {
	if pods.Copies < 1 || pods.Copies > maxCopies {
		return fmt.Errorf("copies: %d is not between 1 and %d", pods.Copies, maxCopies)
	}
	if pods.Start < 0 {
		return fmt.Errorf("start: %v is before 0", pods.Start)
	}
	p, err := find(pods.Profile, profiles)
	if err != nil {
		return err
	}
	v, err := n.vectorOf(p, resources)
	if err != nil {
		return err
	}
	g := group{Pods: pods, profile: p, inUse: v, first: len(n.vectors)}
	if millis := profile.NeutralMillis(p, n.class); millis != nil {
		g.neutral = new(float64(*millis) / 1000)
	}
	n.groups = append(n.groups, g)
	for range pods.Copies {
		n.vectors = append(n.vectors, v.Vector)
	}
	return nil
}

// vectorOf returns the vector in use of a profile, the same one each time.
func (n *sharedNode) vectorOf(p *v1alpha1.WorkloadProfile, resources *profile.Resources) (*profile.InUse, error) {
	for _, g := range n.groups {
		if g.profile == p {
			return g.inUse, nil
		}
	}
	w, errs := profile.NewWorkload(p, resources)
	if len(errs) > 0 {
		return nil, errs.ToAggregate()
	}
	if v := w.On(n.class); v != nil {
		return v, nil
	}
	return nil, noVector(w)
}

// noVector says why no vector of a workload is in use.
func noVector(w *profile.Workload) error {
	if wide := w.TooWide(); len(wide) > 0 {
		return fmt.Errorf("has no loading vector: what was measured is not used, being wider than ± %.2f: %s; have it measured again, or list the vector in spec.resources",
			profile.MaxError, profile.TooWide(wide[0]))
	}
	return ErrNoVector
}

// find returns the profile of that name, or namespace/name.
func find(name string, profiles []v1alpha1.WorkloadProfile) (*v1alpha1.WorkloadProfile, error) {
	var found *v1alpha1.WorkloadProfile
	var names []string
	for i := range profiles {
		p := &profiles[i]
		names = append(names, QualifiedName(p))
		if name != p.Name && name != QualifiedName(p) {
			continue
		}
		if found != nil {
			return nil, fmt.Errorf("there are several such WorkloadProfiles: %s and %s", QualifiedName(found), QualifiedName(p))
		}
		found = p
	}
	if found == nil {
		return nil, fmt.Errorf("there is no such WorkloadProfile (there are %s)", strings.Join(names, ", "))
	}
	return found, nil
}

// used returns the resources that some pod uses.
func (n *sharedNode) used() []Servers {
	var used []Servers
	for i, name := range n.names {
		if slices.ContainsFunc(n.vectors, func(v contention.Vector) bool { return v[i].Loading > 0 || v[i].Pressure > 0 }) {
			used = append(used, Servers{name, n.servers[i]})
		}
	}
	return used
}

// prediction returns how a group fares while all are there.
func (n *sharedNode) prediction(g int, together *contention.Prediction) PodsPrediction {
	some := n.groups[g]
	p := PodsPrediction{
		Profile: some.Profile, Copies: some.Copies, StartSeconds: some.Start.Seconds(),
		NeutralSeconds: some.neutral, Dilation: together.Dilations[some.first], Waits: []Wait{},
	}
	for i, name := range n.names {
		delay := together.Delay(some.first, i)
		if delay == 0 {
			continue
		}
		wait := Wait{Resource: name, Dilation: delay}
		blame := together.BlameAt(some.first, i)
		for _, other := range n.groups {
			total := 0.0
			for k := range other.Copies {
				total += blame[other.first+k]
			}
			if total > 0 {
				wait.Because = append(wait.Because, Because{other.Profile, total})
			}
		}
		slices.SortStableFunc(wait.Because, func(a, b Because) int { return cmp.Compare(b.Dilation, a.Dilation) })
		p.Waits = append(p.Waits, wait)
	}
	slices.SortStableFunc(p.Waits, func(a, b Wait) int { return cmp.Compare(b.Dilation, a.Dilation) })
	return p
}

// complete fills in when pods are done, if all neutral times are known.
func (n *sharedNode) complete(p *Prediction, options queueing.Options) error {
	var runs []contention.Run
	for _, g := range n.groups {
		if g.neutral == nil {
			return nil
		}
		for k := range g.Copies {
			runs = append(runs, contention.Run{Start: g.Start.Seconds(), Neutral: *g.neutral, Vector: n.vectors[g.first+k]})
		}
	}
	ends, err := n.completions(runs, options)
	if err != nil {
		return err
	}
	p.DoneAtSeconds = new(slices.Max(ends))
	for i, g := range n.groups {
		p.Pods[i].DoneAtSeconds = &ends[g.first] // copies are done together
	}
	return nil
}
