package observation

import (
	"context"
	"fmt"
	"net"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/labels"
	ctrl "sigs.k8s.io/controller-runtime"
	"sigs.k8s.io/controller-runtime/pkg/cache"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/cluster"

	"loadline.dev/loadline/pkg/evaluate/installation"
	"loadline.dev/loadline/pkg/gauge/collect"
)

// Sites are the gauges, the pods and the nodes of a cluster.
type Sites struct {
	// Gauges reads the pods of gauges, and no others.
	Gauges client.Reader
	// Nodes reads nodes, and Pods those that run. They are asked once there is a gauge.
	Nodes client.Reader
	Pods  Pods
}

// Pods are those of a cluster, as package pods keeps them. They must not be changed.
type Pods interface {
	// RunningOnNode returns those that run on a node, in the memory of a list if that is large enough.
	RunningOnNode(ctx context.Context, name string, into []corev1.Pod) ([]corev1.Pod, error)
	// RunningInNamespace returns those of a namespace that run.
	RunningInNamespace(ctx context.Context, name string) ([]corev1.Pod, error)
}

// newSites returns the sites of the manager's cluster, with gauges in a namespace where only those make pods who may see all
// nodes: a pod of another could have any label. Only the fields of gauges that are needed are kept.
func newSites(mgr ctrl.Manager, gaugeNamespace string, pods Pods) (*Sites, error) {
	c, err := cluster.New(mgr.GetConfig(), func(o *cluster.Options) {
		o.Scheme = mgr.GetScheme()
		o.Cache = cache.Options{ByObject: map[client.Object]cache.ByObject{&corev1.Pod{}: {
			Namespaces: map[string]cache.Config{gaugeNamespace: {}},
			Label:      labels.SelectorFromSet(installation.GaugeLabels()),
			Transform:  slimGauge,
		}}}
	})
	if err != nil {
		return nil, fmt.Errorf("setting up a cache of gauges: %w", err)
	}
	return &Sites{Gauges: c.GetCache(), Nodes: mgr.GetClient(), Pods: pods}, mgr.Add(c)
}

// slimGauge keeps the fields of the pod of a gauge that say where to ask it.
func slimGauge(object any) (any, error) {
	pod, is := object.(*corev1.Pod)
	if !is {
		return object, nil
	}
	kept := &corev1.Pod{
		ObjectMeta: metav1.ObjectMeta{
			Namespace: pod.Namespace, Name: pod.Name, UID: pod.UID, ResourceVersion: pod.ResourceVersion, DeletionTimestamp: pod.DeletionTimestamp, Labels: pod.Labels,
		},
		Spec:   corev1.PodSpec{NodeName: pod.Spec.NodeName},
		Status: corev1.PodStatus{Phase: pod.Status.Phase, PodIP: pod.Status.PodIP},
	}
	for i := range pod.Spec.Containers {
		kept.Spec.Containers = append(kept.Spec.Containers, corev1.Container{Ports: pod.Spec.Containers[i].Ports})
	}
	return kept, nil
}

// list returns the gauges that run.
func (s *Sites) list(ctx context.Context) ([]collect.Gauge, error) {
	var pods corev1.PodList
	if err := s.Gauges.List(ctx, &pods, client.MatchingLabels(installation.GaugeLabels())); err != nil {
		return nil, err
	}
	var gauges []collect.Gauge
	for i := range pods.Items {
		p := &pods.Items[i]
		if p.Status.Phase == corev1.PodRunning && p.Status.PodIP != "" && p.DeletionTimestamp == nil {
			gauges = append(gauges, collect.Gauge{ID: string(p.UID), Node: p.Spec.NodeName, Address: net.JoinHostPort(p.Status.PodIP, installation.UsagePort(p))})
		}
	}
	return gauges, nil
}

// nodeWithPods returns a node and the pods that run there, which must not be changed, these in the memory of a list if that is large enough.
func (s *Sites) nodeWithPods(ctx context.Context, name string, into []corev1.Pod) (*corev1.Node, []corev1.Pod, error) {
	node := &corev1.Node{}
	if err := s.Nodes.Get(ctx, client.ObjectKey{Name: name}, node, client.UnsafeDisableDeepCopy); err != nil {
		return nil, nil, fmt.Errorf("reading node %s: %w", name, err)
	}
	pods, err := s.Pods.RunningOnNode(ctx, name, into)
	if err != nil {
		return nil, nil, fmt.Errorf("listing the pods of node %s: %w", name, err)
	}
	return node, pods, nil
}
