// Command demonodes repeats the experiments of the D-factor paper on real pods: on a
// local cluster whose nodes have one core each it has the operator measure jobs whose
// loading vectors are known, compares predicted with measured dilations of jobs that
// run together, and has the example of the paper's Fig. 8 placed by kube-scheduler and
// by Loadline. It needs root, as real nodes do.
package main

import (
	"context"
	"errors"
	"flag"
	"fmt"
	"os"
	"os/signal"
	"slices"
	"strings"
	"syscall"
	"time"

	"github.com/go-logr/logr"
	ctrl "sigs.k8s.io/controller-runtime"

	"loadline.dev/loadline/hack/experiments/compare"
	"loadline.dev/loadline/hack/experiments/job"
	"loadline.dev/loadline/hack/experiments/measure"
	"loadline.dev/loadline/hack/experiments/report"
	"loadline.dev/loadline/hack/experiments/start"
	"loadline.dev/loadline/pkg/text"
)

// options are the flags.
type options struct {
	out     string
	repeat  int
	quick   bool
	only    []string
	kinds   []string
	io      job.Standard
	seconds float64
	scale   float64
	rounds  int
}

// The parts, in their order.
const (
	partMeasure = "measure"
	partMixes   = "mixes"
	partCompare = "compare"
	partFig8    = "fig8"
)

func parts() []string { return []string{partMeasure, partMixes, partCompare, partFig8} }

func main() {
	o := options{}
	var only, second, measured string
	flag.StringVar(&o.out, "out", "out/demo-nodes", "folder for the charts and for what was measured")
	flag.IntVar(&o.repeat, "repeat", 1, "how many times to run each experiment; figures are medians. Fig. 8 is run 3 times at least")
	flag.BoolVar(&o.quick, "quick", false, "fewer and shorter runs, once each: to see that all works, not how well")
	flag.StringVar(&only, "only", strings.Join(parts(), ","), "the parts to run; compare and fig8 use what measure left in the folder --out, compare also what mixes did")
	flag.StringVar(&measured, "kinds", "", "the kinds of jobs to measure, all if empty; what was measured of others before is kept")
	flag.StringVar(&second, "io", string(job.Network), "the standard job of the second resource: network, disk-read or disk-write")
	flag.Float64Var(&o.seconds, "seconds", 12, "how long a job runs alone, in seconds")
	flag.Float64Var(&o.scale, "scale", 6, "by how much to divide the times of Fig. 8")
	flag.IntVar(&o.rounds, "rounds", 10, "how many rounds a measurement has at most; fewer where it is precise before")
	flag.Parse()
	o.only, o.io = strings.Split(only, ","), job.Standard(second)
	o.kinds = job.Kinds(o.io)
	if measured != "" {
		o.kinds = strings.Split(measured, ",")
	}
	if err := o.complete(flag.Args()); err != nil {
		fmt.Fprintln(os.Stderr, "Error:", err)
		os.Exit(2)
	}
	if err := run(&o); err != nil {
		fmt.Fprintln(os.Stderr, "Error:", err)
		os.Exit(1)
	}
}

// complete checks the flags, and shortens the runs if that is asked for.
func (o *options) complete(rest []string) error {
	if len(rest) > 0 {
		return fmt.Errorf("%q: there are no arguments but flags", rest)
	}
	for _, part := range o.only {
		if !slices.Contains(parts(), part) {
			return fmt.Errorf("--only: %q is none of %s", part, strings.Join(parts(), ", "))
		}
	}
	if !slices.Contains(job.Devices(), o.io) {
		return fmt.Errorf("--io: %q is none of %s", o.io, job.Devices())
	}
	for _, name := range o.kinds {
		if kinds := job.Kinds(o.io); !slices.Contains(kinds, name) {
			return fmt.Errorf("--kinds: %q is none of %s", name, strings.Join(kinds, ", "))
		}
	}
	if o.repeat < 1 {
		return fmt.Errorf("--repeat: %d is not at least 1", o.repeat)
	}
	if !(o.seconds >= 1 && o.seconds <= 600) {
		return fmt.Errorf("--seconds: %v is not from 1 to 600", o.seconds)
	}
	if !(o.scale >= 1 && o.scale <= 100) {
		return fmt.Errorf("--scale: %v is not from 1 to 100", o.scale)
	}
	if o.rounds < 2 || o.rounds > 100 {
		return fmt.Errorf("--rounds: %d is not from 2 to 100", o.rounds)
	}
	if o.quick {
		const shortest, steepest, fewest = 5, 20, 2
		o.repeat, o.seconds, o.scale, o.rounds = 1, min(o.seconds, shortest), max(o.scale, steepest), fewest
		o.kinds = compare.Kinds(quickMixes()...)
	}
	return nil
}

func run(o *options) error {
	ctrl.SetLogger(logr.Discard()) // what matters is printed below
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
	defer stop()
	begin := time.Now()
	if err := os.MkdirAll(o.out, 0o755); err != nil {
		return err
	}
	if err := demonstrate(ctx, o); err != nil {
		return err
	}
	fmt.Printf("\nDone in %s. What was started is gone again.\n", text.Elapsed(time.Since(begin)))
	return nil
}

// demonstrate runs the parts on a cluster that it finds or starts.
func demonstrate(ctx context.Context, o *options) (err error) {
	s := &session{options: o, log: report.NewProgress(os.Stderr)}
	if s.known, err = measure.Read(o.out); err != nil {
		return err
	}
	if !slices.Equal(o.only, []string{partCompare}) { // all that it needs is in files
		if s.Session, err = start.Begin(ctx, o.io, start.Restricted, s.log); err != nil {
			return err
		}
		defer func() { err = errors.Join(err, s.End(ctx)) }()
	}
	for _, part := range parts() {
		if !slices.Contains(o.only, part) {
			continue
		}
		if err := s.part(ctx, part); err != nil {
			return fmt.Errorf("%s: %w", part, err)
		}
	}
	return nil
}

// session is what all parts use.
type session struct {
	*start.Session // nil if only files are compared
	*options
	log   *report.Progress
	known *measure.Findings
}

func (s *session) part(ctx context.Context, part string) error {
	switch part {
	case partMeasure:
		r := measure.Run{Session: s.Session, Known: s.known, Out: s.out, Kinds: s.kinds, Seconds: s.seconds, Repeat: s.repeat, Rounds: s.rounds}
		return r.Measure(ctx)
	case partMixes:
		return s.mixes(ctx)
	case partCompare:
		return s.compare()
	default:
		return s.fig8(ctx)
	}
}
