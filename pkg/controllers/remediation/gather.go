package remediation

import (
	"context"
	"fmt"

	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"loadline.dev/loadline/apis/loadline/v1alpha1"
	"loadline.dev/loadline/pkg/evaluate/remediations"
)

// gather reads what a decision on a change is made of. Policies, namespaces and other changes
// are read by the given reader, pods always past the cache.
func (r *Reconciler) gather(ctx context.Context, by client.Reader, change *v1alpha1.Remediation) (*input, error) {
	if remediations.Step(change) == v1alpha1.ReasonReplacing {
		by = r.API // a pod takes the place of one other only
	}
	in := &input{remediation: change, now: metav1.NewTime(r.Clock.Now())}
	var err error
	if in.pod, err = r.podOf(ctx, change); err != nil {
		return nil, err
	}
	namespace, err := r.stop(ctx, change, in)
	if err != nil {
		return nil, err
	}
	if err := policies(ctx, by, in, namespace); err != nil {
		return nil, err
	}
	var all v1alpha1.RemediationList
	if err := by.List(ctx, &all, client.UnsafeDisableDeepCopy); err != nil { // they are only looked at
		return nil, fmt.Errorf("listing Remediations: %w", err)
	}
	in.others = all.Items
	if !remediations.Started(change) {
		if in.resizable, err = r.Resizable(ctx); err != nil {
			return nil, fmt.Errorf("asking whether pods can be resized: %w", err)
		}
		return in, nil
	}
	switch remediations.Step(change) {
	case v1alpha1.ReasonReplacing:
		var pods corev1.PodList
		if err := r.API.List(ctx, &pods, client.InNamespace(change.Namespace)); err != nil {
			return nil, fmt.Errorf("listing the pods of namespace %s: %w", change.Namespace, err)
		}
		in.siblings = pods.Items
	case v1alpha1.ReasonObserving:
		return in, r.judge(ctx, in)
	}
	return in, nil
}

// podOf returns the pod that a change is about: the one that is changed, or the one in its
// place; nil if it is gone.
func (r *Reconciler) podOf(ctx context.Context, change *v1alpha1.Remediation) (*corev1.Pod, error) {
	of := change.Spec.Pod
	if change.Status.Replacement != nil {
		of = *change.Status.Replacement
	}
	pod := &corev1.Pod{}
	err := r.API.Get(ctx, client.ObjectKey{Namespace: change.Namespace, Name: of.Name}, pod)
	switch {
	case apierrors.IsNotFound(err), err == nil && string(pod.UID) != of.UID:
		return nil, nil //nolint:nilnil // there is none
	case err != nil:
		return nil, fmt.Errorf("reading pod %s: %w", of.Name, err)
	}
	return pod, nil
}

// stop finds the label that stops changes of the pod, and returns the pod's namespace. It is
// read past the cache: it has effect at once.
func (r *Reconciler) stop(ctx context.Context, change *v1alpha1.Remediation, in *input) (*corev1.Namespace, error) {
	var of *corev1.Namespace
	for _, name := range []string{r.Namespace, change.Namespace} {
		namespace := &corev1.Namespace{}
		if err := r.API.Get(ctx, client.ObjectKey{Name: name}, namespace); client.IgnoreNotFound(err) != nil {
			return nil, fmt.Errorf("reading namespace %s: %w", name, err)
		}
		if in.stopped == "" && remediations.Stopped(namespace.Labels) {
			in.stopped = name
		}
		of = namespace
	}
	return of, nil
}

// policies finds the policy of a change, and the one that the pod belongs to.
func policies(ctx context.Context, by client.Reader, in *input, namespace *corev1.Namespace) error {
	var list v1alpha1.RemediationPolicyList
	if err := by.List(ctx, &list); err != nil {
		return fmt.Errorf("listing RemediationPolicies: %w", err)
	}
	name := in.remediation.Spec.Policy
	in.noPolicy = fmt.Sprintf("there is no RemediationPolicy %s", name)
	all := remediations.CompileAll(list.Items)
	for i := range list.Items {
		if list.Items[i].Name == name {
			in.noPolicy = fmt.Sprintf("RemediationPolicy %s is invalid", name)
		}
	}
	for _, p := range all {
		if p.Name == name {
			in.policy = p
		}
	}
	if in.pod == nil {
		return nil
	}
	first := remediations.Responsible(all, &remediations.Pod{
		Namespace: in.pod.Namespace, NamespaceLabels: namespace.Labels, Labels: in.pod.Labels, PriorityClass: in.pod.Spec.PriorityClassName,
	})
	if first != nil {
		in.responsible = first.Name
	}
	return nil
}

// permission asks whether the pod of a change that would be started may be changed.
func (r *Reconciler) permission(ctx context.Context, in *input) error {
	var err error
	in.refusal, err = r.Permission.Refusal(ctx, in.policy, in.remediation, in.pod)
	if err != nil {
		return fmt.Errorf("asking whether pod %s may be changed: %w", in.pod.Name, err)
	}
	return nil
}

// judge asks what a change has won, once it was observed for long enough.
func (r *Reconciler) judge(ctx context.Context, in *input) error {
	if in.pod == nil || in.remediation.Status.Deadline == nil || in.now.Time.Before(judgedFrom(in.remediation)) {
		return nil
	}
	if r.Judge == nil {
		in.judgement = &Judgement{Unknown: "the manager does not ask what gauges observe"}
		return nil
	}
	judgement, err := r.Judge.Judge(ctx, in.remediation)
	if err != nil {
		return fmt.Errorf("judging Remediation %s: %w", in.remediation.Name, err)
	}
	in.judgement = &judgement
	return nil
}
