package loading

import "loadline.dev/loadline/pkg/model/poissonbinomial"

// Oversubscribes reports whether the job has more threads somewhere than there are servers,
// so that it waits even when it is alone.
func (v Vector) Oversubscribes(servers []int) bool {
	for i, d := range v {
		if !d.Idle() && d.ThreadCount() > servers[i] {
			return true
		}
	}
	return false
}

// Response returns how long a job takes that waits so long at each resource, as
// multiples of its service there, in own times.
func (v Vector) Response(waits []float64) float64 {
	response := 1.0
	for i, d := range v {
		response += d.Loading * waits[i]
	}
	return response
}

// AloneToFirstOrder returns how long the job takes alone on a node, in own times, to first order, without the bounds of
// the solvers: 1 + Σ_i s_i·E[(B_i + 1 − c_i)^+]/c_i, where a thread finds B_i of its
// siblings at resource i.
func (v Vector) AloneToFirstOrder(servers []int) float64 {
	alone := 1.0
	for i, d := range v {
		if !d.Idle() {
			alone += d.EffectiveSensitivity() * d.SelfWait(servers[i])
		}
	}
	return alone
}

// SelfWait returns E[(B + 1 − c)^+]/c, B the number of its siblings that a thread
// finds at a resource with c servers. It takes O(t) time for t > c > 1 threads.
func (d Demand) SelfWait(servers int) float64 {
	t := d.ThreadCount()
	switch {
	case t <= servers:
		return 0
	case servers == 1:
		return float64(t-1) * d.Pressure
	}
	wait := 0.0
	low, siblings := d.Siblings()
	for k, p := range siblings {
		wait += p * WaitBehind(float64(low+k), servers)
	}
	return wait
}

// Siblings returns the probabilities that a thread finds low, low + 1, … of its siblings at the resource.
func (d Demand) Siblings() (low int, probability []float64) {
	return poissonbinomial.Binomial(d.ThreadCount()-1, d.Pressure)
}

// WaitBehind returns how long a thread waits that finds x others at a resource with c
// servers, as a multiple of its service: (x + 1 − c)^+/c.
func WaitBehind(x float64, c int) float64 { return max(0, x+1-float64(c)) / float64(c) }
