package main

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"math/rand/v2"
	"os"
	"os/exec"
	"runtime"
	"slices"
	"time"

	"loadline.dev/loadline/pkg/model/fairshare"
)

const (
	// startup is how long the workers may take until they are ready.
	startup = 300 * time.Millisecond
	// controlTime is how long a control run takes.
	controlTime = 900 * time.Millisecond
)

// aRun is one run of a setting.
type aRun struct {
	setting string
	seed    uint64
	factors []factors // per workload
	// before and after are the dilation of a lone workload in control runs around the
	// run; stretch is that of the run itself: how long there were jobs, relative to
	// the CPU time that they got. With a core of their own all are 1.
	before, after, stretch float64
	undisturbed            bool // neither control run is above the limit
}

// bench is where to measure.
type bench struct {
	hierarchy hierarchy
	core      int
	program   string
}

func newBench(core int) (*bench, error) {
	mounts, err := os.ReadFile("/proc/self/mounts")
	if err != nil {
		return nil, fmt.Errorf("looking for cgroups: %w", err)
	}
	h, err := findHierarchy(string(mounts))
	if err != nil {
		return nil, err
	}
	program, err := os.Executable()
	if err != nil {
		return nil, err
	}
	return &bench{h, core, program}, nil
}

// measureAll measures the settings in turn, round by round, until there are enough
// undisturbed runs of each. It returns all runs, those before an error, too.
func measureAll(ctx context.Context, o *options, chosen []setting, log io.Writer) ([]aRun, error) {
	b, err := newBench(o.core)
	if err != nil {
		return nil, err
	}
	var all []aRun
	good := map[string]int{}
	for round := range o.rounds {
		for i, s := range chosen {
			if good[s.name] >= o.repetitions {
				continue
			}
			seed := uint64(round*len(chosen) + i + 1)
			r, err := b.measure(ctx, s, o, seed, log)
			if ctx.Err() != nil {
				return all, fmt.Errorf("interrupted after %d runs", len(all))
			}
			if err != nil {
				return all, fmt.Errorf("%s: %w", s.name, err)
			}
			verdict := "disturbed"
			if r.undisturbed {
				verdict = "counts"
				good[s.name]++
			}
			fmt.Fprintf(log, "%-20s round %d: control %.3f and %.3f, stretch %.3f: %s\n", s.name, round+1, r.before, r.after, r.stretch, verdict)
			all = append(all, *r)
		}
	}
	for _, s := range chosen {
		if good[s.name] < o.repetitions {
			err = errors.Join(err, fmt.Errorf("%s: %d of %d runs were undisturbed; wanted were %d", s.name, good[s.name], o.rounds, o.repetitions))
		}
	}
	return all, err
}

// measure makes one run of a setting, between two control runs. It waits a while for the
// first of these to be undisturbed.
func (b *bench) measure(ctx context.Context, s setting, o *options, seed uint64, log io.Writer) (*aRun, error) {
	before, err := b.awaitQuiet(ctx, o, log)
	if err != nil {
		return nil, err
	}
	jobs := arrivals(s, o.duration, rand.New(rand.NewPCG(seed, 0)))
	took, err := b.carryOut(ctx, s.root, jobs)
	if err != nil {
		return nil, err
	}
	after, err := b.control(ctx)
	if err != nil {
		return nil, err
	}
	r := &aRun{setting: s.name, seed: seed, before: before, after: after, stretch: stretch(jobs, took)}
	r.undisturbed = max(r.before, r.after) <= o.limit
	r.factors = compare(s, jobs, took, o.duration/10, r.stretch)
	return r, nil
}

// awaitQuiet makes control runs until one is undisturbed or patience ends, and returns
// the dilation in the last one.
func (b *bench) awaitQuiet(ctx context.Context, o *options, log io.Writer) (float64, error) {
	until := time.Now().Add(o.patience)
	for waiting := false; ; waiting = true {
		dilation, err := b.control(ctx)
		if err != nil || dilation <= o.limit || time.Now().After(until) {
			return dilation, err
		}
		if !waiting {
			fmt.Fprintf(log, "control %.3f: waiting for others to leave core %d alone, until %s\n", dilation, b.core, until.Format(time.TimeOnly))
		}
	}
}

