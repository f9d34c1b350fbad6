package jobstatus

import (
	"cmp"
	"fmt"
	"slices"
	"syscall"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/resource"
)

// whyEnded returns why the containers of a pod ended badly, nil where none did. An error of
// a container's own goes before what came from outside. Sidecars do not count.
func whyEnded(pod *corev1.Pod, remedies map[string]string) *Failure {
	var lost *Failure
	for _, s := range slices.Concat(pod.Status.InitContainerStatuses, pod.Status.ContainerStatuses) {
		end := s.State.Terminated
		if end == nil || end.ExitCode == 0 || restarts(pod, s.Name) {
			continue
		}
		f := whyContainerEnded(pod, s.Name, end, remedies)
		if !f.Lost {
			return &f
		}
		if lost == nil {
			lost = &f
		}
	}
	return lost
}

// restarts reports whether a container is a sidecar, whose exit code does not matter.
func restarts(pod *corev1.Pod, name string) bool {
	return slices.ContainsFunc(pod.Spec.InitContainers, func(c corev1.Container) bool {
		return c.Name == name && c.RestartPolicy != nil && *c.RestartPolicy == corev1.ContainerRestartPolicyAlways
	})
}

// whyContainerEnded returns why one container ended badly.
func whyContainerEnded(pod *corev1.Pod, name string, end *corev1.ContainerStateTerminated, remedies map[string]string) Failure {
	output := ""
	if text := tail(end.Message); text != "" {
		output = ": " + text
	}
	switch end.Reason {
	case "OOMKilled":
		return outOfMemory(pod, name, remedies)
	case "ContainerStatusUnknown", "Unknown": // of the kubelet, and of containerd after a restart of the node
		return Failure{true, ReasonDisrupted, fmt.Sprintf("nothing is known of container %s any more: its node or container runtime was restarted", name)}
	case "StartError", "ContainerCannotRun":
		return Failure{false, ReasonContainer, fmt.Sprintf("container %s cannot be started%s", name, output)}
	}
	if signal := killedBy(end); signal != "" {
		return Failure{true, ReasonKilled, fmt.Sprintf("container %s was killed by %s (exit code %d)%s", name, signal, end.ExitCode, output)}
	}
	return Failure{false, ReasonExitCode, fmt.Sprintf("container %s ended with exit code %d%s", name, end.ExitCode, output)}
}

// fromOutside are the signals that others send to end a process. What a process brings
// upon itself, such as SIGSEGV, SIGABRT and SIGPIPE, is an error of its own.
var fromOutside = map[syscall.Signal]string{
	syscall.SIGHUP: "SIGHUP", syscall.SIGINT: "SIGINT", syscall.SIGQUIT: "SIGQUIT", syscall.SIGKILL: "SIGKILL", syscall.SIGTERM: "SIGTERM",
}

// signalBase is what container runtimes and shells add to the number of the signal that
// ended a process to get an exit code.
const signalBase = 128

// killedBy returns the name of the signal from outside that ended a container, "" if none
// did.
func killedBy(end *corev1.ContainerStateTerminated) string {
	if end.Signal > 0 {
		return fromOutside[syscall.Signal(end.Signal)]
	}
	return fromOutside[syscall.Signal(end.ExitCode-signalBase)]
}

// outOfMemory names the limit at which the kernel killed a container for its use of memory, and the
// remedy.
func outOfMemory(pod *corev1.Pod, name string, remedies map[string]string) Failure {
	limit := memoryLimit(&pod.Spec, name)
	if limit == nil {
		return Failure{true, ReasonDisrupted, fmt.Sprintf("container %s, which has no memory limit, was killed because its node ran out of memory (OOMKilled); "+
			"set resources.requests.memory to what it needs, or use nodes with more memory", name)}
	}
	remedy := cmp.Or(remedies[name], "raise resources.limits.memory of that container")
	return Failure{true, ReasonOutOfMemory, fmt.Sprintf("container %s was killed at its memory limit of %s (OOMKilled); %s", name, limit, remedy)}
}

// memoryLimit returns the memory limit of a container, its own or that of the pod, nil
// for none.
func memoryLimit(spec *corev1.PodSpec, name string) *resource.Quantity {
	all := slices.Concat(spec.InitContainers, spec.Containers)
	if i := slices.IndexFunc(all, func(c corev1.Container) bool { return c.Name == name }); i >= 0 {
		if limit, ok := all[i].Resources.Limits[corev1.ResourceMemory]; ok {
			return &limit
		}
	}
	if spec.Resources != nil {
		if limit, ok := spec.Resources.Limits[corev1.ResourceMemory]; ok {
			return &limit
		}
	}
	return nil
}
