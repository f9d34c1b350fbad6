package main

import (
	"context"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"time"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"loadline.dev/loadline/hack/cluster/controlplane"
	"loadline.dev/loadline/hack/cluster/realnode"
)

// up runs a control plane for as long as meanwhile runs, and no longer than until ctx ends or a part of it crashes.
func (c *command) up(ctx context.Context, meanwhile use) error {
	options := controlplane.Options{Dir: c.dir, Kubernetes: c.kubernetes, Log: c.stderr, AuditLog: c.auditLog}
	if c.realNodes == 0 {
		return c.upWith(ctx, options, nil, meanwhile)
	}
	machine, err := realnode.Claim(ctx, realnode.Options{Dir: c.realNodesDir(), Kubernetes: c.kubernetes, Workers: c.realNodes, CoresEach: c.workerCores, Log: c.stderr})
	if err != nil {
		return err
	}
	options.Address, options.WithScheduler, options.WithoutKWOK = machine.Address(), true, c.nodes == 0
	return errors.Join(c.upWith(ctx, options, machine, meanwhile), machine.Release())
}

// upWith runs a control plane, with real nodes when there is a machine for them.
func (c *command) upWith(ctx context.Context, options controlplane.Options, machine *realnode.Machine, meanwhile use) error {
	plane, err := controlplane.Start(ctx, options)
	if err != nil {
		return err
	}
	err = c.serve(ctx, plane, machine, meanwhile)
	fmt.Fprintln(c.stderr, "stopping")
	return errors.Join(err, plane.Stop())
}

// serve adds the nodes and has the control plane used.
func (c *command) serve(ctx context.Context, plane *controlplane.ControlPlane, machine *realnode.Machine, meanwhile use) (err error) {
	if err := c.addNodes(ctx, plane); err != nil {
		return err
	}
	if machine != nil {
		if err := machine.AddNodes(ctx, plane); err != nil {
			return err
		}
		remote, err := serveRemote(ctx, c.socket(), machine, c.stderr)
		if err != nil {
			return err
		}
		defer func() { err = errors.Join(err, remote.close()) }()
	}
	return meanwhile(ctx, plane)
}

// use is what a control plane is for.
type use func(context.Context, *controlplane.ControlPlane) error

// untilStopped tells the user how to go on, and waits for the end.
func (c *command) untilStopped(ctx context.Context, plane *controlplane.ControlPlane) error {
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

// runCommand runs the user's command on the control plane.
func (c *command) runCommand(ctx context.Context, plane *controlplane.ControlPlane) error {
	return c.runArgs(ctx, plane, "KUBECONFIG="+plane.Kubeconfig())
}

// service is what a command is run with, and cannot go on without.
type service interface {
	Done() <-chan struct{} // closed when it has ended
	Err() error            // why it ended by itself; it must have ended
}

// runArgs runs the user's command, with more in its environment, until it has ended, ctx ends or the service crashes. A command
// that does not end well is an error.
func (c *command) runArgs(ctx context.Context, on service, env ...string) error {
	ctx, cancel := context.WithCancelCause(ctx)
	defer cancel(nil)
	go func() {
		select {
		case <-on.Done():
			cancel(on.Err())
		case <-ctx.Done():
		}
	}()
	cmd := exec.CommandContext(ctx, c.args[0], c.args[1:]...)
	cmd.Cancel = func() error { return cmd.Process.Signal(os.Interrupt) }
	cmd.WaitDelay = 30 * time.Second
	cmd.Env = append(os.Environ(), env...)
	cmd.Stdin, cmd.Stdout, cmd.Stderr = os.Stdin, c.stdout, c.stderr
	err := cmd.Run()
	if cause := context.Cause(ctx); cause != nil {
		return errors.Join(cause, err)
	}
	if err != nil {
		return fmt.Errorf("%s: %w", c.args[0], err)
	}
	return nil
}

// realNodesDir is the folder of the real nodes' files.
func (c *command) realNodesDir() string { return filepath.Join(c.dir, "nodes") }

// addNodes adds the fake nodes that the user asked for.
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
