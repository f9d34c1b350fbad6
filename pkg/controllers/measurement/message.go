package measurement

import (
	"fmt"
	"math"
	"slices"
	"strings"

	"k8s.io/apimachinery/pkg/api/resource"

	"loadline.dev/loadline/apis/loadline/v1alpha1"
)

// text says what is known so far: "cpu 0.58 ± 0.02, disk 0.41 ± 0.03".
func (e *estimate) text() string {
	parts := make([]string, len(e.resources))
	for i, c := range e.resources {
		parts[i] = fmt.Sprintf("%s %.2f", c.resource.Name, c.Loading.Value)
		if !math.IsInf(c.Loading.Error, 1) {
			parts[i] += fmt.Sprintf(" ± %.2f", c.Loading.Error)
		}
	}
	if len(parts) == 0 {
		return "nothing known yet"
	}
	return strings.Join(parts, ", ")
}

// advice says what to do about resources that their probes do not keep busy.
func (in *input) advice(resources []*probed) string {
	samples, round := in.profile.Status.Measuring.Samples, *in.profile.Status.Measuring.Round
	parts := make([]string, len(resources))
	for i, r := range resources {
		d, _ := selfDilation(r, samples, round+1)
		parts[i] = fmt.Sprintf("the probe %s with %s does not keep %s busy: two slow each other down %.2f times only, not 2",
			r.Job, count(int32(in.servers(r)), "request"), r.Name, d)
	}
	return strings.Join(parts, "; ") +
		", so that its slowdown tells nothing; add spec.calibration to the NodeProfile to find out how many requests the resource serves at once, or list its servers"
}

// results says what was measured of some classes, "" for nothing.
func results(all []v1alpha1.MeasuredVector, classes []string) string {
	var parts []string
	for i := range all {
		m := &all[i]
		if !slices.Contains(classes, m.NodeProfile) {
			continue
		}
		var resources []string
		for _, r := range m.Resources {
			text := fmt.Sprintf("%s %.2f", r.Name, r.Loading.AsApproximateFloat64())
			if r.LoadingError != nil {
				text += fmt.Sprintf(" ± %.2f", r.LoadingError.AsApproximateFloat64())
			}
			resources = append(resources, text)
		}
		parts = append(parts, fmt.Sprintf("%s on node %s after %s", strings.Join(resources, ", "), m.Node, count(*m.Rounds, "round")))
	}
	return strings.Join(parts, "; ")
}

// measured tells whether every class has a whole result, however old.
func (in *input) measured(all []v1alpha1.MeasuredVector, classes []string) bool {
	for _, class := range classes {
		i := slices.IndexFunc(all, func(m v1alpha1.MeasuredVector) bool { return m.NodeProfile == class })
		if i < 0 || !in.whole(&all[i]) {
			return false
		}
	}
	return len(classes) > 0
}

// imprecise tells whether a result is less precise than is asked for.
func (in *input) imprecise(all []v1alpha1.MeasuredVector, classes []string) bool {
	for i := range all {
		if !slices.Contains(classes, all[i].NodeProfile) {
			continue
		}
		for _, r := range all[i].Resources {
			for _, e := range []*resource.Quantity{r.LoadingError, r.PressureError} {
				if e == nil || e.AsApproximateFloat64() > in.settings.precision+0.00005 {
					return true
				}
			}
		}
	}
	return false
}

// morePrecise says how to get a more precise result.
func (in *input) morePrecise() string {
	return fmt.Sprintf("; that is less precise than ± %.3g: raise maxRounds or budgetSeconds, or measure a target that runs longer", in.settings.precision)
}

func count(n int32, what string) string {
	if n == 1 {
		return "1 " + what
	}
	return fmt.Sprintf("%d %ss", n, what)
}
