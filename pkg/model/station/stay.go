package station

// Stay is for how long operations of a customer were at a station, in seconds, summed over them: those of directions of which the service is
// known.
type Stay struct {
	// Service is what they take alone, Own for how long they waited for others of the same customer, and Others for how long for those of
	// other customers.
	Service, Own, Others float64
}

// Stay returns for how long the operations of a customer were at the station.
func (s *Station) Stay(i int) Stay {
	c := &s.customers[i]
	stay := Stay{Service: c.service, Own: c.waited}
	others := s.others(i)
	if c.waited <= 0 || others <= 0 {
		return stay
	}
	longest := max(1, c.inFlight) * s.slower * max(0, s.served-c.served)
	stay.Others = min(c.waited*(others/(others+c.own())), longest)
	stay.Own = max(0, c.waited-stay.Others)
	return stay
}

// Waited returns which part of the time for which threads of a customer were blocked they waited for operations of others, at each of
// the stations where the customer was: all together from 0 to 1. Blocked is that time in seconds, above 0. It is each thread's own, summed
// up, or else for how long at least one was blocked.
//
// Operations that no thread waits for, or that several wait for at once, make their stays longer than the blocked time, which then has the same
// parts. Where the blocked time is longer, what nothing explains is no waiting for others. Of the time of each thread at least what its
// operations take alone is none either; where several are blocked at once and count as one, that says nothing.
func Waited(stays []Stay, blocked float64, ofEach bool) (parts []float64) {
	var all Stay
	for _, s := range stays {
		all.Service, all.Own, all.Others = all.Service+s.Service, all.Own+s.Own, all.Others+s.Others
	}
	parts = make([]float64, len(stays))
	if all.Others <= 0 || !(blocked > 0) {
		return parts
	}
	sum := all.Others / max(all.Service+all.Own+all.Others, blocked)
	if ofEach {
		sum = min(sum, all.Others/(all.Own+all.Others)*max(0, 1-all.Service/blocked))
	}
	for i, s := range stays {
		parts[i] = sum * (s.Others / all.Others)
	}
	return parts
}
