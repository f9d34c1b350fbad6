package jobstatus

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

// failedPull is how the kubelet's event of reason Failed begins where that is about an image.
const failedPull = "Failed to pull image"

// Pulling returns the kubelet's words about the image that it is pulling, according to the events
// about a pod, "" where it pulls none.
func Pulling(events []corev1.Event) string {
	if e := Latest(events, "Pulling", "Pulled", "Failed"); e != nil && e.Reason == "Pulling" {
		return e.Message
	}
	return ""
}

// Blocked returns the obstacle that keeps a pod from beginning, according to its status and the
// events about it, "" where none is known.
func Blocked(pod *corev1.Pod, events []corev1.Event) (reason, message string) {
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
	// The status no longer says so while the image is tried again, or once the pod is deleted.
	if e := Latest(events, "Failed", "Pulled"); e != nil && strings.HasPrefix(e.Message, failedPull) {
		return ReasonImage, "an image cannot be pulled: " + e.Message
	}
	if e := Latest(events, "FailedMount", "FailedAttachVolume", "FailedMapVolume"); e != nil {
		return ReasonVolume, "a volume cannot be mounted: " + e.Message
	}
	if e := Latest(events, "FailedCreatePodSandBox"); e != nil {
		return ReasonContainer, "the pod cannot be started: " + e.Message
	}
	return "", ""
}

// waits returns the cause of a container's wait, "" for a normal one.
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
var rejections = []string{"OutOf", "NodeLost", "NodeAffinity", "NodeShutdown", "Terminated", "Shutdown", "Preempting", "UnexpectedAdmissionError"}

// Failure is why a pod has failed.
type Failure struct {
	// Lost reports whether it did so through no fault of its own, so that another attempt
	// may end well.
	Lost            bool
	Reason, Message string
}

// WhyFailed returns why a pod has failed. The remedies say, by the names of containers, how
// their memory limit is raised; it is resources.limits.memory of the others.
func WhyFailed(pod *corev1.Pod, remedies map[string]string) Failure {
	for _, c := range pod.Status.Conditions {
		if c.Type == corev1.DisruptionTarget && c.Status == corev1.ConditionTrue {
			return Failure{true, ReasonDisrupted, fmt.Sprintf("pod %s was ended: %s", pod.Name, orElse(c.Message, c.Reason))}
		}
	}
	why := orElse(pod.Status.Message, pod.Status.Reason)
	switch {
	case pod.Status.Reason == "Evicted":
		return Failure{false, ReasonEvicted, "the pod was evicted: " + why}
	case pod.Status.Reason == "DeadlineExceeded":
		return Failure{false, ReasonDeadline, "it did not end within the pod's activeDeadlineSeconds: " + why}
	case slices.ContainsFunc(rejections, func(r string) bool { return strings.HasPrefix(pod.Status.Reason, r) }):
		return Failure{true, ReasonDisrupted, fmt.Sprintf("pod %s was ended by its node: %s", pod.Name, why)}
	}
	// Containers were killed because the pod was deleted.
	if !pod.DeletionTimestamp.IsZero() {
		return Failure{true, ReasonDisrupted, fmt.Sprintf("pod %s was deleted", pod.Name)}
	}
	if f := whyEnded(pod, remedies); f != nil {
		return *f
	}
	return Failure{false, ReasonExitCode, "the pod failed: " + orElse(why, "it does not say why")}
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
