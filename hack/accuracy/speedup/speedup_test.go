package speedup_test

import (
	"math"
	"testing"

	"pgregory.net/rapid"

	"loadline.dev/loadline/hack/accuracy/speedup"
)

func TestTheSerialPartIsFoundThroughInflation(t *testing.T) {
	t.Parallel()
	rapid.Check(t, func(t *rapid.T) {
		serial := rapid.Float64Range(0, 1).Draw(t, "serial")
		runs := []speedup.Run{{Threads: 1, Real: 100, CPU: 100}}
		for _, n := range []int{2, 4} {
			cpu := 100 * rapid.Float64Range(1, 2).Draw(t, "inflation")
			runs = append(runs, speedup.Run{Threads: n, Real: cpu * (serial + (1-serial)/float64(n)), CPU: cpu})
		}
		m, err := speedup.Fit(runs, 8)
		if err != nil {
			t.Fatal(err)
		}
		// The square root of what a float64 resolves of the loss.
		if math.Abs(m.Serial-serial) > 1e-6 {
			t.Errorf("serial part %v, want %v", m.Serial, serial)
		}
	})
}

// A job that keeps more than one processor busy with one thread cannot keep more of
// them busy than there are.
func TestNoMoreProcessorsAreBusyThanThereAre(t *testing.T) {
	t.Parallel()
	m, err := speedup.Fit([]speedup.Run{{1, 100, 150}, {2, 50, 150}}, 8)
	if err != nil {
		t.Fatal(err)
	}
	if got := m.Real(8, 160); math.Abs(got-20) > 1e-9 {
		t.Errorf("got %v s, want 160 s on 8 processors", got)
	}
}

func TestBadRunsAreRefused(t *testing.T) {
	t.Parallel()
	one, two := speedup.Run{1, 10, 10}, speedup.Run{2, 5, 10}
	for name, test := range map[string]struct {
		runs []speedup.Run
		cpus int
		want string
	}{
		"none":         {nil, 8, "runs: one with a single thread and one with several are needed"},
		"one alone":    {[]speedup.Run{one}, 8, "runs: one with a single thread and one with several are needed"},
		"several only": {[]speedup.Run{two}, 8, "runs: one with a single thread and one with several are needed"},
		"no threads":   {[]speedup.Run{one, {0, 5, 10}}, 8, "runs[1]: threads: 0 is less than 1"},
		"NaN":          {[]speedup.Run{one, {2, math.NaN(), 10}}, 8, "runs[1]: real: NaN is not a finite number of seconds above 0"},
		"infinite":     {[]speedup.Run{one, {2, 5, math.Inf(1)}}, 8, "runs[1]: cpu: +Inf is not a finite number of seconds above 0"},
		"no cpus":      {[]speedup.Run{one, two}, 0, "cpus: 0 is less than 1"},
	} {
		if _, err := speedup.Fit(test.runs, test.cpus); err == nil || err.Error() != test.want {
			t.Errorf("%s: got %v, want %q", name, err, test.want)
		}
	}
}
