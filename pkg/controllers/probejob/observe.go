package probejob

import (
	"fmt"
	"slices"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/resource"
)

// Observe adds an observer to a workload's pods, which sees when their processes start and end, and
// makes failing containers report the reason. An error says why such pods cannot be observed; they
// are then unchanged.
func (s *Settings) Observe(template *corev1.PodTemplateSpec) error {
	spec := &template.Spec
	if spec.HostPID {
		return fmt.Errorf("hostPID: true lets the observer see the processes of the whole node, not those of the pod; measure a template without hostPID")
	}
	taken := func(c corev1.Container) bool { return c.Name == WatchContainer }
	if slices.ContainsFunc(spec.InitContainers, taken) || slices.ContainsFunc(spec.Containers, taken) {
		return fmt.Errorf("a container is named %q, which is the observer's name; rename it", WatchContainer)
	}
	for i := range spec.Containers {
		spec.Containers[i].TerminationMessagePolicy = corev1.TerminationMessageFallbackToLogsOnError
	}
	spec.ShareProcessNamespace = new(true)
	// The last init container starts last, so that it sees the containers only.
	spec.InitContainers = append(spec.InitContainers, corev1.Container{
		Name:          WatchContainer,
		Image:         s.Image,
		Command:       []string{program, "watch"},
		RestartPolicy: new(corev1.ContainerRestartPolicyAlways),
		Resources: corev1.ResourceRequirements{
			Requests: corev1.ResourceList{corev1.ResourceCPU: resource.MustParse("1m"), corev1.ResourceMemory: watchMemory()},
			Limits:   corev1.ResourceList{corev1.ResourceMemory: watchMemory()},
		},
		SecurityContext:          s.restricted(),
		TerminationMessagePolicy: corev1.TerminationMessageFallbackToLogsOnError,
	})
	return nil
}

// watchMemory is the memory request and limit of an observer.
func watchMemory() resource.Quantity { return resource.MustParse("64Mi") }
