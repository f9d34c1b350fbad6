package main

import (
	"testing"

	"github.com/google/go-cmp/cmp"

	"loadline.dev/loadline/pkg/model/contention"
	"loadline.dev/loadline/pkg/probe/result"
)

func TestWhatWasMeasuredIsFoundAgain(t *testing.T) {
	t.Parallel()
	out := t.TempDir()
	none, err := readFindings(out)
	if err != nil {
		t.Fatal(err)
	}
	if none.require("disk-write") == nil {
		t.Error("what was never measured is good enough")
	}
	f := &findings{
		IOJob: diskWrite, Speeds: speeds{1, 2, 3}, IOServers: 2, Vectors: map[string][]component{"x": {{"disk", 0.4, 0.3, 0.2}}},
		Accounts: map[string]result.Load{"x": {CPUNanos: aSecond}},
	}
	if err := f.write(out); err != nil {
		t.Fatal(err)
	}
	got, err := readFindings(out)
	if err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff(f, got); diff != "" {
		t.Error(diff)
	}
	if err := got.require("disk-write", "x"); err != nil {
		t.Error(err)
	}
	if got.require("disk-write", "x", "y") == nil || got.require("disk-read") == nil {
		t.Error("a job or a disk that was not measured is good enough")
	}
	want := contention.Vector{{}, {Loading: 0.4, Pressure: 0.3, Sensitivity: 0.2, Threads: 1}}
	if diff := cmp.Diff(want, got.vector("x")); diff != "" {
		t.Error(diff)
	}
}

func TestWhatWasFoundBeforeThereWereAccountsIsAddedTo(t *testing.T) {
	t.Parallel()
	f := &findings{IOJob: network, Vectors: map[string][]component{"old": {{"cpu", 1, 1, 1}}}}
	f.learn("new", []component{{"cpu", 0.5, 0.5, 0.5}}, result.Load{CPUNanos: aSecond})
	if err := f.require(network, "new"); err != nil {
		t.Error(err)
	}
	if f.require(network, "old") == nil {
		t.Error("a job without an account is good enough")
	}
}
