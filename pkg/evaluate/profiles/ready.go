package profiles

import (
	"fmt"
	"slices"
	"strings"
	"time"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/util/validation/field"

	"loadline.dev/loadline/apis/loadline/v1alpha1"
	"loadline.dev/loadline/pkg/model/loading"
	"loadline.dev/loadline/pkg/profile"
)

func notReady(errs field.ErrorList) metav1.Condition {
	return metav1.Condition{
		Type: v1alpha1.ConditionReady, Status: metav1.ConditionFalse, Reason: v1alpha1.ReasonInvalid,
		Message: "the scheduler ignores this profile: " + errs.ToAggregate().Error(),
	}
}

// workloadReady says which vectors the scheduler uses for the pods of a workload.
func workloadReady(p *v1alpha1.WorkloadProfile, w *profile.Workload) metav1.Condition {
	c := metav1.Condition{
		Type: v1alpha1.ConditionReady, Status: metav1.ConditionTrue, Reason: v1alpha1.ReasonDeclared,
		Message: "the scheduler uses the vector in spec.resources for the pods that follow this profile",
	}
	if w.Elsewhere() == nil {
		c.Status = metav1.ConditionUnknown
		c.Reason, c.Message = noneInUse(p)
		c.Message = "the scheduler places the pods that follow this profile by their requests " + c.Message + notUsed(w)
		return c
	}
	used := []*profile.InUse{w.Elsewhere()}
	if found := w.Found(); len(found) > 0 {
		used = slices.Concat(found, used)
		c.Reason = v1alpha1.ReasonMeasured
		measured, observed := kinds(found)
		switch {
		case !measured:
			c.Reason = v1alpha1.ReasonObserved
			c.Message = "the scheduler uses the observed vectors for the pods that follow this profile: " + whichWhere(w)
		case observed:
			c.Message = "the scheduler uses the measured and the observed vectors for the pods that follow this profile: " + whichWhere(w)
		default:
			c.Message = "the scheduler uses the measured vectors for the pods that follow this profile: " + whichWhere(w)
		}
	}
	c.Message += notUsed(w)
	var leftOut, unknown, many []string
	for _, v := range used {
		leftOut = append(leftOut, v.LeftOut...)
		unknown = append(unknown, v.Unknown...)
		many = append(many, manyThreads(v)...)
	}
	if len(many) > 0 {
		c.Message += fmt.Sprintf("; of the threads at %s no more count on a node than %d for each of its servers, and at least %d",
			once(many), loading.ThreadsPerServer, loading.MinThreadsInEffect)
	}
	if len(leftOut) > 0 {
		c.Message += fmt.Sprintf("; it leaves out %s of spec.resources where, with what was measured, the loadings would add up to more than 1", once(leftOut))
	}
	if len(unknown) > 0 {
		c.Reason = v1alpha1.ReasonUnknownResource
		c.Message = fmt.Sprintf("the scheduler ignores the demand at %s: no NodeProfile names such a resource; correct the name, or add it to the profile of the nodes that have it", once(unknown))
	}
	return c
}

// manyThreads returns the resources at which pods have so many threads that on some nodes not all of them count.
func manyThreads(v *profile.InUse) (names []string) {
	for _, d := range v.Demands {
		if d.Threads > loading.MinThreadsInEffect {
			names = append(names, d.Resource)
		}
	}
	return names
}

// noneInUse returns the reason why a profile has no vector in use, and says for how long that is so.
func noneInUse(p *v1alpha1.WorkloadProfile) (reason, until string) {
	switch {
	case p.Spec.Measurement != nil:
		return v1alpha1.ReasonNotMeasured, "until their vector is measured; the condition Measured says how that goes"
	case p.Spec.Observation.Mode == v1alpha1.ModeApply:
		return v1alpha1.ReasonNotObserved, "until gauges have observed them for long enough to recommend a vector"
	default:
		return v1alpha1.ReasonAdvising, "while spec.observation.mode is advise; status.observations shows which vector is recommended"
	}
}

// kinds reports whether some of the vectors were measured, and whether some were observed.
func kinds(found []*profile.InUse) (measured, observed bool) {
	for _, v := range found {
		measured = measured || v.Measured != nil
		observed = observed || v.Observed != nil
	}
	return measured, observed
}

// notUsed says which measurements are too wide to be used, "" for none.
func notUsed(w *profile.Workload) string {
	var parts []string
	for _, m := range w.TooWide() {
		parts = append(parts, fmt.Sprintf("; what was measured on %s is not used, being wider than ± %.2f: %s", nodesOf(m.NodeProfile), profile.MaxError, profile.TooWide(m)))
	}
	return strings.Join(parts, "")
}

