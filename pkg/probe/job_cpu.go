package probe

// cpuSteps is how many steps of arithmetic a unit is: about 0.2 ms at 3 GHz.
const cpuSteps = 100_000

// cpuWorkers returns workers that compute. Each step needs the one before, and there
// is nothing to decide, so that a unit is the same work always, and what another thread
// does on the same physical core matters as little as it can.
func cpuWorkers() *workers {
	return &workers{newUnit: func() (unit, error) {
		state := new([8]uint64) // a cache line of its own
		state[0] = 1
		return func() error {
			x := state[0]
			for range cpuSteps {
				x = scramble(x)
			}
			state[0] = x
			return nil
		}, nil
	}}
}

// scramble returns the next number of the generator that Marsaglia calls xorshift64
// (Journal of Statistical Software 8(14), 2003). It is never 0 if x is not.
func scramble(x uint64) uint64 {
	x ^= x << 13
	x ^= x >> 7
	x ^= x << 17
	return x
}
