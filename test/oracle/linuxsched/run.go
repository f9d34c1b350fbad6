package linuxsched

import (
	"fmt"
	"iter"
	"math/rand/v2"
	"time"
)

// Machine is a node.
type Machine struct {
	Kernel   Kernel
	CPUs     int
	Caches   int // last-level caches, each shared by as many processors, 0 for 1
	Online   int // processors by which granularities are scaled, 0 for CPUs: more if CPUs are a partition
	Stations []Station
	Seed     uint64 // of the phases of quotas, where threads are at first, and what the kernel draws
}

// Run simulates pods on a machine, and returns what happened in a window that begins after a while.
func (m Machine) Run(pods []Pod, settle, window time.Duration) (Result, error) {
	if err := m.check(pods); err != nil {
		return Result{}, err
	}
	s := newSimulation(m, pods)
	s.run(int64(settle))
	return s.window(window), nil
}

// Windows simulates pods on a machine without end, and yields what happened in each of the windows that follow each other after a
// while: batches, from whose spread one sees how far their mean is off.
func (m Machine) Windows(pods []Pod, settle, window time.Duration) (iter.Seq[Result], error) {
	if err := m.check(pods); err != nil {
		return nil, err
	}
	return func(yield func(Result) bool) {
		s := newSimulation(m, pods)
		s.run(int64(settle))
		for yield(s.window(window)) {
		}
	}, nil
}

// window simulates a window of time from now on, and returns what happened there.
func (s *simulation) window(length time.Duration) Result {
	s.account()
	s.usage, s.events = make([]Usage, len(s.pods)), 0
	s.blame = make([][]time.Duration, len(s.pods))
	for i := range s.blame {
		s.blame[i] = make([]time.Duration, len(s.pods))
	}
	s.run(s.now + int64(length))
	s.account()
	for i, p := range s.pods {
		s.usage[i].Elapsed = length * time.Duration(len(p.Threads))
	}
	return Result{s.usage, s.blame, s.events}
}

// Dilations returns by how much longer pods take together than each alone on the machine: with the same bursts and sleeps, and the
// same window of time.
func (m Machine) Dilations(pods []Pod, settle, window time.Duration) ([]float64, error) {
	together, err := m.Run(pods, settle, window)
	if err != nil {
		return nil, err
	}
	dilations := make([]float64, len(pods))
	for i := range pods {
		alone, err := m.Run(pods[i:i+1], settle, window)
		if err != nil {
			return nil, err
		}
		dilations[i] = together.Pods[i].Stretch() / alone.Pods[0].Stretch()
	}
	return dilations, nil
}

// newSimulation returns the simulation of a machine and pods that have been checked.
func newSimulation(m Machine, pods []Pod) *simulation {
	s := &simulation{machine: m, kernel: m.Kernel, pods: pods, random: rand.New(rand.NewPCG(m.Seed, 1))}
	s.tick = int64(time.Second) / int64(m.Kernel.HZ)
	online := max(m.Online, m.CPUs)
	k := m.Kernel
	if k.Class == CFS {
		s.class = &cfs{scaled(k.Latency, online), scaled(k.MinGranularity, online), scaled(k.WakeupGranularity, online)}
	} else {
		s.class = &eevdf{scaled(k.Slice, online), float64(s.tick), k.LagBeyondSlice, k.SliceEndsRun}
	}
	s.addCPUs()
	s.addThreads()
	s.usage = make([]Usage, len(pods))
	s.blame = make([][]time.Duration, len(pods))
	for i := range s.blame {
		s.blame[i] = make([]time.Duration, len(pods))
	}
	s.addClocks()
	s.begin()
	return s
}

// check returns an error if a machine or a pod is none.
func (m Machine) check(pods []Pod) error {
	caches := max(1, m.Caches)
	switch {
	case m.CPUs < 1:
		return fmt.Errorf("machine.CPUs: %d is below 1", m.CPUs)
	case m.CPUs%caches != 0:
		return fmt.Errorf("machine.Caches: %d do not divide %d processors", caches, m.CPUs)
	case m.Kernel.HZ < 1:
		return fmt.Errorf("machine.Kernel.HZ: %d is below 1", m.Kernel.HZ)
	}
	for i := range pods {
		for g := &pods[i].Group; g != nil; g = g.Parent {
			if g.Weight < 0 || g.Weight > 10000 {
				return fmt.Errorf("pods[%d]: weight %d is not between 1 and 10000", i, g.Weight)
			}
			if g.Quota < 0 || g.Quota > 0 && g.Quota < time.Millisecond {
				return fmt.Errorf("pods[%d]: quota %v is below 1ms", i, g.Quota)
			}
		}
	}
	return nil
}

