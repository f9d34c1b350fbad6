package measure

import (
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"

	"loadline.dev/loadline/hack/experiments/job"
	"loadline.dev/loadline/pkg/model/loading"
	"loadline.dev/loadline/pkg/probe/result"
)

func TestWhatWasMeasuredIsFoundAgain(t *testing.T) {
	t.Parallel()
	out := t.TempDir()
	none, err := Read(out)
	if err != nil {
		t.Fatal(err)
	}
	if none.Require("disk-write") == nil {
		t.Error("what was never measured is good enough")
	}
	f := &Findings{
		IOJob: job.DiskWrite, Speeds: job.Speeds{CPU: 1, IO: 2, Files: 3}, IOServers: 2, Vectors: map[string][]Component{"x": {{"disk", 0.4, 0.3, 0.2}}},
		Accounts: map[string]result.Load{"x": {CPUNanos: 1e9}},
	}
	if err := f.Write(out); err != nil {
		t.Fatal(err)
	}
	got, err := Read(out)
	if err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff(f, got); diff != "" {
		t.Error(diff)
	}
	if err := got.Require("disk-write", "x"); err != nil {
		t.Error(err)
	}
	if got.Require("disk-write", "x", "y") == nil || got.Require("disk-read") == nil {
		t.Error("a job or a disk that was not measured is good enough")
	}
	want := loading.Vector{{}, {Loading: 0.4, Pressure: 0.3, Sensitivity: 0.2, Threads: 1}}
	if diff := cmp.Diff(want, got.Vector("x")); diff != "" {
		t.Error(diff)
	}
}

func TestWhatWasFoundBeforeThereWereAccountsIsAddedTo(t *testing.T) {
	t.Parallel()
	f := &Findings{IOJob: job.Network, Vectors: map[string][]Component{"old": {{"cpu", 1, 1, 1}}}}
	f.Learn("new", []Component{{"cpu", 0.5, 0.5, 0.5}}, result.Load{CPUNanos: 1e9})
	if err := f.Require(job.Network, "new"); err != nil {
		t.Error(err)
	}
	if f.Require(job.Network, "old") == nil {
		t.Error("a job without an account is good enough")
	}
}

// Where the processors are twice as slow, a job that computed half of its time computes two
// thirds of it.
func TestVectorsAreThoseOfProcessorsAsFastAsInTheMix(t *testing.T) {
	t.Parallel()
	load := func(rounds int, computing int64) result.Load {
		return result.Load{CPUNanos: computing * 1e9, Rounds: rounds}
	}
	f := &Findings{
		IOJob: job.Network, IOServers: 1, Accounts: map[string]result.Load{"job": load(100, 4)},
		Vectors: map[string][]Component{"job": {{"cpu", 0.5, 0.6, 0.4}, {"network", 0.3, 0.3, 0.15}}},
	}
	want := loading.Vector{
		{Loading: 1 / 1.5, Pressure: 1.2 / 1.5, Sensitivity: 0.8 / 1.5, Threads: 1},
		{Loading: 0.3 / 1.5, Pressure: 0.3 / 1.5, Sensitivity: 0.15 / 1.5, Threads: 1},
	}
	if diff := cmp.Diff(want, f.VectorLike(load(50, 4), "job"), cmpopts.EquateApprox(0, 1e-9)); diff != "" {
		t.Error(diff)
	}
}

func TestAJobThatDoesNotComputeIsAsMeasured(t *testing.T) {
	t.Parallel()
	f := &Findings{
		IOJob: job.Network, IOServers: 1, Accounts: map[string]result.Load{"job": {Rounds: 10}},
		Vectors: map[string][]Component{"job": {{"network", 0.3, 0.3, 0.15}}},
	}
	if diff := cmp.Diff(f.Vector("job"), f.VectorLike(result.Load{Rounds: 5}, "job")); diff != "" {
		t.Error(diff)
	}
}
