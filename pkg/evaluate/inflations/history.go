package inflations

import (
	"cmp"
	"maps"
	"slices"
	"sync"
	"time"

	"k8s.io/apimachinery/pkg/types"

	"loadline.dev/loadline/pkg/model/inflation"
)

const (
	// Keep is for how long intervals are kept.
	Keep = 6 * time.Hour
	// MaxKeys bounds for how many profiles and classes of nodes they are.
	MaxKeys = 400

	// slot is the length of a slot of time.
	slot = time.Minute
	// maxKept bounds the intervals of a key, maxReadings the readings of a pod and maxSpans its spans that wait for a reading.
	maxKept, maxReadings, maxSpans = 2048, 8, 8
	// maxBeside bounds the neighbours of a pod in an interval, and maxWorkloads those of a key that are analyzed.
	maxBeside, maxWorkloads = 16, 24
	// leastCPUs is how many processors a workload must use in an interval to count.
	leastCPUs = 0.005
	// maxGap is the longest time between two readings that says when units were done.
	maxGap = 2 * time.Minute
	// forgetPods is after which time without a reading or a span a pod is forgotten.
	forgetPods = 10 * time.Minute
)

// Key is a profile and a class of nodes.
type Key struct {
	Profile types.NamespacedName
	// Class is as in profile.Workload.On.
	Class string
}

// Pod is a pod that does the work.
type Pod struct {
	// UID is that of its control groups.
	UID, Name string
	// Revision is the version of its template, such as the hash that its controller labels it with.
	Revision string
}

// Span is what a gauge observed of a pod for some time.
type Span struct {
	Start, End time.Time
	// CPU is how many CPU seconds the pod used.
	CPU float64
	// Beside is how many CPU seconds the pods of each workload on its node used, without itself.
	Beside map[string]Neighbour
}

// Neighbour is what pods of a workload used.
type Neighbour struct {
	CPU float64
	// PodUID is the UID of one of them in the API.
	PodUID string
}

// History keeps what was read and observed. The zero History is empty; it is safe for concurrent use.
type History struct {
	mutex  sync.Mutex
	pods   map[string]*pod
	keys   map[Key]*kept
	before map[Key]known
}

// reading is a counter at some moment.
type reading struct {
	at    time.Time
	value float64
}

// pod is what is not in an interval yet.
type pod struct {
	readings []reading
	spans    []waiting
	last     time.Time
}

// waiting is a span whose work is not known yet.
type waiting struct {
	key Key
	pod Pod
	Span
}

// kept holds the intervals of a key, in order of their slots but for late ones.
type kept struct {
	intervals []interval
	latest    map[string]int // the index of the latest interval of a pod
	workloads map[string]*workload
	names     []string // of workloads, by their numbers; empty for those that are gone
	revisions []string // in the order in which they were first seen
}

// workload is a neighbour of a key.
type workload struct {
	number int
	podUID string
	last   int64
}

// interval is what a pod did in a slot.
type interval struct {
	slot                int64
	pod                 Pod
	seconds, cpu, units float64
	beside              []beside
}

// beside is how many CPU seconds a workload used, by its number.
type beside struct {
	workload int
	cpu      float64
}

// Read takes a reading of the counter of a pod, in the order of time.
func (h *History) Read(uid string, at time.Time, value float64) {
	h.mutex.Lock()
	defer h.mutex.Unlock()
	p := h.podOf(uid, at)
	if n := len(p.readings); n > 0 && !at.After(p.readings[n-1].at) {
		return
	}
	p.readings = append(p.readings, reading{at, value})
	p.readings = p.readings[max(0, len(p.readings)-maxReadings):]
	h.settle(p)
}

// Observe takes what a gauge observed of a pod that follows a profile.
func (h *History) Observe(key Key, of Pod, s Span) {
	h.mutex.Lock()
	defer h.mutex.Unlock()
	p := h.podOf(of.UID, s.End)
	p.spans = append(p.spans, waiting{key, of, s})
	p.spans = p.spans[max(0, len(p.spans)-maxSpans):]
	h.settle(p)
}

func (h *History) podOf(uid string, at time.Time) *pod {
	if h.pods == nil {
		h.pods, h.keys = map[string]*pod{}, map[Key]*kept{}
	}
	p := h.pods[uid]
	if p == nil {
		p = &pod{}
		h.pods[uid] = p
	}
	if at.After(p.last) {
		p.last = at
	}
	return p
}

