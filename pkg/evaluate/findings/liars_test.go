package findings_test

import (
	"encoding/json"
	"testing"

	corev1 "k8s.io/api/core/v1"
	"pgregory.net/rapid"

	"loadline.dev/loadline/pkg/evaluate/findings"
	"loadline.dev/loadline/pkg/evaluate/observed"
	"loadline.dev/loadline/pkg/evaluate/plan"
	"loadline.dev/loadline/pkg/gauge/usage"
)

// A node may claim any amounts that there can be: what is said of it are numbers.
func TestWhateverANodeClaimsFindingsAreNumbers(t *testing.T) {
	t.Parallel()
	rapid.Check(t, func(t *rapid.T) {
		amount := rapid.OneOf(rapid.Float64Range(0, 100), rapid.SampledFrom([]float64{0, 1e-9, 1e-6, 1e9, 1e15}))
		var pods []usage.Pod
		for _, name := range []string{"a", "b", "c"} {
			p := usage.Pod{
				UID: "uid-" + name, Seconds: amount.Draw(t, "seconds"), Threads: max(1, amount.Draw(t, "threads")), Dilation: max(1, amount.Draw(t, "dilation")),
				CPULoading:   rapid.Float64Range(0, 1).Draw(t, "loading"),
				BurstSeconds: rapid.SampledFrom([]float64{0, 1e-9, 0.01, 1, 1e9}).Draw(t, "burst"),
				Times: usage.Times{
					Run: amount.Draw(t, "run"), Wait: amount.Draw(t, "wait"), Throttled: amount.Draw(t, "throttled"), Blocked: amount.Draw(t, "blocked"),
				},
			}
			pods = append(pods, p)
		}
		s := observed.Sight{Node: "worker-1"}
		for range 6 {
			s.Intervals = append(s.Intervals, usage.Interval{
				Node: "worker-1", Seconds: rapid.SampledFrom([]float64{1e-6, 10, 1e15}).Draw(t, "interval"), CPUs: rapid.SampledFrom([]int{1, 2, 1 << 40}).Draw(t, "cpus"), BusySeconds: amount.Draw(t, "busy"),
				StolenSeconds: amount.Draw(t, "stolen"), Pods: pods,
			})
		}
		for i := range s.Intervals {
			if err := s.Intervals[i].Validate(); err != nil {
				t.Fatal(err)
			}
		}
		in := &observed.Input{
			Nodes: []corev1.Node{nodeNamed("worker-1", "2"), nodeNamed("worker-2", "2")}, Sights: []observed.Sight{s, sight("worker-2", 2, 0)},
			Pods: []corev1.Pod{pod("a", "worker-1", "100m", ""), pod("b", "worker-1", "100m", ""), pod("c", "worker-1", "100m", "300m")},
		}
		answer, err := findings.Find(in, &plan.Options{Feasibility: anywhere{}})
		if err != nil {
			return
		}
		if _, err := json.Marshal(answer); err != nil {
			t.Fatal(err)
		}
	})
}
