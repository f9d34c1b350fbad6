package profile

import (
	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/resource"

	"loadline.dev/loadline/apis/loadline/v1alpha1"
)

// bursts holds for how long threads of a workload compute at a time, in seconds: as declared, else as observed.
type bursts struct {
	// declared is 0 where nothing is, and mean is that of the observed ones, 0 where none is.
	declared, mean float64
	observed       map[string]float64 // by the names of classes of nodes
}

// burstsOf returns the bursts of a profile, given its declared demands.
func burstsOf(p *v1alpha1.WorkloadProfile, declared []NamedDemand) bursts {
	b := bursts{observed: map[string]float64{}}
	for _, d := range declared {
		if d.Resource == string(corev1.ResourceCPU) {
			b.declared = d.Burst
		}
	}
	sum := 0.0
	for i := range p.Status.Observations {
		o := &p.Status.Observations[i]
		if burst := observedBurst(o.BurstMillis); burst > 0 {
			b.observed[o.NodeProfile] = burst
			sum += burst
			b.mean = sum / float64(len(b.observed))
		}
	}
	return b
}

// observedBurst reads a burst that was observed, in seconds: 0 where it is none, and what a profile may declare at most.
func observedBurst(millis *resource.Quantity) float64 {
	if millis == nil {
		return 0
	}
	const most, perSecond = 1e12, 1000
	return min(max(0, millis.AsApproximateFloat64()), most) / perSecond
}

// fill gives the demand at the cpu of a vector the burst on the nodes of its class, unless it has one. Where none was observed there,
// it is the mean of the classes where one was: a burst is of the program rather than of the node.
func (b *bursts) fill(v *InUse) {
	for i := range v.Demands {
		d := &v.Demands[i]
		if d.Resource != string(corev1.ResourceCPU) || d.Burst > 0 {
			continue
		}
		d.Burst = b.mean
		if own, is := b.observed[v.Class]; is {
			d.Burst = own
		}
		if b.declared > 0 {
			d.Burst = b.declared
		}
	}
}

// takesBursts reports whether vectors of a profile that are not observed take the observed bursts: if it declares none.
func takesBursts(p *v1alpha1.WorkloadProfile) bool {
	for i := range p.Spec.Resources {
		if p.Spec.Resources[i].BurstMillis != nil {
			return false
		}
	}
	return len(p.Spec.Resources) > 0 || p.Spec.Measurement != nil
}
