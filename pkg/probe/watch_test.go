//go:build linux && (amd64 || arm64)

package probe

import (
	"context"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"

	"loadline.dev/loadline/pkg/probe/result"
)

// The processes of the fake pods.
const (
	aPause     = 1
	aSidecar   = 7
	anObserver = 20
)

// pod is a fake /proc, whose clock moves by 10 ms from look to look.
type pod struct {
	t        *testing.T
	root     string
	now      int64
	observed int64        // for how long the observer has run, on each processor
	script   []func(*pod) // what happens between looks
	waited   [][]int      // for which processes the observer waited
}

const ms = int64(time.Millisecond)

// observe watches a pod in which these things happen, one between two looks, and returns
// the result at the end of the last, and those given as the last container ended.
func observe(t *testing.T, script ...func(*pod)) (final result.Watch, ended []result.Watch, p *pod) {
	t.Helper()
	p = &pod{t: t, root: t.TempDir(), now: 1000 * ms, script: script}
	p.newest(anObserver)
	p.stolen(0)
	p.process(aPause, 0, "pause", 'S', 0, thread{aPause, 5, 5})
	p.process(aSidecar, 0, "proxy", 'S', 100*ms, thread{aSidecar, 50, 5})
	p.process(anObserver, 0, "loadline-probe", 'R', 990*ms, thread{anObserver, 3, 0})
	usable, err := usableProcessors()
	if err != nil {
		t.Fatal(err)
	}
	ctx, cancel := context.WithCancel(t.Context())
	final, err = Watch(ctx, WatchOptions{
		Interval: 10 * time.Millisecond, Proc: p.root, Self: anObserver,
		Now:     func() (int64, error) { return p.now, nil },
		CPUTime: func() (int64, error) { return p.observed * int64(usable.Count()), nil },
		Ended:   func(w result.Watch) error { ended = append(ended, w); return nil },
		Wait: func(pids []int, _ time.Duration) error {
			slices.Sort(pids)
			p.waited = append(p.waited, pids)
			p.now += 10 * ms
			if len(p.script) > 0 {
				p.script[0](p)
				p.script = p.script[1:]
			}
			if len(p.script) == 0 {
				cancel()
			}
			return nil
		},
	})
	if err != nil {
		t.Fatal(err)
	}
	return final, ended, p
}

type thread struct {
	id          int
	ran, waited int64
}

// process writes what /proc says of a process.
func (p *pod) process(pid, parent int, command string, state rune, started int64, threads ...thread) {
	dir := filepath.Join(p.root, strconv.Itoa(pid))
	if err := os.RemoveAll(dir); err != nil {
		p.t.Fatal(err)
	}
	for _, th := range threads {
		p.write(filepath.Join(dir, "task", strconv.Itoa(th.id), "schedstat"), fmt.Sprintf("%d %d 9\n", th.ran, th.waited))
	}
	p.write(filepath.Join(dir, "stat"), fmt.Sprintf("%d (%s) %c %d 1 1 0 -1 4194560 0 0 0 0 0 0 0 0 20 0 %d 0 %d 0 0\n",
		pid, command, state, parent, len(threads), started/tick))
}

func (p *pod) gone(pid int) {
	if err := os.RemoveAll(filepath.Join(p.root, strconv.Itoa(pid))); err != nil {
		p.t.Fatal(err)
	}
}

func (p *pod) newest(id int) {
	p.write(filepath.Join(p.root, "loadavg"), fmt.Sprintf("0.10 0.20 0.30 1/100 %d\n", id))
}

// stolen says for how long all processors of a big machine have been others'.
func (p *pod) stolen(nanos int64) {
	stat := fmt.Sprintf("cpu 1 2 3 4 5 6 7 %d 0 0\n", 1024*nanos/tick)
	for i := range 1024 {
		stat += fmt.Sprintf("cpu%d 1 2 3 4 5 6 7 %d 0 0\n", i, nanos/tick)
	}
	p.write(filepath.Join(p.root, "stat"), stat+"intr 1 2 3\n")
}

