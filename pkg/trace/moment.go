package trace

// Moment is an instant of a trace that may never have come: a pod that was
// never scheduled has no scheduling time. The zero value has not happened.
type Moment struct {
	// At is the time since the start of the trace in seconds, ≥ 0; 0 if it has
	// not happened.
	At float64
	// Happened tells the start of the trace (At = 0) from never.
	Happened bool
}

// before reports whether m happened, and earlier than t.
func (m Moment) before(t float64) bool { return m.Happened && m.At < t }
