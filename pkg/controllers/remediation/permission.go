package remediation

import (
	"context"
	"fmt"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/utils/clock"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"loadline.dev/loadline/apis/loadline/v1alpha1"
	"loadline.dev/loadline/pkg/evaluate/disruption"
	"loadline.dev/loadline/pkg/evaluate/remediations"
	"loadline.dev/loadline/pkg/scheduling"
)

// Permission says which pods must be left as they are, whatever a policy says: those that a
// PodDisruptionBudget or an annotation protects, that an autoscaler resizes, or that are the
// only ones of their workload.
type Permission interface {
	// Refusal returns why a change of a pod must not be made now, "" if it may be.
	Refusal(ctx context.Context, policy *remediations.Policy, r *v1alpha1.Remediation, pod *corev1.Pod) (string, error)
}

// DisruptionRules is the [Permission] by package disruption, of what the API server has in the
// namespace of a pod.
type DisruptionRules struct {
	// API reads past all caches.
	API   client.Reader
	Clock clock.PassiveClock
}

// Refusal returns why a pod must not be evicted or resized.
func (d *DisruptionRules) Refusal(ctx context.Context, policy *remediations.Policy, r *v1alpha1.Remediation, pod *corev1.Pod) (string, error) {
	in, err := d.gather(ctx, pod.Namespace)
	if err != nil {
		return "", err
	}
	in.Now, in.Allowed = d.Clock.Now(), remediations.SingleReplicas(policy)
	rules, err := disruption.New(in)
	if err != nil {
		return err.Error(), nil //nolint:nilerr // a PodDisruptionBudget that cannot be read protects its pods
	}
	change := &r.Spec.Change
	if change.Action == v1alpha1.ActionMove {
		return rules.Evict(pod).Refused, nil
	}
	cpu := disruption.ContainerCPU{Container: change.Container}
	if change.Request != nil {
		cpu.Request = change.Request.To
	}
	if change.Limit != nil {
		cpu.Limit = change.Limit.To
	}
	return rules.Resize(pod, []disruption.ContainerCPU{cpu}).Refused, nil
}

// gather reads what the rules depend on.
func (d *DisruptionRules) gather(ctx context.Context, namespace string) (*disruption.Input, error) {
	var pods corev1.PodList
	if err := d.API.List(ctx, &pods, client.InNamespace(namespace)); err != nil {
		return nil, fmt.Errorf("listing pods: %w", err)
	}
	in, err := (&scheduling.Lister{Reader: d.API}).Disruption(ctx, client.InNamespace(namespace))
	if err != nil {
		return nil, err
	}
	in.Pods = pods.Items
	return in, nil
}
