package main

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"math/rand/v2"
	"os"
	"path/filepath"
	"runtime"
	"strings"

	"github.com/spf13/cobra"

	"loadline.dev/loadline/hack/recording"
)

func jobCommand() *cobra.Command {
	var text, file string
	c := &cobra.Command{
		Use:   "job",
		Short: "Be a job of a mix: record starts them",
		Args:  cobra.NoArgs,
		RunE: func(c *cobra.Command, _ []string) error {
			s := spec{}
			if err := json.Unmarshal([]byte(text), &s); err != nil {
				return fmt.Errorf("--spec: %w", err)
			}
			return runJob(c.InOrStdin(), c.OutOrStdout(), s, file)
		},
	}
	c.Flags().StringVar(&text, "spec", "", "what it does, in `JSON`")
	c.Flags().StringVar(&file, "file", "", "the `file` that it reads or writes")
	return c
}

// mayRecord returns why this user cannot make control groups.
func mayRecord() error {
	if os.Geteuid() != 0 {
		return errors.New("control groups are made by root: run disklab as root")
	}
	return nil
}

// record runs the mixes, and writes the recording after each.
func record(ctx context.Context, o options, out, log io.Writer) (err error) {
	if err := mayRecord(); err != nil {
		return err
	}
	if err := os.MkdirAll(filepath.Dir(o.out), 0o755); err != nil {
		return err
	}
	l, err := openLab(ctx, o.dir, o, log)
	defer func() { err = errors.Join(err, l.close()) }()
	if err != nil {
		return err
	}
	r := newRecorded(l, o)
	if o.again {
		r = &recorded{}
		if err := recording.Load(o.out, r); err != nil {
			return err
		}
		o.seed = r.Seed
	}
	if o.sweep && len(r.Sweep) == 0 {
		if err := l.sweep(ctx, r); err != nil {
			return err
		}
	}
	if o.sustain > 0 && len(r.Sustained) == 0 {
		if err := l.sustain(ctx, r, o.sustain); err != nil {
			return err
		}
	}
	if err := recording.Save(o.out, r); err != nil {
		return err
	}
	for i, m := range draw(o.mixes, o.seed) {
		fmt.Fprintf(log, "%s, %d of %d\n", m.Name, i+1, o.mixes)
		var done mixRecord
		if i < len(r.Mixes) {
			done, err = l.again(ctx, r.Mixes[i])
		} else {
			r.Mixes = append(r.Mixes, mixRecord{})
			done, err = l.mix(ctx, m, o.rounds, rand.New(rand.NewPCG(o.seed, uint64(1000+i))))
		}
		if err != nil {
			return err
		}
		r.Mixes[i] = done
		if err := errors.Join(recording.Save(o.out, r), showMix(log, done)); err != nil {
			return err
		}
	}
	return show(out, r)
}

// newRecorded returns a recording of this machine, without any run.
func newRecorded(l *lab, o options) *recorded {
	return &recorded{
		Kernel: kernel(), Processors: runtime.NumCPU(), Device: l.number, Scheduler: scheduler(l.number), Seed: o.seed, Seconds: float64(o.seconds),
	}
}

// again makes the noisy runs of a mix again, and keeps those that are not.
func (l *lab) again(ctx context.Context, m mixRecord) (mixRecord, error) {
	for i, noisy := range m.Runs {
		if !noisy.Noisy {
			continue
		}
		one, err := l.run(ctx, m.Jobs, noisy.Jobs)
		if err != nil {
			return m, err
		}
		if !one.Noisy {
			m.Runs[i] = one
		}
	}
	// Which victims there are may be another matter now.
	m.Truth = judge(len(m.Jobs), m.Runs)
	return m, nil
}

