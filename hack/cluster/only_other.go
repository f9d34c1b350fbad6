//go:build !linux

package main

import (
	"context"
	"errors"
	"io"

	"github.com/spf13/cobra"

	"loadline.dev/loadline/hack/cluster/controlplane"
)

// What Linux alone can do fails here, and leaves nothing behind.

func (*startup) startOnRealNodes(context.Context, controlplane.Options, use) error {
	return errors.New("real nodes need Linux")
}

func (*local) cleanNodes(context.Context) error { return nil }

func kindArchive(context.Context, string, string, io.Writer) (string, error) {
	return "", errors.New("images of nodes can only be made on Linux: use a published one")
}

func runWithDaemon(context.Context, *cobra.Command, []string) error {
	return errors.New("no Docker daemon answers, and only on Linux one can be started here: start Docker")
}
