//go:build linux && (amd64 || arm64)

package probe

import (
	"context"
	"errors"
	"math"
	"net"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"slices"
	"strconv"
	"strings"
	"sync"
	"testing"
	"time"

	"loadline.dev/loadline/pkg/probe/result"
)

// childDir is the environment variable that makes the test a process with an open scratch
// file in a directory, waiting to be killed.
const childDir = "LOADLINE_PROBE_TEST_DIR"

func TestMain(m *testing.M) {
	if dir := os.Getenv(childDir); dir != "" {
		if _, err := openScratch(dir, MinSize); err != nil {
			panic(err)
		}
		if _, err := os.Stdout.WriteString("open\n"); err != nil {
			panic(err)
		}
		select {}
	}
	os.Exit(m.Run())
}

// disk returns an empty directory on a disk, or skips the test.
func disk(t *testing.T) string {
	t.Helper()
	dir := t.TempDir()
	s, err := openScratch(dir, MinSize)
	if err != nil {
		t.Skipf("no disk to test on: %v", err)
	}
	if err := s.close(); err != nil {
		t.Fatal(err)
	}
	return dir
}

// wantEmpty fails unless there is nothing in a directory.
func wantEmpty(t *testing.T, dir string) {
	t.Helper()
	left, err := os.ReadDir(dir)
	if err != nil || len(left) > 0 {
		t.Errorf("%s holds %v, %v", dir, left, err)
	}
}

