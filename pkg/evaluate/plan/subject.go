package plan

import (
	corev1 "k8s.io/api/core/v1"

	"loadline.dev/loadline/pkg/evaluate/observed"
	"loadline.dev/loadline/pkg/model/contention"
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

	// What adds how much to its dilation as it was observed: what no change takes away, its limits, what is not clear, and waiting as
	// far as the model explains it. The model has it wait for modelled.
	fixed, limits, unclear, explained, modelled float64
	// limited is what the limit of each container adds, that of the pod as a whole by no name.
	limited map[string]float64
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

// explain works out why the pod is slowed down, given the solution of the model of its node.
func (s *subject) explain() (err error) {
	p := s.pod
	if s.modelled, err = waits(p.Node.Model, p.Index, p.Node.Prediction); err != nil {
		return err
	}
	if p.Dilation < p.Node.Slowed {
		s.explained = min(p.Waited(), observed.Believed*s.modelled)
		s.fixed = max(0, p.Dilation-1) - s.explained
		return nil
	}
	causes, err := p.Explain()
	if err != nil {
		return err
	}
	s.fixed, s.limits, s.unclear = causes.Sum(observed.ByHypervisor), causes.Sum(observed.ByLimit), causes.Sum(observed.ByUnclear)
	s.explained = causes.Sum(observed.ByNeighbour, observed.BySystem, observed.ByItself)
	if most := observed.Believed * s.modelled; s.explained > most { // the rest is due to what runs there, whatever the model says
		s.unclear, s.explained = s.unclear+s.explained-most, most
	}
	s.limited = map[string]float64{}
	for _, c := range causes {
		if c.Kind == observed.ByLimit {
			s.limited[c.Container] += c.Dilation
		}
	}
	return nil
}

// waits returns how long a pod waits by a solution of a model that it is in, in times of its own.
func waits(model *node.Node, at int, p *contention.Prediction) (float64, error) {
	itself, err := observed.WaitsForItself(model, at)
	if err != nil {
		return 0, err
	}
	return itself + (1+itself)*p.Throttling(at)*p.Delay(at, 0), nil
}

// dilation returns that of the pod where it waits for so long by the model and its limits add less, on a node of which so many
// processors are busy.
func (s *subject) dilation(waits, less, busy float64) float64 {
	scale := 1.0
	if s.modelled > 0 {
		scale = s.explained / s.modelled
	}
	explained := s.explained + max(1, scale)*(waits-s.modelled)
	if waits < s.modelled {
		explained = scale * waits
	}
	return 1 + s.fixed + max(0, s.limits-less) + s.unclear*s.clears(busy) + explained
}

// clears returns the part of the waiting that is not clear which is left on a node of which so many processors are busy, at most 1: it is
// taken to be shared by all that runs beside the threads of the pod.
func (s *subject) clears(busy float64) float64 {
	if s.unclear == 0 {
		return 1
	}
	p := s.pod
	threads, own := max(1, p.Threads), s.runs()
	always := (threads-1)*own + p.Node.Stolen/p.Node.Seconds*threads
	before := always + threads*max(0, p.Node.Busy/p.Node.Seconds-own)
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

// boundOn returns the bound of the pod on a node of so many processors.
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
