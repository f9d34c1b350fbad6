package probe

const (
	// cacheUnit is how many lines a unit of the job of the last-level cache changes, and cacheBlock how many of them
	// between two rests: some 5 µs.
	cacheUnit, cacheBlock = 1 << 14, 1 << 9
	// cacheShare is how much of the last-level cache it works on: a half, which it can keep there on its own, and two such
	// jobs fill the cache.
	cacheShare = 2
	// leastCache is the least size of its working set, beyond most second-level caches.
	leastCache = 2 << 20
)

// cacheWorkers returns workers that change bytes all over one working set, at random, so that no prefetcher sees what
// is next, and none of which depends on another, so that a core has as many on their way as it can. Changed lines have
// to be written when others drive them out, which presses more than reading.
func cacheWorkers(j Job) (*workers, error) {
	size := j.Size
	if size == 0 {
		all, err := lastLevelSize()
		if err != nil {
			return nil, err
		}
		size = min(MaxSize, max(leastCache, all/cacheShare))
	}
	buffer, err := newHugeBuffer(int(size))
	if err != nil {
		return nil, err
	}
	lines := uint64(size / cacheLine)
	seed := uint64(0)
	c := &workers{pressure: j.Pressure, closers: []func() error{func() error { return freeBuffer(buffer) }}}
	c.newUnit = func() (unit, error) {
		seed++
		state := new([8]uint64) // a cache line of its own
		state[0] = scramble(scramble(seed))
		return pressing(&c.pressure, cacheUnit/cacheBlock, func(int) {
			x := state[0]
			for range cacheBlock {
				x = scramble(x)
				buffer[(x>>32)*lines>>32*cacheLine]++
			}
			state[0] = x
		}), nil
	}
	return c, nil
}
