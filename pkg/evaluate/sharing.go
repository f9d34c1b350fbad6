package evaluate

import (
	"cmp"
	"fmt"
	"maps"
	"slices"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/resource"

	"loadline.dev/loadline/pkg/cgroup"
	"loadline.dev/loadline/pkg/model/contention"
	"loadline.dev/loadline/pkg/model/queueing"
	"loadline.dev/loadline/pkg/profile"
)

// SharedNode is how pods share the CPU of a node, as the control groups have it that its kubelet makes of them.
type SharedNode struct {
	// Pool is the cores that they share.
	Pool *cgroup.Pool
	// Vectors are those of the pods, in the order in which they were given, and Servers those of the resources, as the
	// pods in the pool find them: without what the others do on cores of their own.
	Vectors []contention.Vector
	Servers []int

	cpu int
}

// Share returns how pods share a node with these servers per resource, CPU being that of the index cpu. The error is that
// of [cgroup.NewPool].
func Share(pods []corev1.Pod, vectors []contention.Vector, servers []int, cpu int, options cgroup.Options) (*SharedNode, error) {
	pool, err := cgroup.NewPool(pods, servers[cpu], options)
	if err != nil {
		return nil, err
	}
	n := &SharedNode{Pool: pool, Servers: slices.Clone(servers), cpu: cpu}
	n.Servers[cpu] = pool.Cores
	for j, v := range vectors {
		n.Vectors = append(n.Vectors, pool.InPool(j, v, cpu))
	}
	holdBack(vectors, cpu, pool.Shares)
	return n, nil
}

// AddSystem adds the processes of the node that are in no pod, with their vector, as if they were the last pod. See
// [cgroup.Pool.AddSystem].
func (n *SharedNode) AddSystem(v contention.Vector, allocatable int64, conversion cgroup.Conversion) {
	n.Pool.AddSystem(allocatable, conversion)
	n.Vectors = append(n.Vectors, v)
}

// Predict returns how the pods fare.
func (n *SharedNode) Predict(options queueing.Options) (*contention.Prediction, error) {
	return contention.PredictSharing(n.Vectors, n.Servers, n.Pool.Sharing(n.cpu), options)
}

// Estimate returns about the dilations of [SharedNode.Predict], in a small part of the time: see [contention.EstimateSharing].
func (n *SharedNode) Estimate() ([]float64, error) {
	return contention.EstimateSharing(n.Vectors, n.Servers, n.Pool.Sharing(n.cpu))
}

// Bounds returns bounds from above on the dilations of [SharedNode.Predict]: see [contention.BoundSharing].
func (n *SharedNode) Bounds() ([]float64, error) {
	return contention.BoundSharing(n.Vectors, n.Servers, n.Pool.Sharing(n.cpu))
}

// DepartureBounds returns bounds from above on the dilations of [SharedNode.Predict] that hold whichever other pods are gone: see
// [contention.BoundDepartures].
func (n *SharedNode) DepartureBounds() ([]float64, error) {
	return contention.BoundDepartures(n.Vectors, n.Servers, n.Pool.Sharing(n.cpu))
}

// Alike reports whether two pods are in each other's place without a difference.
func (n *SharedNode) Alike(a, b int) bool {
	return n.Pool.Shares[a] == n.Pool.Shares[b] && n.Pool.Exclusive[a] == n.Pool.Exclusive[b] && n.Vectors[a].Alike(n.Vectors[b])
}

// Steps returns about how many steps [SharedNode.Predict] takes: see [contention.Sharing.Steps].
func (n *SharedNode) Steps() float64 {
	sharing := n.Pool.Sharing(n.cpu)
	return sharing.Steps(n.Vectors, n.Servers)
}

// Unsure returns those components of vectors that are known to within margins only which count on the node: the CPU of a
// pod with cores of its own does not.
func (n *SharedNode) Unsure(unsure []contention.Unsure) []contention.Unsure {
	var all []contention.Unsure
	for _, u := range unsure {
		if u.Resource == n.cpu {
			u.Jobs = slices.DeleteFunc(slices.Clone(u.Jobs), func(j int) bool { return n.Pool.Exclusive[j] > 0 })
		}
		if len(u.Jobs) > 0 {
			all = append(all, u)
		}
	}
	return all
}

