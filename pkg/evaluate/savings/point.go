package savings

import (
	"gonum.org/v1/gonum/floats"

	"loadline.dev/loadline/pkg/model/loading"
)

// Point is what clusters are told apart by.
type Point struct {
	// Load is how much of the busiest resource of the cluster pods would use if none of them waited: a fraction of its servers.
	Load float64 `json:"load"`
	// PodsPerCore is how many pods that use some resource there are for each core.
	PodsPerCore float64 `json:"podsPerCore"`
	// Unlikeness is 1 less the mean cosine similarity of two of these pods, from 0, where all use the resources in the same
	// proportions, to 1. Of many pods, as many of which use each of n resources and no other, it is 1 − 1/n. They are compared by their
	// demands: which fraction of each resource of the cluster a pod uses alone.
	Unlikeness float64 `json:"unlikeness"`
}

// PointOf returns the point of a cluster of which the servers of each resource and the loading vectors of all pods are given; processor is
// the index of the cores. It reports false where no pod uses a resource, or there are no cores.
func PointOf(servers []int, processor int, pods []loading.Vector) (p Point, found bool) {
	load, directions := make([]float64, len(servers)), make([]float64, len(servers))
	n := 0.0
	for _, v := range pods {
		demand := demandOf(v, servers)
		size := floats.Norm(demand, 2)
		if size == 0 {
			continue
		}
		n++
		floats.Add(load, demand)
		floats.AddScaled(directions, 1/size, demand)
	}
	if n == 0 || servers[processor] == 0 {
		return Point{}, false
	}
	p = Point{Load: floats.Max(load), PodsPerCore: n / float64(servers[processor])}
	if n > 1 { // the square of a sum of unit vectors is the sum of the cosines of all pairs, with each pod's with itself
		p.Unlikeness = min(max(0, 1-(floats.Dot(directions, directions)-n)/(n*(n-1))), 1)
	}
	return p, true
}

// demandOf returns which fraction of each resource a pod uses alone.
func demandOf(v loading.Vector, servers []int) []float64 {
	demand := make([]float64, len(servers))
	for i, d := range v {
		if servers[i] > 0 {
			demand[i] = d.Loading * float64(d.ThreadCount()) / float64(servers[i])
		}
	}
	return demand
}
