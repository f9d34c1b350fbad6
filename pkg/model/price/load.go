package price

import (
	"slices"

	"loadline.dev/loadline/pkg/model/interference"
	"loadline.dev/loadline/pkg/model/loading"
	"loadline.dev/loadline/pkg/model/poissonbinomial"
)

// Load holds the sums over the jobs of one node at each of its resources. [loading.InEffect] bounds the threads that count there. The
// first query computes the sums, each thread in O(1) time where a resource has one server and in O(n) where it has more, n
// the number of threads there: at most some milliseconds in all, unless there are thousands of jobs. A Load is not safe for
// concurrent use.
type Load struct {
	servers []int
	index   loading.DeviceIndex // nil where all jobs are at the first device of each resource

	jobs   []loading.Vector // split by device
	shares []jobShare
	next   map[int]int // device by resource

	processor int  // −1 for none
	shared    bool // by weights

	// What the first summed jobs add up to, each with at most limits[i] threads at resource i.
	summed      int
	limits      []int
	resources   []resourceLoad
	weighted    *weightedLoad             // of the processor; nil if there is none
	interfering []interference.Interferer // jobs with an effect
}

// jobShare is the share of a job of a load.
type jobShare struct {
	weight     float64 // 0 for one without a share
	importance float64
}

// NewLoad returns the load of an empty node whose i-th resource has servers[i] servers. The numbers must satisfy
// [loading.ValidateServers]; the caller must not change them afterwards.
func NewLoad(servers []int) *Load { return &Load{servers: servers, processor: -1} }

// split returns the vector with each demand at the index of its device.
func (l *Load) split(v loading.Vector) loading.Vector {
	l.extend(func(servers []int) []int { return l.index.AddAll(v, servers) })
	return l.index.Split(v, len(l.servers))
}

// extend adds devices, whose servers add appends to those of the node.
func (l *Load) extend(add func(servers []int) []int) {
	if l.index == nil {
		l.index, l.servers = loading.DeviceIndex{}, slices.Clone(l.servers) // the caller keeps its own
	}
	l.servers = add(l.servers)
}

// NewSharedLoad returns the same as [NewLoad] for a node that shares the resource with the given index by weights and limits:
// see [Load.AddShare].
func NewSharedLoad(servers []int, processor int) *Load {
	return &Load{servers: servers, processor: processor, shared: true}
}

// AssignNext sets the device that the next job gets, by the index of its resource. [Load.Prices] are the prices of these
// devices, and of the first device of other resources. See [loading.Assignments.Next].
func (l *Load) AssignNext(device map[int]int) {
	if len(device) == 0 {
		return
	}
	l.next = device
	l.extend(func(servers []int) []int {
		for i, number := range device {
			servers = l.index.Add(i, number, servers)
		}
		return servers
	})
}

// AddShare adds a job with a weight and a limit at the processor of a [NewSharedLoad]; both must be valid, and the rest
// of the share does not count. A job that needs more than its limit is throttled, and presses on no other meanwhile.
func (l *Load) AddShare(v loading.Vector, share loading.Share) { l.AddImportant(v, share, 1) }

// AddImportant adds a job as [Load.AddShare] does, and multiplies its waits by the importance in the cost that a candidate
// inflicts on others. The importance must be finite and above 0; 1 is that of ordinary jobs.
func (l *Load) AddImportant(v loading.Vector, share loading.Share, importance float64) {
	v, _ = v.Limited(l.processor, share.Limit)
	l.add(v, jobShare{weight: share.EffectiveWeight(), importance: importance})
}

// Add adds a job, without a share. The vector must satisfy [loading.Vector.Validate] and have no demand
// at a resource that the node does not list.
func (l *Load) Add(v loading.Vector) { l.add(v, jobShare{importance: 1}) }

func (l *Load) add(v loading.Vector, share jobShare) {
	if v.OnLaterDevice() {
		v = l.split(v)
	}
	l.jobs, l.shares = append(l.jobs, v), append(l.shares, share)
}

