package mix

import (
	"loadline.dev/loadline/pkg/model/contention"
	"loadline.dev/loadline/pkg/model/interference"
)

// This file handles mixes in which some jobs slow down the service of others: see [loading.Effect].

// inflate replaces the types of some classes by those with inflated service, and returns the factor by which the
// time of each grows for that reason, besides waiting; nil where nothing interferes.
func (x *Mix) inflate(classes []class) (slowing []float64) {
	m := x.of
	if m.err != nil || !m.interferes {
		return nil
	}
	kinds := make([]interference.Kind, len(classes))
	for c, class := range classes {
		kinds[c] = interference.Kind{Vector: class.vector, Copies: class.copies, Limit: class.Limit, Slack: class.slack}
	}
	slowing = make([]float64, len(classes))
	for c, f := range interference.Inflate(kinds, m.class.Servers, m.class.Processor) {
		slowing[c] = 1
		if f.Stretch(false) > 1 {
			classes[c].localType, slowing[c] = m.inflated(classes[c].localType, &f)
		}
	}
	return slowing
}

// inflated returns a type with its service inflated, and the factor by which its time alone grows.
func (m *Mixes) inflated(t *localType, f *interference.Inflation) (*localType, float64) {
	slow := *t
	stretch := f.Stretch(false) / f.Stretch(true)
	var held float64
	var err error
	slow.vector, held, err = contention.Throttled(f.Apply(t.vector, false, nil), m.class.Processor, t.Limit, m.class.Servers, m.options)
	if err != nil {
		m.fail(err)
		return t, 1
	}
	slow.slack = (t.slack/stretch + held - 1) / held
	slow.network = contention.QueueingClass(slow.vector)
	before := 1.0
	if t.vector.Oversubscribes(m.class.Servers) {
		if slow.alone, err = contention.SolveAlone(slow.vector, m.class.Servers, m.options); err != nil {
			m.fail(err)
			return t, 1
		}
		if before, err = contention.SolveAlone(f.Apply(t.vector, true, nil), m.class.Servers, m.options); err != nil {
			m.fail(err)
			return t, 1
		}
	}
	return &slow, max(1, stretch*held*slow.alone/before)
}

// slow multiplies the dilations of classes by their slowdown by interference.
func (x *Mix) slow(classes []class, slowing []float64) {
	for c, by := range slowing {
		for k := classes[c].first; k < classes[c].end; k++ {
			x.parts[k].dilation *= by
		}
	}
}
