package main

import (
	"slices"
	"testing"

	"loadline.dev/loadline/hack/comparison"
	"loadline.dev/loadline/pkg/evaluate/plan"
	"loadline.dev/loadline/pkg/feasibility"
)

func TestLoadlineKeepsItsBudgetAndLosesNoPod(t *testing.T) {
	t.Parallel()
	before := small(t, 1)
	crowd(before, 0)
	had := excess(t, before, 0)
	if had < 1 {
		t.Fatalf("there is an excess of %v, too little to test by", had)
	}
	for name, l := range map[string]*loadline{
		"1 move": {1, []plan.Action{plan.MovePod}}, "3 changes": {3, nil},
	} {
		after := before.clone()
		seen := seenAt(t, before, 0)
		done, err := l.act(t.Context(), after, seen, nil)
		if err != nil {
			t.Errorf("%s: %v", name, err)
			continue
		}
		moved, resized := differences(before, after)
		if done.Disrupted != moved || done.Changes != moved+resized || done.Changes == 0 || l.budget > 0 && done.Changes > l.budget || len(l.kinds) > 0 && resized > 0 {
			t.Errorf("%s: %+v, where %d pods moved and %d were resized", name, done, moved, resized)
		}
		whole(t, after)
		if has := excess(t, after, 0); has >= had {
			t.Errorf("%s: the excess is %.2f, and was %.2f", name, has, had)
		}
		allowed(t, name, before, after)
	}
}

// allowed fails unless kube-scheduler's filters let each pod that moved run where it is now, beside all others.
func allowed(t *testing.T, name string, before, after *cluster) {
	t.Helper()
	filter, err := feasibility.New(&feasibility.Cluster{Nodes: after.nodes, Pods: after.objects()})
	if err != nil {
		t.Fatal(err)
	}
	for i := range after.at {
		if after.at[i] == before.at[i] {
			continue
		}
		if fit := filter.Of(after.pod(i))(after.nodes[after.at[i]].Name); fit.Refused != "" {
			t.Errorf("%s: pod %d may not run on its node: %s", name, i, fit.Refused)
		}
	}
}

// By either scheduler evicted pods run somewhere again, and all others stay.
func TestEvictedPodsArePlacedAgain(t *testing.T) {
	t.Parallel()
	before := small(t, 1)
	var evicted []int
	for i, n := range before.at {
		if n < 2 {
			evicted = append(evicted, i)
		}
	}
	for name, place := range map[string]func() (*cluster, error){
		"kube-scheduler": func() (*cluster, error) {
			c := before.clone()
			return c, byKubeScheduler(c, evicted, tiesOf(c.scenario))
		},
		"loadline": func() (*cluster, error) { c := before.clone(); return c, byLoadline(c, evicted, nil) },
	} {
		after, err := place()
		if err != nil {
			t.Errorf("%s: %v", name, err)
			continue
		}
		whole(t, after)
		allowed(t, name, before, after)
		for i := range after.at {
			if after.at[i] != before.at[i] && !slices.Contains(evicted, i) {
				t.Errorf("%s: pod %d moved, and was not evicted", name, i)
			}
		}
		if moved, _ := differences(before, after); moved == 0 {
			t.Errorf("%s: all of %d evicted pods are where they were", name, len(evicted))
		}
		again, err := place()
		if moved, _ := differences(after, again); err != nil || moved > 0 {
			t.Errorf("%s: a second time %d pods go elsewhere, %v", name, moved, err)
		}
	}
}

// An evicted pod holds what it requested until it has ended, so that a full node does not take its successor at once.
func TestSuccessorsArePlacedBesideThoseThatLeave(t *testing.T) {
	t.Parallel()
	c := small(t, 1)
	const full = 0
	var there []int
	for i, n := range c.at {
		if n == full {
			there = append(there, i)
		}
	}
	whole := c.nodes[full].Status.Allocatable.Cpu().MilliValue()
	for _, i := range there[1:] {
		whole -= c.milliCPU[i]
	}
	c.milliCPU[there[0]] = whole // nothing is left
	if err := byKubeScheduler(c, there[:1], tiesOf(c.scenario)); err != nil {
		t.Fatal(err)
	}
	if at := c.at[there[0]]; at == full {
		t.Error("the successor is on the node that was full")
	}
}

func TestAPodThatFitsNowhereWaitsAndIsTriedAgain(t *testing.T) {
	t.Parallel()
	c := small(t, 1)
	request := c.milliCPU[0]
	c.milliCPU[0] = 1000_000
	if err := byKubeScheduler(c, []int{0}, tiesOf(c.scenario)); err != nil {
		t.Fatal(err)
	}
	if c.at[0] != comparison.Nowhere {
		t.Errorf("a pod that requests 1000 cores is on node %d", c.at[0])
	}
	c.milliCPU[0] = request
	if err := byKubeScheduler(c, nil, tiesOf(c.scenario)); err != nil {
		t.Fatal(err)
	}
	whole(t, c)
}
