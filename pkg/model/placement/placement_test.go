package placement_test

import (
	"testing"

	"github.com/google/go-cmp/cmp"
	"pgregory.net/rapid"

	"loadline.dev/loadline/pkg/model/contention"
	"loadline.dev/loadline/pkg/model/contention/bruteforce"
	"loadline.dev/loadline/pkg/model/placement"
)

func machines(n int) []*placement.Node {
	nodes := make([]*placement.Node, n)
	for i := range nodes {
		nodes[i] = &placement.Node{Load: contention.NewLoad([]int{1, 1})}
	}
	return nodes
}

// Table 3 of the D-factor paper: W1 and W2 run on machine 1 and W3 on machine 2
// when W4 arrives. p'·p̄ ties, and the paper takes the first machine.
func TestPoliciesReproduceFig8(t *testing.T) {
	cpu, io := contention.Loadings(1, 0), contention.Loadings(0, 1)
	w1, w2 := placement.Job{Neutral: 110.56, Vector: cpu}, placement.Job{Neutral: 115.83, Vector: io}
	w3, w4 := placement.Job{Neutral: 180, Vector: cpu}, placement.Job{Neutral: 110.56, Vector: cpu}
	nodes := machines(2)
	nodes[0].Add(w1)
	nodes[0].Add(w2)
	nodes[1].Add(w3)
	if got := (placement.List{}).Choose(w4, nodes); got != 1 {
		t.Errorf("the list scheduler puts W4 on machine %d, the paper's on machine 2", got+1)
	}
	if got := (placement.LeastDilation{}).Choose(w4, nodes); got != 0 {
		t.Errorf("least dilation puts W4 on machine %d, the paper's on machine 1", got+1)
	}
}

// From the first job on, least dilation arrives at the paper's schedule by
// itself, and the list scheduler at another one of the same makespan.
func TestPoliciesPlaceTheJobsOfTable3InOrder(t *testing.T) {
	cpu, io := contention.Loadings(1, 0), contention.Loadings(0, 1)
	jobs := []placement.Job{
		{Neutral: 110.56, Vector: cpu},
		{Neutral: 115.83, Vector: io},
		{Neutral: 180, Vector: cpu},
		{Neutral: 110.56, Vector: cpu},
	}
	for _, test := range []struct {
		policy placement.Policy
		want   []int
	}{{placement.List{}, []int{0, 1, 0, 1}}, {placement.LeastDilation{}, []int{0, 0, 1, 0}}} {
		nodes := machines(2)
		var got []int
		for _, j := range jobs {
			i := test.policy.Choose(j, nodes)
			nodes[i].Add(j)
			got = append(got, i)
		}
		if diff := cmp.Diff(test.want, got); diff != "" {
			t.Errorf("%s: (-want +got)\n%s", test.policy.Name(), diff)
		}
	}
}

func TestNoNodesNoChoice(t *testing.T) {
	for _, policy := range []placement.Policy{placement.List{}, placement.LeastDilation{}} {
		if got := policy.Choose(placement.Job{Vector: contention.Loadings(1)}, nil); got != -1 {
			t.Errorf("%s chooses %d from nothing", policy.Name(), got)
		}
	}
}

func TestLeastDilationMinimizesTheGrowthOfTheTotalWait(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		servers := []int{rapid.IntRange(1, 3).Draw(t, "c"), 1}
		draw := func() contention.Vector {
			a := rapid.Float64Range(0, 1).Draw(t, "a")
			return contention.Loadings(a, 1-a)
		}
		job := placement.Job{Vector: draw()}
		nodes := make([]*placement.Node, rapid.IntRange(1, 4).Draw(t, "nodes"))
		growth := make([]float64, len(nodes))
		for i := range nodes {
			nodes[i] = &placement.Node{Load: contention.NewLoad(servers)}
			var on []contention.Vector
			for range rapid.IntRange(0, 4).Draw(t, "jobs") {
				v := draw()
				nodes[i].Add(placement.Job{Vector: v})
				on = append(on, v)
			}
			growth[i] = bruteforce.TotalWait(servers, append(on, job.Vector)) - bruteforce.TotalWait(servers, on)
		}
		chosen := growth[placement.LeastDilation{}.Choose(job, nodes)]
		for i := range growth {
			if growth[i] < chosen-1e-10 {
				t.Fatalf("chose a node where the wait grows by %v, node %d grows by %v", chosen, i, growth[i])
			}
		}
	})
}
