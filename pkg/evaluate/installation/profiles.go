package installation

import (
	"k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"loadline.dev/loadline/apis/loadline/v1alpha1"
	"loadline.dev/loadline/pkg/text"
)

// ProfileCounts are the numbers of profiles of a kind in each state.
type ProfileCounts struct {
	Total int `json:"total"`
	// Ready are those that the scheduler uses.
	Ready int `json:"ready"`
	// Measured are those with a result, Measuring those whose measurement goes on, and
	// NotMeasured those that wait for one before they can be used.
	Measured    int `json:"measured"`
	Measuring   int `json:"measuring"`
	NotMeasured int `json:"notMeasured"`
	// Advising is how many show what gauges observe and are not used, and NotObserved how many are to follow that once
	// there is enough of it.
	Advising    int `json:"advising,omitempty"`
	NotObserved int `json:"notObserved,omitempty"`
	// Followers is how many pods, or nodes, follow a profile.
	Followers int `json:"followers"`
	// Invalid, Conflicted and Unseen name the profiles that the scheduler ignores,
	// those that compete with another, and those that the manager has not seen as they
	// are.
	Invalid    []string `json:"invalid,omitempty"`
	Conflicted []string `json:"conflicted,omitempty"`
	Unseen     []string `json:"unseen,omitempty"`
}

func countWorkloads(profiles []v1alpha1.WorkloadProfile) *ProfileCounts {
	n := &ProfileCounts{}
	for i := range profiles {
		p := &profiles[i]
		n.add(p, p.Status.Conditions, p.Status.ObservedGeneration)
		n.follow(p.Status.Pods)
		if p.Spec.Measurement != nil && len(p.Status.Measurements) > 0 {
			n.Measured++
		}
		if p.Status.Measuring != nil {
			n.Measuring++
		}
	}
	return n
}

func countNodes(profiles []v1alpha1.NodeProfile) *ProfileCounts {
	n := &ProfileCounts{}
	for i := range profiles {
		p := &profiles[i]
		n.add(p, p.Status.Conditions, p.Status.ObservedGeneration)
		n.follow(p.Status.Nodes)
		if p.Spec.Calibration != nil && len(p.Status.Resources) > 0 {
			n.Measured++
		}
		if p.Status.Calibrating != nil {
			n.Measuring++
		}
	}
	return n
}

func (n *ProfileCounts) add(p metav1.Object, conditions []metav1.Condition, observed *int64) {
	n.Total++
	name := text.QualifiedName(p)
	if observed == nil || *observed < p.GetGeneration() {
		n.Unseen = append(n.Unseen, name)
		return
	}
	ready := meta.FindStatusCondition(conditions, v1alpha1.ConditionReady)
	switch {
	case ready == nil:
		n.Unseen = append(n.Unseen, name)
	case ready.Status == metav1.ConditionTrue:
		n.Ready++
	case ready.Status == metav1.ConditionFalse:
		n.Invalid = append(n.Invalid, name)
	case ready.Reason == v1alpha1.ReasonAdvising:
		n.Advising++
	case ready.Reason == v1alpha1.ReasonNotObserved:
		n.NotObserved++
	default:
		n.NotMeasured++
	}
	if meta.IsStatusConditionTrue(conditions, v1alpha1.ConditionConflicted) {
		n.Conflicted = append(n.Conflicted, name)
	}
}

func (n *ProfileCounts) follow(followers *int32) {
	if followers != nil {
		n.Followers += int(*followers)
	}
}