func (p *pod) write(path, text string) {
	if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
		p.t.Fatal(err)
	}
	if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
		p.t.Fatal(err)
	}
}

func nothing(*pod) {}

// wantWatch fails unless a report is as wanted, whatever the boot.
func wantWatch(t *testing.T, want, got result.Watch) {
	t.Helper()
	if diff := cmp.Diff(want, got, cmpopts.IgnoreFields(result.Watch{}, "BootID")); diff != "" {
		t.Errorf("(-want +got):\n%s", diff)
	}
}

func TestAContainerIsSeenFromItsStartToItsEnd(t *testing.T) {
	t.Parallel()
	final, ended, p := observe(t,
		nothing,
		func(p *pod) {
			p.newest(30)
			p.process(30, 0, "runc:[2:INIT]", 'S', 1010*ms, thread{30, 17, 1}, thread{29, 4, 0})
		},
		func(p *pod) { p.process(30, 0, "runc:[2:INIT]", 'S', 1010*ms, thread{30, 20, 2}) },
		func(p *pod) { p.process(30, 0, "app (1)", 'R', 1010*ms, thread{30, 120, 12}) },
		func(p *pod) {
			p.newest(31)
			p.process(30, 0, "app (1)", 'R', 1010*ms, thread{30, 220, 22}, thread{31, 50, 5})
		},
		func(p *pod) { p.process(30, 0, "app (1)", 'R', 1010*ms, thread{30, 320, 32}) }, // 31 has ended
		func(p *pod) { p.process(30, 0, "app (1)", 'Z', 1010*ms, thread{30, 420, 42}) },
		func(p *pod) { p.gone(30) },
	)
	want := result.Watch{Begin: 1035 * ms, End: 1070 * ms, CPUNanos: 450, WaitNanos: 45, Processes: 1, Complete: true}
	wantWatch(t, want, final)
	if len(ended) != 1 {
		t.Fatalf("said %d times that the last container has ended", len(ended))
	}
	wantWatch(t, want, ended[0])
	if diff := cmp.Diff([][]int{nil, nil, {30}, {30}, {30}, {30}, {30}, nil}, p.waited); diff != "" {
		t.Errorf("the processes waited for (-want +got):\n%s", diff)
	}
	if _, err := result.Encode(final); err != nil {
		t.Error(err)
	}
}

func TestOnlyWhatOthersUseWhileTheContainersRunCounts(t *testing.T) {
	t.Parallel()
	final, _, _ := observe(t,
		func(p *pod) { p.stolen(500 * ms); p.observed = 30 * ms },
		func(p *pod) { p.newest(30); p.process(30, 0, "app", 'R', 1015*ms, thread{30, 7, 1}) },
		func(p *pod) { p.stolen(510 * ms); p.observed = 31 * ms },
		func(p *pod) { p.stolen(520 * ms); p.observed = 32 * ms; p.gone(30) },
		func(p *pod) { p.stolen(900 * ms); p.observed = 50 * ms },
	)
	if want := 20 * ms; final.StolenNanos != want {
		t.Errorf("%d ns were stolen, want %d", final.StolenNanos, want)
	}
	if want := 2 * ms; final.ObserverNanos != want {
		t.Errorf("the observer ran for %d ns, want %d", final.ObserverNanos, want)
	}
	if _, err := result.Encode(final); err != nil {
		t.Error(err)
	}
}

