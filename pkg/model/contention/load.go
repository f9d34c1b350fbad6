package contention

import (
	"slices"

	"loadline.dev/loadline/pkg/model/poissonbinomial"
)

// Load is what the jobs of one node add up to at each of its resources. Where a
// resource has one server, adding or removing a job takes O(1) time; where it
// has more, adding a thread takes O(n) and removing a job O(n²), n the number
// of threads there. A job with t threads at a resource with fewer servers takes
// O(t²) more. A Load is not safe for concurrent use.
type Load struct {
	servers  []int
	stations []station
}

// NewLoad returns the load of an empty node whose i-th resource has servers[i]
// servers. The numbers must satisfy [ValidateServers], and stay as they are.
func NewLoad(servers []int) *Load {
	l := &Load{servers: servers, stations: make([]station, len(servers))}
	for i, c := range servers {
		l.stations[i].servers = c
		l.stations[i].reset()
	}
	return l
}

// Reset removes every job and keeps the memory for the next.
func (l *Load) Reset() {
	for i := range l.stations {
		l.stations[i].reset()
	}
}

// Add adds a job. The vector must satisfy [Vector.Validate] and have no demand
// at a resource that the node does not list.
func (l *Load) Add(v Vector) {
	alone := v.aloneToFirstOrder(l.servers)
	for i, d := range v {
		if d.idle() {
			continue
		}
		s, thread := &l.stations[i], newThread(d, alone)
		s.own += thread.ownWait(d, s.servers)
		for range d.threads() {
			s.add(thread)
		}
	}
}

// Remove takes away a job that was added before, and restores the load to what
// it would be without it, to rounding.
func (l *Load) Remove(v Vector) {
	alone := v.aloneToFirstOrder(l.servers)
	for i, d := range v {
		if !d.idle() {
			l.stations[i].remove(d, alone)
		}
	}
}

// TotalLoading returns the total loading of resource i: the expected number of
// threads at it, by their pressures. The i-th component of p̄ in the paper.
func (l *Load) TotalLoading(i int) float64 { return l.stations[i].pressure }

// TotalWait returns W, the sum over the threads on the node of what each waits for
// other jobs, as a multiple of its neutral time. For one server and symmetric jobs, the
// total dilation of Eq. (14) of the D-factor paper is n + W.
func (l *Load) TotalWait() float64 {
	w := 0.0
	for i := range l.stations {
		w += l.stations[i].totalWait()
	}
	return w
}

// Dilation returns the first-order dilation λ of a job that is part of the
// load, at least 1: Eq. (5) of the D-factor paper where every resource has one
// server. It takes O(m·n) time.
func (l *Load) Dilation(v Vector) float64 {
	dilation := 1.0
	for i := range v {
		dilation += l.Delay(v, i)
	}
	return dilation
}

// Delay returns what waiting for other jobs at resource i adds to the dilation of a
// job that is part of the load, at least 0. Over all resources that adds up to its
// dilation less 1, so it says which resource is to blame.
func (l *Load) Delay(v Vector, i int) float64 {
	d := v[i]
	if d.idle() {
		return 0
	}
	s := &l.stations[i]
	return d.sensitivity() * max(0, s.wait(d.Pressure)-d.selfWait(s.servers)) / v.aloneToFirstOrder(l.servers)
}

// station is the load on one resource of one node.
//
// The sums suffice for one server. For more, present is the distribution of the
// number of threads at the resource, and marked[y] is the sum over the threads k of
// s_k times the probability that y threads other than k are there. Adding a thread
// convolves both with one Bernoulli variable, which only adds positive numbers. The
// inverse loses what is negligible each time, so removing one starts again from the
// threads that stay.
type station struct {
	servers     int
	pressure    float64 // Σ q_k over threads
	sensitivity float64 // Σ s_k over threads
	self        float64 // Σ s_k q_k over threads
	own         float64 // what the threads of each job wait when it is alone
	threads     []thread
	present     poissonbinomial.Distribution
	marked      []float64
	others      poissonbinomial.Distribution // for wait
}

// thread is a thread of a job at a resource.
type thread struct {
	pressure    float64
	sensitivity float64 // as a fraction of the job's neutral time on this node
}

// newThread returns a thread of a job whose time alone is a multiple of its own time.
func newThread(d Demand, alone float64) thread {
	return thread{pressure: d.Pressure, sensitivity: d.sensitivity() / alone}
}

// ownWait returns what the threads of a demand wait in all when the job is alone.
func (t thread) ownWait(d Demand, servers int) float64 {
	return float64(d.threads()) * t.sensitivity * d.selfWait(servers)
}

func (s *station) reset() {
	s.pressure, s.sensitivity, s.self, s.own = 0, 0, 0, 0
	if s.servers > 1 {
		s.threads = s.threads[:0]
		s.present.Reset()
		s.marked = append(s.marked[:0], 0)
	}
}

// add adds one thread.
func (s *station) add(t thread) {
	s.pressure += t.pressure
	s.sensitivity += t.sensitivity
	s.self += t.sensitivity * t.pressure
	if s.servers == 1 {
		return
	}
	s.threads = append(s.threads, t)
	s.marked = poissonbinomial.Convolve(s.marked, t.pressure)
	for y, p := range s.present.Probability() {
		s.marked[y] += t.sensitivity * p
	}
	s.present.Add(t.pressure)
}

// remove removes all threads of one job whose time alone is a multiple of its own time.
func (s *station) remove(d Demand, alone float64) {
	n, gone := d.threads(), newThread(d, alone)
	own := max(0, s.own-gone.ownWait(d, s.servers))
	if s.servers == 1 {
		s.pressure = max(0, s.pressure-float64(n)*gone.pressure)
		s.sensitivity = max(0, s.sensitivity-float64(n)*gone.sensitivity)
		s.self = max(0, s.self-float64(n)*gone.sensitivity*gone.pressure)
		s.own = own
		return
	}
	stay := slices.Clone(s.threads)
	for range n {
		if k := slices.Index(stay, gone); k >= 0 {
			stay = slices.Delete(stay, k, k+1)
		}
	}
	s.reset()
	for _, t := range stay {
		s.add(t)
	}
	s.own = own
}

// totalWait returns what the threads wait for those of other jobs.
func (s *station) totalWait() float64 {
	if s.servers == 1 {
		return max(0, s.sensitivity*s.pressure-s.self-s.own)
	}
	w := 0.0
	for y := s.servers; y < len(s.marked); y++ {
		w += s.marked[y] * float64(y+1-s.servers)
	}
	return max(0, w/float64(s.servers)-s.own)
}

// wait returns E[(N + 1 − c)^+] / c, N the number of threads that one thread of this
// pressure, itself part of the load, finds at the resource.
func (s *station) wait(pressure float64) float64 {
	if s.servers == 1 {
		return max(0, s.pressure-pressure)
	}
	s.others.Without(&s.present, pressure)
	return s.others.Excess(s.servers) / float64(s.servers)
}
