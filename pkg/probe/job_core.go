package probe

const (
	// coreBlocks is how many blocks a unit of the job of the core has, and coreSteps how many rounds of arithmetic a block
	// is: about 5 µs at 3 GHz.
	coreBlocks, coreSteps = 20, 3_500
)

// coreWorkers returns workers that keep the arithmetic units of a core busy, so that the other hyper-threads of the
// core have to share them: eight sums of integers and eight of fractions, none of which waits for another.
func coreWorkers(j Job) *workers {
	c := &workers{pressure: j.Pressure}
	c.newUnit = func() (unit, error) {
		state := new(arithmetic)
		return pressing(&c.pressure, coreBlocks, func(int) { state.advance(coreSteps) }), nil
	}
	return c
}

// arithmetic is sums that do not depend on each other, in two cache lines of their own.
type arithmetic struct {
	whole     [8]uint64
	fractions [8]float64
}

// advance goes on with all the sums for a number of rounds. Fractions alternate between two values each, so that none
// becomes so large or small that it is slow.
func (s *arithmetic) advance(rounds int) {
	const odd, c = 0x9e3779b97f4a7c15, 1.5
	a0, a1, a2, a3, a4, a5, a6, a7 := s.whole[0], s.whole[1], s.whole[2], s.whole[3], s.whole[4], s.whole[5], s.whole[6], s.whole[7]
	f0, f1, f2, f3, f4, f5, f6, f7 := s.fractions[0], s.fractions[1], s.fractions[2], s.fractions[3], s.fractions[4], s.fractions[5], s.fractions[6], s.fractions[7]
	for range rounds {
		a0, a1, a2, a3 = (a0+odd)^3, (a1+odd)^5, (a2+odd)^7, (a3+odd)^9
		f0, f1, f2, f3 = c-f0, c-f1, c-f2, c-f3
		a4, a5, a6, a7 = (a4+odd)^11, (a5+odd)^13, (a6+odd)^15, (a7+odd)^17
		f4, f5, f6, f7 = c-f4, c-f5, c-f6, c-f7
	}
	s.whole = [8]uint64{a0, a1, a2, a3, a4, a5, a6, a7}
	s.fractions = [8]float64{f0, f1, f2, f3, f4, f5, f6, f7}
}
