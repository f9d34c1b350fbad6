package node

import (
	"fmt"
	"slices"

	corev1 "k8s.io/api/core/v1"

	"loadline.dev/loadline/pkg/cgroup"
	"loadline.dev/loadline/pkg/model/contention"
	"loadline.dev/loadline/pkg/model/loading"
	"loadline.dev/loadline/pkg/model/mix"
	"loadline.dev/loadline/pkg/model/queueing"
)

// Shared is how the pods of a node, and last the system where there is one, share its cores by the control groups that its kubelet
// makes of them.
type Shared struct {
	// Pool is the cores that they share.
	Pool *cgroup.CorePool
	// Vectors are those of the pods, and Servers those of the resources, as the pods in the pool find them: without what the others
	// do on cores of their own.
	Vectors []loading.Vector
	Servers []int

	node *Node
}

// Share returns how the pods share the node's cores. The error is that of [cgroup.NewPool], and names the node where that has a name.
func (n *Node) Share() (*Shared, error) {
	pods := make([]*corev1.Pod, len(n.Pods))
	for i := range n.Pods {
		pods[i] = n.Pods[i].Pod
	}
	pool, err := cgroup.NewPool(pods, n.Servers[n.CPU], n.Weights)
	if err != nil {
		return nil, n.named(err)
	}
	s := &Shared{Pool: pool, Vectors: n.Vectors(), Servers: slices.Clone(n.Servers), node: n}
	s.Servers[n.CPU] = pool.Cores
	holdBack(s.Vectors, n.CPU, pool.Shares)
	shareBursts(s.Vectors, n.CPU, pool.Shares)
	for j, v := range s.Vectors {
		s.Vectors[j] = pool.InPool(j, v, n.CPU)
	}
	if n.System.Vector != nil {
		pool.AddSystem(n.System.Allocatable, n.Weights.Pods)
		s.Vectors = append(s.Vectors, n.System.Vector)
	}
	return s, nil
}

// named returns an error with the name of the node, where it has one.
func (n *Node) named(err error) error {
	if err == nil || n.Name == "" {
		return err
	}
	return fmt.Errorf("node %s: %w", n.Name, err)
}

// sharing returns how they share the cores, as the model has it.
func (s *Shared) sharing() contention.Sharing { return s.Pool.Sharing(s.node.CPU) }

// Predict returns how they fare.
func (s *Shared) Predict(options queueing.Options) (*contention.Prediction, error) {
	p, err := contention.PredictSharing(s.Vectors, s.Servers, s.sharing(), options)
	return p, s.node.named(err)
}

// Completions returns when runs, one for each pod, are done: see [contention.CompletionsSharing]. Their vectors become those of the pods.
func (s *Shared) Completions(runs []mix.Run, options queueing.Options) ([]float64, error) {
	for j := range runs {
		runs[j].Vector = s.Vectors[j]
	}
	return mix.CompletionsSharing(runs, s.Servers, s.sharing(), options)
}

// Unsure returns those components of vectors that are known to within margins only which count on the node: the CPU of a
// pod with cores of its own does not.
func (s *Shared) Unsure(unsure []contention.Unsure) []contention.Unsure {
	var all []contention.Unsure
	for _, u := range unsure {
		if u.Resource == s.node.CPU {
			u.Jobs = slices.DeleteFunc(slices.Clone(u.Jobs), func(j int) bool { return s.Pool.Exclusive[j] > 0 })
		}
		if len(u.Jobs) > 0 {
			all = append(all, u)
		}
	}
	return all
}

// estimate returns estimates of the dilations of [Shared.Predict], in a small part of the time: see [contention.EstimateSharing].
func (s *Shared) estimate() ([]float64, error) {
	return mix.EstimateSharing(s.Vectors, s.Servers, s.sharing())
}

// bounds returns bounds from above on the dilations of [Shared.Predict]: see [contention.BoundSharing].
func (s *Shared) bounds() ([]float64, error) {
	return contention.BoundSharing(s.Vectors, s.Servers, s.sharing())
}

// departureBounds returns bounds from above on the dilations of [Shared.Predict] that hold whichever other pods are gone: see
// [contention.BoundDepartures].
func (s *Shared) departureBounds() ([]float64, error) {
	return contention.BoundDepartures(s.Vectors, s.Servers, s.sharing())
}

// alike reports whether two pods are in each other's place without a difference.
func (s *Shared) alike(a, b int) bool {
	return s.Pool.Shares[a] == s.Pool.Shares[b] && s.Pool.Exclusive[a] == s.Pool.Exclusive[b] && s.Vectors[a].Alike(s.Vectors[b])
}

// steps returns about how many steps [Shared.Predict] takes: see [contention.Sharing.Steps].
func (s *Shared) steps() float64 {
	sharing := s.sharing()
	return sharing.Steps(s.Vectors, s.Servers)
}
