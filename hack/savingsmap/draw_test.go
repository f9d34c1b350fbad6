package main

import (
	"math"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"loadline.dev/loadline/hack/scenario"
	"loadline.dev/loadline/pkg/evaluate/savings"
	"loadline.dev/loadline/pkg/model/loading"
)

const testNodes = 10

func drawn(t *testing.T, at savings.Point, seed uint64) *scenario.Scenario {
	t.Helper()
	s, err := draw(at, testNodes, seed)
	if err != nil {
		t.Fatal(err)
	}
	return s
}

// pointAt returns where a cluster is at a step.
func pointAt(s *scenario.Scenario, step int) savings.Point {
	servers := make([]int, len(scenario.Resources))
	for _, n := range s.Nodes {
		for r, count := range n.Size.Servers {
			servers[r] += count
		}
	}
	var vectors []loading.Vector
	for _, i := range s.Present(step) {
		vectors = append(vectors, s.Pods[i].Application.Vector)
	}
	p, _ := savings.PointOf(servers, scenario.CPU, vectors)
	return p
}

func TestClustersAreWhereTheyAreToBeAtBothSteps(t *testing.T) {
	t.Parallel()
	for _, at := range grid() {
		s := drawn(t, at, 1)
		for step := range s.Steps + 1 {
			if got := pointAt(s, step); math.Abs(got.Load-at.Load) > 0.01 || math.Abs(got.PodsPerCore-at.PodsPerCore) > 0.02*at.PodsPerCore || math.Abs(got.Unlikeness-at.Unlikeness) > 0.025 {
				t.Errorf("step %d: %+v, want %+v", step, got, at)
			}
		}
	}
}

func TestAClusterThatCannotBeIsRefused(t *testing.T) {
	t.Parallel()
	for _, at := range []savings.Point{
		{Load: 0.9, PodsPerCore: 0.05},                // a pod uses 7 cores at most
		{Load: 0.5, PodsPerCore: 2, Unlikeness: 0.99}, // there are three resources
	} {
		if s, err := draw(at, testNodes, 1); err == nil || !strings.HasPrefix(err.Error(), "the nearest cluster to ") {
			t.Errorf("%+v: %v, and an error of %v", at, pointAt(s, 0), err)
		}
	}
}

// Without any unlikeness all pods live off the cores; with as much as three resources allow, as many live off each.
func TestUnlikePodsLiveOffDifferentResources(t *testing.T) {
	t.Parallel()
	for unlikeness, want := range map[float64]map[int]float64{
		0:         {scenario.CPU: 1},
		2.0 / 3.0: {scenario.CPU: 1.0 / 3, scenario.Disk: 1.0 / 3, scenario.Network: 1.0 / 3},
	} {
		c := &cluster{Scenario: &scenario.Scenario{}, servers: []int{160, 20, 20}}
		c.addKinds(int(480), unlikeness)
		for r := range c.servers {
			if got := float64(c.kinds[r].pods()) / 480; math.Abs(got-want[r]) > 1e-9 {
				t.Errorf("unlikeness %v: %v of the pods live off the %s, want %v", unlikeness, got, scenario.Resources[r], want[r])
			}
		}
	}
}

func TestASeedGivesOneCluster(t *testing.T) {
	t.Parallel()
	at := savings.Point{Load: 0.6, PodsPerCore: 1, Unlikeness: 0.4}
	if diff := cmp.Diff(drawn(t, at, 1).Pods, drawn(t, at, 1).Pods); diff != "" {
		t.Errorf("twice the same seed: %s", diff)
	}
	if cmp.Equal(drawn(t, at, 1).Pods, drawn(t, at, 2).Pods) {
		t.Error("another seed gives the same pods")
	}
}

// Profiles are off by σ = 0.2, and requests, beside what pods use, by 0.7; they add up to 60 % of the cores, at whichever load.
func TestProfilesAndRequestsAreOffAsStated(t *testing.T) {
	t.Parallel()
	var profiles, requests []float64
	for seed := range uint64(20) {
		s := drawn(t, savings.Point{Load: 0.4, PodsPerCore: 2, Unlikeness: 0.4}, seed)
		sum := int64(0)
		for _, i := range s.Present(s.Steps) {
			sum += s.Pods[i].Application.MilliCPU
		}
		if part := float64(sum) / 1000 / float64(s.Cores()); part < 0.5 || part > requested+0.01 {
			t.Errorf("seed %d: %.2f of the cores are requested", seed, part)
		}
		var own []float64
		for _, a := range s.Applications {
			cpu := a.Vector[scenario.CPU]
			profiles = append(profiles, math.Log(a.Declared[scenario.CPU].Loading/cpu.Loading))
			own = append(own, math.Log(float64(a.MilliCPU)/(cpu.Loading*float64(cpu.ThreadCount()))))
		}
		requests = append(requests, own...)
	}
	for name, test := range map[string]struct {
		off  []float64
		want float64
	}{"profiles": {profiles, profileError}, "requests": {requests, requestError}} {
		sum, squares := 0.0, 0.0
		for _, x := range test.off {
			sum, squares = sum+x, squares+x*x
		}
		n := float64(len(test.off))
		if sigma := math.Sqrt(squares/n - sum*sum/n/n); math.Abs(sigma-test.want) > 0.1*test.want {
			t.Errorf("%s are off by σ = %.3f, want %v", name, sigma, test.want)
		}
	}
}

func TestHalfOfThePodsAreReplacedByEqualOnes(t *testing.T) {
	t.Parallel()
	s := drawn(t, savings.Point{Load: 0.6, PodsPerCore: 1, Unlikeness: 0.4}, 1)
	names := func(pods []int) (all []string) {
		for _, i := range pods {
			all = append(all, s.Pods[i].Application.Name)
		}
		slices.Sort(all)
		return all
	}
	if diff := cmp.Diff(names(s.Going(1)), names(s.Coming(1))); diff != "" || len(s.Coming(1)) != len(s.Present(0))/2 {
		t.Errorf("%d of %d pods come (-going +coming)\n%s", len(s.Coming(1)), len(s.Present(0)), diff)
	}
}

func TestWhatPodsAreIsValid(t *testing.T) {
	t.Parallel()
	for _, at := range grid() {
		for _, a := range drawn(t, at, 3).Applications {
			for _, v := range []loading.Vector{a.Vector, a.Declared} {
				if err := v.Validate(); err != nil {
					t.Errorf("%+v: %s: %v", at, a.Name, err)
				}
			}
			if a.MilliCPU < 1 || a.MilliCPU > 1000*maxRequest {
				t.Errorf("%+v: %s requests %dm", at, a.Name, a.MilliCPU)
			}
		}
	}
}
