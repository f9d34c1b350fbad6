package replays_test

import (
	"io"
	"strings"
	"testing"

	"loadline.dev/loadline/apis/loadline/v1alpha1"
	"loadline.dev/loadline/pkg/evaluate/replays"
	"loadline.dev/loadline/pkg/model/epochs"
	"loadline.dev/loadline/test/given"
)

// jobProfiles are two kinds of jobs: one that computes and one that also reads.
func jobProfiles() []v1alpha1.WorkloadProfile {
	return []v1alpha1.WorkloadProfile{
		given.Lasting(given.Workload("sort", 0, given.CPU("1")), 4000, &v1alpha1.SLA{MaxDilation: given.Quantity("1.5")}),
		given.Lasting(given.Workload("copy", 0, given.CPU("0.25"), given.Disk("0.75")), 2000, nil),
	}
}

// generating is a replay of two policies with three seeds on two nodes.
func generating() *v1alpha1.TraceReplay {
	replay := &v1alpha1.TraceReplay{Spec: v1alpha1.TraceReplaySpec{
		Arrivals: &v1alpha1.ReplayArrivals{
			Jobs:         new(int64(400)),
			Interarrival: v1alpha1.Interarrival{MeanMillis: new(int64(2000))},
			Types:        []v1alpha1.ReplayJobType{{Profile: "sort"}, {Profile: "copy", Weight: new(int32(2))}},
		},
		Nodes:    []v1alpha1.ReplayNodes{{Name: "node", Count: new(int32(2))}},
		Policies: []v1alpha1.ReplayPolicy{{Name: "random"}, {Name: "least-dilation"}},
		Seeds:    new(int32(3)),
	}}
	replay.Name = "two-kinds"
	return replay
}

// replaying is a replay of a trace with one policy on one node.
func replaying(t *testing.T, csv string, change func(*v1alpha1.TraceReplaySpec)) *replays.Replay {
	t.Helper()
	replay := &v1alpha1.TraceReplay{Spec: v1alpha1.TraceReplaySpec{
		Trace:    &v1alpha1.ReplayTrace{},
		Nodes:    []v1alpha1.ReplayNodes{{Name: "node"}},
		Policies: []v1alpha1.ReplayPolicy{{Name: "round-robin"}},
	}}
	if change != nil {
		change(&replay.Spec)
	}
	r, err := replays.New(replays.Input{Replay: replay, Workloads: jobProfiles(), Open: func() (io.ReadCloser, string, error) {
		return io.NopCloser(strings.NewReader(csv)), "jobs.csv", nil
	}})
	if err != nil {
		t.Fatal(err)
	}
	return r
}

func newReplay(t *testing.T, replay *v1alpha1.TraceReplay) *replays.Replay {
	t.Helper()
	r, err := replays.New(replays.Input{Replay: replay, Workloads: jobProfiles()})
	if err != nil {
		t.Fatal(err)
	}
	return r
}

// outcomes carries out a run and returns the outcomes of its jobs, too.
func outcomes(t *testing.T, r *replays.Replay, run int) (*replays.Result, []epochs.Outcome) {
	t.Helper()
	var all []epochs.Outcome
	result, err := r.Run(t.Context(), run, replays.Watch{Job: func(o *epochs.Outcome) error {
		all = append(all, *o)
		return nil
	}})
	if err != nil {
		t.Fatal(err)
	}
	return result, all
}
