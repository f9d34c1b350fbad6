package measurement

import (
	"fmt"
	"slices"
	"strings"
	"time"

	"k8s.io/apimachinery/pkg/util/sets"

	"loadline.dev/loadline/apis/loadline/v1alpha1"
	"loadline.dev/loadline/pkg/profile"
	"loadline.dev/loadline/pkg/text"
)

// results are the results for the classes of nodes, and the present question for each.
type results struct {
	*task
	*sites
	// measurements are the results of classes that there are.
	measurements []v1alpha1.MeasuredVector
	// questions are the present questions, by class of the nodes, none while there is no template.
	questions map[string]string
}

// result returns the result for a class, nil for none.
func (r *results) result(class string) *v1alpha1.MeasuredVector {
	all := r.measurements
	i := slices.IndexFunc(all, func(m v1alpha1.MeasuredVector) bool { return m.NodeProfile == class })
	if i < 0 {
		return nil
	}
	return &all[i]
}

// covered returns the classes that the condition covers, in order: those that can be measured on, and
// those whose result stays in use while none of their nodes can be measured on, such as one that is down,
// or that was removed as the last of those chosen.
func (r *results) covered(all []v1alpha1.MeasuredVector) []string {
	classes := sets.New(r.classes()...)
	for i := range all {
		class := all[i].NodeProfile
		if len(r.nodes) == 0 || slices.ContainsFunc(r.nodes, func(n *node) bool { return n.class == class }) {
			classes.Insert(class)
		}
	}
	return sets.List(classes)
}

// complete reports whether a result has all resources that are asked for, precisely enough to
// be used.
func (r *results) complete(m *v1alpha1.MeasuredVector) bool {
	return m != nil && profile.TooWide(m) == "" && !slices.ContainsFunc(r.settings.resources, func(r probed) bool {
		return !slices.ContainsFunc(m.Resources, func(l v1alpha1.MeasuredLoading) bool { return l.Name == r.Name })
	})
}

// expires returns when a result gets stale.
func (r *results) expires(m *v1alpha1.MeasuredVector) time.Time { return m.Time.Add(r.settings.valid) }

// fresh reports whether the result of a class answers the question about it, and is not
// too old. Any result answers a question that is not known.
func (r *results) fresh(class string) bool {
	m, question := r.result(class), r.questions[class]
	return r.complete(m) && (question == "" || m.Question == question) && r.now.Time.Before(r.expires(m))
}

// allFresh reports whether there are classes, and all of them have results that hold.
func (r *results) allFresh(classes []string) bool {
	return len(classes) > 0 && !slices.ContainsFunc(classes, func(class string) bool { return !r.fresh(class) })
}

// measured reports whether every class that the condition is about has a whole result,
// however old.
func (r *results) measured(all []v1alpha1.MeasuredVector) bool {
	classes := r.covered(all)
	for _, class := range classes {
		i := slices.IndexFunc(all, func(m v1alpha1.MeasuredVector) bool { return m.NodeProfile == class })
		if i < 0 || !r.complete(&all[i]) {
			return false
		}
	}
	return len(classes) > 0
}

// describe lists the results for some classes, "" for none, and their components that are less precise
// than asked for.
func (r *results) describe(all []v1alpha1.MeasuredVector, classes []string) (found string, imprecise bool) {
	all = slices.DeleteFunc(slices.Clone(all), func(m v1alpha1.MeasuredVector) bool { return !slices.Contains(classes, m.NodeProfile) })
	var parts, less []string
	for i := range all {
		m := &all[i]
		var resources []string
		for _, r := range m.Resources {
			resources = append(resources, fmt.Sprintf("%s %s", r.Name, newInterval(r.Loading, r.LoadingError)))
		}
		for k := range m.Interference {
			resources = append(resources, slowedDownAt(&m.Interference[k]))
		}
		parts = append(parts, fmt.Sprintf("%s on node %s after %s", strings.Join(resources, ", "), m.Node, text.Counted(int(*m.Rounds), "round")))
		if short := shortfalls(m, r.settings.precision); len(short) > 0 {
			where := ""
			if len(all) > 1 {
				where = "on node " + m.Node + " "
			}
			less = append(less, where+lessPrecise(short, r.settings.precision))
		}
	}
	found = strings.Join(parts, "; ")
	if len(less) == 0 {
		return found, false
	}
	return found + "; " + strings.Join(less, "; ") + ": " + morePrecise, true
}

// slowedDownAt says how much slower the workload computes at most under pressure, and how hard it presses.
func slowedDownAt(i *v1alpha1.MeasuredInterference) string {
	most := i.Curve[len(i.Curve)-1]
	return fmt.Sprintf("%s up to %s times slower and a pressure of %s", i.Name, newInterval(most.Inflation, most.InflationError), newInterval(i.Pressure, i.PressureError))
}

// morePrecise says how to get a more precise result.
const morePrecise = "raise maxRounds or budgetSeconds, or measure a target that runs longer"
