package explanation

import (
	"math"
	"strings"
	"testing"

	corev1 "k8s.io/api/core/v1"

	"loadline.dev/loadline/apis/config"
	"loadline.dev/loadline/apis/loadline/v1alpha1"
	"loadline.dev/loadline/pkg/cgroup"
	"loadline.dev/loadline/test/given"
)

// busyPods are two pods on one core that never rest, with these requests; of the first is asked.
func busyPods(requests ...string) *Input {
	in := &Input{Nodes: []corev1.Node{nodeNamed("worker-1")}, Workloads: []v1alpha1.WorkloadProfile{given.Workload("busy", 0, given.CPU("1"))}}
	for i, request := range requests {
		var list corev1.ResourceList
		if request != "" {
			list = cores(request)
		}
		in.Pods = append(in.Pods, pod(string(rune('a'+i)), "busy", "worker-1", list))
	}
	in.Pod = &in.Pods[0]
	return in
}

// The weights are 2 for 50m and 20 for 500m: the pod gets one part of eleven.
func TestAnExplanationSaysWhatWeightDoes(t *testing.T) {
	t.Parallel()
	in := busyPods("50m", "500m")
	e, err := OfPod(asked(t, in))
	if err != nil {
		t.Fatal(err)
	}
	if !near(*e.Dilation, 11) || !near(*e.EqualDilation, 2) || e.Weight == nil || e.Weight.Neighbour != "shop/b" || !near(e.Weight.Times, 10) || !near(e.Neighbours[0].Dilation, 1.1) {
		t.Errorf("%+v, %+v", e, e.Weight)
	}
	// It needs a core, and half of one is left.
	if e.Weight.Remedy != nil {
		t.Errorf("a request is proposed that is not there: %+v", e.Weight.Remedy)
	}
	// With a limit of 400m it needs no more than that, and then gets it: 16 of 36 parts are more.
	in.Pod.Spec.Containers[0].Resources.Limits = cores("400m")
	if e, err = OfPod(asked(t, in)); err != nil {
		t.Fatal(err)
	}
	if r := e.Weight.Remedy; !near(*e.Dilation, 4.4) || !near(*e.Throttling, 2.5) || r == nil ||
		r.Request.String() != "400m" || !near(r.Dilation, 1) || !near(r.Neighbours[0].Dilation, 5.0/3) {
		t.Errorf("%v times slower, of %v as long; remedy %+v", *e.Dilation, *e.Throttling, r)
	}
	// Of the neighbour weight is no fault.
	in.Pod = &in.Pods[1]
	if e, err = OfPod(asked(t, in)); err != nil || e.Weight != nil {
		t.Errorf("%+v, %v", e.Weight, err)
	}
}

// One thread beside fifteen of a neighbour with ten times its weight, on two cores: with equal requests it would have a core.
func TestAnExplanationNamesTheWeightWhateverTheThreads(t *testing.T) {
	t.Parallel()
	in := busyPods("50m", "500m")
	in.Nodes[0].Status.Allocatable = cores("2")
	crowd := given.Workload("crowd", 0, given.CPU("1"))
	crowd.Spec.Resources[0].Threads = new(int32(15))
	in.Workloads, in.Pods[1].Labels = append(in.Workloads, crowd), map[string]string{"app": "crowd"}
	e, err := OfPod(in)
	if err != nil {
		t.Fatal(err)
	}
	if !near(*e.Dilation, 5.5) || !near(*e.EqualDilation, 1) || e.Weight == nil || !near(e.Weight.Times, 10) || e.Weight.Request.String() != "500m" {
		t.Errorf("%v times slower, %v with equal requests: %+v", *e.Dilation, *e.EqualDilation, e.Weight)
	}
	if r := e.Weight.Remedy; r == nil || r.Request.String() != "1" || !near(r.Dilation, 1) {
		t.Errorf("remedy %+v", r)
	}
}

func TestWhatIfAPodHadAnotherRequest(t *testing.T) {
	t.Parallel()
	in := busyPods("50m", "500m")
	in.WhatIf = &Change{Request: given.Quantity("500m")}
	e, err := OfPod(asked(t, in))
	if err != nil {
		t.Fatal(err)
	}
	if w := e.WhatIf; !near(w.Dilation, 2) || w.Request.String() != "500m" ||
		len(w.Neighbours) != 1 || !near(w.Neighbours[0].Dilation, 2) || !near(w.Neighbours[0].Now, 1.1) || w.Target != nil {
		t.Errorf("%+v", w)
	}
	in.WhatIf = &Change{Limit: given.Quantity("250m")}
	if e, err = OfPod(asked(t, in)); err != nil || !near(e.WhatIf.Dilation, 11.0/4) || !near(*e.WhatIf.Throttling, 4) || e.WhatIf.Limit.String() != "250m" {
		t.Errorf("%+v, %v", e.WhatIf, err)
	}
}

