// Command demo shows what Loadline does: the example of the D-factor paper, and
// the pods of a shared cluster placed by kube-scheduler and by Loadline, on a real
// control plane that it starts and removes again.
package main

import (
	"context"
	"flag"
	"fmt"
	"os"
	"os/signal"
	"syscall"
	"time"

	"github.com/go-logr/logr"
	ctrl "sigs.k8s.io/controller-runtime"

	"loadline.dev/loadline/hack/scenario"
	"loadline.dev/loadline/pkg/text"
)

// options are the flags.
type options struct {
	scenario.Options
	out string
}

func main() {
	o := options{Options: scenario.Options{Requested: 0.6, Steps: 2, ProfileError: 0.2}}
	flag.StringVar(&o.out, "out", "out/demo", "folder for the charts")
	flag.IntVar(&o.Nodes, "nodes", 60, "how many nodes the shared cluster has")
	flag.Uint64Var(&o.Seed, "seed", 1, "what the shared cluster is drawn from")
	flag.Parse()
	if err := run(&o); err != nil {
		fmt.Fprintln(os.Stderr, "Error:", err)
		os.Exit(1)
	}
}

func run(o *options) error {
	ctrl.SetLogger(logr.Discard()) // what matters is printed below
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
	defer stop()
	return demonstrate(ctx, o)
}

// demonstrate shows both parts.
func demonstrate(ctx context.Context, o *options) error {
	if flag.NArg() > 0 {
		return fmt.Errorf("argument %q: there are only flags", flag.Arg(0))
	}
	start := time.Now()
	if err := os.MkdirAll(o.out, 0o750); err != nil {
		return err
	}
	if err := paper(o.out); err != nil {
		return err
	}
	if err := shared(ctx, o); err != nil {
		return err
	}
	fmt.Printf("\nDone in %s. The control plane is gone again.\n", text.Elapsed(time.Since(start)))
	return nil
}
