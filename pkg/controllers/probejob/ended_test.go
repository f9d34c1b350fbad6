package probejob_test

import (
	"fmt"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/resource"

	"loadline.dev/loadline/pkg/controllers/jobstatus"
	"loadline.dev/loadline/pkg/controllers/probejob"
)

// Every exit code that stands for a signal: those that others send are worth another
// attempt, those that a process brings upon itself are not.
func TestASignalFromOutsideIsWorthAnotherAttempt(t *testing.T) {
	t.Parallel()
	outside := map[int32]string{1: "SIGHUP", 2: "SIGINT", 3: "SIGQUIT", 9: "SIGKILL", 15: "SIGTERM"}
	for signal := int32(1); signal <= 64; signal++ {
		code := 128 + signal
		byCode := ended(corev1.PodFailed, code, "Error", "half done")
		byNumber := ended(corev1.PodFailed, code, "Error", "half done")
		byNumber.ContainerStatuses[0].State.Terminated.Signal = signal
		for how, status := range map[string]corev1.PodStatus{"by its exit code": byCode, "by the signal's number": byNumber} {
			o := probejob.Inspect(job(), []corev1.Pod{pod(status)}, nil, noon.Time)
			state, reason := probejob.Failed, jobstatus.ReasonExitCode
			message := fmt.Sprintf("container loadline-probe ended with exit code %d: half done", code)
			if name := outside[signal]; name != "" {
				state, reason = probejob.Lost, jobstatus.ReasonKilled
				message = fmt.Sprintf("container loadline-probe was killed by %s (exit code %d): half done", name, code)
			}
			if o.State != state || o.Reason != reason || o.Message != message {
				t.Errorf("signal %d, %s: it is %v, %s: %s", signal, how, o.State, o.Reason, o.Message)
			}
			if o.Retry(0) != (state == probejob.Lost) || !o.Bad() {
				t.Errorf("signal %d, %s: it is worth another attempt: %v", signal, how, o.Retry(0))
			}
		}
	}
}

func TestAnExitCodeThatIsNoSignalIsAnError(t *testing.T) {
	t.Parallel()
	for _, code := range []int32{1, 2, 3, 9, 15, 126, 127, 128, 193, 254, 255} {
		o := probejob.Inspect(job(), []corev1.Pod{pod(ended(corev1.PodFailed, code, "Error", ""))}, nil, noon.Time)
		if o.State != probejob.Failed || o.Reason != jobstatus.ReasonExitCode {
			t.Errorf("exit code %d: it is %v, %s", code, o.State, o.Reason)
		}
	}
}

func TestAnOutOfMemoryKillNamesContainerLimitAndRemedy(t *testing.T) {
	t.Parallel()
	limits := func(memory string) corev1.ResourceRequirements {
		if memory == "" {
			return corev1.ResourceRequirements{}
		}
		return corev1.ResourceRequirements{Limits: corev1.ResourceList{corev1.ResourceMemory: resource.MustParse(memory)}}
	}
	for name, test := range map[string]struct {
		container, own, pod string
		reason, message     string
		once                bool // is it worth one attempt more, and not several
	}{
		"a probe": {
			probejob.ProbeContainer, "16Mi", "", jobstatus.ReasonOutOfMemory,
			"container loadline-probe was killed at its memory limit of 16Mi (OOMKilled); raise --probe-memory of loadline-manager (probe.memory in the chart)", true,
		},
		"a target with a limit": {
			"main", "64Mi", "", jobstatus.ReasonOutOfMemory,
			"container main was killed at its memory limit of 64Mi (OOMKilled); raise resources.limits.memory of that container", true,
		},
		"a target in a pod with a limit": {
			"main", "", "1Gi", jobstatus.ReasonOutOfMemory,
			"container main was killed at its memory limit of 1Gi (OOMKilled); raise resources.limits.memory of that container", true,
		},
		"a target without a limit": {
			"main", "", "", jobstatus.ReasonDisrupted,
			"container main, which has no memory limit, was killed because its node ran out of memory (OOMKilled); " +
				"set resources.requests.memory to what it needs, or use nodes with more memory", false,
		},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			status := ended(corev1.PodFailed, 137, "OOMKilled", "")
			status.ContainerStatuses[0].Name = test.container
			p := pod(status, func(p *corev1.Pod) {
				p.Spec.Containers[0].Name, p.Spec.Containers[0].Resources = test.container, limits(test.own)
				if test.pod != "" {
					p.Spec.Resources = new(limits(test.pod))
				}
			})
			o := probejob.Inspect(job(), []corev1.Pod{p}, nil, noon.Time)
			if diff := cmp.Diff([]string{test.reason, test.message}, []string{o.Reason, o.Message}); diff != "" {
				t.Errorf("unexpected outcome (-want +got):\n%s", diff)
			}
			if !o.Retry(0) || o.Retry(1) == test.once {
				t.Errorf("it is worth a second attempt: %v, a third: %v", o.Retry(0), o.Retry(1))
			}
		})
	}
}

func TestAnErrorOfOneContainerGoesBeforeTheEndOfAnother(t *testing.T) {
	t.Parallel()
	killed := ended(corev1.PodFailed, 137, "Error", "").ContainerStatuses[0]
	killed.Name = "helper"
	wrong := ended(corev1.PodFailed, 3, "Error", "no such file").ContainerStatuses[0]
	for _, order := range [][]corev1.ContainerStatus{{killed, wrong}, {wrong, killed}} {
		status := corev1.PodStatus{Phase: corev1.PodFailed, ContainerStatuses: order}
		if o := probejob.Inspect(job(), []corev1.Pod{pod(status)}, nil, noon.Time); o.State != probejob.Failed || !strings.Contains(o.Message, "no such file") {
			t.Errorf("it is %v: %s", o.State, o.Message)
		}
	}
}
