package observations

import (
	"fmt"
	"slices"
	"strings"
	"time"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/equality"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/apimachinery/pkg/util/validation"

	"loadline.dev/loadline/apis/loadline/v1alpha1"
	"loadline.dev/loadline/pkg/evaluate/workloads"
)

const (
	// KeepUnseen is for how long a profile that the manager made is kept without being observed: CronJobs of once a week keep
	// theirs.
	KeepUnseen = 8 * 24 * time.Hour
	// MaxMade is how many profiles the manager makes in a namespace. Of those that claim to be made, it looks at no more at once.
	MaxMade = 500
)

// UpkeepInput is what [Upkeep] needs to know of a cluster.
type UpkeepInput struct {
	// Mode returns v1alpha1.ModeOff, ModeAdvise or ModeApply, by the name of a namespace.
	Mode func(namespace string) string
	// Profiles are those of all namespaces.
	Profiles []v1alpha1.WorkloadProfile
	// Unprofiled are the workloads of which pods without a profile were observed for long enough, lately, as [workloads.Of] has
	// them.
	Unprofiled []string
	// Pods returns the pods of a namespace, which are not changed.
	Pods func(namespace string) ([]corev1.Pod, error)
	// Follows reports whether a pod follows a profile.
	Follows func(pod *corev1.Pod) bool
	Now     time.Time
}

// Changes are what to do about the profiles that the manager makes. Profiles that others made, or to whose specs users
// added more than [v1alpha1.Observation], are in none of the lists.
type Changes struct {
	// Create has new profiles, and Update those that need another mode or another selector, as they shall be.
	Create, Update []*v1alpha1.WorkloadProfile
	// Delete has those of namespaces that want none, and those that no pod has followed for [KeepUnseen].
	Delete []*v1alpha1.WorkloadProfile
	// Problems says why a workload gets none, by the workload.
	Problems map[string]string
}

// Recurs reports whether pods of a workload come again once they have ended, so that a profile of it is of use: those of
// a single Job, or that stand alone, do not.
func Recurs(workload string) bool {
	return !strings.HasPrefix(workload, "Pod ") && !strings.HasPrefix(workload, "Job ")
}

// made reports whether a profile is labelled as one that the manager made, and says nothing but what the manager writes. Who may
// write profiles can set the label, so it is no proof; of a profile that says no more than that, nothing is lost.
func made(p *v1alpha1.WorkloadProfile) bool {
	written := v1alpha1.WorkloadProfileSpec{Selector: p.Spec.Selector, Observation: p.Spec.Observation}
	return p.Labels[v1alpha1.ManagedByLabel] == v1alpha1.ManagedByManager &&
		p.Spec.Observation != nil && equality.Semantic.DeepEqual(p.Spec, written)
}

// Upkeep returns what to do so that the workloads of the namespaces that want it have a profile that follows what is observed.
func Upkeep(in *UpkeepInput) (*Changes, error) {
	c := &Changes{Problems: map[string]string{}}
	byName := make(map[types.NamespacedName]*v1alpha1.WorkloadProfile, len(in.Profiles))
	count := map[string]int{} // of those made, by namespace
	for i := range in.Profiles {
		p := &in.Profiles[i]
		byName[types.NamespacedName{Namespace: p.Namespace, Name: p.Name}] = p
		if !made(p) || p.DeletionTimestamp != nil || count[p.Namespace] == MaxMade {
			continue
		}
		count[p.Namespace]++
		mode := in.Mode(p.Namespace)
		if mode == v1alpha1.ModeOff || in.Now.Sub(lastSeen(p)) > KeepUnseen {
			c.Delete = append(c.Delete, p)
			continue
		}
		if p.Spec.Observation.Mode != mode {
			next := p.DeepCopy()
			next.Spec.Observation.Mode = mode
			c.Update = append(c.Update, next)
		}
	}
	pods := map[string]*members{}
	for _, workload := range slices.Sorted(slices.Values(in.Unprofiled)) {
		kind, name, _ := strings.Cut(workload, " ")
		namespace, name, _ := strings.Cut(name, "/")
		mode := in.Mode(namespace)
		if mode == v1alpha1.ModeOff || !Recurs(workload) {
			continue
		}
		if _, is := pods[namespace]; !is {
			all, err := in.Pods(namespace)
			if err != nil {
				return nil, fmt.Errorf("listing the pods of namespace %s: %w", namespace, err)
			}
			pods[namespace] = newMembers(all)
		}
		if !slices.ContainsFunc(pods[namespace].of[workload], func(p *corev1.Pod) bool { return !in.Follows(p) }) {
			continue // they have ended, or have a profile by now
		}
		p := &v1alpha1.WorkloadProfile{
			ObjectMeta: metav1.ObjectMeta{
				Namespace: namespace, Name: strings.ToLower(kind) + "-" + name,
				Labels: map[string]string{v1alpha1.ManagedByLabel: v1alpha1.ManagedByManager},
			},
			Spec: v1alpha1.WorkloadProfileSpec{Observation: &v1alpha1.Observation{Mode: mode}},
		}
		taken := byName[types.NamespacedName{Namespace: p.Namespace, Name: p.Name}]
		problem := pods[namespace].selectInto(p, workload)
		switch {
		case problem != "":
		case len(validation.IsDNS1123Subdomain(p.Name)) > 0:
			problem = fmt.Sprintf("%q cannot be the name of a profile", p.Name)
		case taken != nil && !made(taken):
			problem = fmt.Sprintf("there is another profile of the name %s", p.Name)
		case taken != nil && taken.DeletionTimestamp != nil:
			problem = fmt.Sprintf("the profile of the name %s is being deleted", p.Name)
		case taken != nil: // whose selector is of other labels
			next := taken.DeepCopy()
			next.Spec = p.Spec
			c.Update = append(slices.DeleteFunc(c.Update, func(p *v1alpha1.WorkloadProfile) bool {
				return p.Namespace == next.Namespace && p.Name == next.Name
			}), next)
		case count[namespace] >= MaxMade:
			problem = fmt.Sprintf("there are %d profiles in its namespace already that were made like this", MaxMade)
		default:
			count[namespace]++
			c.Create = append(c.Create, p)
		}
		if problem != "" {
			c.Problems[workload] = problem
		}
	}
	return c, nil
}

// members are the pods of a namespace, and which of them are of a workload.
type members struct {
	all []corev1.Pod
	of  map[string][]*corev1.Pod
}

func newMembers(all []corev1.Pod) *members {
	m := &members{all: all, of: map[string][]*corev1.Pod{}}
	for i := range all {
		workload := workloads.Of(&all[i])
		m.of[workload] = append(m.of[workload], &all[i])
	}
	return m
}

// selectInto gives a profile the selector of the pods of a workload, or says why there is none.
func (m *members) selectInto(p *v1alpha1.WorkloadProfile, workload string) (problem string) {
	selector, err := workloads.Selector(m.of[workload], m.all)
	if err != nil {
		return err.Error()
	}
	p.Spec.Selector = &metav1.LabelSelector{MatchLabels: selector}
	return ""
}

// lastSeen returns when pods that follow a profile were observed last, and if they never were, when it was made.
func lastSeen(p *v1alpha1.WorkloadProfile) time.Time {
	last := p.CreationTimestamp.Time
	for i := range p.Status.Observations {
		if t := p.Status.Observations[i].Time; t != nil && t.After(last) {
			last = t.Time
		}
	}
	return last
}
