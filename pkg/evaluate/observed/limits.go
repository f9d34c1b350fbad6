package observed

import (
	"cmp"
	"math"
	"slices"
	"strings"
	"sync"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/resource"

	"loadline.dev/loadline/pkg/cgroup"
	"loadline.dev/loadline/pkg/gauge/usage"
	"loadline.dev/loadline/pkg/model/throttling"
)

// WorthAtLeast is the smallest part of a dilation that is worth a change.
const WorthAtLeast = 0.05

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
func (o *Observation) hold(c *usage.Container, seconds float64) {
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

// Limit is one that held a pod back.
type Limit struct {
	// Container is whose it is, empty for that of the pod as a whole, or of its only container.
	Container string
	MilliCPU  int64 // 0 where none is known
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
	Stretch float64
	// seen is what was seen of what it holds back, of one container or of the pod, and processors how many the node has.
	seen       []throttling.Interval
	processors int
	// enough returns what Enough does, which is found once.
	enough func() (milliCPU int64, stretch float64)
}

// cores returns the limit in processors.
func (l *Limit) cores() float64 { return float64(l.MilliCPU) / core }

// quantity returns the limit, nil where none is known.
func (l *Limit) quantity() *resource.Quantity {
	if l.MilliCPU == 0 {
		return nil
	}
	return resource.NewMilliQuantity(l.MilliCPU, resource.DecimalSI)
}

// heldBy returns the limits that held the pod back, the one that did so for longest first.
func (r *Pod) heldBy() []Limit {
	if r.Times.Throttled <= 0 {
		return nil
	}
	whole, containers := cgroup.Limits(r.Object)
	var all []Limit
	add := func(of Limit) {
		i := slices.IndexFunc(all, func(l Limit) bool { return l.Container == of.Container })
		if i < 0 {
			all = append(all, of)
			return
		}
		all[i].seconds += of.seconds
		all[i].add(of.held)
	}
	left := r.Times.Throttled
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
	if left > rounding*r.Times.Throttled {
		of := smallest(whole, containers)
		of.seconds = left
		add(of)
	}
	for i := range all {
		if len(containers) == 1 && whole == 0 {
			all[i].Container = ""
		}
		r.fit(&all[i])
	}
	slices.SortFunc(all, func(a, b Limit) int {
		return cmp.Or(cmp.Compare(b.seconds, a.seconds), cmp.Compare(a.Container, b.Container))
	})
	return all
}

// limitOf returns the limit that held a container back, its own or that of the pod as a whole; nil where it is not known.
func (r *Pod) limitOf(id string, h held, whole int64, containers []cgroup.Limited) *Limit {
	name := containerName(r.Object, id)
	i := slices.IndexFunc(containers, func(c cgroup.Limited) bool { return c.Name == name })
	if i < 0 {
		return nil
	}
	own := containers[i].MilliCPU
	switch {
	case own == 0 && whole == 0:
		return nil
	case own == 0, whole > 0 && r.Times.Run/float64(whole) > h.run/float64(own): // it is nearer to the latter
		return &Limit{MilliCPU: whole, ofPod: true, seconds: h.throttled, held: h}
	default:
		return &Limit{Container: name, MilliCPU: own, seconds: h.throttled, held: h}
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
func smallest(whole int64, containers []cgroup.Limited) Limit {
	of, others := Limit{MilliCPU: whole, ofPod: whole > 0}, 0
	for _, c := range containers {
		if c.MilliCPU == 0 {
			continue
		}
		others++
		if of.MilliCPU == 0 || c.MilliCPU < of.MilliCPU {
			of.Container, of.MilliCPU, of.ofPod = c.Name, c.MilliCPU, false
		}
	}
	of.assumed = others > 1 || others == 1 && whole > 0
	return of
}

// fit finds what a limit holds back: the pod, or as far as is known the container.
func (r *Pod) fit(l *Limit) {
	threads, run := r.Threads, r.Times.Run
	l.load.Loading, l.Stretch = min(1, r.CPU), 1+r.limited()/r.Longer()*l.seconds/r.Times.Throttled
	switch {
	case l.Container == "":
	case l.own > 0:
		threads = l.threads / l.run
		l.load.Loading, l.Stretch = min(1, l.run/l.own), 1+l.stopped/l.own
	case l.run > 0 && r.CPU > 0:
		threads *= l.run / r.Times.Run
		run = l.run
		l.Stretch = 1 + l.throttled*r.CPU/l.run
	default:
		l.load.Loading = 0 // it is not known what the container does
	}
	const largest = 1000 // as of a gauge's dilations
	l.Stretch = min(l.Stretch, largest)
	l.processors, l.seen = r.Node.CPUs, l.all
	if l.load.Loading > 0 && (l.ofPod || l.own == 0) {
		l.seen = []throttling.Interval{{
			Seconds: r.Seconds, Run: run, Throttled: run / l.load.Loading * (l.Stretch - 1), Threads: threads, Loading: l.load.Loading, Burst: r.Burst,
		}}
	}
	// As many threads as do not reach a limit are not held back by it.
	l.count = int(min(max(math.Round(threads), math.Floor(l.cores())+1), float64(r.Node.maxThreads())))
	if l.MilliCPU > 0 && l.load.Loading > 0 && l.Stretch >= 1+WorthAtLeast {
		l.load = l.load.Fitted(l.cores()/float64(l.count), l.Stretch)
	}
	fitted := *l
	l.enough = sync.OnceValues(fitted.findEnough)
}

// findLimits finds the limits that held the pod back. The bursts that one of the pod as a whole did become those of the model.
func (r *Pod) findLimits() {
	r.Limits = r.heldBy()
	if r.Index < 0 || len(r.Limits) != 1 || r.Limits[0].Container != "" || r.Limits[0].load.Burst == 0 {
		return
	}
	vector := slices.Clone(r.Node.Model.Pods[r.Index].Vector)
	d := &vector[0]
	load := r.Limits[0].load
	if d.Threads > 1 {
		load = throttling.Load{Threads: d.Threads, Loading: d.Loading}.Fitted(r.Limits[0].cores(), r.Limits[0].Stretch)
	}
	d.Burst = load.Burst
	r.Node.Model = r.Node.Model.WithVector(r.Index, vector)
}

// shortenBursts shortens the observed bursts in the model of a pod that its limit did not hold back: such bursts differ less than the model
// takes them to, and would be held back there.
func (r *Pod) shortenBursts() {
	_, Limit := cgroup.CPU(r.Object)
	if r.Index < 0 || r.Burst == 0 || Limit == nil || Limit.IsZero() {
		return
	}
	vector := slices.Clone(r.Node.Model.Pods[r.Index].Vector)
	d, cores := &vector[0], Limit.AsApproximateFloat64()
	load := throttling.Load{Threads: max(1, d.Threads), Loading: d.Loading, Burst: d.Burst}
	if load.Stretch(cores) <= ended {
		return
	}
	d.Burst = min(d.Burst, load.Fitted(cores, ended).Burst)
	r.Node.Model = r.Node.Model.WithVector(r.Index, vector)
}

// limited returns the part of the dilation that limits are the cause of.
func (o *Observation) limited() float64 {
	sum := o.Times.Wait + o.Times.Throttled + o.stolen
	if sum <= 0 {
		return 0
	}
	return o.excess() * o.Times.Throttled / sum
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

// Enough returns a limit, in thousandths, that holds back no more what was seen, and how many times longer that one still makes what it
// does. The first call takes some milliseconds.
func (l *Limit) Enough() (milliCPU int64, stretch float64) { return l.enough() }

// findEnough finds what Enough returns.
func (l *Limit) findEnough() (milliCPU int64, stretch float64) {
	const step = 10 // thousandths: easy to read
	if l.load.Loading == 0 {
		return int64(l.count) * core, 1
	}
	pattern := l.pattern()
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
	return milliCPU, l.stretch(pattern, milliCPU)
}

// core is a processor, in thousandths.
const core = 1000

// pattern returns in what pattern the threads compute that the limit holds back.
func (l *Limit) pattern() throttling.Pattern {
	return throttling.Observed(l.seen, throttling.Quota{Limit: l.cores(), Burst: l.quotaBurst}, l.processors)
}

// stretch returns how many times longer a limit in thousandths makes take what threads of a pattern do.
func (l *Limit) stretch(p throttling.Pattern, milliCPU int64) float64 {
	return 1 + p.Loading*p.Under(throttling.Quota{Limit: float64(milliCPU) / core, Burst: l.quotaBurst}).Time
}

// Under returns how many times longer another limit, in thousandths and above 0, would make take what was seen. It takes some milliseconds.
func (l *Limit) Under(milliCPU int64) (stretch float64) {
	if l.load.Loading == 0 {
		return 1
	}
	return l.stretch(l.pattern(), milliCPU)
}

// Scaled returns by what factor the limit would add more to a dilation than it did if what it holds back computed for a times as much of its
// time, at least 0. It takes some milliseconds.
func (l *Limit) Scaled(load float64) float64 {
	pattern := l.pattern()
	now := l.stretch(pattern, l.MilliCPU) - 1
	if l.load.Loading == 0 || now <= 0 {
		return load
	}
	pattern.Loading = min(1, pattern.Loading*load)
	return (l.stretch(pattern, l.MilliCPU) - 1) / now
}
