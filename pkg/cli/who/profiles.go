package who

import (
	"fmt"

	"github.com/spf13/cobra"

	"loadline.dev/loadline/pkg/cli/verb"
	"loadline.dev/loadline/pkg/evaluate/findings"
	"loadline.dev/loadline/pkg/evaluate/observed"
	"loadline.dev/loadline/pkg/text"
)

// NewProfiles returns the command profiles.
func NewProfiles(streams verb.Streams) *cobra.Command {
	command := &cobra.Command{
		Use:     "profiles",
		Aliases: []string{"profile"},
		Short:   "Suggest WorkloadProfiles by what is observed",
		Example: `  # A profile for each workload that has none
  kubectl loadline profiles suggest -n shop > profiles.yaml`,
		Args: verb.NoArguments,
		RunE: func(command *cobra.Command, _ []string) error { return command.Help() },
	}
	command.AddCommand(newSuggest(streams))
	return command
}

func newSuggest(streams verb.Streams) *cobra.Command {
	a := &asking{streams: streams, above: observed.DefaultAbove}
	command := &cobra.Command{
		Use:   "suggest",
		Short: "Write WorkloadProfiles for workloads that have none, by what gauges observe",
		Long: `suggest asks the gauges of the cluster which part of their time the pods of each
workload compute when they do not wait, and for which part disks serve them, and writes
that as a WorkloadProfile for each Deployment, StatefulSet, DaemonSet and Job that no
profile is about. Nothing is applied: read the manifests, run the command again when the
load is another, and apply what you want to keep. A measurement says more: how others
slow the pods down.`,
		Example: `  # A profile for each workload of a namespace that has none
  kubectl loadline profiles suggest -n shop > profiles.yaml
  kubectl loadline check -f profiles.yaml

  # From files, where there is no cluster
  kubectl loadline profiles suggest -f cluster.yaml --usage usage.json`,
		Args: verb.NoArguments,
		RunE: func(command *cobra.Command, _ []string) error {
			if err := a.check(); err != nil {
				return err
			}
			return a.run(command.Context(), func(seen *seen, answer *findings.Answer) error {
				suggestions := answer.Suggest(seen.in.Pods, seen.workloads)
				return a.output.Print(streams.Out, suggestions, func(p *verb.Page) error { return printSuggestions(p, suggestions) })
			})
		},
	}
	a.addWithout(command, "profiles suggest")
	a.output.AddFormats(command, "manifests", "json", "yaml")
	return command
}

// printSuggestions prints manifests, with the basis of each in comments: each suggestion is one
// object, whatever its workload is called.
func printSuggestions(p *verb.Page, suggestions []findings.Suggestion) error {
	if len(suggestions) == 0 {
		return p.Manifests(text.Manifest{Comments: []string{"Every workload that was observed has a profile."}})
	}
	manifests := make([]text.Manifest, len(suggestions))
	for i := range suggestions {
		s, m := &suggestions[i], &manifests[i]
		where := text.Counted(s.Pods, "pod") + " on " + text.Counted(s.Nodes, "node")
		disk := "disk not known"
		if s.Disk != nil {
			disk = fmt.Sprintf("disk from %.2f to %.2f", s.Disk.Lowest, s.Disk.Highest)
		}
		m.Comments = []string{fmt.Sprintf("%s: %s, observed for %.0fs in all; cpu from %.2f to %.2f, %s.", s.Workload, where, s.Seconds, s.Lowest, s.Highest, disk)}
		if s.Profile == nil {
			m.Comments = append(m.Comments, "There is no profile for it: "+s.Problem+".")
		} else {
			m.Object = s.Profile
		}
	}
	return p.Manifests(manifests...)
}
