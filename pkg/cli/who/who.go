// Package who is the verbs who and top: they ask the gauges of a cluster for the present state, or read files, have
// package findings judge, and print the answer.
package who

import (
	"fmt"

	"github.com/spf13/cobra"

	"loadline.dev/loadline/pkg/cli/verb"
	"loadline.dev/loadline/pkg/evaluate/findings"
	"loadline.dev/loadline/pkg/report"
	"loadline.dev/loadline/pkg/report/page"
)

// who holds the flags of the verb who.
type who struct {
	asking

	byWorkload bool
	report     string
}

// New returns the command.
func New(version string, streams verb.Streams) *cobra.Command {
	w := &who{asking: asking{streams: streams, moves: true}}
	command := &cobra.Command{
		Use:   "who",
		Short: "Show which pods are slowed down now, because of whom, and what would help",
		Long: `who asks the gauges of the cluster, or the manager that collects from them, which pods
are slower now than they would be alone, and says why: because of a neighbour, of their
own limit, or because the hypervisor runs something else. For each it looks for the
change that helps most without making another pod about as slow: another request or
limit, or a move of the pod or of the neighbour, and says what that would win and what
it would cost others.

It looks for 100 changes at most: make these, and ask again.

Nothing is changed, and no profile is needed. Gauges observe every ten seconds; an
answer is about the last minute. What waits for disks is part of the time alone: the
kernel does not tell waiting for a disk from using it.`,
		Example: `  # Who slows whom?
  kubectl loadline who

  # Of one namespace, by Deployment, StatefulSet, …
  kubectl loadline who -n shop --workload

  # As a page to pass on
  kubectl loadline who --report who.html

  # From files, where there is no cluster
  kubectl loadline who --save-usage usage.json
  kubectl get pods,nodes,namespaces,pvc,pv,storageclasses,csinodes -A -o yaml > cluster.yaml
  kubectl loadline who -f cluster.yaml --usage usage.json`,
		Args: verb.NoArguments,
		RunE: func(command *cobra.Command, _ []string) error {
			if err := w.check(); err != nil {
				return err
			}
			if w.report != "" {
				if err := page.CheckPath(w.report); err != nil {
					return fmt.Errorf("--report: %w", err)
				}
			}
			return w.run(command.Context(), func(s *seen, a *findings.Answer) error { return w.print(s, a, version) })
		},
	}
	flags := command.Flags()
	flags.BoolVar(&w.byWorkload, "workload", false, "one row for all pods of a Deployment, StatefulSet, DaemonSet or Job")
	flags.StringVar(&w.report, "report", "", "write a page with charts to this file, too: HTML that loads nothing")
	w.add(command, "who")
	return command
}

// print prints an answer.
func (w *who) print(s *seen, a *findings.Answer, version string) error {
	if w.report != "" {
		situation := &report.Situation{Answer: a, NodeObjects: s.in.Nodes, PodObjects: s.in.Pods}
		if err := page.Write(w.report, report.FindingsPage(situation, w.byWorkload, "Made by kubectl loadline "+version+" who.")); err != nil {
			return fmt.Errorf("--report: %w", err)
		}
	}
	if !w.byWorkload {
		return w.output.Print(w.streams.Out, a, func(p *verb.Page) error {
			if p.Wide {
				return printTable(p, len(a.Findings), report.FindingsTable(a, true), report.FindingsNotes(a))
			}
			return printTable(p, len(a.Findings), report.WorstTable(a), report.WorstNotes(a))
		})
	}
	groups := a.ByWorkload()
	return w.output.Print(w.streams.Out, groups, func(p *verb.Page) error {
		return printTable(p, len(groups), report.GroupsTable(groups, a.Above, p.Wide), report.FindingsNotes(a))
	})
}
