// Kernellab runs mixes of pods on a real kernel of Linux in virtual time: what they take depends on the kernel alone.
//
//	kernellab draw --mixes 64 --seed 1 >mixes.csv
//	kernellab run --kernel 6.12 mixes.csv >results.csv
//	kernellab run --kernel 6.12 --processors 4 mixes.csv >results.csv
//	kernellab gauge --gauge bin/loadline-gauge mixes.csv
//	kernellab compare results.csv
//	kernellab kernels
//
// The kernels are Debian's, of the packages in kernels.csv. An emulator (qemu-system-x86_64) boots them with one program, guest.c,
// which makes a control group of each pod as the kubelet does, and lets its threads compute and sleep there in turns: together, and
// each pod alone. Package mixes has the columns of both tables.
//
// The emulator's clock counts instructions, one a nanosecond, and pods compute by instructions that do nothing: so a minute takes some
// seconds, a tick and a switch between threads take some microseconds as on real processors, and results repeat. Several processors
// run side by side, each with its own count, and are kept in step: pace.c says how.
package main

import (
	"context"
	"errors"
	"flag"
	"fmt"
	"io"
	"math"
	"os"
	"os/signal"
	"path/filepath"
	"regexp"
	"syscall"
	"time"

	"loadline.dev/loadline/hack/kernellab/mixes"
)

func main() {
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
	defer stop()
	if err := run(ctx, os.Stdout, os.Stderr, os.Args[1:]); err != nil {
		fmt.Fprintln(os.Stderr, "Error:", err)
		os.Exit(1) //nolint:gocritic // the context ends with the process
	}
}

func run(ctx context.Context, out, log io.Writer, args []string) error {
	if len(args) == 0 {
		return errors.New("want one of draw, run, gauge, compare and kernels")
	}
	switch args[0] {
	case "draw":
		return runDraw(out, args[1:])
	case "run":
		return runMixes(ctx, out, log, args[1:])
	case "gauge":
		return runGauge(ctx, out, log, args[1:])
	case "compare":
		return compare(out, args[1:])
	case "kernels":
		_, err := io.WriteString(out, kernels)
		return err
	default:
		return fmt.Errorf("%q is none of draw, run, gauge, compare and kernels", args[0])
	}
}

func runDraw(out io.Writer, args []string) error {
	flags := flag.NewFlagSet("draw", flag.ContinueOnError)
	n := flags.Int("mixes", 64, "how many mixes")
	processors := flags.Int("processors", 1, "for how many processors")
	seed := flags.Uint64("seed", 1, "seed of the random numbers that they are drawn by")
	if err := flags.Parse(args); err != nil {
		return err
	}
	if *n < 1 {
		return fmt.Errorf("--mixes: %d is not at least 1", *n)
	}
	if *processors < 1 || *processors > maxProcessors {
		return fmt.Errorf("--processors: %d is not between 1 and %d", *processors, maxProcessors)
	}
	return mixes.Write(out, draw(*n, *processors, *seed))
}

// options are the flags of run.
type options struct {
	settings
	kernel, mirror, folder, qemu, only, arguments, gauge string
	seeds                                                int
}

func runMixes(ctx context.Context, out, log io.Writer, args []string) error {
	o := options{settings: settings{groups: flat}}
	flags := flag.NewFlagSet("run", flag.ContinueOnError)
	o.addTo(flags)
	rows, err := o.parse(flags, args)
	if err != nil {
		return err
	}
	e, err := o.run(ctx, rows, log)
	if err != nil {
		return err
	}
	results, err := e.results()
	if err != nil {
		return err
	}
	return mixes.WriteResults(out, results)
}

// addTo adds the flags to a set.
func (o *options) addTo(flags *flag.FlagSet) {
	flags.StringVar(&o.kernel, "kernel", "6.12", "a `name` that kernellab kernels prints")
	flags.StringVar(&o.mirror, "debian-mirror", defaultMirror, "the `address` of a mirror of Debian")
	flags.StringVar(&o.folder, "folder", filepath.Join("out", "kernellab"), "for packages and kernels")
	flags.StringVar(&o.qemu, "qemu", "qemu-system-x86_64", "the emulator of one processor")
	flags.StringVar(&o.only, "only", "", "run only the mixes whose names this `expression` matches")
	flags.IntVar(&o.seeds, "add-to-seeds", 0, "a `number` that is added to the seed of each pod, to repeat mixes with other random numbers")
	flags.IntVar(&o.cgroup, "cgroup", 2, "version of control groups, 1 or 2")
	flags.IntVar(&o.processors, "processors", 1, "a `number` of processors. With more than one, results repeat nearly, not exactly")
	flags.IntVar(&o.cpus, "slices-of", 0, "choose the scheduler's slices as on a node with a `number` of processors; 0 for those that there are")
	flags.StringVar(&o.arguments, "append", "", "more `arguments` for the kernel, such as preempt=none")
	flags.Float64Var(&o.settle, "settle", 60, "`seconds` between booting and the first mix: kernels are busy with themselves for a while")
}

