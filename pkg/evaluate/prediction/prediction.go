// Package prediction answers how much the pods of a node slow each other down, and when they are done, given profiles, manifests of
// workloads, or both.
package prediction

import (
	"cmp"
	"fmt"
	"slices"
	"strings"
	"time"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/resource"

	"loadline.dev/loadline/apis/loadline/v1alpha1"
	"loadline.dev/loadline/pkg/cgroup"
	"loadline.dev/loadline/pkg/evaluate/manifest"
	"loadline.dev/loadline/pkg/model/contention"
	"loadline.dev/loadline/pkg/model/loading"
	"loadline.dev/loadline/pkg/model/mix"
	"loadline.dev/loadline/pkg/model/queueing"
	"loadline.dev/loadline/pkg/node"
	"loadline.dev/loadline/pkg/profile"
)

// Pods are some pods of one workload that start together.
type Pods struct {
	// Name is that of a workload or a profile: web, shop/web, deployment/web or deployment/shop/web. A name of both is
	// that of the workload.
	Name string
	// Copies is how many pods, at least 1.
	Copies int
	// Start is when they start, not before 0.
	Start time.Duration
}

// Input is what a prediction is about: pods that share a node.
type Input struct {
	Profiles []v1alpha1.WorkloadProfile
	// Workloads are manifests of pods. A pod has the vector of the profile that selects it, as for the scheduler, and
	// without one a vector that is made of its requests, by the rules that the scheduler has by default.
	Workloads []manifest.Workload
	// Pods are those on the node. None means one of each workload, without those that have ended, that are asked for
	// 0 times, or whose controller is one of the workloads; without workloads, one of each profile. All are there from the
	// start.
	Pods []Pods
	// Nodes may hold profiles of nodes; they say which resources there are.
	Nodes []v1alpha1.NodeProfile
	// Node names the one of Nodes that the node follows. Empty means the only
	// one, or none if there are none.
	Node string
	// Cores is how many cores the node has, at least 1, where its profile does
	// not say.
	Cores int
	// Solver is one of [Solvers]; empty is the first.
	Solver string
	// Requests and Limits hold the CPU that each pod requests, and may use, by names as in Pods. They replace what the
	// manifest says, and leave the vector as it is. Without them and without workloads all pods share alike, each by the same weight; else the
	// request of every pod must be known. A limit of 0 is none.
	Requests, Limits map[string]resource.Quantity
	// Weights say how requests become weights, and whether pods may have cores of their own.
	Weights cgroup.Options
}

// Answer is how much the pods of a node slow each other down.
type Answer struct {
	// Solver is the solver that was used.
	Solver string `json:"solver"`
	// Resources are the node's, those that some pod uses.
	Resources []Servers `json:"resources"`
	// Devices are the kinds of devices that the node has.
	Devices []profile.DeviceKind `json:"devices,omitempty"`
	// SharedCores is how many cores are left to the pods that share them, absent if no pod has cores of its own.
	SharedCores *int `json:"sharedCores,omitempty"`
	// Pods are the pods, in the order of the input.
	Pods []PodsAnswer `json:"pods"`
	// DoneAtSeconds is when the last pod is done, absent if the neutral time of
	// some is not known.
	DoneAtSeconds *float64 `json:"doneAtSeconds,omitempty"`
	// LeftOut are workloads of the input of which no pod is on the node though none was chosen.
	LeftOut []LeftOut `json:"leftOut,omitempty"`
	// Caveats are what the manifests say of the pods that is not taken into account.
	Caveats []node.Caveat `json:"caveats,omitempty"`
}

// LeftOut is a workload that is left out, and why.
type LeftOut struct {
	Workload string `json:"workload"`
	Why      string `json:"why"`
}

// Servers is how many servers a resource has, or how many domains, if it is shared without a queue.
type Servers struct {
	Name    string `json:"name"`
	Servers int    `json:"servers,omitempty"`
	Domains int    `json:"domains,omitempty"`
}

