package linuxsched

import (
	"math/rand/v2"
	"time"
)

type simulation struct {
	machine Machine
	kernel  Kernel
	class   class
	tick    int64 // ns

	now        int64
	clocks     *clocks
	cpus       []*cpu
	caches     []*cache
	groups     []*group
	limited    []*bandwidth
	stations   []*station
	threads    []*thread
	pods       []Pod
	random     *rand.Rand
	overloaded bool
	pending    []*cpu // to be rescheduled
	scratch    []*runqueue
	decayed    int64

	usage  []Usage
	blame  [][]time.Duration
	events int
}

// run simulates until a time.
func (s *simulation) run(until int64) {
	for {
		slot, at := s.clocks.first()
		if at > until {
			s.now = until
			return
		}
		s.now = at
		s.events++
		s.happen(slot)
		for i := 0; i < len(s.pending); i++ {
			if c := s.pending[i]; c.pending {
				c.pending = false
				s.schedule(c)
			}
		}
		s.pending = s.pending[:0]
	}
}

// happen handles the event of a slot. Slots are the processors' ends of bursts, the threads' timers, the tick, two for each quota,
// and the stations.
func (s *simulation) happen(slot int) {
	cpus, threads, limited := len(s.cpus), len(s.threads), len(s.limited)
	switch {
	case slot < cpus:
		s.endBurst(s.cpus[slot])
	case slot < cpus+threads:
		s.clocks.set(slot, never)
		s.wake(s.threads[slot-cpus])
	case slot == cpus+threads:
		s.clocks.set(slot, s.now+s.tick)
		s.onTick()
	case slot < cpus+threads+1+2*limited:
		i := slot - (cpus + threads + 1)
		if i%2 == 0 {
			s.endPeriod(s.limited[i/2])
		} else {
			s.endSlack(s.limited[i/2])
		}
	default:
		s.stations[slot-(cpus+threads+1+2*limited)].complete(s)
	}
}

// onTick is the tick of all processors. Idle ones have none.
func (s *simulation) onTick() {
	for _, c := range s.cpus {
		t := c.running
		if t == nil {
			continue
		}
		s.burden(c, s.kernel.Costs.Tick)
		for e := &t.entity; e != nil; e = e.queue.entity {
			s.update(e.queue)
			s.refresh(e)
			if s.class.ticked(s, e.queue, e) {
				s.reschedule(c)
			}
		}
	}
	if len(s.cpus) == 1 {
		return
	}
	for _, c := range s.cpus {
		if c.running != nil {
			s.balanceTick(c, busy)
		}
	}
	s.balanceIdle()
	if s.now-s.decayed >= int64(halfLife) {
		s.decayed = s.now
		for _, c := range s.cpus {
			s.decay(c)
		}
	}
}
