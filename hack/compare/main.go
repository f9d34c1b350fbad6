// Command compare lets several schedulers place the same pods on the same nodes,
// and shows how much pods slow each other down then. docs/evidence/better.md has what it
// found, and says how to read it.
package main

import (
	"bytes"
	"context"
	"errors"
	"flag"
	"fmt"
	"os"
	"os/signal"
	"slices"
	"strings"
	"syscall"

	"github.com/go-logr/logr"
	ctrl "sigs.k8s.io/controller-runtime"

	"loadline.dev/loadline/hack/comparison"
	"loadline.dev/loadline/hack/scenario"
)

// options are the flags.
type options struct {
	scenario.Options
	seeds      int
	schedulers string
	policies   string
	trimaran   string
	openb      string
	wrong      string
	devices    string
	precision  float64
	search     int
	output     string
	out        string
}

func main() {
	o := options{}
	flag.IntVar(&o.seeds, "seeds", 3, "how many scenarios, with the seeds 1, 2, …")
	flag.IntVar(&o.Nodes, "nodes", 100, "how many nodes")
	flag.Float64Var(&o.Requested, "requested", 0.6, "which part of the CPU is requested")
	flag.IntVar(&o.Steps, "steps", 4, "how many times pods leave and others come")
	flag.Float64Var(&o.ProfileError, "profile-error", 0.2, "how far profiles are off: σ of the logarithms of loadings")
	flag.StringVar(&o.schedulers, "schedulers", "kube-scheduler,most-allocated,trimaran,loadline",
		"the real schedulers, by commas: loadline, a name in hack/comparison/schedulers, or a file; empty for none")
	flag.StringVar(&o.policies, "policies", "least-requested,target-load-packing,least-dilation",
		"policies of replays, by commas, which place without a cluster; empty for none")
	flag.StringVar(&o.trimaran, "trimaran", "", "path of the scheduler of the Kubernetes scheduler-plugins")
	flag.StringVar(&o.openb, "openb", "", "take nodes, requests and stays from the openb trace: the files of its pods and of its nodes, by a comma")
	flag.StringVar(&o.wrong, "wrong-profiles", "0.5,missing,observed",
		"the wrong profiles with which loadline and least-dilation place the pods again, by commas: how far they are off, as --profile-error; "+
			"missing for half of the applications; observed, by gauges in an hour under the first scheduler, and none else; empty for none")
	flag.StringVar(&o.devices, "devices", "sharing", "how simulated disks and links serve: sharing, all at once at equal parts of the speed, or fifo")
	flag.Float64Var(&o.precision, "precision", 0.01, "the standard error of simulated dilations that is small enough, as a fraction")
	flag.IntVar(&o.search, "search", 2000, "how many moves and swaps of pods to try for a better placement at the end of seed 1; 0 for none")
	flag.StringVar(&o.output, "o", "table", "table or json")
	flag.StringVar(&o.out, "out", "out/compare", "folder for the chart, and for what is known after each seed")
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
	if err := o.validate(); err != nil {
		return err
	}
	c := &comparer{options: o, progress: comparison.NewProgress(os.Stderr)}
	err := c.place(ctx)
	if len(c.runs) > 0 { // of the seeds that are done
		err = errors.Join(err, c.show())
	}
	return err
}

func (o *options) validate() error {
	switch {
	case flag.NArg() > 0:
		return fmt.Errorf("argument %q: there are only flags", flag.Arg(0))
	case o.seeds < 1:
		return fmt.Errorf("--seeds: %d is not at least 1", o.seeds)
	case o.search < 0:
		return fmt.Errorf("--search: %d is negative", o.search)
	case o.devices != "sharing" && o.devices != "fifo":
		return fmt.Errorf("--devices: %q is neither sharing nor fifo", o.devices)
	case !(o.precision > 0 && o.precision <= 0.1):
		return fmt.Errorf("--precision: %v is not above 0 and at most 0.1", o.precision)
	case o.output != "table" && o.output != "json":
		return fmt.Errorf("-o: %q is neither table nor json", o.output)
	case len(list(o.schedulers))+len(list(o.policies)) == 0:
		return errors.New("--schedulers and --policies: both are empty")
	case slices.Contains(list(o.schedulers), comparison.Trimaran) && o.trimaran == "":
		return errors.New("--schedulers: trimaran needs --trimaran: make compare builds it")
	}
	if _, err := o.profileSets(); err != nil {
		return err
	}
	if err := o.readTrace(); err != nil {
		return err
	}
	return o.Validate()
}

// readTrace reads the trace of --openb, if there is one.
func (o *options) readTrace() (err error) {
	if o.openb == "" {
		return nil
	}
	files := list(o.openb)
	if len(files) != 2 {
		return fmt.Errorf("--openb: %q is not two files, by a comma", o.openb)
	}
	var content [2][]byte
	for i, file := range files {
		if content[i], err = os.ReadFile(file); err != nil {
			return fmt.Errorf("--openb: %w", err)
		}
	}
	o.Trace, err = scenario.ReadOpenb(files[0], bytes.NewReader(content[0]), files[1], bytes.NewReader(content[1]))
	return err
}

// list returns the parts of a list.
func list(commas string) []string {
	return strings.FieldsFunc(commas, func(r rune) bool { return r == ',' })
}
