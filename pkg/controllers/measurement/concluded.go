package measurement

import (
	"fmt"
	"slices"
	"strings"

	corev1 "k8s.io/api/core/v1"

	"loadline.dev/loadline/apis/loadline/v1alpha1"
	"loadline.dev/loadline/pkg/model/experiment"
	"loadline.dev/loadline/pkg/profile"
	"loadline.dev/loadline/pkg/text"
)

// concluded is the phase in which the last round of a measurement is over.
type concluded struct {
	*measuring
	m      *v1alpha1.MeasurementProgress // with the samples of all rounds
	result experiment.Result
	rounds int32
}

// plan ends a measurement with its result, as far as there is one.
func (p *concluded) plan() plan {
	m, result, rounds := p.m, p.result, p.rounds
	if result.Contradiction != nil {
		return p.fail(p.measurements, v1alpha1.ReasonInconsistent, result.Contradiction.Error())
	}
	if len(result.Unsaturated) == 0 && len(result.Components) < len(p.settings.resources) {
		return p.fail(p.measurements, v1alpha1.ReasonInconsistent, "the rounds have no result for some of the resources")
	}
	vector := p.vector(m, result, rounds)
	if wide := profile.TooWide(&vector); wide != "" {
		return p.fail(p.measurements, v1alpha1.ReasonImprecise, fmt.Sprintf("the result is not used, being wider than ± %.2f: %s after %s: %s",
			profile.MaxError, wide, text.Counted(int(rounds), "round"), morePrecise))
	}
	results := p.measurements
	if len(result.Components) > 0 {
		results = replaced(results, vector)
	}
	if len(result.Unsaturated) > 0 {
		return p.fail(results, v1alpha1.ReasonUnsaturated, p.advice(m, result.Unsaturated))
	}
	found, imprecise := p.describe(results, []string{m.NodeProfile})
	found += p.unnoticed(m, rounds)
	outcome, kind := v1alpha1.ReasonMeasured, corev1.EventTypeNormal
	if imprecise {
		outcome, kind = v1alpha1.ReasonImprecise, corev1.EventTypeWarning
	}
	return plan{
		status: p.status(nil, results, finding{p.measured(results), outcome, found}), memory: p.memory.without(m.NodeProfile), again: atOnce,
		events: newEvent(kind, outcome, found), ended: &ending{outcome: outcome, seconds: p.elapsed(), result: true},
	}
}

// replaced returns results in the order of their classes, with a new one in place of that
// of its class.
func replaced(results []v1alpha1.MeasuredVector, v v1alpha1.MeasuredVector) []v1alpha1.MeasuredVector {
	all := slices.DeleteFunc(slices.Clone(results), func(m v1alpha1.MeasuredVector) bool { return m.NodeProfile == v.NodeProfile })
	all = append(all, v)
	slices.SortFunc(all, func(a, b v1alpha1.MeasuredVector) int { return strings.Compare(a.NodeProfile, b.NodeProfile) })
	return all
}

// advice recommends an action for resources, by index, that their probes do not keep busy.
func (p *concluded) advice(m *v1alpha1.MeasurementProgress, resources []int) string {
	parts := make([]string, len(resources))
	for i, index := range resources {
		r := &p.settings.resources[index]
		d, _ := selfDilation(r, m.Samples, *m.Round+1)
		parts[i] = fmt.Sprintf("the probe %s with %s does not keep %s busy: two slow each other down %.2f times only, not 2",
			r.Job, text.Counted(p.servers(r), "request"), r.Name, d)
	}
	return strings.Join(parts, "; ") +
		", so that its slowdown tells nothing; add spec.calibration to the NodeProfile to find out how many requests the resource serves at once, or list its servers"
}

// unnoticed says at which interference resources nothing was measured, "" for none.
func (p *concluded) unnoticed(m *v1alpha1.MeasurementProgress, rounds int32) string {
	var text strings.Builder
	for _, name := range p.settings.interferenceNames() {
		if self, is := experiment.Imperceptible(fromStatus(m.Samples), name, int(rounds)); is {
			fmt.Fprintf(&text, "; nothing at %s: two standard jobs slow each other down %.2f times only on this node", name, self)
		}
	}
	return text.String()
}
