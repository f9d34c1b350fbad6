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

// Parts are parts of the time for which threads of a customer were blocked, from 0 to 1 all together. What they leave of 1 nothing explains.
type Parts struct {
	// Service is for how long operations of the customer were served, and Own for how long they waited for others of the same customer.
	Service, Own float64
	// Others is for how long they waited for operations of other customers, at each of the stations.
	Others []float64
}

// Divide divides the time for which threads of a customer were blocked, by its stays at the stations where it was. Blocked is that time in
// seconds, above 0: each thread's own, summed up, or else for how long at least one was blocked.
//
// Operations that no thread waits for, or that several wait for at once, make their stays longer than the blocked time, which then has the same
// parts. Where the blocked time is longer, nothing explains the rest. Of the time of each thread at least what its operations take alone is
// service; where several are blocked at once and count as one, that says nothing.
func Divide(stays []Stay, blocked float64, ofEach bool) Parts {
	var all Stay
	for _, s := range stays {
		all.Service, all.Own, all.Others = all.Service+s.Service, all.Own+s.Own, all.Others+s.Others
	}
	parts := Parts{Others: make([]float64, len(stays))}
	if !(blocked > 0) {
		return parts
	}
	waited := all.Own + all.Others
	whole := max(all.Service+waited, blocked)
	waiting := waited / whole
	parts.Service = all.Service / whole
	if ofEach {
		parts.Service = min(1, all.Service/blocked)
		waiting = min(waiting, 1-parts.Service)
	}
	if waited <= 0 {
		return parts
	}
	parts.Own = waiting * (all.Own / waited)
	if all.Others <= 0 {
		return parts
	}
	others := waiting * (all.Others / waited)
	for i, s := range stays {
		parts.Others[i] = others * (s.Others / all.Others)
	}
	return parts
}
