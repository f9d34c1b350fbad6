package measurement

import (
	"fmt"
	"strings"
	"time"

	"loadline.dev/loadline/apis/loadline/v1alpha1"
	"loadline.dev/loadline/pkg/model/experiment"
)

// completed is the phase in which all Jobs of the current step have ended well.
type completed struct{ *measuring }

// plan adds the sample of the current step, and goes on to the next.
func (p *completed) plan() plan {
	sample, flaw := p.sample()
	switch {
	case flaw != nil && flaw.hopeless:
		return p.fail(p.measurements, flaw.reason, flaw.message)
	case flaw != nil:
		return p.retry(flaw.reason, flaw.message)
	}
	m := p.profile.Status.Measuring.DeepCopy()
	m.Samples = append(m.Samples, toStatus(sample)...)
	m.Attempts = new(int32(0))
	if p.at+1 == len(p.steps) {
		return p.endRound(m).endingRound()
	}
	m.Step = p.steps[p.at+1].name()
	message := fmt.Sprintf("round %d of at most %d: %s on node %s", *m.Round, p.settings.rounds, m.Step, m.Node)
	return plan{status: p.status(m, p.measurements, p.progress(message)), memory: p.memory, again: atOnce}
}

// endRound decides whether there is another round, after a measurement with the samples of
// all steps of one.
func (p *completed) endRound(m *v1alpha1.MeasurementProgress) plan {
	corrected, err := p.correct(m)
	if err != nil {
		return p.fail(p.measurements, v1alpha1.ReasonInconsistent, err.Error())
	}
	m.Samples = corrected
	result, err := p.estimate(m.Samples, *m.Round)
	if err != nil {
		return p.fail(p.measurements, v1alpha1.ReasonInconsistent, err.Error())
	}
	next := *m.Round + 1
	spent := p.now.Sub(m.StartTime.Time)
	switch {
	case len(result.Components) == 0,
		p.settings.precise(result, *m.Round),
		next > p.settings.rounds,
		len(m.Samples)+len(p.settings.resources)*2+len(p.settings.interference)*len(experiment.Levels())+3 > maxSamples,
		spent+spent/time.Duration(*m.Round) > p.settings.budget:
		return (&concluded{p.measuring, m, result, *m.Round}).plan()
	}
	m.Round = new(next)
	m.Step = p.settings.steps(next, m.Samples)[0].name()
	message := fmt.Sprintf("%s after round %d of at most %d on node %s", p.settings.known(result), next-1, p.settings.rounds, m.Node)
	return plan{status: p.status(m, p.measurements, p.progress(message)), memory: p.memory, again: atOnce}
}

// known describes the results so far: "cpu 0.58 ± 0.02, disk 0.41 ± 0.03".
func (s *settings) known(result experiment.Result) string {
	parts := make([]string, len(result.Components))
	for i, c := range result.Components {
		parts[i] = fmt.Sprintf("%s %s", s.resources[c.Index].Name, interval{c.Loading.Value, c.Loading.Error})
	}
	if len(parts) == 0 {
		return "nothing known yet"
	}
	return strings.Join(parts, ", ")
}

// endingRound returns the plan as one that ends a round.
func (p plan) endingRound() plan {
	p.rounds = 1
	return p
}
