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

// Run runs a command line, without the name of the program, and returns the
// exit code. Errors are printed. When the context ends so does the command, with
// what it has by then.
func Run(ctx context.Context, version string, args []string, streams Streams) int {
	streams.In = &interruptible{ctx: ctx, in: streams.In}
	root := newRoot(version, streams)
	root.SetArgs(args)
	err := root.ExecuteContext(ctx)
	code := exitCode(err)
	switch code {
	case exitDone:
	case exitInterrupted:
		fmt.Fprintln(streams.Err, "Interrupted:", err) //nolint:errcheck // nowhere left to report it
	default:
		fmt.Fprintln(streams.Err, "Error:", err) //nolint:errcheck // nowhere left to report it
	}
	return code
}

func newRoot(version string, streams Streams) *cobra.Command {
	root := &cobra.Command{
		Use:   "kubectl-loadline",
		Short: "Know how much pods slow each other down, before they are placed",
		Long: `kubectl loadline answers questions about how much pods slow each other down. It
works on files: the manifests that you would apply to a cluster, traces of jobs, and
measurements. Only record and share --node need a cluster.`,
		Example: `  # How much would these workloads slow each other down on one node?
  kubectl loadline predict -f profiles.yaml

  # How many servers keep every promised response time, and who should share them?
  kubectl loadline size -f poolplan.yaml

  # Learn loading vectors from measured co-locations
  kubectl loadline fit -f observations.csv

  # How long do jobs take that share a processor by weight?
  kubectl loadline share -f config/samples/sharetree.yaml

  # What would last week have looked like with other nodes, or another policy?
  kubectl loadline replay --trace lastweek.csv --nodes 4 --cores 64`,
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
	root.AddCommand(newPredict(streams), newSize(streams), newFit(streams), newReplay(version, streams), newRecord(streams), newShare(streams), newVersion(version, streams))
	return root
}
