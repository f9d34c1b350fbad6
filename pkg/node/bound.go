package node

import (
	"fmt"

	corev1 "k8s.io/api/core/v1"

	"loadline.dev/loadline/apis/config"
	configv1alpha1 "loadline.dev/loadline/apis/config/v1alpha1"
	"loadline.dev/loadline/pkg/cgroup"
	"loadline.dev/loadline/pkg/model/loading"
	"loadline.dev/loadline/pkg/profile"
	"loadline.dev/loadline/pkg/text"
)

// Promise is the limit of dilation that a profile promises a pod, as far as the operator lets that count and the pod requests
// CPU for it. Together with the processors that the pod can use on a node it makes the [Bound] there. The zero value promises
// nothing.
type Promise struct {
	// MaxDilation is sla.maxDilation of the profile, and Counted what counts of it: at least the operator's limit.
	MaxDilation, Counted float64
	// Mode says whether the guard warns or refuses.
	Mode configv1alpha1.GuardMode
	// Covered is how many processors the CPU request covers: the request rounded up to whole ones, at least 1.
	Covered int
}

// NewPromise returns the promise to a pod that follows a profile, nil for none, in a namespace of a mode: nothing where the
// profile has no sla.maxDilation, or the mode is Off.
func NewPromise(pod *corev1.Pod, w *profile.Workload, mode configv1alpha1.GuardMode, limits config.Limits) Promise {
	if w == nil || w.MaxDilation == 0 || mode == configv1alpha1.GuardOff {
		return Promise{}
	}
	const core = 1000 // thousandths
	return Promise{w.MaxDilation, max(w.MaxDilation, limits.MinMaxDilation), mode, int(max(1, (cgroup.MilliCPU(pod)+core-1)/core))}
}

// On returns the bound of the pod on a node with that many processors, where it has that demand at them. Alone it would use as
// many as it has threads. Processors beyond its request are not promised: it is to take no longer than Counted times its time
// on the covered ones, which is Usable / Covered times as long as alone. So a pod keeps no more processors from others than it
// requests, but for the rest of one.
func (p Promise) On(demand loading.Demand, processors int) Bound {
	if p.MaxDilation == 0 {
		return Bound{}
	}
	b := Bound{Mode: p.Mode, Promised: p.MaxDilation, Usable: max(1, min(demand.Threads, processors)), Covered: p.Covered}
	b.Max = p.Counted * b.beyond()
	return b
}

// Bound is how much a pod may be dilated on a node, and whether the scheduler's guard warns or refuses where it would be dilated
// more. The zero value is no bound.
type Bound struct {
	Max  float64
	Mode configv1alpha1.GuardMode

	// Promised is sla.maxDilation of the profile, Usable how many processors the pod would use alone, and Covered how many its CPU
	// request covers: from these follows Max. They may be 0 where Max is that of the profile.
	Promised        float64
	Usable, Covered int
}

// beyond returns how many times more processors the pod can use than its request covers, at least 1.
func (b Bound) beyond() float64 {
	if b.Covered == 0 || b.Usable <= b.Covered {
		return 1
	}
	return float64(b.Usable) / float64(b.Covered)
}

// Enforced returns the bound if nodes are refused for it, else 0.
func (b Bound) Enforced() float64 {
	if b.Mode != configv1alpha1.GuardEnforce {
		return 0
	}
	return b.Max
}

// String writes the bound, such as 1.50×, and why it is not that of the profile, where it is not.
func (b Bound) String() string {
	if why := b.Why(); why != "" {
		return fmt.Sprintf("%s (%s)", text.Times(b.Max), why)
	}
	return text.Times(b.Max)
}

// Why says why the bound is not that of the profile, "" where it is.
func (b Bound) Why() string {
	counted := b.Max / b.beyond()
	raised := b.Promised > 0 && b.Promised < counted*(1-boundTolerance)
	if b.beyond() == 1 && !raised {
		return ""
	}
	why := text.Times(counted)
	if raised {
		why = fmt.Sprintf("the scheduler's lowest, %s, in place of its profile's %s", why, text.Times(b.Promised))
	}
	if b.beyond() > 1 {
		why += fmt.Sprintf(" on %d of the %d processors that it can use: its CPU request covers no more", b.Covered, b.Usable)
	}
	return why
}
