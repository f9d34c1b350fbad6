package main

import (
	"fmt"
	"math"
	"math/rand/v2"
	"slices"

	"loadline.dev/loadline/hack/scenario"
	"loadline.dev/loadline/pkg/evaluate/savings"
	"loadline.dev/loadline/pkg/model/arrivals"
	"loadline.dev/loadline/pkg/model/loading"
)

// What the clusters of all points have in common. Nodes, and how wrong profiles are, are as in hack/scenario.
const (
	applications = 60 // about, each of equal pods
	sizeSigma    = 1  // σ of the logarithms of how much pods of one kind use
	sizeLimit    = 2  // how many σ they are off the median, at most
	maxCores     = 7  // that a pod uses: the smallest node has 8
	maxLoading   = 0.7
	computing    = 0.4 // of the time for which a pod is at the disk or the link that it lives off
	maxBusy      = 0.97
	requested    = 0.6 // of all cores
	requestError = 0.7 // σ of the logarithms of what pods request over what they use
	maxRequest   = 4   // cores
	profileError = 0.2
	leastBurst   = 1e-3 // seconds
	mostBurst    = 20e-3
	longestRound = 0.2 // seconds
)

// class is that of all applications: none has an SLA.
var class = scenario.Class{Name: "any", MaxDilation: math.Inf(1)}

// Each has a source of its own, so that clusters of one seed differ by their point only.
const (
	sizesStream arrivals.Stream = 401 + iota
	requestsStream
	profilesStream
	burstsStream
	podsStream
)

// kind is the applications that live off a resource.
type kind struct {
	resource int
	replicas []int // of each application
}

// pods returns how many there are.
func (k *kind) pods() (n int) {
	for _, replicas := range k.replicas {
		n += replicas
	}
	return n
}

// cluster is a scenario that is being drawn.
type cluster struct {
	*scenario.Scenario
	servers  []int // of all nodes
	kinds    []kind
	replicas []int // of the applications of all kinds
}

// draw draws a cluster at a point of the map, of at least 5 nodes. A pod lives off the cores, the disks or the links: the more live off
// disks and links, the more unlike they are. All pods come at the first step; at the second, half of them are replaced by equal ones.
// The error says that there is no such cluster.
func draw(at savings.Point, nodes int, seed uint64) (*scenario.Scenario, error) {
	s, err := scenario.New(scenario.Options{Seed: seed, Nodes: nodes, Requested: requested, ProfileError: profileError})
	if err != nil {
		return nil, err
	}
	s.Steps, s.Applications, s.Pods = 1, nil, nil
	c := &cluster{Scenario: s, servers: make([]int, len(scenario.Resources))}
	for _, n := range s.Nodes {
		for r, servers := range n.Size.Servers {
			c.servers[r] += servers
		}
	}
	c.addKinds(int(math.Round(at.PodsPerCore*float64(c.Cores()))), at.Unlikeness)
	c.addApplications(at.Load)
	c.addBursts()
	c.declare()
	c.request()
	c.addPods()
	return s, c.check(at)
}

// check returns an error unless the cluster is at a point, but for rounding.
func (c *cluster) check(at savings.Point) error {
	var vectors []loading.Vector
	for i, a := range c.Applications {
		vectors = append(vectors, slices.Repeat([]loading.Vector{a.Vector}, c.replicas[i])...)
	}
	const tolerance = 0.025
	is, _ := savings.PointOf(c.servers, scenario.CPU, vectors)
	if math.Abs(is.Load-at.Load) > tolerance*at.Load || math.Abs(is.PodsPerCore-at.PodsPerCore) > tolerance*at.PodsPerCore ||
		math.Abs(is.Unlikeness-at.Unlikeness) > tolerance {
		return fmt.Errorf("the nearest cluster to %+v is at %+v", at, is)
	}
	return nil
}

func (c *cluster) source(s arrivals.Stream) *rand.Rand { return rand.New(arrivals.Source(c.Seed, s)) }

// addKinds says how many pods live off each resource. With fractions q/2 of the pods at disks and at links, which meet no others
// there, the mean cosine similarity is (1 − q)² + q²/2.
func (c *cluster) addKinds(pods int, unlikeness float64) {
	others := (2 - math.Sqrt(max(0, 4-6*unlikeness))) / 3 // the smaller solution for q
	each := max(1, int(math.Round(float64(pods)/applications)))
	for r := range c.servers {
		part := others / float64(len(c.servers)-1)
		if r == scenario.CPU {
			part = 1 - others
		}
		k := kind{resource: r}
		n := int(math.Round(part * float64(pods)))
		count := (n + each - 1) / each
		for i := range count {
			k.replicas = append(k.replicas, (n+i)/count)
		}
		c.kinds = append(c.kinds, k)
	}
}

