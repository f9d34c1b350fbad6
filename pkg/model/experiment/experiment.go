package experiment

import (
	"fmt"
	"slices"

	"loadline.dev/loadline/pkg/model/contention"
	"loadline.dev/loadline/pkg/model/loading"
	"loadline.dev/loadline/pkg/model/queueing"
)

// Experiment is the subject and the method of a measurement.
type Experiment struct {
	// Resources are those to measure. Of copies these are the two that the target is busy
	// at by turns.
	Resources []Resource
	// Interference names the interference resources to measure, by probes beside a target.
	Interference []string
	// Service reports whether pods are measured that run anyway, rather than copies of a
	// target that runs alone as well.
	Service bool
	// Copies reports whether the method is that of copies of the target beside each other,
	// rather than that of probes.
	Copies bool
}

// Resource is one to measure.
type Resource struct {
	// Name is that in steps, in vectors and in errors.
	Name string
	// Servers is how many servers it has where it is measured, and the number of workers
	// of its probe.
	Servers int
	// Threads is how many threads of the target use it at once.
	Threads int
	// CPU reports whether it is the CPU, where the probes of others compute. Its probe's processor
	// time gives its speed alone; the others need a baseline beside pods that run anyway.
	CPU bool
	// Conserving is that of [probing.Setting].
	Conserving bool
}

// cpuFirst returns the indices of the resources, that of the CPU before the others: the other
// probes meet the target's demand there.
func (e Experiment) cpuFirst() []int {
	var cpu, others []int
	for i, r := range e.Resources {
		if r.CPU {
			cpu = append(cpu, i)
		} else {
			others = append(others, i)
		}
	}
	return append(cpu, others...)
}

// Site is where a round took place.
type Site struct {
	// Node is where the target or the pods of the service run.
	Node Host
	// Baseline is the node of the probes that need to run without the pods of a service; nil if
	// there is no such node, or its pods are not known.
	Baseline *Host
	// Pods is how many pods of a service run on Node. Less than 1 counts as 1.
	Pods int
}

// Host is a node and its neighbours: the pods there that are not part of the experiment.
type Host struct {
	Name string
	// Resources are the names of all resources of the node, and Servers how many servers
	// each of them has.
	Resources []string
	Servers   []int
	// Neighbours are the loading vectors of the neighbours, over Resources.
	Neighbours []loading.Vector
}

// index returns the index of a resource in the vectors of a node.
func (n Host) index(resource string) (int, error) {
	at := slices.Index(n.Resources, resource)
	if at < 0 {
		return 0, fmt.Errorf("no node is said to have the resource %q, so that nobody knows what other pods do there: name it in a NodeProfile", resource)
	}
	return at, nil
}

// amongNeighbours returns the dilation of a job on the node.
func (n Host) amongNeighbours(job loading.Vector) (float64, error) {
	all, err := dilations(append([]loading.Vector{job}, n.Neighbours...), n.Servers)
	if err != nil {
		return 0, err
	}
	return all[0], nil
}

// dilations returns those of the jobs on a node.
func dilations(jobs []loading.Vector, servers []int) ([]float64, error) {
	p, err := contention.Predict(jobs, servers, queueing.Options{})
	if err != nil {
		return nil, err
	}
	return p.Dilations, nil
}
