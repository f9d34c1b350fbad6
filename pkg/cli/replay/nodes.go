package replay

import (
	"fmt"
	"maps"
	"slices"
	"strconv"

	"k8s.io/apimachinery/pkg/api/resource"

	"loadline.dev/loadline/apis/loadline/v1alpha1"
	"loadline.dev/loadline/pkg/cli/input"
	"loadline.dev/loadline/pkg/cli/verb"
	"loadline.dev/loadline/pkg/evaluate/replays"
	"loadline.dev/loadline/pkg/trace"
)

// ofNodes are the flags that describe nodes: any of them replaces all nodes of the
// manifest.
var ofNodes = []string{"nodes", "cores", "servers", "capacity", "max-jobs", "nodes-from"}

// applyNodes makes classes of nodes of the flags, if any of them was given or there
// are no others.
func (f *specFlags) applyNodes(spec *v1alpha1.TraceReplaySpec, changed func(flag string) bool) error {
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
		name, count, err := verb.Pair(text, "disk=2")
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
		name, amount, err := verb.Pair(text, "memory=256Gi")
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
	spec.Nodes, f.madeNodes = []v1alpha1.ReplayNodes{class}, true
	return nil
}

// applySharing says of the classes of nodes that have a resource how jobs share its servers.
func (f *specFlags) applySharing(spec *v1alpha1.TraceReplaySpec) error {
	for _, name := range slices.Sorted(maps.Keys(f.sharing)) {
		found := false
		for i := range spec.Nodes {
			for k := range spec.Nodes[i].Resources {
				if r := &spec.Nodes[i].Resources[k]; r.Name == name {
					r.Sharing, found = v1alpha1.DeviceSharing(f.sharing[name]), true
				}
			}
		}
		if !found {
			return fmt.Errorf("--sharing %s=%s: no nodes list the resource %s: say how many servers it has, --servers %s=8", name, f.sharing[name], name, name)
		}
	}
	return nil
}

// openbNodes makes classes of the nodes of the file.
func (f *specFlags) openbNodes() ([]v1alpha1.ReplayNodes, error) {
	file, name, err := input.Open(f.nodesFrom, nil)
	if err != nil {
		return nil, err
	}
	defer file.Close()
	var maxJobs *int32
	if f.maxJobs > 0 {
		maxJobs = &f.maxJobs
	}
	return replays.NodesOf(trace.OpenbNodes(name, file), maxJobs)
}
