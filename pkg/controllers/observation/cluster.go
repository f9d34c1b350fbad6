package observation

import (
	"context"
	"fmt"
	"net"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/fields"
	"k8s.io/apimachinery/pkg/labels"
	ctrl "sigs.k8s.io/controller-runtime"
	"sigs.k8s.io/controller-runtime/pkg/cache"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/cluster"

	"loadline.dev/loadline/pkg/evaluate/installation"
	"loadline.dev/loadline/pkg/gauge/collect"
)

// nodeField is the index of pods by the name of their node.
const nodeField = "spec.nodeName"

// Sites are the gauges, the pods and the nodes of a cluster.
type Sites struct {
	// Gauges reads the pods of gauges, and no others.
	Gauges client.Reader
	// Cluster reads nodes, and running pods by the name of their node. It is asked once there is a gauge.
	Cluster client.Reader
	// Prepare is called before Cluster is asked first, if it is not nil.
	Prepare func(ctx context.Context) error

	prepared bool
}

// newSites returns the sites of the manager's cluster, with gauges in a namespace where only those make pods who may see all
// nodes: a pod of another could have any label. Only the fields that are needed of pods and nodes are kept.
func newSites(mgr ctrl.Manager, gaugeNamespace string) (*Sites, error) {
	gauges, err := newCache(mgr, cache.Options{ByObject: map[client.Object]cache.ByObject{&corev1.Pod{}: {
		Namespaces: map[string]cache.Config{gaugeNamespace: {}},
		Label:      labels.SelectorFromSet(installation.GaugeLabels()),
	}}})
	if err != nil {
		return nil, err
	}
	all, err := newCache(mgr, cache.Options{DefaultTransform: (&trimmer{}).trim, ByObject: map[client.Object]cache.ByObject{&corev1.Pod{}: {
		Field: fields.OneTermEqualSelector("status.phase", string(corev1.PodRunning)),
	}}})
	if err != nil {
		return nil, err
	}
	return &Sites{Gauges: gauges, Cluster: all, Prepare: func(ctx context.Context) error {
		return all.IndexField(ctx, &corev1.Pod{}, nodeField, nodeOf)
	}}, nil
}

// newCache returns a cache that the manager runs. It reads nothing until it is asked.
func newCache(mgr ctrl.Manager, options cache.Options) (cache.Cache, error) {
	c, err := cluster.New(mgr.GetConfig(), func(o *cluster.Options) { o.Scheme, o.Cache = mgr.GetScheme(), options })
	if err != nil {
		return nil, fmt.Errorf("setting up a cache of what gauges observe: %w", err)
	}
	return c.GetCache(), mgr.Add(c)
}

func nodeOf(o client.Object) []string {
	if pod, is := o.(*corev1.Pod); is && pod.Spec.NodeName != "" {
		return []string{pod.Spec.NodeName}
	}
	return nil
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
	if len(gauges) > 0 && !s.prepared && s.Prepare != nil {
		if err := s.Prepare(ctx); err != nil {
			return nil, fmt.Errorf("indexing pods by their nodes: %w", err)
		}
	}
	s.prepared = s.prepared || len(gauges) > 0
	return gauges, nil
}

// nodeWithPods returns a node and the pods that run there, which must not be changed.
func (s *Sites) nodeWithPods(ctx context.Context, name string) (*corev1.Node, []corev1.Pod, error) {
	node := &corev1.Node{}
	if err := s.Cluster.Get(ctx, client.ObjectKey{Name: name}, node); err != nil {
		return nil, nil, fmt.Errorf("reading node %s: %w", name, err)
	}
	var pods corev1.PodList
	if err := s.Cluster.List(ctx, &pods, client.MatchingFields{nodeField: name}, client.UnsafeDisableDeepCopy); err != nil {
		return nil, nil, fmt.Errorf("listing the pods of node %s: %w", name, err)
	}
	return node, pods.Items, nil
}