// parse parses the flags, and returns the mixes that are to run.
func (o *options) parse(flags *flag.FlagSet, args []string) ([]mixes.Row, error) {
	if err := flags.Parse(args); err != nil {
		return nil, err
	}
	if flags.NArg() != 1 {
		return nil, errors.New("want the table of mixes: a file, as kernellab draw writes it")
	}
	return o.read(flags.Arg(0))
}

// readFile reads a table.
func readFile(name string) (rows []mixes.Row, err error) {
	file, err := os.Open(name)
	if err != nil {
		return nil, err
	}
	defer func() { err = errors.Join(err, file.Close()) }()
	if rows, err = mixes.Read(file); err != nil {
		return nil, fmt.Errorf("%s: %w", name, err)
	}
	return rows, nil
}

// compare says how far the model is from tables of results.
func compare(out io.Writer, files []string) error {
	if len(files) == 0 {
		return errors.New("want tables of results, as kernellab run writes them")
	}
	for _, name := range files {
		rows, err := readFile(name)
		if err != nil {
			return err
		}
		found, err := judge(rows)
		if err != nil {
			return fmt.Errorf("%s: %w", name, err)
		}
		fmt.Fprintf(out, "%s\n\n", name)
		writeAccuracy(out, found)
		fmt.Fprintln(out)
	}
	return nil
}

// read returns the mixes of a file that are to run.
func (o *options) read(name string) ([]mixes.Row, error) {
	if o.cgroup != 1 && o.cgroup != 2 {
		return nil, fmt.Errorf("--cgroup: %d is neither 1 nor 2", o.cgroup)
	}
	if o.processors < 1 || o.processors > maxProcessors {
		return nil, fmt.Errorf("--processors: %d is not between 1 and %d", o.processors, maxProcessors)
	}
	if o.cpus < 0 {
		return nil, fmt.Errorf("--slices-of: %d is not at least 0", o.cpus)
	}
	if !(o.settle >= 0) || math.IsInf(o.settle, 1) {
		return nil, fmt.Errorf("--settle: %v is not a finite number of seconds of at least 0", o.settle)
	}
	only, err := regexp.Compile(o.only)
	if err != nil {
		return nil, fmt.Errorf("--only: %w", err)
	}
	all, err := readFile(name)
	if err != nil {
		return nil, err
	}
	var rows []mixes.Row
	for _, r := range all {
		if only.MatchString(r.Mix) {
			r.Seed += o.seeds
			rows = append(rows, r)
		}
	}
	if len(rows) == 0 {
		return nil, fmt.Errorf("--only: %q is the name of no mix of %s", o.only, name)
	}
	return rows, nil
}

// run runs mixes and returns what came out.
func (o *options) run(ctx context.Context, rows []mixes.Row, log io.Writer) (_ *experiment, err error) {
	folder, err := os.MkdirTemp("", "kernellab-")
	if err != nil {
		return nil, err
	}
	defer func() { err = errors.Join(err, os.RemoveAll(folder)) }()
	emulator, err := newEmulator(ctx, o, folder)
	if err != nil {
		return nil, err
	}
	kernel, err := fetchKernel(ctx, o.kernel, o.mirror, o.folder)
	if err != nil {
		return nil, err
	}
	began := time.Now()
	e := newExperiment(rows, kernel.hz, o.settings, func(mix string) {
		fmt.Fprintf(log, "%5.0f s: %s\n", time.Since(began).Seconds(), mix)
	})
	m := machine{emulator: emulator, processors: o.processors, kernel: kernel.image, arguments: o.arguments, gauge: o.gauge, folder: folder}
	said, err := m.run(ctx, e.text(), e.hear)
	if err != nil {
		return nil, err
	}
	_, err = io.WriteString(log, said)
	return e, err
}
