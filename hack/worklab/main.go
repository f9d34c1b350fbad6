// Command worklab runs a web server under load beside neighbours on this machine, and compares what package inflation says of it with a
// fixed piece of work that times itself: the truth for how much slower units of work are served, and beside whom.
//
//	worklab --thrashers 10 --loads 20 -o recording.json.gz
//	worklab judge recording.json.gz
//
// It needs Linux and two processors that do nothing else. The server has the first one, and the clients and neighbours have the second, so
// that the server does not wait for one: what makes requests slower is the cache and the memory that both share. All of them are this program
// again.
package main

import (
	"context"
	"fmt"
	"os"
	"os/signal"
	"syscall"
	"time"

	"github.com/spf13/cobra"
)

// options are the flags.
type options struct {
	thrashers, loads int
	seed             uint64
	slot             time.Duration
	out              string
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
	o := options{}
	c := &cobra.Command{
		Use:   "worklab",
		Short: "Run a web server under load beside neighbours, and compare what is said of it with a fixed piece of work",
		Example: `  # A minute for each load, two for each thrasher
  worklab --thrashers 10 --loads 20`,
		Args:          cobra.NoArgs,
		SilenceUsage:  true,
		SilenceErrors: true,
		RunE: func(c *cobra.Command, _ []string) error {
			if err := o.validate(); err != nil {
				return err
			}
			return run(c.Context(), o, c.OutOrStdout(), c.ErrOrStderr())
		},
	}
	f := c.Flags()
	f.IntVar(&o.thrashers, "thrashers", 10, "how many cases in which a neighbour that thrashes the cache comes and goes")
	f.IntVar(&o.loads, "loads", 20, "how many cases in which the load rises or falls, and nothing makes requests slower")
	f.Uint64Var(&o.seed, "seed", 1, "seed of the cases")
	f.StringVarP(&o.out, "output", "o", "", "a `file` to write what was measured to, too: JSON, compressed if its name ends in .gz")
	f.DurationVar(&o.slot, "slot", time.Second, "how long an interval is; the manager's are minutes")
	c.AddCommand(append(childCommands(), judgeCommand())...)
	return c
}

func judgeCommand() *cobra.Command {
	return &cobra.Command{
		Use:   "judge FILE",
		Short: "Show what is said of what was measured before",
		Args:  cobra.ExactArgs(1),
		RunE: func(c *cobra.Command, args []string) error {
			outcomes, err := load(args[0])
			if err != nil {
				return err
			}
			return show(c.OutOrStdout(), outcomes)
		},
	}
}

func (o *options) validate() error {
	const most = 1000
	switch {
	case o.thrashers < 0 || o.thrashers > most:
		return fmt.Errorf("--thrashers: %d is not from 0 to %d", o.thrashers, most)
	case o.loads < 0 || o.loads > most:
		return fmt.Errorf("--loads: %d is not from 0 to %d", o.loads, most)
	case o.slot < 100*time.Millisecond:
		return fmt.Errorf("--slot: %v is shorter than 100 ms", o.slot)
	}
	return nil
}
