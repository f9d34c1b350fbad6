package remediation

import (
	"time"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"loadline.dev/loadline/apis/loadline/v1alpha1"
	"loadline.dev/loadline/pkg/evaluate/condition"
	"loadline.dev/loadline/pkg/evaluate/remediations"
)

const (
	// resizeWithin is for how long a kubelet may take to follow a resize, or to find room.
	resizeWithin = 5 * time.Minute
	// evictWithin is for how long an eviction that is refused is tried again.
	evictWithin = 10 * time.Minute
	// replaceWithin is for how long after the pod is gone the one in its place may take to
	// be ready.
	replaceWithin = 10 * time.Minute
	// judgeWithin is for how long after the time of observation a change may be without a
	// judgement.
	judgeWithin = time.Hour
	// rollBackWithin is for how long a roll-back that is refused is tried again.
	rollBackWithin = 30 * time.Minute

	// waitEvery is how often the controller looks at a change that waits to be started, and
	// watchEvery at one that is running, without having been woken.
	waitEvery  = 30 * time.Second
	watchEvery = 10 * time.Second
)

// action is what is done to a pod.
type action int

const (
	nothing action = iota
	// doResize gives a container what the change says, doUndo what it had before.
	doResize
	doUndo
	doEvict
)

// attempt is what came of an action.
type attempt struct {
	pod *corev1.Pod // afterwards; nil after an eviction
	err error
}

// decision is what is next for a change. The status is written before the action is tried.
type decision struct {
	status v1alpha1.RemediationStatus
	do     action
	// starts reports whether the change is started: that takes numbers that are read past
	// the cache.
	starts bool
	// again is when to look again without having been woken, 0 for never.
	again time.Duration
	// err is what has the change looked at again after a while, longer each time.
	err error

	now        metav1.Time
	generation int64
}

// input is what a decision is made of.
type input struct {
	remediation *v1alpha1.Remediation
	// policy is the one of the change, nil if there is none that can be used, and noPolicy
	// why.
	policy   *remediations.Policy
	noPolicy string
	// responsible is the name of the policy that the pod belongs to, "" for none.
	responsible string
	// others are the Remediations of the cluster.
	others []v1alpha1.Remediation
	// stopped is the namespace whose label stops changes of the pod, "" for none.
	stopped string
	// pod is the pod of the change, or nil if it is gone; siblings are the pods of its
	// namespace that belong to the same controller, while one is to take its place.
	pod      *corev1.Pod
	siblings []corev1.Pod
	// resizable reports whether the API server lets pods be resized.
	resizable bool
	// refusal is why the pod must be left as it is, "" if it need not.
	refusal string
	// judgement is what the change has won, nil where that is not to be asked.
	judgement *Judgement
	// tried is what came of the action that was planned before, nil if there was none.
	tried *attempt
	now   metav1.Time
}

// decide says what is next. It is pure: the same input gives the same decision.
func decide(in *input) decision {
	r := in.remediation
	switch {
	case remediations.Complete(r):
		return in.unchanged()
	case !remediations.Started(r):
		return (&proposal{in}).decide()
	}
	switch remediations.Step(r) {
	case v1alpha1.ReasonResizing:
		return (&resizeStep{in}).decide()
	case v1alpha1.ReasonEvicting:
		return (&eviction{in}).decide()
	case v1alpha1.ReasonReplacing:
		return (&replacement{in}).decide()
	case v1alpha1.ReasonRollingBack:
		return (&rollBack{in}).decide()
	default:
		return (&observation{in}).decide()
	}
}

// unchanged returns a decision that does nothing.
func (in *input) unchanged() decision {
	p := decision{status: *in.remediation.Status.DeepCopy(), now: in.now, generation: in.remediation.Generation}
	p.status.ObservedGeneration = new(in.remediation.Generation)
	p.status.Change = condition.Message(remediations.Describe(&in.remediation.Spec.Change))
	if w := &in.remediation.Spec.Prediction; w.Win != nil && w.Low != nil && w.High != nil {
		p.status.Predicted = inWords(w.Win.AsApproximateFloat64(), w.Low.AsApproximateFloat64(), w.High.AsApproximateFloat64())
	}
	return p
}

// set sets a condition.
func (p *decision) set(kind string, status metav1.ConditionStatus, reason, message string) {
	condition.Set(&p.status.Conditions, p.generation, p.now, metav1.Condition{Type: kind, Status: status, Reason: reason, Message: message})
}

// step says which step is under way.
func (p *decision) step(reason, message string) {
	p.set(v1alpha1.ConditionComplete, metav1.ConditionFalse, reason, message)
}

// begin begins a step, which may take as long as it says.
func (p *decision) begin(reason, message string, within time.Duration) {
	p.step(reason, message)
	p.status.Deadline = new(metav1.NewTime(p.now.Add(within)))
}

// end says that nothing more is done.
func (p *decision) end(outcome, message string) decision {
	p.set(v1alpha1.ConditionComplete, metav1.ConditionTrue, outcome, message)
	p.status.CompletionTime, p.status.Deadline = new(p.now), nil
	p.do, p.again, p.err = nothing, 0, nil
	return *p
}

// limit gives a step a deadline that has none.
func (p *decision) limit(within time.Duration) {
	if p.status.Deadline == nil {
		p.status.Deadline = new(metav1.NewTime(p.now.Add(within)))
	}
}

// late reports whether the step has taken as long as it may.
func (p *decision) late() bool { return p.status.Deadline != nil && !p.now.Before(p.status.Deadline) }

// wait has the change looked at again.
func (p *decision) wait(again time.Duration) decision {
	p.again = again
	return *p
}

// held returns a decision that leaves the pod alone while a namespace says so, and gives the step
// all of its time afterwards; nil where the step goes on.
func (in *input) held(within time.Duration) (held *decision, p decision) {
	p = in.unchanged()
	if in.stopped == "" {
		p.limit(within)
		return nil, p
	}
	p.status.Deadline = nil
	p.step(remediations.Step(in.remediation), stoppedBy(in.stopped))
	p.again = waitEvery
	return &p, p
}

func stoppedBy(namespace string) string {
	return "nothing is done while namespace " + namespace + " has the label " + v1alpha1.RemediationLabel + "=" + v1alpha1.RemediationOff
}

// from and to are what the container of a change had, and is given.
func (in *input) from() amounts {
	var a amounts
	if c := in.remediation.Spec.Change.Request; c != nil {
		a.request = c.From
	}
	if c := in.remediation.Spec.Change.Limit; c != nil {
		a.limit = c.From
	}
	return a
}

func (in *input) to() amounts {
	var a amounts
	if c := in.remediation.Spec.Change.Request; c != nil {
		a.request = c.To
	}
	if c := in.remediation.Spec.Change.Limit; c != nil {
		a.limit = c.To
	}
	return a
}

// container is the container of a change.
func (in *input) container() string { return in.remediation.Spec.Change.Container }

// moves reports whether the change is a move.
func (in *input) moves() bool { return in.remediation.Spec.Change.Action == v1alpha1.ActionMove }
