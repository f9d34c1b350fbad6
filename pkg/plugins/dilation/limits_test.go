package dilation

import (
	"fmt"
	"testing"

	"github.com/google/go-cmp/cmp"
	corev1 "k8s.io/api/core/v1"
	fwk "k8s.io/kube-scheduler/framework"

	"loadline.dev/loadline/apis/config"
	configv1alpha1 "loadline.dev/loadline/apis/config/v1alpha1"
	"loadline.dev/loadline/pkg/profile"
)

// A pod that requests next to nothing, and is promised to run as fast as alone on all processors, keeps one of them.
func TestAPromiseKeepsNoMoreProcessorsFromOthersThanAreRequested(t *testing.T) {
	t.Parallel()
	const cores = 8
	for name, request := range map[string]string{"one processor each": "1", "half a processor each": "500m"} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			squat := bounded(workload("squat", demand("cpu", 1)), 1)
			squat.Spec.Resources[0].Threads = new(int32(64))
			d := guarded(t, func(a *config.DilationArgs) { a.EventsPerSecond = 0 }, squat)
			list := make([]fwk.NodeInfo, 2)
			for n := range list {
				list[n] = testNode(fmt.Sprint("node-", n), cores, requesting(testPod(fmt.Sprint("squat-", n), "squat"), "1m", ""))
			}
			placed := int64(0)
			for k := 0; ; k++ {
				pod := requesting(testPod(fmt.Sprint("other-", k), "other"), request, "")
				node := place(t, d, pod, list...)
				if node == nil {
					break
				}
				placed += pod.Spec.Containers[0].Resources.Requests.Cpu().MilliValue()
			}
			if want := int64(len(list) * (cores - 1) * 1000); placed < want || placed > want+int64(len(list)*1000) {
				t.Errorf("pods with requests of %dm were placed, want %dm", placed, want)
			}
		})
	}
}

// Requests of 2000m and 2001m have one weight, and cover two processors and three.
func TestPodsOfOneWeightWhoseRequestsCoverMoreAreOfAnotherKind(t *testing.T) {
	t.Parallel()
	less, more := requesting(testPod("less", "job"), "2000m", ""), requesting(testPod("more", "job"), "2001m", "")
	if a, b := profile.Share(less), profile.Share(more); a != b {
		t.Fatalf("the shares differ: %v and %v", a, b)
	}
	job, neighbour := bounded(workload("job", demand("cpu", 1)), 1.5), workload("neighbour", demand("cpu", 1))
	job.Spec.Resources[0].Threads, neighbour.Spec.Resources[0].Threads = new(int32(3)), new(int32(3))
	d := guarded(t, nil, job, neighbour)
	node := testNode("node", 3, requesting(testPod("there", "neighbour"), "2", ""))
	const refused = "node(s) would slow the pod down 2×, more than its limit of 1.50×, because of cpu"
	for range 2 {
		for pod, want := range map[*corev1.Pod]string{less: "", more: refused} {
			if statuses, _ := filter(t, d, pod, node); statuses[0].Message() != want {
				t.Errorf("%s: %q, want %q", pod.Name, statuses[0].Message(), want)
			}
		}
	}
	sign := func(pod *corev1.Pod) []fwk.SignFragment {
		signature, status := d.SignPod(t.Context(), pod)
		if !status.IsSuccess() {
			t.Fatal(status)
		}
		return signature
	}
	if cmp.Equal(sign(less), sign(more)) || !cmp.Equal(sign(more), sign(more)) {
		t.Error("they are signed as if they were alike")
	}
}

// The reason says what the bound is made of, and the advice what the profile would have to say.
func TestARefusalSaysWhyABoundIsNotTheProfiles(t *testing.T) {
	t.Parallel()
	strict, wide := bounded(workload("strict", demand("disk", 1)), 1), bounded(workload("wide", demand("cpu", 1)), 1.5)
	wide.Spec.Resources[0].Threads = new(int32(4))
	d := guarded(t, func(a *config.DilationArgs) { a.Limits.MinMaxDilation = 1.25 }, strict, wide, workload("job", demand("disk", 1)), workload("busy", demand("cpu", 1)))
	heavy := make([]*corev1.Pod, 4)
	for k := range heavy {
		heavy[k] = requesting(testPod(fmt.Sprint("heavy-", k), "busy"), "1", "")
	}
	for name, test := range map[string]struct {
		pod            *corev1.Pod
		node           fwk.NodeInfo
		reason, advice string
	}{
		"the scheduler's lowest": {
			testPod("new", "strict"), testNode("node", 1, testPod("there", "job")),
			"node(s) would slow the pod down 2×, more than its limit of 1.25× (the scheduler's lowest, 1.25×, in place of its profile's 1.00×), because of disk",
			"What would make room: node without default/there, or sla.maxDilation of at least 2 for it (now 1.00).",
		},
		"more threads than are requested": { // a weight of 1 among four of 39
			requesting(testPod("new", "wide"), "1m", ""), testNode("node", 4, heavy...),
			"node(s) would slow the pod down 158×, more than its limit of 6.00× (1.50× on 1 of the 4 processors that it can use: its CPU request covers no more), because of cpu",
			"What would make room: node without default/heavy-0, or sla.maxDilation of at least 40 for it (now 1.50).",
		},
	} {
		statuses, advice := filter(t, d, test.pod, test.node)
		if got := statuses[0].Message(); got != test.reason || advice != test.advice {
			t.Errorf("%s: got %q and %q", name, got, advice)
		}
	}
}

// What a neighbour's waits count is what the operator lets count.
func TestAnImportanceCountsForNoMoreThanTheLimit(t *testing.T) {
	t.Parallel()
	cost := func(importance, limit float64) float64 {
		important := workload("important", demand("disk", 0.3))
		important.Spec.Importance = quantity(importance)
		d := guarded(t, func(a *config.DilationArgs) { a.GuardMode, a.Limits.MaxImportance = configv1alpha1.GuardOff, limit }, important, workload("job", demand("disk", 0.4)))
		raw, _ := scores(t, d, testPod("new", "job"), []fwk.NodeInfo{testNode("node", 4, testPod("there", "important"))})
		return decodeCost(raw[0].Score)
	}
	for name, pair := range map[string][2]float64{
		"a larger one":  {cost(100, 10), cost(10, 100)},
		"as much":       {cost(10, 10), cost(10, 100)},
		"a smaller one": {cost(0.5, 10), cost(0.5, 0)},
		"all as one":    {cost(100, 1), cost(1, 100)},
	} {
		if pair[0] != pair[1] {
			t.Errorf("%s: %v, want %v", name, pair[0], pair[1])
		}
	}
	if cost(100, 10) == cost(100, 100) {
		t.Error("the limit changes nothing")
	}
}
