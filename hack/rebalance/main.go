// Command rebalance compares what keeps a cluster below its load line for a day: doing nothing, the descheduler of Kubernetes, and the plan
// of Loadline by several budgets. docs/evidence/rebalance.md has what it found.
//
// The cluster is that of hack/scenario, with what its pods use in the course of a day (day.go). Each hour gauges observe it (gauges.go), a
// remedy acts (remedy.go), and half an hour later two judges say how much pods slow each other down (judge.go): the most accurate model for
// what pods really are, and a simulation of their nodes, which shares nothing with the model.
package main

import (
	"context"
	"errors"
	"flag"
	"fmt"
	"os"
	"os/signal"
	"regexp"
	"strconv"
	"strings"
	"syscall"

	"loadline.dev/loadline/hack/comparison"
	"loadline.dev/loadline/hack/scenario"
)

// options are the flags.
type options struct {
	scenario.Options
	seeds       int
	hours       int
	budgets     string
	remedies    string
	descheduler string
	simulate    int
	precision   float64
	output      string
	out         string
}

func main() {
	o := options{}
	flag.IntVar(&o.seeds, "seeds", 3, "how many scenarios, with the seeds 1, 2, …")
	flag.IntVar(&o.Nodes, "nodes", 100, "how many nodes")
	flag.Float64Var(&o.Requested, "requested", 0.7, "which part of the CPU is requested")
	flag.Float64Var(&o.Use, "use", 1.75, "how many times more of what they request pods use than those of hack/compare")
	flag.Float64Var(&o.ProfileError, "profile-error", 0.2, "how far profiles are off: σ of the logarithms of loadings")
	flag.IntVar(&o.hours, "hours", hours, "how many hours of the day, from its beginning")
	flag.StringVar(&o.budgets, "budgets", "1,10,100", "the budgets of Loadline, by commas: changes an hour, 0 for as many as help")
	flag.StringVar(&o.remedies, "remedies", ".", "a regular expression for the names of the remedies to compare; doing nothing is always one")
	flag.StringVar(&o.descheduler, "descheduler", "", "path of the descheduler; empty leaves it out")
	flag.IntVar(&o.simulate, "simulate-every", 6, "every how many hours the simulation judges, too; 0 for never")
	flag.Float64Var(&o.precision, "precision", 0.03, "the standard error of simulated dilations that is small enough, as a fraction")
	flag.StringVar(&o.output, "o", "table", "table or json")
	flag.StringVar(&o.out, "out", "out/rebalance", "folder for the chart, and for what is known after each remedy")
	flag.Parse()
	if err := run(&o); err != nil {
		fmt.Fprintln(os.Stderr, "Error:", err)
		os.Exit(1)
	}
}

func run(o *options) error {
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
	defer stop()
	c, err := newComparer(o, comparison.NewProgress(os.Stderr))
	if err != nil {
		return err
	}
	for seed := 1; seed <= o.seeds && err == nil; seed++ {
		err = c.compare(ctx, uint64(seed))
	}
	return errors.Join(err, c.show(os.Stdout)) // of the seeds that are done
}

func (o *options) validate() error {
	switch {
	case flag.NArg() > 0:
		return fmt.Errorf("argument %q: there are only flags", flag.Arg(0))
	case o.seeds < 1:
		return fmt.Errorf("--seeds: %d is not at least 1", o.seeds)
	case o.hours < 1 || o.hours > hours:
		return fmt.Errorf("--hours: %d is not from 1 to %d", o.hours, hours)
	case o.simulate < 0:
		return fmt.Errorf("--simulate-every: %d is negative", o.simulate)
	case !(o.precision > 0 && o.precision <= 0.1):
		return fmt.Errorf("--precision: %v is not above 0 and at most 0.1", o.precision)
	case o.output != "table" && o.output != "json":
		return fmt.Errorf("-o: %q is neither table nor json", o.output)
	}
	return o.Validate()
}

// contender is a remedy with its name.
type contender struct {
	name string
	remedy
}

// contenders returns the remedies to compare, the first of which is to do nothing.
func (o *options) contenders() ([]contender, error) {
	chosen, err := regexp.Compile(o.remedies)
	if err != nil {
		return nil, fmt.Errorf("--remedies: %w", err)
	}
	var others []contender
	if o.descheduler != "" {
		others = deschedulers(o.descheduler)
	}
	for _, kind := range loadlineKinds {
		for _, text := range strings.FieldsFunc(o.budgets, func(r rune) bool { return r == ',' }) {
			budget, err := strconv.Atoi(text)
			if err != nil || budget < 0 {
				return nil, fmt.Errorf("--budgets: %q is not a number of at least 0", text)
			}
			others = append(others, contender{kind.named(budget), &loadline{budget, kind.actions}})
		}
	}
	all := []contender{{"nothing", nothing{}}}
	for _, c := range others {
		if chosen.MatchString(c.name) {
			all = append(all, c)
		}
	}
	return all, nil
}
