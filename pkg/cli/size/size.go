// Package size is the verb size: it asks package pools how many servers a PoolPlan
// needs, and prints and draws the answer.
package size

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"path/filepath"
	"slices"
	"strings"

	"github.com/spf13/cobra"

	"loadline.dev/loadline/apis/loadline/v1alpha1"
	"loadline.dev/loadline/pkg/cli/input"
	"loadline.dev/loadline/pkg/cli/verb"
	"loadline.dev/loadline/pkg/evaluate/pools"
	"loadline.dev/loadline/pkg/model/sizing"
	"loadline.dev/loadline/pkg/report"
)

// size holds the flags of the verb size.
type size struct {
	streams    verb.Streams
	files      input.Files
	name       string
	flags      planFlags // in place of, or over, the manifest's
	simulation sizing.Simulation
	drawings   drawings
	output     verb.Output
}

// New returns the command.
func New(streams verb.Streams) *cobra.Command {
	s := &size{streams: streams}
	command := &cobra.Command{
		Use:   "size (-f FILE | --class CLASS)",
		Short: "Find the fewest servers that keep every promised response time",
		Long: `size finds how many servers some classes of jobs need so that each is answered
within its time as often as promised, whether the classes should share a pool of
servers or have their own, and how far the answer holds. It reads a PoolPlan, and
the WorkloadProfiles that it refers to; or makes one of flags. It needs no cluster.

A class arrives at random with a rate, as a Poisson process does: where its jobs come in
bursts, it takes more servers; --arrivals says of recorded jobs whether they do. One
server is busy with each of its jobs for a mean time, and its SLA says within which time a job is to be answered, with which
probability. Exit code 1 means that an SLA cannot be met.

The disciplines: fcfs serves jobs in order of arrival; hol those of the class with
the stricter SLA first; pdp those of the class that is furthest behind its SLA, which
is simulated; late-last like pdp, but gives up on jobs that are late already.

The strategies: auto is the partition of classes into pools that costs least; shared
is one pool for all; dedicated is one for each.`,
		Example: `  # What a PoolPlan asks, with the profiles that it refers to
  kubectl loadline size -f poolplan.yaml -f profiles.yaml

  # Two classes: shared or dedicated?
  kubectl loadline size \
    --class name=checkout,rate=0.6,service=1s,within=3s,probability=0.95 \
    --class name=search,rate=3.6,service=1s,within=5s,probability=0.8

  # With the arrivals of a recorded trace, and whether they are random
  kubectl loadline size -f poolplan.yaml --arrivals checkout=lublin_256.swf.gz

  # If checkout grew to 0.9 requests per second
  kubectl loadline size -f poolplan.yaml --rate checkout=0.9

  # Servers against arrival rate, and a map of where dedicated pools are better
  kubectl loadline size -f poolplan.yaml --plot-servers servers.svg --plot-map map.svg`,
		Args: verb.NoArguments,
		RunE: func(command *cobra.Command, _ []string) error { return s.run(command.Context()) },
	}
	flags := command.Flags()
	s.files.Add(command, "size", "manifests, - for standard input; may be repeated")
	flags.StringVar(&s.name, "plan", "", "name of the PoolPlan, where the files have several")
	s.flags.add(flags)
	s.drawings.add(flags)
	flags.Uint64Var(&s.simulation.Seed, "seed", 0, "seed of simulations (pdp and late-last)")
	flags.IntVar(&s.simulation.Replications, "replications", 64, "how long to simulate a pool at most, in replications of thousands of jobs")
	s.output.AddWide(command)
	return command
}

