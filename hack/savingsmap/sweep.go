package main

import (
	"context"
	"errors"
	"fmt"
	"math"
	"runtime"
	"slices"

	"golang.org/x/sync/errgroup"
	"gonum.org/v1/gonum/stat"

	"loadline.dev/loadline/hack/comparison"
	"loadline.dev/loadline/hack/nodesim"
	"loadline.dev/loadline/hack/scenario"
	"loadline.dev/loadline/pkg/cgroup"
	"loadline.dev/loadline/pkg/evaluate/savings"
	"loadline.dev/loadline/pkg/model/placement"
)

// judge says how much the pods of a cluster are dilated where they are.
type judge interface {
	// Dilations returns those of the pods of a node, given by their indices.
	Dilations(s *scenario.Scenario, node int, pods []int) ([]float64, error)
}

// simulation is the judge that no model has a part in.
type simulation struct{ *nodesim.Judge }

// newSimulation returns the judge that is content with a standard error, relative to each pod's dilation.
func newSimulation(precision float64) *simulation {
	j := nodesim.New()
	j.Precision = precision
	return &simulation{j}
}

// Dilations implements [judge].
func (j *simulation) Dilations(s *scenario.Scenario, node int, pods []int) ([]float64, error) {
	simulated := make([]nodesim.Pod, len(pods))
	for k, i := range pods {
		share := cgroup.Flat(s.PodObject(&s.Pods[i], ""))
		simulated[k] = nodesim.Pod{Vector: s.Pods[i].Application.Vector, Weight: int(share.Weight)}
	}
	found, err := j.Judge.Dilations(s.Nodes[node].Size.Servers, simulated)
	dilations := make([]float64, len(found))
	for k := range found {
		dilations[k] = found[k].Mean
	}
	return dilations, err
}

// policies are the rules that place the pods: kube-scheduler's, and Loadline's.
var policies = []string{placement.LeastRequested{}.Name(), placement.LeastDilation{}.Name()}

// sweep finds out what is saved at points of the map.
type sweep struct {
	nodes    int
	pods     int // that the clusters of a point have together, at least
	newJudge func() judge
}

// row returns what is found at a point.
func (s *sweep) row(ctx context.Context, at savings.Point) (savings.Row, error) {
	const cores, fewest = 16, 3 // cores of a node on average, and clusters
	seeds := max(fewest, int(math.Ceil(float64(s.pods)/(at.PodsPerCore*float64(s.nodes*cores)))))
	excess := make([][]float64, len(policies))
	for p := range policies {
		excess[p] = make([]float64, seeds)
	}
	group, ctx := errgroup.WithContext(ctx)
	group.SetLimit(runtime.GOMAXPROCS(0))
	for seed := range seeds {
		group.Go(func() error {
			cluster, err := draw(at, s.nodes, uint64(seed+1))
			if err != nil {
				return err
			}
			j := s.newJudge()
			for p, policy := range policies {
				if excess[p][seed], err = excessOf(ctx, cluster, policy, j); err != nil {
					return fmt.Errorf("%+v, seed %d, %s: %w", at, seed+1, policy, err)
				}
			}
			return nil
		})
	}
	if err := group.Wait(); err != nil {
		return savings.Row{}, err
	}
	saved := make([]float64, seeds)
	for i := range saved {
		saved[i] = excess[0][i] - excess[1][i]
	}
	of := comparison.IntervalOf
	row := savings.Row{Point: at, SavedError: of(saved).Half}
	kube, own := of(excess[0]), of(excess[1])
	row.KubeScheduler, row.KubeSchedulerError = kube.Mean, kube.Half
	row.Loadline, row.LoadlineError = own.Mean, own.Half
	return row, nil
}

// place returns where a policy has placed the pods of a cluster at its last step.
func place(ctx context.Context, s *scenario.Scenario, policy string) (comparison.Placement, error) {
	placer, err := comparison.NewOffline(s, policy)
	if err != nil {
		return nil, err
	}
	at := slices.Repeat(comparison.Placement{comparison.Nowhere}, len(s.Pods))
	for step := range s.Steps + 1 {
		for _, i := range s.Going(step) {
			at[i] = comparison.Nowhere
		}
		if err := placer.Place(ctx, step, at); err != nil {
			return nil, err
		}
	}
	return at, nil
}

// excessOf returns the mean excess dilation of the pods of a cluster, at its last step, where a policy has placed them.
func excessOf(ctx context.Context, s *scenario.Scenario, policy string, j judge) (float64, error) {
	at, err := place(ctx, s, policy)
	if err != nil {
		return 0, err
	}
	onNode := make([][]int, len(s.Nodes))
	for _, i := range s.Present(s.Steps) {
		if at[i] == comparison.Nowhere {
			return 0, errors.New("no node has room for a pod")
		}
		onNode[at[i]] = append(onNode[at[i]], i)
	}
	var dilations []float64
	for n, pods := range onNode {
		if err := ctx.Err(); err != nil {
			return 0, err
		}
		found, err := j.Dilations(s, n, pods)
		if err != nil {
			return 0, fmt.Errorf("node %s: %w", s.Nodes[n].Name, err)
		}
		dilations = append(dilations, found...)
	}
	return max(0, stat.Mean(dilations, nil)-1), nil // a simulation may be off by less than nothing
}
