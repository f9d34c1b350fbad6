package cli

import (
	"context"
	"fmt"
	"io"

	"github.com/spf13/cobra"
)

// Streams are where a command reads and writes.
type Streams struct {
	In       io.Reader
	Out, Err io.Writer
}

// Exit codes.
const (
	exitDone  = 0
	exitWrong = 2 // 1 is kept for an answer that is no
)

// Run runs a command line, without the name of the program, and returns the
// exit code. Errors are printed.
func Run(ctx context.Context, version string, args []string, streams Streams) int {
	root := newRoot(version, streams)
	root.SetArgs(args)
	if err := root.ExecuteContext(ctx); err != nil {
		fmt.Fprintln(streams.Err, "Error:", err) //nolint:errcheck // nowhere left to report it
		return exitWrong
	}
	return exitDone
}

func newRoot(version string, streams Streams) *cobra.Command {
	root := &cobra.Command{
		Use:   "kubectl-loadline",
		Short: "Know how much pods slow each other down, before they are placed",
		Long: `kubectl loadline answers questions about how much pods slow each other down. It
works on files: the manifests that you would apply to a cluster, and measurements.`,
		Example: `  # How much would these workloads slow each other down on one node?
  kubectl loadline predict -f profiles.yaml

  # Learn loading vectors from measured co-locations
  kubectl loadline fit -f observations.csv`,
		Annotations:   map[string]string{cobra.CommandDisplayNameAnnotation: "kubectl loadline"},
		Version:       version,
		Args:          cobra.NoArgs,
		SilenceErrors: true,
		SilenceUsage:  true,
		RunE:          func(command *cobra.Command, _ []string) error { return command.Help() },
	}
	root.SetIn(streams.In)
	root.SetOut(streams.Out)
	root.SetErr(streams.Err)
	root.SetFlagErrorFunc(func(command *cobra.Command, err error) error {
		return fmt.Errorf("%w\nSee '%s --help' for usage and examples", err, command.CommandPath())
	})
	root.AddCommand(newPredict(streams), newFit(streams), newVersion(version, streams))
	return root
}
