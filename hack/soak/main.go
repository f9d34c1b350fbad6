// Command soak runs all of Loadline for hours on a cluster with real nodes and nodes that KWOK plays, under a load that varies and is the same
// in every cycle, and says of everything that can grow whether it does. Periods are ten times shorter than by default, where the chart and
// Loadline's objects have them, so that two hours are nearly a day.
package main

import (
	"context"
	"errors"
	"fmt"
	"os"
	"os/signal"
	"path/filepath"
	"syscall"
	"time"

	"github.com/go-logr/logr"
	"github.com/spf13/cobra"
	ctrl "sigs.k8s.io/controller-runtime"

	"loadline.dev/loadline/hack/soak/trend"
)

// options are the flags.
type options struct {
	length, cycle, warmUp, every time.Duration
	nodes                        int
	dir, kubeconfig, auditLog    string
	helm, chart, kubectl         string
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
	context.AfterFunc(ctx, stop) // a second Ctrl-C ends it at once
	return newCommand().ExecuteContext(ctx)
}

func newCommand() *cobra.Command {
	o := &options{}
	command := &cobra.Command{
		Use:   "soak",
		Short: "Run Loadline for hours under a load that varies, and say whether anything grows",
		Long: `soak installs Loadline by Helm on the cluster that KUBECONFIG names, which "make soak"
starts, with real nodes and KWOK. Pods, profiles, namespaces and nodes come and go,
plans and changes are carried out, clients watch, and pages are open, the same in every
cycle. What can grow is sampled, and each series gets a verdict by its slope.`,
		Example: `  # Two hours, nearly a day
  make soak

  # A quarter of an hour, in which cycles are shorter
  make soak ARGS='--for 15m --cycle 1m'

  # The verdicts about the run that out/soak has, once more
  go run ./hack/soak judge`,
		Args:              cobra.NoArgs,
		SilenceErrors:     true,
		SilenceUsage:      true,
		CompletionOptions: cobra.CompletionOptions{DisableDefaultCmd: true},
		RunE: func(command *cobra.Command, _ []string) error {
			if err := o.complete(); err != nil {
				return err
			}
			return o.run(command.Context())
		},
	}
	flags := command.Flags()
	flags.DurationVar(&o.length, "for", 2*time.Hour, "how long to run")
	flags.DurationVar(&o.cycle, "cycle", 4*time.Minute, "how long a cycle of the load is")
	flags.DurationVar(&o.warmUp, "warm-up", 0, "what is left out of the verdicts (default a fifth of the run, in whole cycles)")
	flags.DurationVar(&o.every, "every", 5*time.Second, "how often to sample")
	flags.IntVar(&o.nodes, "nodes", 20, "how many nodes KWOK plays")
	flags.StringVar(&o.auditLog, "audit-log", "out/soak/audit.log", "the audit log of the API server, by audit-policy.yaml")
	flags.StringVar(&o.helm, "helm", "bin/tools/helm", "path of helm")
	flags.StringVar(&o.chart, "chart", "charts/loadline", "path of the chart")
	flags.StringVar(&o.kubectl, "kubectl-loadline", "bin/kubectl-loadline", "path of kubectl loadline")
	command.PersistentFlags().StringVar(&o.dir, "dir", "out/soak", "folder for the samples and the page")
	command.AddCommand(&cobra.Command{
		Use:   "judge",
		Short: "Write the page about the samples of a run",
		Args:  cobra.NoArgs,
		RunE:  func(*cobra.Command, []string) error { return show(o.dir, os.Stdout) },
	})
	return command
}

// complete sets what has no value, and refuses what no flag may be.
func (o *options) complete() error {
	switch {
	case o.cycle < turns*time.Second:
		return fmt.Errorf("--cycle: %v is not at least %v", o.cycle, turns*time.Second)
	case o.every < time.Second || o.every > o.cycle/4:
		return fmt.Errorf("--every: %v is not from 1s to a fourth of --cycle, %v", o.every, o.cycle/4)
	case o.nodes < 1 || o.nodes > maxNodes:
		return fmt.Errorf("--nodes: %d is not from 1 to %d", o.nodes, maxNodes)
	}
	if o.warmUp == 0 {
		o.warmUp = (o.length/5 + o.cycle - 1).Truncate(o.cycle)
	}
	if left := (o.length - o.warmUp) / o.cycle; left < trend.MinCycles {
		return fmt.Errorf("--for: after a warm-up of %v there are %d cycles of %v left to judge by, and it takes %d", o.warmUp, left, o.cycle, trend.MinCycles)
	}
	if o.kubeconfig = os.Getenv("KUBECONFIG"); o.kubeconfig == "" {
		return errors.New("KUBECONFIG names no cluster: make soak starts one")
	}
	var err error
	o.dir, err = filepath.Abs(o.dir)
	return err
}
