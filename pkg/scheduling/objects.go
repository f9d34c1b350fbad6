package scheduling

import (
	"context"
	"fmt"
	"iter"
	"slices"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/equality"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
	"sigs.k8s.io/controller-runtime/pkg/client"
)

// atOnce is how many objects are listed at once: of a large cluster a page takes less memory than all.
const atOnce = 500

// Pods lists pods, all of them or those of the options, without what is large and neither filters nor answers look at. What is the same of
// the pods of a controller they share: none may be changed.
func Pods(ctx context.Context, from client.Reader, options ...client.ListOption) ([]corev1.Pod, error) {
	return PodsAgain(ctx, from, nil, options...)
}

// Each yields pods of a list.
func Each(pods []corev1.Pod) iter.Seq[*corev1.Pod] {
	return func(yield func(*corev1.Pod) bool) {
		for i := range pods {
			if !yield(&pods[i]) {
				return
			}
		}
	}
}

// PodsAgain is Pods, given those that were listed before, which share what has not changed.
func PodsAgain(ctx context.Context, from client.Reader, before []corev1.Pod, options ...client.ListOption) ([]corev1.Pod, error) {
	var all []corev1.Pod
	known := newSharing(before)
	for next := ""; ; {
		var page corev1.PodList
		if err := from.List(ctx, &page, append(options, client.Limit(atOnce), client.Continue(next))...); err != nil {
			return nil, fmt.Errorf("listing pods: %w", err)
		}
		all = slices.Grow(all, len(page.Items)+remaining(&page)) // no more than it takes
		for i := range page.Items {
			all = append(all, *known.shared(&page.Items[i]))
		}
		if next = page.Continue; next == "" {
			return all, nil
		}
	}
}

// remaining returns how many objects follow a page, at most as many as there may be in a cluster: 0 where the API server does not say so.
func remaining(page metav1.ListInterface) int {
	const most = 1 << 18
	if n := page.GetRemainingItemCount(); n != nil {
		return int(min(max(0, *n), most))
	}
	return 0
}

// sharing has pods share what they have in common: of a large cluster that takes a third less memory, and a further list next to none
// besides.
type sharing struct {
	before map[types.UID]*corev1.Pod // by their own UIDs
	like   map[types.UID]corev1.Pod  // the last one of each controller
}

func newSharing(before []corev1.Pod) *sharing {
	s := &sharing{before: make(map[types.UID]*corev1.Pod, len(before)), like: map[types.UID]corev1.Pod{}}
	for i := range before {
		s.before[before[i].UID] = &before[i]
	}
	return s
}

// shared returns a pod that shares what is known already. It is the one from before if that has not changed.
func (s *sharing) shared(p *corev1.Pod) *corev1.Pod {
	was := s.before[p.UID]
	if was != nil && was.ResourceVersion != "" && was.ResourceVersion == p.ResourceVersion {
		p = was
	} else {
		Trim(p)
	}
	owner := metav1.GetControllerOfNoCopy(p)
	if owner == nil {
		return p
	}
	if like, is := s.like[owner.UID]; is && p != was {
		share(&p.Labels, like.Labels)
		share(&p.Annotations, like.Annotations)
		share(&p.OwnerReferences, like.OwnerReferences)
		share(&p.Spec.Volumes, like.Spec.Volumes)
		share(&p.Spec.InitContainers, like.Spec.InitContainers)
		share(&p.Spec.Containers, like.Spec.Containers)
		share(&p.Spec.NodeSelector, like.Spec.NodeSelector)
		share(&p.Spec.Affinity, like.Spec.Affinity)
		share(&p.Spec.Tolerations, like.Spec.Tolerations)
		share(&p.Spec.TopologySpreadConstraints, like.Spec.TopologySpreadConstraints)
		for i := range min(len(p.Status.ContainerStatuses), len(like.Status.ContainerStatuses)) {
			to, from := &p.Status.ContainerStatuses[i], &like.Status.ContainerStatuses[i]
			share(&to.Resources, from.Resources)
			share(&to.AllocatedResources, from.AllocatedResources)
		}
	}
	s.like[owner.UID] = *p
	return p
}

// share has a value be another one that is equal.
func share[T any](value *T, other T) {
	if equality.Semantic.DeepEqual(*value, other) {
		*value = other
	}
}

// Trim takes out of a pod what is large and neither filters nor answers look at.
func Trim(p *corev1.Pod) {
	p.ManagedFields = nil
	p.Status.Conditions = slices.Clone(slices.DeleteFunc(p.Status.Conditions, unread)) // the list has room for more than it had
	p.Spec.Volumes = slices.DeleteFunc(p.Spec.Volumes, func(v corev1.Volume) bool {
		return v.ConfigMap != nil || v.Secret != nil || v.Projected != nil || v.DownwardAPI != nil
	})
	for _, list := range [][]corev1.ContainerStatus{p.Status.ContainerStatuses, p.Status.InitContainerStatuses} {
		for i := range list {
			list[i].Image, list[i].ImageID, list[i].VolumeMounts = "", "", nil
		}
	}
	for _, list := range [][]corev1.Container{p.Spec.Containers, p.Spec.InitContainers} {
		for i := range list {
			c := &list[i]
			c.Command, c.Args, c.Env, c.EnvFrom, c.VolumeMounts, c.Lifecycle = nil, nil, nil, nil, nil, nil
			c.LivenessProbe, c.ReadinessProbe, c.StartupProbe, c.SecurityContext = nil, nil, nil, nil
		}
	}
}

// unread reports whether neither filters nor answers look at a condition of a pod.
func unread(c corev1.PodCondition) bool {
	switch c.Type {
	case corev1.PodReady, corev1.PodScheduled, corev1.PodResizePending, corev1.PodResizeInProgress:
		return false
	default:
		return true
	}
}

// Nodes lists the nodes, without what is large and neither filters nor answers look at.
func Nodes(ctx context.Context, from client.Reader) ([]corev1.Node, error) {
	var all []corev1.Node
	for next := ""; ; {
		var page corev1.NodeList
		if err := from.List(ctx, &page, client.Limit(atOnce), client.Continue(next)); err != nil {
			return nil, fmt.Errorf("listing nodes: %w", err)
		}
		for i := range page.Items {
			page.Items[i].ManagedFields, page.Items[i].Status.Images = nil, nil
		}
		all = append(all, page.Items...)
		if next = page.Continue; next == "" {
			return all, nil
		}
	}
}
