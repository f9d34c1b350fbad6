package main

import (
	"errors"
	"path/filepath"
	"testing"

	"github.com/google/go-cmp/cmp"

	"loadline.dev/loadline/hack/recording"
)

// ran returns a run of one second.
func ran(units []int64, latency []float64, jobs ...int) run {
	r := run{Jobs: jobs, Seconds: 1}
	for i := range jobs {
		r.Pods = append(r.Pods, podRun{Units: units[i], Latency: latency[i]})
	}
	return r
}

func TestTruthOfAMix(t *testing.T) {
	t.Parallel()
	runs := []run{
		ran([]int64{900}, []float64{0.001}, 0),
		ran([]int64{1100}, []float64{0.001}, 0),
		ran([]int64{100}, []float64{0.002}, 1),
		ran([]int64{50}, []float64{0.003}, 2),
		ran([]int64{500, 95, 49}, []float64{0.002, 0.004, 0.003}, 0, 1, 2),
		ran([]int64{600, 98}, []float64{0.0015, 0.002}, 0, 1),
		ran([]int64{950, 50}, []float64{0.0011, 0.002}, 0, 2),
		ran([]int64{98, 50}, []float64{0.002, 0.003}, 1, 2),
	}
	got := judge(3, runs)
	want := []truth{
		{
			Alone: 1000, Together: 500, LatencyAlone: 0.001, LatencyTogether: 0.002, Dilation: 2,
			Without: []float64{0, 950, 600}, Culprit: 1,
		},
		{Alone: 100, Together: 95, LatencyAlone: 0.002, LatencyTogether: 0.004, Dilation: 1.0526, Culprit: -1},
		{Alone: 50, Together: 49, LatencyAlone: 0.003, LatencyTogether: 0.003, Dilation: 1.0204, Culprit: -1},
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("(-want +got):\n%s", diff)
	}
}

func TestOfTwoPodsTheOtherIsTheCulprit(t *testing.T) {
	t.Parallel()
	noisy := ran([]int64{10}, []float64{0.01}, 1)
	noisy.Noisy = true
	got := judge(2, []run{ran([]int64{10}, []float64{0.01}, 0), noisy, ran([]int64{5, 9}, []float64{0.03, 0.01}, 0, 1)})
	if got[0].Culprit != 1 || got[1].Culprit != -1 {
		t.Errorf("culprits are %d and %d, want 1 and none", got[0].Culprit, got[1].Culprit)
	}
	if got[0].Noisy || !got[1].Noisy {
		t.Errorf("noisy are %v and %v, want the one whose run was", got[0].Noisy, got[1].Noisy)
	}
}

func TestARecordingIsReadAsItWasWritten(t *testing.T) {
	t.Parallel()
	want := &recorded{Kernel: "6.12", Seed: 7, Mixes: []mixRecord{{mix: draw(1, 1)[0], Runs: []run{ran([]int64{1}, []float64{2}, 0)}}}}
	for _, name := range []string{"a.json", "a.json.gz"} {
		path := filepath.Join(t.TempDir(), name)
		got := &recorded{}
		if err := errors.Join(recording.Save(path, want), recording.Load(path, got)); err != nil {
			t.Fatal(err)
		}
		if diff := cmp.Diff(want, got, cmp.AllowUnexported(mixRecord{})); diff != "" {
			t.Errorf("%s (-want +got):\n%s", name, diff)
		}
	}
}
