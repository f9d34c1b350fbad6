// Package madeup makes up large clusters, and what gauges would observe of them: the pods of each node fare as the model of the node has it.
package madeup

import (
	"fmt"
	"math/rand/v2"
	"time"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/resource"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"

	"loadline.dev/loadline/pkg/evaluate/observed"
	"loadline.dev/loadline/pkg/gauge/usage"
	"loadline.dev/loadline/pkg/model/loading"
	"loadline.dev/loadline/pkg/node"
)

const (
	cpus = 16
	// seconds is the length of an interval, and intervals how many each gauge reports.
	seconds   = 10
	intervals = 6
	// replicas is how many pods each workload has.
	replicas = 10
)

// Cluster returns a cluster of nodes of 16 processors with some pods each, of which one in ten is overloaded, as it was observed until a
// moment.
func Cluster(nodes, perNode int, until time.Time) (*observed.Input, error) {
	rng := rand.New(rand.NewPCG(1, 2))
	in := &observed.Input{}
	for n := range nodes {
		name := fmt.Sprintf("node-%d", n)
		amounts := corev1.ResourceList{corev1.ResourceCPU: *resource.NewQuantity(cpus, resource.DecimalSI), corev1.ResourcePods: resource.MustParse("110")}
		in.Nodes = append(in.Nodes, corev1.Node{
			ObjectMeta: metav1.ObjectMeta{Name: name, Labels: map[string]string{corev1.LabelHostname: name}},
			Status:     corev1.NodeStatus{Allocatable: amounts, Capacity: amounts},
		})
		model, first := &node.Node{Name: name, Servers: []int{cpus}}, len(in.Pods)
		var demands []loading.Demand
		for k := range perNode {
			d := loading.Demand{Loading: 0.05 + 0.5*rng.Float64(), Threads: 1}
			if n%10 == 0 {
				d.Loading, d.Threads = min(1, 1.5*d.Loading), 1+rng.IntN(2)
			}
			d.Pressure = d.Loading
			demands = append(demands, d)
			in.Pods = append(in.Pods, pod(n*perNode+k, name))
		}
		for k := range demands {
			model.Pods = append(model.Pods, node.Pod{Pod: &in.Pods[first+k], Vector: loading.Vector{demands[k]}})
		}
		s, err := sight(model, demands, until)
		if err != nil {
			return nil, err
		}
		in.Sights = append(in.Sights, *s)
	}
	return in, nil
}

// pod returns a pod of a Deployment.
func pod(i int, node string) corev1.Pod {
	const namespaces, requests = 50, 4
	workload := fmt.Sprintf("app-%d", i/replicas)
	request := resource.NewMilliQuantity(100*int64(1+i/replicas%requests), resource.DecimalSI)
	return corev1.Pod{
		ObjectMeta: metav1.ObjectMeta{
			Namespace: fmt.Sprintf("team-%d", i/replicas%namespaces), Name: fmt.Sprintf("%s-5d4f-%05d", workload, i), UID: types.UID(fmt.Sprintf("uid-%d", i)),
			Labels:          map[string]string{"app": workload},
			OwnerReferences: []metav1.OwnerReference{{APIVersion: "apps/v1", Kind: "ReplicaSet", Name: workload + "-5d4f", Controller: new(true)}},
		},
		Spec: corev1.PodSpec{NodeName: node, Containers: []corev1.Container{{Name: "main", Resources: corev1.ResourceRequirements{
			Requests: corev1.ResourceList{corev1.ResourceCPU: *request},
		}}}},
		Status: corev1.PodStatus{Phase: corev1.PodRunning},
	}
}

// sight returns what the gauge of a node reports.
func sight(model *node.Node, demands []loading.Demand, until time.Time) (*observed.Sight, error) {
	prediction, err := model.Predict()
	if err != nil {
		return nil, err
	}
	v := usage.Interval{Node: model.Name, Seconds: seconds, CPUs: cpus, CgroupVersion: 2}
	for i := range demands {
		itself, err := observed.WaitsForItself(model, i)
		if err != nil {
			return nil, err
		}
		p := seen(&model.Pods[i], &demands[i], 1+itself+(1+itself)*prediction.Delay(i, 0))
		v.Pods = append(v.Pods, p)
		v.BusySeconds += p.Run
	}
	s := &observed.Sight{Node: model.Name, Age: 3 * time.Second}
	for k := range intervals {
		w := v
		w.End = until.Add(-time.Duration(intervals-1-k) * seconds * time.Second)
		w.Start = w.End.Add(-seconds * time.Second)
		s.Intervals = append(s.Intervals, w)
	}
	return s, nil
}

// seen is a pod as a gauge sees it for an interval in which it is dilated.
func seen(of *node.Pod, d *loading.Demand, dilation float64) usage.Pod {
	threads := float64(max(1, d.Threads))
	p := usage.Pod{
		UID: string(of.UID), Namespace: of.Namespace, Name: of.Name, Seconds: seconds, Tasks: max(1, d.Threads), Threads: threads,
		Dilation: dilation, CPULoading: d.Loading,
	}
	active := seconds * threads
	p.Run = active * d.Loading / dilation
	p.Wait = active * (1 - 1/dilation)
	return p
}
