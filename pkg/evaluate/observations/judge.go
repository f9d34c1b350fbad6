package observations

import (
	"cmp"
	"fmt"
	"math"
	"slices"
	"strings"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"loadline.dev/loadline/apis/loadline/v1alpha1"
	"loadline.dev/loadline/pkg/profile"
)

const (
	// Tolerance is the difference between an observed loading and the one in use that is never called a drift: placements
	// hardly depend on it.
	Tolerance = 0.1
	// MinMinutes is in how many minutes of the window a profile must have been observed to be judged.
	MinMinutes = 5

	// beyondChance is how many standard errors a difference must have.
	beyondChance = 3
	// back is to which part of the bound a difference must return until a drift is over.
	back = 0.7
	// normal is how many standard errors the half width of a 95 % confidence interval has.
	normal = 1.96
	// shown is how many classes a message names.
	shown = 5
)

// Verdict is what a summary says about the vector in use on a class of nodes.
type Verdict struct {
	// Class is as in [profile.Workload.On].
	Class string
	Summary
	// Judged reports whether there are a vector and enough observation of it. What follows is zero otherwise.
	Judged bool
	// InUse is the CPU loading in use, and Bound by how much the observed one may differ from it.
	InUse, Bound float64
	// Drifted reports whether it differs by more.
	Drifted bool
}

// Judge returns the verdict on the vector in use on the nodes of a class, nil if there is none. Drifted says whether the last
// verdict was a drift: one that is there ends only when the difference is clearly within the bound, so that verdicts do not
// alternate. The bound is the largest of [Tolerance], three standard errors of the observed mean, and the margin of the
// vector if it was measured.
func Judge(class string, use *profile.InUse, s Summary, drifted bool) Verdict {
	v := Verdict{Class: class, Summary: s}
	if use == nil || s.Minutes < MinMinutes {
		return v
	}
	v.Judged = true
	v.Bound = max(Tolerance, s.Margin(beyondChance))
	for _, d := range use.Demands {
		if d.Resource == string(corev1.ResourceCPU) {
			v.InUse = d.Loading
			v.Bound = max(v.Bound, d.Margins.Loading)
		}
	}
	bound := v.Bound
	if drifted {
		bound *= back
	}
	v.Drifted = math.Abs(v.CPULoading-v.InUse) > bound
	return v
}

// Drifted returns the condition that verdicts on the vectors of a profile make, without a generation and a time. It is
// unknown where none could be judged.
func Drifted(verdicts []Verdict) metav1.Condition {
	c := metav1.Condition{
		Type: v1alpha1.ConditionDrifted, Status: metav1.ConditionUnknown, Reason: v1alpha1.ReasonNotObserved,
		Message: fmt.Sprintf("the pods that follow this profile were not observed for long enough to judge: gauges must see them in %d of %d minutes", MinMinutes, slots),
	}
	judged := slices.DeleteFunc(slices.Clone(verdicts), func(v Verdict) bool { return !v.Judged })
	if len(judged) == 0 {
		return c
	}
	drifted := slices.DeleteFunc(judged, func(v Verdict) bool { return !v.Drifted })
	if len(drifted) == 0 {
		c.Status, c.Reason = metav1.ConditionFalse, v1alpha1.ReasonAsObserved
		c.Message = "the vector in use fits what was observed; status.observations has the numbers"
		return c
	}
	slices.SortFunc(drifted, func(a, b Verdict) int {
		return cmp.Or(cmp.Compare(b.difference(), a.difference()), cmp.Compare(a.Class, b.Class))
	})
	c.Status, c.Reason = metav1.ConditionTrue, v1alpha1.ReasonMoreObserved
	if worst := &drifted[0]; worst.CPULoading < worst.InUse {
		c.Reason = v1alpha1.ReasonLessObserved
	}
	var parts []string
	for i := range drifted[:min(len(drifted), shown)] {
		parts = append(parts, drifted[i].String())
	}
	if more := len(drifted) - shown; more > 0 {
		parts = append(parts, fmt.Sprintf("and on %d more classes", more))
	}
	c.Message = strings.Join(parts, "; ")
	return c
}

func (v *Verdict) difference() float64 { return math.Abs(v.CPULoading - v.InUse) }

// String returns a verdict in words, such as "cpu: 0.58 in use, 0.81 ± 0.02 observed of 3 pods for 12m on nodes of default".
func (v *Verdict) String() string {
	pods, nodes := "pods", "nodes of "+v.Class
	if v.Pods == 1 {
		pods = "pod"
	}
	if v.Class == v1alpha1.NoNodeProfile {
		nodes = "nodes without a NodeProfile"
	}
	return fmt.Sprintf("cpu: %.2f in use, %.2f ± %.2f observed of %d %s for %dm on %s", v.InUse, v.CPULoading, v.Margin(normal), v.Pods, pods, v.Minutes, nodes)
}
