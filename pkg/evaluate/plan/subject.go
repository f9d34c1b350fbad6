package plan

import (
	corev1 "k8s.io/api/core/v1"

	"loadline.dev/loadline/pkg/evaluate/observed"
	"loadline.dev/loadline/pkg/node"
)

// subject is a pod that was observed, and what of its dilation comes from what. It is the same in all states.
type subject struct {
	pod *observed.Pod
	// weight is how much its excess counts, and threshold the dilation from which it has some.
	weight, threshold float64
	// sure reports whether the observation is one to act on.
	sure bool
	// promise is that of its profile.
	promise node.Promise

	// home is the host where it was observed, as it was then; nil for a pod that uses next to nothing.
	home *host
	// exact and rough say what its dilation comes from by the model and by estimates of it, nil until home is solved so.
	exact, rough *breakdown
}

// breakdown is what adds how much to the dilation of a pod as it was observed.
type breakdown struct {
	// What no change takes away, waiting at disks among it, its limits, what is not clear, and waiting as far as the model explains it. The
	// model has it wait for modelled.
	fixed, limits, unclear, explained, modelled float64
	// limited is what the limit of each container adds, that of the pod as a whole by no name.
	limited map[string]float64
	// throttled is by how much its limit makes longer what it takes alone, by the model; 1 where that is not known.
	throttled float64
}

// newSubject returns a pod as it was observed, before it is known how it fares by the model of its node.
func newSubject(p *observed.Pod, o *Options) *subject {
	s := &subject{
		pod: p, weight: weightOf(p.Object), threshold: o.Above,
		sure: !p.Short() && p.Dilation-p.Margin() >= observed.Broken(o.Above),
	}
	if o.Promise != nil {
		s.promise = o.Promise(p.Object)
	}
	if p.Index >= 0 {
		if most := s.boundOn(p.Node.Model.Servers[0]).Max; most > 0 {
			s.threshold = min(s.threshold, most)
		}
	}
	if !s.sure {
		s.threshold = max(s.threshold, p.Dilation)
	}
	return s
}

// explain returns why the pod is slowed down, given for how long it waits by the model and by how much its limit makes longer what it takes
// alone.
func (s *subject) explain(modelled, throttled float64) (*breakdown, error) {
	p, b := s.pod, &breakdown{modelled: modelled, throttled: throttled}
	if p.Dilation < p.Node.Slowed || p.Node.Prediction == nil {
		b.explained = min(p.Waited(), observed.Believed*modelled)
		b.fixed = max(0, p.Dilation-1) - b.explained
		return b, nil
	}
	at, err := p.AtProcessors()
	if err != nil {
		return nil, err
	}
	b.fixed = p.AtDisks + at.Hypervisor + at.Waiting.Ended
	b.limits, b.unclear = at.Limits.Sum(), at.Unclear
	b.explained = at.Waiting.Total() - at.Waiting.Ended
	if most := observed.Believed * modelled; b.explained > most { // the rest is due to what runs there, whatever the model says
		b.unclear, b.explained = b.unclear+b.explained-most, most
	}
	b.limited = map[string]float64{}
	for i := range at.Limits {
		b.limited[at.Limits[i].Container] += at.Limits[i].Dilation
	}
	return b, nil
}

// leastModelled is how long a pod waits by the model, in its own times, for the ratio of what was observed to that to say anything: roundings
// are of such times, and no gauge sees any.
const leastModelled = 1e-6

// dilation returns that of the pod, given how long it waits by the model, how much less its limits add, and the number of busy processors
// of its node.
func (s *subject) dilation(b *breakdown, waits, less, busy float64) float64 {
	scale := 1.0
	if b.modelled > leastModelled {
		scale = b.explained / b.modelled
	}
	explained := b.explained + max(1, scale)*(waits-b.modelled)
	if waits < b.modelled {
		explained = scale * waits
	}
	unclear := b.unclear
	if unclear > 0 {
		unclear *= s.clears(busy)
	}
	return 1 + b.fixed + max(0, b.limits-less) + unclear + explained
}

// clears returns the part of the unclear waiting that is left on a node with a number of busy processors, at most 1. Unclear waiting is
// taken to be due in equal parts to all that runs beside the threads of the pod.
func (s *subject) clears(busy float64) float64 {
	p := s.pod
	threads, own := max(1, p.Threads), s.runs()
	always := (threads-1)*own + p.Node.Stolen/p.Node.Seconds*threads
	before := always + threads*max(0, p.Node.Running()-own)
	if before <= 0 {
		return 1
	}
	return min(1, (always+threads*max(0, busy-own))/before) // the pod is among what runs
}

// runs returns how many processors the pod keeps busy.
func (s *subject) runs() float64 {
	if s.pod.Seconds <= 0 {
		return 0
	}
	return s.pod.Times.Run / s.pod.Seconds
}

// boundOn returns the bound of the pod on a node with a number of processors.
func (s *subject) boundOn(servers int) node.Bound {
	if s.pod.Index < 0 {
		return node.Bound{}
	}
	return s.promise.On(s.pod.Node.Model.Pods[s.pod.Index].AtDevices()[0], servers)
}

// excess returns how far a dilation of the pod is above its threshold, weighted.
func (s *subject) excess(dilation float64) float64 {
	return s.weight * max(0, dilation-s.threshold)
}

// belowThreshold is how much of a dilation counts where it is no excess: of two plans that leave as little of that the one is better by
// which pods wait less.
const belowThreshold = 0.05

// worth returns what a dilation of the pod counts in the search: its excess, and a little for the rest.
func (s *subject) worth(dilation float64) float64 {
	return s.excess(dilation) + belowThreshold*s.weight*(dilation-1)
}

// weightOf is how much the excess of a pod counts by its priority: that of one below 0 half, that of one above 0 twice.
func weightOf(pod *corev1.Pod) float64 {
	const less, more = 0.5, 2
	switch p := pod.Spec.Priority; {
	case p == nil || *p == 0:
		return 1
	case *p < 0:
		return less
	default:
		return more
	}
}