// PodsAnswer is how much some pods of one workload are slowed down.
type PodsAnswer struct {
	// Name is what the pods are called in the input, or in short.
	Name string `json:"name"`
	// Workload is the manifest that they are of, such as deployment/web, absent if only the profile is known, and Replicas
	// how many pods that asks for, absent for one on each node.
	Workload string `json:"workload,omitempty"`
	Replicas *int32 `json:"replicas,omitempty"`
	// Profile is the WorkloadProfile that they follow, absent if none.
	Profile      string  `json:"profile,omitempty"`
	Copies       int     `json:"copies"`
	StartSeconds float64 `json:"startSeconds"`
	// Vector says where their vector is from, and Demands what it is.
	Vector  VectorSource `json:"vector"`
	Demands []PodDemand  `json:"demands"`
	// Devices are those of the node that each of the pods uses and others may use, too, such as gpu-0. DevicesAssumed says
	// that no annotation names them: they are then those that had the fewest pods.
	Devices        []string `json:"devices,omitempty"`
	DevicesAssumed bool     `json:"devicesAssumed,omitempty"`
	// NeutralSeconds is the completion time alone, absent if not known.
	NeutralSeconds *float64 `json:"neutralSeconds,omitempty"`
	// Dilation is how much slower than alone the pods run while all pods of the
	// prediction are there, and DilationError the half width of its 95 % confidence
	// interval: what follows from the intervals of the vectors. It is absent where
	// they have none.
	Dilation      float64  `json:"dilation"`
	DilationError *float64 `json:"dilationError,omitempty"`
	// NeutralCorrection is how many times as long the pods take alone as was stated where their profile was fitted, absent if
	// they take as long: over the stated time they are dilated so many times as much.
	NeutralCorrection *float64 `json:"neutralCorrection,omitempty"`
	// Request is the CPU that each of the pods requests and QoSClass its class, absent if all pods share alike, and
	// EqualDilation what the dilation would be if they did, without limits. Limit is the CPU that each may use, absent if
	// there is none.
	Request       *resource.Quantity `json:"request,omitempty"`
	Limit         *resource.Quantity `json:"limit,omitempty"`
	QoSClass      corev1.PodQOSClass `json:"qosClass,omitempty"`
	EqualDilation *float64           `json:"equalDilation,omitempty"`
	// Throttling is by how much the limit alone makes the neutral time longer, which is then the longer one; absent if it does
	// not. MaxThrottling is how much that may be at most: see [node.MaxThrottling]. ExclusiveCores is how many cores each of the pods
	// has for itself.
	Throttling     *float64 `json:"throttling,omitempty"`
	MaxThrottling  *float64 `json:"maxThrottling,omitempty"`
	ExclusiveCores int      `json:"exclusiveCores,omitempty"`
	// DoneAtSeconds is when the pods are done, each pod being there only from
	// its start until it is done. Absent if a neutral time is not known.
	DoneAtSeconds *float64 `json:"doneAtSeconds,omitempty"`
	// Waits say which resources the dilation comes from, the largest part
	// first. They add up to the dilation less 1.
	Waits []Wait `json:"waits"`
}

// PodDemand is what a pod asks of a resource: see v1alpha1.ResourceDemand.
type PodDemand struct {
	Resource string  `json:"resource"`
	Loading  float64 `json:"loading"`
	Pressure float64 `json:"pressure"`
	Threads  int     `json:"threads"`
	// BurstSeconds is for how long a thread computes at a time, absent where that is not known.
	BurstSeconds float64 `json:"burstSeconds,omitempty"`
	// Effect says that the resource is shared without a queue, and by how much the pod computes longer under the
	// pressure of others: see v1alpha1.Interference. Loading is then 0.
	Effect *Effect `json:"effect,omitempty"`
}

// Effect is a sensitivity curve, empty for a pod that nothing slows down there.
type Effect struct {
	Curve []CurvePoint `json:"curve"`
}

// CurvePoint is one point of a sensitivity curve: see v1alpha1.CurvePoint.
type CurvePoint struct {
	Pressure  float64 `json:"pressure"`
	Inflation float64 `json:"inflation"`
}

// Wait is the part of a dilation that comes from one resource.
type Wait struct {
	Resource string `json:"resource"`
	// Device is the device whose resource it is, such as gpu-0, absent if it is the node's.
	Device   string  `json:"device,omitempty"`
	Dilation float64 `json:"dilation"`
	// Interference says that the pod does not wait there, but that its computing takes longer.
	Interference bool `json:"interference,omitempty"`
	// Because says which pods it is that are waited for, the largest part
	// first. They add up to Dilation.
	Because []Because `json:"because"`
}

