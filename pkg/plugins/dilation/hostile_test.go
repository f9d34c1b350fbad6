package dilation

import (
	"fmt"
	"strings"
	"testing"

	corev1 "k8s.io/api/core/v1"
	fwk "k8s.io/kube-scheduler/framework"
	"k8s.io/kubernetes/pkg/scheduler/framework"

	"loadline.dev/loadline/pkg/profile"
)

// fat returns pods that claim all that they may: each of a profile of its own, at each of some resources, with as many threads as
// can be, and with a bound if that is above 0.
func fat(pods int, bound float64, resources ...string) (profiles []any, list []*corev1.Pod) {
	for n := range pods {
		w := workload(fmt.Sprintf("fat-%d", n))
		for i, name := range resources {
			d := demand(name, 0.2+float64(n%17)/400+float64(i)/1000)
			d.Threads, d.Pressure = new(int32(profile.MaxThreads-n%50)), quantity(1)
			w.Spec.Resources = append(w.Spec.Resources, d)
		}
		if bound > 0 {
			bounded(w, bound)
		}
		profiles = append(profiles, w)
		list = append(list, requesting(testPod(fmt.Sprintf("fat-%d", n), fmt.Sprintf("fat-%d", n)), "1m", ""))
	}
	return profiles, list
}

// What pods beside it claim raises what a pod is predicted to run like, but no error and no cost of a prediction refuses the node:
// by its request the pod has its due.
func TestNeighboursThatCannotBeWorkedOutRefuseNoPod(t *testing.T) {
	profiles, pods := fat(250, 0, "cpu")
	d := guarded(t, nil, append(profiles, bounded(workload("shop", demand("cpu", 0.5)), 1.5))...)
	pod := requesting(testPod("cart", "shop"), "4", "")
	statuses, advice := filter(t, d, pod, testNode("node", 4, pods...))
	if !statuses[0].IsSuccess() || advice != "" {
		t.Errorf("%v: %s", statuses[0], advice)
	}
	statuses, _ = filter(t, d, requesting(testPod("poor", "shop"), "1m", ""), testNode("node", 4, pods...))
	if want := "node(s) might slow the pod down up to "; !strings.HasPrefix(statuses[0].Message(), want) {
		t.Errorf("%v, want %s", statuses[0], want)
	}
}

// A promise of pods that request next to nothing keeps no other away from nodes that cannot be worked out.
func TestPromisesWithoutRequestsRefuseNoPodWhereNothingCanBeWorkedOut(t *testing.T) {
	profiles, pods := fat(250, 1.05, "cpu", "disk")
	d := guarded(t, nil, profiles...)
	if statuses, _ := filter(t, d, requesting(testPod("cart", "none"), "2", ""), testNode("node", 4, pods...)); !statuses[0].IsSuccess() {
		t.Error(statuses[0])
	}
}

// What was judged by bounds for want of steps is judged again in a later cycle; nothing of it is kept.
func TestACycleThatRunsOutOfStepsLeavesNothingBehind(t *testing.T) {
	job := bounded(workload("job", demand("cpu", 0.9)), 1.5)
	d := guarded(t, nil, job, workload("other", demand("cpu", 0.8)))
	d.budget.SetBurst(0)
	var list []fwk.NodeInfo
	for n := range 40 {
		var pods []*corev1.Pod
		for k := range 7 { // another mix on each node
			pods = append(pods, requesting(testPod(fmt.Sprintf("pod-%d-%d", n, k), "other"), fmt.Sprintf("%dm", 100+60*k+40*n), ""))
		}
		list = append(list, testNode(fmt.Sprintf("node-%d", n), 8, pods...))
	}
	pod := requesting(testPod("new", "job"), "50m", "")
	d.knows(list...)
	taken := map[int]int{} // by cycle
	for cycle := range 5 {
		state := framework.NewCycleState()
		if _, status := d.PreFilter(t.Context(), state, pod, list); !status.IsSuccess() {
			t.Fatal(status)
		}
		for _, node := range list {
			if d.Filter(t.Context(), state, pod, node).IsSuccess() {
				taken[cycle]++
			}
		}
	}
	if taken[0] == 0 || taken[0] == len(list) || taken[1] <= taken[0] || taken[4] <= taken[1] {
		t.Errorf("nodes that take the pod, by cycle: %v; want some more each time", taken)
	}
}

// BenchmarkHostileScore is BenchmarkScore for a pod that claims all that it may, on nodes of 250 such pods; hostile pods on other
// nodes cost an honest pod nothing.
func BenchmarkHostileScore(b *testing.B) {
	profiles, pods := fat(250, 0, "cpu", "disk", "network", "memory-bandwidth")
	d := testPlugin(b, profiles...)
	nodes := []fwk.NodeInfo{testNode("node", 64, pods...)}
	b.Run("score", func(b *testing.B) { benchScore(b, d, pods[0], nodes) })
	b.Run("price", func(b *testing.B) {
		r := newResidents(d.modes, d.kinds, &cycle{snapshot: d.index.Snapshot()}, nodes[0], nil)
		b.ReportAllocs()
		for b.Loop() {
			r.price(b.Context())
		}
	})
	b.Run("prepare", func(b *testing.B) {
		b.ReportAllocs()
		for b.Loop() {
			if status := d.PreScore(b.Context(), framework.NewCycleState(), pods[0], nodes); !status.IsSuccess() {
				b.Fatal(status)
			}
		}
	})
}

// BenchmarkHostileFilter reports the time of judging a node of 250 pods that claim all that they may, with bounds, for pods each of
// which is another.
func BenchmarkHostileFilter(b *testing.B) {
	profiles, pods := fat(250, 1.05, "cpu", "disk", "network", "memory-bandwidth")
	d := guarded(b, nil, profiles...)
	node := testNode("node", 64, pods...)
	d.knows(node)
	n := 0
	b.ReportAllocs()
	for b.Loop() {
		pod := requesting(testPod("honest", "none"), fmt.Sprintf("%dm", 100+n%1000), "")
		n++
		state := framework.NewCycleState()
		d.PreFilter(b.Context(), state, pod, nil)
		d.Filter(b.Context(), state, pod, node)
	}
}
