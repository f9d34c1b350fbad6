package main

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"

	"loadline.dev/loadline/hack/cluster/controlplane"
	"loadline.dev/loadline/hack/cluster/dockerd"
	"loadline.dev/loadline/hack/cluster/kindcluster"
	"loadline.dev/loadline/hack/cluster/kindnode"
)

// kindDir is the folder, in the user's cache, of what nodes of kind are made of, and of the Docker daemon that runs them.
func kindDir() (string, error) {
	cache, err := os.UserCacheDir()
	return filepath.Join(cache, "loadline", "kind"), err
}

// kindImage makes the image of a node of kind, unless it is there already, and prints the path of its archive.
func (c *command) kindImage(ctx context.Context) error {
	dir, err := kindDir()
	if err != nil {
		return err
	}
	archive, err := kindnode.Archive(ctx, dir, c.debianMirror, c.stderr)
	if err != nil {
		return err
	}
	fmt.Fprintln(c.stdout, archive)
	return nil
}

// kindConfig prints the configuration of a cluster of kind on the machine that Docker runs on.
func (c *command) kindConfig(ctx context.Context) error {
	module, err := controlplane.ModuleFolder(ctx)
	if err != nil {
		return err
	}
	config, err := kindcluster.ConfigForDocker(ctx, module)
	if err != nil {
		return err
	}
	_, err = c.stdout.Write(config)
	return err
}

// docker runs a command with the Docker daemon that answers, or else with one that is started for it.
func (c *command) docker(ctx context.Context) error {
	if dockerd.Available(ctx) {
		return c.runArgs(ctx, endless{})
	}
	dir, err := kindDir()
	if err != nil {
		return err
	}
	daemon, err := dockerd.Start(ctx, filepath.Join(dir, "docker"))
	if err != nil {
		return err
	}
	return errors.Join(c.runArgs(ctx, daemon, daemon.Env()), daemon.Stop())
}

// endless is a service that is not ours to watch.
type endless struct{}

func (endless) Done() <-chan struct{} { return nil }
func (endless) Err() error            { return nil }
