package contention

import (
	"slices"

	"loadline.dev/loadline/pkg/model/poissonbinomial"
)

// Load is what the jobs of one node add up to at each of its resources. Adding a
// thread takes O(1) time where a resource has one server, and O(n) where it has more,
// n the number of threads there. A job with t threads at a resource with fewer servers
// takes O(t²) more. A Load is not safe for concurrent use.
type Load struct {
	servers   []int
	resources []resourceLoad

	processor int
	weighted  *weightedLoad // of the processor; nil if there is none

	interfering []interferer // jobs with an effect

	places   places      // of devices, among the resources; nil where all jobs are at the first of each
	newcomer map[int]int // device by resource
}

// NewLoad returns the load of an empty node whose i-th resource has servers[i]
// servers. The numbers must satisfy [ValidateServers], and stay as they are.
func NewLoad(servers []int) *Load {
	l := &Load{servers: servers, resources: make([]resourceLoad, len(servers)), processor: -1}
	for i, c := range servers {
		l.resources[i].init(c)
	}
	return l
}

// at returns the vector with each demand at the place of its device.
func (l *Load) at(v Vector) Vector {
	l.grow(func(servers []int) []int { return l.places.add(v, servers) })
	return l.places.put(v, len(l.servers))
}

// grow makes places for devices, which add appends to the servers of those that there are.
func (l *Load) grow(add func(servers []int) []int) {
	if l.places == nil {
		l.places, l.servers = places{}, slices.Clone(l.servers) // the first are those of others
	}
	l.servers = add(l.servers)
	for len(l.resources) < len(l.servers) {
		l.resources = append(l.resources, resourceLoad{})
		l.resources[len(l.resources)-1].init(l.servers[len(l.resources)-1])
	}
}

// NewSharedLoad returns what [NewLoad] does, for a node on which the resource of that index is shared by weights and
// limits: see [Load.AddShare].
func NewSharedLoad(servers []int, processor int) *Load {
	l := NewLoad(servers)
	l.processor, l.weighted = processor, newWeightedLoad()
	return l
}

// Newcomer says which device of some resources a job gets that comes next, by their indices: [Load.Prices] are of
// these then. Where nothing is said it is the first. See [Tying.Newcomer].
func (l *Load) Newcomer(device map[int]int) {
	if len(device) == 0 {
		return
	}
	l.newcomer = device
	l.grow(func(servers []int) []int {
		for i, number := range device {
			servers = l.places.need(place{i, number}, servers)
		}
		return servers
	})
}

// AddShare adds a job with a weight and a limit at the processor of a [NewSharedLoad]; both must be valid, and the rest
// of the share does not count. A job that needs more than its limit is throttled, and presses on no other meanwhile.
func (l *Load) AddShare(v Vector, share Share) { l.AddImportant(v, share, 1) }

// AddImportant adds what [Load.AddShare] does: a job whose waits count that many times in what a newcomer makes others wait.
// The importance must be finite and above 0, and is that of other jobs where it is 1.
func (l *Load) AddImportant(v Vector, share Share, importance float64) {
	v, _ = v.within(l.processor, share.Limit)
	l.add(v, importance)
	if l.processor < len(v) && !v[l.processor].idle() {
		d := v[l.processor]
		l.weighted.add(d, share.weight(), importance*d.sensitivity()/v.aloneToFirstOrder(l.servers))
	}
}

// Add adds a job, without a share. The vector must satisfy [Vector.Validate] and have no demand
// at a resource that the node does not list.
func (l *Load) Add(v Vector) { l.add(v, 1) }

func (l *Load) add(v Vector, importance float64) {
	if v.elsewhere() {
		v = l.at(v)
	}
	if v.interferes() {
		l.interfering = append(l.interfering, interferer{v, importance})
	}
	alone := v.aloneToFirstOrder(l.servers)
	for i, d := range v {
		if d.idle() {
			continue
		}
		for range d.threads() {
			l.resources[i].add(d.Pressure, importance*d.sensitivity()/alone)
		}
	}
}

// TotalLoading returns the total loading of resource i: the expected number of
// threads at it, by their pressures. The i-th component of p̄ in the paper.
func (l *Load) TotalLoading(i int) float64 { return l.resources[i].pressure }

// Dilation returns the first-order dilation λ of a job that is part of the
// load, at least 1, without interference: Eq. (5) of the D-factor paper where every
// resource has one server. It takes O(m·n) time.
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
	s := &l.resources[i]
	return d.sensitivity() * max(0, s.wait(d.Pressure)-d.selfWait(s.servers)) / v.aloneToFirstOrder(l.servers)
}

// resourceLoad is the load on one resource of one node.
//
// The sums suffice for one server. For more, present is the distribution of the
// number of threads at the resource, and marked[y] is the sum over the threads k of
// s_k times the probability that y threads other than k are there. Adding a thread
// convolves both with one Bernoulli variable, which only adds positive numbers; the
// inverse, to remove one, would lose what is negligible each time.
type resourceLoad struct {
	servers     int
	pressure    float64 // Σ q_k over threads
	sensitivity float64 // Σ s_k over threads, each times the importance of its job
	present     poissonbinomial.Distribution
	marked      []float64
	others      poissonbinomial.Distribution // for wait
}

// init makes it the load of an idle resource.
func (s *resourceLoad) init(servers int) {
	s.servers = servers
	if servers > 1 {
		s.present.Reset()
		s.marked = []float64{0}
	}
}

// add adds one thread, with a sensitivity as a fraction of its job's neutral time on
// this node, times its importance.
func (s *resourceLoad) add(pressure, sensitivity float64) {
	s.pressure += pressure
	s.sensitivity += sensitivity
	if s.servers == 1 {
		return
	}
	s.marked = poissonbinomial.Convolve(s.marked, pressure)
	for y, p := range s.present.Probability() {
		s.marked[y] += sensitivity * p
	}
	s.present.Add(pressure)
}

// wait returns E[(N + 1 − c)^+] / c, N the number of threads that one thread of this
// pressure, itself part of the load, finds at the resource.
func (s *resourceLoad) wait(pressure float64) float64 {
	if s.servers == 1 {
		return max(0, s.pressure-pressure)
	}
	s.others.Without(&s.present, pressure)
	return s.others.Excess(s.servers) / float64(s.servers)
}
