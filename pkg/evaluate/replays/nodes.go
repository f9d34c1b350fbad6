package replays

import (
	"cmp"
	"fmt"
	"math"
	"slices"
	"strconv"
	"strings"

	"k8s.io/apimachinery/pkg/api/resource"
	"k8s.io/apimachinery/pkg/util/validation/field"

	"loadline.dev/loadline/apis/loadline/v1alpha1"
	"loadline.dev/loadline/pkg/evaluate/manifest"
	"loadline.dev/loadline/pkg/model/epochs"
	"loadline.dev/loadline/pkg/model/loading"
	"loadline.dev/loadline/pkg/model/mix"
	"loadline.dev/loadline/pkg/profile"
)

// NodeNames returns a name for each node, in the order of their numbers.
func (r *Replay) NodeNames() []string {
	var names []string
	for _, class := range r.nodes {
		for i := range class.Count {
			name := class.Name
			if class.Count > 1 {
				name = fmt.Sprintf("%s-%d", class.Name, i+1)
			}
			names = append(names, name)
		}
	}
	return names
}

// setResources lists all resources that any object names, those that every cluster
// has first, and all requests that some node limits, besides that for the cpu.
func (r *Replay) setResources(in Input) error {
	var named []string
	for i := range in.Workloads {
		named = append(named, profile.Named(&in.Workloads[i])...)
	}
	r.requests = []string{cpu}
	for i := range r.spec.Nodes {
		for _, d := range r.spec.Nodes[i].Resources {
			named = append(named, d.Name)
		}
		for _, c := range r.spec.Nodes[i].Capacity {
			r.requests = append(r.requests, c.Name)
		}
	}
	slices.Sort(r.requests)
	r.requests = slices.Compact(r.requests)
	for i := range in.Nodes {
		class, errs := profile.NewNodeClass(&in.Nodes[i])
		if len(errs) > 0 {
			return fmt.Errorf("node profile %s: %w", in.Nodes[i].Name, errs.ToAggregate())
		}
		r.profiles = append(r.profiles, class)
	}
	r.resources = profile.NewResources(r.profiles, named...)
	return nil
}

func (r *Replay) setNodes(Input) error {
	path := field.NewPath("spec", "nodes")
	if len(r.spec.Nodes) == 0 {
		return field.Required(path, "list at least one class of nodes")
	}
	counts := map[string]int{}
	for i := range r.spec.Nodes {
		n := &r.spec.Nodes[i]
		if counts[n.Name] > 0 {
			return field.Duplicate(path.Index(i).Child("name"), n.Name)
		}
		class, err := r.nodeClass(n, path.Index(i))
		if err != nil {
			return err
		}
		counts[n.Name] = class.Count
		r.nodes = append(r.nodes, class)
	}
	for i, class := range r.nodes {
		of, number, found := cutLast(class.Name, "-")
		k, err := strconv.Atoi(number)
		if count := counts[of]; found && err == nil && class.Count == 1 && count > 1 && k >= 1 && k <= count {
			return field.Invalid(path.Index(i).Child("name"), class.Name, fmt.Sprintf("is also what a node of the class %s is called: choose another name", of))
		}
	}
	return nil
}

// vectorClass returns the class of nodes that vectors and neutral times are of: the
// NodeProfile of all nodes, if they follow the same one. Speeds say how other nodes
// differ.
func (r *Replay) vectorClass() string {
	class := r.spec.Nodes[0].NodeProfile
	for i := range r.spec.Nodes {
		if r.spec.Nodes[i].NodeProfile != class {
			return profile.AnyClass
		}
	}
	return class // AnyClass if they follow none
}

func cutLast(text, separator string) (before, after string, found bool) {
	if i := strings.LastIndex(text, separator); i >= 0 {
		return text[:i], text[i+len(separator):], true
	}
	return text, "", false
}

// nodeClass makes a class of nodes from a spec.
func (r *Replay) nodeClass(n *v1alpha1.ReplayNodes, path *field.Path) (epochs.NodeClass, error) {
	class := epochs.NodeClass{Name: n.Name, Count: 1}
	if n.Count != nil {
		class.Count = int(*n.Count)
	}
	if class.Count < 1 || class.Count > maxNodes {
		return class, field.Invalid(path.Child("count"), class.Count, fmt.Sprintf("must be between 1 and %d", maxNodes))
	}
	if n.MaxJobs != nil {
		if class.MaxJobs = int(*n.MaxJobs); class.MaxJobs < 1 {
			return class, field.Invalid(path.Child("maxJobs"), class.MaxJobs, "must be at least 1; leave it out for no limit")
		}
	}
	var err error
	if class.Capacity, err = r.capacity(n, path.Child("capacity")); err != nil {
		return class, err
	}
	servers, err := serversOf(n, r.profiles, path)
	if err != nil {
		return class, err
	}
	speeds, err := speedsOf(n, path)
	if err != nil {
		return class, err
	}
	class.NodeClass = mix.NodeClass{Speeds: speedsIn(r.resources.Names(), speeds)}
	for _, name := range r.resources.Names() {
		class.Servers = append(class.Servers, servers[name])
	}
	if class.Devices, err = r.devicesOf(n, servers, path); err != nil {
		return class, err
	}
	// Policies that score by requests can do so at the cpu without a limit.
	class.Allocatable = make([]float64, len(r.requests))
	class.Allocatable[slices.Index(r.requests, cpu)] = float64(servers[cpu])
	return class, nil
}

