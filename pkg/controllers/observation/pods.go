package observation

import (
	"context"
	"fmt"
	"sync"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/fields"
	"k8s.io/apimachinery/pkg/types"
	coreinformers "k8s.io/client-go/informers/core/v1"
	"k8s.io/client-go/kubernetes"
	toolscache "k8s.io/client-go/tools/cache"

	"loadline.dev/loadline/pkg/controllers/interned"
)

// nodeField is the index of pods by the name of their node.
const nodeField = "spec.nodeName"

// runningPods are the pods of a cluster that run. Of each some 400 bytes are kept, and what those of its template have in common. They are
// read from the API server once the first is asked for.
type runningPods struct {
	informer toolscache.SharedIndexInformer
	start    sync.Once
	started  chan struct{}
}

// newRunningPods returns the pods of a cluster, which are watched once they run as a manager's.
func newRunningPods(api kubernetes.Interface) (*runningPods, error) {
	running := fields.OneTermEqualSelector("status.phase", string(corev1.PodRunning)).String()
	p := &runningPods{started: make(chan struct{}), informer: coreinformers.NewFilteredPodInformer(api, metav1.NamespaceAll, 0, toolscache.Indexers{
		nodeField:                 indexedBy(func(p *slimPod) string { return p.node }),
		toolscache.NamespaceIndex: indexedBy(func(p *slimPod) string { return p.namespace }),
	}, func(o *metav1.ListOptions) { o.FieldSelector = running })}
	var values interned.Values
	return p, p.informer.SetTransform(func(object any) (any, error) {
		if pod, is := object.(*corev1.Pod); is {
			return slimmed(pod, &values), nil
		}
		return object, nil // slim, or a deletion
	})
}

// Start watches the pods from the first [runningPods.await] on until the context is done.
func (r *runningPods) Start(ctx context.Context) error {
	select {
	case <-ctx.Done():
	case <-r.started:
		r.informer.RunWithContext(ctx)
	}
	return nil
}

// await returns once all pods have been read.
func (r *runningPods) await(ctx context.Context) error {
	r.start.Do(func() { close(r.started) })
	if !toolscache.WaitForCacheSync(ctx.Done(), r.informer.HasSynced) {
		return fmt.Errorf("reading the pods that run: %w", context.Cause(ctx))
	}
	return nil
}

// OnNode implements [Pods].
func (r *runningPods) OnNode(ctx context.Context, name string) ([]corev1.Pod, error) {
	return r.by(ctx, nodeField, name)
}

// InNamespace implements [Pods].
func (r *runningPods) InNamespace(ctx context.Context, name string) ([]corev1.Pod, error) {
	return r.by(ctx, toolscache.NamespaceIndex, name)
}

func (r *runningPods) by(ctx context.Context, index, value string) ([]corev1.Pod, error) {
	if err := r.await(ctx); err != nil {
		return nil, err
	}
	found, err := r.informer.GetIndexer().ByIndex(index, value)
	if err != nil {
		return nil, err
	}
	pods := make([]corev1.Pod, 0, len(found))
	for _, object := range found {
		if slim, is := object.(*slimPod); is {
			pods = append(pods, slim.pod())
		}
	}
	return pods, nil
}

// indexedBy returns an index of slim pods by a property, without those that have none.
func indexedBy(property func(*slimPod) string) toolscache.IndexFunc {
	return func(object any) ([]string, error) {
		if pod, is := object.(*slimPod); is && property(pod) != "" {
			return []string{property(pod)}, nil
		}
		return nil, nil
	}
}

// slimPod is what is kept of a pod: what identifies it, its profile and its workload, determines its share of a processor and says where its
// work counter is.
type slimPod struct {
	namespace, name, version, node, address, mirrorHash string

	uid    types.UID
	labels map[string]string
	owners []metav1.OwnerReference
	common *corev1.Pod // what those of its template have
}

// GetObjectMeta implements [metav1.ObjectMetaAccessor], by which informers know objects.
func (p *slimPod) GetObjectMeta() metav1.Object {
	return &metav1.ObjectMeta{Namespace: p.namespace, Name: p.name, UID: p.uid, ResourceVersion: p.version}
}

// slimmed returns what is kept of a pod, which shares the common values.
func slimmed(pod *corev1.Pod, values *interned.Values) *slimPod {
	return &slimPod{
		namespace: interned.Share(values, pod.Namespace), name: pod.Name, version: pod.ResourceVersion, node: interned.Share(values, pod.Spec.NodeName),
		address: pod.Status.PodIP, mirrorHash: pod.Annotations[corev1.MirrorPodAnnotationKey],
		uid: pod.UID, labels: interned.Share(values, pod.Labels), owners: interned.Share(values, pod.OwnerReferences),
		common: interned.Share(values, &corev1.Pod{
			Spec: corev1.PodSpec{
				HostNetwork: pod.Spec.HostNetwork, Overhead: pod.Spec.Overhead, Resources: pod.Spec.Resources,
				Containers: containers(pod.Spec.Containers), InitContainers: containers(pod.Spec.InitContainers),
			},
			Status: corev1.PodStatus{
				Phase: pod.Status.Phase, QOSClass: pod.Status.QOSClass, Resources: pod.Status.Resources,
				ContainerStatuses:     containerStatuses(pod.Status.ContainerStatuses),
				InitContainerStatuses: containerStatuses(pod.Status.InitContainerStatuses),
			},
		}),
	}
}

// pod returns the pod, which must not be changed, as far as it is kept.
func (p *slimPod) pod() corev1.Pod {
	pod := *p.common
	pod.ObjectMeta = metav1.ObjectMeta{Namespace: p.namespace, Name: p.name, UID: p.uid, ResourceVersion: p.version, Labels: p.labels, OwnerReferences: p.owners}
	if p.mirrorHash != "" {
		pod.Annotations = map[string]string{corev1.MirrorPodAnnotationKey: p.mirrorHash}
	}
	pod.Spec.NodeName, pod.Status.PodIP = p.node, p.address
	return pod
}

func containers(all []corev1.Container) []corev1.Container {
	var kept []corev1.Container
	for i := range all {
		kept = append(kept, corev1.Container{Name: all[i].Name, Resources: all[i].Resources, RestartPolicy: all[i].RestartPolicy})
	}
	return kept
}

// containerStatuses keeps those that say which resources a container has.
func containerStatuses(all []corev1.ContainerStatus) []corev1.ContainerStatus {
	var kept []corev1.ContainerStatus
	for i := range all {
		if all[i].Resources != nil {
			kept = append(kept, corev1.ContainerStatus{Name: all[i].Name, Resources: all[i].Resources})
		}
	}
	return kept
}
