package mix

import (
	"slices"

	"loadline.dev/loadline/pkg/model/queueing"
	"loadline.dev/loadline/pkg/model/wakeup"
)

// wake adds to the dilations how much longer jobs wait for a processor after they wake up, although it is due to them: see package
// wakeup. Only jobs whose bursts are known do. Utilizations stay as they are without that.
func (x *Mix) wake(classes []class, solution *queueing.Solution) {
	at := x.of.class.Processor
	wakes := func(c class) bool { return c.vector.Uses(at) && c.burst > 0 }
	if solution == nil || at < 0 || x.of.class.Servers[at] < 2 || !slices.ContainsFunc(classes, wakes) {
		return
	}
	var threads []wakeup.Class
	for c, class := range classes {
		if !class.vector.Uses(at) {
			continue
		}
		d := class.vector[at]
		away := class.vector.Response(solution.Waits[c]) - d.Loading*(1+solution.Waits[c][at])
		for k := class.first; k < class.end; k++ {
			threads = append(threads, x.parts[k].woken(at, x.parts[k].Copies, class.alone*x.parts[k].dilation, away))
		}
	}
	delays := wakeup.Delays(x.of.class.Servers[at], threads)
	for _, class := range classes {
		if !class.vector.Uses(at) {
			continue
		}
		d := class.vector[at]
		for k := class.first; k < class.end; k++ {
			p := &x.parts[k]
			p.dilation = max(1, (class.alone*p.dilation+d.Loading*delays[0])/(class.alone+d.Loading*p.wokenAlone))
			delays = delays[1:]
		}
	}
}

// woken returns the threads of some jobs of the type that respond in some own times, of which they are away from the processor
// for some.
func (l *localType) woken(at, copies int, response, away float64) wakeup.Class {
	d := l.vector[at]
	return wakeup.Class{
		Threads: copies * d.ThreadCount(), Loading: d.Loading, Burst: l.burst,
		Present: max(0, min(1, 1-away/response)), Running: min(1, d.Loading/response),
	}
}

// wakeAlone sets for how long threads of the type wait when they wake up while only their siblings are there.
func (l *localType) wakeAlone(servers []int, at int) {
	if !l.vector.Uses(at) {
		return
	}
	d := l.vector[at]
	if l.burst = d.Burst; l.burst > 0 && d.ThreadCount() > 1 {
		l.wokenAlone = wakeup.Delays(servers[at], []wakeup.Class{l.woken(at, 1, l.alone, 1-d.Loading)})[0]
	}
}