// addCPUs makes the processors with their caches and scheduling domains.
func (s *simulation) addCPUs() {
	caches := max(1, s.machine.Caches)
	each := s.machine.CPUs / caches
	for range caches {
		l := &cache{scan: each}
		for i := range each {
			c := &cpu{id: len(s.cpus), cache: l, inCache: i, idleSince: never, averageIdle: 2 * float64(migrationCost)}
			c.root = &runqueue{cpu: c}
			l.cpus = append(l.cpus, c)
			s.cpus = append(s.cpus, c)
		}
		s.caches = append(s.caches, l)
	}
	for _, c := range s.cpus {
		if each > 1 {
			var groups [][]*cpu
			for i := range each {
				groups = append(groups, []*cpu{c.cache.cpus[(c.inCache+i)%each]})
			}
			c.domains = append(c.domains, newDomain(groups, true))
		}
		if caches > 1 {
			var groups [][]*cpu
			for i := range caches {
				groups = append(groups, s.caches[(c.id/each+i)%caches].cpus)
			}
			c.domains = append(c.domains, newDomain(groups, false))
		}
	}
}

// addGroup makes a control group with its queues, unless there is one already.
func (s *simulation) addGroup(g *Group, known map[*Group]*group) *group {
	if g == nil {
		return nil
	}
	if made, ok := known[g]; ok {
		return made
	}
	parent := s.addGroup(g.Parent, known)
	const percent = 100
	weight := g.Weight
	if weight == 0 {
		weight = 100
	}
	made := &group{weight: float64((weight*int(niceZero) + percent/2) / percent), parent: parent}
	if g.Quota > 0 {
		period := g.Period
		if period == 0 {
			period = 100 * time.Millisecond
		}
		made.limited = &bandwidth{quota: int64(g.Quota), period: int64(period), burst: int64(g.Burst), runtime: int64(g.Quota)}
		s.limited = append(s.limited, made.limited)
	}
	for _, c := range s.cpus {
		q := &runqueue{cpu: c, group: made, entity: &entity{weight: made.weight, queue: c.root}}
		if parent != nil {
			q.entity.queue = parent.queues[c.id]
		}
		q.entity.own = q
		made.queues = append(made.queues, q)
	}
	s.groups = append(s.groups, made)
	known[g] = made
	return made
}

// addThreads makes the pods' groups and threads, asleep on processors in turns.
func (s *simulation) addThreads() {
	known := map[*Group]*group{}
	at := s.random.IntN(len(s.cpus))
	for i := range s.pods {
		g := s.addGroup(&s.pods[i].Group, known)
		for _, program := range s.pods[i].Threads {
			c := s.cpus[at%len(s.cpus)]
			at++
			t := &thread{pod: i, index: len(s.threads), cpu: c, recent: c, timer: c, program: program(), fresh: true}
			t.entity = entity{queue: g.queues[c.id], thread: t, weight: niceZero, average: average{load: 1}}
			s.threads = append(s.threads, t)
		}
	}
}

// addClocks makes the slots of all that happens, in the order in which happen expects them.
func (s *simulation) addClocks() {
	cpus, threads := len(s.cpus), len(s.threads)
	s.clocks = newClocks(cpus + threads + 1 + 2*len(s.limited) + len(s.machine.Stations))
	slot := cpus + threads
	s.clocks.set(slot, s.tick)
	slot++
	for _, b := range s.limited {
		b.refill, b.slack = slot, slot+1
		slot += 2
		b.refillAt = s.random.Int64N(b.period) + 1
		s.clocks.set(b.refill, b.refillAt)
	}
	for _, t := range s.machine.Stations {
		s.stations = append(s.stations, &station{servers: max(1, t.Servers), discipline: t.Discipline, slot: slot})
		slot++
	}
}

// begin lets all threads begin, some microseconds after each other.
func (s *simulation) begin() {
	for i, t := range s.threads {
		s.clocks.set(len(s.cpus)+i, int64(i+1)*int64(time.Microsecond))
		t.step = Step{Kind: Sleep}
	}
}
