package main

import (
	"context"
	"errors"
	"io"
	"path/filepath"

	"github.com/spf13/cobra"

	"loadline.dev/loadline/hack/cluster/controlplane"
	"loadline.dev/loadline/hack/cluster/dockerd"
	"loadline.dev/loadline/hack/cluster/kindnode"
	"loadline.dev/loadline/hack/cluster/realnode"
)

// startOnRealNodes runs a control plane with real nodes, beside fake ones.
func (s *startup) startOnRealNodes(ctx context.Context, options controlplane.Options, meanwhile use) error {
	machine, err := realnode.Claim(ctx, realnode.Options{Dir: s.nodesDir(), Kubernetes: s.kubernetes, Workers: s.realNodes, Log: s.log})
	if err != nil {
		return err
	}
	options.Address, options.WithScheduler, options.WithoutKWOK = machine.Address(), true, s.nodes == 0
	err = s.startWith(ctx, options, func(ctx context.Context, plane *controlplane.ControlPlane) (err error) {
		if err := machine.AddNodes(ctx, plane); err != nil {
			return err
		}
		remote, err := serveRemote(ctx, s.socket(), machine, s.log)
		if err != nil {
			return err
		}
		defer func() { err = errors.Join(err, remote.close()) }()
		return meanwhile(ctx, plane)
	})
	return errors.Join(err, machine.Release())
}

// cleanNodes removes what a process that was killed has left of its real nodes.
func (l *local) cleanNodes(ctx context.Context) error { return realnode.Clean(ctx, l.nodesDir()) }

// kindArchive returns the path of the archive of the image of a node of kind.
func kindArchive(ctx context.Context, dir, mirror string, log io.Writer) (string, error) {
	return kindnode.Archive(ctx, dir, mirror, log)
}

// runWithDaemon runs a program with a Docker daemon that is started for it.
func runWithDaemon(ctx context.Context, verb *cobra.Command, args []string) error {
	dir, err := kindDir()
	if err != nil {
		return err
	}
	daemon, err := dockerd.Start(ctx, filepath.Join(dir, "docker"))
	if err != nil {
		return err
	}
	return errors.Join(runOn(ctx, daemon, verb, args, daemon.Env()), daemon.Stop())
}
