package measurement

import (
	"math"
	"slices"
	"strings"
	"testing"

	corev1 "k8s.io/api/core/v1"

	"loadline.dev/loadline/apis/loadline/v1alpha1"
	"loadline.dev/loadline/pkg/model/loading"
)

// withInterference has interference at the memory measured, besides the CPU.
func withInterference(m *v1alpha1.Measurement) {
	m.Resources = []v1alpha1.ProbedResource{{Name: "cpu"}}
	m.Interference = []v1alpha1.ProbedInterference{{Name: "memory-bandwidth", SizeMebi: new(int32(64))}}
}

// onTwoCores is a simulation of a target that interferes at the memory of nodes where two standard jobs slow each other
// down by the factor self.
func onTwoCores(t *testing.T, self float64, nodes ...*corev1.Node) *simulation {
	s := newSimulation(t, filecomp(withInterference), targetJob())
	for _, n := range nodes {
		s.must(s.Create(t.Context(), n))
	}
	s.names, s.servers = []string{"cpu", "disk", "memory-bandwidth"}, []int{2, 1, 1}
	s.self["memory-bandwidth"] = self
	s.target = loading.Vector{loading.Symmetric(0.6), {}, {Effect: &loading.Effect{
		Pressure: 0.5, Curve: loading.Curve{{Pressure: 0.25, Inflation: 1.2}, {Pressure: 1, Inflation: 1.5}},
	}}}
	return s
}

func TestInterferenceIsMeasuredByStandardJobsOfFourPressures(t *testing.T) {
	t.Parallel()
	s := onTwoCores(t, 1.4, worker("worker-0", 1), worker("worker-1", 2))
	var sizes []string
	s.before = func(pod *corev1.Pod) bool {
		if args := arguments(pod.Spec.Containers[0].Command); args["--pressure"] != "" {
			sizes = append(sizes, args["--size"])
		}
		return true
	}
	p := s.until(v1alpha1.ReasonMeasured)
	if len(sizes) == 0 || slices.ContainsFunc(sizes, func(size string) bool { return size != "64Mi" }) {
		t.Errorf("the standard jobs have sizes of %v, want 64Mi each", sizes)
	}
	m := vector(t, p, v1alpha1.NoNodeProfile, map[string]float64{"cpu": 0.6})
	if m.Node != "worker-1" || len(m.Interference) != 1 || len(m.Interference[0].Curve) != 4 {
		t.Fatalf("measured %+v", m)
	}
	found := m.Interference[0]
	if got := found.Pressure.AsApproximateFloat64(); math.Abs(got-0.5) > 0.05 {
		t.Errorf("the pressure is %v, want 0.5", got)
	}
	for k, want := range []float64{1.2, 1.3, 1.4, 1.5} {
		if got := found.Curve[k].Inflation.AsApproximateFloat64(); math.Abs(got-want) > 0.03 {
			t.Errorf("beside a pressure of %v it computes %v times as long, want %v", found.Curve[k].Pressure, got, want)
		}
	}
	if c := s.condition(); !strings.Contains(c.Message, "memory-bandwidth up to 1.") || !strings.Contains(c.Message, "times slower and a pressure of 0.") {
		t.Errorf("the condition says %q", c.Message)
	}
	s.nothingLeft()
}

// On a node where standard jobs do not slow each other down there is nothing to measure: the first round says so, and
// the other resources are measured as usual.
func TestWhereNothingInterferesTheVectorIsMeasuredAndSaysSo(t *testing.T) {
	t.Parallel()
	s := onTwoCores(t, 1.01, worker("worker-1", 2))
	steps := map[string]int{}
	p := s.until(v1alpha1.ReasonMeasured, func() {
		if m := s.profile().Status.Measuring; m != nil && *m.Round > 1 && strings.HasPrefix(m.Step, "pressing") {
			steps[m.Step]++
		}
	})
	m := vector(t, p, v1alpha1.NoNodeProfile, map[string]float64{"cpu": 0.6})
	if len(m.Interference) != 0 || len(steps) != 0 {
		t.Errorf("measured %+v, with the steps %v after the first round", m.Interference, steps)
	}
	if c := s.condition(); !strings.Contains(c.Message, "nothing at memory-bandwidth: two standard jobs slow each other down 1.01 times only on this node") {
		t.Errorf("the condition says %q", c.Message)
	}
}

func TestOneCoreIsNoPlaceToMeasureInterference(t *testing.T) {
	t.Parallel()
	s := onTwoCores(t, 1.4, worker("worker-1", 1))
	s.until(v1alpha1.ReasonNoNode)
	if c := s.condition(); !strings.Contains(c.Message, "worker-1: it has a single core, where pods take turns and do not interfere") {
		t.Errorf("the condition says %q", c.Message)
	}
}