// control returns the dilation of a lone workload.
func (b *bench) control(ctx context.Context) (float64, error) {
	jobs := [][]job{evenly(controlTime)}
	took, err := b.carryOut(ctx, &fairshare.Group{Children: []*fairshare.Group{workload("alone", 1, 1.0/3)}}, jobs)
	if err != nil {
		return 0, fmt.Errorf("control run: %w", err)
	}
	return stretch(jobs, took), nil
}

// carryOut lets processes in cgroups do the jobs, and returns how long each took.
func (b *bench) carryOut(ctx context.Context, root *fairshare.Group, jobs [][]job) (took [][]time.Duration, err error) {
	groups, err := makeGroups(b.hierarchy, root)
	defer func() { err = errors.Join(err, groups.remove()) }()
	if err != nil {
		return nil, err
	}
	ctx, cancel := context.WithCancel(ctx)
	workers, err := b.start(ctx, groups, len(jobs))
	if err == nil {
		err = begin(workers, jobs)
	}
	if err != nil {
		cancel()
	}
	defer cancel()
	took = make([][]time.Duration, len(jobs))
	for w, worker := range workers {
		ended := worker.command.Wait()
		if ended == nil {
			ended = json.Unmarshal(worker.output.Bytes(), &took[w])
		}
		if ended == nil && len(took[w]) != len(jobs[w]) {
			ended = fmt.Errorf("did %d jobs of %d", len(took[w]), len(jobs[w]))
		}
		if ended != nil {
			err = errors.Join(err, fmt.Errorf("worker %d: %w: %s", w, ended, worker.complaints.Bytes()))
		}
	}
	return took, err
}

// worker is a process that stands for a workload.
type worker struct {
	command            *exec.Cmd
	input              io.WriteCloser
	output, complaints bytes.Buffer
}

// start starts workers on the core, each in its cgroup. It returns those that run, also
// with an error.
func (b *bench) start(ctx context.Context, groups *cgroups, n int) ([]*worker, error) {
	runtime.LockOSThread()
	defer runtime.UnlockOSThread()
	var workers []*worker
	err := onCore(b.core, func() error {
		for i := range n {
			w := &worker{command: exec.CommandContext(ctx, b.program, workerArgument)}
			w.command.Env = append(os.Environ(), "GOMAXPROCS=1", "GODEBUG=asyncpreemptoff=1") // the core is for the jobs
			w.command.Stdout, w.command.Stderr = &w.output, &w.complaints
			var err error
			if w.input, err = w.command.StdinPipe(); err != nil {
				return err
			}
			if err := w.command.Start(); err != nil {
				return err
			}
			workers = append(workers, w)
			if err := groups.enter(i, w.command.Process.Pid); err != nil {
				return err
			}
		}
		return nil
	})
	return workers, err
}

// begin gives the workers their jobs.
func begin(workers []*worker, jobs [][]job) error {
	t, err := now()
	if err != nil {
		return err
	}
	for i, w := range workers {
		if err := errors.Join(json.NewEncoder(w.input).Encode(plan{t + startup, jobs[i]}), w.input.Close()); err != nil {
			return fmt.Errorf("giving worker %d its jobs: %w", i, err)
		}
	}
	return nil
}

// stretch returns how long there was a job, relative to the CPU time of all. That is 1
// if a worker runs whenever there is work, in any order, and no other process does.
func stretch(jobs [][]job, took [][]time.Duration) float64 {
	type span struct{ from, to time.Duration }
	var spans []span
	work := time.Duration(0)
	for w := range jobs {
		for k, j := range jobs[w] {
			spans = append(spans, span{j.Arrival, j.Arrival + took[w][k]})
			work += j.Demand
		}
	}
	slices.SortFunc(spans, func(a, b span) int { return int(a.from - b.from) })
	busy, until := time.Duration(0), time.Duration(0)
	for _, s := range spans {
		busy += max(0, s.to-max(s.from, until))
		until = max(until, s.to)
	}
	return busy.Seconds() / work.Seconds()
}
