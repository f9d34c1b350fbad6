package main

import (
	"context"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"syscall"

	"loadline.dev/loadline/hack/cluster/controlplane"
	"loadline.dev/loadline/hack/cluster/realnode"
)

// down stops the control plane that another process runs and waits until it is gone.
func (c *command) down(ctx context.Context) error {
	instance, err := controlplane.Find(c.dir)
	if errors.Is(err, controlplane.ErrNotRunning) {
		fmt.Fprintln(c.stderr, err)
		return realnode.Clean(ctx, c.realNodesDir())
	}
	if err != nil {
		return err
	}
	if err := syscall.Kill(instance.PID, syscall.SIGTERM); err != nil && !errors.Is(err, syscall.ESRCH) {
		return fmt.Errorf("stop process %d: %w", instance.PID, err)
	}
	if err := instance.AwaitEnd(ctx); err != nil {
		return err
	}
	return realnode.Clean(ctx, c.realNodesDir())
}

// kubeconfig prints where the kubeconfig of the control plane that another process runs is.
func (c *command) kubeconfig() error {
	path, err := c.findKubeconfig()
	if err == nil {
		fmt.Fprintln(c.stdout, path)
	}
	return err
}

func (c *command) findKubeconfig() (string, error) {
	instance, err := controlplane.Find(c.dir)
	if err != nil {
		return "", err
	}
	if instance.Kubeconfig == "" {
		return "", fmt.Errorf("%s: the control plane is still starting", c.dir)
	}
	return instance.Kubeconfig, nil
}

// kubectl runs kubectl on the control plane that another process runs, or on the cluster that the user names.
func (c *command) kubectl(ctx context.Context) error {
	kubeconfig := c.otherCluster
	if kubeconfig == "" {
		var err error
		if kubeconfig, err = c.findKubeconfig(); err != nil {
			return err
		}
	}
	binaries, err := controlplane.NodeBinaries(ctx, c.kubernetes, c.stderr)
	if err != nil {
		return err
	}
	cmd := exec.CommandContext(ctx, filepath.Join(binaries, "kubectl"), c.args...)
	cmd.Env = append(os.Environ(), "KUBECONFIG="+kubeconfig)
	cmd.Stdin, cmd.Stdout, cmd.Stderr = os.Stdin, c.stdout, c.stderr
	return cmd.Run()
}
