package remediation

import (
	"cmp"
	"fmt"
	"slices"
	"time"

	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/util/sets"

	"loadline.dev/loadline/apis/loadline/v1alpha1"
)

// eviction is the step in which the pod is evicted.
type eviction struct{ *input }

func (in *eviction) decide() decision {
	if in.pod == nil || terminated(in.pod) || in.tried != nil && (in.tried.err == nil || gone(in.tried.err)) {
		return in.awaitReplacement()
	}
	held, p := in.held(evictWithin)
	switch {
	case held != nil:
		return *held
	case in.tried == nil:
		p.do = doEvict
		return p
	case apierrors.IsTooManyRequests(in.tried.err):
		message := fmt.Sprintf("the pod may not be evicted now: %v", in.tried.err)
		if p.late() {
			return p.fail(v1alpha1.ReasonDisruptionBudget, fmt.Sprintf("not within %v: %s", evictWithin, message))
		}
		p.set(v1alpha1.ConditionApplied, metav1.ConditionFalse, v1alpha1.ReasonDisruptionBudget, message)
		p.step(v1alpha1.ReasonEvicting, message)
		return p.wait(watchEvery)
	case refused(in.tried.err) || p.late():
		return p.fail(v1alpha1.ReasonRefused, fmt.Sprintf("the pod cannot be evicted: %v", in.tried.err))
	default:
		return p.retry(in.tried.err)
	}
}

// gone reports whether an eviction met no such pod any more.
func gone(err error) bool { return apierrors.IsNotFound(err) || apierrors.IsConflict(err) }

// awaited says that no pod has taken the place of the evicted one.
const awaited = "the pod is gone, or going, and the one in its place is awaited"

// awaitReplacement begins to wait for the pod that takes the place of the evicted one.
func (in *eviction) awaitReplacement() decision {
	p := in.unchanged()
	var grace time.Duration
	if in.pod != nil && in.pod.Spec.TerminationGracePeriodSeconds != nil {
		grace = time.Duration(*in.pod.Spec.TerminationGracePeriodSeconds) * time.Second
	}
	p.set(v1alpha1.ConditionApplied, metav1.ConditionFalse, v1alpha1.ReasonReplacing, awaited)
	p.begin(v1alpha1.ReasonReplacing, awaited, replaceWithin+grace)
	return p.wait(soon)
}

// replacement is the step in which another pod takes the place of the evicted one.
type replacement struct{ *input }

func (in *replacement) decide() decision {
	p := in.unchanged()
	next := in.candidate()
	switch {
	case next != nil && ready(next):
		return in.landed(p, next)
	case p.late() && next == nil:
		return p.fail(v1alpha1.ReasonNotReplaced, "the pod was evicted, and its controller made no other one: it may have been scaled down or replaced itself")
	case p.late():
		return p.fail(v1alpha1.ReasonNotReplaced, fmt.Sprintf("the pod was evicted, and %s in its place is not ready: %s", next.Name, state(next)))
	}
	message := awaited
	if next != nil {
		message = fmt.Sprintf("%s is in its place, and not ready: %s", next.Name, state(next))
	}
	p.set(v1alpha1.ConditionApplied, metav1.ConditionFalse, v1alpha1.ReasonReplacing, message)
	p.step(v1alpha1.ReasonReplacing, message)
	return p.wait(watchEvery)
}

// candidate returns the pod that took the place of the evicted one, nil if there is none: the
// first that the controller made since, and that is in no other's place. Those that are ready
// go first.
func (in *replacement) candidate() *corev1.Pod {
	taken := in.replacements()
	var candidates []*corev1.Pod
	for i := range in.siblings {
		pod := &in.siblings[i]
		owner := metav1.GetControllerOf(pod)
		made := !pod.CreationTimestamp.Time.Before(in.remediation.Status.StartTime.Truncate(time.Second))
		if owner != nil && string(owner.UID) == in.remediation.Status.Controller && string(pod.UID) != in.remediation.Spec.Pod.UID &&
			made && !terminated(pod) && !taken.Has(string(pod.UID)) {
			candidates = append(candidates, pod)
		}
	}
	if len(candidates) == 0 {
		return nil
	}
	return slices.MinFunc(candidates, func(a, b *corev1.Pod) int {
		return cmp.Or(rank(a)-rank(b), a.CreationTimestamp.Compare(b.CreationTimestamp.Time), cmp.Compare(a.Name, b.Name))
	})
}

func rank(pod *corev1.Pod) int {
	if ready(pod) {
		return 0
	}
	return 1
}

// replacements returns the pods in the places of others.
func (in *replacement) replacements() sets.Set[string] {
	taken := sets.New[string]()
	for i := range in.others {
		if other := &in.others[i]; other.UID != in.remediation.UID && other.Status.Replacement != nil {
			taken.Insert(other.Status.Replacement.UID)
		}
	}
	return taken
}

// landed begins to observe the pod in the place of the evicted one.
func (in *replacement) landed(p decision, pod *corev1.Pod) decision {
	p.status.Replacement = &v1alpha1.RemediationPod{Name: pod.Name, UID: string(pod.UID), Node: pod.Spec.NodeName}
	target := in.remediation.Spec.Change.ToNode
	reason, message := v1alpha1.ReasonOnTarget, fmt.Sprintf("%s is ready on node %s", pod.Name, pod.Spec.NodeName)
	if pod.Spec.NodeName == in.remediation.Spec.Pod.Node || target != "" && target != pod.Spec.NodeName {
		reason, message = v1alpha1.ReasonElsewhere, message+", and not on "+cmp.Or(target, "another one than before")
	}
	p.set(v1alpha1.ConditionApplied, metav1.ConditionTrue, reason, message)
	return in.observe(p)
}

// state describes why a pod is not ready.
func state(pod *corev1.Pod) string {
	if c := podCondition(pod, corev1.PodScheduled); c != nil && c.Status == corev1.ConditionFalse {
		return cmp.Or(c.Message, "it is not scheduled")
	}
	if c := podCondition(pod, corev1.PodReady); c != nil {
		return cmp.Or(c.Message, c.Reason, "it is "+string(pod.Status.Phase))
	}
	return "it is " + cmp.Or(string(pod.Status.Phase), "new")
}
