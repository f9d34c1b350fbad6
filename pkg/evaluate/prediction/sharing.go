package prediction

import (
	"cmp"
	"fmt"
	"maps"
	"slices"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/resource"

	"loadline.dev/loadline/pkg/cgroup"
	"loadline.dev/loadline/pkg/evaluate/manifest"
	"loadline.dev/loadline/pkg/model/contention"
	"loadline.dev/loadline/pkg/model/mix"
	"loadline.dev/loadline/pkg/model/queueing"
	"loadline.dev/loadline/pkg/node"
	"loadline.dev/loadline/pkg/profile"
)

// share finds how the pods share the node's cores. Where nothing is known of what any requests, they share alike.
func (m *nodeMix) share(in *Input, known *catalog) error {
	requests, err := m.quantities("requests", in.Requests, known)
	if err != nil {
		return err
	}
	limits, err := m.quantities("limits", in.Limits, known)
	if err != nil {
		return err
	}
	manifest := func(g group) bool { return g.pod != nil }
	if len(requests)+len(limits) == 0 && !slices.ContainsFunc(m.groups, manifest) {
		return nil
	}
	pods := slices.Clone(m.Pods)
	for i := range m.groups {
		g := &m.groups[i]
		request, limit := requests[g.subject], limits[g.subject]
		if g.pod == nil && request == nil && limit == nil {
			return fmt.Errorf("requests: there is none for %q: name what every pod on the node requests, 0 for nothing", g.Name)
		}
		g.sharer = cmp.Or(g.pod, bare())
		if request != nil || limit != nil {
			if g.sharer, err = cgroup.WithCPU(g.sharer, request, limit); err != nil {
				return fmt.Errorf("pods %q: %w", g.Name, err)
			}
		}
		for j := g.first; j < g.first+g.Copies; j++ {
			pods[j].Pod = g.sharer
		}
		if g.source.Source == profile.SourceRequests {
			assume(g, pods[g.first:g.first+g.Copies], known.resources)
		}
	}
	m.Pods, m.Weights = pods, in.Weights
	m.vectors = m.Vectors()
	m.shared, err = m.Share()
	return err
}

// assume keeps what is assumed of some pods, which are equal, within their limit.
func assume(g *group, pods []node.Pod, resources *profile.Resources) {
	limit := cgroup.Flat(g.sharer).Limit
	g.vector = resources.Within(g.vector, limit)
	for j := range pods {
		pods[j] = pods[j].WithVector(resources.Within(pods[j].AtDevices(), limit))
	}
}

// quantities returns the quantities of some pods by whose they are.
func (m *nodeMix) quantities(field string, named map[string]resource.Quantity, known *catalog) (map[*subject]*resource.Quantity, error) {
	all := map[*subject]*resource.Quantity{}
	for _, name := range slices.Sorted(maps.Keys(named)) {
		cpu := named[name]
		s, err := known.find(name)
		if err != nil || !slices.ContainsFunc(m.groups, func(g group) bool { return g.subject == s }) {
			return nil, fmt.Errorf("%s: there is no pod of %q on the node", field, name)
		}
		if cpu.Sign() < 0 {
			return nil, fmt.Errorf("%s: %q: %s is less than 0", field, name, cpu.String())
		}
		if why := manifest.InvalidAmount(corev1.ResourceCPU, &cpu); why != "" {
			return nil, fmt.Errorf("%s: %q: %s %s", field, name, cpu.String(), why)
		}
		if all[s] != nil {
			return nil, fmt.Errorf("%s: %q is given twice, by another name, too", field, name)
		}
		all[s] = &cpu
	}
	return all, nil
}

// bare returns a pod with one container that requests nothing.
func bare() *corev1.Pod {
	return &corev1.Pod{Spec: corev1.PodSpec{Containers: []corev1.Container{{Name: "main"}}}}
}

// completions returns when runs, one for each pod, are done.
func (m *nodeMix) completions(runs []mix.Run, options queueing.Options) ([]float64, error) {
	if m.shared == nil {
		return mix.CompletionsSharing(runs, m.Servers, contention.EqualShares(m.CPU, len(m.Pods)), options)
	}
	return m.shared.Completions(runs, options)
}
