package disruption

import (
	"fmt"
	"slices"

	autoscalingv1 "k8s.io/api/autoscaling/v1"
	autoscalingv2 "k8s.io/api/autoscaling/v2"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/schema"

	"loadline.dev/loadline/pkg/text"
)

// VerticalPodAutoscalerVersion is the version of the API whose VerticalPodAutoscalers are read.
var VerticalPodAutoscalerVersion = schema.GroupVersion{Group: "autoscaling.k8s.io", Version: "v1"}

// VerticalPodAutoscaler is what the rules read of one, of autoscaling.k8s.io/v1.
type VerticalPodAutoscaler struct {
	metav1.ObjectMeta `json:"metadata"`

	Spec VerticalPodAutoscalerSpec `json:"spec"`
}

// VerticalPodAutoscalerSpec says what is scaled and how.
type VerticalPodAutoscalerSpec struct {
	TargetRef    *autoscalingv1.CrossVersionObjectReference `json:"targetRef"`
	UpdatePolicy struct {
		// UpdateMode is Off, Initial, Recreate, InPlaceOrRecreate or Auto. None is Recreate.
		UpdateMode string `json:"updateMode"`
	} `json:"updatePolicy"`
	ResourcePolicy struct {
		ContainerPolicies []ContainerResourcePolicy `json:"containerPolicies"`
	} `json:"resourcePolicy"`
}

// ContainerResourcePolicy says how a container is scaled, or, named *, all of those without a policy of their own.
type ContainerResourcePolicy struct {
	ContainerName string `json:"containerName"`
	// Mode is Auto or Off. None is Auto.
	Mode string `json:"mode"`
	// ControlledResources are those that are scaled; nil is CPU and memory.
	ControlledResources []corev1.ResourceName `json:"controlledResources"`
}

// ReadVerticalPodAutoscaler returns what the rules read of a VerticalPodAutoscaler. An error names the field that is of another type
// than autoscaling.k8s.io/v1 has.
func ReadVerticalPodAutoscaler(object *unstructured.Unstructured) (*VerticalPodAutoscaler, error) {
	v := &VerticalPodAutoscaler{}
	if err := runtime.DefaultUnstructuredConverter.FromUnstructured(object.Object, v); err != nil {
		return nil, fmt.Errorf("VerticalPodAutoscaler %s: %w", text.QualifiedName(object), err)
	}
	return v, nil
}

// scalesCPU reports whether it changes the CPU requests of a container while that runs.
func (v *VerticalPodAutoscaler) scalesCPU(container string) bool {
	if mode := v.Spec.UpdatePolicy.UpdateMode; mode == "Off" || mode == "Initial" {
		return false
	}
	policies := v.Spec.ResourcePolicy.ContainerPolicies
	i := slices.IndexFunc(policies, func(p ContainerResourcePolicy) bool { return p.ContainerName == container })
	if i < 0 {
		i = slices.IndexFunc(policies, func(p ContainerResourcePolicy) bool { return p.ContainerName == "*" })
	}
	if i < 0 {
		return true
	}
	p := &policies[i]
	return p.Mode != "Off" && (p.ControlledResources == nil || slices.Contains(p.ControlledResources, corev1.ResourceCPU))
}

// leftTo says which VerticalPodAutoscaler changes the CPU of one of some containers of a pod, to which that is left.
func (r *Rules) leftTo(pod *corev1.Pod, changes []change) string {
	for _, name := range r.workloads(pod) {
		v := r.vertical[name]
		if v == nil {
			continue
		}
		for _, c := range changes {
			if v.scalesCPU(c.name) {
				return fmt.Sprintf("VerticalPodAutoscaler %s sets the CPU of container %s", text.QualifiedName(v), c.name)
			}
		}
	}
	return ""
}

// scaling says what changes of requests make of the CPU utilization by which a HorizontalPodAutoscaler scales the workload.
func (r *Rules) scaling(pod *corev1.Pod, changes []change) (notes []string) {
	for _, name := range r.workloads(pod) {
		h := r.horizontal[name]
		if h == nil {
			continue
		}
		for i := range h.Spec.Metrics {
			if of, target := cpuUtilization(&h.Spec.Metrics[i]); target != nil {
				if note := utilization(pod, changes, of); note != "" {
					notes = append(notes, fmt.Sprintf("HorizontalPodAutoscaler %s aims at %d%% of the CPU request: %s", text.QualifiedName(h), *target, note))
				}
			}
		}
		break
	}
	return notes
}

// cpuUtilization returns which container's CPU utilization a metric is, "" for all, and what it is to be; nil for other metrics.
func cpuUtilization(m *autoscalingv2.MetricSpec) (container string, target *int32) {
	switch {
	case m.Type == autoscalingv2.ResourceMetricSourceType && m.Resource != nil && m.Resource.Name == corev1.ResourceCPU:
		return "", m.Resource.Target.AverageUtilization
	case m.Type == autoscalingv2.ContainerResourceMetricSourceType && m.ContainerResource != nil && m.ContainerResource.Name == corev1.ResourceCPU:
		return m.ContainerResource.Container, m.ContainerResource.Target.AverageUtilization
	default:
		return "", nil
	}
}

// utilization says what changes do to the CPU utilization of a container, or of the pod, that uses what it did: it is the usage by
// the requests of all its containers.
func utilization(pod *corev1.Pod, changes []change, container string) string {
	before, after := int64(0), int64(0)
	for _, c := range resizable(pod) {
		if container != "" && c.Name != container {
			continue
		}
		requested := c.Resources.Requests.Cpu().MilliValue()
		before += requested
		if i := slices.IndexFunc(changes, func(x change) bool { return x.name == c.Name }); i >= 0 {
			requested = changes[i].to.Requests.Cpu().MilliValue()
		}
		after += requested
	}
	if before == after || before == 0 || after == 0 {
		return ""
	}
	return fmt.Sprintf("with %s instead of %s, what this pod uses counts %s as much", milli(after), milli(before), text.Times(float64(before)/float64(after)))
}
