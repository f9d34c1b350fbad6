package remediation

import (
	"cmp"
	"fmt"
	"time"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"loadline.dev/loadline/apis/loadline/v1alpha1"
	"loadline.dev/loadline/pkg/evaluate/remediations"
)

// proposal is a change that is not started.
type proposal struct{ *input }

// verdict is why a change is not started: the reason and message of its condition Complete.
type verdict struct {
	reason, message string
	// ends reports whether it never will be.
	ends bool
	// again is after what time it may be otherwise, 0 for when the controller looks again.
	again time.Duration
}

func waits(reason, format string, arguments ...any) *verdict {
	return &verdict{reason: reason, message: fmt.Sprintf(format, arguments...)}
}

func never(reason, format string, arguments ...any) *verdict {
	return &verdict{reason: reason, message: fmt.Sprintf(format, arguments...), ends: true}
}

// decide starts the change, or says why not.
func (in *proposal) decide() decision {
	p := in.unchanged()
	approved := in.approve(&p)
	if approved != nil && approved.ends {
		return p.end(approved.reason, approved.message)
	}
	for _, judge := range []func() *verdict{in.pending, in.allowed, func() *verdict { return approved }, in.possible, in.due} {
		v := judge()
		switch {
		case v == nil:
			continue
		case v.ends:
			return p.end(v.reason, v.message)
		}
		p.step(v.reason, v.message)
		return p.wait(min(cmp.Or(v.again, waitEvery), waitEvery))
	}
	return in.start(p)
}

// approve sets the condition Approved, and says what is missing.
func (in *proposal) approve(p *decision) *verdict {
	a := in.remediation.Spec.Approval
	switch {
	case a != nil && a.Decision == v1alpha1.DecisionRejected:
		p.set(v1alpha1.ConditionApproved, metav1.ConditionFalse, v1alpha1.ReasonRejected, "rejected by "+a.By)
		return never(v1alpha1.ReasonRejected, "rejected by %s", a.By)
	case a != nil:
		p.set(v1alpha1.ConditionApproved, metav1.ConditionTrue, v1alpha1.ReasonApproved, "approved by "+a.By)
		return nil
	case in.policy != nil && in.policy.Spec.Mode == v1alpha1.RemediationAutomatic:
		p.set(v1alpha1.ConditionApproved, metav1.ConditionTrue, v1alpha1.ReasonAutomatic, "RemediationPolicy "+in.policy.Name+" makes changes without approval")
		return nil
	case in.policy == nil || !in.policy.Changes():
		return nil // there is nothing to approve
	default:
		r := in.remediation
		message := fmt.Sprintf(`a person decides: kubectl patch remediation %s --namespace %s --type merge --patch '{"spec": {"approval": {"decision": "Approved", "by": "YOUR NAME"}}}'`,
			r.Name, r.Namespace)
		p.set(v1alpha1.ConditionApproved, metav1.ConditionFalse, v1alpha1.ReasonAwaitingApproval, message)
		return waits(v1alpha1.ReasonAwaitingApproval, "%s", message)
	}
}

// pending says whether the change still makes sense.
func (in *proposal) pending() *verdict {
	r := in.remediation
	proposed := remediations.SettingsOf(&v1alpha1.RemediationPolicySpec{}).Proposal
	if in.policy != nil {
		proposed = in.policy.Proposal
	}
	switch {
	case in.pod == nil:
		return never(v1alpha1.ReasonObsolete, "pod %s is gone", r.Spec.Pod.Name)
	case terminated(in.pod):
		return never(v1alpha1.ReasonObsolete, "pod %s has ended, or is being deleted", r.Spec.Pod.Name)
	case in.now.Sub(r.CreationTimestamp.Time) >= proposed:
		return never(v1alpha1.ReasonExpired, "not started within %v", proposed)
	}
	if !in.moves() && !has(in.pod, in.container(), in.from()) {
		return never(v1alpha1.ReasonObsolete, "container %s has %s, not what it had when the change was proposed", in.container(), amountsOf(in.pod, in.container()))
	}
	return nil
}

