package main

import (
	"context"
	"errors"
	"net/url"

	"github.com/spf13/cobra"
)

func newNode(l *local) *cobra.Command {
	return nodeCommand("node", "Crash a real node, or bring it back", func(ctx context.Context, verb, name string) error {
		return l.order(ctx, nodeOrder, url.Values{"do": {verb}, "name": {name}})
	})
}

// crashable is a node, real or of kind, as a machine that can fail.
type crashable interface {
	// Start brings back what of the node is not running, and returns when it is ready.
	Start(ctx context.Context) error
	// Stop cuts its power.
	Stop(ctx context.Context) error
	// KillKubelet crashes its kubelet; its pods go on.
	KillKubelet(ctx context.Context) error
}

// nodeVerbs are what can be done to a node.
var nodeVerbs = []struct {
	name, short string
	do          func(crashable, context.Context) error
}{
	{"start", "Bring back what of a node is not running", crashable.Start},
	{"stop", "Cut a node's power", crashable.Stop},
	{"kill-kubelet", "Crash a node's kubelet; its pods go on", crashable.KillKubelet},
}

// doTo does one of nodeVerbs to a node.
func doTo(ctx context.Context, node crashable, verb string) error {
	for _, known := range nodeVerbs {
		if known.name == verb {
			return known.do(node, ctx)
		}
	}
	return errors.New("nothing called " + verb + " can be done to a node")
}

// nodeCommand is the command under which nodeVerbs are for one kind of node.
func nodeCommand(use, short string, do func(ctx context.Context, verb, node string) error) *cobra.Command {
	command := &cobra.Command{Use: use, Short: short, Args: cobra.NoArgs, RunE: func(command *cobra.Command, _ []string) error { return command.Help() }}
	for _, verb := range nodeVerbs {
		command.AddCommand(&cobra.Command{
			Use:     verb.name + " NODE",
			Short:   verb.short,
			Example: "  cluster " + use + " " + verb.name + " worker-1",
			Args:    cobra.ExactArgs(1),
			RunE: func(command *cobra.Command, args []string) error {
				return do(command.Context(), verb.name, args[0])
			},
		})
	}
	return command
}
