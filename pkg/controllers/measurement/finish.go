package measurement

import (
	"fmt"
	"maps"
	"slices"
	"time"

	"loadline.dev/loadline/apis/loadline/v1alpha1"
	"loadline.dev/loadline/pkg/model/contention/experiment"
	"loadline.dev/loadline/pkg/profile"
)

// record keeps what a step has told, and goes on to the next.
func (p *plan) record(in *input, steps []step, at int, runs []run) {
	sample, flaw := in.sample(&steps[at], runs)
	if flaw != nil {
		if flaw.hopeless {
			p.fail(in, flaw.reason, flaw.message)
		} else {
			p.begun(in, flaw.reason, flaw.message)
		}
		return
	}
	m := p.status.Measuring
	m.Samples = append(m.Samples, toStatus(sample)...)
	m.Attempts = new(int32(0))
	p.again = atOnce
	if at+1 < len(steps) {
		m.Step = steps[at+1].name()
		p.progress(in, fmt.Sprintf("round %d of at most %d: %s on node %s", *m.Round, in.settings.rounds, m.Step, m.Node))
		return
	}
	p.rounds = 1
	p.endRound(in)
}

// endRound decides whether there is another round.
func (p *plan) endRound(in *input) {
	m := p.status.Measuring
	corrected, err := in.correct(m)
	if err != nil {
		p.fail(in, v1alpha1.ReasonInconsistent, err.Error())
		return
	}
	m.Samples = corrected
	result, err := in.estimate(m.Samples, *m.Round)
	if err != nil {
		p.fail(in, v1alpha1.ReasonInconsistent, err.Error())
		return
	}
	next := *m.Round + 1
	spent := in.now.Sub(m.StartTime.Time)
	switch {
	case len(result.Components) == 0,
		in.settings.precise(result, *m.Round),
		next > in.settings.rounds,
		len(m.Samples)+len(in.settings.resources)*2+3 > maxSamples,
		spent+spent/time.Duration(*m.Round) > in.settings.budget:
		p.finish(in, result, *m.Round)
		return
	}
	m.Round = new(next)
	m.Step = in.settings.steps(next, m.Samples)[0].name()
	p.progress(in, fmt.Sprintf("%s after round %d of at most %d on node %s", in.text(result), next-1, in.settings.rounds, m.Node))
}

// outOfTime ends a measurement whose time is used up in the middle of a round, with
// what the rounds before have told.
func (p *plan) outOfTime(in *input) {
	m := in.profile.Status.Measuring
	if *m.Round == 1 {
		p.fail(in, v1alpha1.ReasonImprecise, fmt.Sprintf("the %d s of budgetSeconds were used up in the first round; raise it", int(in.settings.budget.Seconds())))
		return
	}
	result, err := in.estimate(m.Samples, *m.Round-1)
	if err != nil {
		p.fail(in, v1alpha1.ReasonInconsistent, err.Error())
		return
	}
	p.finish(in, result, *m.Round-1)
}

// finish ends a measurement with its result, as far as there is one.
func (p *plan) finish(in *input, result experiment.Result, rounds int32) {
	if result.Contradiction != nil {
		p.fail(in, v1alpha1.ReasonInconsistent, result.Contradiction.Error())
		return
	}
	if len(result.Unsaturated) == 0 && len(result.Components) < len(in.settings.resources) {
		p.fail(in, v1alpha1.ReasonInconsistent, "the rounds have told nothing of some of the resources")
		return
	}
	m := p.status.Measuring
	vector := in.vector(m, result, rounds)
	if wide := profile.TooWide(&vector); wide != "" {
		p.fail(in, v1alpha1.ReasonImprecise, fmt.Sprintf("the result is not used, being wider than ± %.2f: %s after %s: %s",
			profile.MaxError, wide, count(rounds, "round"), morePrecise))
		return
	}
	if len(result.Components) > 0 {
		p.keep(vector)
	}
	if len(result.Unsaturated) > 0 {
		p.fail(in, v1alpha1.ReasonUnsaturated, in.advice(m, result.Unsaturated))
		return
	}
	text, imprecise := in.results(p.status.Measurements, []string{m.NodeProfile})
	outcome := v1alpha1.ReasonMeasured
	if imprecise {
		outcome = v1alpha1.ReasonImprecise
	}
	p.ended = &ending{outcome: outcome, message: text, seconds: in.elapsed(), result: true}
	p.status.Measuring = nil
	delete(p.memory.setbacks, m.NodeProfile)
	p.condition(in, in.measured(p.status.Measurements), outcome, text)
	p.remove, p.apply, p.again = nil, nil, atOnce
}

// keep puts a result in place of the one of its class.
func (p *plan) keep(v v1alpha1.MeasuredVector) {
	all := map[string]v1alpha1.MeasuredVector{v.NodeProfile: v}
	for _, m := range p.status.Measurements {
		if m.NodeProfile != v.NodeProfile {
			all[m.NodeProfile] = m
		}
	}
	p.status.Measurements = nil
	for _, class := range slices.Sorted(maps.Keys(all)) {
		p.status.Measurements = append(p.status.Measurements, all[class])
	}
}
