package remediation

import (
	"errors"
	"fmt"
	"time"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"loadline.dev/loadline/apis/loadline/v1alpha1"
)

// resizeStep is the step in which the pod is resized, and the kubelet follows.
type resizeStep struct{ *input }

func (in *resizeStep) decide() decision {
	if in.pod == nil || terminated(in.pod) {
		p := in.unchanged()
		return p.fail(v1alpha1.ReasonPodGone, fmt.Sprintf("pod %s has ended, or was deleted, while it was resized", in.remediation.Spec.Pod.Name))
	}
	if in.tried != nil && in.tried.err == nil {
		in.pod = in.tried.pod
	}
	switch {
	case has(in.pod, in.container(), in.to()):
		return in.follow()
	case !has(in.pod, in.container(), in.from()):
		p := in.unchanged()
		return p.fail(v1alpha1.ReasonAltered, fmt.Sprintf("container %s has %s, neither what it had nor what was asked for: a user or a webhook set that, and it stays", in.container(), amountsOf(in.pod, in.container())))
	default:
		return in.ask()
	}
}

// ask resizes the pod.
func (in *resizeStep) ask() decision {
	held, p := in.held(resizeWithin)
	switch {
	case held != nil:
		return *held
	case in.tried == nil:
		p.do = doResize
		return p
	case refused(in.tried.err) || p.late():
		reason := v1alpha1.ReasonRefused
		if errors.Is(in.tried.err, errAltered) {
			reason = v1alpha1.ReasonAltered
		}
		return p.fail(reason, fmt.Sprintf("the pod cannot be resized: %v", in.tried.err))
	default:
		return p.retry(in.tried.err)
	}
}

// follow waits for the kubelet.
func (in *resizeStep) follow() decision {
	p := in.unchanged()
	p.limit(resizeWithin)
	far, says := kubeletProgress(in.pod, in.container(), in.to())
	switch {
	case far == resized:
		p.set(v1alpha1.ConditionApplied, metav1.ConditionTrue, v1alpha1.ReasonResized, fmt.Sprintf("container %s has %s", in.container(), amountsOf(in.pod, in.container())))
		return in.observe(p)
	case far == infeasible:
		return p.undo(v1alpha1.ReasonInfeasible, says)
	case p.late() && far == deferred:
		return p.undo(v1alpha1.ReasonDeferred, fmt.Sprintf("for %v: %s", resizeWithin, says))
	case p.late():
		return p.undo(v1alpha1.ReasonResizeFailed, fmt.Sprintf("not done within %v: %s", resizeWithin, says))
	}
	reason := map[progress]string{deferred: v1alpha1.ReasonDeferred, erring: v1alpha1.ReasonResizeFailed}[far]
	if reason == "" {
		reason = v1alpha1.ReasonResizing
	}
	p.set(v1alpha1.ConditionApplied, metav1.ConditionFalse, reason, says)
	p.step(v1alpha1.ReasonResizing, says)
	return p.wait(watchEvery)
}

// undo has a resize undone that could not be made.
func (p *decision) undo(reason, message string) decision {
	p.set(v1alpha1.ConditionApplied, metav1.ConditionFalse, reason, message)
	return p.rollBack(message)
}

// rollBack begins to undo a resize.
func (p *decision) rollBack(message string) decision {
	p.set(v1alpha1.ConditionRolledBack, metav1.ConditionFalse, v1alpha1.ReasonRollingBack, message)
	p.begin(v1alpha1.ReasonRollingBack, message, rollBackWithin)
	return p.wait(soon)
}

// observe begins to observe a change that is made.
func (in *input) observe(p decision) decision {
	within := defaultObserve
	if in.policy != nil {
		within = in.policy.Observe
	}
	p.status.AppliedTime = new(in.now)
	message := fmt.Sprintf("observed for %v", within)
	p.set(v1alpha1.ConditionProven, metav1.ConditionUnknown, v1alpha1.ReasonObserving, message)
	p.begin(v1alpha1.ReasonObserving, message, within+judgeWithin)
	return p.wait(within)
}

// fail ends a change that was not made.
func (p *decision) fail(reason, message string) decision {
	p.set(v1alpha1.ConditionApplied, metav1.ConditionFalse, reason, message)
	return p.end(v1alpha1.ReasonFailed, message)
}

// retry has an action tried again that the API server could not answer.
func (p *decision) retry(err error) decision {
	if apierrors.IsConflict(err) || apierrors.IsNotFound(err) { // the pod has changed since it was read
		return p.wait(time.Second)
	}
	p.err = err
	return *p
}

// refused reports whether the API server will not do what it is asked for, however often.
func refused(err error) bool {
	return apierrors.IsForbidden(err) || apierrors.IsInvalid(err) || apierrors.IsBadRequest(err) || apierrors.IsMethodNotSupported(err) || errors.Is(err, errAltered)
}
