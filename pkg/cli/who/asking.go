package who

import (
	"context"
	"fmt"
	"os"
	"runtime/debug"
	"slices"
	"strings"
	"time"

	"github.com/spf13/cobra"
	corev1 "k8s.io/api/core/v1"
	"k8s.io/utils/clock"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"loadline.dev/loadline/apis/loadline/v1alpha1"
	"loadline.dev/loadline/pkg/cli/access"
	"loadline.dev/loadline/pkg/cli/gauges"
	"loadline.dev/loadline/pkg/cli/input"
	"loadline.dev/loadline/pkg/cli/verb"
	"loadline.dev/loadline/pkg/evaluate/findings"
	"loadline.dev/loadline/pkg/evaluate/inflations"
	"loadline.dev/loadline/pkg/evaluate/observed"
	"loadline.dev/loadline/pkg/evaluate/plan"
	"loadline.dev/loadline/pkg/gauge/usage"
)

// asking holds the common parts of the verbs that ask the gauges.
type asking struct {
	streams   verb.Streams
	files     input.Files
	usage     string
	saveUsage string
	from      string
	nodes     []string
	all       bool
	above     float64
	watch     bool
	moves     bool // whether remedies may be moves
	// everything is whether what else there is of Loadline's objects is read from files, too.
	everything bool
	weights    verb.Weights
	cluster    access.Flags
	output     verb.Output
}

// seen is the state of the cluster at a moment.
type seen struct {
	in        *observed.Input
	options   plan.Options // which changes may be proposed
	reports   []usage.Report
	workloads []v1alpha1.WorkloadProfile
	others    others
}

// others are objects that only the page shows.
type others struct {
	classes      []v1alpha1.NodeProfile
	namespaces   []corev1.Namespace
	plans        []v1alpha1.PoolPlan
	trees        []v1alpha1.ShareTree
	replays      []v1alpha1.TraceReplay
	remediations []v1alpha1.Remediation
}

// add adds the flags of the verb of a name, those of tables too.
func (a *asking) add(command *cobra.Command, by string) {
	a.addWithout(command, by)
	flags := command.Flags()
	flags.Float64Var(&a.above, "above", observed.DefaultAbove, "how many times slower than alone a pod must be to be a finding, above 1")
	flags.BoolVarP(&a.watch, "watch", "w", false, "ask again every ten seconds; once there was an answer, errors are warnings")
	a.output.AddWide(command)
}

// addWithout adds the flags but for those of tables.
func (a *asking) addWithout(command *cobra.Command, by string) {
	flags := command.Flags()
	a.files.Add(command, by, "pods and nodes, in place of a cluster, with --usage; - for standard input; may be repeated")
	flags.StringVar(&a.usage, "usage", "", "file with what gauges observed, in place of asking them")
	flags.StringVar(&a.saveUsage, "save-usage", "", "write what gauges observed to this file, for --usage")
	flags.StringVar(&a.from, "source", string(gauges.Auto), "who is asked what gauges observed: manager, gauges, or auto for the manager and those gauges of which it has nothing fresh")
	verb.Complete(command, "source", verb.OneOf(gauges.Sources))
	flags.StringSliceVar(&a.nodes, "node", nil, "only the pods of this node; may be repeated (of a cluster only the gauges of these nodes are asked, so moves are considered only among them)")
	flags.BoolVarP(&a.all, "all-namespaces", "A", false, "about the pods of all namespaces, which is the default without -n")
	verb.Complete(command, "node", a.cluster.Names(func() client.ObjectList { return &corev1.NodeList{} }))
	a.weights.AddPolicy(command)
	a.cluster.Add(command, "only the pods of this namespace (default all)")
}

// namespaces returns those that are asked about, none for all.
func (a *asking) namespaces() []string {
	if namespace := a.cluster.Namespace(); namespace != "" && !a.all {
		return []string{namespace}
	}
	return nil
}

// every is the time between two looks, that between two readings of a gauge.
const every = 10 * time.Second

// run looks, once or again and again, and has the findings shown.
func (a *asking) run(ctx context.Context, show func(*seen, *findings.Answer) error) error {
	return run(ctx, a, a.answer, show)
}

// run looks, once or again and again, and has the answer shown.
func run[A any](ctx context.Context, a *asking, answer func(context.Context, *seen) (A, error), show func(*seen, A) error) error {
	s, err := a.source()
	if err != nil {
		return err
	}
	if !a.watch {
		seen, found, err := look(ctx, a, s, answer)
		if err != nil {
			return err
		}
		return show(seen, found)
	}
	return watching(ctx, a, s, clock.RealClock{}, answer, show)
}

