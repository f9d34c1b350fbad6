package node_test

import (
	"math"
	"testing"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/resource"

	"loadline.dev/loadline/apis/config"
	configv1alpha1 "loadline.dev/loadline/apis/config/v1alpha1"
	"loadline.dev/loadline/pkg/model/loading"
	"loadline.dev/loadline/pkg/node"
	"loadline.dev/loadline/pkg/profile"
)

func TestABoundIsWhatThePodRequestsOfWhatItIsPromised(t *testing.T) {
	t.Parallel()
	limits := config.Limits{MinMaxDilation: 1.05}
	for name, test := range map[string]struct {
		promised   float64
		request    string
		threads    int
		processors int
		limits     config.Limits
		want       float64
		written    string
	}{
		"what the profile says":                 {1.5, "1", 1, 64, limits, 1.5, "1.50×"},
		"a vector without threads":              {1.5, "1", 0, 64, limits, 1.5, "1.50×"},
		"no request, one thread":                {1.5, "", 1, 64, limits, 1.5, "1.50×"},
		"as many threads as are requested":      {1.5, "4", 4, 64, limits, 1.5, "1.50×"},
		"fewer":                                 {1.5, "8", 4, 64, limits, 1.5, "1.50×"},
		"a part of the last processor":          {1.5, "3001m", 4, 64, limits, 1.5, "1.50×"},
		"more threads than are requested":       {1.5, "3", 4, 64, limits, 2, "2.00× (1.50× on 3 of the 4 processors that it can use: its CPU request covers no more)"},
		"threads that wait for each other":      {1.5, "1", 64, 1, limits, 1.5, "1.50×"},
		"no more than the node has":             {1.5, "1m", 64, 4, limits, 6, "6.00× (1.50× on 1 of the 4 processors that it can use: its CPU request covers no more)"},
		"the lowest":                            {1.05, "1", 1, 64, limits, 1.05, "1.05×"},
		"below the lowest":                      {1, "1", 1, 64, limits, 1.05, "1.05× (the scheduler's lowest, 1.05×, in place of its profile's 1.00×)"},
		"below the lowest, of many processors":  {1, "1m", 64, 64, limits, 67.2, "67.20× (the scheduler's lowest, 1.05×, in place of its profile's 1.00× on 1 of the 64 processors that it can use: its CPU request covers no more)"},
		"where there is no lowest":              {1, "1", 1, 64, config.Limits{}, 1, "1.00×"},
		"a request of more than can be counted": {1.5, "1e30", 64, 64, limits, 1.5, "1.50×"},
	} {
		promise := node.NewPromise(pod("a", test.request), &profile.Workload{MaxDilation: test.promised}, configv1alpha1.GuardEnforce, test.limits)
		bound := promise.On(loading.Demand{Loading: 1, Threads: test.threads}, test.processors)
		if math.Abs(bound.Max-test.want) > 1e-9 || bound.Enforced() != bound.Max || bound.String() != test.written {
			t.Errorf("%s: %v, %s", name, bound.Max, bound)
		}
	}
}

func TestARequestOfAllContainersCoversProcessors(t *testing.T) {
	t.Parallel()
	p := pod("a", "600m")
	p.Spec.Containers = append(p.Spec.Containers, *p.Spec.Containers[0].DeepCopy())
	p.Spec.Overhead = corev1.ResourceList{corev1.ResourceCPU: resource.MustParse("900m")} // 2100m in all
	promise := node.NewPromise(p, &profile.Workload{MaxDilation: 2}, configv1alpha1.GuardEnforce, config.Limits{})
	if bound := promise.On(loading.Demand{Threads: 6}, 8); bound.Max != 4 {
		t.Errorf("got %+v", bound)
	}
}

func TestABoundIsNoneWhereNothingIsPromised(t *testing.T) {
	t.Parallel()
	two := &profile.Workload{MaxDilation: 2}
	for name, test := range map[string]struct {
		workload *profile.Workload
		mode     configv1alpha1.GuardMode
		most     float64
		enforced float64
	}{
		"enforced":   {two, configv1alpha1.GuardEnforce, 2, 2},
		"warned":     {two, configv1alpha1.GuardWarn, 2, 0},
		"off":        {two, configv1alpha1.GuardOff, 0, 0},
		"no promise": {&profile.Workload{}, configv1alpha1.GuardEnforce, 0, 0},
		"no profile": {nil, configv1alpha1.GuardEnforce, 0, 0},
	} {
		bound := node.NewPromise(pod("a", "1"), test.workload, test.mode, config.Limits{MinMaxDilation: 1.05}).On(loading.Demand{Threads: 1}, 1)
		if bound.Max != test.most || bound.Enforced() != test.enforced {
			t.Errorf("%s: %+v", name, bound)
		}
	}
}

func TestAHigherBoundIsSaidAsWhatTheProfileHasToSay(t *testing.T) {
	t.Parallel()
	const enforce = configv1alpha1.GuardEnforce
	all := []node.Excess{
		{Pod: 0, Worst: 9, Bound: node.Bound{Max: 6, Mode: enforce, Promised: 1.5, Usable: 4, Covered: 1}}, // 2.25 would be enough
		{Pod: 1, Worst: 2.4, Bound: node.Bound{Max: 1.5, Mode: enforce, Promised: 1.5, Usable: 4, Covered: 4}},
	}
	if got := raise(all, 2, map[int]bool{0: true, 1: true}); got != 2.4 {
		t.Errorf("of both: %v", got)
	}
	if got := raise(all[:1], 2, map[int]bool{0: true}); got != 2.25 {
		t.Errorf("of the one with more threads than it requests: %v", got)
	}
}
