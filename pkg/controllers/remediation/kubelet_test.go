package remediation

import (
	"testing"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/resource"
)

func TestTheKubeletIsUnderstood(t *testing.T) {
	t.Parallel()
	to := amounts{limit: new(resource.MustParse("1"))}
	pending := func(reason string, generation int64) func(*corev1.Pod) {
		return func(pod *corev1.Pod) {
			pod.Status.Conditions = append(pod.Status.Conditions, corev1.PodCondition{Type: corev1.PodResizePending, Status: corev1.ConditionTrue, Reason: reason, ObservedGeneration: generation})
		}
	}
	inProgress := func(reason string) func(*corev1.Pod) {
		return func(pod *corev1.Pod) {
			pod.Status.Conditions = append(pod.Status.Conditions, corev1.PodCondition{Type: corev1.PodResizeInProgress, Status: corev1.ConditionTrue, Reason: reason, Message: "cannot write cpu.max"})
		}
	}
	has := func(limit string) func(*corev1.Pod) {
		return func(pod *corev1.Pod) {
			pod.Status.ContainerStatuses[0].Resources.Limits[corev1.ResourceCPU] = resource.MustParse(limit)
		}
	}
	for name, test := range map[string]struct {
		status []func(*corev1.Pod)
		want   progress
		says   string
	}{
		"it has not seen the resize":            {nil, resizing, "the kubelet of node node-1 has not followed"},
		"it follows":                            {[]func(*corev1.Pod){inProgress("")}, resizing, "the kubelet is at it"},
		"the container has what was asked for":  {[]func(*corev1.Pod){has("1")}, resized, ""},
		"the same in other words":               {[]func(*corev1.Pod){has("1000m")}, resized, ""},
		"it has the amounts, and is not done":   {[]func(*corev1.Pod){has("1"), inProgress("")}, resizing, "the kubelet is at it"},
		"it reports what the kernel made of it": {[]func(*corev1.Pod){has("998m"), func(pod *corev1.Pod) { pod.Status.ObservedGeneration = 2 }}, resized, ""},
		"it reports no resources":               {[]func(*corev1.Pod){func(pod *corev1.Pod) { pod.Status.ContainerStatuses = nil }}, resizing, "the kubelet of node node-1 has not followed"},
		"it has no room":                        {[]func(*corev1.Pod){pending(corev1.PodReasonDeferred, 2)}, deferred, "the node has no room now"},
		"it never will":                         {[]func(*corev1.Pod){pending(corev1.PodReasonInfeasible, 0)}, infeasible, "the node cannot have that much"},
		"it had no room for an earlier resize":  {[]func(*corev1.Pod){pending(corev1.PodReasonInfeasible, 1)}, resizing, "the kubelet of node node-1 has not followed"},
		"it meets an error":                     {[]func(*corev1.Pod){inProgress(corev1.PodReasonError)}, erring, "cannot write cpu.max"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			pod := cart()
			pod.Generation, pod.Status.ObservedGeneration = 2, 1
			for _, change := range test.status {
				change(pod)
			}
			if got, says := kubeletProgress(pod, "app", to); got != test.want || says != test.says {
				t.Errorf("got %d: %s, want %d: %s", got, says, test.want, test.says)
			}
		})
	}
}