// listen listens on a free port of this machine.
func listen(t *testing.T) net.Listener {
	t.Helper()
	listener, err := new(net.ListenConfig).Listen(t.Context(), "tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = listener.Close() })
	return listener
}

// sink starts a sink and returns its address.
func sink(t *testing.T) string {
	t.Helper()
	listener := listen(t)
	ended := make(chan error, 1)
	ctx, cancel := context.WithCancel(context.Background()) //nolint:usetesting // ends after the test's own
	go func() { ended <- Sink(ctx, listener, 0) }()
	t.Cleanup(func() {
		cancel()
		if err := <-ended; err != nil {
			t.Errorf("the sink: %v", err)
		}
	})
	return listener.Addr().String()
}

func TestEveryJobDoesTheUnitsThatAreAskedForAndLeavesNothing(t *testing.T) {
	for _, name := range result.Jobs() {
		t.Run(name, func(t *testing.T) {
			job := Job{Name: name, Size: MinSize}
			switch name {
			case result.DiskRead, result.DiskWrite:
				job.Dir = disk(t)
				defer wantEmpty(t, job.Dir)
			case result.Network:
				job.Peer = sink(t)
			}
			got, err := Run(t.Context(), RunOptions{Job: job, Intensity: 2, Duration: time.Minute, Units: 20})
			if err != nil {
				t.Fatal(err)
			}
			if got.Units != 20 || got.Ended != result.EndedUnits || got.Job != name || got.Intensity != 2 || got.CPUNanos <= 0 || got.BootID == "" {
				t.Errorf("%+v", got)
			}
			encoded, err := result.Encode(got)
			if err != nil {
				t.Fatal(err)
			}
			if _, err := result.ParseRun(string(encoded)); err != nil {
				t.Errorf("%s: %v", encoded, err)
			}
		})
	}
}

func TestAJobEndsWhenItsTimeIsOver(t *testing.T) {
	got, err := Run(t.Context(), RunOptions{Job: Job{Name: result.CPU}, Intensity: 1, Duration: 300 * time.Millisecond})
	if err != nil {
		t.Fatal(err)
	}
	from, to := got.Series.Span()
	if got.Ended != result.EndedDuration || got.Units == 0 || from != got.Begin || time.Duration(to-from) < 300*time.Millisecond {
		t.Errorf("ended by %s after %d units, with samples for %v", got.Ended, got.Units, time.Duration(to-from))
	}
	if rate, ok := got.Series.Rate(from, to); !ok || rate <= 0 {
		t.Errorf("%v units per second, %v", rate, ok)
	}
}

func TestAJobThatIsToldToEndReportsWhatItDid(t *testing.T) {
	ctx, cancel := context.WithCancel(t.Context())
	units := 0
	w, err := work(ctx, []unit{func() error {
		if units++; units == 3 {
			cancel()
			<-ctx.Done()
		}
		return nil
	}}, limits{duration: time.Minute}, sampling)
	if err != nil || w.ended != result.EndedTerminated || w.units < 3 {
		t.Errorf("ended by %s after %d units, %v", w.ended, w.units, err)
	}
}

func TestTheFirstErrorOfAWorkerEndsAll(t *testing.T) {
	broken := errors.New("broken")
	fine := func() error { return nil }
	if _, err := work(t.Context(), []unit{fine, func() error { return broken }}, limits{duration: time.Minute}, sampling); !errors.Is(err, broken) {
		t.Errorf("error = %v", err)
	}
}

func TestTwoWorkersTogetherDoNoMoreThanTheirLimit(t *testing.T) {
	var done [2]int
	units := make([]unit, 2)
	for i := range units {
		units[i] = func() error { done[i]++; return nil }
	}
	w, err := work(t.Context(), units, limits{duration: time.Minute, units: 1001}, sampling)
	if err != nil || w.units != 1001 || done[0]+done[1] != 1001 {
		t.Errorf("%d units counted, %v done, %v", w.units, done, err)
	}
}

func TestAFileOfAKilledProcessIsGone(t *testing.T) {
	t.Parallel()
	dir := disk(t)
	child := exec.CommandContext(t.Context(), os.Args[0])
	child.Env = append(os.Environ(), childDir+"="+dir)
	output, err := child.StdoutPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := child.Start(); err != nil {
		t.Fatal(err)
	}
	line := make([]byte, 5)
	if n, err := output.Read(line); string(line[:n]) != "open\n" {
		t.Errorf("the child says %q, %v", line[:n], err)
	}
	wantEmpty(t, dir)
	if err := child.Process.Kill(); err != nil {
		t.Fatal(err)
	}
	if err := child.Wait(); err == nil {
		t.Error("the child was not killed")
	}
	wantEmpty(t, dir)
}

func TestWhatAScratchFileHoldsIsWhatWasWritten(t *testing.T) {
	t.Parallel()
	s, err := openScratch(disk(t), MinSize)
	if err != nil {
		t.Fatal(err)
	}
	defer func() {
		if err := s.close(); err != nil {
			t.Error(err)
		}
	}()
	buffer, err := newBuffer(diskUnit)
	if err != nil {
		t.Fatal(err)
	}
	buffer[0] = 'x'
	if err := errors.Join(s.write(buffer, 3*diskUnit), s.store()); err != nil {
		t.Fatal(err)
	}
	buffer[0] = 'y'
	if err := s.read(buffer, 3*diskUnit); err != nil || buffer[0] != 'x' {
		t.Errorf("reads %q, %v", buffer[0], err)
	}
	wantError(t, s.read(buffer, MinSize), "reading 1048576 bytes at 16777216: it were 0")
	if err := freeBuffer(buffer); err != nil {
		t.Error(err)
	}
}

func TestWrongJobsAreErrorsThatNameTheMistake(t *testing.T) {
	t.Parallel()
	file := filepath.Join(t.TempDir(), "file")
	if err := os.WriteFile(file, nil, 0o600); err != nil {
		t.Fatal(err)
	}
	fine := RunOptions{Job: Job{Name: result.CPU}, Intensity: 1, Duration: time.Second}
	tests := map[string]struct {
		change func(*RunOptions)
		want   string
	}{
		"no such job":            {func(o *RunOptions) { o.Job.Name = "tape" }, "tape: there is no such standard job; they are cpu, disk-read"},
		"no workers":             {func(o *RunOptions) { o.Intensity = 0 }, "intensity: 0 is not from 1 to 256"},
		"too many workers":       {func(o *RunOptions) { o.Intensity = 257 }, "intensity: 257 is not from 1 to 256"},
		"no time":                {func(o *RunOptions) { o.Duration = 0 }, "duration: 0s is not above 0 and at most 1h0m0s"},
		"too much time":          {func(o *RunOptions) { o.Duration = 2 * time.Hour }, "duration: 2h0m0s is not above 0"},
		"a hasty check":          {func(o *RunOptions) { o.Check = time.Millisecond }, "check: 1ms is not from 500ms to 1h0m0s"},
		"a file too large":       {func(o *RunOptions) { o.Job = Job{Name: result.DiskRead, Size: 2 << 30} }, "size: 2147483648 bytes are not from 16 MiB to 1024 MiB"},
		"no such directory":      {func(o *RunOptions) { o.Job = Job{Name: result.DiskRead, Dir: file + "-not"} }, "no such file or directory"},
		"a file for a directory": {func(o *RunOptions) { o.Job = Job{Name: result.DiskWrite, Dir: file} }, "is not a directory"},
		"a disk in memory":       {func(o *RunOptions) { o.Job = Job{Name: result.DiskRead, Dir: "/dev/shm"} }, "choose another directory"},
		"no peer":                {func(o *RunOptions) { o.Job = Job{Name: result.Network} }, "peer: is empty"},
		"a peer with no port":    {func(o *RunOptions) { o.Job = Job{Name: result.Network, Peer: "host"} }, "missing port in address; want host:port"},
		"nobody listens":         {func(o *RunOptions) { o.Job = Job{Name: result.Network, Peer: "127.0.0.1:1"} }, "the sink: dial tcp 127.0.0.1:1"},
	}
	for name, test := range tests {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			o := fine
			test.change(&o)
			_, err := Run(t.Context(), o)
			wantError(t, err, test.want)
		})
	}
}

