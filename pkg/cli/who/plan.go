package who

import (
	"context"
	"fmt"
	"slices"
	"strings"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"
	corev1 "k8s.io/api/core/v1"

	"loadline.dev/loadline/pkg/cli/verb"
	"loadline.dev/loadline/pkg/evaluate/observed"
	"loadline.dev/loadline/pkg/evaluate/plan"
	"loadline.dev/loadline/pkg/report"
)

// planning holds the flags of the verb plan.
type planning struct {
	asking

	most        int
	allow       []string
	consolidate bool
}

// kinds are the values of --allow.
var kinds = map[string][]plan.Action{
	"move":   {plan.MovePod},
	"resize": {plan.RaiseRequest, plan.LowerRequest},
	"limit":  {plan.RaiseLimit},
}

var kindNames = []string{"move", "resize", "limit"}

// defaultSteps is the largest number of steps of a plan unless another one is asked for.
const defaultSteps = 20

// asCommands is the format of commands of kubectl.
const asCommands = "commands"

// NewPlan returns the command plan.
func NewPlan(streams verb.Streams) *cobra.Command {
	p := &planning{asking: asking{streams: streams, moves: true}}
	command := &cobra.Command{
		Use:   "plan",
		Short: "Find the changes that help all slowed pods together, in order",
		Long: `plan looks for the changes that win most for the whole cluster: other requests and
limits, and moves of pods. Each step is judged with all earlier ones in place, and a pod
moves only where the scheduler's own filters let it run then. What the rows win adds up
to what the whole plan wins. One may stop after any step.

What is won is excess dilation: how far pods are slowed down above a threshold, added up
over all pods; a pod with a priority above 0 counts twice, one below 0 half. A step is
left out where its win may be none, unless it makes room for the next. No step slows a pod down about as badly as another
was, or beyond the sla.maxDilation of its WorkloadProfile, and none asks for more than
LimitRanges and ResourceQuotas allow.

With --consolidate it says instead which nodes can be emptied, by which moves, so that
no pod is slowed down more than --above because of them, and why the other nodes stay.
Pods of DaemonSets and static pods go with their node.

Nothing is changed: -o commands prints what would do it.`,
		Example: `  # What would help most?
  kubectl loadline plan

  # At most five moves of pods of one namespace
  kubectl loadline plan -n shop --allow move --max-changes 5

  # As commands to read, and to run
  kubectl loadline plan -o commands

  # Which nodes are not needed, if no pod is to run more than a tenth longer than alone?
  kubectl loadline plan --consolidate --above 1.1

  # From files, where there is no cluster
  kubectl loadline who --save-usage usage.json
  kubectl get pods,nodes,namespaces,pdb,hpa,quota,limits,jobs,pvc,pv,storageclasses,csinodes -A -o yaml > cluster.yaml
  kubectl loadline plan -f cluster.yaml --usage usage.json`,
		Args: verb.NoArguments,
		RunE: func(command *cobra.Command, _ []string) error {
			if err := p.check(); err != nil {
				return err
			}
			if p.consolidate {
				if err := p.onlyMoves(command.Flags()); err != nil {
					return err
				}
				return run(command.Context(), &p.asking, p.empty, p.printEmpty)
			}
			return run(command.Context(), &p.asking, p.plan, p.print)
		},
	}
	flags := command.Flags()
	flags.IntVar(&p.most, "max-changes", defaultSteps, "the largest number of changes; 0 for as many as help, which is the default with --consolidate")
	flags.BoolVar(&p.consolidate, "consolidate", false, "say which nodes can be emptied by moves, in place of which changes help")
	flags.StringSliceVar(&p.allow, "allow", kindNames, "the kinds of changes: move (a pod to another node), resize (CPU requests), limit (CPU limits)")
	verb.Complete(command, "allow", verb.OneOf(kindNames))
	p.addWithout(command, "plan")
	flags.Float64Var(&p.above, "above", observed.DefaultAbove, "how many times slower than alone a pod must be for its dilation above that to count, above 1; with --consolidate no pod becomes slower")
	flags.BoolVarP(&p.watch, "watch", "w", false, "plan again every ten seconds; once there was an answer, errors are warnings")
	p.output.AddWide(command, asCommands)
	return command
}

// check refuses what no flag may be.
func (p *planning) check() error {
	if p.most < 0 {
		return fmt.Errorf("--max-changes: %d is below 0", p.most)
	}
	if len(p.allow) == 0 {
		return fmt.Errorf("--allow: say which of %s", strings.Join(kindNames, ", "))
	}
	for _, name := range p.allow {
		if kinds[name] == nil {
			return fmt.Errorf("--allow: %q is not one of %s", name, strings.Join(kindNames, ", "))
		}
	}
	return p.asking.check()
}

// onlyMoves refuses other changes than moves of pods, and allows any number unless a flag says how many.
func (p *planning) onlyMoves(flags *pflag.FlagSet) error {
	if flags.Changed("allow") && !slices.Equal(p.allow, []string{"move"}) {
		return fmt.Errorf("--allow: %s: --consolidate makes no other change than move", strings.Join(p.allow, ","))
	}
	if !flags.Changed("max-changes") {
		p.most = 0
	}
	return nil
}

// empty returns which nodes can be emptied of what was seen.
func (p *planning) empty(_ context.Context, seen *seen) (*plan.Consolidation, error) {
	o := seen.options
	o.Above, o.Max, o.Permits = p.above, p.most, p.permits
	o.Empties = func(node string) bool { return len(p.nodes) == 0 || slices.Contains(p.nodes, node) }
	c := observed.Observe(seen.in, o.Above)
	c.SolveSlowed()
	return plan.Consolidate(c, &o)
}

// printEmpty prints which nodes can be emptied.
func (p *planning) printEmpty(seen *seen, answer *plan.Consolidation) error {
	return p.output.Print(p.streams.Out, answer, func(page *verb.Page) error {
		if page.Format == asCommands {
			return page.Stream.Lines(report.ConsolidationCommands(answer, seen.in.Pods)...)
		}
		return printTable(page, len(answer.Emptied), report.ConsolidationTable(answer, page.Wide), report.ConsolidationNotes(answer, page.Wide))
	})
}

// plan returns the plan of what was seen.
func (p *planning) plan(_ context.Context, seen *seen) (*plan.Plan, error) {
	o := seen.options
	o.Above, o.Max = p.above, p.most
	for _, name := range kindNames {
		if slices.Contains(p.allow, name) {
			o.Allow = append(o.Allow, kinds[name]...)
		}
	}
	o.Permits = p.permits
	c := observed.Observe(seen.in, o.Above)
	c.SolveSlowed()
	return plan.Make(c, &o)
}

// permits reports whether a pod is one of those that may change.
func (p *planning) permits(pod *corev1.Pod, _ plan.Action) bool {
	in := func(name string, some []string) bool { return len(some) == 0 || slices.Contains(some, name) }
	return in(pod.Namespace, p.namespaces()) && in(pod.Spec.NodeName, p.nodes)
}

// print prints a plan.
func (p *planning) print(seen *seen, answer *plan.Plan) error {
	return p.output.Print(p.streams.Out, answer, func(page *verb.Page) error {
		if page.Format == asCommands {
			lines, err := report.PlanCommands(answer, seen.in.Pods)
			if err != nil {
				return err
			}
			return page.Stream.Lines(lines...)
		}
		return printTable(page, len(answer.Steps), report.PlanTable(answer, page.Wide), report.PlanNotes(answer))
	})
}
