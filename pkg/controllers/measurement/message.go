package measurement

import (
	"fmt"
	"slices"
	"strings"

	"loadline.dev/loadline/apis/loadline/v1alpha1"
	"loadline.dev/loadline/pkg/model/contention/experiment"
	"loadline.dev/loadline/pkg/text"
)

// known says what is known so far: "cpu 0.58 ± 0.02, disk 0.41 ± 0.03".
func (in *input) known(result experiment.Result) string {
	parts := make([]string, len(result.Components))
	for i, c := range result.Components {
		parts[i] = fmt.Sprintf("%s %s", in.settings.resources[c.Index].Name, interval{c.Loading.Value, c.Loading.Error})
	}
	if len(parts) == 0 {
		return "nothing known yet"
	}
	return strings.Join(parts, ", ")
}

// advice says what to do about resources, by index, that their probes do not keep busy.
func (in *input) advice(m *v1alpha1.MeasurementProgress, resources []int) string {
	parts := make([]string, len(resources))
	for i, index := range resources {
		r := &in.settings.resources[index]
		d, _ := selfDilation(r, m.Samples, *m.Round+1)
		parts[i] = fmt.Sprintf("the probe %s with %s does not keep %s busy: two slow each other down %.2f times only, not 2",
			r.Job, text.Counted(in.servers(r), "request"), r.Name, d)
	}
	return strings.Join(parts, "; ") +
		", so that its slowdown tells nothing; add spec.calibration to the NodeProfile to find out how many requests the resource serves at once, or list its servers"
}

// describe says what was measured of some classes, "" for nothing, and what of it is less
// precise than was asked for.
func (in *input) describe(all []v1alpha1.MeasuredVector, classes []string) (found string, imprecise bool) {
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
		if short := shortfalls(m, in.settings.precision); len(short) > 0 {
			where := ""
			if len(all) > 1 {
				where = "on node " + m.Node + " "
			}
			less = append(less, where+lessPrecise(short, in.settings.precision))
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

// unnoticed says at which interference resources nothing was measured, "" for none.
func (in *input) unnoticed(m *v1alpha1.MeasurementProgress, rounds int32) string {
	var text strings.Builder
	for _, name := range in.settings.interferenceNames() {
		if self, is := experiment.Imperceptible(fromStatus(m.Samples), name, int(rounds)); is {
			fmt.Fprintf(&text, "; nothing at %s: two standard jobs slow each other down %.2f times only on this node", name, self)
		}
	}
	return text.String()
}

// morePrecise says how to get a more precise result.
const morePrecise = "raise maxRounds or budgetSeconds, or measure a target that runs longer"

// measured reports whether every class that the condition is about has a whole result,
// however old.
func (in *input) measured(all []v1alpha1.MeasuredVector) bool {
	classes := in.covered(all)
	for _, class := range classes {
		i := slices.IndexFunc(all, func(m v1alpha1.MeasuredVector) bool { return m.NodeProfile == class })
		if i < 0 || !in.whole(&all[i]) {
			return false
		}
	}
	return len(classes) > 0
}
