package main

import (
	"fmt"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"loadline.dev/loadline/pkg/probe"
	"loadline.dev/loadline/pkg/probe/result"
)

func newLoad() *cobra.Command {
	var (
		to              destination
		at              place
		o               probe.LoadOptions
		demands, speeds pairs
		distribution    string
	)
	command := &cobra.Command{
		Use:   "load",
		Short: "Run a synthetic job of a known loading vector",
		Long: `Runs a synthetic job: each round does the work of each demand in turn, then idles. A
demand is work that takes that long with no other job on the node, so the job's loading of
a resource is its demand there in proportion to the whole round.`,
		Example: `  # Loading 0.4 of a CPU, 0.4 of the disk, 0.2 idle, for 20 seconds
  loadline-probe load --demand cpu=40ms,disk-read=40ms --idle 20ms --rounds 200 --dir /var/tmp

  # The same work every time, whatever else is on the node
  loadline-probe load --demand cpu=50ms --rounds 100 --units-per-second cpu=4900

  # Rounds that differ, the same ones every time
  loadline-probe load --demand cpu=20ms --idle 20ms --rounds 250 --distribution exponential --seed 7`,
		Args: cobra.NoArgs,
		RunE: func(command *cobra.Command, _ []string) error {
			quiet()
			o.Distribution = probe.Distribution(distribution)
			var err error
			if o.Demands, err = readDemands(demands, speeds, &at); err != nil {
				return err
			}
			return reporting(command, &to, func() (result.Load, error) { return probe.Synthesize(command.Context(), o) })
		},
	}
	flags := command.Flags()
	flags.Var(&demands, "demand", "Service demands of a round, in order, as JOB=DURATION with commas between them.")
	must(command.MarkFlagRequired("demand"))
	flags.Var(&speeds, "units-per-second", "Units of a job that a second of demand is, as JOB=NUMBER. Those not given are measured at the start.")
	flags.DurationVar(&o.Idle, "idle", 0, "How long a round is idle.")
	flags.IntVar(&o.Rounds, "rounds", 0, "How many rounds to do.")
	must(command.MarkFlagRequired("rounds"))
	flags.StringVar(&distribution, "distribution", string(probe.Fixed), "Whether the demands and the idle time are the same every round (fixed) or the means of an exponential distribution (exponential).")
	flags.Uint64Var(&o.Seed, "seed", 1, "Seed of the draws of an exponential distribution.")
	flags.TimeVar(&o.StartAt, "start-at", time.Time{}, []string{time.RFC3339Nano}, "When to begin, so that several jobs begin at once, such as 2026-07-01T12:00:00Z. At once by default, or if that has passed.")
	at.addTo(command)
	to.addTo(command)
	return command
}

// readDemands joins demands and speeds.
func readDemands(demands, speeds pairs, at *place) (found []probe.SyntheticDemand, err error) {
	for _, pair := range demands {
		d := probe.SyntheticDemand{Job: at.job(pair.job)}
		if d.PerRound, err = time.ParseDuration(pair.value); err != nil {
			return nil, fmt.Errorf("demand: %s=%s: want a duration such as 40ms", pair.job, pair.value)
		}
		found = append(found, d)
	}
	for _, pair := range speeds {
		speed, err := strconv.ParseFloat(pair.value, 64)
		if err != nil || !(speed > 0) {
			return nil, fmt.Errorf("units-per-second: %s=%s: want a number above 0", pair.job, pair.value)
		}
		i := slices.IndexFunc(found, func(d probe.SyntheticDemand) bool { return d.Job.Name == pair.job })
		if i < 0 {
			return nil, fmt.Errorf("units-per-second: %s: there is no demand of that name", pair.job)
		}
		for ; i < len(found); i++ {
			if found[i].Job.Name == pair.job {
				found[i].UnitsPerSecond = speed
			}
		}
	}
	return found, nil
}

// pairs are a flag's values such as cpu=40ms,disk-read=40ms, in order.
type pairs []pair

type pair struct{ job, value string }

// String returns the pairs as users write them.
func (p *pairs) String() string {
	var texts []string
	for _, pair := range *p {
		texts = append(texts, pair.job+"="+pair.value)
	}
	return strings.Join(texts, ",")
}

// Set takes more pairs.
func (p *pairs) Set(text string) error {
	for part := range strings.SplitSeq(text, ",") {
		job, value, ok := strings.Cut(part, "=")
		if !ok || !slices.Contains(result.Jobs(), job) {
			return fmt.Errorf("%q is not JOB=VALUE with a job of %s", part, strings.Join(result.Jobs(), ", "))
		}
		*p = append(*p, pair{job, value})
	}
	return nil
}

// Type names the kind of value.
func (*pairs) Type() string { return "job=value,..." }
