// Command chaos has everything around Loadline fail at random, and checks all the time that what Loadline promises holds: processes
// are killed and stopped, connections are slow or lost, the API server answers with errors, gauges and Prometheus lie, nodes and
// namespaces go. Each seed is a schedule of faults on one control plane, with a load that uses all of Loadline.
package main

import (
	"context"
	"errors"
	"fmt"
	"maps"
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

	"loadline.dev/loadline/hack/comparison"
	"loadline.dev/loadline/hack/local"
)

// options are the flags.
type options struct {
	first          uint64
	seeds          int
	faults, settle time.Duration
	dir            string
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
		Use:   "chaos",
		Short: "Have everything around Loadline fail at random, and check what it promises",
		Long: `chaos starts a control plane on this machine, with two managers and two schedulers of
Loadline and proxies between all of them. Each seed draws a schedule of faults. While
they happen, pods come and go and all of Loadline's objects are in use. Invariants are
checked all the time, and others once all is healed and the cluster has settled.`,
		Example: `  # The first 20 seeds, which take half an hour
  go run ./hack/chaos

  # One of them again
  go run ./hack/chaos --first 7 --seeds 1`,
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
	flags.Uint64Var(&o.first, "first", 1, "the first seed")
	flags.IntVar(&o.seeds, "seeds", 20, "how many seeds, one after the other")
	flags.DurationVar(&o.faults, "faults", 40*time.Second, "for how long things fail")
	flags.DurationVar(&o.settle, "settle", 2*time.Minute, "how long the cluster may take to settle afterwards")
	flags.StringVar(&o.dir, "dir", "out/chaos", "folder for logs")
	return command
}

func (o *options) validate() error {
	switch {
	case o.seeds < 1:
		return fmt.Errorf("--seeds: %d is not at least 1", o.seeds)
	case o.faults < 4*time.Second:
		return fmt.Errorf("--faults: %v is not at least 4s", o.faults)
	case o.settle < time.Second:
		return fmt.Errorf("--settle: %v is not at least 1s", o.settle)
	}
	return nil
}

func (o *options) run(ctx context.Context) (err error) {
	root, err := local.Root(ctx)
	if err != nil {
		return err
	}
	dir, err := filepath.Abs(o.dir)
	if err != nil {
		return err
	}
	if err := os.MkdirAll(dir, 0o755); err != nil {
		return err
	}
	c, err := startCluster(ctx, dir, root, comparison.NewProgress(os.Stderr))
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, c.stop()) }()
	keeping, cancel := context.WithCancel(ctx)
	defer cancel()
	go c.keepPlane(keeping)
	go c.followPods(keeping)
	t := &tally{kinds: map[kind]int{}}
	logged := map[string]int64{}
	for seed := o.first; seed < o.first+uint64(o.seeds); seed++ {
		result, err := c.try(ctx, o, seed, os.Stdout)
		if err != nil {
			return errors.Join(err, t.show(c, os.Stdout))
		}
		found, err := c.panics(logged)
		if err != nil {
			return err
		}
		for _, text := range found {
			result.broken = append(result.broken, broken{time.Now(), "no program panics", text})
		}
		t.add(result)
		fmt.Printf("seed %d: %d faults, %d broken, settled after %.0f s, %.0f s in all\n", seed, len(result.faults), len(result.broken), result.settled.Seconds(), result.took.Seconds())
		for _, text := range result.last[:min(len(result.last), 3)] {
			fmt.Printf("  late: %.200s\n", strings.ReplaceAll(text, "\n", " "))
		}
		for _, b := range result.broken {
			fmt.Printf("  BROKEN %s\n", b)
		}
	}
	if err := t.show(c, os.Stdout); err != nil {
		return err
	}
	if t.broken > 0 {
		return fmt.Errorf("%d of %d seeds broke an invariant: %v", len(t.failed), t.seeds, t.failed)
	}
	return nil
}

// tally counts what was done and found.
type tally struct {
	seeds, faults, skipped, broken int
	kinds                          map[kind]int
	failed                         []uint64
}

func (t *tally) add(o *outcome) {
	t.seeds++
	t.faults += len(o.faults)
	t.skipped += o.skipped
	t.broken += len(o.broken)
	for _, f := range o.faults {
		t.kinds[f.Kind]++
	}
	if len(o.broken) > 0 {
		t.failed = append(t.failed, o.seed)
	}
}

// show writes all counts.
func (t *tally) show(c *cluster, out *os.File) error {
	judged, excused := c.history.judged()
	restarts := 0
	for _, p := range c.programs {
		restarts += p.restarts()
	}
	fmt.Fprintf(out, "%d seeds, %d faults injected and %d not, because something else failed\n", t.seeds, t.faults, t.skipped)
	for _, k := range slices.Sorted(maps.Keys(t.kinds)) {
		fmt.Fprintf(out, "%6d  %s\n", t.kinds[k], k)
	}
	done, changes := c.history.effects()
	for _, counts := range []map[string]int{done, changes} {
		for _, what := range slices.Sorted(maps.Keys(counts)) {
			fmt.Fprintf(out, "%6d  %s\n", counts[what], what)
		}
	}
	_, err := fmt.Fprintf(out, "%d placements judged, of which %d exceed a bound by what the scheduler could not see; programs ended by themselves %d times, parts of the control plane %d times\n",
		judged, excused, restarts, c.ended.Load())
	return err
}
