package evaluate

import (
	"fmt"
	"maps"
	"slices"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/resource"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"loadline.dev/loadline/pkg/cgroup"
	"loadline.dev/loadline/pkg/model/contention"
	"loadline.dev/loadline/pkg/model/gps"
	"loadline.dev/loadline/pkg/model/queueing"
)

// share returns how the pods share the node's cores when they request that much CPU: as in the control groups that a
// kubelet makes of pods with one container and no limits.
func (n *sharedNode) share(requests map[string]resource.Quantity) (*contention.Sharing, error) {
	known := map[string]bool{}
	var pods []corev1.Pod
	for _, g := range n.groups {
		request, told := requests[g.Profile]
		if !told {
			return nil, fmt.Errorf("requests: there is none for %q: name what every pod on the node requests, 0 for nothing", g.Profile)
		}
		if request.Sign() < 0 {
			return nil, fmt.Errorf("requests: %q: %s is less than 0", g.Profile, request.String())
		}
		known[g.Profile] = true
		for k := range g.Copies {
			pods = append(pods, podRequesting(podName(g.first+k), request))
		}
	}
	for _, name := range slices.Sorted(maps.Keys(requests)) {
		if !known[name] {
			return nil, fmt.Errorf("requests: there is no pod of %q on the node", name)
		}
	}
	sharing := &contention.Sharing{Resource: slices.Index(n.names, string(corev1.ResourceCPU)), Shares: make([]contention.Share, len(n.vectors))}
	places := map[string]int{}
	for j := range n.vectors {
		places[podName(j)] = j
	}
	sharing.Groups = []gps.Group{{}}
	var add func(members []*cgroup.Group, into int)
	add = func(members []*cgroup.Group, into int) {
		for _, m := range members {
			if m.Pod {
				sharing.Shares[places[m.Name]] = contention.Share{Weight: float64(m.Weight), Group: into}
				continue
			}
			sharing.Groups = append(sharing.Groups, gps.Group{Parent: into, Weight: float64(m.Weight)})
			add(m.Children, len(sharing.Groups)-1)
		}
	}
	add(cgroup.Build(pods, cgroup.Options{}).Children, 0)
	return sharing, nil
}

func podName(place int) string { return fmt.Sprintf("pod-%d", place) }

func podRequesting(name string, cpu resource.Quantity) corev1.Pod {
	container := corev1.Container{Name: "main"}
	if !cpu.IsZero() {
		container.Resources.Requests = corev1.ResourceList{corev1.ResourceCPU: cpu}
	}
	return corev1.Pod{ObjectMeta: metav1.ObjectMeta{Name: name}, Spec: corev1.PodSpec{Containers: []corev1.Container{container}}}
}

// completions returns when runs, one for each pod, are done.
func (n *sharedNode) completions(runs []contention.Run, options queueing.Options) ([]float64, error) {
	if n.sharing == nil {
		return contention.CompletionsBy(runs, n.servers, options)
	}
	return contention.CompletionsSharing(runs, n.servers, *n.sharing, options)
}
