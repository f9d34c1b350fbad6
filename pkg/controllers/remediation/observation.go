package remediation

import (
	"fmt"
	"time"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"loadline.dev/loadline/apis/loadline/v1alpha1"
	"loadline.dev/loadline/pkg/evaluate/remediations"
)

// defaultObserve is for how long a change is observed whose policy is gone.
var defaultObserve = remediations.SettingsOf(&v1alpha1.RemediationPolicySpec{}).Observe

// judgeEvery is how often it is asked what a change has won, while that is not known.
const judgeEvery = 30 * time.Second

// observation is the step in which the pods are observed, and the change is judged.
type observation struct{ *input }

// judgedFrom returns from when on a change may be judged: its deadline, but for the time
// that a judgement may take.
func judgedFrom(r *v1alpha1.Remediation) time.Time { return r.Status.Deadline.Add(-judgeWithin) }

func (in *observation) decide() decision {
	p := in.unchanged()
	if reason, message := in.lost(); reason != "" {
		p.set(v1alpha1.ConditionProven, metav1.ConditionUnknown, reason, message)
		return p.end(v1alpha1.ReasonUnproven, message)
	}
	j := in.judgement
	switch {
	case j == nil:
		return p.wait(max(judgedFrom(in.remediation).Sub(in.now.Time), soon))
	case j.Unknown != "" && j.Final:
		p.set(v1alpha1.ConditionProven, metav1.ConditionUnknown, v1alpha1.ReasonNotObserved, j.Unknown)
		return p.end(v1alpha1.ReasonUnproven, "the change stays, and what it won cannot be known: "+j.Unknown)
	case j.Unknown != "":
		p.set(v1alpha1.ConditionProven, metav1.ConditionUnknown, v1alpha1.ReasonNotObserved, j.Unknown)
		if p.late() {
			return p.end(v1alpha1.ReasonUnproven, fmt.Sprintf("the change stays, and what it won was not observed within %v: %s", judgeWithin, j.Unknown))
		}
		p.step(v1alpha1.ReasonObserving, j.Unknown)
		return p.wait(judgeEvery)
	}
	return in.judge(p)
}

// lost says why the change cannot be judged any more, "" where it can.
func (in *observation) lost() (reason, message string) {
	switch {
	case in.moves() && (in.pod == nil || terminated(in.pod)):
		return v1alpha1.ReasonPodGone, fmt.Sprintf("%s, the pod in the place of the evicted one, is gone", in.remediation.Status.Replacement.Name)
	case in.moves():
		return "", ""
	case in.pod == nil || terminated(in.pod):
		return v1alpha1.ReasonPodGone, fmt.Sprintf("pod %s is gone, and with it the change", in.remediation.Spec.Pod.Name)
	case !has(in.pod, in.container(), in.to()):
		return v1alpha1.ReasonAltered, in.altered()
	}
	return "", ""
}

// altered says that a change of the pod was overwritten.
func (in *input) altered() string {
	return fmt.Sprintf("container %s has %s: a user or a webhook has set that since, and it stays", in.container(), amountsOf(in.pod, in.container()))
}

// judge ends the change, or begins to undo it, by what it has won.
func (in *observation) judge(p decision) decision {
	j := in.judgement
	p.status.Realized = realized(in.remediation, j)
	p.status.Win = inWords(j.Win, j.Low, j.High)
	won := fmt.Sprintf("%s, predicted %.2f", p.status.Win, in.remediation.Spec.Prediction.Win.AsApproximateFloat64())
	switch {
	case j.CostsOthers != "":
		return in.lose(p, v1alpha1.ReasonCostsOthers, j.CostsOthers)
	case j.High <= 0:
		return in.lose(p, v1alpha1.ReasonNotWon, "won nothing: "+won)
	case j.Low > 0:
		p.set(v1alpha1.ConditionProven, metav1.ConditionTrue, v1alpha1.ReasonWon, "won "+won)
		return p.end(v1alpha1.ReasonSucceeded, "won "+won)
	default:
		p.set(v1alpha1.ConditionProven, metav1.ConditionUnknown, v1alpha1.ReasonInconclusive, "it is not certain that it won: "+won)
		return p.end(v1alpha1.ReasonSucceeded, "the change stays, and it is not certain that it won: "+won)
	}
}

// lose undoes a change, if it can be.
func (in *observation) lose(p decision, reason, message string) decision {
	p.set(v1alpha1.ConditionProven, metav1.ConditionFalse, reason, message)
	if in.moves() {
		return p.end(v1alpha1.ReasonFailed, message+"; a move cannot be undone")
	}
	return p.rollBack(message)
}

// inWords writes a win with its interval.
func inWords(win, low, high float64) string {
	return fmt.Sprintf("%.2f (%.2f to %.2f)", win, low, high)
}

// realized returns what a change has won, as the API has it.
func realized(r *v1alpha1.Remediation, j *Judgement) *v1alpha1.RealizedWin {
	won := &v1alpha1.RealizedWin{Win: remediations.Quantity(j.Win), Low: remediations.Quantity(j.Low), High: remediations.Quantity(j.High)}
	if predicted := r.Spec.Prediction.Win.AsApproximateFloat64(); predicted > 0 {
		won.Ratio = remediations.Quantity(j.Win / predicted)
	}
	return won
}
