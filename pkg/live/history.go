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

// sample is what a pod did in a bucket: seconds, but for the dilation, which is weighted by them.
type sample struct {
	seconds, dilation, run, wait, throttled, blocked float32
}

// History is what pods did in the last hour. It takes about 24 bytes for each pod and half a minute. The zero value is empty; it is safe for
// concurrent use.
type History struct {
	mutex sync.Mutex
	pods  map[string]*past
	until map[string]time.Time // the last interval that was taken, by node
	now   int64                // the last bucket
}

// past is a ring of samples, by the number of the bucket modulo its length.
type past struct {
	samples [kept]sample
	last    int64 // the bucket of the latest sample
}

// Add takes what is new in the intervals of a cluster that was observed.
func (h *History) Add(in *observed.Input, c *observed.Cluster) {
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
	for i := range in.Sights {
		s := &in.Sights[i]
		for k := range s.Intervals {
			if v := &s.Intervals[k]; v.End.After(h.until[s.Node]) {
				h.add(v, names[s.Node])
				h.until[s.Node] = v.End
			}
		}
	}
	for name, p := range h.pods {
		if h.now-p.last >= kept {
			delete(h.pods, name)
		}
	}
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
		for ; of.last < at; of.last++ {
			of.samples[(of.last+1)%kept] = sample{}
		}
		if at <= of.last-kept {
			continue
		}
		s := &of.samples[at%kept]
		s.seconds += float32(p.Seconds)
		s.dilation += float32(p.Dilation * p.Seconds)
		s.run += float32(p.Run)
		s.wait += float32(p.Wait)
		s.throttled += float32(p.Throttled)
		s.blocked += float32(p.Blocked)
	}
}

// Moment is what a pod did at a time: how many of its threads ran, waited for a processor, were held back by a limit, and were blocked.
type Moment struct {
	Dilation, Run, Wait, Throttled, Blocked float64
}

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
		case s.seconds > 0:
			n := float64(s.seconds)
			all = append(all, Moment{float64(s.dilation) / n, float64(s.run) / n, float64(s.wait) / n, float64(s.throttled) / n, float64(s.blocked) / n})
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
