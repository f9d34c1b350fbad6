package epochs_test

import (
	"math"
	"slices"
	"testing"

	"pgregory.net/rapid"

	"loadline.dev/loadline/pkg/model/epochs"
	"loadline.dev/loadline/pkg/model/mix"
	"loadline.dev/loadline/pkg/model/placement"
)

// lookahead is the plain way to do what "lrt" and "least-completion" do: for each job
// it replays every node to the end.
type lookahead struct{ all bool }

func (lookahead) Name() string { return "lookahead" }

// Choose returns the first of the nodes where the job, or all jobs, are done first.
func (l lookahead) Choose(now float64, j *placement.Job, nodes []*placement.NodeState) int {
	best, least := 0, math.Inf(1)
	for i, n := range nodes {
		if time := l.completion(now, j, n); i == 0 || time < least*(1-1e-12) { // a smaller difference is rounding
			best, least = i, time
		}
	}
	return best
}

func (l lookahead) completion(now float64, j *placement.Job, n *placement.NodeState) float64 {
	const mine = -1
	var running mix.Running
	running.CopyFrom(n.Running)
	if running.Mix().Jobs() > 0 {
		running.Advance(now-n.Since, nil)
	}
	running.Start(j.Type, j.Neutral, mine)
	elapsed := 0.0
	for running.Mix().Jobs() > 0 {
		next := running.Next()
		elapsed += next
		if slices.Contains(running.Advance(next, nil), mine) && !l.all {
			break
		}
	}
	return elapsed
}

// lookaheads are the policies by their names.
var lookaheads = map[string]lookahead{"lrt": {all: false}, "least-completion": {all: true}}

// Traces have jobs that arrive and complete together, equal jobs, jobs of no work and
// of one resource; nodes have several servers, some are idle all the time, some limited.
func TestPoliciesThatLookAheadChooseAsIfTheyReplayedEachNode(t *testing.T) {
	t.Parallel()
	rapid.Check(t, func(rt *rapid.T) {
		d := drawReplay(rt)
		d.classes[0].Count = rapid.SampledFrom([]int{1, 2, 3, 30}).Draw(rt, "nodes")
		for name, plain := range lookaheads {
			want, wantErr := tryReplay(t, trace(d.jobs...), d.classes, plain, d.options)
			got, err := tryReplay(t, trace(d.jobs...), d.classes, newPolicy(name), d.options)
			if err != nil || wantErr != nil {
				rt.Fatal(err, wantErr)
			}
			forgetReasons(want, got)
			if diff := difference(want, got); diff != "" {
				rt.Fatalf("%s: (-each node replayed +chosen)\n%s", name, diff)
			}
		}
	})
}

// forgetReasons removes the reasons of drops, which name the policy.
func forgetReasons(records ...record) {
	for _, r := range records {
		for i := range r.Drops {
			r.Drops[i].Reason = ""
		}
	}
}

// The same with up to 6 jobs on each of many nodes, in times that are never equal.
func TestPoliciesThatLookAheadChooseTheSameUnderLoad(t *testing.T) {
	t.Parallel()
	for name, plain := range lookaheads {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			class := nodes(20, 8, 2, 1)
			class.Allocatable = []float64{8}
			jobs := load(3000, 20, 4, 8.7)
			want, _, _ := replay(t, jobs, []epochs.NodeClass{class}, plain, epochs.Options{}).story()
			got, _, _ := replay(t, jobs, []epochs.NodeClass{class}, newPolicy(name), epochs.Options{}).story()
			for i := range want {
				if want[i] != got[i] { // the rest differs because of this
					t.Fatalf("job %d of those that complete: %+v, want %+v", i, got[i], want[i])
				}
			}
		})
	}
}