// Because is the part of a wait that the pods of one workload are to blame for.
type Because struct {
	// Name is what the pods are called, and Profile the WorkloadProfile that they follow, absent if none.
	Name     string  `json:"name"`
	Profile  string  `json:"profile,omitempty"`
	Dilation float64 `json:"dilation"`
}

// maxCopies bounds the pods of one prediction.
const maxCopies = 10_000

// Predict returns how much the pods of a node slow each other down. The error
// names the field, the value and the rule.
func Predict(in Input) (*Answer, error) {
	solver, err := queueing.SolverNamed(in.Solver)
	if err != nil {
		return nil, err
	}
	m, err := newNodeMix(in)
	if err != nil {
		return nil, err
	}
	options := queueing.Options{Solver: solver}
	equal, err := m.PredictEqualShares(options)
	if err != nil {
		return nil, err
	}
	together := equal
	unsure := m.unsure
	if m.shared != nil {
		if together, err = m.shared.Predict(options); err != nil {
			return nil, err
		}
		unsure = m.shared.Unsure(unsure)
	}
	p := &Answer{Solver: together.Solution.Solver.String(), Resources: m.used(), Devices: m.Devices.Kinds(), LeftOut: m.leftOut, Caveats: m.caveats}
	margins, err := together.Margins(unsure, options)
	if err != nil {
		return nil, err
	}
	for g, some := range m.groups {
		p.Pods = append(p.Pods, m.prediction(g, together))
		if len(m.unsure) > 0 {
			p.Pods[g].DilationError = &margins[some.first]
		}
		if m.shared != nil {
			m.fillRequests(&p.Pods[g], &m.groups[g], together)
			p.Pods[g].EqualDilation = &equal.Dilations[some.first]
		}
	}
	if m.shared != nil && slices.Max(m.shared.Pool.Exclusive) > 0 {
		p.SharedCores = new(m.shared.Pool.Cores)
	}
	if err := m.complete(p, options); err != nil {
		return nil, err
	}
	return p, nil
}

// nodeMix is the pods of a prediction on their node, in groups.
type nodeMix struct {
	*node.Node

	class   string   // that vectors are of: see profile.Workload
	names   []string // of the resources
	groups  []group
	leftOut []LeftOut
	caveats []node.Caveat
	vectors []loading.Vector    // of the pods, those of a group together
	unsure  []contention.Unsure // components of vectors
	shared  *node.Shared        // nil where all pods share alike
}

// group is some pods of one workload.
type group struct {
	Pods
	*subject
	sharer  *corev1.Pod // one of the pods as it shares the CPU, nil where all share alike
	first   int         // the place of the first of them among the pods
	neutral *float64    // seconds
}

func newNodeMix(in Input) (*nodeMix, error) {
	if len(in.Profiles)+len(in.Workloads) == 0 {
		return nil, errNothing
	}
	if in.Cores < 1 || in.Cores > loading.MaxServers {
		return nil, fmt.Errorf("cores: %d is not between 1 and %d", in.Cores, loading.MaxServers)
	}
	classes, class, err := nodeClass(in)
	if err != nil {
		return nil, err
	}
	rules, others, err := defaultRules() // a resource that no NodeProfile names has one server
	if err != nil {
		return nil, err
	}
	for i := range in.Profiles {
		others = append(others, profile.Named(&in.Profiles[i])...)
	}
	resources := profile.NewResources(classes, others...)
	object := &corev1.Node{Status: corev1.NodeStatus{Allocatable: corev1.ResourceList{
		corev1.ResourceCPU: *resource.NewQuantity(int64(in.Cores), resource.DecimalSI),
	}}}
	m := &nodeMix{class: profile.AnyClass, names: resources.Names()}
	if class != nil {
		m.class = class.Class()
	}
	known, err := newCatalog(&in, resources, m.class, rules)
	if err != nil {
		return nil, err
	}
	pods := in.Pods
	if len(pods) == 0 {
		pods, m.leftOut = known.usual()
	}
	if len(pods) == 0 {
		return nil, fmt.Errorf("there is no pod for the node: %s is left out, since %s; name pods, --pod NAME=COPIES", m.leftOut[0].Workload, m.leftOut[0].Why)
	}
	for _, some := range pods {
		if err := m.add(some, known); err != nil {
			return nil, fmt.Errorf("pods %q: %w", some.Name, err)
		}
	}
	m.addCaveats(class)
	if err := m.assign(resources, object, class); err != nil {
		return nil, err
	}
	var used []*profile.InUse // by the pods
	for _, g := range m.groups {
		used = append(used, slices.Repeat([]*profile.InUse{g.inUse}, g.Copies)...)
	}
	m.unsure = resources.Unsure(used)
	return m, m.share(&in, known)
}

