// Command disklab runs pods beside each other at a real disk of this machine, each of which times itself: the truth for what Loadline says of who
// slows whom at the disk, by what the kernel accounts.
//
//	disklab record --mixes 40 -o recording.json.gz
//	disklab show recording.json.gz
//	disklab fit recording.json.gz
//	disklab quiet --intervals 1000
//	disklab programs -o programs.json.gz
//	disklab judge programs.json.gz
//
// It needs Linux, and to record, root. The pods are control groups as a kubelet lays them out, so that a gauge's reader sees them, and
// jobs in them are this program again.
package main

import (
	"context"
	"errors"
	"fmt"
	"os"
	"os/signal"
	"syscall"
	"time"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	"loadline.dev/loadline/hack/recording"
)

// options are the flags of record.
type options struct {
	dir, out        string
	mixes           int
	seed            uint64
	seconds, rounds int
	tries           int
	warm, patience  time.Duration
	sweep           bool
	sustain         int
	again           bool
	foreignCPU      float64
	pressureOnly    bool
}

func main() {
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
	defer stop()
	if err := command().ExecuteContext(ctx); err != nil {
		fmt.Fprintln(os.Stderr, "Error:", err)
		os.Exit(1) //nolint:gocritic // the context ends with the process
	}
}

func command() *cobra.Command {
	root := &cobra.Command{
		Use:           "disklab",
		Short:         "Run pods that time themselves beside each other at a real disk",
		SilenceUsage:  true,
		SilenceErrors: true,
	}
	root.AddCommand(recordCommand(), jobCommand(), showCommand(), fitCommand(), quietCommand(), programsCommand(), judgeCommand())
	return root
}

func recordCommand() *cobra.Command {
	o := options{}
	c := &cobra.Command{
		Use:   "record",
		Short: "Run mixes, alone and together, and write what was measured (needs Linux and root)",
		Args:  cobra.NoArgs,
		RunE: func(c *cobra.Command, _ []string) error {
			if err := o.validate(); err != nil {
				return err
			}
			return record(c.Context(), o, c.OutOrStdout(), c.ErrOrStderr())
		},
	}
	f := c.Flags()
	f.StringVar(&o.dir, "dir", "/var/tmp", "a `folder` on the disk, for files of 1.3 GB that are deleted at the end")
	f.StringVarP(&o.out, "output", "o", "out/disklab/recording.json.gz", "the `file` to write: JSON, compressed if its name ends in .gz")
	f.IntVar(&o.mixes, "mixes", 40, "how many mixes to draw")
	f.Uint64Var(&o.seed, "seed", 1, "seed of the mixes, and of the order of runs")
	f.IntVar(&o.seconds, "seconds", 6, "for how many seconds a run is measured")
	f.DurationVar(&o.warm, "warm-up", time.Second, "for how long a run goes on before it is measured")
	f.IntVar(&o.rounds, "rounds", 2, "how often each pod runs alone, and all together")
	f.IntVar(&o.tries, "tries", 3, "how often a run is made until others do not disturb it")
	f.Float64Var(&o.foreignCPU, "foreign-cpu", 0.1,
		"which part of the processors' time others may use in a run that is not noisy: pods come before them, so that more may do")
	f.DurationVar(&o.patience, "patience", 30*time.Second, "how long a run waits until the machine does nothing else")
	f.BoolVar(&o.sweep, "sweep", true, "first run one job at a time, of each size, direction and depth, to see what the device can do")
	f.BoolVar(&o.again, "again", false, "measure again what was noisy in the recording that there is, and what it lacks, instead of all")
	pressureFlag(f, &o.pressureOnly)
	f.IntVar(&o.sustain, "sustain", 30, "for how many seconds the device is then kept busy, to see whether it slows down; 0 for not")
	return c
}

// pressureFlag is the flag of what the kernel accounts.
func pressureFlag(f *pflag.FlagSet, pressureOnly *bool) {
	f.BoolVar(pressureOnly, "pressure-only", false, "have the kernel account the pressure of pods alone, and not for how long each task is blocked")
}

func (o *options) validate() error {
	switch {
	case o.mixes < 0:
		return fmt.Errorf("--mixes: %d is negative", o.mixes)
	case o.seconds < 1:
		return fmt.Errorf("--seconds: %d is not at least 1", o.seconds)
	case o.rounds < 1:
		return fmt.Errorf("--rounds: %d is not at least 1", o.rounds)
	case o.tries < 1:
		return fmt.Errorf("--tries: %d is not at least 1", o.tries)
	case o.warm < 0:
		return fmt.Errorf("--warm-up: %v is negative", o.warm)
	case !(o.foreignCPU >= 0 && o.foreignCPU <= 1):
		return fmt.Errorf("--foreign-cpu: %v is not from 0 to 1", o.foreignCPU)
	case o.patience < 0:
		return fmt.Errorf("--patience: %v is negative", o.patience)
	case o.sustain < 0:
		return fmt.Errorf("--sustain: %d is negative", o.sustain)
	case o.out == "":
		return errors.New("--output: is empty: want the name of a file")
	}
	return nil
}

func showCommand() *cobra.Command {
	return &cobra.Command{
		Use:   "show FILE",
		Short: "Show what was recorded",
		Args:  cobra.ExactArgs(1),
		RunE: func(c *cobra.Command, args []string) error {
			r := &recorded{}
			if err := recording.Load(args[0], r); err != nil {
				return err
			}
			return show(c.OutOrStdout(), r)
		},
	}
}
