package findings

import (
	"cmp"
	"math"
	"slices"
	"strings"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/resource"

	"loadline.dev/loadline/pkg/cgroup"
	"loadline.dev/loadline/pkg/gauge/usage"
	"loadline.dev/loadline/pkg/model/throttling"
)

// held holds the observations of a container that has a limit, or that one held back, in seconds.
type held struct {
	// run and throttled are those of the intervals in which a limit held it back, stopped is for how long that held back the threads
	// that run, and all has each interval.
	run, throttled, stopped float64
	all                     []throttling.Interval
	// quotaBurst is how much of what earlier periods left over the container may use besides its quota.
	quotaBurst float64
	// own is the time of its threads without waiting, and threads their number times run; both are 0 where the gauge does not report
	// threads.
	own, threads float64
}

// hold adds what a container did in an interval of some seconds, if it has a limit or one held it back.
func (o *observation) hold(c *usage.Container, seconds float64) {
	const largest = 1e12 // more than any container ran or was held back: a node may lie
	if c.Throttled <= 0 && c.Periods == 0 || c.Throttled > largest || c.Run > largest {
		return
	}
	if o.held == nil {
		o.held = map[string]held{}
	}
	h := o.held[c.ID]
	h.all = append(h.all, throttling.Interval{
		Seconds: seconds, Run: c.Run, Throttled: stopped(c), Threads: c.Threads, Loading: min(1, c.CPULoading), Burst: c.BurstSeconds,
		ThrottledPeriods: float64(c.ThrottledPeriods),
	})
	h.quotaBurst = max(h.quotaBurst, c.QuotaBurstSeconds)
	if c.Throttled > 0 {
		h.run += c.Run
		h.throttled += c.Throttled
		h.stopped += stopped(c)
		if c.CPULoading > 0 && c.Threads > 0 {
			h.own += min(c.Run/c.CPULoading, largest)
			h.threads += min(c.Run*c.Threads, largest)
		}
	}
	o.held[c.ID] = h
}

// stopped returns for how long a limit held back those of a container's threads that run: others of a runtime do next to nothing, and are
// throttled with them.
func stopped(c *usage.Container) float64 {
	if c.Dilation < 1 || c.CPULoading <= 0 || c.Throttled <= 0 {
		return c.Throttled
	}
	return min(c.Throttled, c.Run/c.CPULoading*(c.Dilation-1)*c.Throttled/(c.Wait+c.Throttled))
}

// add adds what was seen of another container.
func (h *held) add(other held) {
	h.run += other.run
	h.throttled += other.throttled
	h.stopped += other.stopped
	h.own += other.own
	h.threads += other.threads
	h.all = append(h.all, other.all...)
	h.quotaBurst = max(h.quotaBurst, other.quotaBurst)
}

// limit is one that held a pod back.
type limit struct {
	// container is whose it is, empty for that of the pod as a whole, or of its only container.
	container string
	milliCPU  int64 // 0 where none is known
	// ofPod reports that it is that of the pod as a whole, and assumed that it is one of several, and that the gauge does not report which.
	ofPod, assumed bool
	// seconds is for how long it held the pod back, and held what was seen of containers that it did: not all, where the gauge does
	// not report it.
	seconds float64
	held

	// count is how many threads it holds back, and load what one of them does that has its part of the limit: with bursts for which
	// that makes it take stretch times as long, as was observed.
	count   int
	load    throttling.Load
	stretch float64
	// seen is what was seen of what it holds back, of one container or of the pod, and processors how many the node has.
	seen       []throttling.Interval
	processors int
}

// cores returns the limit in processors.
func (l *limit) cores() float64 { return float64(l.milliCPU) / 1000 }

// quantity returns the limit, nil where none is known.
func (l *limit) quantity() *resource.Quantity {
	if l.milliCPU == 0 {
		return nil
	}
	return resource.NewMilliQuantity(l.milliCPU, resource.DecimalSI)
}

