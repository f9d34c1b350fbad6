package cli

import (
	"io"
	"slices"
	"strings"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	"loadline.dev/loadline/apis/loadline/v1alpha1"
	"loadline.dev/loadline/pkg/cli/input"
	"loadline.dev/loadline/pkg/cli/verb"
	"loadline.dev/loadline/pkg/evaluate/fits"
	"loadline.dev/loadline/pkg/evaluate/installation"
	"loadline.dev/loadline/pkg/evaluate/manifest"
	"loadline.dev/loadline/pkg/evaluate/pools"
	"loadline.dev/loadline/pkg/evaluate/replays"
	"loadline.dev/loadline/pkg/evaluate/shares"
	"loadline.dev/loadline/pkg/model/placement"
	"loadline.dev/loadline/pkg/model/queueing"
)

// complete makes the shell complete the values of the flags of all verbs, except those that need a
// cluster, which register themselves.
func complete(root *cobra.Command) {
	root.CompletionOptions.SetDefaultShellCompDirective(cobra.ShellCompDirectiveNoFileComp) // arguments are no files
	completeFlags(root, flagCompletions())
}

// completeFlags completes the flags of the verbs below a command.
func completeFlags(above *cobra.Command, byFlag map[string]cobra.CompletionFunc) {
	for _, command := range above.Commands() {
		command.Flags().VisitAll(func(f *pflag.Flag) {
			completion, of := byFlag[command.Name()+" "+f.Name]
			if !of {
				completion, of = byFlag[f.Name]
			}
			if _, known := command.GetFlagCompletionFunc(f.Name); of && !known {
				verb.Complete(command, f.Name, completion)
			}
		})
		completeFlags(command, byFlag)
	}
}

// flagCompletions returns how the values of flags are completed, by the name of the
// flag, and by that of verb and flag where a verb means something else by it.
func flagCompletions() map[string]cobra.CompletionFunc {
	manifest, picture, table, observed := files("yaml", "yml", "json"), files("svg", "png"), files("csv", "gz"), files("json")
	return map[string]cobra.CompletionFunc{
		"filename":     manifest,
		"fit filename": files("csv"),
		"declared":     manifest,
		"profiles":     files("yaml"),
		"pods":         manifest,
		"scheduler":    manifest,

		"kubeconfig": anyFile, "certificate-authority": anyFile, "client-certificate": anyFile, "client-key": anyFile,

		"trace":      files("csv", "swf", "gz"),
		"gaps-from":  files("csv", "swf", "gz"),
		"arrivals":   anyFile,
		"nodes-from": files("csv"),
		"to":         table,
		"usage":      files("csv"),
		"who usage":  observed, "pods usage": observed, "nodes usage": observed, "suggest usage": observed, "save-usage": observed,
		"jobs-to":   folders,
		"epochs-to": folders,

		"plot": picture, "heat-map": picture, "plot-makespan": picture, "plot-dilation": picture, "plot-saved": picture,
		"plot-nodes": picture, "plot-servers": picture, "plot-map": picture,
		"report": files("html"),

		"solver":       verb.OneOf(queueing.SolverNames()),
		"method":       verb.OneOf(shares.Methods()),
		"discipline":   verb.OneOf(pools.Disciplines()),
		"strategy":     verb.OneOf(pools.Strategies()),
		"distribution": verb.OneOf(replays.Distributions()),
		"policies":     listOf(placement.Names()),
		"fit sharing":  verb.OneOf([]string{string(v1alpha1.SharingTimeSliced), string(v1alpha1.SharingConcurrent)}),
		"queue":        verb.OneOf([]string{v1alpha1.QueueBackfill, v1alpha1.QueueFIFO}),
		"cpu-shares":   verb.OneOf(replays.CPUShares()),
		"form":         verb.OneOf(fits.Forms()),
		"without":      listOf([]string{installation.Manager, installation.Scheduler}),

		"plan": fromFiles(func(o *input.Objects) []string {
			return namesOf(o.PoolPlans, func(p *v1alpha1.PoolPlan) string { return p.Name })
		}),
		"predict node": fromFiles(func(o *input.Objects) []string {
			return namesOf(o.NodeProfiles, func(p *v1alpha1.NodeProfile) string { return p.Name })
		}),
		"pod": fromFiles(podNames), "predict requests": fromFiles(podNames), "predict limits": fromFiles(podNames),
		"requests": fromFiles(workloadNames), "limits": fromFiles(workloadNames),
		"types": fromFiles(workloadNames),
	}
}

func workloadNames(o *input.Objects) []string {
	return namesOf(o.WorkloadProfiles, func(p *v1alpha1.WorkloadProfile) string { return p.Name })
}

