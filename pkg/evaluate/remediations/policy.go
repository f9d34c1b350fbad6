package remediations

import (
	"cmp"
	"fmt"
	"slices"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/labels"
	"k8s.io/apimachinery/pkg/util/sets"
	"k8s.io/apimachinery/pkg/util/validation/field"

	"loadline.dev/loadline/apis/loadline/v1alpha1"
	"loadline.dev/loadline/pkg/evaluate/installation"
	"loadline.dev/loadline/pkg/profile"
)

// Policy is a RemediationPolicy whose selectors are compiled.
type Policy struct {
	*v1alpha1.RemediationPolicy
	Settings

	namespaces, pods labels.Selector
}

// Compile returns a policy, or what is wrong with its selectors.
func Compile(p *v1alpha1.RemediationPolicy) (*Policy, field.ErrorList) {
	namespaces, errs := selector(p.Spec.NamespaceSelector, field.NewPath("spec", "namespaceSelector"))
	pods, more := selector(p.Spec.PodSelector, field.NewPath("spec", "podSelector"))
	if errs = append(errs, more...); len(errs) > 0 {
		return nil, errs
	}
	return &Policy{p, SettingsOf(&p.Spec), namespaces, pods}, nil
}

// CompileAll returns the policies that can be compiled, in the order in which they go: those
// that change pods before those that advise, then by age and name.
func CompileAll(all []v1alpha1.RemediationPolicy) []*Policy {
	var compiled []*Policy
	for i := range all {
		if p, errs := Compile(&all[i]); len(errs) == 0 {
			compiled = append(compiled, p)
		}
	}
	slices.SortFunc(compiled, func(a, b *Policy) int {
		return cmp.Or(
			cmp.Compare(rank(a), rank(b)),
			a.CreationTimestamp.Compare(b.CreationTimestamp.Time),
			cmp.Compare(a.Name, b.Name),
		)
	})
	return compiled
}

func rank(p *Policy) int {
	if p.Changes() {
		return 0
	}
	return 1
}

func selector(s *metav1.LabelSelector, path *field.Path) (labels.Selector, field.ErrorList) {
	if s == nil {
		return labels.Everything(), nil
	}
	return profile.Selector(s, path)
}

// Pod is what policies choose pods by.
type Pod struct {
	Namespace       string
	NamespaceLabels labels.Set
	Labels          labels.Set
	// PriorityClass is that of the pod, "" where it is not known.
	PriorityClass string
}

// criticalNamespace and criticalClasses have the pods that a cluster cannot do without.
const criticalNamespace = "kube-system"

var criticalClasses = []string{"system-node-critical", "system-cluster-critical"}

// Selects reports whether a policy chooses a pod.
func (p *Policy) Selects(pod *Pod) bool {
	critical := pod.Namespace == criticalNamespace || slices.Contains(criticalClasses, pod.PriorityClass) || pod.Labels[installation.PartOfLabel] == installation.PartOf
	if critical && p.Spec.CriticalPods != v1alpha1.CriticalInclude {
		return false
	}
	return p.namespaces.Matches(pod.NamespaceLabels) && p.pods.Matches(pod.Labels)
}

// Changes reports whether the mode of a policy lets pods be changed.
func (p *Policy) Changes() bool {
	return p.Spec.Mode == v1alpha1.RemediationApprove || p.Spec.Mode == v1alpha1.RemediationAutomatic
}

// Allows reports whether a policy allows an action.
func (p *Policy) Allows(action string) bool {
	return len(p.Spec.Allow) == 0 || slices.Contains(p.Spec.Allow, action)
}

// SingleReplicas returns the workloads whose pods a policy lets be moved though fewer than two are ready, as package workloads writes them.
func SingleReplicas(p *Policy) sets.Set[string] {
	allowed := sets.New[string]()
	for _, w := range p.Spec.SingleReplicas {
		allowed.Insert(fmt.Sprintf("%s %s/%s", w.Kind, w.Namespace, w.Name))
	}
	return allowed
}

// Responsible returns the policy that a pod belongs to, of those of [CompileAll], or nil.
func Responsible(policies []*Policy, pod *Pod) *Policy {
	for _, p := range policies {
		if p.Selects(pod) {
			return p
		}
	}
	return nil
}

// Stopped reports whether a namespace with these labels has its pods left alone.
func Stopped(namespace map[string]string) bool {
	return namespace[v1alpha1.RemediationLabel] == v1alpha1.RemediationOff
}

// Conflict is how many pods another policy takes from one that changes pods, too.
type Conflict struct {
	Pods int
	With string
}

// Conflicts returns the conflicts of policies, of those of [CompileAll], by their names.
func Conflicts(policies []*Policy, pods []Pod) map[string]Conflict {
	conflicts := map[string]Conflict{}
	for i := range pods {
		var first *Policy
		for _, p := range policies {
			switch {
			case !p.Changes() || !p.Selects(&pods[i]):
			case first == nil:
				first = p
			default:
				c := conflicts[p.Name]
				c.Pods++
				c.With = cmp.Or(c.With, first.Name)
				conflicts[p.Name] = c
			}
		}
	}
	return conflicts
}
