package main

import (
	"context"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"syscall"
	"time"

	"loadline.dev/loadline/pkg/probe"
	"loadline.dev/loadline/pkg/probe/result"
)

// usage is what a run of a program took on average.
type usage struct{ wall, cpu time.Duration }

// errNoRun is the error of a slice in which no run of a program ended.
var errNoRun = errors.New("no run of the program began and ended in the slice: give it more")

// onCore returns a command on one processor, in a process group that ends with the context.
func onCore(ctx context.Context, core int, command ...string) *exec.Cmd {
	c := exec.CommandContext(ctx, "taskset", append([]string{"-c", strconv.Itoa(core)}, command...)...)
	c.Env = append(os.Environ(), "LC_ALL=C")
	c.SysProcAttr = &syscall.SysProcAttr{Setpgid: true}
	c.Cancel = func() error { return syscall.Kill(-c.Process.Pid, syscall.SIGKILL) }
	return c
}

// repeat runs a program over and over on a processor until the context ends, and returns what those took that ended
// before.
func repeat(ctx context.Context, p *program, core int) (usage, error) {
	var all usage
	for runs := time.Duration(0); ; runs++ {
		c := onCore(ctx, core, p.command...)
		var said strings.Builder
		c.Stderr = &said
		began := time.Now()
		err := c.Run()
		if ctx.Err() != nil {
			return all.per(runs, p)
		}
		if err != nil {
			return usage{}, fmt.Errorf("%s: %w: %s", p.name, err, said.String())
		}
		all.wall += time.Since(began)
		all.cpu += c.ProcessState.UserTime() + c.ProcessState.SystemTime()
	}
}

// per returns what each of some runs took.
func (u usage) per(runs time.Duration, p *program) (usage, error) {
	if runs == 0 {
		return usage{}, fmt.Errorf("%s: %w", p.name, errNoRun)
	}
	return usage{u.wall / runs, u.cpu / runs}, nil
}

// bubble is a standard job that presses.
type bubble struct {
	job      string
	pressure float64
	size     string // of what it touches in the last-level cache, as for --size; the job's own if empty
}

// press runs a bubble on a processor. It calls begun with the process id, if that is not nil.
func press(ctx context.Context, prober string, b bubble, core int, duration time.Duration, begun func(pid int)) (result.Run, error) {
	command := []string{
		prober, "run", "--job", b.job, "--pressure", strconv.FormatFloat(b.pressure, 'g', -1, 64),
		"--duration", duration.String(), "--result", "/dev/stdout",
	}
	switch {
	case b.job == result.MemoryBandwidth:
		command = append(command, "--size", streamed)
	case b.job == result.LLC && b.size != "":
		command = append(command, "--size", b.size)
	}
	c := onCore(ctx, core, command...)
	var said, complained strings.Builder
	c.Stdout, c.Stderr = &said, &complained
	if err := c.Start(); err != nil {
		return result.Run{}, err
	}
	if begun != nil {
		begun(c.Process.Pid)
	}
	if err := c.Wait(); err != nil {
		return result.Run{}, fmt.Errorf("%s: %w: %s", b.job, err, complained.String())
	}
	return result.ParseRun(said.String())
}

// settle is how long a bubble runs before and after what is measured beside it: its own pace alone is found there.
// loading is how long it takes at most to have its memory.
const (
	settle  = 400 * time.Millisecond
	loading = time.Second
	// streamed is how much memory a bubble of memory bandwidth has: several times a last-level cache, and made in 0.1 s.
	streamed = "128Mi"
)

// sample is how long a process had run at a time of [probe.Now], in nanoseconds.
type sample struct{ at, ran int64 }

// sampleOf samples a process. Other programs on its processors do not count.
func sampleOf(pid int) (s sample, err error) {
	if s.at, err = probe.Now(); err != nil {
		return s, err
	}
	files, err := filepath.Glob(fmt.Sprintf("/proc/%d/task/*/schedstat", pid))
	if err != nil {
		return s, err
	}
	for _, file := range files {
		content, err := os.ReadFile(file)
		if err != nil {
			return s, err
		}
		ran, _, _ := strings.Cut(string(content), " ")
		nanos, err := strconv.ParseInt(ran, 10, 64)
		if err != nil {
			return s, fmt.Errorf("%s: %w", file, err)
		}
		s.ran += nanos
	}
	return s, nil
}

// perUnit returns the seconds of processor time that a unit of a run took between two samples of its process.
func perUnit(run result.Run, from, to sample) (seconds float64, ok bool) {
	rate, ok := run.Series.Rate(from.at, to.at)
	if !ok || rate <= 0 {
		return 0, false
	}
	return float64(to.ran-from.ran) / float64(to.at-from.at) / rate, true
}

// beside runs a bubble on the second processor, and something on the first one meanwhile, between calls of mark. It
// returns the processor time of a unit of the bubble without it and beside it, in seconds.
func beside(ctx context.Context, prober string, b bubble, slice time.Duration, do func(mark func() error) error) (alone, with float64, err error) {
	type pressed struct {
		run result.Run
		err error
	}
	done, begun := make(chan pressed, 1), make(chan int, 1)
	go func() {
		run, err := press(ctx, prober, b, 1, slice+2*loading+4*settle, func(pid int) { begun <- pid })
		if err != nil {
			close(begun)
		}
		done <- pressed{run, err}
	}()
	var samples []sample
	if pid := <-begun; pid != 0 {
		mark := func() error {
			s, err := sampleOf(pid)
			samples = append(samples, s)
			return err
		}
		for _, step := range []func() error{
			func() error { return wait(ctx, loading) }, mark, func() error { return wait(ctx, settle) },
			func() error { return do(mark) }, func() error { return wait(ctx, settle) }, mark,
		} {
			if err = step(); err != nil {
				break
			}
		}
	}
	p := <-done
	if err = errors.Join(err, p.err); err != nil {
		return 0, 0, err
	}
	before, ok1 := perUnit(p.run, samples[0], samples[1])
	with, ok2 := perUnit(p.run, samples[1], samples[2])
	after, ok3 := perUnit(p.run, samples[2], samples[3])
	if !ok1 || !ok2 || !ok3 {
		return 0, 0, fmt.Errorf("%s: did not run all the time that it was measured in", b.job)
	}
	return (before + after) / 2, with, nil
}

// wait waits for a time, or for the end of the context.
func wait(ctx context.Context, t time.Duration) error {
	select {
	case <-time.After(t):
		return nil
	case <-ctx.Done():
		return ctx.Err()
	}
}

// during runs a program on the first processor for a slice, between two marks.
func during(ctx context.Context, p *program, slice time.Duration, mark func() error) (usage, error) {
	if err := mark(); err != nil {
		return usage{}, err
	}
	limited, cancel := context.WithTimeout(ctx, slice)
	defer cancel()
	used, err := repeat(limited, p, 0)
	return used, errors.Join(err, ctx.Err(), mark())
}
