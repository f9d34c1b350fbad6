package who

import (
	"context"
	"fmt"
	"time"

	"github.com/spf13/cobra"
	corev1 "k8s.io/api/core/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"loadline.dev/loadline/apis/loadline/v1alpha1"
	"loadline.dev/loadline/pkg/cli/access"
	"loadline.dev/loadline/pkg/cli/verb"
	"loadline.dev/loadline/pkg/evaluate/findings"
	"loadline.dev/loadline/pkg/gauge/usage"
)

// asking holds what the verbs that ask the gauges have in common.
type asking struct {
	streams   verb.Streams
	files     []string
	usage     string
	saveUsage string
	nodes     []string
	all       bool
	above     float64
	watch     bool
	weights   verb.Weights
	cluster   access.Flags
	output    verb.Output
}

// seen is what there is to see at a moment.
type seen struct {
	in        *findings.Input
	reports   []usage.Report
	workloads []v1alpha1.WorkloadProfile
}

// add adds the flags, those of tables too.
func (a *asking) add(command *cobra.Command) {
	a.addWithout(command)
	flags := command.Flags()
	flags.Float64Var(&a.above, "above", findings.DefaultAbove, "how many times slower than alone a pod must be to be a finding, above 1")
	flags.BoolVarP(&a.watch, "watch", "w", false, "ask again every ten seconds")
	a.output.AddWide(command)
}

// addWithout adds the flags but for those of tables.
func (a *asking) addWithout(command *cobra.Command) {
	flags := command.Flags()
	flags.StringSliceVarP(&a.files, "filename", "f", nil, "file with pods and nodes, in place of a cluster, with --usage; - for standard input; may be repeated")
	flags.StringVar(&a.usage, "usage", "", "file with what gauges observed, in place of asking them")
	flags.StringVar(&a.saveUsage, "save-usage", "", "write what gauges observed to this file, for --usage")
	flags.StringSliceVar(&a.nodes, "node", nil, "ask only about the pods of this node; may be repeated (then no pod is advised to move)")
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

// run looks, once or again and again, and has the answer shown.
func (a *asking) run(ctx context.Context, show func(*seen, *findings.Answer) error) error {
	s, err := a.source()
	if err != nil {
		return err
	}
	if !a.watch {
		return a.once(ctx, s, show)
	}
	ticker := time.NewTicker(every)
	defer ticker.Stop()
	for {
		if err := a.once(ctx, s, show); err != nil {
			return err
		}
		select {
		case <-ctx.Done():
			return nil
		case <-ticker.C:
			if _, err := fmt.Fprintln(a.streams.Out); err != nil {
				return err
			}
		}
	}
}

func (a *asking) once(ctx context.Context, s source, show func(*seen, *findings.Answer) error) error {
	seen, err := s.look(ctx)
	if err != nil {
		return err
	}
	answer, err := a.answer(ctx, seen)
	if err != nil {
		return err
	}
	return show(seen, answer)
}

// answer returns the findings that are asked for.
func (a *asking) answer(ctx context.Context, seen *seen) (answer *findings.Answer, err error) {
	if a.saveUsage != "" {
		if err := saveReports(a.saveUsage, seen.reports); err != nil {
			return nil, fmt.Errorf("--save-usage: %w", err)
		}
	}
	if seen.in.Weights, err = a.weights.Options(); err != nil {
		return nil, err
	}
	seen.in.Above = a.above
	err = verb.Abandon(ctx, func() (err error) {
		answer, err = findings.Of(seen.in)
		return err
	})
	if err != nil {
		return nil, err
	}
	return answer.In(a.namespaces(), a.nodes), nil
}

// check refuses what no flag may be.
func (a *asking) check() error {
	if !(a.above > 1) {
		return fmt.Errorf("--above: %v is not above 1", a.above)
	}
	if a.all && a.cluster.Namespace() != "" {
		return fmt.Errorf("--all-namespaces and --namespace %s say different things: leave one out", a.cluster.Namespace())
	}
	return nil
}
