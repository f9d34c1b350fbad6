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
	"loadline.dev/loadline/pkg/evaluate/observed"
	"loadline.dev/loadline/pkg/profile"
)

const (
	// Tolerance is the difference between an observed loading and the one in use that is never called a drift: placements
	// hardly depend on it.
	Tolerance = 0.1

	// beyondChance is how many standard errors a difference must have.
	beyondChance = 3
	// back is to which part of the bound a difference must return until a drift is over.
	back = 0.7
	// normal is how many standard errors the half width of a 95 % confidence interval has.
	normal = 1.96
	// shown is how many differences a message names.
	shown = 5
)

// disk is the resource of loadings at disks.
const disk = observed.Disk

// Class is a class of nodes.
type Class struct {
	// Name is as in [profile.Workload.On].
	Name string
	// Disk reports whether it is known how many requests the disk of such a node serves at once. Where it is not, what a pod does there
	// counts only if its vector has a demand at the disk.
	Disk bool
}

// Verdict is what a summary says about the vector in use on a class of nodes.
type Verdict struct {
	// Class is as in [profile.Workload.On].
	Class string
	Summary
	// Compared are the loadings that could be compared: none where there is no vector, or not enough was observed.
	Compared []Comparison
}

// Comparison is a loading in use and the observed one.
type Comparison struct {
	// Resource is cpu or disk.
	Resource string
	// Observed is what was observed, InUse the loading in use, and Bound by how much they may differ.
	Observed     Loading
	InUse, Bound float64
	// Drifted reports whether they differ by more.
	Drifted bool
}

// Judge returns the verdict on the vector in use on the nodes of a class, nil if there is none. Drifted names the resources at which the last
// verdict was a drift: one that is there ends only when the difference is clearly within the bound, so that verdicts do not
// alternate. The bound is the largest of [Tolerance], three standard errors of the observed mean, and the margin of the
// vector if it was measured.
func Judge(class Class, use *profile.InUse, s Summary, drifted []string) Verdict {
	v := Verdict{Class: class.Name, Summary: s}
	if use == nil {
		return v
	}
	has := func(resource string) bool {
		return slices.ContainsFunc(use.Demands, func(d profile.NamedDemand) bool { return d.Resource == resource })
	}
	cpu := string(corev1.ResourceCPU)
	if s.CPU.Enough() {
		v.Compared = append(v.Compared, compare(cpu, use, s.CPU, slices.Contains(drifted, cpu)))
	}
	if s.Disk.Enough() && (class.Disk || has(disk)) {
		v.Compared = append(v.Compared, compare(disk, use, s.Disk, slices.Contains(drifted, disk)))
	}
	return v
}

// compare compares a loading with that of a vector.
func compare(resource string, use *profile.InUse, l Loading, drifted bool) Comparison {
	c := Comparison{Resource: resource, Observed: l, Bound: max(Tolerance, l.Margin(beyondChance))}
	for _, d := range use.Demands {
		if d.Resource == resource {
			c.InUse = d.Loading
			c.Bound = max(c.Bound, d.Margins.Loading)
		}
	}
	bound := c.Bound
	if drifted {
		bound *= back
	}
	c.Drifted = c.difference() > bound
	return c
}

func (c *Comparison) difference() float64 { return math.Abs(c.Observed.Mean - c.InUse) }

// Drifted returns the resources at which the vector has drifted.
func (v *Verdict) Drifted() (resources []string) {
	for i := range v.Compared {
		if v.Compared[i].Drifted {
			resources = append(resources, v.Compared[i].Resource)
		}
	}
	return resources
}

// Drifted returns the condition that verdicts on the vectors of a profile make, without a generation and a time. It is
// unknown where none could be judged.
func Drifted(verdicts []Verdict) metav1.Condition {
	c := metav1.Condition{
		Type: v1alpha1.ConditionDrifted, Status: metav1.ConditionUnknown, Reason: v1alpha1.ReasonNotObserved,
		Message: fmt.Sprintf("the pods that follow this profile were not observed for long enough to judge: gauges must see them in %d of %d minutes", MinMinutes, slots),
	}
	type difference struct {
		*Comparison

		of *Verdict
	}
	judged := false
	var drifted []difference
	for i := range verdicts {
		v := &verdicts[i]
		judged = judged || len(v.Compared) > 0
		for k := range v.Compared {
			if v.Compared[k].Drifted {
				drifted = append(drifted, difference{&v.Compared[k], v})
			}
		}
	}
	switch {
	case !judged:
		return c
	case len(drifted) == 0:
		c.Status, c.Reason = metav1.ConditionFalse, v1alpha1.ReasonAsObserved
		c.Message = "the vector in use fits what was observed; status.observations has the numbers"
		return c
	}
	slices.SortStableFunc(drifted, func(a, b difference) int {
		return cmp.Or(cmp.Compare(b.difference(), a.difference()), cmp.Compare(a.of.Class, b.of.Class))
	})
	c.Status, c.Reason = metav1.ConditionTrue, v1alpha1.ReasonMoreObserved
	if worst := drifted[0]; worst.Observed.Mean < worst.InUse {
		c.Reason = v1alpha1.ReasonLessObserved
	}
	var parts []string
	for _, d := range drifted[:min(len(drifted), shown)] {
		parts = append(parts, d.of.says(d.Comparison))
	}
	if more := len(drifted) - shown; more > 0 {
		parts = append(parts, fmt.Sprintf("and %d more", more))
	}
	c.Message = strings.Join(parts, "; ")
	return c
}

// says returns a difference in words, such as "cpu: 0.58 in use, 0.81 ± 0.02 observed of 3 pods for 12m on nodes of default".
func (v *Verdict) says(c *Comparison) string {
	pods, nodes := "pods", "nodes of "+v.Class
	if v.Pods == 1 {
		pods = "pod"
	}
	if v.Class == v1alpha1.NoNodeProfile {
		nodes = "nodes without a NodeProfile"
	}
	l := &c.Observed
	return fmt.Sprintf("%s: %.2f in use, %.2f ± %.2f observed of %d %s for %dm on %s", c.Resource, c.InUse, l.Mean, l.Margin(normal), v.Pods, pods, l.Minutes, nodes)
}
