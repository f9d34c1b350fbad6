package main

import (
	"context"

	"github.com/spf13/cobra"

	"loadline.dev/loadline/hack/cluster/kindcluster"
)

func newKindNode() *cobra.Command {
	return nodeCommand("kind-node", "Crash a node of kind, or bring it back", func(ctx context.Context, verb, name string) error {
		return doTo(ctx, kindcluster.Node(name), verb)
	})
}