// sum adds up the jobs that were added since it was last called, or all of them where fewer of their threads count now.
func (l *Load) sum() {
	limits := l.limits
	if l.summed < len(l.jobs) || len(limits) < len(l.servers) {
		limits = loading.ThreadLimits(l.jobs, l.servers)
	}
	if !slices.Equal(limits, l.limits) {
		l.clear(limits)
	}
	for ; l.summed < len(l.jobs); l.summed++ {
		l.include(l.jobs[l.summed], l.shares[l.summed])
	}
}

// clear resets the load to no jobs, and sets the limits on the threads of a job that count at each resource.
func (l *Load) clear(limits []int) {
	l.limits, l.summed, l.interfering = limits, 0, nil
	l.resources = make([]resourceLoad, len(l.servers))
	for i, c := range l.servers {
		l.resources[i].init(c, c > 1 || l.shared && i == l.processor)
	}
	if l.shared {
		l.weighted = &weightedLoad{}
	}
}

// include adds a job to the sums.
func (l *Load) include(v loading.Vector, share jobShare) {
	v = v.Reduced(l.limits)
	if v.Interferes() {
		l.interfering = append(l.interfering, interference.Interferer{Vector: v, Importance: share.importance})
	}
	alone := v.AloneToFirstOrder(l.servers)
	for i, d := range v {
		if d.Idle() {
			continue
		}
		sensitivity := share.importance * d.EffectiveSensitivity() / alone
		for range d.ThreadCount() {
			l.resources[i].add(d.Pressure, sensitivity)
		}
		if l.weighted != nil && i == l.processor && share.weight > 0 {
			l.weighted.add(d, share.weight, sensitivity)
		}
	}
}

// TotalLoading returns the total loading of resource i: the expected number of
// threads at it, by their pressures. The i-th component of p̄ in the paper.
func (l *Load) TotalLoading(i int) float64 {
	l.sum()
	return l.resources[i].pressure
}

// Dilation returns the first-order dilation λ of a job that is part of the
// load, at least 1, without interference: Eq. (5) of the D-factor paper where every
// resource has one server. It takes O(m·n) time.
func (l *Load) Dilation(v loading.Vector) float64 {
	l.sum()
	v = v.Reduced(l.limits)
	dilation := 1.0
	for i := range v {
		dilation += l.delay(v, i)
	}
	return dilation
}

// Delay returns the part of the dilation of a job of the load that its waits for other jobs at resource i add, at least 0.
// The parts of all resources add up to its dilation less 1, so they say which resource is to blame.
func (l *Load) Delay(v loading.Vector, i int) float64 {
	l.sum()
	return l.delay(v.Reduced(l.limits), i)
}

func (l *Load) delay(v loading.Vector, i int) float64 {
	d := v[i]
	if d.Idle() {
		return 0
	}
	s := &l.resources[i]
	return d.EffectiveSensitivity() * max(0, s.wait(d.Pressure)-d.SelfWait(s.servers)) / v.AloneToFirstOrder(l.servers)
}

// resourceLoad is the load on one resource of one node.
//
// The sums suffice for one server. For more, or where weights count, present is the distribution of the number of threads at
// the resource, and marked[y] is the sum over the threads k of s_k times the probability that y threads other than k are
// there. Adding a thread convolves both with one Bernoulli variable, which only adds positive numbers; the inverse, to remove
// one, would lose the negligible terms each time.
type resourceLoad struct {
	servers     int
	distributed bool    // whether there are present and marked
	pressure    float64 // Σ q_k over threads
	sensitivity float64 // Σ s_k over threads, each times the importance of its job
	present     poissonbinomial.Distribution
	marked      []float64
	others      poissonbinomial.Distribution // for wait
}

// init resets the load to that of an idle resource.
func (s *resourceLoad) init(servers int, distributed bool) {
	s.servers, s.distributed = servers, distributed
	if distributed {
		s.present.Reset()
		s.marked = []float64{0}
	}
}

// idle reports whether there is no thread.
func (s *resourceLoad) idle() bool { return s.pressure == 0 && s.sensitivity == 0 }

// add adds one thread, with a sensitivity as a fraction of its job's neutral time on
// this node, times its importance.
func (s *resourceLoad) add(pressure, sensitivity float64) {
	s.pressure += pressure
	s.sensitivity += sensitivity
	if !s.distributed {
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
