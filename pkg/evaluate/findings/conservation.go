package findings

import "math"

// A thread waits for a processor only while something else runs on it, or the hypervisor has it. So a pod of one thread cannot have
// waited for a neighbour for longer than that neighbour ran, and whatever it waited for longer than all others ran together, it
// waited for the last one: with W the time that it waited, r the times that each other ran, and R their sum, for at least
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
	by                     []float64 // in the order of the pods of the node
	total                  float64   // of them all
}

// beside returns what ran beside the threads of a pod.
func (r *resident) beside() *beside {
	threads := max(1, r.threads)
	perNode := threads * r.seconds / r.node.seconds
	b := &beside{
		itself: (threads - 1) * r.times.Run, system: r.node.system * perNode, stolen: r.node.stolen * perNode,
		by: make([]float64, len(r.node.pods)),
	}
	b.total = b.itself + b.system + b.stolen
	for k, other := range r.node.pods {
		if other != r && other.seconds > 0 {
			b.by[k] = threads * other.times.Run * min(1, r.seconds/other.seconds)
			b.total += b.by[k]
		}
	}
	return b
}

// least returns for how long a pod waited for what at least, in times of its own, given how much it waited in all.
func (r *resident) least(waited float64) *waiting {
	least := &waiting{by: make([]float64, len(r.node.model.Pods))}
	if r.times.Wait <= 0 || waited <= 0 {
		return least
	}
	perSecond := r.waited() / r.times.Wait
	b := r.beside()
	missing := math.Abs(b.total - waited/perSecond)
	of := func(ran float64) float64 { return max(0, ran-missing) * perSecond }
	least.itself, least.system = of(b.itself), of(b.system)
	for k, other := range r.node.pods {
		if other.index >= 0 {
			least.by[other.index] = of(b.by[k])
		}
	}
	return least
}

// elsewhere returns for how long something would have run beside a pod on another node.
func (b *beside) elsewhere(r *resident, target *observedNode) float64 {
	return b.itself + b.stolen + max(1, r.threads)*r.seconds*target.busy/target.seconds
}

// scale multiplies all parts.
func (w *waiting) scale(factor float64) {
	w.itself *= factor
	w.system *= factor
	for i := range w.by {
		w.by[i] *= factor
	}
}

// raise raises each part to what it is at least, so that all together are no more than a bound: what is not explained becomes less,
// and then what the others are more than they are at least.
func (w *waiting) raise(least *waiting, bound float64) {
	above := func(part, least float64) float64 { return max(0, part-least) }
	rest := above(w.itself, least.itself) + above(w.system, least.system)
	for i := range w.by {
		rest += above(w.by[i], least.by[i])
	}
	kept := 1.0
	if room := max(0, bound-least.total()); rest > room {
		kept = room / rest
	}
	raised := func(part, least float64) float64 { return least + kept*above(part, least) }
	w.itself, w.system = raised(w.itself, least.itself), raised(w.system, least.system)
	for i := range w.by {
		w.by[i] = raised(w.by[i], least.by[i])
	}
}
