package price

import (
	"loadline.dev/loadline/pkg/model/interference"
	"loadline.dev/loadline/pkg/model/poissonbinomial"
)

// interfere adds the slowdown by interference: to own the extra computing time of the candidate's threads, and to
// inflicted the extra time that they cause the others.
func (p *Prices) interfere(c *Candidate, own, inflicted float64) (float64, float64) {
	for k := range c.effects {
		b := &c.effects[k]
		price := &p.effects[b.Resource]
		own, inflicted = own+price.Slows(b), inflicted+price.Inflicts(b)
	}
	return own, inflicted
}

// effectPrices returns those of a load, nil where no job has an effect.
func (l *Load) effectPrices() []interference.Price {
	if len(l.interfering) == 0 {
		return nil
	}
	return interference.EffectPrices(l.interfering, l.servers, func(resource int) *poissonbinomial.Distribution {
		there := &l.resources[resource].present
		if !l.resources[resource].distributed { // one server, whose thread runs beside no other
			there.Reset()
		}
		return there
	})
}
