package remediation

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"strings"

	corev1 "k8s.io/api/core/v1"
	policyv1 "k8s.io/api/policy/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/api/resource"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
	"sigs.k8s.io/controller-runtime/pkg/client"
)

// amounts are the CPU request and limit of a container, nil where a change leaves one as it is.
type amounts struct{ request, limit *resource.Quantity }

// errAltered is that of a resize that an admission webhook would change.
var errAltered = errors.New("an admission webhook would change the amounts that are asked for")

// resize asks the API server to give a container other amounts, if the pod is still as it was
// read, and returns the pod as the API server has it then. It tries first without any effect:
// what a webhook would change is not done.
func resize(ctx context.Context, c client.Client, pod *corev1.Pod, container string, to amounts) (*corev1.Pod, error) {
	patch, err := resizePatch(pod, container, to)
	if err != nil {
		return nil, err
	}
	tried := pod.DeepCopy()
	switch err := c.SubResource(resizeSubresource).Patch(ctx, tried, patch, client.DryRunAll); {
	case noDryRun(err): // what a webhook changes is seen afterwards
	case err != nil:
		return nil, err
	case !has(tried, container, to):
		return nil, fmt.Errorf("%w: %s has %s", errAltered, container, amountsOf(tried, container))
	}
	resized := pod.DeepCopy()
	if err := c.SubResource(resizeSubresource).Patch(ctx, resized, patch); err != nil {
		return nil, err
	}
	return resized, nil
}

const (
	resizeSubresource   = "resize"
	evictionSubresource = "eviction"
)

// noDryRun reports whether a webhook that may have side effects keeps requests from being tried.
func noDryRun(err error) bool {
	return apierrors.IsBadRequest(err) && strings.Contains(err.Error(), "does not support dry run")
}

// resizePatch returns the patch that gives a container other amounts. It is of no other version
// of the pod.
func resizePatch(pod *corev1.Pod, container string, to amounts) (client.Patch, error) {
	resources := map[string]any{}
	if to.request != nil {
		resources["requests"] = map[string]any{"cpu": to.request.String()}
	}
	if to.limit != nil {
		resources["limits"] = map[string]any{"cpu": to.limit.String()}
	}
	list := "containers"
	for i := range pod.Spec.InitContainers { // sidecars
		if pod.Spec.InitContainers[i].Name == container {
			list = "initContainers"
		}
	}
	data, err := json.Marshal(map[string]any{
		"metadata": map[string]any{"uid": pod.UID, "resourceVersion": pod.ResourceVersion},
		"spec":     map[string]any{list: []any{map[string]any{"name": container, "resources": resources}}},
	})
	return client.RawPatch(types.StrategicMergePatchType, data), err
}

// evict asks the API server to evict a pod, if it is still the same.
func evict(ctx context.Context, c client.Client, pod *corev1.Pod) error {
	return c.SubResource(evictionSubresource).Create(ctx, pod.DeepCopy(), &policyv1.Eviction{
		ObjectMeta:    metav1.ObjectMeta{Namespace: pod.Namespace, Name: pod.Name},
		DeleteOptions: &metav1.DeleteOptions{Preconditions: &metav1.Preconditions{UID: &pod.UID}},
	})
}

// containerOf returns the container of a pod by its name, nil if there is none.
func containerOf(pod *corev1.Pod, name string) *corev1.Container {
	for _, list := range [][]corev1.Container{pod.Spec.Containers, pod.Spec.InitContainers} {
		for i := range list {
			if list[i].Name == name {
				return &list[i]
			}
		}
	}
	return nil
}

// statusOf returns the status of a container, nil if there is none.
func statusOf(pod *corev1.Pod, name string) *corev1.ContainerStatus {
	for _, list := range [][]corev1.ContainerStatus{pod.Status.ContainerStatuses, pod.Status.InitContainerStatuses} {
		for i := range list {
			if list[i].Name == name {
				return &list[i]
			}
		}
	}
	return nil
}

// has reports whether a pod asks for some amounts for a container.
func has(pod *corev1.Pod, container string, want amounts) bool {
	c := containerOf(pod, container)
	return c != nil && want.match(c.Resources.Requests, c.Resources.Limits)
}

// match reports whether requests and limits have the amounts.
func (a amounts) match(requests, limits corev1.ResourceList) bool {
	return same(a.request, requests) && same(a.limit, limits)
}

func same(want *resource.Quantity, in corev1.ResourceList) bool {
	if want == nil {
		return true
	}
	is, found := in[corev1.ResourceCPU]
	return found && is.Cmp(*want) == 0
}

// amountsOf describes what a container asks for.
func amountsOf(pod *corev1.Pod, container string) string {
	c := containerOf(pod, container)
	if c == nil {
		return "no such container"
	}
	describe := func(list corev1.ResourceList) string {
		if q, found := list[corev1.ResourceCPU]; found {
			return q.String()
		}
		return "none"
	}
	return fmt.Sprintf("a CPU request of %s and a limit of %s", describe(c.Resources.Requests), describe(c.Resources.Limits))
}

// terminated reports whether a pod has ended, or is being deleted.
func terminated(pod *corev1.Pod) bool {
	return pod.DeletionTimestamp != nil || pod.Status.Phase == corev1.PodSucceeded || pod.Status.Phase == corev1.PodFailed
}

// podCondition returns a condition of a pod, nil if there is none.
func podCondition(pod *corev1.Pod, kind corev1.PodConditionType) *corev1.PodCondition {
	for i := range pod.Status.Conditions {
		if pod.Status.Conditions[i].Type == kind {
			return &pod.Status.Conditions[i]
		}
	}
	return nil
}

// ready reports whether a pod is ready.
func ready(pod *corev1.Pod) bool {
	c := podCondition(pod, corev1.PodReady)
	return c != nil && c.Status == corev1.ConditionTrue
}
