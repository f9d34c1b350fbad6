package live

import (
	"fmt"
	"strings"
	"testing"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/resource"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
)

// ProbePod returns a pod that runs loadline-probe on a node, which it reaches by the
// scheduler.
func (c *Cluster) ProbePod(namespace, name, node string, args ...string) *corev1.Pod {
	pod := &corev1.Pod{ObjectMeta: metav1.ObjectMeta{Namespace: namespace, Name: name}, Spec: c.ProbeSpec(args...)}
	pod.Spec.Affinity = OnNode(node)
	return pod
}

// ProbeSpec returns what a pod is made of that runs loadline-probe once.
func (c *Cluster) ProbeSpec(args ...string) corev1.PodSpec {
	return corev1.PodSpec{
		RestartPolicy:                corev1.RestartPolicyNever,
		AutomountServiceAccountToken: new(false),
		SecurityContext: &corev1.PodSecurityContext{
			RunAsNonRoot: new(true), SeccompProfile: &corev1.SeccompProfile{Type: corev1.SeccompProfileTypeRuntimeDefault},
		},
		Containers: []corev1.Container{{
			Name: "probe", Image: c.ProbeImage, ImagePullPolicy: corev1.PullIfNotPresent,
			Command:         append([]string{"loadline-probe"}, args...),
			Resources:       corev1.ResourceRequirements{Requests: corev1.ResourceList{corev1.ResourceCPU: resource.MustParse("100m")}},
			SecurityContext: &corev1.SecurityContext{AllowPrivilegeEscalation: new(false), Capabilities: &corev1.Capabilities{Drop: []corev1.Capability{"ALL"}}},
		}},
	}
}

// OnNode says that a pod must run on a node.
func OnNode(name string) *corev1.Affinity {
	return &corev1.Affinity{NodeAffinity: &corev1.NodeAffinity{RequiredDuringSchedulingIgnoredDuringExecution: &corev1.NodeSelector{
		NodeSelectorTerms: []corev1.NodeSelectorTerm{{
			MatchFields: []corev1.NodeSelectorRequirement{{Key: "metadata.name", Operator: corev1.NodeSelectorOpIn, Values: []string{name}}},
		}},
	}}}
}

// Node returns a node by name, with nothing read of it yet.
func Node(name string) *corev1.Node { return &corev1.Node{ObjectMeta: metav1.ObjectMeta{Name: name}} }

// RunPod creates a pod and returns it when it has ended well.
func (c *Cluster) RunPod(t *testing.T, pod *corev1.Pod) *corev1.Pod {
	t.Helper()
	must(t, c.Create(t.Context(), pod))
	c.AwaitEnd(t, pod)
	return pod
}

// AwaitEnd waits until a pod has ended well.
func (c *Cluster) AwaitEnd(t *testing.T, pod *corev1.Pod) {
	t.Helper()
	c.Await(t, fmt.Sprintf("pod %s ends well", pod.Name), pod, func() (bool, string) {
		if pod.Status.Phase == corev1.PodFailed {
			t.Fatalf("pod %s: %s", pod.Name, State(pod))
		}
		return pod.Status.Phase == corev1.PodSucceeded, State(pod)
	})
}

// TerminationMessage returns what a container of a pod that has ended says of its run.
func TerminationMessage(t *testing.T, pod *corev1.Pod, container string) string {
	t.Helper()
	for _, status := range append(pod.Status.InitContainerStatuses, pod.Status.ContainerStatuses...) {
		if status.Name == container && status.State.Terminated != nil {
			return status.State.Terminated.Message
		}
	}
	t.Fatalf("pod %s: container %s has not ended: %s", pod.Name, container, State(pod))
	return ""
}

// State tells in a line how a pod is.
func State(pod *corev1.Pod) string {
	parts := []string{string(pod.Status.Phase)}
	for _, status := range append(pod.Status.InitContainerStatuses, pod.Status.ContainerStatuses...) {
		switch {
		case status.State.Waiting != nil:
			parts = append(parts, fmt.Sprintf("%s waits: %s: %s", status.Name, status.State.Waiting.Reason, status.State.Waiting.Message))
		case status.State.Terminated != nil:
			end := status.State.Terminated
			parts = append(parts, fmt.Sprintf("%s ended with exit code %d: %s: %s", status.Name, end.ExitCode, end.Reason, end.Message))
		}
	}
	for _, condition := range pod.Status.Conditions {
		if condition.Type == corev1.PodScheduled && condition.Status != corev1.ConditionTrue {
			parts = append(parts, condition.Message)
		}
	}
	return strings.Join(parts, "; ")
}