func TestStolenTimeIsTheMeanOverTheProcessorsThatMayBeUsed(t *testing.T) {
	t.Parallel()
	p := &pod{t: t, root: t.TempDir()}
	stat := filepath.Join(p.root, "stat")
	p.write(stat, "cpu  0 0 0 0 0 0 0 16 0 0\ncpu0 0 0 0 0 0 0 0 1 0 0\ncpu2 0 0 0 0 0 0 0 5 0 0\ncpu3 0 0 0 0 0 0 0 10 0 0\nintr 5\n")
	if got, err := proc(p.root).stolen(func(processor int) bool { return processor < 3 }); got != 3*tick || err != nil {
		t.Errorf("%d ns, %v; want %d", got, err, 3*tick)
	}
	_, err := proc(p.root).stolen(func(int) bool { return false })
	wantError(t, err, "stat: has none of the processors")
	for text, want := range map[string]string{
		"cpu0 1 2 3\n":                  "has no column of stolen time",
		"cpu0 0 0 0 0 0 0 0 many 0 0\n": "stat: ",
		"intr 5\n":                      "has none of the processors",
	} {
		p.write(stat, text)
		_, err := proc(p.root).stolen(func(int) bool { return true })
		wantError(t, err, want)
	}
}

func TestAContainerThatStartedBetweenTwoLooksBeganWhenItsProcessDid(t *testing.T) {
	t.Parallel()
	final, _, _ := observe(t, nothing, func(p *pod) { p.newest(30); p.process(30, 0, "app", 'R', 1010*ms, thread{30, 7, 1}) })
	wantWatch(t, result.Watch{Begin: 1015 * ms, CPUNanos: 7, WaitNanos: 1, Processes: 1, Complete: true}, final)
}

func TestTheEndIsThatOfTheLastContainer(t *testing.T) {
	t.Parallel()
	run := func(pid int) func(*pod) {
		return func(p *pod) { p.newest(pid); p.process(pid, 0, "app", 'R', p.now-5*ms, thread{pid, 10, 1}) }
	}
	end := func(pid int) func(*pod) { return func(p *pod) { p.gone(pid) } }
	final, ended, _ := observe(t, run(30), end(30), run(31), run(32), end(31), end(32), nothing)
	wantWatch(t, result.Watch{Begin: 1005 * ms, End: 1060 * ms, CPUNanos: 30, WaitNanos: 3, Processes: 3, Complete: true}, final)
	if len(ended) != 2 || ended[0].End != 1020*ms {
		t.Errorf("said it had ended: %+v; want twice, first after 1020 ms", ended)
	}
}

func TestAnObserverThatIsToldToEndBeforeTheContainersSaysSo(t *testing.T) {
	t.Parallel()
	final, ended, _ := observe(t, func(p *pod) { p.newest(30); p.process(30, 0, "app", 'R', 1005*ms, thread{30, 7, 1}) }, nothing)
	if _, ok := final.Elapsed(); ok || final.Begin == 0 || len(ended) != 0 {
		t.Errorf("%+v, %+v", final, ended)
	}
	final, _, _ = observe(t, nothing)
	wantWatch(t, result.Watch{Complete: true}, final)
}

func TestChildrenOfAContainerCountAndThoseOfSidecarsBeforeDoNot(t *testing.T) {
	t.Parallel()
	final, _, p := observe(t,
		func(p *pod) {
			p.newest(30)
			p.process(30, 0, "sh", 'S', 1005*ms, thread{30, 10, 1})
		},
		func(p *pod) {
			p.newest(33)
			p.process(31, 30, "sort", 'R', 1015*ms, thread{31, 100, 10})
			p.process(32, aSidecar, "proxy-child", 'R', 1015*ms, thread{32, 1e6, 1e6})
			p.process(33, aPause, "orphan", 'R', 1015*ms, thread{33, 1000, 100})
			p.process(aSidecar, 0, "proxy", 'S', 100*ms, thread{aSidecar, 1e6, 1e6})
		},
		func(p *pod) { p.gone(31) },
	)
	wantWatch(t, result.Watch{Begin: 1005 * ms, CPUNanos: 1110, WaitNanos: 111, Processes: 3, Complete: true}, final)
	if last := p.waited[len(p.waited)-1]; !slices.Equal(last, []int{30}) {
		t.Errorf("waited for %v, want the container only", last)
	}
}

