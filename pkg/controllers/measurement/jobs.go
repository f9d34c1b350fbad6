package measurement

import (
	"time"

	batchv1 "k8s.io/api/batch/v1"
	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/resource"
	resourcehelper "k8s.io/component-helpers/resource"
	"k8s.io/utils/ptr"

	"loadline.dev/loadline/apis/loadline/v1alpha1"
)

// The times of a step.
const (
	// lead is how long a probe runs before the target begins, tail how long it goes
	// on after the target is expected to have ended.
	lead, tail = 5 * time.Second, 5 * time.Second
	// settle is how much of the time around the target's is left out, while pods
	// are made and removed.
	settle = time.Second
	// startUp is how long a pod may take until its processes begin. It has run alone
	// before, so that its image is there.
	startUp = 8 * time.Second
	// check is the time for which a probe checks whether it keeps its resource busy, and checkRequests that of a probe
	// that waits for its resource: it counts requests, of which slow resources serve few, and its result scales the
	// dilations of all rounds.
	check, checkRequests = 2 * time.Second, 10 * time.Second
	// slack is added to the time limit of Jobs, for their pods to end.
	slack = time.Minute
	// longest is how long a probe can run.
	longest = time.Hour
	// margin is the factor by which a target may take longer than expected.
	margin = 1.2
	// mostInflation is how many times longer a target is expected to compute beside a standard job that presses on it.
	mostInflation = 2
	// longer is the factor of a probe's time for each earlier time that it ended before the target did.
	longer = 1.5
)

// minWeight is the CPU that a probe asks for beside a target that asks for none,
// in thousandths: it is the least weight of the kernel.
const minWeight = 2

// Roles of Jobs within a step.
const (
	roleTarget = "target"
	roleProbe  = "probe"
)

// run is a Job of a step.
type run struct {
	role string
	job  *batchv1.Job
	// later Jobs are applied once the probe has run for a while.
	later bool
}

// attempts returns how many attempts at the current step were lost.
func attempts(m *v1alpha1.MeasurementProgress) int32 { return ptr.Deref(m.Attempts, 0) }

// expectedTime returns how long the target took alone when it did last, once, in
// nanoseconds.
func expectedTime(samples []v1alpha1.MeasurementSample) float64 {
	last := 0.0
	for i := range samples {
		if s := &samples[i]; s.Step == "alone" && s.TargetNanos != nil {
			last = float64(*s.TargetNanos)
		}
	}
	return last
}

// requested returns the CPU that a pod asks for, in thousandths. A limit without a
// request is one.
func requested(spec *corev1.PodSpec) int64 {
	pod := &corev1.Pod{Spec: *spec.DeepCopy()}
	for _, containers := range [][]corev1.Container{pod.Spec.InitContainers, pod.Spec.Containers} {
		for i := range containers {
			r := &containers[i].Resources
			if limit, ok := r.Limits[corev1.ResourceCPU]; ok && r.Requests.Cpu().IsZero() {
				if r.Requests == nil {
					r.Requests = corev1.ResourceList{}
				}
				r.Requests[corev1.ResourceCPU] = limit
			}
		}
	}
	requests := resourcehelper.PodRequests(pod, resourcehelper.PodResourcesOptions{})
	return requests.Cpu().MilliValue()
}

// limitRequests lowers the CPU requests of a pod's containers, in proportion, if their sum exceeds the limit, in
// thousandths.
func limitRequests(spec *corev1.PodSpec, most int64) {
	total := requested(spec)
	if total <= most {
		return
	}
	for _, containers := range [][]corev1.Container{spec.InitContainers, spec.Containers} {
		for i := range containers {
			r := &containers[i].Resources
			own := r.Requests.Cpu().MilliValue()
			if limit, ok := r.Limits[corev1.ResourceCPU]; ok && own == 0 {
				own = limit.MilliValue()
			}
			if own == 0 {
				continue
			}
			if r.Requests == nil {
				r.Requests = corev1.ResourceList{}
			}
			r.Requests[corev1.ResourceCPU] = *resource.NewMilliQuantity(max(1, own*most/total), resource.DecimalSI)
		}
	}
}
