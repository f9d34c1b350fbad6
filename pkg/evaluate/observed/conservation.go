package observed

import "math"

// A thread waits for a processor only while something else runs on it, or the hypervisor has it. So a pod of one thread cannot have
// Waited for a neighbour for longer than that neighbour ran, and whatever it waited for longer than all others ran together, it
// Waited for the last one: with W the time that it waited, r the times that each other ran, and R their sum, for at least
//
//	W − (R − r) = r − (R − W)
//
// of the last. Where they ran for less than it waited, something ran that was not observed, of which no more is known than that it
// ran for W − R at least; as long again is allowed for what it may have taken of the others' part. Both are r − |R − W|.
//
// Several threads can wait at once for what runs, and for each other.

// beside is for how long, while a pod was observed, everything ran that its threads may have waited for, in seconds of these threads.
type beside struct {
	itself, system, stolen float64
	ended                  float64   // pods that have ended since
	By                     []float64 // in the order of the pods of the node
	Total                  float64   // of them all
}

// beside returns what ran beside the threads of a pod.
func (r *Pod) beside() *beside {
	threads := max(1, r.Threads)
	perNode := threads * r.Seconds / r.Node.Seconds
	b := &beside{
		itself: (threads - 1) * r.Times.Run, system: r.Node.system * perNode, stolen: r.Node.Stolen * perNode, ended: r.Node.ended * perNode,
		By: make([]float64, len(r.Node.Pods)),
	}
	b.Total = b.itself + b.system + b.stolen + b.ended
	for k, other := range r.Node.Pods {
		if other != r && other.Seconds > 0 {
			b.By[k] = threads * other.Times.Run * min(1, r.Seconds/other.Seconds)
			b.Total += b.By[k]
		}
	}
	return b
}

// least returns for how long a pod waited for what at least, in times of its own, given how much it waited in all.
func (r *Pod) least(waited float64) *Waiting {
	least := &Waiting{By: make([]float64, len(r.Node.Model.Pods))}
	if r.Times.Wait <= 0 || waited <= 0 {
		return least
	}
	perSecond := r.Waited() / r.Times.Wait
	b := r.beside()
	missing := math.Abs(b.Total - waited/perSecond)
	of := func(ran float64) float64 { return max(0, ran-missing) * perSecond }
	least.Itself, least.System, least.Ended = of(b.itself), of(b.system), of(b.ended)
	for k, other := range r.Node.Pods {
		if other.Index >= 0 {
			least.By[other.Index] = of(b.By[k])
		}
	}
	return least
}

// scale multiplies all parts.
func (w *Waiting) scale(factor float64) {
	w.Itself *= factor
	w.System *= factor
	w.Ended *= factor
	for i := range w.By {
		w.By[i] *= factor
	}
}

// raise raises each part to what it is at least, so that all together are no more than a bound: what is not explained becomes less,
// and then what the others are more than they are at least.
func (w *Waiting) raise(least *Waiting, bound float64) {
	above := func(part, least float64) float64 { return max(0, part-least) }
	rest := above(w.Itself, least.Itself) + above(w.System, least.System) + above(w.Ended, least.Ended)
	for i := range w.By {
		rest += above(w.By[i], least.By[i])
	}
	kept := 1.0
	if room := max(0, bound-least.Total()); rest > room {
		kept = room / rest
	}
	raised := func(part, least float64) float64 { return least + kept*above(part, least) }
	w.Itself, w.System, w.Ended = raised(w.Itself, least.Itself), raised(w.System, least.System), raised(w.Ended, least.Ended)
	for i := range w.By {
		w.By[i] = raised(w.By[i], least.By[i])
	}
}
