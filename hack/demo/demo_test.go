package main

import (
	"math"
	"testing"

	"loadline.dev/loadline/pkg/model/contention"
	"loadline.dev/loadline/pkg/model/placement"
)

func TestThePapersMakespansAreThePapers(t *testing.T) {
	for _, test := range []struct {
		policy placement.Policy
		want   float64 // Fig. 8, seconds
	}{{placement.List{}, 290.56}, {placement.LeastDilation{}, 221.12}} {
		schedule, machines, err := scheduleW4(paperJobs(), test.policy)
		if err != nil {
			t.Fatal(err)
		}
		if got := schedule.MakespanSeconds(); math.Abs(got-test.want) > 0.005 {
			t.Errorf("%s: makespan %.2f s (%v), want %.2f", test.policy.Name(), got, machines, test.want)
		}
	}
}

// What is shown of the trace stands on these: every vector is valid, no profile
// is empty, and each pod has the label of a profile.
func TestTheTraceBecomesValidProfilesForAllPods(t *testing.T) {
	in, err := readTrace("../../test/testdata/openb", &options{pods: 2000, every: 1})
	if err != nil {
		t.Fatal(err)
	}
	if len(in.jobs) != 2000-158 || len(in.nodes) != 1523 { // 158 pods were never scheduled
		t.Errorf("%d jobs and %d nodes, want 1842 and 1523", len(in.jobs), len(in.nodes))
	}
	profiles := map[string]bool{}
	for _, p := range in.workloadProfiles() {
		profiles[p.Name] = len(p.Spec.Resources) > 0
	}
	for i, pod := range in.kubernetesPods("loadline") {
		if v := vector(in.jobs[i]); v.Validate() != nil {
			t.Errorf("%s: %v", pod.Name, v.Validate())
		}
		if !profiles[pod.Labels[shapeLabel]] {
			t.Errorf("%s has the shape %q, which has no profile, or an empty one", pod.Name, pod.Labels[shapeLabel])
		}
	}
	for _, n := range in.nodes {
		if err := contention.ValidateServers(servers(n)); err != nil {
			t.Errorf("%s: %v", n.Name, err)
		}
	}
}
