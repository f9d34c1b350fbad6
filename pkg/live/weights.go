package live

import (
	"context"
	"slices"
	"strings"

	corev1 "k8s.io/api/core/v1"

	"loadline.dev/loadline/pkg/cgroup"
	"loadline.dev/loadline/pkg/evaluate/observed"
	"loadline.dev/loadline/pkg/evaluate/shares"
	"loadline.dev/loadline/pkg/report"
	"loadline.dev/loadline/pkg/report/page"
)

// weights shows the tree of weights that a node makes of the requests of its pods, and the response times that follow from these with what
// its containers were observed to use; nil if it has no answer.
func weights(ctx context.Context, l *Look, node string) *page.Section {
	at := slices.IndexFunc(l.In.Nodes, func(n corev1.Node) bool { return n.Name == node })
	if at < 0 {
		return nil
	}
	in := shares.NodeInput{Node: node, Cores: max(1, int(l.In.Nodes[at].Status.Capacity.Cpu().Value())), Weights: l.In.Weights, Usage: l.usage(node)}
	for i := range l.In.Pods {
		if p := &l.In.Pods[i]; p.Spec.NodeName == node && p.Status.Phase == corev1.PodRunning {
			in.Pods = append(in.Pods, *p)
		}
	}
	s := &page.Section{Title: "Which shares do requests make?"}
	answer, err := shares.OfNode(ctx, in)
	if err == nil {
		s.Table = report.NodeSharesTable(answer)
		s.Text = "The kubelet makes weights of CPU requests. RESPONSE is how many times as long work takes as with a processor to itself, by these weights and what containers use now."
		return s
	}
	in.Usage = nil // a node without room has no mean response times; it has weights
	if answer, err = shares.OfNode(ctx, in); err != nil {
		return nil // the rest of the page does not depend on it
	}
	s.Table, s.Text = report.NodeWeightsTable(answer), "The kubelet makes weights of CPU requests: by these, pods share the processors that all of them want."
	return s
}

// usage returns how many processors the containers of a node keep busy, by its last intervals.
func (l *Look) usage(node string) map[cgroup.Container]float64 {
	at := slices.IndexFunc(l.In.Sights, func(s observed.Sight) bool { return s.Node == node })
	if at < 0 {
		return nil
	}
	names := map[string]cgroup.Container{} // by IDs
	alone := map[string]cgroup.Container{} // by the UIDs of pods: their only containers
	for i := range l.In.Pods {
		p := &l.In.Pods[i]
		if p.Spec.NodeName != node {
			continue
		}
		if len(p.Spec.Containers) == 1 {
			alone[string(p.UID)] = cgroup.Container{Namespace: p.Namespace, Pod: p.Name, Name: p.Spec.Containers[0].Name}
		}
		for _, c := range p.Status.ContainerStatuses {
			_, id, _ := strings.Cut(c.ContainerID, "://")
			names[id] = cgroup.Container{Namespace: p.Namespace, Pod: p.Name, Name: c.Name}
		}
	}
	const lastMinute = 6
	intervals := l.In.Sights[at].Intervals
	intervals = intervals[max(0, len(intervals)-lastMinute):]
	usage, seconds := map[cgroup.Container]float64{}, 0.0
	for i := range intervals {
		seconds += intervals[i].Seconds
		for k := range intervals[i].Pods {
			seen := &intervals[i].Pods[k]
			if of, is := alone[seen.UID]; is {
				usage[of] += seen.Run
				continue
			}
			for _, c := range seen.Containers {
				if of, known := names[c.ID]; known {
					usage[of] += c.Run
				}
			}
		}
	}
	for c := range usage {
		usage[c] /= seconds
	}
	return usage
}
