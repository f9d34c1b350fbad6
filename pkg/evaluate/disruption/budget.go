package disruption

import (
	"fmt"
	"slices"

	corev1 "k8s.io/api/core/v1"
	policyv1 "k8s.io/api/policy/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/labels"
	"k8s.io/apimachinery/pkg/util/intstr"
	"k8s.io/apimachinery/pkg/util/sets"

	"loadline.dev/loadline/pkg/cgroup"
	"loadline.dev/loadline/pkg/text"
)

// budget is a PodDisruptionBudget with what its status says, or would say.
type budget struct {
	*policyv1.PodDisruptionBudget

	selector         labels.Selector
	healthy, desired int32
	allowed          int32 // disruptions
}

// budgetsOf returns the PodDisruptionBudgets of each namespace.
func budgetsOf(in *Input) (map[string][]*budget, error) {
	budgets := map[string][]*budget{}
	var pods map[string][]*corev1.Pod // by their namespaces, once a budget needs them
	for i := range in.Budgets {
		b := &budget{PodDisruptionBudget: &in.Budgets[i]}
		var err error
		if b.selector, err = metav1.LabelSelectorAsSelector(b.Spec.Selector); err != nil {
			return nil, fmt.Errorf("PodDisruptionBudget %s: spec.selector: %w", text.QualifiedName(b), err)
		}
		if b.Status.ObservedGeneration > 0 {
			b.healthy, b.desired, b.allowed = b.Status.CurrentHealthy, b.Status.DesiredHealthy, b.Status.DisruptionsAllowed
		} else {
			if pods == nil {
				pods = byNamespace(in.Pods)
			}
			if err := b.compute(pods[b.Namespace]); err != nil {
				return nil, fmt.Errorf("PodDisruptionBudget %s: %w", text.QualifiedName(b), err)
			}
		}
		budgets[b.Namespace] = append(budgets[b.Namespace], b)
	}
	return budgets, nil
}

func byNamespace(all []corev1.Pod) map[string][]*corev1.Pod {
	pods := map[string][]*corev1.Pod{}
	for i := range all {
		if p := &all[i]; !cgroup.Ended(p) {
			pods[p.Namespace] = append(pods[p.Namespace], p)
		}
	}
	return pods
}

// compute sets what the status does not say, from the pods of its namespace that have not ended, as the disruption controller does.
// That knows the scale of the controllers; here it is how many pods they have.
func (b *budget) compute(pods []*corev1.Pod) error {
	controllers := sets.New[owner]()
	matched := int32(0)
	for _, p := range pods {
		if !b.selector.Matches(labels.Set(p.Labels)) {
			continue
		}
		matched++
		controllers.Insert(ownerOf(p))
		if ready(p) {
			b.healthy++
		}
	}
	controllers.Delete(owner{})
	scale := int32(0)
	for _, p := range pods {
		if controllers.Has(ownerOf(p)) {
			scale++
		}
	}
	expected := scale
	switch unavailable, available := b.Spec.MaxUnavailable, b.Spec.MinAvailable; {
	case unavailable != nil:
		n, err := scaled("spec.maxUnavailable", unavailable, scale)
		if err != nil {
			return err
		}
		b.desired = max(0, scale-n)
	case available != nil:
		n, err := scaled("spec.minAvailable", available, scale)
		if err != nil {
			return err
		}
		b.desired = n
		if available.Type == intstr.Int {
			expected = matched
		}
	}
	if expected > 0 {
		b.allowed = max(0, b.healthy-b.desired)
	}
	return nil
}

// scaled returns a number of pods, or the part of them that a percentage is, rounded up.
func scaled(field string, value *intstr.IntOrString, scale int32) (int32, error) {
	n, err := intstr.GetScaledValueFromIntOrPercent(value, int(scale), true)
	if err != nil {
		return 0, fmt.Errorf("%s: %q is neither a number nor a percentage", field, value)
	}
	return int32(min(max(n, 0), 1<<30)), nil
}

// ofMachine reports whether KubeVirt made the budget to have the eviction of a virtual machine's pod start its migration.
func (b *budget) ofMachine() bool {
	ref := metav1.GetControllerOfNoCopy(b)
	return ref != nil && ref.Kind == machineInstance
}

// budgetsFor returns the budgets that guard a pod. The Eviction API does not ask them about a pod that is not running yet.
func (r *Rules) budgetsFor(pod *corev1.Pod) (guards []*budget) {
	if pod.Status.Phase == corev1.PodPending {
		return nil
	}
	for _, b := range r.budgets[pod.Namespace] {
		if b.selector.Matches(labels.Set(pod.Labels)) {
			guards = append(guards, b)
		}
	}
	return guards
}

// refusedBy says why the Eviction API would refuse to evict a pod that budgets guard.
func refusedBy(guards []*budget, pod *corev1.Pod) string {
	if len(guards) > 1 {
		var names []string
		for _, b := range guards {
			names = append(names, b.Name)
		}
		slices.Sort(names)
		return "more than one PodDisruptionBudget guards it, which the Eviction API refuses: " + text.Names(names)
	}
	if len(guards) == 0 || guards[0].ofMachine() {
		return ""
	}
	b := guards[0]
	if !ready(pod) && b.allowsUnhealthy() {
		return ""
	}
	switch {
	case b.Status.ObservedGeneration > 0 && b.Status.ObservedGeneration < b.Generation:
		return fmt.Sprintf("PodDisruptionBudget %s was changed, and the Eviction API waits for its status", b.Name)
	case b.allowed > 0:
		return ""
	case b.healthy <= b.desired:
		return fmt.Sprintf("PodDisruptionBudget %s allows no disruption: it needs %s and has %s", b.Name, text.Counted(int(b.desired), "healthy pod"), text.Count(int64(b.healthy)))
	default:
		return fmt.Sprintf("PodDisruptionBudget %s allows no disruption", b.Name)
	}
}

// allowsUnhealthy reports whether a pod that is not ready may be evicted without counting as a disruption.
func (b *budget) allowsUnhealthy() bool {
	if policy := b.Spec.UnhealthyPodEvictionPolicy; policy != nil && *policy == policyv1.AlwaysAllow {
		return true
	}
	return b.desired > 0 && b.healthy >= b.desired
}