// The smallest request is the first that has enough weight: to get a third beside a weight of 20 it takes 10.
func TestWhatIfADilationIsAskedFor(t *testing.T) {
	t.Parallel()
	weight := func(milli int64) int64 { return cgroup.Linear.Weight(cgroup.Shares(milli)) }
	for _, now := range []string{"", "50m", "450m"} {
		in := busyPods(now, "500m")
		in.WhatIf = &Change{Dilation: 3.001}
		e, err := OfPod(asked(t, in))
		if err != nil {
			t.Fatal(err)
		}
		if m := e.WhatIf.Request.MilliValue(); !*e.WhatIf.Met || weight(m) != 10 || weight(m-1) != 9 || !near(e.WhatIf.Dilation, 3) {
			t.Errorf("from %q: %dm of weight %d, %+v", now, m, weight(m), e.WhatIf)
		}
	}
	in := busyPods("50m", "500m")
	in.WhatIf = &Change{Dilation: 1.5}
	e, err := OfPod(asked(t, in))
	if err != nil || *e.WhatIf.Met || e.WhatIf.Request.String() != "500m" || !near(e.WhatIf.Dilation, 2) {
		t.Errorf("more than is left: %+v, %v", e.WhatIf, err)
	}
	in.WhatIf = &Change{Dilation: 30}
	if e, err = OfPod(asked(t, in)); err != nil || !*e.WhatIf.Met || !e.WhatIf.Request.IsZero() || e.WhatIf.QoSClass != corev1.PodQOSBestEffort {
		t.Errorf("no request at all: %+v, %v", e.WhatIf, err)
	}
	// Beside a limit, that is as far as it goes.
	in.Pod.Spec.Containers[0].Resources.Limits = cores("100m")
	in.WhatIf = &Change{Dilation: 1.0001}
	if e, err = OfPod(asked(t, in)); err != nil || !*e.WhatIf.Met || e.WhatIf.Request.CmpInt64(0) <= 0 ||
		e.WhatIf.Request.MilliValue() > 100 {
		t.Errorf("with a limit: %+v, %v", e.WhatIf, err)
	}
}

func TestAPodOnItsOwnCoresWaitsForNobody(t *testing.T) {
	t.Parallel()
	in := busyPods("1", "100m", "100m")
	in.Pods[0].Spec.Containers[0].Resources.Limits = corev1.ResourceList{"cpu": *given.Quantity("1"), "memory": *given.Quantity("1Gi")}
	in.Nodes[0].Status.Allocatable = cores("2")
	in.Weights.StaticCPUs = true
	e, err := OfPod(asked(t, in))
	if err != nil {
		t.Fatal(err)
	}
	if *e.Dilation != 1 || e.ExclusiveCores != 1 || e.QoSClass != corev1.PodQOSGuaranteed ||
		!near(e.Neighbours[0].Dilation, 2) || !near(e.Neighbours[1].Without, 1) {
		t.Errorf("%+v, neighbours %+v", e, e.Neighbours)
	}
	in.Nodes[0].Status.Allocatable = cores("1")
	if _, err := OfPod(asked(t, in)); err == nil || !strings.Contains(err.Error(), "node worker-1: cores: pods have 1 for themselves, of 1: none is left for the others") {
		t.Errorf("a node without a core left: %v", err)
	}
}

