package history

import (
	"context"
	"time"

	"k8s.io/klog/v2"

	"loadline.dev/loadline/pkg/gauge/usage"
)

// Sampler returns what happened since it was last called, or since it was made.
type Sampler func(ctx context.Context) (*usage.Interval, error)

// Observer gets each sample.
type Observer interface {
	// Sampled gets an interval that was added, and how long it took to find.
	Sampled(v *usage.Interval, took time.Duration)
	// Failed is called for an interval that could not be found, or broke the rules.
	Failed()
}

// Follow samples at each tick until the context ends, adds the interval, and notifies an observer. A sample that fails is
// logged, and leaves the history unchanged; a change of the processors that pods have, which matters for reading dilations, is
// logged, too. Ticks that come during a sample are dropped, as those of time.Ticker are.
func (h *History) Follow(ctx context.Context, ticks <-chan time.Time, sample Sampler, observer Observer) {
	for cpus := 0; ; {
		select {
		case <-ctx.Done():
			return
		case <-ticks:
		}
		begin := h.clock.Now()
		v, err := sample(ctx)
		if err == nil {
			err = h.Add(v)
		}
		switch {
		case ctx.Err() != nil:
			return
		case err != nil:
			klog.FromContext(ctx).Error(err, "The node was not read")
			observer.Failed()
		default:
			if cpus > 0 && v.CPUs != cpus {
				klog.FromContext(ctx).Info("The number of processors that pods may run on changed", "before", cpus, "now", v.CPUs)
			}
			cpus = v.CPUs
			observer.Sampled(v, h.clock.Now().Sub(begin))
		}
	}
}