// settle makes intervals of the spans of a pod whose work is known, and drops those of which it cannot be known any more.
func (h *History) settle(p *pod) {
	p.spans = slices.DeleteFunc(p.spans, func(w waiting) bool {
		n := len(p.readings)
		if n == 0 || p.readings[n-1].at.Before(w.End) {
			return false
		}
		if units, is := p.between(w.Start, w.End); is {
			h.add(&w, units)
		}
		return true
	})
}

// between returns how many units a pod did between two moments, and whether that is known.
func (p *pod) between(start, end time.Time) (float64, bool) {
	units, covered := 0.0, start
	for i := 1; i < len(p.readings); i++ {
		a, b := p.readings[i-1], p.readings[i]
		if !b.at.After(start) || !a.at.Before(end) {
			continue
		}
		if a.at.After(covered) || b.value < a.value || b.at.Sub(a.at) > maxGap {
			return 0, false
		}
		from, to := latest(a.at, start), earliest(b.at, end)
		units += (b.value - a.value) * to.Sub(from).Seconds() / b.at.Sub(a.at).Seconds()
		covered = to
	}
	return units, !covered.Before(end) && end.After(start)
}

func latest(a, b time.Time) time.Time {
	if a.After(b) {
		return a
	}
	return b
}

func earliest(a, b time.Time) time.Time {
	if a.Before(b) {
		return a
	}
	return b
}

// add adds a span with its work to the intervals.
func (h *History) add(w *waiting, units float64) {
	k := h.keys[w.key]
	if k == nil {
		if len(h.keys) >= MaxKeys {
			return
		}
		k = &kept{latest: map[string]int{}, workloads: map[string]*workload{}}
		h.keys[w.key] = k
	}
	middle := w.Start.Add(w.End.Sub(w.Start) / 2)
	number := middle.UnixNano() / int64(slot)
	if !slices.Contains(k.revisions, w.pod.Revision) {
		k.revisions = append(k.revisions, w.pod.Revision)
	}
	at, is := k.latest[w.pod.UID]
	if !is || k.intervals[at].slot != number {
		at = len(k.intervals)
		k.intervals = append(k.intervals, interval{slot: number, pod: w.pod})
		k.latest[w.pod.UID] = at
	}
	v := &k.intervals[at]
	v.seconds += w.End.Sub(w.Start).Seconds()
	v.cpu, v.units = v.cpu+w.CPU, v.units+units
	for name, n := range w.most() {
		k.addBeside(v, name, n)
	}
	if len(k.intervals) > maxKept {
		k.drop(len(k.intervals) - maxKept*7/8)
	}
}

// most returns the neighbours of a span that used most.
func (w *waiting) most() map[string]Neighbour {
	least := leastCPUs * w.End.Sub(w.Start).Seconds()
	names := slices.DeleteFunc(slices.Collect(maps.Keys(w.Beside)), func(name string) bool { return w.Beside[name].CPU < least })
	slices.SortFunc(names, func(a, b string) int {
		return cmp.Or(cmp.Compare(w.Beside[b].CPU, w.Beside[a].CPU), cmp.Compare(a, b))
	})
	most := map[string]Neighbour{}
	for _, name := range names[:min(len(names), maxBeside)] {
		most[name] = w.Beside[name]
	}
	return most
}

func (k *kept) addBeside(v *interval, name string, n Neighbour) {
	w := k.workloads[name]
	if w == nil {
		w = &workload{number: len(k.names)}
		k.workloads[name] = w
		k.names = append(k.names, name)
	}
	if w.last != v.slot || n.PodUID < w.podUID {
		w.podUID = n.PodUID
	}
	w.last = max(w.last, v.slot)
	for i := range v.beside {
		if v.beside[i].workload == w.number {
			v.beside[i].cpu += n.CPU
			return
		}
	}
	v.beside = append(v.beside, beside{w.number, n.CPU})
}

// drop drops the first intervals, and what they alone had.
func (k *kept) drop(number int) {
	k.intervals = slices.Clone(k.intervals[number:])
	old := k.workloads
	oldNames := k.names
	k.latest, k.workloads, k.names = map[string]int{}, map[string]*workload{}, nil
	revisions := map[string]bool{}
	for i := range k.intervals {
		v := &k.intervals[i]
		k.latest[v.pod.UID] = i
		revisions[v.pod.Revision] = true
		for b := range v.beside {
			name := oldNames[v.beside[b].workload]
			w := k.workloads[name]
			if w == nil {
				w = &workload{len(k.names), old[name].podUID, old[name].last}
				k.workloads[name] = w
				k.names = append(k.names, name)
			}
			v.beside[b].workload = w.number
		}
	}
	k.revisions = slices.DeleteFunc(k.revisions, func(r string) bool { return !revisions[r] })
}

