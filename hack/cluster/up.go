package main

import (
	"context"
	"errors"
	"fmt"
	"time"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"loadline.dev/loadline/hack/cluster/controlplane"
)

// up runs a control plane until ctx ends or a part of it crashes.
func (c *command) up(ctx context.Context) error {
	plane, err := controlplane.Start(ctx, controlplane.Options{Dir: c.dir, Log: c.stderr})
	if err != nil {
		return err
	}
	err = c.serve(ctx, plane)
	fmt.Fprintln(c.stderr, "stopping")
	return errors.Join(err, plane.Stop())
}

// serve adds the nodes, tells the user how to go on, and waits for the end.
func (c *command) serve(ctx context.Context, plane *controlplane.ControlPlane) error {
	if err := c.addNodes(ctx, plane); err != nil {
		return err
	}
	fmt.Fprintln(c.stdout, "The control plane is ready. In another terminal:")
	fmt.Fprintln(c.stdout, "  export KUBECONFIG="+plane.Kubeconfig())
	fmt.Fprintln(c.stdout, "Ctrl-C stops it, and all in it is gone.")
	select {
	case <-ctx.Done():
		return nil
	case <-plane.Done():
		return plane.Err()
	}
}

// addNodes adds the nodes that the user asked for.
func (c *command) addNodes(ctx context.Context, plane *controlplane.ControlPlane) error {
	if c.nodes == 0 {
		return nil
	}
	begin := time.Now()
	nodes := make([]*corev1.Node, c.nodes)
	for i := range nodes {
		nodes[i] = &corev1.Node{ObjectMeta: metav1.ObjectMeta{Name: fmt.Sprintf("node-%04d", i)}}
	}
	if err := plane.AddNodes(ctx, nodes...); err != nil {
		return err
	}
	fmt.Fprintf(c.stderr, "%d nodes ready after %.1fs\n", c.nodes, time.Since(begin).Seconds())
	return nil
}
