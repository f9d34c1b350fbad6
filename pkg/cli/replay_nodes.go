package cli

import (
	"cmp"
	"fmt"
	"math"
	"slices"
	"strconv"

	"k8s.io/apimachinery/pkg/api/resource"

	"loadline.dev/loadline/apis/loadline/v1alpha1"
	"loadline.dev/loadline/pkg/trace"
)

// ofNodes are the flags that describe nodes: any of them replaces all nodes of the
// manifest.
var ofNodes = []string{"nodes", "cores", "servers", "capacity", "max-jobs", "nodes-from"}

// applyNodes makes classes of nodes of the flags, if any of them was given or there
// are no others.
func (f *replayFlags) applyNodes(spec *v1alpha1.TraceReplaySpec, changed func(flag string) bool) error {
	if len(spec.Nodes) > 0 && !slices.ContainsFunc(ofNodes, changed) {
		return nil
	}
	if f.nodesFrom != "" {
		for _, flag := range ofNodes {
			if flag != "nodes-from" && flag != "max-jobs" && changed(flag) {
				return fmt.Errorf("--%s and --nodes-from both say which nodes there are: leave one out", flag)
			}
		}
		var err error
		spec.Nodes, err = f.openbNodes()
		return err
	}
	class := v1alpha1.ReplayNodes{Name: "node", Count: &f.nodes, Resources: []v1alpha1.ReplayResource{{Name: "cpu", Servers: &f.cores}}}
	for _, text := range f.servers {
		name, count, err := pair(text, "disk=2")
		if err != nil {
			return fmt.Errorf("--servers %s: %w", text, err)
		}
		n, err := strconv.ParseInt(count, 10, 32)
		if err != nil {
			return fmt.Errorf("--servers %s: %q is not a whole number", text, count)
		}
		class.Resources = append(class.Resources, v1alpha1.ReplayResource{Name: name, Servers: new(int32(n))})
	}
	for _, text := range f.capacity {
		name, amount, err := pair(text, "memory=256Gi")
		if err != nil {
			return fmt.Errorf("--capacity %s: %w", text, err)
		}
		q, err := resource.ParseQuantity(amount)
		if err != nil {
			return fmt.Errorf("--capacity %s: %q is not a quantity such as 64 or 256Gi", text, amount)
		}
		class.Capacity = append(class.Capacity, v1alpha1.ReplayCapacity{Name: name, Quantity: &q})
	}
	if changed("max-jobs") {
		class.MaxJobs = &f.maxJobs
	}
	spec.Nodes = []v1alpha1.ReplayNodes{class}
	return nil
}

// openbNodes makes a class of all nodes of the file that have the same cores,
// memory and GPUs.
func (f *replayFlags) openbNodes() (classes []v1alpha1.ReplayNodes, err error) {
	file, name, err := open(f.nodesFrom, nil)
	if err != nil {
		return nil, err
	}
	defer file.Close()
	type shape struct {
		milli, mebi int64
		gpus        int
	}
	counts := map[shape]int32{}
	var shapes []shape
	for node, err := range trace.OpenbNodes(name, file) {
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
		class := v1alpha1.ReplayNodes{
			Name:  fmt.Sprintf("cpu%d-mem%dg-gpu%d", s.milli/1000, s.mebi/1024, s.gpus),
			Count: new(counts[s]),
			Resources: []v1alpha1.ReplayResource{
				{Name: "cpu", Servers: new(int32(max(1, math.Round(float64(s.milli)/1000))))},
			},
			Capacity: []v1alpha1.ReplayCapacity{
				{Name: "cpu", Quantity: resource.NewMilliQuantity(s.milli, resource.DecimalSI)},
				{Name: "memory", Quantity: resource.NewQuantity(s.mebi<<20, resource.BinarySI)},
			},
		}
		if s.gpus > 0 {
			class.Resources = append(class.Resources, v1alpha1.ReplayResource{Name: "gpu", Servers: new(int32(s.gpus))})
			class.Capacity = append(class.Capacity, v1alpha1.ReplayCapacity{Name: "gpu", Quantity: resource.NewQuantity(int64(s.gpus), resource.DecimalSI)})
		}
		if f.maxJobs > 0 {
			class.MaxJobs = &f.maxJobs
		}
		if slices.ContainsFunc(classes, func(c v1alpha1.ReplayNodes) bool { return c.Name == class.Name }) {
			class.Name = fmt.Sprintf("cpu%dm-mem%dm-gpu%d", s.milli, s.mebi, s.gpus)
		}
		classes = append(classes, class)
	}
	return classes, nil
}
