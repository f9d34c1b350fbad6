package sizing

import (
	"math"
	"math/rand/v2"
)

// replication plays one pool event by event: PDP, with late jobs last or not.
type replication struct {
	classes  []Class
	lateLast bool
	crowds   []int // the number of waiting jobs from which it counts as crowded, for each class
	sources  []source
	lines    []line // of each class
	serving  completions
	waiting  int
	now      float64
	ties     *rand.Rand
	history  []record // of each class, since the start: the input of priorities
	tallies  []tally  // of each class, since the start
}

// record counts completed jobs.
type record struct{ met, total int }

// fraction returns the fraction of completed jobs that met their time: τ.
func (r record) fraction() float64 {
	if r.total == 0 {
		return 0
	}
	return float64(r.met) / float64(r.total)
}

// tally sums up jobs whose wait is over, and the queues that arrivals of all classes found. A job
// counts with the probability to be in time after its wait: the mean is the same, since the service
// is independent of the wait before it, and the variance is smaller than that of being in time.
type tally struct {
	within           float64
	total            int
	crowded, arrived int
}

func (t tally) minus(u tally) tally {
	return tally{t.within - u.within, t.total - u.total, t.crowded - u.crowded, t.arrived - u.arrived}
}

// source draws the jobs of a class: always the same for a seed, whatever becomes of
// them.
type source struct {
	gaps, services *rand.Rand
	next           float64 // arrival
}

func newReplication(classes []Class, lateLast bool, crowds []int, seed uint64, number int) *replication {
	stream := uint64(number) * uint64(2*len(classes)+1)
	draw := func() *rand.Rand {
		stream++
		return rand.New(rand.NewPCG(mix(seed), mix(stream)))
	}
	r := &replication{
		classes: classes, lateLast: lateLast, crowds: crowds, ties: draw(),
		lines: make([]line, len(classes)), history: make([]record, len(classes)), tallies: make([]tally, len(classes)),
	}
	for _, c := range classes {
		s := source{gaps: draw(), services: draw()}
		s.next = s.gaps.ExpFloat64() / c.Arrival // never, if there are none
		r.sources = append(r.sources, s)
	}
	return r
}

// mix scatters numbers that are close together: the finalizer of SplitMix64.
func mix(z uint64) uint64 {
	z += 0x9e3779b97f4a7c15
	z = (z ^ z>>30) * 0xbf58476d1ce4e5b9
	z = (z ^ z>>27) * 0x94d049bb133111eb
	return z ^ z>>31
}

// run simulates until the given number of jobs are completed, and returns the tallies of those
// after the warm-up. It ends early if stop is closed.
func (r *replication) run(servers, warmUp, jobs int, stop <-chan struct{}) []tally {
	const checked = 1 << 14 // jobs between looks at stop
	before := make([]tally, len(r.classes))
	for completed := 0; completed < warmUp+jobs; {
		k := r.nextArrival()
		if len(r.serving) == 0 || r.sources[k].next < r.serving[0].at {
			r.arrive(k, servers)
			continue
		}
		r.complete()
		completed++
		if completed == warmUp {
			copy(before, r.tallies)
		}
		if completed%checked == 0 {
			select {
			case <-stop:
				return nil
			default:
			}
		}
	}
	counted := make([]tally, len(r.classes))
	for k := range counted {
		counted[k] = r.tallies[k].minus(before[k])
	}
	return counted
}

// nextArrival returns the class of the next arrival.
func (r *replication) nextArrival() int {
	first := 0
	for k := range r.sources {
		if r.sources[k].next < r.sources[first].next {
			first = k
		}
	}
	return first
}

func (r *replication) arrive(k, servers int) {
	s := &r.sources[k]
	r.now = s.next
	s.next += s.gaps.ExpFloat64() / r.classes[k].Arrival
	for i, crowd := range r.crowds {
		r.tallies[i].arrived++
		if len(r.serving) == servers && r.waiting >= crowd {
			r.tallies[i].crowded++
		}
	}
	j := waiting{r.now, s.services.ExpFloat64() / r.classes[k].Service}
	if len(r.serving) < servers {
		r.serve(k, j)
		return
	}
	r.lines[k].push(j)
	r.waiting++
}

func (r *replication) serve(k int, j waiting) {
	c, t := &r.classes[k], &r.tallies[k]
	t.total++
	if left := c.SLA.Within - (r.now - j.arrived); left > 0 {
		t.within -= math.Expm1(-c.Service * left)
	}
	r.serving.push(completion{r.now + j.service, k, j.arrived})
}

func (r *replication) complete() {
	done := r.serving.pop()
	r.now = done.at
	h := &r.history[done.class]
	h.total++
	if r.now-done.arrived <= r.classes[done.class].SLA.Within {
		h.met++
	}
	if r.waiting > 0 {
		r.waiting--
		r.serve(r.choose())
	}
}

// choose takes the job that is served next out of its line.
func (r *replication) choose() (class int, j waiting) {
	class, late := -1, false
	best, ties := math.Inf(-1), 1
	for k := range r.lines {
		l := &r.lines[k]
		if r.lateLast {
			l.putOff(r.now - r.classes[k].SLA.Within)
		}
		if l.empty() || class >= 0 && !late && l.onlyLate() {
			continue
		}
		p := r.classes[k].SLA.Probability - r.history[k].fraction()
		switch {
		case class < 0, late && !l.onlyLate(), p > best:
			class, late, best, ties = k, l.onlyLate(), p, 1
		case p == best:
			ties++
			if r.ties.IntN(ties) == 0 {
				class = k
			}
		}
	}
	return class, r.lines[class].pop()
}
