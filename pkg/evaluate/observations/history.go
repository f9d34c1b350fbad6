package observations

import (
	"math"
	"sync"
	"time"

	"k8s.io/apimachinery/pkg/types"
)

const (
	// Window is how much of the past a [Summary] is of.
	Window = slots * slot

	slots        = 15
	slot         = time.Minute
	accuracySlot = 4 * time.Minute
)

// Key is a profile and a class of nodes.
type Key struct {
	Profile types.NamespacedName
	// Class is as in [profile.Workload.On].
	Class string
}

// History keeps what was observed. Its size is bounded by the numbers of profiles, classes and pods. The zero History is
// empty; it is safe for concurrent use.
type History struct {
	mutex    sync.Mutex
	loadings map[Key]*loadings
	errors   map[types.NamespacedName]*ring[errorSums]
}

// loadings are what is kept of a key.
type loadings struct {
	ring[loadingSums]

	pods map[string]time.Time // by their UIDs: until when they were observed
}

// loadingSums are sums over samples; the weight of a sample is its time in seconds.
type loadingSums struct {
	cpu, disk           moments
	threads, run, burst float64
}

// errorSums are sums over predictions.
type errorSums struct{ number, absolute float64 }

// Summary is what was observed of the pods of a profile on the nodes of a class.
type Summary struct {
	// CPU and Disk are of the fractions of their time alone that threads ran and were served at disks, as [observed.Alone] has them, from 0
	// to 1 together. Of Disk nothing is known where gauges could not tell.
	CPU, Disk Loading
	// Threads is how many threads of a pod are active at once, on average, at least 1.
	Threads float64
	// Burst is for how many seconds a thread computes at a time, 0 where that is unknown: the mean over the time that threads ran.
	Burst float64
	// Pods is how many pods were observed, and Seconds for how long in all.
	Pods    int
	Seconds float64
	// Last is when the last sample ended.
	Last time.Time
}

// Accuracy is how well the dilations of the pods of a profile were predicted.
type Accuracy struct {
	// MeanError is the mean of |predicted/observed − 1| over Predictions.
	MeanError   float64
	Predictions int
	Last        time.Time
}

// Add adds what was observed of a pod until some moment.
func (h *History) Add(key Key, until time.Time, s *Sample) {
	h.mutex.Lock()
	defer h.mutex.Unlock()
	if h.loadings == nil {
		h.loadings = map[Key]*loadings{}
	}
	l := h.loadings[key]
	if l == nil {
		l = &loadings{pods: map[string]time.Time{}}
		h.loadings[key] = l
	}
	if into := l.sumsAt(until, slot); into != nil {
		into.cpu.sample(s.Seconds, s.CPULoading)
		into.disk.sample(s.DiskSeconds, s.DiskLoading)
		into.threads += s.Seconds * s.Threads
		into.run += s.Run
		into.burst += s.Run * s.Burst
		l.pods[s.Pod] = until
	}
}

// AddPrediction adds a dilation that was predicted, and the one that was observed until some moment; both are at least 1.
func (h *History) AddPrediction(profile types.NamespacedName, until time.Time, predicted, observed float64) {
	h.mutex.Lock()
	defer h.mutex.Unlock()
	if h.errors == nil {
		h.errors = map[types.NamespacedName]*ring[errorSums]{}
	}
	r := h.errors[profile]
	if r == nil {
		r = &ring[errorSums]{}
		h.errors[profile] = r
	}
	if into := r.sumsAt(until, accuracySlot); into != nil {
		into.number++
		into.absolute += math.Abs(predicted/observed - 1)
	}
}

// Summaries returns what was observed within the window before now, by key, and forgets what is older.
func (h *History) Summaries(now time.Time) map[Key]Summary {
	h.mutex.Lock()
	defer h.mutex.Unlock()
	all := make(map[Key]Summary, len(h.loadings))
	for key, l := range h.loadings {
		if s, is := l.summary(now); is {
			all[key] = s
		} else {
			delete(h.loadings, key)
		}
	}
	return all
}

// Accuracies returns how well dilations were predicted within the window before now, by profile, and forgets what is older.
func (h *History) Accuracies(now time.Time) map[types.NamespacedName]Accuracy {
	h.mutex.Lock()
	defer h.mutex.Unlock()
	all := make(map[types.NamespacedName]Accuracy, len(h.errors))
	for name, r := range h.errors {
		sums := errorSums{}
		r.each(now, accuracySlot, func(s *errorSums) {
			sums.number += s.number
			sums.absolute += s.absolute
		})
		if sums.number == 0 {
			delete(h.errors, name)
			continue
		}
		all[name] = Accuracy{sums.absolute / sums.number, int(sums.number), r.last}
	}
	return all
}

// summary returns what is in the window before now, and whether anything is.
func (l *loadings) summary(now time.Time) (Summary, bool) {
	for pod, until := range l.pods {
		if !until.After(now.Add(-Window)) {
			delete(l.pods, pod)
		}
	}
	sums := loadingSums{}
	l.each(now, slot, func(s *loadingSums) {
		sums.cpu.add(&s.cpu)
		sums.disk.add(&s.disk)
		sums.threads += s.threads
		sums.run += s.run
		sums.burst += s.burst
	})
	seconds := sums.cpu.weight
	if seconds == 0 {
		return Summary{}, false
	}
	s := Summary{
		CPU: sums.cpu.loading(), Disk: sums.disk.loading(), Threads: sums.threads / seconds,
		Pods: len(l.pods), Seconds: seconds, Last: l.last,
	}
	s.Disk.Mean = min(s.Disk.Mean, 1-s.CPU.Mean) // they may be of different times
	if sums.run > 0 {
		s.Burst = sums.burst / sums.run
	}
	return s, true
}
