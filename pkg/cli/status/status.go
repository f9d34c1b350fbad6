// Package status is the verb status: it gathers the state of Loadline in a cluster, has package installation judge it, and prints
// the answer.
package status

import (
	"context"
	"errors"
	"fmt"
	"runtime/debug"
	"strings"
	"time"

	"github.com/spf13/cobra"
	"k8s.io/apimachinery/pkg/util/wait"
	"k8s.io/client-go/rest"

	"loadline.dev/loadline/pkg/cli/access"
	"loadline.dev/loadline/pkg/cli/verb"
	"loadline.dev/loadline/pkg/evaluate/installation"
)

// status holds the flags of the verb status.
type status struct {
	streams verb.Streams
	without []string
	wait    time.Duration
	cluster access.Flags
	output  verb.Output
}

// New returns the command.
func New(streams verb.Streams) *cobra.Command {
	s := &status{streams: streams}
	command := &cobra.Command{
		Use:   "status",
		Short: "Report whether Loadline works in the cluster, and what to do if not",
		Long: `status reports whether Loadline is installed in the cluster and works: whether its
resource definitions are served, its manager and scheduler are ready and have a
leader, gauges on how many nodes, whether they or the manager answer about what they
observe, and of which nodes the answers are refused, its admission policies in force, and how many profiles are ready, measured or in
conflict. Exit code 1 means that something is wrong; it says what to do.

Where profiles say what pods use, it also says by how much these slow each other down on
average, and how much of that Loadline saved on simulated clusters of as much load, as many
pods for each core, and pods as unlike. Of a large cluster it looks at 100 nodes.

It needs the right to list Deployments, DaemonSets and Leases, to get the scheduler's ConfigMap,
to list profiles, admission policies, nodes and pods, and to ask as who does; what it may not
see it says. In a pod it uses the service account of the pod.`,
		Example: `  # Is all well?
  kubectl loadline status

  # After an installation: wait until it is
  kubectl loadline status --wait 2m

  # Where default-scheduler is to place pods, and Loadline only to measure and plan
  kubectl loadline status --without scheduler

  # How many pods follow a profile?
  kubectl loadline status -o jsonpath='{.workloadProfiles.followers}'

  # How much do pods slow each other down?
  kubectl loadline status -o jsonpath='{.contention.excessDilation}'`,
		Args: verb.NoArguments,
		RunE: func(command *cobra.Command, _ []string) error { return s.run(command.Context()) },
	}
	flags := command.Flags()
	flags.StringSliceVar(&s.without, "without", nil, "components that are not to be there: manager, scheduler")
	flags.DurationVar(&s.wait, "wait", 0, "wait for so long for all to be well, such as 2m")
	s.cluster.Add(command, "namespace that Loadline runs in (default any)")
	s.output.Add(command)
	return command
}

func (s *status) run(ctx context.Context) error {
	for _, name := range s.without {
		if name != installation.Manager && name != installation.Scheduler {
			return fmt.Errorf("--without: %q is not one of %s, %s", name, installation.Manager, installation.Scheduler)
		}
	}
	if s.wait < 0 {
		return fmt.Errorf("--wait: %v is negative: give how long, such as 2m", s.wait)
	}
	config, own, err := s.cluster.Config(s.streams.Err)
	if err != nil {
		return err
	}
	const patience = 20 * time.Second
	access.AnswerWithin(config, patience)
	answer, err := s.await(ctx, config, own)
	if err != nil {
		return err
	}
	if err := s.output.Print(s.streams.Out, answer, func(p *verb.Page) error { return printAnswer(p, answer) }); err != nil {
		return err
	}
	return allIsWell(answer)
}

// await returns the status once all is well, or the present one when the time is over.
func (s *status) await(ctx context.Context, config *rest.Config, own string) (*installation.Answer, error) {
	g, err := s.gatherer(config, own)
	if err != nil {
		return nil, err
	}
	var facts *installation.Facts
	if s.wait == 0 {
		facts, err = s.look(ctx, g)
	} else {
		const pause = time.Second
		waitErr := wait.PollUntilContextTimeout(ctx, pause, s.wait, true, func(context.Context) (bool, error) {
			facts, err = s.look(ctx, g) // whole, even if the time is over meanwhile
			return err == nil && facts.Judge(time.Now()).OK, nil
		})
		if ctx.Err() != nil {
			return nil, verb.Interrupted("nothing")
		}
		if facts == nil && err == nil {
			err = waitErr
		}
	}
	if err != nil {
		return nil, err
	}
	g.contention(ctx, facts) // once, as it asks for many pods
	return facts.Judge(time.Now()), nil
}

// gatherer returns what gathers the state.
func (s *status) gatherer(config *rest.Config, own string) (*gatherer, error) {
	c, err := access.NewClient(config)
	return &gatherer{client: c, config: config, namespace: s.cluster.Namespace(), own: own}, err
}

// look gathers the state by which Loadline is judged.
func (s *status) look(ctx context.Context, g *gatherer) (*installation.Facts, error) {
	server, err := access.ServerVersion(ctx, g.config)
	if err != nil {
		return nil, fmt.Errorf("the cluster does not answer; are --kubeconfig and --context right? %w", err)
	}
	facts := g.gather(ctx)
	facts.Host, facts.Kubernetes, facts.Without = g.config.Host, server.GitVersion, s.without
	facts.BuiltWith = builtWith()
	return facts, nil
}

// builtWith returns the minor version of Kubernetes that this command is made of, as are all programs of its version of Loadline.
func builtWith() string {
	build, _ := debug.ReadBuildInfo()
	if build == nil {
		return ""
	}
	for _, module := range build.Deps { // k8s.io/client-go v0.36.3 is of Kubernetes 1.36
		if minor, is := strings.CutPrefix(module.Version, "v0."); is && module.Path == "k8s.io/client-go" {
			minor, _, _ = strings.Cut(minor, ".")
			return "1." + minor
		}
	}
	return ""
}

// allIsWell is nil if so, else an answer that is no.
func allIsWell(a *installation.Answer) error {
	if a.OK {
		return nil
	}
	var wrong []string
	for _, c := range a.Checks {
		if c.State == installation.StateFailed {
			wrong = append(wrong, c.Name+": "+c.Message)
		}
	}
	return verb.No(errors.New("not all is well: " + strings.Join(wrong, "; ")))
}
