package probe

import (
	"errors"
	"fmt"
	"os"
	"time"

	"loadline.dev/loadline/pkg/probe/result"
	"loadline.dev/loadline/pkg/probe/topology"
)

// checkPressure returns an error unless the job has a pressure that it can have.
func (j Job) checkPressure() error {
	if _, presses := result.InterferenceResource(j.Name); !presses && j.Pressure != 0 {
		return fmt.Errorf("pressure: %v of a job that presses on nothing; 0 is none", j.Pressure)
	}
	if !(j.Pressure >= 0 && j.Pressure <= 1) {
		return fmt.Errorf("pressure: %v is not above 0 and at most 1", j.Pressure)
	}
	return nil
}

// restStep is how many steps of [scramble] a bubble rests between two looks at the clock, some 0.4 µs, and
// longestBlock is how long a block of work may take before it is taken for interrupted.
const (
	restStep     = 256
	longestBlock = 200 * time.Microsecond
)

// pressing returns a unit of a number of blocks of work at an interference resource, numbered from 0, after each of which
// the worker computes in registers until the blocks have had a fraction of its time: the pressure, from above 0 to 1, or 0
// for all of it. It is looked at anew for each unit.
//
// It is time that is shared out, and not the size of what the worker touches: then what it does to others per second (the
// lines that it brings into a cache, the bytes that it moves) grows with the pressure whatever the size of the cache and
// whoever else uses it, while a working set that grows beyond what the cache has left is touched more slowly, and
// presses less. Blocks take some microseconds, so that a cache or a memory sees the mean.
func pressing(pressure *float64, blocks int, do func(block int)) unit {
	state := new([8]uint64) // a cache line of its own
	state[0] = 1
	rest := func(until time.Duration, since time.Time) {
		for time.Since(since) < until {
			x := state[0]
			for range restStep {
				x = scramble(x)
			}
			state[0] = x
		}
	}
	return func() error {
		all := *pressure == 0 || *pressure == 1
		for block := range blocks {
			if all {
				do(block)
				continue
			}
			began := time.Now()
			do(block)
			worked := time.Now()
			rest(time.Duration((1 / *pressure - 1)*float64(min(worked.Sub(began), longestBlock))), worked)
		}
		return nil
	}
}

// errNoCache is the error of a job that needs to know how large a cache is.
var errNoCache = errors.New("the kernel does not say how large the last-level cache is: give a size")

// lastLevelSize returns the size of the largest last-level cache that this process may use.
func lastLevelSize() (size int64, err error) {
	machine, err := topology.Read(os.DirFS(topology.Path))
	if err != nil {
		return 0, fmt.Errorf("finding the last-level cache: %w", err)
	}
	usable, err := usableProcessors()
	if err != nil {
		return 0, err
	}
	for _, cache := range machine.LastLevel() {
		for _, processor := range cache.Processors.List() {
			if usable.IsSet(processor) {
				size = max(size, cache.Size)
			}
		}
	}
	if size == 0 {
		return 0, errNoCache
	}
	return size, nil
}