// heldBy returns the limits that held the pod back, the one that did so for longest first.
func (r *resident) heldBy() []limit {
	if r.times.Throttled <= 0 {
		return nil
	}
	whole, containers := cgroup.Limits(r.pod)
	var all []limit
	add := func(of limit) {
		i := slices.IndexFunc(all, func(l limit) bool { return l.container == of.container })
		if i < 0 {
			all = append(all, of)
			return
		}
		all[i].seconds += of.seconds
		all[i].add(of.held)
	}
	left := r.times.Throttled
	for id, h := range r.held {
		if h.throttled <= 0 {
			continue
		}
		if of := r.limitOf(id, h, whole, containers); of != nil {
			left -= h.throttled
			add(*of)
		}
	}
	const rounding = 0.01
	if left > rounding*r.times.Throttled {
		of := smallest(whole, containers)
		of.seconds = left
		add(of)
	}
	for i := range all {
		if len(containers) == 1 && whole == 0 {
			all[i].container = ""
		}
		r.fit(&all[i])
	}
	slices.SortFunc(all, func(a, b limit) int {
		return cmp.Or(cmp.Compare(b.seconds, a.seconds), cmp.Compare(a.container, b.container))
	})
	return all
}

// limitOf returns the limit that held a container back, its own or that of the pod as a whole; nil where it is not known.
func (r *resident) limitOf(id string, h held, whole int64, containers []cgroup.Limited) *limit {
	name := containerName(r.pod, id)
	i := slices.IndexFunc(containers, func(c cgroup.Limited) bool { return c.Name == name })
	if i < 0 {
		return nil
	}
	own := containers[i].MilliCPU
	switch {
	case own == 0 && whole == 0:
		return nil
	case own == 0, whole > 0 && r.times.Run/float64(whole) > h.run/float64(own): // it is nearer to the latter
		return &limit{milliCPU: whole, ofPod: true, seconds: h.throttled, held: h}
	default:
		return &limit{container: name, milliCPU: own, seconds: h.throttled, held: h}
	}
}

// containerName returns the name of the container of an ID, as runtimes have it, empty if the pod has none of it.
func containerName(pod *corev1.Pod, id string) string {
	for _, list := range [][]corev1.ContainerStatus{pod.Status.ContainerStatuses, pod.Status.InitContainerStatuses} {
		for i := range list {
			if _, of, _ := strings.Cut(list[i].ContainerID, "://"); of == id {
				return list[i].Name
			}
		}
	}
	return ""
}

// smallest returns the limit that is assumed to have held a pod back where the gauge does not report which one did.
func smallest(whole int64, containers []cgroup.Limited) limit {
	of, others := limit{milliCPU: whole, ofPod: whole > 0}, 0
	for _, c := range containers {
		if c.MilliCPU == 0 {
			continue
		}
		others++
		if of.milliCPU == 0 || c.MilliCPU < of.milliCPU {
			of.container, of.milliCPU, of.ofPod = c.Name, c.MilliCPU, false
		}
	}
	of.assumed = others > 1 || others == 1 && whole > 0
	return of
}

// fit finds what a limit holds back: the pod, or as far as is known the container.
func (r *resident) fit(l *limit) {
	threads, run := r.threads, r.times.Run
	l.load.Loading, l.stretch = min(1, r.cpu), 1+r.limited()*l.seconds/r.times.Throttled
	switch {
	case l.container == "":
	case l.own > 0:
		threads = l.threads / l.run
		l.load.Loading, l.stretch = min(1, l.run/l.own), 1+l.stopped/l.own
	case l.run > 0 && r.cpu > 0:
		threads *= l.run / r.times.Run
		run = l.run
		l.stretch = 1 + l.throttled*r.cpu/l.run
	default:
		l.load.Loading = 0 // it is not known what the container does
	}
	const largest = 1000 // as of a gauge's dilations
	l.stretch = min(l.stretch, largest)
	l.processors, l.seen = r.node.cpus, l.all
	if l.load.Loading > 0 && (l.ofPod || l.own == 0) {
		l.seen = []throttling.Interval{{
			Seconds: r.seconds, Run: run, Throttled: run / l.load.Loading * (l.stretch - 1), Threads: threads, Loading: l.load.Loading, Burst: r.burst,
		}}
	}
	// As many threads as do not reach a limit are not held back by it.
	l.count = int(min(max(math.Round(threads), math.Floor(l.cores())+1), float64(r.node.maxThreads())))
	if l.milliCPU > 0 && l.load.Loading > 0 && l.stretch >= 1+worthAtLeast {
		l.load = l.load.Fitted(l.cores()/float64(l.count), l.stretch)
	}
}

