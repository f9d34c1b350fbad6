package scheduling

import (
	"context"
	"fmt"

	corev1 "k8s.io/api/core/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"
)

// atOnce is how many objects are listed at once: of a large cluster a page takes less memory than all.
const atOnce = 500

// Pods lists pods, all of them or those of the options, without what is large and neither filters nor answers look at.
func Pods(ctx context.Context, from client.Reader, options ...client.ListOption) ([]corev1.Pod, error) {
	var all []corev1.Pod
	for next := ""; ; {
		var page corev1.PodList
		if err := from.List(ctx, &page, append(options, client.Limit(atOnce), client.Continue(next))...); err != nil {
			return nil, fmt.Errorf("listing pods: %w", err)
		}
		for i := range page.Items {
			trim(&page.Items[i])
		}
		all = append(all, page.Items...)
		if next = page.Continue; next == "" {
			return all, nil
		}
	}
}

func trim(p *corev1.Pod) {
	p.ManagedFields = nil
	for _, list := range [][]corev1.Container{p.Spec.Containers, p.Spec.InitContainers} {
		for i := range list {
			c := &list[i]
			c.Command, c.Args, c.Env, c.EnvFrom, c.VolumeMounts, c.Lifecycle = nil, nil, nil, nil, nil, nil
			c.LivenessProbe, c.ReadinessProbe, c.StartupProbe, c.SecurityContext = nil, nil, nil, nil
		}
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
