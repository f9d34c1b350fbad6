package controlplane

import (
	"context"
	"errors"
	"fmt"
	"sync"

	"golang.org/x/sync/errgroup"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/fields"
	"k8s.io/apimachinery/pkg/util/sets"
	"k8s.io/apimachinery/pkg/watch"
	"k8s.io/client-go/tools/cache"
	watchtools "k8s.io/client-go/tools/watch"
)

// createConcurrency is how many nodes are created at once.
const createConcurrency = 32

// AddNodes creates nodes that kwok plays and returns when each is ready for pods: its condition Ready is True and it
// does not have the not-ready taint. The nodes given are templates and are not changed. What they leave out is
// filled in: the annotation that marks fake nodes, the labels that every kubelet sets, and 32 CPUs, 256 GiB and 110
// pods of status.allocatable; status.capacity defaults to the allocatable.
//
// The error names the first node that could not be created, or, when ctx ends or a part fails first, some of those
// that are not ready. Nodes that exist by then remain.
func (c *ControlPlane) AddNodes(ctx context.Context, nodes ...*corev1.Node) error {
	if c.options.WithoutKWOK {
		return errors.New("add nodes: kwok is not running (Options.WithoutKWOK), so they would never become ready")
	}
	names, err := c.createNodes(ctx, nodes)
	if err != nil {
		return fmt.Errorf("add nodes: %w", err)
	}
	return c.awaitNodes(ctx, names)
}

// createNodes creates the nodes, several at once, and returns their names.
func (c *ControlPlane) createNodes(ctx context.Context, nodes []*corev1.Node) (sets.Set[string], error) {
	var mu sync.Mutex
	names := sets.New[string]()
	group, ctx := errgroup.WithContext(ctx)
	group.SetLimit(createConcurrency)
	for _, node := range nodes {
		group.Go(func() error {
			created, err := c.client.CoreV1().Nodes().Create(ctx, fakeNode(node), metav1.CreateOptions{})
			if err != nil {
				return err
			}
			mu.Lock()
			defer mu.Unlock()
			names.Insert(created.Name)
			return nil
		})
	}
	return names, group.Wait()
}

// awaitNodes returns when all the named nodes are ready for pods.
func (c *ControlPlane) awaitNodes(ctx context.Context, names sets.Set[string]) error {
	if names.Len() == 0 {
		return nil
	}
	ctx, cancel := c.whileWhole(ctx)
	defer cancel()
	nodes := cache.NewListWatchFromClient(c.client.CoreV1().RESTClient(), "nodes", metav1.NamespaceAll, fields.Everything())
	waiting := names.Clone()
	_, err := watchtools.UntilWithSync(ctx, nodes, &corev1.Node{}, nil, func(event watch.Event) (bool, error) {
		node, ok := event.Object.(*corev1.Node)
		if !ok {
			return false, fmt.Errorf("watching nodes: want a Node, got %T: %v", event.Object, event.Object)
		}
		if event.Type != watch.Deleted && readyForPods(node) {
			waiting.Delete(node.Name)
		}
		return waiting.Len() == 0, nil
	})
	if cause := context.Cause(ctx); err != nil && cause != nil {
		err = cause
	}
	if err != nil {
		late := sets.List(waiting)
		return fmt.Errorf("await nodes: %d of %d are not ready, such as %v: %w", len(late), names.Len(), late[:min(len(late), 3)], err)
	}
	return nil
}
