package main

import (
	"context"
	"errors"
	"fmt"
	"syscall"

	"loadline.dev/loadline/hack/cluster/controlplane"
)

// down stops the control plane that another process runs and waits until it is gone.
func (c *command) down(ctx context.Context) error {
	instance, err := controlplane.Find(c.dir)
	if errors.Is(err, controlplane.ErrNotRunning) {
		fmt.Fprintln(c.stderr, err)
		return nil
	}
	if err != nil {
		return err
	}
	if err := syscall.Kill(instance.PID, syscall.SIGTERM); err != nil && !errors.Is(err, syscall.ESRCH) {
		return fmt.Errorf("stop process %d: %w", instance.PID, err)
	}
	return instance.AwaitEnd(ctx)
}

// kubeconfig prints where the kubeconfig of the control plane that another process runs is.
func (c *command) kubeconfig(context.Context) error {
	instance, err := controlplane.Find(c.dir)
	if err != nil {
		return err
	}
	if instance.Kubeconfig == "" {
		return fmt.Errorf("%s: the control plane is still starting", c.dir)
	}
	fmt.Fprintln(c.stdout, instance.Kubeconfig)
	return nil
}