func TestASinkOfLimitedThroughputServesOneBlockAtATime(t *testing.T) {
	t.Parallel()
	const begin, service = 1000, 10
	s := server{perBlock: service}
	for _, block := range []struct{ comes, served int64 }{
		{0, service}, {0, 2 * service}, {15, 3 * service}, // two wait for those before
		{1000, 1000 + service}, // nothing is saved up
	} {
		if served := s.serve(begin+block.comes) - begin; served != block.served {
			t.Errorf("a block that comes after %d is served after %d, want %d", block.comes, served, block.served)
		}
	}
}

func TestTheThroughputOfASinkIsANumber(t *testing.T) {
	t.Parallel()
	for _, megabits := range []float64{-1, 1e-9, math.NaN(), math.Inf(1)} {
		listener, err := new(net.ListenConfig).Listen(t.Context(), "tcp", "127.0.0.1:0")
		if err != nil {
			t.Fatal(err)
		}
		wantError(t, Sink(t.Context(), listener, megabits), "megabits: ")
		if _, err := listener.Accept(); !errors.Is(err, net.ErrClosed) {
			t.Errorf("the listener is left open: %v", err)
		}
	}
}

func TestASinkThatGoesAwayIsAnError(t *testing.T) {
	t.Parallel()
	listener := listen(t)
	go func() {
		if connection, err := listener.Accept(); err == nil {
			_ = connection.Close()
		}
	}()
	_, err := Run(t.Context(), RunOptions{Job: Job{Name: result.Network, Peer: listener.Addr().String()}, Intensity: 1, Duration: time.Minute})
	wantError(t, err, "the sink")
}

func TestTwoCopiesAreComparedWithOne(t *testing.T) {
	// Units that take no resource at all: two copies do twice as much as one, if the
	// machine lets two threads run.
	nap := func() (unit, error) {
		return func() error {
			now, err := Now()
			if err != nil {
				return err
			}
			return sleepUntil(now + int64(2*time.Millisecond))
		}, nil
	}
	a, b := &workers{newUnit: nap}, &workers{newUnit: nap}
	if err := errors.Join(a.grow(1), b.grow(1)); err != nil {
		t.Fatal(err)
	}
	c, err := compareCopies(t.Context(), a, b, 1, MinCheck)
	if err != nil || c.dilation < 0.5 || c.dilation > 1.5 || c.unitsPerSecond <= 0 {
		t.Errorf("%+v, %v; want a dilation of about 1", c, err)
	}
}