// allowed says whether the policy has the change made.
func (in *proposal) allowed() *verdict {
	r, p := in.remediation, in.policy
	switch {
	case p == nil:
		return waits(v1alpha1.ReasonNotAllowed, "%s", in.noPolicy)
	case !p.Changes():
		return waits(v1alpha1.ReasonAdvising, "RemediationPolicy %s proposes changes, and makes none", p.Name)
	case !p.Allows(r.Spec.Change.Action):
		return waits(v1alpha1.ReasonNotAllowed, "spec.allow of RemediationPolicy %s does not list %s", p.Name, r.Spec.Change.Action)
	case in.responsible == "":
		return waits(v1alpha1.ReasonNotAllowed, "RemediationPolicy %s does not choose the pod", p.Name)
	case in.responsible != p.Name:
		return waits(v1alpha1.ReasonNotAllowed, "the pod belongs to RemediationPolicy %s, which goes before %s", in.responsible, p.Name)
	case in.stopped != "":
		return waits(v1alpha1.ReasonSuspended, "%s", stoppedBy(in.stopped))
	case p.Spec.State == v1alpha1.PolicySuspended:
		return waits(v1alpha1.ReasonSuspended, "spec.state of RemediationPolicy %s is Suspended", p.Name)
	}
	if c := remediations.Paused(p.RemediationPolicy, in.others); c.Status == metav1.ConditionTrue {
		return waits(v1alpha1.ReasonSuspended, "RemediationPolicy %s is paused: %s", p.Name, c.Message)
	}
	return nil
}

// possible says whether the change can be made.
func (in *proposal) possible() *verdict {
	switch {
	case !in.moves() && !in.resizable:
		return never(v1alpha1.ReasonFailed, "the API server cannot resize pods (it has no pods/resize): that takes Kubernetes 1.33")
	case in.moves() && metav1.GetControllerOf(in.pod) == nil:
		return never(v1alpha1.ReasonFailed, "nothing owns the pod: it would not be made anew")
	case in.pod.Spec.NodeName != in.remediation.Spec.Pod.Node:
		return never(v1alpha1.ReasonObsolete, "the pod is on node %s", in.pod.Spec.NodeName)
	case in.refusal != "":
		return waits(v1alpha1.ReasonNotAllowed, "the pod is left as it is: %s", in.refusal)
	}
	return nil
}

// due says whether it is time.
func (in *proposal) due() *verdict {
	if age := in.age(); age < in.policy.MinPodAge {
		v := waits(v1alpha1.ReasonQueued, "the pod has not been running for %v", in.policy.MinPodAge)
		v.again = in.policy.MinPodAge - age
		return v
	}
	if hold := in.policy.Hold(in.remediation, in.others, in.now.Time); hold != nil {
		return &verdict{reason: v1alpha1.ReasonQueued, message: hold.Message, again: hold.Again}
	}
	return nil
}

// age returns for how long the pod has been running.
func (in *proposal) age() time.Duration {
	since := in.pod.Status.StartTime
	if since == nil || in.pod.Status.Phase != corev1.PodRunning {
		return 0
	}
	return in.now.Sub(since.Time)
}

// start begins the first step of the change.
func (in *proposal) start(p decision) decision {
	p.starts = true
	p.status.StartTime = new(in.now)
	if in.moves() {
		p.status.Controller = string(metav1.GetControllerOf(in.pod).UID)
		p.set(v1alpha1.ConditionApplied, metav1.ConditionFalse, v1alpha1.ReasonEvicting, "the pod is evicted")
		p.begin(v1alpha1.ReasonEvicting, "the pod is evicted", evictWithin)
		return p.wait(soon)
	}
	message := fmt.Sprintf("container %s is resized", in.container())
	p.set(v1alpha1.ConditionApplied, metav1.ConditionFalse, v1alpha1.ReasonResizing, message)
	p.begin(v1alpha1.ReasonResizing, message, resizeWithin)
	return p.wait(soon)
}

// soon has a change go on at once.
const soon = time.Millisecond