// share finds how the pods share the node's cores. Where nothing is known of what any requests, they share alike.
func (n *sharedNode) share(in *PredictionInput, known *catalog) error {
	requests, err := n.told("requests", in.Requests, known)
	if err != nil {
		return err
	}
	limits, err := n.told("limits", in.Limits, known)
	if err != nil {
		return err
	}
	manifest := func(g group) bool { return g.pod != nil }
	if len(requests)+len(limits) == 0 && !slices.ContainsFunc(n.groups, manifest) {
		return nil
	}
	var pods []corev1.Pod
	for i := range n.groups {
		g := &n.groups[i]
		request, limit := requests[g.subject], limits[g.subject]
		if g.pod == nil && request == nil && limit == nil {
			return fmt.Errorf("requests: there is none for %q: name what every pod on the node requests, 0 for nothing", g.Name)
		}
		g.sharer = cmp.Or(g.pod, bare())
		if request != nil || limit != nil {
			if g.sharer, err = cgroup.WithCPU(g.sharer, request, limit); err != nil {
				return fmt.Errorf("pods %q: %w", g.Name, err)
			}
		}
		if g.source.Source == SourceRequests {
			n.assume(g, cgroup.Flat(g.sharer).Limit, known.resources)
		}
		for range g.Copies {
			pods = append(pods, *g.sharer)
		}
	}
	n.shared, err = Share(pods, n.vectors, n.servers, n.cpu(), in.Weights)
	return err
}

// cpu returns the index of the CPU among the resources.
func (n *sharedNode) cpu() int { return slices.Index(n.names, string(corev1.ResourceCPU)) }

// equalShares returns how the pods share the CPU if all request the same and have no limits.
func (n *sharedNode) equalShares() contention.Sharing {
	return contention.EqualShares(n.cpu(), len(n.vectors))
}

// assume keeps what is assumed of some pods within their limit.
func (n *sharedNode) assume(g *group, limit float64, resources *profile.Resources) {
	g.vector = resources.Within(g.vector, limit)
	for j := g.first; j < g.first+g.Copies; j++ {
		n.vectors[j] = resources.Within(n.vectors[j], limit)
	}
}

// told returns the quantities of some pods by whose they are.
func (n *sharedNode) told(field string, quantities map[string]resource.Quantity, known *catalog) (map[*subject]*resource.Quantity, error) {
	told := map[*subject]*resource.Quantity{}
	for _, name := range slices.Sorted(maps.Keys(quantities)) {
		cpu := quantities[name]
		s, err := known.find(name)
		if err != nil || !slices.ContainsFunc(n.groups, func(g group) bool { return g.subject == s }) {
			return nil, fmt.Errorf("%s: there is no pod of %q on the node", field, name)
		}
		if cpu.Sign() < 0 {
			return nil, fmt.Errorf("%s: %q: %s is less than 0", field, name, cpu.String())
		}
		if why := amount(corev1.ResourceCPU, &cpu); why != "" {
			return nil, fmt.Errorf("%s: %q: %s %s", field, name, cpu.String(), why)
		}
		if told[s] != nil {
			return nil, fmt.Errorf("%s: %q is told twice, by another name, too", field, name)
		}
		told[s] = &cpu
	}
	return told, nil
}

// bare returns a pod with one container that requests nothing.
func bare() *corev1.Pod {
	return &corev1.Pod{Spec: corev1.PodSpec{Containers: []corev1.Container{{Name: "main"}}}}
}

// completions returns when runs, one for each pod, are done.
func (n *sharedNode) completions(runs []contention.Run, options queueing.Options) ([]float64, error) {
	if n.shared == nil {
		return contention.CompletionsSharing(runs, n.servers, n.equalShares(), options)
	}
	for j := range runs {
		runs[j].Vector = n.shared.Vectors[j]
	}
	return contention.CompletionsSharing(runs, n.shared.Servers, n.shared.Pool.Sharing(n.shared.cpu), options)
}
