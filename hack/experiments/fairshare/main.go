// Command fairshare measures what shares do on real Linux, beside what Loadline predicts.
//
// For each setting it makes cgroups with the shares of a tree, puts a process per
// workload in them, all on one core, and lets jobs arrive at each process at random
// times. A job keeps the core busy for a while, measured by the kernel; the jobs of a
// workload take turns. The response times of the same jobs are computed for three
// disciplines: processor sharing among workloads, processor sharing among jobs, and
// the random priority orders of pkg/model/fairshare.
//
// It needs Linux, root, and the cpu controller of cgroups, version 1 or 2.
package main

import (
	"context"
	"errors"
	"flag"
	"fmt"
	"io"
	"os"
	"os/signal"
	"path/filepath"
	"runtime"
	"syscall"
	"time"

	"loadline.dev/loadline/pkg/report/chart"
)

// options are the flags.
type options struct {
	core        int
	duration    time.Duration
	repetitions int
	rounds      int
	patience    time.Duration
	limit       float64
	setting     string
	output      string
	out         string
	plot        string
}

func main() {
	o := options{}
	flag.IntVar(&o.core, "core", runtime.NumCPU()-1, "the core that all workloads share")
	flag.DurationVar(&o.duration, "duration", 20*time.Second, "how long jobs arrive in one run, the first tenth of which is warm-up")
	flag.IntVar(&o.repetitions, "repetitions", 5, "undisturbed runs wanted of each setting")
	flag.IntVar(&o.rounds, "rounds", 15, "runs of each setting at most")
	flag.DurationVar(&o.patience, "patience", 30*time.Second, "how long to wait before each run for a core that no other process uses")
	flag.Float64Var(&o.limit, "limit", 1.02, "a run counts if the dilation of a lone workload before and after it is at most this")
	flag.StringVar(&o.setting, "setting", "", "measure only the setting of this name")
	flag.StringVar(&o.output, "o", "table", "what to print: table, csv or json")
	flag.StringVar(&o.out, "out", "out/fairshare", "folder for runs.csv, which has every run")
	flag.StringVar(&o.plot, "plot", "", "file for a chart of measured and computed factors, .svg or .png")
	flag.Parse()
	do := func() error { return run(&o, os.Stdout) }
	if flag.Arg(0) == workerArgument {
		do = func() error { return work(os.Stdin, os.Stdout) }
	}
	if err := do(); err != nil {
		fmt.Fprintln(os.Stderr, "Error:", err)
		os.Exit(1)
	}
}

// validate returns an error that names the flag that is wrong.
func (o *options) validate() error {
	const shortest = time.Second
	switch {
	case flag.NArg() > 0:
		return fmt.Errorf("%q: there are only flags, no arguments", flag.Arg(0))
	case o.core < 0 || o.core >= runtime.NumCPU():
		return fmt.Errorf("--core: %d is not between 0 and %d", o.core, runtime.NumCPU()-1)
	case o.duration < shortest:
		return fmt.Errorf("--duration: %s is shorter than %s", o.duration, shortest)
	case o.repetitions < 1 || o.rounds < o.repetitions:
		return fmt.Errorf("--repetitions, --rounds: %d and %d are not at least 1 and at least as many rounds as repetitions", o.repetitions, o.rounds)
	case o.patience < 0:
		return fmt.Errorf("--patience: %s is negative", o.patience)
	case !(o.limit > 1):
		return fmt.Errorf("--limit: %v is not above 1", o.limit)
	case o.output != "table" && o.output != "csv" && o.output != "json":
		return fmt.Errorf("-o: %q is not table, csv or json", o.output)
	}
	if o.plot != "" {
		if _, err := chart.FormatOf(o.plot); err != nil {
			return fmt.Errorf("--plot: %w", err)
		}
	}
	return nil
}

// run measures and prints. What was measured before an interrupt or an error is
// printed, too.
func run(o *options, to io.Writer) error {
	if err := o.validate(); err != nil {
		return err
	}
	chosen, err := settingsNamed(o.setting)
	if err != nil {
		return err
	}
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
	defer stop()
	all, failed := measureAll(ctx, o, chosen, os.Stderr)
	if len(all) == 0 {
		return failed
	}
	if err := os.MkdirAll(o.out, 0o750); err != nil {
		return errors.Join(failed, err)
	}
	if err := writeFile(filepath.Join(o.out, "runs.csv"), func(w io.Writer) error { return writeRuns(w, all) }); err != nil {
		return errors.Join(failed, err)
	}
	rows, err := summarize(ctx, chosen, all)
	if err != nil {
		return errors.Join(failed, err)
	}
	if err := write(to, o.output, rows); err != nil {
		return errors.Join(failed, err)
	}
	if o.plot != "" && len(rows) > 0 {
		return errors.Join(failed, chart.WriteFile(o.plot, scatter(rows)))
	}
	return failed
}

// writeFile makes a file.
func writeFile(path string, content func(io.Writer) error) error {
	f, err := os.Create(path)
	if err != nil {
		return err
	}
	return errors.Join(content(f), f.Close())
}
