// Command scale runs Loadline on a large cluster that is made up, and shows what that takes: a real API server, nodes and pods that
// KWOK plays, and gauges that answer as those of such nodes would, over TLS. The manager asks them at their addresses, and kubectl
// loadline by way of the API server's proxy.
package main

import (
	"context"
	"errors"
	"fmt"
	"os"
	"os/signal"
	"path/filepath"
	"slices"
	"strings"
	"syscall"
	"time"

	"github.com/go-logr/logr"
	"github.com/spf13/cobra"
	ctrl "sigs.k8s.io/controller-runtime"

	"loadline.dev/loadline/hack/cluster/controlplane"
	"loadline.dev/loadline/hack/comparison"
	"loadline.dev/loadline/hack/local"
)

// options are the flags.
type options struct {
	nodes, pods, profiles, placed, looks int
	period                               time.Duration
	parts                                []string
	memory                               string
	keep                                 bool
}

// The parts of Loadline that can be measured, in this order.
const (
	partManager     = "manager"
	partScheduler   = "scheduler"
	partWho         = "who"
	partPlan        = "plan"
	partRemediation = "remediation"
	partPage        = "page"
)

func allParts() []string {
	return []string{partManager, partScheduler, partWho, partPlan, partRemediation, partPage}
}

func main() {
	ctrl.SetLogger(logr.Discard()) // what matters is printed below
	if err := execute(); err != nil {
		fmt.Fprintln(os.Stderr, "Error:", err)
		os.Exit(1)
	}
}

func execute() error {
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
	defer stop()
	return newCommand().ExecuteContext(ctx)
}

func newCommand() *cobra.Command {
	o := &options{}
	command := &cobra.Command{
		Use:   "scale",
		Short: "Run Loadline on a large cluster that is made up, and show what that takes",
		Long: `scale starts a control plane on this machine, adds nodes and pods that KWOK plays,
profiles of their workloads, and answers for a gauge on each node. Then it runs, one after
the other, the manager, the scheduler, which places pods, "kubectl loadline who" and "plan",
the manager with a RemediationPolicy that proposes changes of all pods, and the page of
"kubectl loadline ui", and shows how much memory, processor time and requests to the API
server each takes, beside what all takes without Loadline. Profiles of managers and
scheduler, to look at with "go tool pprof", are kept in out/scale.`,
		Example: `  # 1,000 nodes with 30 pods each
  go run ./hack/scale

  # As large as Kubernetes promises to work
  go run ./hack/scale --nodes 5000 --profiles 10000

  # What changes that are proposed take
  go run ./hack/scale --parts remediation

  # A small one, kept until Ctrl-C
  go run ./hack/scale --nodes 50 --profiles 100 --keep`,
		Args:          cobra.NoArgs,
		SilenceErrors: true,
		SilenceUsage:  true,
		RunE: func(command *cobra.Command, _ []string) error {
			if err := o.validate(); err != nil {
				return err
			}
			return o.run(command.Context())
		},
	}
	flags := command.Flags()
	flags.IntVar(&o.nodes, "nodes", 1000, "how many nodes")
	flags.IntVar(&o.pods, "pods", 30, "how many pods on each node")
	flags.IntVar(&o.profiles, "profiles", 2000, "how many workloads have a WorkloadProfile at most; each has ten pods")
	flags.IntVar(&o.placed, "placed", 1000, "how many pods the scheduler places")
	flags.DurationVar(&o.period, "period", 2*time.Minute, "how long to watch what the cluster takes, without Loadline and with its manager")
	flags.IntVar(&o.looks, "looks", 5, "how many looks at the cluster to wait for")
	flags.StringSliceVar(&o.parts, "parts", allParts(), "which parts to measure")
	flags.StringVar(&o.memory, "manager-memory", "", "how much memory the manager may have, such as 1Gi (default what it is shipped with)")
	flags.BoolVar(&o.keep, "keep", false, "keep all running until Ctrl-C, to look at")
	return command
}

func (o *options) validate() error {
	const most = 1 << 14 // each gauge has a port of this machine
	for name, n := range map[string]int{"nodes": o.nodes, "pods": o.pods, "profiles": o.profiles, "placed": o.placed, "looks": o.looks} {
		if n < 1 || n > most {
			return fmt.Errorf("--%s: %d is not from 1 to %d", name, n, most)
		}
	}
	for _, part := range o.parts {
		if !slices.Contains(allParts(), part) {
			return fmt.Errorf("--parts: %q is none of %s", part, strings.Join(allParts(), ", "))
		}
	}
	if _, err := memoryLimitOf(o.memory); err != nil {
		return fmt.Errorf("--manager-memory: %w", err)
	}
	if o.period < time.Second {
		return fmt.Errorf("--period: %s is less than a second", o.period)
	}
	return nil
}

func (o *options) run(ctx context.Context) (err error) {
	root, err := local.Root(ctx)
	if err != nil {
		return err
	}
	dir, err := os.MkdirTemp("", "loadline-scale-")
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, os.RemoveAll(dir)) }()
	progress := comparison.NewProgress(os.Stderr)
	progress.Step("building Loadline (minutes the first time)")
	programs := map[string]string{}
	for _, name := range []string{kubectl, manager, scheduler} {
		if programs[name], err = local.Build(ctx, root, dir, name); err != nil {
			return err
		}
	}
	// Without kube-controller-manager, which would delete pods that no ReplicaSet owns.
	plane, err := controlplane.Start(ctx, controlplane.Options{Dir: filepath.Join(dir, "plane"), Log: os.Stderr, WithoutControllerManager: true})
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, plane.Err(), plane.Stop()) }()
	if err := local.InstallCRDs(plane.RESTConfig(), root); err != nil {
		return err
	}
	c, err := newCluster(ctx, o, plane, progress)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, c.gauges.close()) }()
	if err := c.populate(ctx); err != nil {
		return err
	}
	watched, err := watch(plane)
	if err != nil {
		return err
	}
	l := &installed{cluster: c, programs: programs, dir: dir, kept: filepath.Join(root, "out", "scale"), watched: watched, out: os.Stdout}
	if err := l.measure(ctx, o); err != nil {
		return err
	}
	if slices.Contains(o.parts, partPage) {
		progress.Step("opening the page")
		p, err := open(ctx, programs[kubectl], plane.Kubeconfig())
		if err != nil {
			return err
		}
		defer func() { err = errors.Join(err, p.process.Stop()) }()
		if err := p.measure(ctx, o.looks, os.Stdout); err != nil {
			return fmt.Errorf("%w\n%s", err, p.process.Log())
		}
		if o.keep {
			fmt.Print(p.process.Log())
		}
	}
	if o.keep {
		fmt.Printf("export KUBECONFIG=%s\n", plane.Kubeconfig())
		<-ctx.Done()
	}
	return nil
}
