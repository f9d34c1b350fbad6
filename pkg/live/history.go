package live

import (
	"math"
	"sync"
	"time"

	"loadline.dev/loadline/pkg/evaluate/observed"
	"loadline.dev/loadline/pkg/gauge/usage"
)

const (
	// bucket is the time that a value of the past stands for, and kept how many of them: an hour.
	bucket = 30 * time.Second
	kept   = 120
)

// History is what pods did in the last hour. It takes about 12 bytes for each pod and half a minute. The zero value is empty; it is safe for
// concurrent use.
type History struct {
	mutex sync.Mutex
	pods  map[string]*past
	until map[string]time.Time // the last interval that was taken, by node
	now   int64                // the last bucket
}

// past is a ring of samples, by the number of the bucket modulo its length, and the sums of the latest one.
type past struct {
	samples [kept]sample
	last    int64 // the bucket of the latest sample
	seconds float64
	sums    Moment // times seconds
}

// sample is a moment in little room: numbers of threads in hundredths, up to 655. A dilation of 0 stands for one that is not known.
type sample struct {
	dilation                      float32
	run, wait, throttled, blocked uint16
}

// Moment is what a pod did at a time: how many of its threads ran, waited for a processor, were held back by a limit, and were blocked.
type Moment struct {
	Dilation, Run, Wait, Throttled, Blocked float64
}

// ahead is how far the clock of a node may be ahead: what a node says of later is left out, so that none can push the hour of all others away.
const ahead = time.Minute

// Add takes what is new in the intervals of a cluster that was observed at a moment.
func (h *History) Add(in *observed.Input, c *observed.Cluster, taken time.Time) {
	names := map[string]map[string]string{} // by node, of the UIDs of its pods
	for _, n := range c.Nodes {
		of := make(map[string]string, len(n.Pods))
		for _, p := range n.Pods {
			of[p.UID] = p.Name()
		}
		names[n.Name] = of
	}
	h.mutex.Lock()
	defer h.mutex.Unlock()
	if h.pods == nil {
		h.pods, h.until = map[string]*past{}, map[string]time.Time{}
	}
	until := map[string]time.Time{} // without nodes that are gone
	for i := range in.Sights {
		s := &in.Sights[i]
		until[s.Node] = h.until[s.Node]
		for k := range s.Intervals {
			if v := &s.Intervals[k]; v.End.After(until[s.Node]) && possible(v, taken) {
				h.add(v, names[s.Node])
				until[s.Node] = v.End
			}
		}
	}
	h.until = until
	for name, p := range h.pods {
		if h.now-p.last >= kept {
			delete(h.pods, name)
		}
	}
}

// possible reports whether an interval may have ended when a node says that it did.
func possible(v *usage.Interval, taken time.Time) bool {
	return v.End.Unix() > 0 && !v.End.After(taken.Add(ahead))
}

func (h *History) add(v *usage.Interval, names map[string]string) {
	at := v.End.Unix() / int64(bucket/time.Second)
	h.now = max(h.now, at)
	if at <= h.now-kept {
		return
	}
	for i := range v.Pods {
		p := &v.Pods[i]
		name := names[p.UID]
		if name == "" {
			continue
		}
		of := h.pods[name]
		if of == nil {
			of = &past{last: at}
			h.pods[name] = of
		}
		of.add(at, p)
	}
}

// add adds an interval of the pod to a bucket. One before the latest is left out: the pod was on another node then.
func (of *past) add(at int64, p *usage.Pod) {
	if at < of.last {
		return
	}
	if at > of.last {
		for bucket := max(of.last+1, at-kept+1); bucket <= at; bucket++ {
			of.samples[bucket%kept] = sample{}
		}
		of.last, of.seconds, of.sums = at, 0, Moment{}
	}
	of.seconds += p.Seconds
	of.sums.Dilation += p.Dilation * p.Seconds
	of.sums.Run += p.Run
	of.sums.Wait += p.Wait
	of.sums.Throttled += p.Throttled
	of.sums.Blocked += p.Blocked
	if of.seconds > 0 {
		of.samples[at%kept] = sample{
			float32(of.sums.Dilation / of.seconds), hundredths(of.sums.Run / of.seconds), hundredths(of.sums.Wait / of.seconds),
			hundredths(of.sums.Throttled / of.seconds), hundredths(of.sums.Blocked / of.seconds),
		}
	}
}

func hundredths(threads float64) uint16 { return uint16(math.Round(100 * min(max(threads, 0), 650))) }

// Pod returns what a pod did in the last hour, oldest first, from when on it is known. A moment at which nothing was observed has a
// dilation of NaN.
func (h *History) Pod(name string) []Moment {
	h.mutex.Lock()
	defer h.mutex.Unlock()
	of := h.pods[name]
	if of == nil {
		return nil
	}
	var all []Moment
	for at := h.now - kept + 1; at <= h.now; at++ {
		var s sample
		if at > of.last-kept && at <= of.last {
			s = of.samples[at%kept]
		}
		switch {
		case s.dilation > 0:
			all = append(all, Moment{float64(s.dilation), float64(s.run) / 100, float64(s.wait) / 100, float64(s.throttled) / 100, float64(s.blocked) / 100})
		case len(all) > 0:
			all = append(all, Moment{Dilation: math.NaN()})
		}
	}
	return all
}

// Dilations returns those of a pod in the last hour.
func (h *History) Dilations(name string) []float64 {
	moments := h.Pod(name)
	all := make([]float64, len(moments))
	for i := range moments {
		all[i] = moments[i].Dilation
	}
	return all
}