func (s *size) run(ctx context.Context) error {
	if err := s.drawings.check(); err != nil {
		return err
	}
	read, err := s.files.Read(s.streams, input.PoolPlan, input.WorkloadProfile, input.Namespace)
	if err != nil {
		return err
	}
	plan, err := s.plan(read.PoolPlans)
	if err != nil {
		return err
	}
	warnings, err := s.flags.recorded(&plan.Spec)
	if err != nil {
		return err
	}
	if err := checkMeasured(&plan.Spec); err != nil {
		return err
	}
	for _, warning := range warnings {
		if err := s.streams.Err.Warn("%s", warning); err != nil {
			return err
		}
	}
	bar := newProgress(s.streams.Err)
	s.simulation.Confidence = report.SizeConfidence
	s.simulation.Progress = bar.show
	in := pools.Input{Plan: plan, Profiles: read.WorkloadProfiles, Namespaces: pools.Labels(read.Namespaces), Simulation: s.simulation}
	answer, err := pools.Plan(ctx, in)
	bar.Clear()
	if err != nil {
		return s.explain(ctx, plan, s.flags.fields(&plan.Spec).Named(err))
	}
	err = s.output.Print(s.streams.Out, answer, func(p *verb.Page) error { return printAnswer(p, answer) })
	if err != nil {
		return err
	}
	if err := s.draw(ctx, in); err != nil {
		return s.explain(ctx, plan, err)
	}
	if faults := answer.Faults(); len(faults) > 0 {
		return s.explain(ctx, plan, errors.New(strings.Join(faults, "; ")))
	}
	if unmet := answer.Unmet(); len(unmet) > 0 {
		return s.explain(ctx, plan, verb.No(errors.New(strings.Join(unmet, "; "))))
	}
	return nil
}

// explain says which plan an error is about, and makes of SLAs that cannot be met an
// answer that is no.
func (s *size) explain(ctx context.Context, plan *v1alpha1.PoolPlan, err error) error {
	if ctx.Err() != nil {
		return verb.Interrupted("nothing")
	}
	if errors.As(err, new(*sizing.InfeasibleError)) {
		err = verb.No(err)
	}
	switch {
	case len(s.files.Paths) == 0:
		return err
	case len(s.files.Paths) == 1 && s.files.Paths[0] != "-":
		return fmt.Errorf("%s: %w", filepath.Base(s.files.Paths[0]), err)
	default:
		return fmt.Errorf("PoolPlan %q: %w", plan.Name, err)
	}
}

// plan returns the PoolPlan of the manifests, or one made of flags; flags count more.
func (s *size) plan(all []v1alpha1.PoolPlan) (*v1alpha1.PoolPlan, error) {
	plans := all
	if s.name != "" {
		plans = slices.DeleteFunc(slices.Clone(plans), func(p v1alpha1.PoolPlan) bool { return p.Name != s.name })
	}
	var plan v1alpha1.PoolPlan
	switch fromFlags := len(s.flags.classes) > 0; {
	case len(all) > 0 && fromFlags:
		return nil, errors.New("the files have a PoolPlan, which says what the classes are: leave out --class, or change a rate, --rate checkout=0.9")
	case len(plans) == 1:
		plan = plans[0]
	case s.name != "":
		return nil, fmt.Errorf("--plan: there are %d PoolPlans named %q in the files, which have %s", len(plans), s.name, cmp.Or(planNames(all), "none"))
	case len(plans) > 1:
		return nil, fmt.Errorf("there are %d PoolPlans in the files: choose one, --plan %s (there are %s)", len(plans), plans[0].Name, planNames(plans))
	case !fromFlags && len(s.files.Paths) > 0:
		return nil, errors.New("there is no PoolPlan in the files: " + givePlan)
	case !fromFlags:
		return nil, errors.New(givePlan)
	}
	return &plan, s.flags.apply(&plan.Spec)
}

const givePlan = "give a PoolPlan, -f poolplan.yaml; or classes, " + classExample

// planNames lists the plans that there are.
func planNames(plans []v1alpha1.PoolPlan) string {
	names := make([]string, len(plans))
	for i := range plans {
		names[i] = plans[i].Name
	}
	return strings.Join(names, ", ")
}

// draw draws the requested charts, and names the written files.
func (s *size) draw(ctx context.Context, in pools.Input) error {
	if !s.drawings.asked() {
		return nil
	}
	wrote, err := s.drawings.draw(ctx, in)
	if len(wrote) > 0 {
		err = errors.Join(err, s.streams.Err.Lines("Wrote "+strings.Join(wrote, ", ")+"."))
	}
	return err
}

// printAnswer prints the answer for people: the recommendation, the reasons, and the range in which
// it holds.
func printAnswer(p *verb.Page, a *pools.Answer) error {
	if err := p.Lines(report.SizeSummary(a)); err != nil {
		return err
	}
	if err := p.Table(report.SizeTable(a, p.Wide)); err != nil {
		return err
	}
	return p.Lines(report.SizeNotes(a)...)
}
