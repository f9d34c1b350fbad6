package main

import (
	"errors"
	"fmt"
	"math/rand/v2"
	"time"

	"github.com/spf13/cobra"
)

// quietOptions are the flags of quiet.
type quietOptions struct {
	dir       string
	intervals int
	seed      uint64
	patience  time.Duration

	pressureOnly bool
}

func quietCommand() *cobra.Command {
	o := quietOptions{}
	c := &cobra.Command{
		Use:   "quiet",
		Short: "Count false findings on a disk that is little used (needs Linux and root)",
		Args:  cobra.NoArgs,
		RunE: func(c *cobra.Command, _ []string) error {
			const most = 1_000_000
			if o.intervals < 1 || o.intervals > most {
				return fmt.Errorf("--intervals: %d is not from 1 to %d", o.intervals, most)
			}
			if o.patience < 0 {
				return fmt.Errorf("--patience: %v is negative", o.patience)
			}
			if o.dir == "" {
				return errors.New("--dir: is empty: want the name of a folder")
			}
			return quiet(c.Context(), o, c.OutOrStdout(), c.ErrOrStderr())
		},
	}
	f := c.Flags()
	f.StringVar(&o.dir, "dir", "/var/tmp", "a `folder` on the disk, for files of 1.3 GB that are deleted at the end")
	f.IntVar(&o.intervals, "intervals", 1000, "how many intervals of a second to judge, those of each of two pods")
	f.Uint64Var(&o.seed, "seed", 1, "seed of the pairs of pods")
	pressureFlag(f, &o.pressureOnly)
	f.DurationVar(&o.patience, "patience", 30*time.Second, "how long a pair waits until the machine does nothing else")
	return c
}

// drawQuiet draws two jobs that wait for each of their operations, and use the disk for a tenth of the time or so.
func drawQuiet(r *rand.Rand) []spec {
	kinds := []spec{
		{Operation: read, Access: random, Cache: direct},
		{Operation: read, Access: random, Cache: buffered},
		{Operation: write, Access: random, Cache: direct},
		{Operation: write, Access: random, Cache: direct, Sync: dsync},
	}
	jobs := make([]spec, 2)
	for i := range jobs {
		s := kinds[r.IntN(len(kinds))]
		s.Bytes, s.FileBytes, s.Depth, s.Seed = unit<<(2*r.IntN(3)), fileBytes, 1, r.Uint64()
		s.Think = 0.004 + 0.008*r.Float64()
		jobs[i] = s
	}
	return jobs
}

// claim is what is said of a pod in an interval, and what it did.
type claim struct {
	pod int
	// dilation is that which is said, and first the pod that is named first as its cause, -1 for none.
	dilation float64
	first    int
	// added is what disks are said to add to its dilation, and neighbour what neighbours add there.
	added, neighbour float64
	// units are the operations that it did, latency is for how long these were under way by its own clock, and cycle the time of its threads.
	units   int64
	latency float64
	cycle   float64
}

// quietLatency returns how long an operation of a pod takes by its own clock: the median of all intervals.
func quietLatency(all []claim, pod int) float64 {
	var each []float64
	for i := range all {
		if c := &all[i]; c.pod == pod && c.units > 0 {
			each = append(each, c.latency/float64(c.units))
		}
	}
	if len(each) == 0 {
		return 0
	}
	return quantile(each, 0.5)
}

// tally counts claims.
type tally struct{ intervals, slowed, said, false, neighbours int }

// slowedInTruth is how much slower a pod must be by its own clock for a finding to be true: half of what makes one, since its own clock
// varies, too.
const slowedInTruth = (victim - 1) / 2

// add counts the findings about one pair of pods, and those of them that are false.
func (t *tally) add(all []claim) {
	for i := range all {
		c := &all[i]
		alone := float64(c.units) * quietLatency(all, c.pod)
		longer := (c.latency - alone) / max(1e-9, c.cycle-(c.latency-alone))
		t.intervals++
		if longer >= slowedInTruth {
			t.slowed++
		}
		if c.added < victim-1 {
			continue
		}
		t.said++
		if longer < slowedInTruth {
			t.false++
			if c.neighbour >= victim-1 {
				t.neighbours++
			}
		}
	}
}

func (t *tally) String() string {
	return fmt.Sprintf("%d intervals: %d findings at the disk, of which %d are false (%.1f %% of the intervals), %d of these with a neighbour; slowed by %.2f or more in %d",
		t.intervals, t.said, t.false, 100*float64(t.false)/float64(max(1, t.intervals)), t.neighbours, 1+slowedInTruth, t.slowed)
}