// capacity returns the bounds on the sums of the requests on one node; +Inf is no limit.
func (r *Replay) capacity(n *v1alpha1.ReplayNodes, path *field.Path) ([]float64, error) {
	capacity := make([]float64, len(r.requests))
	for i := range capacity {
		capacity[i] = math.Inf(1)
	}
	for i, c := range n.Capacity {
		at := slices.Index(r.requests, c.Name)
		if !math.IsInf(capacity[at], 1) {
			return nil, field.Duplicate(path.Index(i).Child("name"), c.Name)
		}
		if c.Quantity == nil || c.Quantity.Sign() <= 0 {
			return nil, field.Invalid(path.Index(i).Child("quantity"), written(c.Quantity), "must be above 0; leave out what there is no limit for")
		}
		capacity[at] = c.Quantity.AsApproximateFloat64()
	}
	return capacity, nil
}

func written(q *resource.Quantity) string {
	if q == nil {
		return ""
	}
	return q.String()
}

// serversOf returns the servers of each resource: those of the spec, else those of the profile,
// else one server of each resource that every node has, and at the cpu the number that the capacity
// gives. The nodes do not have other resources.
func serversOf(n *v1alpha1.ReplayNodes, profiles []*profile.NodeClass, path *field.Path) (map[string]int, error) {
	servers := map[string]int{}
	for _, name := range profile.NewResources(nil).Names() {
		servers[name] = 1
	}
	for _, c := range n.Capacity {
		if c.Name == cpu {
			servers[cpu] = int(min(max(1, math.Round(c.Quantity.AsApproximateFloat64())), loading.MaxServers))
		}
	}
	if n.NodeProfile != "" {
		i := slices.IndexFunc(profiles, func(p *profile.NodeClass) bool { return p.Name == n.NodeProfile })
		if i < 0 {
			return nil, field.NotFound(path.Child("nodeProfile"), n.NodeProfile).WithOrigin(manifest.OriginMissing)
		}
		for _, name := range profiles[i].Named {
			servers[name] = cmp.Or(profiles[i].Servers[name], servers[name], 1)
		}
		for _, kind := range profiles[i].DeviceKinds() {
			servers[kind.Name] = cmp.Or(kind.Count, 1)
		}
	}
	seen := map[string]bool{}
	for i, s := range n.Resources {
		path := path.Child("resources").Index(i)
		if seen[s.Name] {
			return nil, field.Duplicate(path.Child("name"), s.Name)
		}
		seen[s.Name] = true
		if s.Servers != nil {
			servers[s.Name] = int(*s.Servers)
		} else {
			servers[s.Name] = cmp.Or(servers[s.Name], 1) // named, so there is one
		}
		if c := servers[s.Name]; c < 1 || c > loading.MaxServers {
			return nil, field.Invalid(path.Child("servers"), c, fmt.Sprintf("must be between 1 and %d", loading.MaxServers))
		}
	}
	return servers, nil
}

// speedsOf returns the speeds of the resources that have one of their own.
func speedsOf(n *v1alpha1.ReplayNodes, path *field.Path) (map[string]float64, error) {
	const slowest, fastest = 0.001, 1000
	speeds := map[string]float64{}
	for i, s := range n.Resources {
		if s.Speed == nil {
			continue
		}
		speed := s.Speed.AsApproximateFloat64()
		if !(speed >= slowest && speed <= fastest) {
			return nil, field.Invalid(path.Child("resources").Index(i).Child("speed"), s.Speed.String(), "is relative to the node on which demands were measured: write a number from 0.001 to 1000")
		}
		speeds[s.Name] = speed
	}
	return speeds, nil
}

// speedsIn puts speeds in the order of some resources; nil if they are all 1.
func speedsIn(resources []string, speeds map[string]float64) []float64 {
	if len(speeds) == 0 {
		return nil
	}
	list := make([]float64, len(resources))
	for i, name := range resources {
		list[i] = cmp.Or(speeds[name], 1)
	}
	return list
}