// findLimits finds the limits that held the pod back. The bursts that one of the pod as a whole did become those of the model.
func (r *resident) findLimits() {
	r.limits = r.heldBy()
	if r.index < 0 || len(r.limits) != 1 || r.limits[0].container != "" || r.limits[0].load.Burst == 0 {
		return
	}
	vector := slices.Clone(r.node.model.Pods[r.index].Vector)
	d := &vector[0]
	load := r.limits[0].load
	if d.Threads > 1 {
		load = throttling.Load{Threads: d.Threads, Loading: d.Loading}.Fitted(r.limits[0].cores(), r.limits[0].stretch)
	}
	d.Burst = load.Burst
	r.node.model = r.node.model.WithVector(r.index, vector)
}

// shortenBursts shortens the observed bursts in the model of a pod that its limit did not hold back: such bursts differ less than the model
// takes them to, and would be held back there.
func (r *resident) shortenBursts() {
	_, limit := cgroup.CPU(r.pod)
	if r.index < 0 || r.burst == 0 || limit == nil || limit.IsZero() {
		return
	}
	vector := slices.Clone(r.node.model.Pods[r.index].Vector)
	d, cores := &vector[0], limit.AsApproximateFloat64()
	load := throttling.Load{Threads: max(1, d.Threads), Loading: d.Loading, Burst: d.Burst}
	if load.Stretch(cores) <= ended {
		return
	}
	d.Burst = min(d.Burst, load.Fitted(cores, ended).Burst)
	r.node.model = r.node.model.WithVector(r.index, vector)
}

// limited returns the part of the dilation that limits are the cause of.
func (o *observation) limited() float64 {
	sum := o.times.Wait + o.times.Throttled + o.stolen
	if sum <= 0 {
		return 0
	}
	return max(0, o.dilation-1) * o.times.Throttled / sum
}

const (
	// ended is the stretch at which a limit counts as one that holds nothing back any more.
	ended = 1.02
	// unnoticed is for how much of the time that threads run a limit that is enough for them may stop them: less than the 1 % that
	// are worth a word, since what was seen is a sample of what they do.
	unnoticed = 0.003
	// headroom is how many times what a load uses on average a limit must be at least, since loads change.
	headroom = 1.5
	// nearly is the part of a processor for each thread beyond which a limit is a whole one for each: that is always enough. So it
	// is beyond unsure where it was not seen how long bursts are.
	nearly, unsure = 0.9, 0.75
)

// enough returns a limit, in thousandths, that holds back no more what was seen, and how many times longer that one still makes what it
// does.
func (l *limit) enough() (milliCPU int64, stretch float64) {
	const core, step = 1000, 10 // thousandths; steps are easy to read
	if l.load.Loading == 0 {
		return int64(l.count) * core, 1
	}
	pattern := throttling.Observed(l.seen, throttling.Quota{Limit: l.cores(), Burst: l.quotaBurst}, l.processors)
	most := float64(min(l.count, max(1, l.processors)))
	cores := max(pattern.LimitFor(unnoticed, l.quotaBurst), headroom*pattern.Loading*float64(pattern.Threads))
	whole := nearly
	if !slices.ContainsFunc(l.seen, func(v throttling.Interval) bool { return v.Burst > 0 }) {
		whole = unsure
	}
	if cores > whole*most {
		cores = most
	}
	milliCPU = int64(math.Ceil(cores*core/step)) * step
	then := pattern.Under(throttling.Quota{Limit: float64(milliCPU) / core, Burst: l.quotaBurst})
	return milliCPU, 1 + pattern.Loading*then.Time
}
