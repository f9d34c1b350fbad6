package cgroup

import (
	"cmp"
	"slices"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/resource"

	"loadline.dev/loadline/pkg/model/fairshare"
)

// Options say how shares become weights.
type Options struct {
	// Pods is for classes and pods: Linear on cgroup v2, None on v1.
	Pods Conversion
	// Containers is for containers.
	Containers Conversion
	// StaticCPUs means that the kubelet's CPU manager has the policy static: see [Exclusive].
	StaticCPUs bool
}

// Container names a container of a node.
type Container struct {
	Namespace, Pod, Name string
}

// Group is a node of the tree.
type Group struct {
	// Name is kubepods, burstable or besteffort, namespace/name of a pod, or that of
	// a container.
	Name string
	// MilliCPU is the CPU that is requested, in thousandths.
	MilliCPU int64
	// Shares and Weight are what becomes of that.
	Shares, Weight int64
	// LimitMilliCPU is how much CPU the members may use, in thousandths; 0 means no limit.
	LimitMilliCPU int64
	// Pod tells that it is a pod, of QoS class QoS.
	Pod bool
	QoS corev1.PodQOSClass
	// Container is set for a container. A pod with a single one is that container:
	// what has no siblings needs no weight.
	Container *Container
	// Children are the members, in the order of their names; pods of class
	// Guaranteed come before the other classes.
	Children []*Group

	place int // of a pod, among all
}

// Build returns the tree of the pods of a node. Pods that have ended are left out,
// and so are those with cores of their own and classes without pods.
func Build(pods []*corev1.Pod, options Options) *Group {
	root := &Group{Name: "kubepods"}
	burstable := &Group{Name: "burstable", QoS: corev1.PodQOSBurstable}
	bestEffort := &Group{Name: "besteffort", QoS: corev1.PodQOSBestEffort}
	for i := range pods {
		if Ended(pods[i]) || len(pods[i].Spec.Containers) == 0 || options.StaticCPUs && Exclusive(pods[i]) > 0 {
			continue
		}
		pod := newPod(pods[i], options)
		pod.place = i
		root.MilliCPU += pod.MilliCPU
		switch pod.QoS {
		case corev1.PodQOSGuaranteed:
			root.Children = append(root.Children, pod)
		case corev1.PodQOSBestEffort:
			bestEffort.Children = append(bestEffort.Children, pod)
		default:
			burstable.Children = append(burstable.Children, pod)
			burstable.MilliCPU += pod.MilliCPU
		}
	}
	sortByName(root.Children)
	for _, class := range []*Group{burstable, bestEffort} {
		if len(class.Children) > 0 {
			sortByName(class.Children)
			class.weigh(options.Pods)
			root.Children = append(root.Children, class)
		}
	}
	root.weigh(options.Pods)
	return root
}

// Ended reports whether a pod has ended, and takes nothing from its node any more.
func Ended(pod *corev1.Pod) bool {
	return pod.Status.Phase == corev1.PodSucceeded || pod.Status.Phase == corev1.PodFailed
}

func sortByName(groups []*Group) {
	slices.SortFunc(groups, func(a, b *Group) int { return cmp.Compare(a.Name, b.Name) })
}

func (g *Group) weigh(c Conversion) {
	g.Shares = Shares(g.MilliCPU)
	g.Weight = c.Weight(g.Shares)
}

// newPod returns a pod with its containers.
func newPod(pod *corev1.Pod, options Options) *Group {
	request, limit, _ := milliCPU(pod)
	pod = inEffect(pod)
	g := &Group{Name: nameOf(pod), Pod: true, QoS: QoS(pod), LimitMilliCPU: limit}
	if g.QoS != corev1.PodQOSBestEffort { // the overhead of such a pod counts for nothing
		g.MilliCPU = request
	}
	g.weigh(options.Pods)
	for _, c := range running(pod) {
		child := &Group{
			Name: c.Name, MilliCPU: milli(c.Resources.Requests.Cpu()), LimitMilliCPU: quota(c.Resources.Limits.Cpu()),
			Container: &Container{pod.Namespace, pod.Name, c.Name},
		}
		child.weigh(options.Containers)
		g.Children = append(g.Children, child)
	}
	if len(g.Children) == 1 {
		g.Container, g.Children = g.Children[0].Container, nil
	}
	sortByName(g.Children)
	return g
}

// nameOf returns namespace/name of a pod, or its name where it has no namespace.
func nameOf(pod *corev1.Pod) string {
	if pod.Namespace == "" {
		return pod.Name
	}
	return pod.Namespace + "/" + pod.Name
}

// maxMilliCPU bounds amounts, so that sums of them stay numbers: no node comes near.
const maxMilliCPU = 1 << 40

// milli returns an amount of CPU in thousandths.
func milli(cpu *resource.Quantity) int64 {
	if cpu.CmpInt64(maxMilliCPU/1000) >= 0 {
		return maxMilliCPU
	}
	return cpu.MilliValue()
}

// running returns the containers that run side by side: the sidecars and the
// others.
func running(pod *corev1.Pod) []*corev1.Container {
	var all []*corev1.Container
	for i := range pod.Spec.InitContainers {
		if c := &pod.Spec.InitContainers[i]; c.RestartPolicy != nil && *c.RestartPolicy == corev1.ContainerRestartPolicyAlways {
			all = append(all, c)
		}
	}
	for i := range pod.Spec.Containers {
		all = append(all, &pod.Spec.Containers[i])
	}
	return all
}

// Members returns the tree as package fairshare takes it, below a root without
// siblings. usage says how many CPUs a container keeps busy.
func (g *Group) Members(usage func(Container) float64) []*fairshare.Group {
	members := make([]*fairshare.Group, len(g.Children))
	for i, child := range g.Children {
		members[i] = &fairshare.Group{Name: child.Name, Share: float64(child.Weight)}
		if child.Container != nil {
			members[i].Utilization = usage(*child.Container)
		} else {
			members[i].Children = child.Members(usage)
		}
	}
	return members
}

// Containers calls visit for every container.
func (g *Group) Containers(visit func(Container)) {
	if g.Container != nil {
		visit(*g.Container)
	}
	for _, child := range g.Children {
		child.Containers(visit)
	}
}
