package observation

import (
	"context"
	"errors"
	"fmt"
	"net"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/labels"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/client-go/kubernetes"
	"k8s.io/client-go/rest"
	toolscache "k8s.io/client-go/tools/cache"
	ctrl "sigs.k8s.io/controller-runtime"
	"sigs.k8s.io/controller-runtime/pkg/cache"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/cluster"

	"loadline.dev/loadline/pkg/controllers/interned"
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

// Pods are those of a cluster that run. They must not be changed.
type Pods interface {
	// OnNode returns those of a node.
	OnNode(ctx context.Context, name string) ([]corev1.Pod, error)
	// InNamespace returns those of a namespace.
	InNamespace(ctx context.Context, name string) ([]corev1.Pod, error)
}

// newSites returns the sites of the manager's cluster, with gauges in a namespace where only those make pods who may see all
// nodes: a pod of another could have any label. Only the fields that are needed are kept.
func newSites(mgr ctrl.Manager, gaugeNamespace string) (*Sites, error) {
	c, err := cluster.New(mgr.GetConfig(), func(o *cluster.Options) {
		o.Scheme = mgr.GetScheme()
		o.Cache = cache.Options{DefaultTransform: trimmer(), ByObject: map[client.Object]cache.ByObject{&corev1.Pod{}: {
			Namespaces: map[string]cache.Config{gaugeNamespace: {}},
			Label:      labels.SelectorFromSet(installation.GaugeLabels()),
		}}}
	})
	if err != nil {
		return nil, fmt.Errorf("setting up a cache of gauges and nodes: %w", err)
	}
	config := rest.CopyConfig(mgr.GetConfig())
	config.ContentType, config.AcceptContentTypes = runtime.ContentTypeProtobuf, runtime.ContentTypeProtobuf+","+runtime.ContentTypeJSON
	api, err := kubernetes.NewForConfig(config)
	if err != nil {
		return nil, fmt.Errorf("setting up a cache of pods: %w", err)
	}
	pods, err := newRunningPods(api)
	if err != nil {
		return nil, fmt.Errorf("setting up a cache of pods: %w", err)
	}
	return &Sites{Gauges: c.GetCache(), Nodes: c.GetCache(), Pods: pods}, errors.Join(mgr.Add(c), mgr.Add(pods))
}

// trimmer returns what keeps the fields of the pod of a gauge that say where to ask it, and those of a node that give its class and its size,
// which nodes that are alike share.
func trimmer() toolscache.TransformFunc {
	var values interned.Values
	return func(object any) (any, error) {
		switch o := object.(type) {
		case *corev1.Pod:
			kept := &corev1.Pod{
				ObjectMeta: trimmed(&o.ObjectMeta),
				Spec:       corev1.PodSpec{NodeName: o.Spec.NodeName},
				Status:     corev1.PodStatus{Phase: o.Status.Phase, PodIP: o.Status.PodIP},
			}
			for i := range o.Spec.Containers {
				kept.Spec.Containers = append(kept.Spec.Containers, corev1.Container{Ports: o.Spec.Containers[i].Ports})
			}
			return kept, nil
		case *corev1.Node:
			return &corev1.Node{ObjectMeta: trimmed(&o.ObjectMeta), Status: corev1.NodeStatus{
				Allocatable: interned.Share(&values, o.Status.Allocatable), Capacity: interned.Share(&values, o.Status.Capacity), NodeInfo: o.Status.NodeInfo,
			}}, nil
		}
		return object, nil
	}
}

func trimmed(o *metav1.ObjectMeta) metav1.ObjectMeta {
	return metav1.ObjectMeta{
		Namespace: o.Namespace, Name: o.Name, UID: o.UID, ResourceVersion: o.ResourceVersion, DeletionTimestamp: o.DeletionTimestamp, Labels: o.Labels,
	}
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

// nodeWithPods returns a node and the pods that run there, which must not be changed.
func (s *Sites) nodeWithPods(ctx context.Context, name string) (*corev1.Node, []corev1.Pod, error) {
	node := &corev1.Node{}
	if err := s.Nodes.Get(ctx, client.ObjectKey{Name: name}, node); err != nil {
		return nil, nil, fmt.Errorf("reading node %s: %w", name, err)
	}
	pods, err := s.Pods.OnNode(ctx, name)
	if err != nil {
		return nil, nil, fmt.Errorf("listing the pods of node %s: %w", name, err)
	}
	return node, pods, nil
}
