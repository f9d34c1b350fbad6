package feasibility

import (
	"maps"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/types"
	fwk "k8s.io/kube-scheduler/framework"
	"k8s.io/kubernetes/pkg/scheduler/backend/cache"
	"k8s.io/kubernetes/pkg/scheduler/framework"
)

// placement says which pods run on which nodes: those of a snapshot, but for the pods that run elsewhere since. It is not changed.
type placement struct {
	*original

	// nodes are those that run other pods than in the snapshot, by their names.
	nodes map[string]fwk.NodeInfo
	// moved has the node of each pod that runs elsewhere or otherwise than in the snapshot, "" for none.
	moved map[types.NamespacedName]string
	// uses counts by how many more pods use a PersistentVolumeClaim than in the snapshot.
	uses map[types.NamespacedName]int
	// repelling counts the pods that keep others away by the labels of their namespaces.
	repelling int
}

// original is a snapshot, and where things are in it.
type original struct {
	snapshot *cache.Snapshot
	nodeOf   map[types.NamespacedName]string // of each pod
	users    map[types.NamespacedName]int    // of each PersistentVolumeClaim
}

// placed returns the placement of pods that run on some of the nodes. No two of them have one name.
func placed(pods []*corev1.Pod, nodes []*corev1.Node) *placement {
	o := &original{cache.NewSnapshot(pods, nodes), make(map[types.NamespacedName]string, len(pods)), map[types.NamespacedName]int{}}
	p := &placement{original: o, nodes: map[string]fwk.NodeInfo{}, moved: map[types.NamespacedName]string{}, uses: map[types.NamespacedName]int{}}
	for _, pod := range pods {
		o.nodeOf[keyOf(pod)] = pod.Spec.NodeName
		count(o.users, pod, 1)
		p.repelling += repels(pod)
	}
	return p
}

func keyOf(pod *corev1.Pod) types.NamespacedName {
	return types.NamespacedName{Namespace: pod.Namespace, Name: pod.Name}
}

// count adds to the users of the claims of a pod.
func count(users map[types.NamespacedName]int, pod *corev1.Pod, add int) {
	for i := range pod.Spec.Volumes {
		if claim := pod.Spec.Volumes[i].PersistentVolumeClaim; claim != nil {
			users[types.NamespacedName{Namespace: pod.Namespace, Name: claim.ClaimName}] += add
		}
	}
}

// repels returns 1 for a pod that keeps others away by the labels of their namespaces, else 0.
func repels(pod *corev1.Pod) int {
	if a := pod.Spec.Affinity; a != nil && a.PodAntiAffinity != nil && byNamespaces(a.PodAntiAffinity.RequiredDuringSchedulingIgnoredDuringExecution) {
		return 1
	}
	return 0
}

// node returns a node with its pods.
func (p *placement) node(name string) (fwk.NodeInfo, error) {
	if info, is := p.nodes[name]; is {
		return info, nil
	}
	return p.snapshot.Get(name)
}

// used reports whether a pod uses a PersistentVolumeClaim.
func (p *placement) used(claim types.NamespacedName) bool { return p.users[claim]+p.uses[claim] > 0 }

// with returns the placement once a pod runs on a node and nowhere else, as its specification says, or on none. Its cost is that of the
// nodes where it was and is, and of the changes since the snapshot.
func (p *placement) with(pod *corev1.Pod, on string) *placement {
	next := &placement{p.original, maps.Clone(p.nodes), maps.Clone(p.moved), maps.Clone(p.uses), p.repelling}
	next.remove(keyOf(pod))
	next.add(pod, on)
	return next
}

// remove takes the pod of a name from its node.
func (p *placement) remove(key types.NamespacedName) {
	on, changed := p.moved[key]
	if !changed {
		on = p.nodeOf[key]
	}
	info, err := p.node(on)
	if err != nil { // it is on none
		return
	}
	rest := framework.NewNodeInfo()
	for _, of := range info.GetPods() {
		if gone := of.GetPod(); keyOf(gone) == key {
			count(p.uses, gone, -1)
			p.repelling -= repels(gone)
			continue
		}
		rest.AddPodInfo(of)
	}
	rest.SetNode(info.Node())
	p.nodes[on], p.moved[key] = rest, ""
}

// add lets a pod run on a node, if there is one of that name. What its status says that it takes up is that of where it was.
func (p *placement) add(pod *corev1.Pod, on string) {
	info, err := p.node(on)
	if err != nil {
		return
	}
	running := *defaulted(pod)
	running.Spec.NodeName, running.Status = on, corev1.PodStatus{}
	of, _ := framework.NewPodInfo(&running) // as a snapshot does with terms of nonsense: it keeps the others
	info = info.Snapshot()
	info.AddPodInfo(of)
	p.nodes[on], p.moved[keyOf(pod)] = info, on
	count(p.uses, &running, 1)
	p.repelling += repels(&running)
}