// addApplications draws what the applications use: as much of each resource as loads it as it is to be, or as much as so few pods
// can.
func (c *cluster) addApplications(load float64) {
	draw := c.source(sizesStream)
	computed := 0.0                          // by pods that live off something else
	for r := len(c.kinds) - 1; r >= 0; r-- { // the CPU last
		k, most, wanted := &c.kinds[r], maxLoading, load*float64(c.servers[r])
		if r == scenario.CPU {
			most, wanted = maxCores, wanted-computed
		}
		sizes := make([]float64, len(k.replicas))
		for i := range sizes {
			sizes[i] = math.Exp(sizeSigma * min(max(draw.NormFloat64(), -sizeLimit), sizeLimit))
		}
		for i, use := range scaled(sizes, k.replicas, wanted, most) {
			a := &scenario.Application{Name: fmt.Sprintf("%s-%02d", scenario.Resources[r], i), Class: &class}
			if r == scenario.CPU {
				a.Vector = threaded(use)
			} else {
				a.Vector = loading.Loadings(make([]float64, len(c.kinds))...)
				a.Vector[r], a.Vector[scenario.CPU] = loading.Symmetric(use), loading.Symmetric(computing*use)
				computed += computing * use * float64(k.replicas[i])
			}
			c.Applications, c.replicas = append(c.Applications, a), append(c.replicas, k.replicas[i])
		}
	}
}

// scaled returns sizes times a factor, and at most a number each, such that all pods have a sum together, or all as much as they may.
func scaled(sizes []float64, replicas []int, sum, most float64) []float64 {
	low, high := 0.0, most*math.Exp(2*sizeSigma*sizeLimit)
	large := make([]float64, len(sizes))
	for range 60 { // halvings: rounding is coarser
		factor, total := (low+high)/2, 0.0
		for i := range sizes {
			large[i] = min(factor*sizes[i], most)
			total += large[i] * float64(replicas[i])
		}
		if total < sum {
			low = factor
		} else {
			high = factor
		}
	}
	return large
}

// threaded returns the vector of a pod that uses a number of cores, with as few threads as can.
func threaded(cores float64) loading.Vector {
	threads := max(1, math.Ceil(cores/maxBusy))
	v := loading.Loadings(make([]float64, len(scenario.Resources))...)
	v[scenario.CPU] = loading.Symmetric(cores / threads)
	v[scenario.CPU].Threads = int(threads)
	return v
}

// addBursts draws for how long threads are at the resource that they use most, at a time. Rounds that are not too long keep simulations
// short.
func (c *cluster) addBursts() {
	draw := c.source(burstsStream)
	for _, a := range c.Applications {
		burst := leastBurst * math.Pow(mostBurst/leastBurst, draw.Float64())
		most := &a.Vector[0]
		for r := range a.Vector {
			if a.Vector[r].Loading > most.Loading {
				most = &a.Vector[r]
			}
		}
		most.Burst = min(burst, most.Loading*longestRound)
	}
}

// declare draws what the profiles say.
func (c *cluster) declare() {
	draw := c.source(profilesStream)
	for _, a := range c.Applications {
		a.Declared = slices.Clone(a.Vector)
		sum := 0.0
		for r := range a.Declared {
			a.Declared[r].Loading *= math.Exp(profileError * draw.NormFloat64())
			sum += a.Declared[r].Loading
		}
		for r := range a.Declared {
			a.Declared[r].Loading /= max(1, sum)
			a.Declared[r].Pressure = a.Declared[r].Loading
		}
	}
}

// request draws what the pods request: guesses at the CPU that they use, such that they fit together.
func (c *cluster) request() {
	draw := c.source(requestsStream)
	guesses, sum := make([]float64, len(c.Applications)), 0.0
	for i, a := range c.Applications {
		cpu := a.Vector[scenario.CPU]
		guesses[i] = cpu.Loading * float64(cpu.ThreadCount()) * math.Exp(requestError*draw.NormFloat64())
		sum += guesses[i] * float64(c.replicas[i])
	}
	for i, a := range c.Applications {
		cores := min(guesses[i]/sum*requested*float64(c.Cores()), maxRequest)
		a.MilliCPU = max(1, int64(math.Round(1000*cores)))
		// 2.5 GiB per core requested, of the 4 that nodes have.
		const perCore, sigma, least = 2.5 * 1024, 0.5, 64
		a.MiB = max(least, int64(cores*perCore*math.Exp(sigma*draw.NormFloat64())))
	}
}

// addPods adds the pods in the order in which they come.
func (c *cluster) addPods() {
	draw := c.source(podsStream)
	var pods []scenario.Pod
	for i, a := range c.Applications {
		pods = append(pods, slices.Repeat([]scenario.Pod{{Application: a, Goes: 2}}, c.replicas[i])...)
	}
	draw.Shuffle(len(pods), func(i, j int) { pods[i], pods[j] = pods[j], pods[i] })
	for i := range len(pods) / 2 {
		pods[i].Goes = 1
		pods = append(pods, scenario.Pod{Application: pods[i].Application, Comes: 1, Goes: 2})
	}
	for i := range pods {
		pods[i].Name = fmt.Sprintf("pod-%d", i)
	}
	c.Pods = pods
}