// Beside as many threads of somebody else, comparing one job with two would find 1.5.
func TestJobsOfTheCPUKnowThatTheyKeepItBusyWhoeverElseDoes(t *testing.T) {
	cores := runtime.NumCPU()
	ctx, stop := context.WithCancel(t.Context())
	var others sync.WaitGroup
	for range cores {
		others.Go(func() {
			for spins := 0; ctx.Err() == nil; spins++ {
				runtime.KeepAlive(spins)
			}
		})
	}
	r, err := Run(t.Context(), RunOptions{Job: Job{Name: result.CPU}, Intensity: cores, Duration: 100 * time.Millisecond, Check: MinCheck})
	stop()
	others.Wait()
	if err != nil || r.SelfDilation < 1.9 {
		t.Errorf("two such jobs slow each other down %v times, %v; want twice at least", r.SelfDilation, err)
	}
}

func TestAComparisonInWhichNothingIsDoneIsAnError(t *testing.T) {
	t.Parallel()
	slow := []unit{func() error {
		now, err := Now()
		if err != nil {
			return err
		}
		return sleepUntil(now + int64(50*time.Millisecond))
	}}
	if p, err := findPace(t.Context(), slow, 10*time.Millisecond); err != nil && !errors.Is(err, errTooSlow) || err == nil && p.unitsPerSecond <= 0 {
		t.Errorf("%v, %v", p, err)
	}
}

func TestASyntheticJobDoesTheWorkThatItsDemandsAre(t *testing.T) {
	l, err := Synthesize(t.Context(), LoadOptions{
		Demands: []SyntheticDemand{
			{Job: Job{Name: result.CPU}, PerRound: 25 * time.Millisecond, UnitsPerSecond: 100},
			{Job: Job{Name: result.MemoryBandwidth, Size: MinSize}, PerRound: 10 * time.Millisecond, UnitsPerSecond: 300},
		},
		Idle: time.Millisecond, Rounds: 8,
	})
	if err != nil {
		t.Fatal(err)
	}
	// 2.5 units a round: the halves add up.
	if l.Rounds != 8 || l.Demands[0].Units != 20 || l.Demands[1].Units != 24 || l.Ended != result.EndedUnits {
		t.Errorf("%+v", l)
	}
	if l.IdleNanos != 8e6 || l.IdledNanos < l.IdleNanos || l.Demands[0].Nanos+l.Demands[1].Nanos+l.IdledNanos != l.End-l.Begin {
		t.Errorf("the times do not add up: %+v", l)
	}
	if _, err := result.Encode(l); err != nil {
		t.Error(err)
	}
}

func TestCopiesHaveTheSameBurstsInAnotherOrder(t *testing.T) {
	const rounds, mean = 1000, 10 * time.Millisecond
	bursts := func(seed uint64) []float64 {
		return LoadOptions{Distribution: Exponential, Seed: seed, Rounds: rounds}.bursts(mean, 1)
	}
	first, again, copied := bursts(1), bursts(1), bursts(2)
	if !slices.Equal(first, again) {
		t.Error("the same seed gives another order")
	}
	if slices.Equal(first, copied) {
		t.Error("another seed gives the same order: copies march in step")
	}
	slices.Sort(first)
	slices.Sort(copied)
	if !slices.Equal(first, copied) {
		t.Error("another seed gives other bursts")
	}
	sum, squares := 0.0, 0.0
	for _, b := range first {
		sum += b / rounds
		squares += b * b / rounds
	}
	if math.Abs(sum-float64(mean)) > 1 || math.Abs(squares/sum/sum-2) > 0.05 { // as of an exponential distribution
		t.Errorf("mean %v, mean square %.3f times its square; want %v and 2", time.Duration(sum), squares/sum/sum, mean)
	}
}

func TestASyntheticJobThatIsToldToEndReportsWhatItDid(t *testing.T) {
	ctx, cancel := context.WithCancel(t.Context())
	timer := time.AfterFunc(20*time.Millisecond, cancel)
	defer timer.Stop()
	l, err := Synthesize(ctx, LoadOptions{
		Demands: []SyntheticDemand{{Job: Job{Name: result.CPU}, PerRound: time.Second, UnitsPerSecond: 4000}}, Rounds: 1000,
	})
	if err != nil || l.Ended != result.EndedTerminated || l.Rounds >= 1000 || l.End < l.Begin {
		t.Errorf("%+v, %v", l, err)
	}
}

