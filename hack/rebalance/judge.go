package main

import (
	"slices"

	"loadline.dev/loadline/hack/nodesim"
	"loadline.dev/loadline/pkg/cgroup"
	"loadline.dev/loadline/pkg/evaluate/observed"
)

// verdict is what a judge says of a cluster at a moment. Pods that are on no node do not count.
type verdict struct {
	// Excess is how far the dilations of all pods are above the load line, [observed.DefaultAbove], in all, and Above how many pods are.
	Excess float64 `json:"excess"`
	Above  float64 `json:"podsAbove"`
	// Mean is the mean dilation.
	Mean float64 `json:"meanDilation"`
}

// verdictOn adds up how pods fare.
func verdictOn(byNode [][]fare) verdict {
	var v verdict
	all := slices.Concat(byNode...)
	for _, f := range all {
		v.Mean += f.dilation / float64(len(all))
		if f.dilation > observed.DefaultAbove {
			v.Excess += f.dilation - observed.DefaultAbove
			v.Above++
		}
	}
	return v
}

// model judges the cluster at a time by the model.
func (c *cluster) model(at float64) (verdict, error) {
	fares, err := c.fares(at)
	return verdictOn(fares), err
}

// simulation judges the cluster at a time by a simulation of its nodes, which shares nothing with the model.
func (c *cluster) simulation(judge *nodesim.Judge, at float64) (verdict, error) {
	vectors := c.day.vectors(at)
	fares, err := c.each(func(n int, pods []int) ([]fare, error) {
		simulated, some := make([]nodesim.Pod, len(pods)), make([]fare, len(pods))
		for k, i := range pods {
			share := cgroup.Flat(c.pod(i))
			simulated[k] = nodesim.Pod{Vector: vectors[c.scenario.Pods[i].Application], Weight: int(share.Weight), Limit: share.Limit}
		}
		found, err := judge.Dilations(c.servers(n), simulated)
		if err != nil {
			return nil, err
		}
		for k, d := range found {
			some[k] = fare{pods[k], simulated[k].Vector[0], d.Mean}
		}
		return some, nil
	})
	return verdictOn(fares), err
}
