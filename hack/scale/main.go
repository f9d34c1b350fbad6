// Command scale runs Loadline on a large cluster that is made up, and shows what that takes: a real API server, nodes and pods that
// KWOK plays, and gauges that answer as those of such nodes would, over TLS and by way of the API server's proxy.
package main

import (
	"context"
	"errors"
	"fmt"
	"os"
	"os/signal"
	"path/filepath"
	"syscall"

	"github.com/go-logr/logr"
	"github.com/spf13/cobra"
	ctrl "sigs.k8s.io/controller-runtime"

	"loadline.dev/loadline/hack/cluster/controlplane"
	"loadline.dev/loadline/hack/comparison"
	"loadline.dev/loadline/hack/local"
)

// options are the flags.
type options struct {
	nodes, pods, looks int
	keep               bool
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
		Short: "Run the page of Loadline on a large cluster that is made up, and show what that takes",
		Long: `scale starts a control plane on this machine, adds nodes and pods that KWOK plays, and
answers for a gauge on each node. Then it runs "kubectl loadline ui" as a user would, and
shows how long the first page takes, how long each further look, and how much memory.`,
		Example: `  # 1,000 nodes with 30 pods each
  go run ./hack/scale

  # A small one, kept until Ctrl-C
  go run ./hack/scale --nodes 50 --keep`,
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
	flags.IntVar(&o.looks, "looks", 5, "how many looks at the cluster to wait for")
	flags.BoolVar(&o.keep, "keep", false, "keep all running until Ctrl-C, to look at")
	return command
}

func (o *options) validate() error {
	const most = 1 << 14 // each gauge has a port of this machine
	for name, n := range map[string]int{"nodes": o.nodes, "pods": o.pods, "looks": o.looks} {
		if n < 1 || n > most {
			return fmt.Errorf("--%s: %d is not from 1 to %d", name, n, most)
		}
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
	progress.Step("building kubectl-loadline (minutes the first time)")
	program, err := local.Build(ctx, root, dir, "kubectl-loadline")
	if err != nil {
		return err
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
	progress.Step("opening the page")
	p, err := open(ctx, program, plane.Kubeconfig())
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, p.process.Stop()) }()
	if err := p.measure(ctx, o.looks, os.Stdout); err != nil {
		return fmt.Errorf("%w\n%s", err, p.process.Log())
	}
	if o.keep {
		fmt.Printf("export KUBECONFIG=%s\n%s", plane.Kubeconfig(), p.process.Log())
		<-ctx.Done()
	}
	return nil
}
