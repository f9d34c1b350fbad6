package who

import (
	"cmp"
	"fmt"
	"slices"
	"strings"

	"github.com/spf13/cobra"

	"loadline.dev/loadline/pkg/cli/verb"
	"loadline.dev/loadline/pkg/evaluate/findings"
	"loadline.dev/loadline/pkg/report"
	"loadline.dev/loadline/pkg/text"
)

// NewTop returns the command top.
func NewTop(streams verb.Streams) *cobra.Command {
	command := &cobra.Command{
		Use:   "top",
		Short: "Show what pods and nodes do now, and how long they wait",
		Long: `top shows what the gauges of the cluster observed in the last minute: how many
processors a pod keeps busy, how many of its threads wait for one, and how much slower
than alone that makes it; and how busy nodes are.`,
		Example: `  # The pods that are slowed down most
  kubectl loadline top pods

  # How busy are the nodes, and does the hypervisor take something from them?
  kubectl loadline top nodes`,
		Args: verb.NoArguments,
		RunE: func(command *cobra.Command, _ []string) error { return command.Help() },
	}
	command.AddCommand(newTopPods(streams), newTopNodes(streams))
	return command
}

// orders are what top pods can sort by.
var orders = map[string]func(a, b findings.Pod) int{
	"dilation":  func(a, b findings.Pod) int { return cmp.Compare(b.Dilation, a.Dilation) },
	"cpu":       func(a, b findings.Pod) int { return cmp.Compare(b.CPUs, a.CPUs) },
	"waiting":   func(a, b findings.Pod) int { return cmp.Compare(b.Waiting, a.Waiting) },
	"throttled": func(a, b findings.Pod) int { return cmp.Compare(b.Throttled, a.Throttled) },
	"name":      func(a, b findings.Pod) int { return cmp.Compare(a.Pod, b.Pod) },
}

var orderNames = []string{"dilation", "cpu", "waiting", "throttled", "name"}

func newTopPods(streams verb.Streams) *cobra.Command {
	a := &asking{streams: streams}
	by := orderNames[0]
	command := &cobra.Command{
		Use:     "pods",
		Aliases: []string{"pod", "po"},
		Short:   "Show what pods do now",
		Example: `  # Of one namespace, those first that wait most
  kubectl loadline top pods -n shop --sort-by waiting`,
		Args: verb.NoArguments,
		RunE: func(command *cobra.Command, _ []string) error {
			order, is := orders[by]
			if !is {
				return fmt.Errorf("--sort-by: %q is not one of %s", by, strings.Join(orderNames, ", "))
			}
			if err := a.check(); err != nil {
				return err
			}
			return a.run(command.Context(), func(_ *seen, answer *findings.Answer) error {
				pods := slices.SortedStableFunc(slices.Values(answer.Pods), order)
				return a.output.Print(streams.Out, pods, func(p *verb.Page) error {
					if err := p.Lines(report.ObservedPodsTotals(pods)); err != nil {
						return err
					}
					return printTable(p, len(pods), report.ObservedPodsTable(pods, answer.Above), report.ObservedPodsNotes(answer))
				})
			})
		},
	}
	command.Flags().StringVar(&by, "sort-by", by, "what to sort by: "+strings.Join(orderNames, ", "))
	verb.Complete(command, "sort-by", verb.OneOf(orderNames))
	a.add(command, "top pods")
	return command
}

func newTopNodes(streams verb.Streams) *cobra.Command {
	a := &asking{streams: streams}
	command := &cobra.Command{
		Use:     "nodes",
		Aliases: []string{"node", "no"},
		Short:   "Show how busy nodes are now",
		Example: `  # Every ten seconds
  kubectl loadline top nodes --watch`,
		Args: verb.NoArguments,
		RunE: func(command *cobra.Command, _ []string) error {
			if err := a.check(); err != nil {
				return err
			}
			return a.run(command.Context(), func(_ *seen, answer *findings.Answer) error {
				return a.output.Print(streams.Out, answer.Nodes, func(p *verb.Page) error {
					if err := p.Lines(report.ObservedNodesTotals(answer.Nodes)); err != nil {
						return err
					}
					return printTable(p, len(answer.Nodes), report.ObservedNodesTable(answer.Nodes), nil)
				})
			})
		},
	}
	a.add(command, "top nodes")
	return command
}

// printTable prints a table, unless it has no rows, and notes.
func printTable(p *verb.Page, rows int, table *text.Table, notes []string) error {
	if rows > 0 {
		if err := p.Table(table); err != nil {
			return err
		}
	}
	return p.Lines(notes...)
}
