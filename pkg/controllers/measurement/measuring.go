package measurement

import (
	"fmt"
	"time"

	corev1 "k8s.io/api/core/v1"

	"loadline.dev/loadline/apis/loadline/v1alpha1"
	"loadline.dev/loadline/pkg/controllers/probejob"
	"loadline.dev/loadline/pkg/model/experiment"
)

// measuring is a measurement in progress, with the methods that its phases share.
type measuring struct{ *input }

// describeStep says which step is going on.
func (g *measuring) describeStep() string {
	m := g.profile.Status.Measuring
	return fmt.Sprintf("round %d of at most %d: %s on node %s", *m.Round, g.settings.rounds, m.Step, m.Node)
}

// retry counts an attempt that came to nothing. The step is begun again after a
// pause, up to maxAttempts times.
func (g *measuring) retry(reason, why string) plan {
	m := g.profile.Status.Measuring.DeepCopy()
	m.Attempts = new(attempts(m) + 1)
	if *m.Attempts >= maxAttempts {
		return g.fail(g.measurements, reason, fmt.Sprintf("step %s of round %d was begun %d times; the last time %s", m.Step, *m.Round, maxAttempts, why))
	}
	pause := pauseAfter(*m.Attempts)
	text := fmt.Sprintf("round %d: %s is begun again in %v, attempt %d of %d: %s", *m.Round, m.Step, pause, *m.Attempts+1, maxAttempts, why)
	return plan{
		status: g.status(m, g.measurements, g.progress(text)), memory: g.memory.resumingAt(g.now.Add(pause)), again: atOnce,
		events: newEvent(corev1.EventTypeWarning, v1alpha1.ReasonInterrupted, text),
	}
}

// outOfTime ends a measurement whose time is used up in the middle of a round, with
// the samples of the rounds before.
func (g *measuring) outOfTime() plan {
	m := g.profile.Status.Measuring
	if *m.Round == 1 {
		given := "budgetSeconds"
		if g.settings.limited {
			given = "--max-measurement-time of loadline-manager"
		}
		return g.fail(g.measurements, v1alpha1.ReasonImprecise,
			fmt.Sprintf("the %d s of %s were used up in the first round; raise it", int(g.settings.budget.Seconds()), given))
	}
	result, err := g.estimate(m.Samples, *m.Round-1)
	if err != nil {
		return g.fail(g.measurements, v1alpha1.ReasonInconsistent, err.Error())
	}
	return (&concluded{g, m, result, *m.Round - 1}).plan()
}

// pauseAfter returns the pause of a step after its nth attempt was lost: 5, 10, 20 and 40 s, so that
// a cause that is soon over, such as a restart of the container runtime, is over by then.
func pauseAfter(n int32) time.Duration { return 5 * time.Second << (n - 1) }

// experiment returns the experiment of the measurement, on its node.
func (g *measuring) experiment() experiment.Experiment {
	e := experiment.Experiment{Service: g.settings.target == nil, Copies: g.settings.copies, Interference: g.settings.interferenceNames()}
	for i := range g.settings.resources {
		r := &g.settings.resources[i]
		e.Resources = append(e.Resources, experiment.Resource{
			Name: r.Name, Servers: g.servers(r), Threads: r.Threads,
			CPU: r.standard().Computes, Conserving: r.standard().Conserving,
		})
	}
	return e
}

// correct returns the samples of a measurement with those of its round corrected for the neighbours.
// They are unchanged if its node no longer exists.
func (g *measuring) correct(m *v1alpha1.MeasurementProgress) ([]v1alpha1.MeasurementSample, error) {
	n := g.node(m.Node)
	if n == nil {
		return m.Samples, nil
	}
	site := experiment.Site{Node: n.model(), Pods: n.followers}
	if b := g.node(m.BaselineNode); b != nil {
		site.Baseline = new(b.model())
	}
	corrected, err := g.experiment().Correct(fromStatus(m.Samples), int(*m.Round), site)
	if err != nil {
		return nil, err
	}
	return toStatus(corrected...), nil
}

// estimate combines the samples of the first rounds.
func (g *measuring) estimate(samples []v1alpha1.MeasurementSample, rounds int32) (experiment.Result, error) {
	return g.experiment().Estimate(fromStatus(samples), int(rounds))
}

// failed is the phase of a measurement that cannot go on, for a while.
type failed struct {
	*measuring
	// results are those that there are all the same.
	results         []v1alpha1.MeasuredVector
	reason, message string
}

// plan ends the measurement. The same question is asked again after a while, a longer one each time.
func (f *failed) plan() plan {
	m := f.profile.Status.Measuring
	back := probejob.Failure{Question: m.Question, Reason: f.reason, InARow: 1}
	if before, again := f.memory.setbacks[m.NodeProfile]; again && before.Question == m.Question {
		back.InARow = before.InARow + 1
	}
	back.Until = f.now.Add(min(lastRetry, firstRetry<<min(back.InARow-1, 10)))
	if f.reason == v1alpha1.ReasonForbidden {
		back.Until = f.now.Add(firstRetry) // an operator may give the right at any time
	}
	back.Message = fmt.Sprintf("%s (%s; tried again at %s)", f.message, atNode(m.Node, "step "+m.Step), back.Until.UTC().Format(time.RFC3339))
	return plan{
		status: f.status(nil, f.results, finding{f.measured(f.results), f.reason, back.Message}), memory: f.memory.with(m.NodeProfile, back), again: atOnce,
		events: newEvent(corev1.EventTypeWarning, f.reason, back.Message), ended: &ending{outcome: f.reason, seconds: f.elapsed()},
	}
}

// fail ends a measurement that cannot go on, for a while. The results are those that there
// are all the same.
func (g *measuring) fail(results []v1alpha1.MeasuredVector, reason, message string) plan {
	return (&failed{g, results, reason, message}).plan()
}
