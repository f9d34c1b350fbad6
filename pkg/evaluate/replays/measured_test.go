package replays_test

import (
	"fmt"
	"io"
	"math"
	"strings"
	"testing"

	"loadline.dev/loadline/apis/loadline/v1alpha1"
	"loadline.dev/loadline/pkg/evaluate/replays"
	"loadline.dev/loadline/test/given"
)

func TestAReplayUsesWhatWasMeasuredAndMissesOnlyWhatItNeeds(t *testing.T) {
	t.Parallel()
	profiles := []v1alpha1.WorkloadProfile{
		given.Measured(given.Workload("web", 0), given.On("big", given.Noon, 1000, given.Found("cpu", "0.5")), given.On("small", given.Evening, 2000, given.Found("cpu", "1"))),
		given.Measured(given.Workload("unknown", 0)),
	}
	nodes := []v1alpha1.NodeProfile{given.Serving(given.Calibrated(given.Class("big"), "cpu"), "cpu", 2), given.Class("small", given.GPUs(1))}
	// run replays two jobs that arrive at once, and returns how long they take.
	run := func(t *testing.T, jobs string, classes ...string) (float64, error) {
		t.Helper()
		replay := &v1alpha1.TraceReplay{Spec: v1alpha1.TraceReplaySpec{
			Trace: &v1alpha1.ReplayTrace{}, Policies: []v1alpha1.ReplayPolicy{{Name: "round-robin"}}, Solver: "first-order",
		}}
		for i, class := range classes {
			replay.Spec.Nodes = append(replay.Spec.Nodes, v1alpha1.ReplayNodes{Name: fmt.Sprint("node", i), NodeProfile: class})
		}
		r, err := replays.New(replays.Input{Replay: replay, Workloads: profiles, Nodes: nodes, Open: func() (io.ReadCloser, string, error) {
			return io.NopCloser(strings.NewReader("#loadline-trace/v1\ntype,arrival\n" + jobs)), "jobs.csv", nil
		}})
		if err != nil {
			t.Fatal(err)
		}
		result, err := r.Run(t.Context(), 0, replays.Watch{})
		return result.MakespanSeconds, err
	}
	for name, test := range map[string]struct {
		classes []string
		want    float64
	}{
		"two servers, measured there":   {[]string{"big"}, 1},
		"one server, measured there":    {[]string{"small"}, 4},
		"classes that differ":           {[]string{"small", "big"}, 2}, // each on its own, with the latest vector
		"nodes of no class":             {[]string{""}, 4},
		"nodes of one class, and again": {[]string{"big", "big"}, 1},
	} {
		if got, err := run(t, "web,0\nweb,0\n", test.classes...); err != nil || math.Abs(got-test.want) > 1e-9 {
			t.Errorf("%s: done after %v s (%v), want %v s", name, got, err, test.want)
		}
	}
	const want = `jobs.csv, line 3: type "unknown": the WorkloadProfile has no loading vector yet: list it in spec.resources, or wait until status.measurements holds what was measured, or status.observations what is recommended; or give the job demands of its own`
	if _, err := run(t, "unknown,0\n", "big"); err == nil || err.Error() != want {
		t.Errorf("error %v, want %s", err, want)
	}
}
