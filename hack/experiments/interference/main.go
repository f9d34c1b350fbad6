// Command interference measures by how much real programs slow each other down that share a last-level cache and memory, on
// two processors of this machine, and compares it with what the model predicts from what probes measured of each program by
// itself, and with the model without interference.
//
// A round measures each program alone and beside bubbles of several pressures (which gives its sensitivity curves, and by
// how much it slows the bubble down its pressure), the bubbles beside each other, and all pairs of programs on two
// processors and on one. Rounds repeat everything, so that what drifts is in all of it.
//
//	interference run --probe bin/loadline-probe --out rounds.csv --rounds 8
//	interference compare rounds.csv     needs no machine
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
	probe  string
	out    string
	rounds int
	levels int
	slice  time.Duration
	llc    string
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
		return errors.New("want run or compare: see the documentation of the command")
	}
	var o options
	flags := flag.NewFlagSet("interference "+args[0], flag.ContinueOnError)
	flags.StringVar(&o.probe, "probe", "loadline-probe", "the `program` that runs standard jobs")
	flags.StringVar(&o.out, "out", "", "the `file` that results are added to")
	flags.IntVar(&o.rounds, "rounds", 8, "how many times to measure everything")
	flags.IntVar(&o.levels, "levels", 4, "at how many levels of pressure to measure the programs")
	flags.DurationVar(&o.slice, "slice", time.Second, "how `long` to measure at a time")
	flags.StringVar(&o.llc, "llc", "", "how `much` of the last-level cache a bubble there uses, such as 8Mi; half of it if empty. A virtual machine may have less of a cache than it is told: take what loadline-probe calibrate --job llc --size shows most with")
	if err := flags.Parse(args[1:]); err != nil {
		return err
	}
	switch args[0] {
	case "run":
		if o.out == "" || o.rounds < 1 || o.levels < 1 || o.slice < settle {
			return fmt.Errorf("--out is needed, --rounds and --levels are at least 1, --slice at least %v", settle)
		}
		return measure(ctx, &o)
	case "compare":
		if flags.NArg() != 1 {
			return errors.New("want one file")
		}
		return compareFile(os.Stdout, flags.Arg(0))
	default:
		return fmt.Errorf("want run or compare, got %q", args[0])
	}
}