// Keys returns the keys with intervals, and forgets what is too old.
func (h *History) Keys(now time.Time) []Key {
	h.mutex.Lock()
	defer h.mutex.Unlock()
	maps.DeleteFunc(h.pods, func(_ string, p *pod) bool { return now.Sub(p.last) > forgetPods })
	oldest := now.Add(-Keep).UnixNano() / int64(slot)
	for key, k := range h.keys {
		late := slices.IndexFunc(k.intervals, func(v interval) bool { return v.slot >= oldest })
		switch {
		case late < 0:
			delete(h.keys, key)
		case late > len(k.intervals)/8:
			k.drop(late)
		}
	}
	maps.DeleteFunc(h.before, func(_ Key, b known) bool { return now.Sub(b.until) > Keep })
	return slices.Collect(maps.Keys(h.keys))
}

// Estimate is what is known of a key.
type Estimate struct {
	*inflation.Estimate

	// Pods are the names of the pods, by the numbers of the estimate.
	Pods []string
	// Neighbours are the workloads, by the numbers of the estimate.
	Neighbours []Named
	// Ended is when the last interval ended, to the minute, and Revision the version of the template of the pods.
	Ended    time.Time
	Revision string
	// Before is how many minutes it is by besides, that were observed before this history began.
	Before int
}

// Named is a neighbour with its name.
type Named struct{ Workload, PodUID string }

// Estimate analyzes the intervals of a key, after what was known before these. The error is that of [inflation.AnalyzeAfter].
func (h *History) Estimate(key Key) (*Estimate, error) {
	series, e := h.series(key)
	before := h.knownBefore(key, e)
	if before != nil {
		e.Before = before.Slots
	}
	var err error
	if e.Estimate, err = inflation.AnalyzeAfter(series, before); err != nil {
		return nil, err
	}
	return e, nil
}

// series returns the intervals of the latest version of the pods of a key.
func (h *History) series(key Key) ([]inflation.Interval, *Estimate) {
	h.mutex.Lock()
	defer h.mutex.Unlock()
	e := &Estimate{}
	k := h.keys[key]
	if k == nil {
		return nil, e
	}
	last := int64(0)
	for i := range k.intervals {
		last = max(last, k.intervals[i].slot)
	}
	e.Ended = time.Unix(0, (last+1)*int64(slot)).UTC()
	revision := -1
	for i := range k.intervals {
		if v := &k.intervals[i]; v.slot > last-inflation.Recent {
			revision = max(revision, slices.Index(k.revisions, v.pod.Revision))
		}
	}
	e.Revision = k.revisions[revision]
	chosen := k.chosen(e)
	numbers := map[string]int{}
	var series []inflation.Interval
	for i := range k.intervals {
		v := &k.intervals[i]
		if v.pod.Revision != k.revisions[revision] {
			continue
		}
		number, is := numbers[v.pod.UID]
		if !is {
			if number = len(numbers); number >= inflation.MaxPods {
				continue
			}
			numbers[v.pod.UID] = number
			e.Pods = append(e.Pods, v.pod.Name)
		}
		next := inflation.Interval{Slot: v.slot, Pod: number, Seconds: v.seconds, CPU: v.cpu, Units: v.units, Neighbours: make([]float64, len(e.Neighbours))}
		for _, b := range v.beside {
			if at, is := chosen[b.workload]; is {
				next.Neighbours[at] = b.cpu / v.seconds
			}
		}
		series = append(series, next)
	}
	return series, e
}

// chosen returns the neighbours to analyze by their numbers, those that vary most, and adds them to an estimate.
func (k *kept) chosen(e *Estimate) map[int]int {
	sums, squares := make([]float64, len(k.names)), make([]float64, len(k.names))
	for i := range k.intervals {
		for _, b := range k.intervals[i].beside {
			cpus := b.cpu / k.intervals[i].seconds
			sums[b.workload] += cpus
			squares[b.workload] += cpus * cpus
		}
	}
	all := float64(len(k.intervals))
	variance := func(n int) float64 { return squares[n]/all - sums[n]/all*sums[n]/all }
	order := make([]int, len(k.names))
	for n := range order {
		order[n] = n
	}
	slices.SortStableFunc(order, func(a, b int) int { return cmp.Compare(variance(b), variance(a)) })
	chosen := map[int]int{}
	for at, n := range order[:min(len(order), maxWorkloads)] {
		chosen[n] = at
		e.Neighbours = append(e.Neighbours, Named{k.names[n], k.workloads[k.names[n]].podUID})
	}
	return chosen
}