// once lists names in their order, each once.
func once(names []string) string {
	var list []string
	for _, name := range names {
		if !slices.Contains(list, name) {
			list = append(list, name)
		}
	}
	return strings.Join(list, ", ")
}

// whichWhere says on which nodes which vector is used: the latest measurement first, then observations by their classes.
func whichWhere(w *profile.Workload) string {
	const shown = 5
	found := slices.Clone(w.Found())
	slices.SortStableFunc(found, func(a, b *profile.InUse) int {
		switch {
		case a.Measured != nil && b.Measured != nil:
			return b.Measured.Time.Compare(a.Measured.Time.Time)
		case a.Measured != nil:
			return -1
		case b.Measured != nil:
			return 1
		default:
			return 0
		}
	})
	var parts []string
	for _, v := range found[:min(len(found), shown)] {
		which := "the one observed there" // without its time, which changes often
		if v.Measured != nil {
			which = "that of " + moment(v.Measured.Time)
		}
		parts = append(parts, "on "+nodesOf(v.Class)+" "+which)
	}
	if more := len(found) - shown; more > 0 {
		parts = append(parts, fmt.Sprintf("on those of %d more their own", more))
	}
	if elsewhere := w.Elsewhere(); elsewhere.Time() == nil {
		parts = append(parts, "on others the one in spec.resources")
	} else {
		parts = append(parts, "on others that of "+nodesOf(elsewhere.Class))
	}
	return strings.Join(parts, ", ")
}

// nodesOf names the nodes of a class.
func nodesOf(class string) string {
	if class == v1alpha1.NoNodeProfile {
		return "nodes without a NodeProfile"
	}
	return "nodes of " + class
}

func moment(t *metav1.Time) string { return t.UTC().Format(time.RFC3339) }

// classReady says where the servers of the nodes of a valid profile come from.
func classReady(p *v1alpha1.NodeProfile) metav1.Condition {
	c := metav1.Condition{
		Type: v1alpha1.ConditionReady, Status: metav1.ConditionTrue, Reason: v1alpha1.ReasonDeclared,
		Message: "the scheduler uses the servers in spec.resources for the nodes that follow this profile",
	}
	found, missing := calibrated(p)
	switch {
	case len(found) > 0:
		c.Reason = v1alpha1.ReasonCalibrated
		c.Message = "the scheduler uses the calibrated servers for the nodes that follow this profile: " + strings.Join(found, ", ")
		if len(p.Spec.Resources) > 0 {
			c.Message += ", and those in spec.resources"
		}
	case len(p.Spec.Resources) == 0 && p.Spec.Calibration == nil && len(p.Spec.Interference) == 0:
		c.Message = "the scheduler uses spec.devices for the nodes that follow this profile, and the default numbers of servers"
	case len(p.Spec.Resources) == 0 && p.Spec.Calibration == nil:
		c.Message = "the scheduler uses the domains in spec.interference for the nodes that follow this profile, and the default numbers of servers"
	case len(p.Spec.Resources) == 0:
		c.Status, c.Reason = metav1.ConditionUnknown, v1alpha1.ReasonNotMeasured
		c.Message = "the scheduler uses the defaults for the nodes that follow this profile until their servers are calibrated; the condition Calibrated says how that goes"
		return c
	}
	if len(missing) > 0 {
		c.Message += fmt.Sprintf("; the default stands for %s until the servers are found", strings.Join(missing, ", "))
	}
	return c
}

// calibrated returns the resources whose servers were found, with their numbers and
// when, and the names of those whose servers were not, leaving out those that are
// declared.
func calibrated(p *v1alpha1.NodeProfile) (found, missing []string) {
	if p.Spec.Calibration == nil {
		return nil, nil
	}
	known := map[string]bool{}
	for _, r := range p.Spec.Resources {
		known[r.Name] = true
	}
	for i := range p.Status.Resources {
		if r := &p.Status.Resources[i]; !known[r.Name] && r.Servers != nil {
			known[r.Name] = true
			found = append(found, fmt.Sprintf("%s %d (%s)", r.Name, *r.Servers, moment(r.Time)))
		}
	}
	for _, r := range p.Spec.Calibration.Resources {
		if !known[r.Name] {
			missing = append(missing, r.Name)
		}
	}
	return found, missing
}
