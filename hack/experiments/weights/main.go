// Command weights measures on real nodes how much pods with unequal CPU requests slow each other down, and compares it
// with what the model of weights and limits predicts, and with the model in which all share alike.
//
// A mix is pods that run on one node together, from before a window of time until after it. A pod's dilation is the time
// that its work in the window would have taken alone, over the window: synthetic jobs compute and sleep in turns and know
// both times, so that how fast the processor is does not matter; real programs are run over and over, alone and together.
//
//	weights run --cores 1 --out mixes.csv     on the node worker-1 of the cluster that KUBECONFIG names, one of hack/cluster
//	weights quota --out quota.csv             processes in cgroups of this machine: quotas beside bursts of any length
//	weights compare mixes.csv                 measured beside predicted; needs no node
package main

import (
	"context"
	"errors"
	"flag"
	"fmt"
	"os"
	"os/signal"
	"syscall"
	"time"
)

// options are the flags.
type options struct {
	cores    int
	programs bool
	only     string
	out      string
	window   time.Duration
	repeat   int
	limit    time.Duration
	pause    bool
}

func main() {
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
	err := run(ctx, os.Args[1:])
	stop()
	if err != nil {
		fmt.Fprintln(os.Stderr, "Error:", err)
		os.Exit(1)
	}
}

// run does what the first argument says.
func run(ctx context.Context, args []string) error {
	if len(args) == 0 {
		return errors.New("want run, quota or compare: see the documentation of the command")
	}
	var o options
	flags := flag.NewFlagSet("weights "+args[0], flag.ExitOnError)
	flags.IntVar(&o.cores, "cores", 1, "the cores of worker-1")
	flags.BoolVar(&o.programs, "programs", false, "run the mixes of real programs")
	flags.StringVar(&o.only, "only", "", "run the mixes that match this regular `expression` only")
	flags.StringVar(&o.out, "out", "", "the `file` that results are added to")
	flags.DurationVar(&o.window, "window", 20*time.Second, "how `long` a mix is measured")
	flags.IntVar(&o.repeat, "repeat", 1, "how many times to run each mix, with those that the file has already")
	flags.BoolVar(&o.pause, "pause", false, "stop the cluster's own programs while a mix is measured: where they share its cores")
	flags.DurationVar(&o.limit, "for", 24*time.Hour, "how `long` to begin mixes; call it again to go on")
	if err := flags.Parse(args[1:]); err != nil {
		return err
	}
	switch args[0] {
	case "run":
		if o.out == "" || o.cores < 1 || o.window < time.Second || o.repeat < 1 {
			return errors.New("--out is needed, --cores and --repeat are at least 1, --window at least 1s")
		}
		return measure(ctx, &o)
	case "quota":
		if o.out == "" {
			return errors.New("--out is needed")
		}
		return measureQuotas(ctx, &o)
	case "compare":
		return compareFiles(os.Stdout, flags.Args())
	default:
		return fmt.Errorf("want run, quota or compare, got %q", args[0])
	}
}
