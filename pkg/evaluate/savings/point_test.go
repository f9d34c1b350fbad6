package savings_test

import (
	"math"
	"slices"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"
	"pgregory.net/rapid"

	"loadline.dev/loadline/pkg/evaluate/savings"
	"loadline.dev/loadline/pkg/model/loading"
)

// times returns a number of pods with a vector.
func times(n int, loadings ...float64) []loading.Vector {
	return slices.Repeat([]loading.Vector{loading.Loadings(loadings...)}, n)
}

func TestAPointFollowsFromDemands(t *testing.T) {
	t.Parallel()
	threads := loading.Loadings(0.5, 0)
	threads[0].Threads = 4
	for name, test := range map[string]struct {
		pods []loading.Vector
		want savings.Point
	}{
		"one pod":                   {times(1, 0.8, 0.1), savings.Point{Load: 0.1, PodsPerCore: 0.125}},
		"all alike":                 {times(5, 0.8, 0.1), savings.Point{Load: 0.5, PodsPerCore: 0.625}},
		"alike but for their sizes": {append(times(2, 0.4, 0.05), times(2, 0.8, 0.1)...), savings.Point{Load: 0.3, PodsPerCore: 0.5}},
		"each at a resource of its own": {
			append(times(1, 0.8, 0), times(1, 0, 0.1)...), savings.Point{Load: 0.1, PodsPerCore: 0.25, Unlikeness: 1},
		},
		"many at each of two resources": { // of the 28 pairs of 8 pods, 2 · 6 are of one resource
			append(times(4, 0.8, 0), times(4, 0, 0.1)...), savings.Point{Load: 0.4, PodsPerCore: 1, Unlikeness: 1 - 12.0/28},
		},
		"the busiest resource counts": {times(4, 0.1, 0.2), savings.Point{Load: 0.8, PodsPerCore: 0.5}},
		"threads count":               {[]loading.Vector{threads}, savings.Point{Load: 0.25, PodsPerCore: 0.125}},
		"pods that use nothing do not": {
			append(times(4, 0.1, 0.2), times(9, 0, 0)...), savings.Point{Load: 0.8, PodsPerCore: 0.5},
		},
		"a short vector": {times(8, 0.5), savings.Point{Load: 0.5, PodsPerCore: 1}},
	} {
		got, found := savings.PointOf([]int{8, 1}, 0, test.pods)
		if diff := cmp.Diff(test.want, got, cmpopts.EquateApprox(0, 1e-12)); !found || diff != "" {
			t.Errorf("%s: found: %t (-want +got)\n%s", name, found, diff)
		}
	}
}

func TestWithoutPodsOrCoresThereIsNoPoint(t *testing.T) {
	t.Parallel()
	for name, test := range map[string]struct {
		servers []int
		pods    []loading.Vector
	}{
		"no pods":            {[]int{8, 1}, nil},
		"pods that use none": {[]int{8, 1}, times(3, 0, 0)},
		"no cores":           {[]int{0, 1}, times(3, 0, 0.5)},
		"no nodes":           {[]int{0, 0}, times(3, 0.5, 0.5)},
	} {
		if p, found := savings.PointOf(test.servers, 0, test.pods); found {
			t.Errorf("%s: found %+v", name, p)
		}
	}
}

// By the definition: the mean over all pairs, one by one.
func TestUnlikenessIsThatOfAllPairs(t *testing.T) {
	t.Parallel()
	servers := []int{16, 2, 3}
	rapid.Check(t, func(t *rapid.T) {
		demand := rapid.SliceOfN(rapid.Float64Range(0.001, 1), 3, 3)
		var pods []loading.Vector
		for _, loadings := range rapid.SliceOfN(demand, 2, 12).Draw(t, "pods") {
			pods = append(pods, loading.Loadings(loadings...))
		}
		sum, pairs := 0.0, 0.0
		for i := range pods {
			for j := range i {
				dot, a, b := 0.0, 0.0, 0.0
				for r, n := range servers {
					x, y := pods[i][r].Loading/float64(n), pods[j][r].Loading/float64(n)
					dot, a, b = dot+x*y, a+x*x, b+y*y
				}
				sum, pairs = sum+dot/math.Sqrt(a*b), pairs+1
			}
		}
		got, _ := savings.PointOf(servers, 0, pods)
		if want := 1 - sum/pairs; math.Abs(got.Unlikeness-want) > 1e-9 {
			t.Fatalf("%v, want %v", got.Unlikeness, want)
		}
	})
}