func TestASyntheticJobWaitsForItsTime(t *testing.T) {
	t.Parallel()
	o := LoadOptions{Demands: []SyntheticDemand{{Job: Job{Name: result.CPU}, PerRound: time.Millisecond, UnitsPerSecond: 1000}}, Rounds: 1}
	const ahead = 200 * time.Millisecond
	o.StartAt = time.Now().Add(ahead)
	before, err := Now()
	if err != nil {
		t.Fatal(err)
	}
	const slack = time.Millisecond // between the two clocks
	if l, err := Synthesize(t.Context(), o); err != nil || l.Begin < before+(ahead-slack).Nanoseconds() {
		t.Errorf("it began at %d, %v; it was %d, and it was to wait for %v", l.Begin, err, before, ahead)
	}
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	o.StartAt = time.Now().Add(time.Minute)
	if _, err := Synthesize(ctx, o); !errors.Is(err, context.Canceled) {
		t.Errorf("error = %v, want that it was told to end", err)
	}
}

func TestWrongSyntheticJobsAreErrorsThatNameTheMistake(t *testing.T) {
	t.Parallel()
	tests := map[string]struct {
		change func(*LoadOptions)
		want   string
	}{
		"no demand":             {func(o *LoadOptions) { o.Demands = nil }, "demand: there is none"},
		"a demand of 0":         {func(o *LoadOptions) { o.Demands[0].PerRound = 0 }, "demand[0]: 0s is not above 0"},
		"a negative speed":      {func(o *LoadOptions) { o.Demands[0].UnitsPerSecond = -1 }, "units-per-second: -1 of cpu"},
		"a start too late":      {func(o *LoadOptions) { o.StartAt = time.Now().Add(25 * time.Hour) }, "start-at: "},
		"no rounds":             {func(o *LoadOptions) { o.Rounds = 0 }, "rounds: 0 is not from 1 to 1000000"},
		"too many rounds":       {func(o *LoadOptions) { o.Rounds = 1e7 }, "rounds: 10000000 is not from 1 to 1000000"},
		"rounds that take long": {func(o *LoadOptions) { o.Rounds, o.Idle = 1e5, time.Second }, "rounds: 100000 take 100100s with nobody else on the node; 1h0m0s is the most"},
		"negative idle time":    {func(o *LoadOptions) { o.Idle = -1 }, "idle: -1ns is negative"},
		"no such distribution":  {func(o *LoadOptions) { o.Distribution = "normal" }, `distribution: "normal" is neither fixed nor exponential`},
		"no such job":           {func(o *LoadOptions) { o.Demands[0].Job.Name = "tape" }, "tape: there is no such standard job"},
	}
	for name, test := range tests {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			o := LoadOptions{Demands: []SyntheticDemand{{Job: Job{Name: result.CPU}, PerRound: time.Millisecond, UnitsPerSecond: 1000}}, Rounds: 1}
			test.change(&o)
			_, err := Synthesize(t.Context(), o)
			wantError(t, err, test.want)
		})
	}
}

func TestAProcessThatEndsEndsTheWait(t *testing.T) {
	t.Parallel()
	child := exec.CommandContext(t.Context(), os.Args[0], "-test.run=^$")
	if err := child.Start(); err != nil {
		t.Fatal(err)
	}
	var e exits
	began := time.Now()
	for state := ""; !strings.Contains(state, ") Z "); { // a signal may end the wait early
		if err := e.wait([]int{child.Process.Pid}, time.Minute); err != nil {
			t.Fatal(err)
		}
		stat, err := os.ReadFile("/proc/" + strconv.Itoa(child.Process.Pid) + "/stat")
		if err != nil {
			t.Fatal(err)
		}
		state = string(stat)
	}
	if took := time.Since(began); took > 30*time.Second {
		t.Errorf("it took %v, so only the time has ended the wait", took)
	}
	if err := child.Wait(); err != nil {
		t.Error(err)
	}
	if err := errors.Join(e.wait([]int{child.Process.Pid}, 0), e.close()); err != nil {
		t.Errorf("a process that is gone: %v", err)
	}
}
