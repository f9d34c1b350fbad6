package main

import (
	"math"
	"path/filepath"
	"testing"
	"time"

	"loadline.dev/loadline/hack/recording"
	"loadline.dev/loadline/pkg/gauge/reading"
)

// recordedDisk returns a recording: see the README beside it.
func recordedDisk(t *testing.T, name string) *recorded {
	t.Helper()
	r := &recorded{}
	if err := recording.Load(filepath.Join("..", "..", "test", "testdata", "disklab", name), r); err != nil {
		t.Fatal(err)
	}
	return r
}

// reach is how far what is said is from what pods suffered, by their own clocks: the median error of dilations, and for which part of those that are
// slowed by a fifth and more the culprit is named first.
type reach struct {
	pods, victims, right int
	median               float64
}

func reached(t *testing.T, r *recorded, kind string) (of reach) {
	t.Helper()
	all, err := r.fates()
	if err != nil {
		t.Fatal(err)
	}
	var off []float64
	for i := range all {
		f := &all[i]
		if f.kind() != kind {
			continue
		}
		off = append(off, math.Abs(f.observed/f.truth.Dilation-1))
		if f.truth.Culprit >= 0 {
			of.victims++
			if f.right() {
				of.right++
			}
		}
	}
	of.pods, of.median = len(off), quantile(off, 0.5)
	return of
}

// Bounds are what was reached, rounded up.
func TestWhatIsSaidOfARecordedDisk(t *testing.T) {
	t.Parallel()
	pressure := func(r *recorded) { r.forgetDelays() }
	for name, c := range map[string]struct {
		file    string
		account func(*recorded)
		kind    string
		// of pods, the median error is at most that, and the part of victims whose culprit is named at least that.
		pods   int
		median float64
		named  float64
	}{
		"reads, by pressure":            {"6.18-virtio.json.gz", pressure, "reads", 41, 0.16, 0.85},
		"reads, by their own clocks":    {"6.18-virtio.json.gz", (*recorded).haveDelays, "reads", 41, 0.16, 0.8},
		"writes, by pressure":           {"6.18-virtio.json.gz", pressure, "writes", 10, 0.36, 0.85},
		"writes that last, by pressure": {"6.18-virtio.json.gz", pressure, "durable writes", 21, 0.27, 0.75},
		"real programs, by pressure":    {"6.18-programs.json.gz", pressure, "programs", 25, 0.26, 0.95},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			r := recordedDisk(t, c.file)
			c.account(r)
			got := reached(t, r, c.kind)
			t.Logf("%+v", got)
			if got.pods < c.pods || got.median > c.median || float64(got.right) < c.named*float64(got.victims) {
				t.Errorf("%+v, want %d pods, a median error of at most %v, and at least %v of the culprits", got, c.pods, c.median, c.named)
			}
		})
	}
}

// The kernel of the recordings counts more time of some tasks at disks than there was.
func TestTheAccountOfTasksOfTheRecordedKernelIsWrong(t *testing.T) {
	t.Parallel()
	wrong := 0
	for _, m := range recordedDisk(t, "6.18-virtio.json.gz").Mixes {
		for i := range m.Runs {
			r := &m.Runs[i]
			before := delaysIn(r.Readings[0])
			for id, blocked := range delaysIn(r.Readings[1]) {
				if was, is := before[id]; is && (blocked-was).Seconds() > 1.1*r.Seconds {
					wrong++
				}
			}
		}
	}
	if wrong < 10 {
		t.Errorf("%d tasks were blocked for longer than there was", wrong)
	}
}

// delaysIn returns for how long each task of a reading was blocked, by its ID.
func delaysIn(r *reading.Reading) map[int]time.Duration {
	all := map[int]time.Duration{}
	for i := range r.Pods {
		for _, g := range r.Pods[i].Groups {
			for k := range g.Tasks {
				all[g.Tasks[k].ID] = g.Tasks[k].Blocked
			}
		}
	}
	return all
}