// addCaveats adds what the manifests of the pods say that is not taken into account.
func (m *nodeMix) addCaveats(class *profile.NodeClass) {
	for i := range m.groups {
		if g := &m.groups[i]; g.workload != nil && !slices.ContainsFunc(m.groups[:i], func(o group) bool { return o.workload == g.workload }) {
			m.caveats = append(m.caveats, node.Caveats(g.pod, class)...)
		}
	}
}

// fillRequests fills in what some pods request and may use, and what their own limit does to them.
func (m *nodeMix) fillRequests(p *PodsAnswer, g *group, together *contention.Prediction) {
	p.Request, p.Limit = cgroup.CPU(g.sharer)
	p.QoSClass = cgroup.QoS(g.sharer)
	p.ExclusiveCores = m.shared.Pool.Exclusive[g.first]
	cpu := m.vectors[g.first][m.CPU]
	throttling := together.Throttling(g.first)
	if g.source.Source.Unlimited() {
		p.MaxThrottling = node.MaxThrottling(cpu, p.Limit, g.neutral, throttling)
	}
	if node.Throttles(throttling) {
		p.Throttling = &throttling
		if g.neutral != nil {
			g.neutral = new(*g.neutral * throttling)
			p.NeutralSeconds = g.neutral
		}
	}
}

