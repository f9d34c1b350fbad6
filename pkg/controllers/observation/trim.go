package observation

import (
	"encoding/json"
	"fmt"
	"sync"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
)

// trimmer makes pods and nodes smaller before a cache keeps them: it leaves out the fields that are not read, and has the pods
// of one template share their common fields. So objects of the cache must not be changed, which holds for any cache.
type trimmer struct {
	mutex sync.Mutex
	known map[string]any
}

// maxShared is how many values are remembered for sharing. Then all are forgotten: pods keep theirs.
const maxShared = 20_000

// trim keeps the fields of a pod that identify its profile and its workload, determine its share of a processor and say where its work
// counter is, and those of a node that give its class and its size.
func (t *trimmer) trim(object any) (any, error) {
	switch o := object.(type) {
	case *corev1.Pod:
		return &corev1.Pod{
			ObjectMeta: t.meta(&o.ObjectMeta),
			Spec: corev1.PodSpec{
				NodeName: o.Spec.NodeName, HostNetwork: o.Spec.HostNetwork, Overhead: share(t, o.Spec.Overhead), Resources: share(t, o.Spec.Resources),
				Containers: share(t, containers(o.Spec.Containers)), InitContainers: share(t, containers(o.Spec.InitContainers)),
			},
			Status: corev1.PodStatus{
				Phase: o.Status.Phase, PodIP: o.Status.PodIP, QOSClass: o.Status.QOSClass, Resources: share(t, o.Status.Resources),
				ContainerStatuses:     share(t, containerStatuses(o.Status.ContainerStatuses)),
				InitContainerStatuses: share(t, containerStatuses(o.Status.InitContainerStatuses)),
			},
		}, nil
	case *corev1.Node:
		return &corev1.Node{
			ObjectMeta: t.meta(&o.ObjectMeta),
			Status:     corev1.NodeStatus{Allocatable: o.Status.Allocatable, Capacity: o.Status.Capacity, NodeInfo: o.Status.NodeInfo},
		}, nil
	}
	return object, nil
}

func (t *trimmer) meta(o *metav1.ObjectMeta) metav1.ObjectMeta {
	kept := metav1.ObjectMeta{
		Namespace: o.Namespace, Name: o.Name, UID: o.UID, ResourceVersion: o.ResourceVersion, Labels: share(t, o.Labels),
		OwnerReferences: share(t, o.OwnerReferences),
	}
	if hash := o.Annotations[corev1.MirrorPodAnnotationKey]; hash != "" {
		kept.Annotations = map[string]string{corev1.MirrorPodAnnotationKey: hash}
	}
	return kept
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

// share returns a value that was there before and is the same, else the value itself.
func share[T any](t *trimmer, value T) T {
	text, err := json.Marshal(value)
	if err != nil || string(text) == "null" {
		return value
	}
	key := fmt.Sprintf("%T %s", value, text)
	t.mutex.Lock()
	defer t.mutex.Unlock()
	if same, is := t.known[key].(T); is {
		return same
	}
	if t.known == nil || len(t.known) >= maxShared {
		t.known = map[string]any{}
	}
	t.known[key] = value
	return value
}