// podNames are those of workloads and of profiles.
func podNames(o *input.Objects) []string {
	return append(namesOf(o.Workloads, (*manifest.Workload).Name), workloadNames(o)...)
}

func namesOf[T any](objects []T, name func(*T) string) []string {
	names := make([]string, len(objects))
	for i := range objects {
		names[i] = name(&objects[i])
	}
	return names
}

// files completes names of files with some extensions.
func files(extensions ...string) cobra.CompletionFunc {
	return cobra.FixedCompletions(extensions, cobra.ShellCompDirectiveFilterFileExt)
}

// anyFile completes names of files.
func anyFile(*cobra.Command, []string, string) ([]cobra.Completion, cobra.ShellCompDirective) {
	return nil, cobra.ShellCompDirectiveDefault
}

// folders completes names of folders.
func folders(*cobra.Command, []string, string) ([]cobra.Completion, cobra.ShellCompDirective) {
	return nil, cobra.ShellCompDirectiveFilterDirs
}

// listOf completes the last of a list of values, with those that the list lacks.
func listOf(values []string) cobra.CompletionFunc {
	return func(_ *cobra.Command, _ []string, typed string) ([]cobra.Completion, cobra.ShellCompDirective) {
		before := typed[:strings.LastIndexByte(typed, ',')+1]
		given := strings.Split(before, ",")
		var completions []cobra.Completion
		for _, value := range values {
			if !slices.Contains(given, value) {
				completions = append(completions, before+value)
			}
		}
		return completions, cobra.ShellCompDirectiveNoFileComp | cobra.ShellCompDirectiveNoSpace
	}
}

// fromFiles completes a value with names that the files of -f have.
func fromFiles(names func(*input.Objects) []string) cobra.CompletionFunc {
	return func(command *cobra.Command, _ []string, _ string) ([]cobra.Completion, cobra.ShellCompDirective) {
		paths, err := command.Flags().GetStringSlice("filename")
		if err != nil {
			return nil, cobra.ShellCompDirectiveError
		}
		paths = slices.DeleteFunc(slices.Sorted(slices.Values(paths)), func(path string) bool { return path == "-" })
		named := input.Files{Paths: slices.Compact(paths)} // cobra reads flags twice
		objects, err := named.Read(verb.Streams{}, append(input.Workloads(), input.WorkloadProfile, input.NodeProfile, input.PoolPlan)...)
		if err != nil {
			cobra.CompDebugln(err.Error(), false)
			return nil, cobra.ShellCompDirectiveNoFileComp
		}
		return names(objects), cobra.ShellCompDirectiveNoFileComp
	}
}

// completionForKubectl is what kubectl runs, if it is on the PATH as
// kubectl_complete-loadline, to complete the arguments of kubectl loadline.
const completionForKubectl = `#!/bin/sh
# kubectl runs this to complete the arguments of kubectl loadline.
exec kubectl-loadline __complete "$@"
`

// addCompletion adds the verb completion, cobra's and one more shell to it: kubectl.
func addCompletion(root *cobra.Command, streams verb.Streams) {
	root.InitDefaultCompletionCmd()
	i := slices.IndexFunc(root.Commands(), func(c *cobra.Command) bool { return c.Name() == "completion" })
	completion := root.Commands()[i]
	completion.Short = "Make a shell complete commands"
	completion.Long = `completion prints what makes a shell complete verbs, flags, and their values, down to
the names of pods and profiles.

For "kubectl loadline" the shell asks kubectl, whose own completion must be set up,
and kubectl asks an executable on the PATH called kubectl_complete-loadline:
"completion kubectl" prints one; a link of that name to kubectl-loadline is as good.
The others are for kubectl-loadline by that name.`
	completion.Example = `  # For kubectl loadline, in every shell that kubectl completes in
  kubectl loadline completion kubectl > kubectl_complete-loadline
  chmod +x kubectl_complete-loadline
  sudo mv kubectl_complete-loadline /usr/local/bin/

  # For kubectl-loadline, in this bash
  source <(kubectl-loadline completion bash)`
	completion.AddCommand(&cobra.Command{
		Use:   "kubectl",
		Short: "Print the executable that kubectl completes with",
		Long: `Print an executable that makes kubectl complete the arguments of kubectl loadline.
Put it on your PATH, as kubectl_complete-loadline.`,
		Example:           "  kubectl loadline completion kubectl > kubectl_complete-loadline",
		Args:              verb.NoArguments,
		ValidArgsFunction: cobra.NoFileCompletions,
		RunE: func(*cobra.Command, []string) error {
			_, err := io.WriteString(streams.Out.Writer(), completionForKubectl)
			return err
		},
	})
}