func TestWhatCannotBeAskedSaysWhy(t *testing.T) {
	t.Parallel()
	for name, test := range map[string]struct {
		change func(*Input)
		want   string
	}{
		"a pod on no node":          {func(in *Input) { in.Pod.Spec.NodeName = "" }, "this one waits for one"},
		"a dilation of 1":           {func(in *Input) { in.WhatIf = &Change{Dilation: 1} }, "dilation: 1 is not above 1"},
		"no number":                 {func(in *Input) { in.WhatIf = &Change{Dilation: math.NaN()} }, "dilation: NaN is not above 1"},
		"both":                      {func(in *Input) { in.WhatIf = &Change{Dilation: 2, Request: given.Quantity("1")} }, "or a request is given, too"},
		"a limit below the request": {func(in *Input) { in.WhatIf.Limit = given.Quantity("10m") }, "a request of 200m is above the limit of 10m"},
		"a negative request":        {func(in *Input) { in.WhatIf.Request = given.Quantity("-1") }, "resources.requests.cpu: -1 is less than 0"},
		"a pod without containers":  {func(in *Input) { in.Pods[1].Spec.Containers = nil }, "node worker-1: pod shop/b: spec.containers: there is none"},
	} {
		in := busyPods("50m", "500m")
		in.WhatIf = &Change{Request: given.Quantity("200m")}
		test.change(in)
		if _, err := OfPod(asked(t, in)); err == nil || !strings.Contains(err.Error(), test.want) {
			t.Errorf("%s: %v, want %q", name, err, test.want)
		}
	}
}

// near allows for what the solution of the chain settles to.
func near(got, want float64) bool { return math.Abs(got/want-1) < 1e-3 }

// As the scheduler prices it, within 5 % of what one waits for another that has ten times its weight: 11 − 1 and 1.1 − 1.
func TestNodesAreRankedByWeights(t *testing.T) {
	t.Parallel()
	in := busyPods("50m", "500m")
	in.Ranked = true
	e, err := OfPod(asked(t, in))
	if err != nil {
		t.Fatal(err)
	}
	if n := e.Nodes[0]; math.Abs(n.Waits/10-1) > 0.05 || math.Abs(n.Inflicts/0.1-1) > 0.05 || n.Cost != n.Waits+n.Inflicts {
		t.Errorf("50m beside 500m costs %v: it waits %v and inflicts %v", n.Cost, n.Waits, n.Inflicts)
	}
}

// A pod of which nothing is known is assumed to use 100m, or its limit where that is less: no limit holds back what is assumed.
func TestNoLimitHoldsBackWhatIsAssumed(t *testing.T) {
	t.Parallel()
	in := busyPods("10m", "500m")
	in.Workloads = nil
	in.Requests = []config.RequestRule{{Resource: "cpu", Request: corev1.ResourceCPU, PerThread: 1, Utilization: 1, Minimum: 0.1}}
	in.Pod.Spec.Containers[0].Resources.Limits = cores("20m")
	in.WhatIf = &Change{Limit: given.Quantity("60m")}
	e, err := OfPod(in)
	if err != nil {
		t.Fatal(err)
	}
	if e.Throttling != nil || e.MaxThrottling != nil || e.WhatIf.Throttling != nil || e.WhatIf.MaxThrottling != nil || !near(e.Resources[0].Loading, 0.02) {
		t.Errorf("%+v, %+v", e, e.WhatIf)
	}
	if len(e.Neighbours) != 1 || !e.Neighbours[0].Assumed {
		t.Errorf("neighbours: %+v", e.Neighbours)
	}
	in.Pod.Spec.Containers[0].Resources.Limits = nil
	in.WhatIf = &Change{Limit: given.Quantity("60m")}
	if e, err = OfPod(in); err != nil || e.WhatIf.Throttling != nil || !near(e.Resources[0].Loading, 0.1) {
		t.Errorf("%+v, %v", e.WhatIf, err)
	}
}

func TestALimitHoldsBackBurstsOfWhichTheProfileSpeaks(t *testing.T) {
	t.Parallel()
	in := busyPods("50m", "50m")
	in.Pods = in.Pods[:1]
	in.Workloads[0].Spec.Resources[0].Loading = given.Quantity("0.1")
	in.Pod.Spec.Containers[0].Resources.Limits = cores("250m")
	e, err := OfPod(in)
	if err != nil {
		t.Fatal(err)
	}
	if e.Throttling != nil || e.MaxThrottling == nil || !near(*e.MaxThrottling, 1.3) {
		t.Errorf("bursts that are not known: %v, at most %v", e.Throttling, e.MaxThrottling)
	}
	in.Workloads[0].Spec.Resources[0].BurstMillis = new(int64(100))
	in.WhatIf = &Change{Limit: given.Quantity("500m")}
	if e, err = OfPod(in); err != nil || e.MaxThrottling != nil || e.Throttling == nil || math.Abs(*e.Throttling-1.235) > 0.01 {
		t.Fatalf("bursts of 100 ms: %+v, %v", e, err)
	}
	if w := e.WhatIf.Throttling; w == nil || !(*w > 1.02 && *w < 1.1) {
		t.Errorf("with twice the limit: %v", w)
	}
}
