package main

import (
	"slices"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"

	"loadline.dev/loadline/hack/experiments/compare"
	"loadline.dev/loadline/hack/experiments/start"
	"loadline.dev/loadline/pkg/model/loading"
)

func TestThePapersSchedulesHaveThePapersMakespans(t *testing.T) {
	t.Parallel()
	vectors := map[string]loading.Vector{"cpu": loading.Loadings(1, 0), "io": loading.Loadings(0, 1)}
	want := map[string]float64{"the paper's, list scheduler": 290.56, "the paper's, min p'·p̄": 221.12} // Fig. 8, seconds
	for _, a := range arrangements() {
		if a.nodes == nil {
			continue
		}
		e := execution{nodes: a.nodes}
		for _, p := range paperJobs(1) {
			e.jobs = append(e.jobs, compare.Ran{Start: 1000 + p.start, Neutral: p.neutral, Elapsed: 2 * p.neutral, Vector: vectors[p.kind]})
		}
		got, err := e.predicted([]int{1, 1})
		if err != nil {
			t.Fatal(err)
		}
		if diff := cmp.Diff(want[a.name], got, cmpopts.EquateApprox(0, 1e-9)); diff != "" {
			t.Errorf("%s: %s", a.name, diff)
		}
		if got := e.makespan(); got != 360 { // w3, from 0 to twice 180 s
			t.Errorf("%s: took %v s, want 360", a.name, got)
		}
	}
}

func TestTheExecutionInTheMiddleIsShown(t *testing.T) {
	t.Parallel()
	var all []execution
	for _, elapsed := range []float64{5, 1, 3} {
		all = append(all, execution{nodes: []string{start.First, start.Second, start.First, start.First}, jobs: []compare.Ran{{Elapsed: elapsed}}})
	}
	got := middle(all)
	if got.makespan() != 3 {
		t.Errorf("it took %v s, want 3", got.makespan())
	}
	if diff := cmp.Diff([]string{"w1", "w3", "w4"}, got.on(start.First)); diff != "" {
		t.Error(diff)
	}
}

func TestAJobThatBeginsAtAnotherTimeThanItShouldIsAnError(t *testing.T) {
	t.Parallel()
	planned := paperJobs(1)
	var e execution
	for _, p := range planned {
		e.jobs = append(e.jobs, compare.Ran{Start: 1000 + p.start})
	}
	if err := e.punctual(planned); err != nil {
		t.Error(err)
	}
	for i := range planned {
		late := execution{jobs: slices.Clone(e.jobs)}
		late.jobs[i].Start += 0.3
		if err := late.punctual(planned); err == nil {
			t.Errorf("%s may begin 0.3 s late", planned[i].name)
		}
	}
}
