package replays

import (
	"cmp"
	"fmt"
	"iter"
	"math"
	"slices"

	"k8s.io/apimachinery/pkg/api/resource"

	"loadline.dev/loadline/apis/loadline/v1alpha1"
	"loadline.dev/loadline/pkg/trace"
)

// GapsOf returns the times between the jobs of a trace, in milliseconds, as gapsMillis
// of arrivals takes them. The error is that of the jobs.
func GapsOf(jobs iter.Seq2[trace.Job, error]) ([]int64, error) {
	var gaps []int64
	first, previous := true, int64(0)
	for job, err := range jobs {
		if err != nil {
			return nil, err
		}
		at := int64(math.Round(1000 * job.Arrival))
		if !first {
			gaps = append(gaps, at-previous)
		}
		first, previous = false, at
	}
	return gaps, nil
}

// shape identifies a class of recorded nodes.
type shape struct {
	milli, mebi int64
	gpus        int
}

// NodesOf makes a class of all nodes of an openb trace that have the same cores, memory
// and GPUs, the smallest first. Each of them takes at most maxJobs at once; nil is no
// limit. The error is that of the nodes.
func NodesOf(nodes iter.Seq2[trace.OpenbNode, error], maxJobs *int32) (classes []v1alpha1.ReplayNodes, err error) {
	counts := map[shape]int32{}
	var shapes []shape
	for node, err := range nodes {
		if err != nil {
			return nil, err
		}
		s := shape{node.CPUMilli, node.MemoryMiB, node.GPUs}
		if counts[s]++; counts[s] == 1 {
			shapes = append(shapes, s)
		}
	}
	slices.SortFunc(shapes, func(a, b shape) int {
		return cmp.Or(cmp.Compare(a.gpus, b.gpus), cmp.Compare(a.milli, b.milli), cmp.Compare(a.mebi, b.mebi))
	})
	for _, s := range shapes {
		class := s.class()
		class.Count, class.MaxJobs = new(counts[s]), maxJobs
		if slices.ContainsFunc(classes, func(c v1alpha1.ReplayNodes) bool { return c.Name == class.Name }) {
			class.Name = fmt.Sprintf("cpu%dm-mem%dm-gpu%d", s.milli, s.mebi, s.gpus)
		}
		classes = append(classes, class)
	}
	return classes, nil
}

// class returns the class of nodes of a shape, by a short name.
func (s shape) class() v1alpha1.ReplayNodes {
	class := v1alpha1.ReplayNodes{
		Name: fmt.Sprintf("cpu%d-mem%dg-gpu%d", s.milli/1000, s.mebi/1024, s.gpus),
		Resources: []v1alpha1.ReplayResource{
			{Name: cpu, Servers: new(int32(max(1, math.Round(float64(s.milli)/1000))))},
		},
		Capacity: []v1alpha1.ReplayCapacity{
			{Name: cpu, Quantity: resource.NewMilliQuantity(s.milli, resource.DecimalSI)},
			{Name: memory, Quantity: resource.NewQuantity(s.mebi<<20, resource.BinarySI)},
		},
	}
	if s.gpus > 0 {
		class.Resources = append(class.Resources, v1alpha1.ReplayResource{Name: "gpu", Servers: new(int32(s.gpus))})
		class.Capacity = append(class.Capacity, v1alpha1.ReplayCapacity{Name: "gpu", Quantity: resource.NewQuantity(int64(s.gpus), resource.DecimalSI)})
	}
	return class
}