// nodeClass returns the profiles of nodes, and the one that the node follows.
func nodeClass(in Input) (classes []*profile.NodeClass, chosen *profile.NodeClass, err error) {
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
func (m *nodeMix) add(pods Pods, known *catalog) error {
	if pods.Copies < 1 || pods.Copies > maxCopies {
		return fmt.Errorf("copies: %d is not between 1 and %d", pods.Copies, maxCopies)
	}
	if pods.Start < 0 {
		return fmt.Errorf("start: %v is before 0", pods.Start)
	}
	s, err := known.find(pods.Name)
	if err != nil {
		return err
	}
	if err := known.solve(s); err != nil {
		return err
	}
	g := group{Pods: pods, subject: s}
	if s.profile != nil {
		if millis := profile.NeutralMillis(s.profile, m.class); millis != nil {
			g.neutral = new(float64(*millis) / 1000)
		}
	}
	m.groups = append(m.groups, g)
	return nil
}

// assign puts the pods on the node, assigned to its devices, and makes a group of those that are at the same.
func (m *nodeMix) assign(resources *profile.Resources, object *corev1.Node, class *profile.NodeClass) error {
	if class != nil {
		for _, kind := range class.DeviceKinds() {
			if kind.Count == 0 {
				return fmt.Errorf("node profile %s: devices %q: there is no count, and no node here that advertises them: set count", class.Name, kind.Name)
			}
		}
	}
	var pods []node.Pod
	for _, g := range m.groups {
		pods = append(pods, slices.Repeat([]node.Pod{{Pod: g.pod, Vector: g.vector}}, g.Copies)...)
	}
	if m.Node = node.New(resources, object, class, pods); m.Ignored != nil {
		return m.Ignored
	}
	var groups []group
	pods = nil
	rest := m.Pods
	for _, g := range m.groups {
		copies := slices.Clone(rest[:g.Copies])
		rest = rest[g.Copies:]
		for len(copies) > 0 {
			some, devices := g, copies[0].Devices
			some.first, some.Copies = len(pods), 0
			copies = slices.DeleteFunc(copies, func(p node.Pod) bool {
				if !slices.Equal(p.Devices, devices) {
					return false
				}
				some.Copies++
				pods = append(pods, p)
				return true
			})
			groups = append(groups, some)
		}
	}
	m.groups, m.Pods = groups, pods
	m.vectors = m.Vectors()
	return nil
}

// devices returns the names of those that a group uses.
func (m *nodeMix) devices(g *group) (names []string) {
	for _, d := range m.Pods[g.first].Devices {
		names = append(names, d.String())
	}
	return names
}

// used returns the resources of the node, not of its devices, that some pod uses.
func (m *nodeMix) used() []Servers {
	var used []Servers
	for i, name := range m.names {
		switch {
		case m.Devices.IsOfDevice(i):
		case slices.ContainsFunc(m.vectors, func(v loading.Vector) bool { return v[i].Loading > 0 || v[i].Pressure > 0 }):
			used = append(used, Servers{Name: name, Servers: m.Servers[i]})
		case m.interferes(i):
			used = append(used, Servers{Name: name, Domains: m.Servers[i]})
		}
	}
	return used
}

// interferes reports whether a resource is one at which pods interfere.
func (m *nodeMix) interferes(i int) bool {
	return slices.ContainsFunc(m.vectors, func(v loading.Vector) bool { return v[i].Effect != nil })
}

// demands returns the components of a vector that are not 0.
func (m *nodeMix) demands(v loading.Vector) []PodDemand {
	demands := []PodDemand{}
	for i, d := range v {
		if d.Loading > 0 || d.Pressure > 0 {
			demands = append(demands, PodDemand{Resource: m.names[i], Loading: d.Loading, Pressure: d.Pressure, Threads: max(1, d.Threads), BurstSeconds: d.Burst})
		}
		if d.Effect != nil {
			e := &Effect{Curve: []CurvePoint{}}
			for _, p := range d.Effect.Curve {
				e.Curve = append(e.Curve, CurvePoint(p))
			}
			demands = append(demands, PodDemand{Resource: m.names[i], Pressure: d.Effect.Pressure, Threads: max(1, v[0].Threads), Effect: e})
		}
	}
	return demands
}

// prediction returns how a group fares while all are there.
func (m *nodeMix) prediction(g int, together *contention.Prediction) PodsAnswer {
	some := m.groups[g]
	p := PodsAnswer{
		Name: some.Name, Profile: some.source.Profile, Copies: some.Copies, StartSeconds: some.Start.Seconds(),
		Vector: some.source, Demands: m.demands(some.vector), Devices: m.devices(&some), DevicesAssumed: m.Pods[some.first].DevicesAssumed,
		NeutralSeconds: some.neutral, Dilation: together.Dilations[some.first], Waits: []Wait{},
	}
	if some.workload != nil {
		p.Workload, p.Replicas = some.workload.Name(), some.workload.Replicas
	}
	if some.correction != 1 {
		p.NeutralCorrection = &some.correction
	}
	for i, name := range m.names {
		delay := together.Delay(some.first, i)
		if delay == 0 {
			continue
		}
		wait := Wait{Resource: name, Dilation: delay, Interference: m.interferes(i)}
		if device, is := m.Devices.At(m.vectors[some.first], i); is {
			wait.Device = device.String()
		}
		blame := together.BlameAt(some.first, i)
		for _, other := range m.groups {
			total := 0.0
			for k := range other.Copies {
				total += blame[other.first+k]
			}
			if total == 0 {
				continue
			}
			// Pods of one name that use different devices are several groups.
			same := func(b Because) bool { return b.Name == other.Name }
			if k := slices.IndexFunc(wait.Because, same); k >= 0 {
				wait.Because[k].Dilation += total
			} else {
				wait.Because = append(wait.Because, Because{other.Name, other.source.Profile, total})
			}
		}
		slices.SortStableFunc(wait.Because, func(a, b Because) int { return cmp.Compare(b.Dilation, a.Dilation) })
		p.Waits = append(p.Waits, wait)
	}
	slices.SortStableFunc(p.Waits, func(a, b Wait) int { return cmp.Compare(b.Dilation, a.Dilation) })
	return p
}

// complete fills in when pods are done, if all neutral times are known.
func (m *nodeMix) complete(p *Answer, options queueing.Options) error {
	var runs []mix.Run
	for _, g := range m.groups {
		if g.neutral == nil {
			return nil
		}
		for k := range g.Copies {
			runs = append(runs, mix.Run{Start: g.Start.Seconds(), Neutral: *g.neutral, Vector: m.vectors[g.first+k]})
		}
	}
	ends, err := m.completions(runs, options)
	if err != nil {
		return err
	}
	p.DoneAtSeconds = new(slices.Max(ends))
	for i, g := range m.groups {
		p.Pods[i].DoneAtSeconds = &ends[g.first] // copies are done together
	}
	return nil
}
