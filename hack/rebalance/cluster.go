package main

import (
	"fmt"
	"runtime"
	"slices"

	"golang.org/x/sync/errgroup"
	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/resource"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"

	"loadline.dev/loadline/hack/comparison"
	"loadline.dev/loadline/hack/scenario"
	"loadline.dev/loadline/pkg/model/loading"
	"loadline.dev/loadline/pkg/node"
)

// cluster is where the pods of a scenario are and what they request. Nodes and pods stay what they are by their indices in the scenario.
type cluster struct {
	scenario *scenario.Scenario
	day      *day
	nodes    []corev1.Node
	index    map[string]int // of nodes, by their names
	pods     map[string]int // by their names
	// at is where each pod is, and milliCPU what it requests, in thousandths of a core.
	at       comparison.Placement
	milliCPU []int64
}

// newCluster returns the cluster of a scenario whose pods are on no node yet.
func newCluster(s *scenario.Scenario) *cluster {
	c := &cluster{
		scenario: s, day: newDay(s), index: map[string]int{}, pods: map[string]int{}, at: slices.Repeat(comparison.Placement{comparison.Nowhere}, len(s.Pods)),
	}
	for n, object := range s.NodeObjects() {
		object.Labels[corev1.LabelHostname] = object.Name
		object.Status.Capacity = object.Status.Allocatable
		object.Status.Conditions = []corev1.NodeCondition{{Type: corev1.NodeReady, Status: corev1.ConditionTrue}}
		c.nodes, c.index[object.Name] = append(c.nodes, *object), n
	}
	for i := range s.Pods {
		c.milliCPU, c.pods[s.Pods[i].Name] = append(c.milliCPU, s.Pods[i].Application.MilliCPU), i
	}
	return c
}

// clone returns a cluster that changes by itself.
func (c *cluster) clone() *cluster {
	other := *c
	other.at, other.milliCPU = slices.Clone(c.at), slices.Clone(c.milliCPU)
	return &other
}

// pod returns the object of a pod, of the ReplicaSet of its application.
func (c *cluster) pod(i int) *corev1.Pod {
	p := &c.scenario.Pods[i]
	object := c.scenario.PodObject(p, corev1.DefaultSchedulerName)
	object.UID = uid(i)
	owner := p.Application.Name
	object.OwnerReferences = []metav1.OwnerReference{{APIVersion: "apps/v1", Kind: "ReplicaSet", Name: owner, UID: types.UID(owner), Controller: new(true)}}
	object.Spec.Containers[0].Resources.Requests[corev1.ResourceCPU] = *resource.NewMilliQuantity(c.milliCPU[i], resource.DecimalSI)
	object.Spec.RestartPolicy = corev1.RestartPolicyAlways
	if c.at[i] == comparison.Nowhere {
		object.Status.Phase = corev1.PodPending
		return object
	}
	object.Spec.NodeName = c.nodes[c.at[i]].Name
	object.Status = corev1.PodStatus{
		Phase: corev1.PodRunning, QOSClass: corev1.PodQOSBurstable,
		Conditions: []corev1.PodCondition{{Type: corev1.PodReady, Status: corev1.ConditionTrue}},
	}
	return object
}

// objects returns the objects of all pods on nodes.
func (c *cluster) objects() (all []corev1.Pod) {
	for i, n := range c.at {
		if n != comparison.Nowhere {
			all = append(all, *c.pod(i))
		}
	}
	return all
}

// waiting returns the pods that are on no node.
func (c *cluster) waiting() (some []int) {
	for i, n := range c.at {
		if n == comparison.Nowhere {
			some = append(some, i)
		}
	}
	return some
}

// byNode returns the pods of each node.
func (c *cluster) byNode() [][]int {
	pods := make([][]int, len(c.nodes))
	for i, n := range c.at {
		if n != comparison.Nowhere {
			pods[n] = append(pods[n], i)
		}
	}
	return pods
}

// overfull returns an error that names a node whose pods request more than it has.
func (c *cluster) overfull() error {
	for n, pods := range c.byNode() {
		size := c.scenario.Nodes[n].Size
		cpu, memory := int64(size.Servers[scenario.CPU])*1000, size.MiB
		for _, i := range pods {
			cpu, memory = cpu-c.milliCPU[i], memory-c.scenario.Pods[i].Application.MiB
		}
		if most := c.nodes[n].Status.Allocatable.Pods().Value(); cpu < 0 || memory < 0 || int64(len(pods)) > most {
			return fmt.Errorf("node %s: its %d pods request %d thousandths of a core and %d MiB more than it has", c.nodes[n].Name, len(pods), max(0, -cpu), max(0, -memory))
		}
	}
	return nil
}

// fare is how a pod fares on its node.
type fare struct {
	pod int
	// loading is what it is, and dilation by how much longer it takes than alone.
	loading  loading.Demand
	dilation float64
}

// fares returns how the pods of each node fare at a time, in hours, by the most accurate model for what they really are.
func (c *cluster) fares(at float64) ([][]fare, error) {
	vectors := c.day.vectors(at)
	return c.each(func(n int, pods []int) ([]fare, error) {
		model := &node.Node{Name: c.nodes[n].Name, Servers: c.servers(n)}
		for _, i := range pods {
			model.Pods = append(model.Pods, node.Pod{Pod: c.pod(i), Vector: vectors[c.scenario.Pods[i].Application]})
		}
		p, err := model.Predict()
		if err != nil {
			return nil, err
		}
		some := make([]fare, len(pods))
		for k, i := range pods {
			some[k] = fare{i, model.Pods[k].Vector[0], p.Dilations[k]}
		}
		return some, nil
	})
}

// servers returns the number of processors of a node, as models take it.
func (c *cluster) servers(n int) []int { return c.scenario.Nodes[n].Size.Servers[:1] }

// each works out how the pods of each node fare, several nodes at once.
func (c *cluster) each(of func(node int, pods []int) ([]fare, error)) ([][]fare, error) {
	byNode := c.byNode()
	all := make([][]fare, len(byNode))
	var group errgroup.Group
	group.SetLimit(runtime.GOMAXPROCS(0))
	for n, pods := range byNode {
		if len(pods) == 0 {
			continue
		}
		group.Go(func() (err error) {
			all[n], err = of(n, pods)
			return err
		})
	}
	return all, group.Wait()
}

// uid returns that of a pod.
func uid(i int) types.UID {
	return types.UID(fmt.Sprintf("%08d-0000-4000-8000-000000000000", i))
}