// mix makes all runs of a mix.
func (l *lab) mix(ctx context.Context, m mix, rounds int, r *rand.Rand) (mixRecord, error) {
	done := mixRecord{mix: m}
	all := make([]int, len(m.Jobs))
	var planned [][]int
	for i := range all {
		all[i] = i
	}
	for range rounds {
		planned = append(planned, all)
		for i := range all {
			planned = append(planned, []int{i})
		}
	}
	r.Shuffle(len(planned), func(i, j int) { planned[i], planned[j] = planned[j], planned[i] })
	for _, which := range planned {
		one, err := l.run(ctx, m.Jobs, which)
		if err != nil {
			return done, err
		}
		done.Runs = append(done.Runs, one)
	}
	done.Truth = judge(len(all), done.Runs)
	if len(all) == 2 || !victims(done.Truth) {
		return done, nil
	}
	for _, without := range r.Perm(len(all)) {
		var which []int
		for i := range all {
			if i != without {
				which = append(which, i)
			}
		}
		one, err := l.run(ctx, m.Jobs, which)
		if err != nil {
			return done, err
		}
		done.Runs = append(done.Runs, one)
	}
	done.Truth = judge(len(all), done.Runs)
	return done, nil
}

func victims(all []truth) bool {
	for _, t := range all {
		if t.Dilation >= victim {
			return true
		}
	}
	return false
}

// sweep runs direct jobs of each size, direction and depth by themselves.
func (l *lab) sweep(ctx context.Context, r *recorded) error {
	seconds := l.seconds
	l.seconds = min(l.seconds, 2)
	defer func() { l.seconds = seconds }()
	for _, base := range []spec{
		{Operation: read, Access: random, Cache: direct},
		{Operation: write, Access: random, Cache: direct},
		{Operation: write, Access: random, Cache: direct, Sync: dsync},
	} {
		for bytes := int64(unit); bytes <= maxBytes; bytes *= 4 {
			for _, depth := range []int{1, 4, 32} {
				s := base
				s.Bytes, s.Depth, s.FileBytes = bytes, depth, fileBytes
				one, err := l.run(ctx, []spec{s}, []int{0})
				if err != nil {
					return err
				}
				one.Job, one.Interval, one.Readings, one.Each = &s, nil, nil, nil
				r.Sweep = append(r.Sweep, one)
				fmt.Fprintf(l.log, "%-36s %9.0f/s %9.1f MB/s latency %8.1f µs, cpu %.2f%s\n", s, one.rate(0), one.rate(0)*float64(bytes)/1e6,
					1e6*one.Pods[0].Latency, one.Pods[0].CPU/one.Seconds, mark(one.Noisy))
			}
		}
	}
	return nil
}

// sustain keeps the device busy for some seconds with each of several jobs, small operations and large ones.
func (l *lab) sustain(ctx context.Context, r *recorded, long int) error {
	seconds := l.seconds
	l.seconds = long
	defer func() { l.seconds = seconds }()
	reader := spec{Operation: read, Access: random, Cache: direct, Bytes: unit, Depth: 1, FileBytes: fileBytes}
	pinned, thinking, many, large := reader, reader, reader, reader
	pinned.Pinned = true
	thinking.Bytes, thinking.Think = 64<<10, 0.0005
	alsoPinned := thinking
	alsoPinned.Pinned = true
	many.Depth = 8
	large.Bytes, large.Depth = maxBytes, 4
	writer, syncing := large, reader
	writer.Operation = write
	syncing.Operation, syncing.Sync = write, dsync
	for _, s := range []spec{reader, pinned, thinking, alsoPinned, syncing, many, large, writer} {
		one, err := l.run(ctx, []spec{s}, []int{0})
		if err != nil {
			return err
		}
		of := sustained{Job: s, Pod: one.Pods[0], Seconds: one.Seconds, Noise: one.Noise}
		for _, row := range one.Each {
			of.Units = append(of.Units, row[3])
		}
		r.Sustained = append(r.Sustained, of)
		fmt.Fprintf(l.log, "%s, per second: %.0f%s, io.pressure some at %.2f of the time blocked\n", s, of.Units, mark(one.Noisy),
			of.Pod.Disk.Some/of.Pod.Blocked)
	}
	return nil
}

func kernel() string {
	text, err := os.ReadFile("/proc/sys/kernel/osrelease")
	if err != nil {
		return ""
	}
	return strings.TrimSpace(string(text))
}

// scheduler returns the scheduler of requests of a device, such as none.
func scheduler(number string) string {
	text, err := os.ReadFile("/sys/dev/block/" + number + "/queue/scheduler")
	if err != nil {
		return ""
	}
	_, after, _ := strings.Cut(string(text), "[")
	name, _, _ := strings.Cut(after, "]")
	return name
}
