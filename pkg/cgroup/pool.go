package cgroup

import (
	"fmt"
	"slices"

	corev1 "k8s.io/api/core/v1"

	"loadline.dev/loadline/pkg/model/contention"
	"loadline.dev/loadline/pkg/model/gps"
	"loadline.dev/loadline/pkg/model/loading"
)

// CorePool is the cores that the pods of a node share, and how.
type CorePool struct {
	// Cores is how many they are: those of the node that no pod has for itself.
	Cores int
	// Exclusive holds how many cores each pod has for itself; 0 for one that shares the pool.
	Exclusive []int
	// Groups are the QoS classes, and Shares the shares of the pods, in the order in which they were given.
	Groups []gps.Group
	Shares []loading.Share
}

// NewPool returns how pods share a node; cores, at least 1, are those that pods may use. All pods must be running, or
// about to.
//
// The error names the pod, the field, the value and the rule, or says that no core is left.
func NewPool(pods []*corev1.Pod, cores int, options Options) (*CorePool, error) {
	if cores < 1 || cores > loading.MaxServers {
		return nil, fmt.Errorf("cores: %d is not between 1 and %d", cores, loading.MaxServers)
	}
	p := &CorePool{Cores: cores, Exclusive: make([]int, len(pods)), Groups: []gps.Group{{}}, Shares: make([]loading.Share, len(pods))}
	for i := range pods {
		if err := Validate(pods[i]); err != nil {
			return nil, err
		}
		if options.StaticCPUs {
			p.Exclusive[i] = Exclusive(pods[i])
			p.Cores -= p.Exclusive[i]
		}
	}
	root := Build(pods, options)
	if p.Cores < 0 || p.Cores == 0 && len(root.Children) > 0 {
		return nil, fmt.Errorf("cores: pods have %d for themselves, of %d: none is left for the others", cores-p.Cores, cores)
	}
	p.Cores = max(1, p.Cores) // a pool that no pod is in
	p.add(root, 0)
	return p, nil
}

// add adds the members of a group.
func (p *CorePool) add(group *Group, index int) {
	for _, member := range group.Children {
		limit := float64(member.LimitMilliCPU) / 1000
		if member.Pod {
			p.Shares[member.place] = loading.Share{Weight: float64(member.Weight), Limit: limit, Group: index}
			continue
		}
		p.Groups = append(p.Groups, gps.Group{Parent: index, Weight: float64(member.Weight), Limit: limit})
		p.add(member, len(p.Groups)-1)
	}
}

// AddSystem adds the processes of a node that are in no pod, as one more share, the last. They are a sibling of all pods
// together, of which the control group has a weight by the cores that pods may use, allocatable. Nothing else must have
// been added after the pods.
func (p *CorePool) AddSystem(allocatable int64, conversion Conversion) {
	const pods = 1
	for g := 1; g < len(p.Groups); g++ {
		p.Groups[g].Parent++
	}
	for i := range p.Shares {
		p.Shares[i].Group++
	}
	weight := float64(systemWeight)
	if conversion == None {
		weight = sharesPerCPU
	}
	p.Groups = slices.Insert(p.Groups, pods, gps.Group{Weight: float64(conversion.Weight(Shares(allocatable)))})
	p.Shares = append(p.Shares, loading.Share{Weight: weight})
	p.Exclusive = append(p.Exclusive, 0)
}

// systemWeight is the weight of a control group of cgroup v2 for which nothing was set, such as system.slice.
const systemWeight = 100

// Sharing returns how the pods share their cores, the resource of that index.
func (p *CorePool) Sharing(cpu int) contention.Sharing {
	return contention.Sharing{Resource: cpu, Groups: p.Groups, Shares: p.Shares}
}

// InPool returns the vector of a pod as those in the pool find it: without what it does on cores of its own, where it
// presses on others' caches all the same.
func (p *CorePool) InPool(pod int, v loading.Vector, cpu int) loading.Vector {
	if p.Exclusive[pod] == 0 || cpu >= len(v) {
		return v
	}
	elsewhere := slices.Clone(v)
	elsewhere[cpu] = loading.Demand{}
	for i, d := range v {
		if d.Effect != nil && d.Effect.Of == cpu {
			effect := *d.Effect
			effect.Exclusive = v[cpu].Loading
			elsewhere[i] = loading.Demand{Threads: v[cpu].Threads, Effect: &effect}
		}
	}
	return elsewhere
}

// Exclusive returns how many cores a pod has for itself on a node whose CPU manager has the policy static: those that
// its containers request in whole numbers, if its QoS class is Guaranteed. The other containers of such a pod share the
// pool, which is neglected: commonly they are small.
func Exclusive(pod *corev1.Pod) int {
	if QoS(pod) != corev1.PodQOSGuaranteed || pod.Spec.Resources != nil {
		return 0
	}
	cores := int64(0)
	for _, c := range running(inEffect(pod)) {
		if m := milli(c.Resources.Requests.Cpu()); m%1000 == 0 {
			cores += m / 1000
		}
	}
	return int(min(cores, loading.MaxServers))
}

// Validate returns an error for a pod that no kubelet runs: it names the pod, the field, the value and the rule.
func Validate(pod *corev1.Pod) error {
	if Ended(pod) {
		return fmt.Errorf("pod %s: has ended: status.phase is %s", nameOf(pod), pod.Status.Phase)
	}
	if len(pod.Spec.Containers) == 0 {
		return fmt.Errorf("pod %s: spec.containers: there is none", nameOf(pod))
	}
	if r := pod.Spec.Resources; r != nil {
		if err := validateCPU(r); err != nil {
			return fmt.Errorf("pod %s: spec.resources.%w", nameOf(pod), err)
		}
	}
	for _, list := range [][]corev1.Container{pod.Spec.InitContainers, pod.Spec.Containers} {
		for i := range list {
			if err := validateCPU(&list[i].Resources); err != nil {
				return fmt.Errorf("pod %s: container %s: resources.%w", nameOf(pod), list[i].Name, err)
			}
		}
	}
	return nil
}

func validateCPU(r *corev1.ResourceRequirements) error {
	request, requested := r.Requests[corev1.ResourceCPU]
	limit, limited := r.Limits[corev1.ResourceCPU]
	switch {
	case request.Sign() < 0:
		return fmt.Errorf("requests.cpu: %s is less than 0", request.String())
	case limit.Sign() < 0:
		return fmt.Errorf("limits.cpu: %s is less than 0", limit.String())
	case requested && limited && request.Cmp(limit) > 0:
		return fmt.Errorf("requests.cpu: %s is more than the limit, %s", request.String(), limit.String())
	default:
		return nil
	}
}
