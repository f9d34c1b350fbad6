package mix

import (
	"loadline.dev/loadline/pkg/model/contention"
	"loadline.dev/loadline/pkg/model/interference"
)

// This file is about mixes of jobs of which some make the service of others slower: see [Effect].

// inflate replaces the types of some classes by what they are with service as slow as it is among the others, and
// returns by how much longer each takes for that reason, besides what it waits; nil where nothing interferes.
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

// inflated returns what a type is with service that is so much slower, and by how much longer that takes alone.
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

// slow multiplies the dilations of classes by what they take longer because of interference.
func (x *Mix) slow(classes []class, slowing []float64) {
	for c, by := range slowing {
		for k := classes[c].first; k < classes[c].end; k++ {
			x.parts[k].dilation *= by
		}
	}
}
