package remediation

import (
	"fmt"

	"k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"loadline.dev/loadline/apis/loadline/v1alpha1"
)

// rollBack is the step in which a resize is undone.
type rollBack struct{ *input }

func (in *rollBack) decide() decision {
	if in.pod == nil || terminated(in.pod) {
		p := in.unchanged()
		return p.undone(v1alpha1.ReasonPodGone, "the pod is gone, and with it the change")
	}
	if in.tried != nil && in.tried.err == nil {
		in.pod = in.tried.pod
	}
	switch {
	case has(in.pod, in.container(), in.from()):
		return in.follow()
	case !has(in.pod, in.container(), in.to()):
		p := in.unchanged()
		return p.left(v1alpha1.ReasonAltered, in.altered())
	}
	held, p := in.held(rollBackWithin)
	switch {
	case held != nil:
		return *held
	case in.tried == nil:
		p.do = doUndo
		return p
	case p.late():
		return p.left(v1alpha1.ReasonRollBackFailed, fmt.Sprintf("the change cannot be undone: %v", in.tried.err))
	case refused(in.tried.err): // a quota may have room later
		message := fmt.Sprintf("the change cannot be undone now: %v", in.tried.err)
		p.set(v1alpha1.ConditionRolledBack, metav1.ConditionFalse, v1alpha1.ReasonRollingBack, message)
		return p.wait(judgeEvery)
	default:
		return p.retry(in.tried.err)
	}
}

// follow waits for the kubelet.
func (in *rollBack) follow() decision {
	p := in.unchanged()
	p.limit(rollBackWithin)
	far, says := kubeletProgress(in.pod, in.container(), in.from())
	switch {
	case far == resized:
		return p.undone(v1alpha1.ReasonRolledBack, fmt.Sprintf("container %s has %s again", in.container(), amountsOf(in.pod, in.container())))
	case p.late():
		return p.left(v1alpha1.ReasonRollBackFailed, "the kubelet has not undone the change: "+says)
	default:
		return p.wait(watchEvery)
	}
}

// undone ends a change that was undone. One that was made and did not win is rolled back; one
// that could not be made has failed.
func (p *decision) undone(reason, message string) decision {
	p.set(v1alpha1.ConditionRolledBack, metav1.ConditionTrue, reason, message)
	outcome, why := v1alpha1.ReasonFailed, meta.FindStatusCondition(p.status.Conditions, v1alpha1.ConditionApplied)
	if c := meta.FindStatusCondition(p.status.Conditions, v1alpha1.ConditionProven); c != nil && c.Status == metav1.ConditionFalse {
		outcome, why = v1alpha1.ReasonRolledBack, c
	}
	return p.end(outcome, why.Message+"; "+message)
}

// left ends a change that could not be undone.
func (p *decision) left(reason, message string) decision {
	p.set(v1alpha1.ConditionRolledBack, metav1.ConditionFalse, reason, message)
	return p.end(v1alpha1.ReasonFailed, message)
}
