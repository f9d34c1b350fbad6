package main

import (
	"loadline.dev/loadline/pkg/model/contention"
	"loadline.dev/loadline/pkg/model/loading"
	"loadline.dev/loadline/pkg/model/price"
	"loadline.dev/loadline/pkg/model/queueing"
)

// The jobs of the page, and how long they take alone, in seconds.
var (
	fileComp  = loading.Loadings(0.58, 0.42)
	stdIO     = loading.Loadings(0, 1)
	sorting   = loading.Loadings(0.9, 0.1)
	reader    = loading.Loadings(0.1, 0.9) // of the first picture
	candidate = loading.Loadings(0.2, 0.7) // of p'·p̄
)

const (
	fileCompSeconds = 78.08
	stdIOSeconds    = 60.0
	sortingSeconds  = 56.0
	sortingStarts   = 30.0
)

// single is a node with one CPU and one disk.
var single = []int{1, 1}

// exactly returns the dilations of jobs that share a node.
func exactly(servers []int, jobs ...loading.Vector) ([]float64, error) {
	p, err := contention.Predict(jobs, servers, queueing.Options{Solver: queueing.Exact})
	if err != nil {
		return nil, err
	}
	return p.Dilations, nil
}

// nodesOfPrice are the pods on the two nodes among which the candidate chooses.
func nodesOfPrice() [2][]loading.Vector {
	return [2][]loading.Vector{
		{loading.Loadings(0.6, 0.1), loading.Loadings(0.5, 0.1), loading.Loadings(0.3, 0.1)},
		{loading.Loadings(0.2, 0.5), loading.Loadings(0.2, 0.4), loading.Loadings(0.1, 0.3)},
	}
}

// totals returns p̄ of the pods on a node, and p'·p̄ of the candidate there.
func totals(pods []loading.Vector) (total [2]float64, product float64) {
	load := price.NewLoad(single)
	for _, v := range pods {
		load.Add(v)
	}
	const bothSides = 2 // what the candidate waits, and what it makes the others wait
	return [2]float64{load.TotalLoading(0), load.TotalLoading(1)}, load.Prices().Of(price.NewCandidate(candidate)) / bothSides
}
