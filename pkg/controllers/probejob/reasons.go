package probejob

import (
	"fmt"
	"slices"
	"strings"
	"unicode/utf8"

	corev1 "k8s.io/api/core/v1"
)

// crashLoop is why a sidecar waits that has ended badly: the only containers that
// are started again. It does not matter once the others have begun.
const crashLoop = "CrashLoopBackOff"

// blocked tells what keeps a pod from beginning, "" where nothing is known to.
func blocked(pod *corev1.Pod, events []corev1.Event) (reason, message string) {
	for _, c := range pod.Status.Conditions {
		if c.Type == corev1.PodScheduled && c.Status == corev1.ConditionFalse {
			return ReasonUnschedulable, "the pod cannot be scheduled: " + orElse(c.Message, c.Reason)
		}
	}
	images := map[string]string{}
	for _, c := range slices.Concat(pod.Spec.InitContainers, pod.Spec.Containers) {
		images[c.Name] = c.Image
	}
	for _, s := range slices.Concat(pod.Status.InitContainerStatuses, pod.Status.ContainerStatuses) {
		if s.State.Waiting == nil || pod.Status.Phase == corev1.PodRunning && s.State.Waiting.Reason == crashLoop {
			continue
		}
		if reason, message := waits(s.Name, images[s.Name], s.State.Waiting); reason != "" {
			return reason, message
		}
	}
	if pod.Status.Phase == corev1.PodRunning {
		return "", ""
	}
	if e := latest(events, "FailedMount", "FailedAttachVolume", "FailedMapVolume"); e != nil {
		return ReasonVolume, "a volume cannot be mounted: " + e.Message
	}
	if e := latest(events, "FailedCreatePodSandBox"); e != nil {
		return ReasonContainer, "the pod cannot be started: " + e.Message
	}
	return "", ""
}

// waits tells what a container waits for, "" where that is nothing bad.
func waits(name, image string, w *corev1.ContainerStateWaiting) (reason, message string) {
	answer := ": " + orElse(w.Message, w.Reason)
	switch w.Reason {
	case "ErrImagePull", "ImagePullBackOff", "InvalidImageName", "ErrImageNeverPull", "ImageInspectError", "RegistryUnavailable", "SignatureValidationFailed":
		return ReasonImage, fmt.Sprintf("the image %q of container %s cannot be pulled%s", image, name, answer)
	case "CreateContainerConfigError":
		return ReasonContainer, fmt.Sprintf("container %s needs what is not there%s", name, answer)
	case "CreateContainerError", "RunContainerError", "PreCreateHookError", "PreStartHookError", "PostStartHookError":
		return ReasonContainer, fmt.Sprintf("container %s cannot be started%s", name, answer)
	case crashLoop:
		return ReasonContainer, fmt.Sprintf("container %s ends again and again%s", name, answer)
	default:
		return "", ""
	}
}

// rejections are the reasons, or their beginnings, of pods that have ended because
// the node could not have them at that moment.
var rejections = []string{"OutOf", "NodeLost", "NodeAffinity", "NodeShutdown", "Terminated", "Shutdown", "Preempting"}

// whyFailed tells why a pod has failed, and whether through its own fault.
func whyFailed(pod *corev1.Pod) (state State, reason, message string) {
	for _, c := range pod.Status.Conditions {
		if c.Type == corev1.DisruptionTarget && c.Status == corev1.ConditionTrue {
			return Lost, ReasonDisrupted, fmt.Sprintf("pod %s was ended: %s", pod.Name, orElse(c.Message, c.Reason))
		}
	}
	why := orElse(pod.Status.Message, pod.Status.Reason)
	switch {
	case pod.Status.Reason == "Evicted":
		return Failed, ReasonEvicted, "the pod was evicted: " + why
	case pod.Status.Reason == "DeadlineExceeded":
		return Failed, ReasonDeadline, "it did not end within the pod's activeDeadlineSeconds: " + why
	case slices.ContainsFunc(rejections, func(r string) bool { return strings.HasPrefix(pod.Status.Reason, r) }):
		return Lost, ReasonDisrupted, fmt.Sprintf("pod %s was ended by its node: %s", pod.Name, why)
	}
	// Containers were killed because the pod was deleted.
	if !pod.DeletionTimestamp.IsZero() {
		return Lost, ReasonDisrupted, fmt.Sprintf("pod %s was deleted", pod.Name)
	}
	for _, s := range slices.Concat(pod.Status.InitContainerStatuses, pod.Status.ContainerStatuses) {
		if end := s.State.Terminated; end != nil && end.ExitCode != 0 && !restarts(pod, s.Name) {
			return whyEnded(s.Name, end)
		}
	}
	return Failed, ReasonExitCode, "the pod failed: " + orElse(why, "it does not say why")
}

// restarts tells whether a container is a sidecar, whose exit code does not matter.
func restarts(pod *corev1.Pod, name string) bool {
	return slices.ContainsFunc(pod.Spec.InitContainers, func(c corev1.Container) bool {
		return c.Name == name && c.RestartPolicy != nil && *c.RestartPolicy == corev1.ContainerRestartPolicyAlways
	})
}

// whyEnded tells why a container ended badly.
func whyEnded(name string, end *corev1.ContainerStateTerminated) (state State, reason, message string) {
	output := ""
	if text := tail(end.Message); text != "" {
		output = ": " + text
	}
	switch end.Reason {
	case "OOMKilled":
		return Failed, ReasonOutOfMemory, fmt.Sprintf("container %s needed more memory than its limit", name)
	case "ContainerStatusUnknown":
		return Lost, ReasonDisrupted, fmt.Sprintf("nothing is known of container %s any more", name)
	case "StartError", "ContainerCannotRun":
		return Failed, ReasonContainer, fmt.Sprintf("container %s cannot be started%s", name, output)
	default:
		return Failed, ReasonExitCode, fmt.Sprintf("container %s ended with exit code %d%s", name, end.ExitCode, output)
	}
}

// maxOutput is how many bytes of a container's output a message quotes.
const maxOutput = 400

// tail returns the end of an output.
func tail(output string) string {
	output = strings.TrimSpace(output)
	if len(output) <= maxOutput {
		return output
	}
	output = output[len(output)-maxOutput:]
	for output != "" && !utf8.RuneStart(output[0]) {
		output = output[1:]
	}
	return "…" + output
}

func orElse(text, otherwise string) string {
	if text = strings.TrimSpace(text); text != "" {
		return text
	}
	return otherwise
}
