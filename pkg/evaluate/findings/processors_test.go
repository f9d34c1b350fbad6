package findings_test

import (
	"slices"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"
	corev1 "k8s.io/api/core/v1"

	"loadline.dev/loadline/pkg/evaluate/findings"
	"loadline.dev/loadline/pkg/evaluate/observed"
	"loadline.dev/loadline/pkg/gauge/usage"
)

// Two pods that want 60 % of one core each, of a node of two of which pods have one. In some intervals the gauge counts both, which
// something else keeps busy.
func TestProcessorsThatAGaugeCountsNowAndThenChangeNothing(t *testing.T) {
	t.Parallel()
	const (
		busyOfOne = 10.0
		busyOfTwo = 20.0
	)
	answer := func(cpus ...int) *findings.Answer {
		a, b := seen("a", 0.6, 0.35, 0), seen("b", 0.6, 0.35, 0)
		s := sight("worker-1", 1, 0, a, b)
		s.Intervals = s.Intervals[:0]
		for _, n := range cpus {
			busy := map[int]float64{1: busyOfOne, 2: busyOfTwo}[n]
			s.Intervals = append(s.Intervals, usage.Interval{Node: "worker-1", Seconds: 10, CPUs: n, BusySeconds: busy, Pods: []usage.Pod{a, b}})
		}
		return of(t, &observed.Input{
			Nodes: []corev1.Node{nodeNamed("worker-1", "1")}, Pods: []corev1.Pod{pod("a", "worker-1", "100m", ""), pod("b", "worker-1", "100m", "")},
			Sights: []observed.Sight{s},
		})
	}
	rounding := cmpopts.EquateApprox(0, 1e-9)
	want := answer(1, 1, 1, 1, 1, 1)
	if c := want.Findings[0].Causes[0]; c.Kind != observed.ByNeighbour {
		t.Fatalf("the first cause is %+v, want the neighbour", c)
	}
	for name, cpus := range map[string][]int{
		"in steady state": {1, 2, 1, 1, 2, 1}, "at last": {1, 1, 1, 1, 1, 2}, "as often": {2, 1, 2, 1, 2, 1}, "before": {2, 2, 2, 2, 2, 2, 1, 1, 1, 1, 1, 1},
	} {
		got := answer(cpus...)
		if n := &got.Nodes[0]; n.CPUs != 1 || !slices.Equal(n.OtherCPUs, []int{2}) != (name == "before") {
			t.Errorf("%s: %d processors, others %v", name, n.CPUs, n.OtherCPUs)
		}
		got.Nodes[0].OtherCPUs = nil
		if diff := cmp.Diff(want.Nodes, got.Nodes, rounding); diff != "" {
			t.Errorf("%s: the node (-want +got):\n%s", name, diff)
		}
		for i := range got.Findings {
			if diff := cmp.Diff(want.Findings[i].Causes, got.Findings[i].Causes, rounding); diff != "" {
				t.Errorf("%s: the causes (-want +got):\n%s", name, diff)
			}
			near(t, name+": predicted", *got.Findings[i].Predicted, *want.Findings[i].Predicted, 1e-9)
		}
	}
	if n := answer(1, 1, 2, 2, 2, 2).Nodes[0]; n.CPUs != 2 || !slices.Equal(n.OtherCPUs, []int{1}) {
		t.Errorf("after a change that lasts: %+v", n)
	}
}
