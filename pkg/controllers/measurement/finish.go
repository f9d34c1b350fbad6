package measurement

import (
	"fmt"
	"slices"
	"strings"
	"time"

	corev1 "k8s.io/api/core/v1"

	"loadline.dev/loadline/apis/loadline/v1alpha1"
	"loadline.dev/loadline/pkg/model/contention/experiment"
	"loadline.dev/loadline/pkg/profile"
	"loadline.dev/loadline/pkg/text"
)

// record adds the sample of the current step, and goes on to the next.
func (in *input) record() plan {
	sample, flaw := in.sample()
	switch {
	case flaw != nil && flaw.hopeless:
		return in.fail(in.measurements, flaw.reason, flaw.message)
	case flaw != nil:
		return in.beginAgain(flaw.reason, flaw.message)
	}
	m := in.profile.Status.Measuring.DeepCopy()
	m.Samples = append(m.Samples, toStatus(sample)...)
	m.Attempts = new(int32(0))
	if in.at+1 == len(in.steps) {
		return in.endRound(m).endingRound()
	}
	m.Step = in.steps[in.at+1].name()
	message := fmt.Sprintf("round %d of at most %d: %s on node %s", *m.Round, in.settings.rounds, m.Step, m.Node)
	return plan{status: in.status(m, in.measurements, in.progress(message)), memory: in.memory, again: atOnce}
}

// endRound decides whether there is another round, after a measurement with the samples of
// all steps of one.
func (in *input) endRound(m *v1alpha1.MeasurementProgress) plan {
	corrected, err := in.correct(m)
	if err != nil {
		return in.fail(in.measurements, v1alpha1.ReasonInconsistent, err.Error())
	}
	m.Samples = corrected
	result, err := in.estimate(m.Samples, *m.Round)
	if err != nil {
		return in.fail(in.measurements, v1alpha1.ReasonInconsistent, err.Error())
	}
	next := *m.Round + 1
	spent := in.now.Sub(m.StartTime.Time)
	switch {
	case len(result.Components) == 0,
		in.settings.precise(result, *m.Round),
		next > in.settings.rounds,
		len(m.Samples)+len(in.settings.resources)*2+len(in.settings.interference)*len(experiment.Levels())+3 > maxSamples,
		spent+spent/time.Duration(*m.Round) > in.settings.budget:
		return in.finish(m, result, *m.Round)
	}
	m.Round = new(next)
	m.Step = in.settings.steps(next, m.Samples)[0].name()
	message := fmt.Sprintf("%s after round %d of at most %d on node %s", in.known(result), next-1, in.settings.rounds, m.Node)
	return plan{status: in.status(m, in.measurements, in.progress(message)), memory: in.memory, again: atOnce}
}

// outOfTime ends a measurement whose time is used up in the middle of a round, with
// the samples of the rounds before.
func (in *input) outOfTime() plan {
	m := in.profile.Status.Measuring
	if *m.Round == 1 {
		given := "budgetSeconds"
		if in.settings.limited {
			given = "--max-measurement-time of loadline-manager"
		}
		return in.fail(in.measurements, v1alpha1.ReasonImprecise,
			fmt.Sprintf("the %d s of %s were used up in the first round; raise it", int(in.settings.budget.Seconds()), given))
	}
	result, err := in.estimate(m.Samples, *m.Round-1)
	if err != nil {
		return in.fail(in.measurements, v1alpha1.ReasonInconsistent, err.Error())
	}
	return in.finish(m, result, *m.Round-1)
}

// finish ends a measurement with its result, as far as there is one.
func (in *input) finish(m *v1alpha1.MeasurementProgress, result experiment.Result, rounds int32) plan {
	if result.Contradiction != nil {
		return in.fail(in.measurements, v1alpha1.ReasonInconsistent, result.Contradiction.Error())
	}
	if len(result.Unsaturated) == 0 && len(result.Components) < len(in.settings.resources) {
		return in.fail(in.measurements, v1alpha1.ReasonInconsistent, "the rounds have told nothing of some of the resources")
	}
	vector := in.vector(m, result, rounds)
	if wide := profile.TooWide(&vector); wide != "" {
		return in.fail(in.measurements, v1alpha1.ReasonImprecise, fmt.Sprintf("the result is not used, being wider than ± %.2f: %s after %s: %s",
			profile.MaxError, wide, text.Counted(int(rounds), "round"), morePrecise))
	}
	results := in.measurements
	if len(result.Components) > 0 {
		results = replaced(results, vector)
	}
	if len(result.Unsaturated) > 0 {
		return in.fail(results, v1alpha1.ReasonUnsaturated, in.advice(m, result.Unsaturated))
	}
	found, imprecise := in.describe(results, []string{m.NodeProfile})
	found += in.unnoticed(m, rounds)
	outcome, kind := v1alpha1.ReasonMeasured, corev1.EventTypeNormal
	if imprecise {
		outcome, kind = v1alpha1.ReasonImprecise, corev1.EventTypeWarning
	}
	return plan{
		status: in.status(nil, results, finding{in.measured(results), outcome, found}), memory: in.memory.without(m.NodeProfile), again: atOnce,
		news: telling(kind, outcome, found), ended: &ending{outcome: outcome, seconds: in.elapsed(), result: true},
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
