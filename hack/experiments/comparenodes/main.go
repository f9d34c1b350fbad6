// Command comparenodes lets kube-scheduler, Trimaran and Loadline place drawn batches of real programs on two real nodes of a core
// each, and compares how much longer the programs take than alone, by their own clocks: no model judges. It needs root, as real
// nodes do. docs/evidence/better.md has what it found.
package main

import (
	"context"
	"errors"
	"flag"
	"fmt"
	"math/rand/v2"
	"os"
	"os/signal"
	"syscall"
	"time"

	"github.com/go-logr/logr"
	ctrl "sigs.k8s.io/controller-runtime"

	"loadline.dev/loadline/hack/experiments/job"
	"loadline.dev/loadline/hack/experiments/report"
	"loadline.dev/loadline/hack/experiments/start"
	"loadline.dev/loadline/pkg/text"
)

// options are the flags.
type options struct {
	out, trimaran          string
	batches                int
	seed                   uint64
	lead, window, aloneFor time.Duration
	read                   bool
}

func main() {
	o := options{}
	flag.StringVar(&o.out, "out", "out/compare-nodes", "folder for what was measured")
	flag.StringVar(&o.trimaran, "trimaran", "", "path of the scheduler of the Kubernetes scheduler-plugins")
	flag.IntVar(&o.batches, "batches", 20, "how many batches to draw")
	flag.Uint64Var(&o.seed, "seed", 1, "seed of programs, batches and the order of schedulers")
	flag.DurationVar(&o.lead, "lead", 6*time.Second, "time for the pods of a batch to be placed, started and ready")
	flag.DurationVar(&o.window, "window", 10*time.Second, "for how long a batch is measured")
	flag.DurationVar(&o.aloneFor, "alone", 3*time.Second, "for how long each program is measured alone, twice before and twice after the batches")
	flag.BoolVar(&o.read, "read", false, "measure nothing: show what was measured")
	flag.Parse()
	if err := o.validate(); err != nil {
		fmt.Fprintln(os.Stderr, "Error:", err)
		os.Exit(2)
	}
	if err := run(&o); err != nil {
		fmt.Fprintln(os.Stderr, "Error:", err)
		os.Exit(1)
	}
}

func (o *options) validate() error {
	const shortest = 2 * time.Second
	switch {
	case flag.NArg() > 0:
		return fmt.Errorf("argument %q: there are only flags", flag.Arg(0))
	case o.batches < 1:
		return fmt.Errorf("--batches: %d is not at least 1", o.batches)
	case o.trimaran == "" && !o.read:
		return errors.New("--trimaran: is missing: make compare-nodes builds it")
	}
	for name, d := range map[string]time.Duration{"lead": o.lead, "window": o.window, "alone": o.aloneFor} {
		if d < shortest {
			return fmt.Errorf("--%s: %v is shorter than %v", name, d, shortest)
		}
	}
	return nil
}

func run(o *options) error {
	ctrl.SetLogger(logr.Discard()) // what matters is printed below
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
	defer stop()
	if o.read {
		r, err := read(o.out)
		if err != nil {
			return err
		}
		return r.show(o.out)
	}
	begin := time.Now()
	if err := os.MkdirAll(o.out, 0o750); err != nil {
		return err
	}
	c, err := compare(ctx, o)
	if err == nil || len(c.Turns) > 0 {
		err = errors.Join(err, c.show(o.out))
	}
	fmt.Fprintf(os.Stderr, "Done in %s.\n", text.Elapsed(time.Since(begin)))
	return err
}

// comparer is a comparison that goes on.
type comparer struct {
	*options
	*start.Session
	*Results
	order  *rand.Rand // of schedulers
	goRoot string
	pods   int // so far
}

// The streams of random numbers: what is drawn of one does not depend on the others.
const (
	programStream uint64 = iota + 1
	batchStream
	orderStream
)

func (o *options) stream(number uint64) *rand.Rand { return rand.New(rand.NewPCG(o.seed, number)) }

// compare draws, starts the cluster and measures.
func compare(ctx context.Context, o *options) (c *comparer, err error) {
	programs := drawPrograms(o.stream(programStream))
	c = &comparer{options: o, order: o.stream(orderStream), Results: &Results{
		Seed: o.seed, WindowSeconds: o.window.Seconds(), AloneSeconds: o.aloneFor.Seconds(),
		Programs: programs, Batches: drawBatches(o.stream(batchStream), o.batches, len(programs)),
	}}
	if c.Machine, err = describe(); err != nil {
		return c, err
	}
	if c.goRoot, err = findGoRoot(ctx); err != nil {
		return c, err
	}
	if c.Session, err = start.Begin(ctx, job.CPU, start.Privileged, report.NewProgress(os.Stderr)); err != nil {
		return c, err
	}
	defer func() { err = errors.Join(err, c.End(ctx)) }()
	if err := c.Load(ctx, "tools/"+image); err != nil {
		return c, err
	}
	return c, c.measureAll(ctx)
}

// measureAll measures the programs alone, the batches, and the programs alone once more.
func (c *comparer) measureAll(ctx context.Context) (err error) {
	if err := c.runAllAlone(ctx); err != nil {
		return err
	}
	if err := c.declare(ctx); err != nil {
		return err
	}
	stop, err := c.startTrimaran(ctx)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, stop()) }()
	if err := c.takeTurns(ctx); err != nil {
		return err
	}
	return c.runAllAlone(ctx)
}

// takeTurns has every scheduler place every batch. Schedulers take turns in random order, so that all have the same share of what
// changes on this machine.
func (c *comparer) takeTurns(ctx context.Context) error {
	begin, all := time.Now(), schedulers()
	turns := len(c.Batches) * len(all)
	for batch := range c.Batches {
		for _, s := range c.order.Perm(len(all)) {
			left := ""
			if done := len(c.Turns); done > 0 {
				left = ", " + text.Elapsed(time.Since(begin)*time.Duration(turns-done)/time.Duration(done)) + " left"
			}
			c.Log.Step("turn %d of %d: batch %d by %s%s", len(c.Turns)+1, turns, batch+1, all[s].name, left)
			if err := c.again(ctx, func(ctx context.Context) error { return c.take(ctx, batch, all[s]) }); err != nil {
				return fmt.Errorf("batch %d by %s: %w", batch+1, all[s].name, err)
			}
		}
	}
	return nil
}

// again does something again if it fails, as where a pod was ready too late.
func (c *comparer) again(ctx context.Context, do func(context.Context) error) error {
	const tries = 3
	for try := 1; ; try++ {
		err := do(ctx)
		if err == nil || try == tries || ctx.Err() != nil {
			return err
		}
		c.Log.Step("once more: %v", err)
	}
}