func TestWhatComesAndGoesBetweenTwoLooksIsMissed(t *testing.T) {
	t.Parallel()
	start := func(p *pod) { p.newest(30); p.process(30, 0, "sh", 'S', 1005*ms, thread{30, 10, 1}) }
	tests := map[string]struct {
		then     func(*pod)
		complete bool
	}{
		"nothing":                  {nothing, true},
		"a process that is there":  {func(p *pod) { p.newest(31); p.process(31, 30, "sort", 'R', 1015*ms, thread{31, 1, 1}) }, true},
		"a process that is gone":   {func(p *pod) { p.newest(31) }, false},
		"one of two":               {func(p *pod) { p.newest(32); p.process(32, 30, "sort", 'R', 1015*ms, thread{32, 1, 1}) }, false},
		"the ids start anew":       {func(p *pod) { p.newest(25) }, false},
		"another container starts": {func(p *pod) { p.newest(40); p.process(40, 0, "app", 'R', 1015*ms, thread{40, 1, 1}) }, true},
	}
	for name, test := range tests {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			if final, _, _ := observe(t, start, test.then); final.Complete != test.complete {
				t.Errorf("complete: %v, want %v", final.Complete, test.complete)
			}
		})
	}
}

func TestAnotherThreadWithTheSameIdHasAnAccountOfItsOwn(t *testing.T) {
	t.Parallel()
	final, _, _ := observe(t,
		func(p *pod) { p.newest(30); p.process(30, 0, "sh", 'S', 1005*ms, thread{30, 10, 1}) },
		func(p *pod) { p.newest(31); p.process(31, 30, "sort", 'R', 1015*ms, thread{31, 100, 10}) },
		func(p *pod) { p.process(31, 30, "sort", 'R', 1025*ms, thread{31, 40, 4}) },
	)
	if final.CPUNanos != 150 || final.WaitNanos != 15 {
		t.Errorf("%d ran and %d waited, want 150 and 15", final.CPUNanos, final.WaitNanos)
	}
}

func TestAProcThatMakesNoSenseIsAnErrorThatNamesTheFile(t *testing.T) {
	t.Parallel()
	tests := map[string]struct{ path, text, want string }{
		"no command":        {"30/stat", "30 R 0", "30/stat: has no command in parentheses"},
		"too few fields":    {"30/stat", "30 (a) R 0", "30/stat: has 2 fields after the command"},
		"times of letters":  {"20/task/20/schedstat", "a b c", "20/task/20/schedstat: "},
		"no times":          {"20/task/20/schedstat", "", "is not how long a thread ran and waited"},
		"no newest process": {"loadavg", "1 2 3", "has not five fields"},
	}
	for name, test := range tests {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			p := &pod{t: t, root: t.TempDir()}
			p.newest(anObserver)
			p.process(anObserver, 0, "loadline-probe", 'R', 0, thread{anObserver, 3, 0})
			p.write(filepath.Join(p.root, test.path), test.text)
			_, err := Watch(t.Context(), WatchOptions{Interval: time.Second, Proc: p.root, Self: anObserver})
			wantError(t, err, test.want)
		})
	}
	_, err := Watch(t.Context(), WatchOptions{Interval: time.Minute})
	wantError(t, err, "interval: 1m0s is not from 1ms to 1s")
	_, err = Watch(t.Context(), WatchOptions{Interval: time.Second, Proc: t.TempDir()})
	wantError(t, err, "the kernel does not say how long threads wait")
}

func TestTheObserverSeesRealProcesses(t *testing.T) {
	t.Parallel()
	ctx, cancel := context.WithCancel(t.Context())
	looks := 0
	var kernel exits
	_, err := Watch(ctx, WatchOptions{Interval: time.Millisecond, Wait: func(pids []int, atMost time.Duration) error {
		if looks++; looks == 3 {
			cancel()
		}
		return kernel.wait(pids, atMost)
	}})
	if err != nil {
		t.Error(err)
	}
}
