package cli

import (
	"context"
	"io"
	"strings"

	"github.com/spf13/cobra"

	"loadline.dev/loadline/pkg/cli/check"
	"loadline.dev/loadline/pkg/cli/explain"
	"loadline.dev/loadline/pkg/cli/fit"
	"loadline.dev/loadline/pkg/cli/predict"
	"loadline.dev/loadline/pkg/cli/recording"
	"loadline.dev/loadline/pkg/cli/replay"
	"loadline.dev/loadline/pkg/cli/share"
	"loadline.dev/loadline/pkg/cli/size"
	"loadline.dev/loadline/pkg/cli/status"
	"loadline.dev/loadline/pkg/cli/verb"
	"loadline.dev/loadline/pkg/cli/version"
	"loadline.dev/loadline/pkg/cli/who"
)

// Streams are where a command reads and writes.
type Streams struct {
	In       io.Reader
	Out, Err io.Writer
}

// Run runs a command line, without the name of the program, and returns the exit code. Errors are
// printed. When the context ends so does the command, with its answer so far.
func Run(ctx context.Context, version string, args []string, streams Streams) int {
	streams.In = verb.Interruptible(ctx, streams.In)
	root, errs := newRoot(version, streams), verb.NewStream(streams.Err)
	root.SetArgs(args)
	if len(args) > 0 && strings.HasPrefix(args[0], cobra.ShellCompRequestCmd) { // a shell asks; cobra never frees its completions
		complete(root)
	}
	err := root.ExecuteContext(ctx)
	code := verb.ExitCode(err)
	what := "Error: "
	switch code {
	case verb.ExitDone:
		return code
	case verb.ExitInterrupted:
		what = "Interrupted: "
	}
	lines := verb.ErrorLines(err)
	lines[0] = what + lines[0]
	errs.Lines(lines...) //nolint:errcheck // nowhere left to report it
	return code
}

// newRoot returns the command line of a release, as cobra has it.
func newRoot(release string, to Streams) *cobra.Command {
	streams := verb.Streams{In: to.In, Out: verb.NewStream(to.Out), Err: verb.NewStream(to.Err)}
	root := &cobra.Command{
		Use:   "kubectl-loadline",
		Short: "Know how much pods slow each other down, before they are placed",
		Long: `kubectl loadline answers questions about how much pods slow each other down. Most
need no cluster: it works on the manifests that you would apply to one, traces of
jobs, and measurements. Those about a cluster take the flags by which kubectl finds
one; see kubectl options.

Answers are tables for people; -o json and -o yaml print all there is to an answer, and
-o jsonpath=TEMPLATE a part of it. Progress and remarks go to standard error. On a
terminal, tables that are too wide have long names and lists shortened to the width, or
to COLUMNS; with -o wide and in pipes they are whole.

Exit codes: 0 done; 1 the answer is no, such as an SLA that cannot be met; 2 wrong use
or bad input; 3 reading, writing or reaching the cluster failed, which may go well
another time; 130 interrupted.`,
		Example: `  # Is anything wrong with these manifests?
  kubectl loadline check -f profiles.yaml

  # How much would these workloads slow each other down on one node?
  kubectl loadline predict -f profiles.yaml

  # How many servers keep every promised response time, and who should share them?
  kubectl loadline size -f poolplan.yaml

  # Learn loading vectors from measured co-locations
  kubectl loadline fit -f observations.csv

  # How long do jobs take that share a processor by weight?
  kubectl loadline share -f sharetree.yaml

  # What would last week have looked like with other nodes, or another policy?
  kubectl loadline replay --trace lastweek.csv --nodes 4 --cores 64

  # Which pods are slowed down now, because of whom, and what would help?
  kubectl loadline who

  # Does Loadline work in the cluster? Who slows this pod?
  kubectl loadline status
  kubectl loadline explain pod etl/filecomp-7`,
		Annotations:   map[string]string{cobra.CommandDisplayNameAnnotation: "kubectl loadline"},
		Version:       release,
		Args:          verb.NoArguments,
		SilenceErrors: true,
		SilenceUsage:  true,
		RunE:          func(command *cobra.Command, _ []string) error { return command.Help() },
	}
	root.SuggestionsMinimumDistance = 2
	root.SetIn(streams.In)
	root.SetOut(streams.Out.Writer())
	root.SetErr(streams.Err.Writer())
	root.SetFlagErrorFunc(verb.SeeHelp)
	addGroup(root, "Questions that need no cluster:", check.New(streams), predict.New(streams), size.New(streams), fit.New(streams), replay.New(release, streams), share.New(streams))
	addGroup(root, "About a cluster:", who.New(release, streams), who.NewUI(release, streams), who.NewPlan(streams), who.NewTop(streams), who.NewProfiles(streams), status.New(streams), explain.New(streams), recording.New(streams))
	root.AddCommand(version.New(release, streams))
	addCompletion(root, streams)
	return root
}

// addGroup adds verbs that the help lists under a title.
func addGroup(root *cobra.Command, title string, commands ...*cobra.Command) {
	root.AddGroup(&cobra.Group{ID: title, Title: title})
	for _, command := range commands {
		command.GroupID = title
		root.AddCommand(command)
	}
}
