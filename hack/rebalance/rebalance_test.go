package main

import (
	"testing"

	"loadline.dev/loadline/hack/comparison"
	"loadline.dev/loadline/hack/scenario"
)

// small is a cluster of a few nodes with more to do than is good for some of them.
func small(t *testing.T, seed uint64) *cluster {
	t.Helper()
	s, err := scenario.New(scenario.Options{Seed: seed, Nodes: 10, Requested: 0.7, ProfileError: 0.2, Use: 2})
	if err != nil {
		t.Fatal(err)
	}
	processorsOnly(s)
	c := newCluster(s)
	if err := byKubeScheduler(c, nil, tiesOf(s)); err != nil {
		t.Fatal(err)
	}
	return c
}

// seenAt is what gauges see of a cluster.
func seenAt(t *testing.T, c *cluster, hour int) *sights {
	t.Helper()
	seen, err := observe(c, hour)
	if err != nil {
		t.Fatal(err)
	}
	return seen
}

// excess is that of a cluster at a time, by the model.
func excess(t *testing.T, c *cluster, at float64) float64 {
	t.Helper()
	v, err := c.model(at)
	if err != nil {
		t.Fatal(err)
	}
	return v.Excess
}

// whole fails unless every pod is on a node, and no node has more than fits.
func whole(t *testing.T, c *cluster) {
	t.Helper()
	if waiting := c.waiting(); len(waiting) > 0 {
		t.Errorf("%d of %d pods are on no node", len(waiting), len(c.at))
	}
	if err := c.overfull(); err != nil {
		t.Error(err)
	}
}

// moved counts the pods that are elsewhere, and resized those that request something else.
func differences(a, b *cluster) (moved, resized int) {
	for i := range a.at {
		if a.at[i] != b.at[i] {
			moved++
		}
		if a.milliCPU[i] != b.milliCPU[i] {
			resized++
		}
	}
	return moved, resized
}

func TestAnOverfullNodeIsNamed(t *testing.T) {
	t.Parallel()
	c := small(t, 1)
	whole(t, c)
	crowded := c.clone()
	for i := range crowded.at {
		crowded.at[i] = 0
	}
	if err := crowded.overfull(); err == nil {
		t.Error("all pods fit on one node")
	}
	whole(t, c) // the clone was another
	lost := c.clone()
	lost.at[3] = comparison.Nowhere
	if got := lost.waiting(); len(got) != 1 || got[0] != 3 || len(lost.objects()) != len(c.objects())-1 {
		t.Errorf("pods %v wait, where one does", got)
	}
}

// crowd has a node run pods that use more than they request, as many as it has room for, in place of others.
func crowd(c *cluster, n int) {
	heavy := func(i int) bool {
		a := c.scenario.Pods[i].Application
		return a.Vector[scenario.CPU].Loading*float64(a.Vector[scenario.CPU].Threads)*1000 > 1.2*float64(a.MilliCPU)
	}
	try := func(i, to int) {
		from := c.at[i]
		if c.at[i] = to; c.overfull() != nil {
			c.at[i] = from
		}
	}
	for i := range c.at {
		for other := range c.nodes {
			if c.at[i] == n && other != n && !heavy(i) {
				try(i, other)
			}
		}
	}
	for i := range c.at {
		if heavy(i) {
			try(i, n)
		}
	}
}