// watching looks again and again until the context is done. Once there has been an answer, an error is a warning: the fault may
// be gone at the next look. An error of show ends it.
func watching[A any](
	ctx context.Context, a *asking, s source, by clock.WithTicker, answer func(context.Context, *seen) (A, error), show func(*seen, A) error,
) error {
	ticker := by.NewTicker(every)
	defer ticker.Stop()
	for answered := false; ; {
		seen, found, err := look(ctx, a, s, answer)
		switch {
		case err != nil && (!answered || ctx.Err() != nil):
			return err
		case err != nil:
			if err := a.streams.Err.Warn("%s; trying again", verb.OneLine(err)); err != nil {
				return err
			}
		default:
			if answered { // this answer follows an earlier one
				if err := a.streams.Out.Lines(""); err != nil {
					return err
				}
			}
			if err := show(seen, found); err != nil {
				return err
			}
			answered = true
		}
		select {
		case <-ctx.Done():
			return nil
		case <-ticker.C():
		}
	}
}

// look returns the present state, and the answer about it.
func look[A any](ctx context.Context, a *asking, s source, answer func(context.Context, *seen) (A, error)) (seen *seen, found A, err error) {
	if seen, err = s.look(ctx); err != nil {
		return nil, found, err
	}
	if err = a.take(seen); err != nil {
		return nil, found, err
	}
	err = verb.Abandon(ctx, func() (err error) {
		found, err = answer(ctx, seen)
		return err
	})
	return seen, found, err
}

// take checks what was seen against the flags, keeps it where they say so, and bounds the memory of the answer.
func (a *asking) take(seen *seen) (err error) {
	boundMemory(len(seen.in.Pods))
	if err := a.checkNodes(seen.in.Nodes); err != nil {
		return err
	}
	if err := a.checkNamespaces(seen.in.Pods); err != nil {
		return err
	}
	if a.saveUsage != "" {
		if err := saveReports(a.saveUsage, seen.reports); err != nil {
			return fmt.Errorf("--save-usage: %w", err)
		}
	}
	seen.in.Weights, err = a.weights.Options()
	return err
}

// boundMemory has garbage collected before the program takes more than what answers and pages about a cluster of some pods need, unless the user
// says how much it may take.
func boundMemory(pods int) {
	const perPod, least = 12 << 10, 256 << 20
	if os.Getenv("GOMEMLIMIT") == "" {
		debug.SetMemoryLimit(max(least, int64(pods)*perPod))
	}
}

// answer returns the findings that are asked for.
func (a *asking) answer(_ context.Context, seen *seen) (*findings.Answer, error) {
	o := seen.options
	o.Above = a.above
	answer, err := findings.Find(seen.in, &o)
	if err != nil {
		return nil, err
	}
	answer.Serve(seen.in.Pods, inflations.ByPod(seen.workloads, seen.in.Pods))
	return answer.In(a.namespaces(), a.nodes), nil
}

// checkNodes refuses names that no node has.
func (a *asking) checkNodes(nodes []corev1.Node) error {
	for _, name := range a.nodes {
		if !slices.ContainsFunc(nodes, func(n corev1.Node) bool { return n.Name == name }) {
			return fmt.Errorf("--node: there is no node %q", name)
		}
	}
	return nil
}

// checkNamespaces refuses a namespace without pods, for which "none is slowed down" would be true.
func (a *asking) checkNamespaces(pods []corev1.Pod) error {
	for _, name := range a.namespaces() {
		if !slices.ContainsFunc(pods, func(p corev1.Pod) bool { return p.Namespace == name }) {
			return fmt.Errorf("--namespace: there is no pod in namespace %q", name)
		}
	}
	return nil
}

// check refuses what no flag may be.
func (a *asking) check() error {
	if !(a.above > 1) {
		return fmt.Errorf("--above: %v is not above 1", a.above)
	}
	if !slices.Contains(gauges.Sources, a.from) {
		return fmt.Errorf("--source: %q is not one of %s", a.from, strings.Join(gauges.Sources, ", "))
	}
	if a.all && a.cluster.Namespace() != "" {
		return fmt.Errorf("--all-namespaces and --namespace %s say different things: leave one out", a.cluster.Namespace())
	}
	return nil
}
