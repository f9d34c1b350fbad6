package contention

import (
	"encoding/binary"
	"fmt"
	"math"
	"slices"

	"gonum.org/v1/gonum/floats"

	"loadline.dev/loadline/pkg/model/gps"
	"loadline.dev/loadline/pkg/model/loading"
	"loadline.dev/loadline/pkg/model/queueing"
)

// Sharing says how a resource is shared among jobs, where not equally: the processor of a node, by control groups.
type Sharing struct {
	// Resource is the index of the resource.
	Resource int
	// Groups are the inner nodes of the tree of shares; see [gps.Network]. Their limits are as those of jobs.
	Groups []gps.Group
	// Shares holds the share of each job.
	Shares []loading.Share
}

// EqualShares returns how a number of jobs share a resource to which all are equally entitled: each by the same weight, which its
// threads share. That is how pods of one request share a processor, since each has a control group. [Predict] instead gives
// every thread an equal share, as a device with one queue does.
func EqualShares(resource, jobs int) Sharing {
	return Sharing{Resource: resource, Shares: make([]loading.Share, jobs)}
}

// PredictSharing returns the same as [Predict] for jobs that share one resource by weights and limits.
//
// The dilations by equal shares are corrected by a ratio from a model of weights and limits, package gps: a job's time at each
// resource, over its time there with equal shares and no limit. So equal weights of jobs with a thread each, without limits and known
// bursts, give the answer of Predict to the last digit, and errors common to both solutions of that model cancel. The throttling of a job alone,
// by its own limit, is part of its neutral time; among others it is throttled for less, as it waits for them instead.
//
// The error is that of Predict, or names the first invalid share.
func PredictSharing(jobs []loading.Vector, servers []int, sharing Sharing, options queueing.Options) (*Prediction, error) {
	if _, _, err := sharing.Prepare(jobs, servers); err != nil {
		return nil, err
	}
	p, err := predict(sharing.affordable(jobs, servers), servers, &sharing, options)
	if err != nil {
		return nil, err
	}
	n := sharing.network(p.inflated, p.servers)
	if sharing.equal(n) && !sharing.wakes(p.inflated, p.servers) {
		return p, nil
	}
	if err := p.share(n, sharing, options); err != nil {
		return nil, err
	}
	return p, nil
}

// validate returns an error unless there is a valid share for each job, of one of the resources.
func (s *Sharing) validate(jobs []loading.Vector, servers []int) error {
	if len(s.Shares) != len(jobs) {
		return fmt.Errorf("shares: %d for %d jobs", len(s.Shares), len(jobs))
	}
	if s.Resource < 0 || s.Resource >= len(servers) {
		return fmt.Errorf("resource: %d is not one of %d", s.Resource, len(servers))
	}
	return s.network(jobs, servers).Validate()
}

// equal reports whether all jobs of a network are siblings of one weight and one thread, with no limit below their demand. The
// threads of a job share its weight, so that those of jobs with several get less than others do.
func (s *Sharing) equal(n *gps.Network) bool {
	for j, share := range s.Shares {
		job := &n.Jobs[j]
		if share.Weight != s.Shares[0].Weight || share.Group != s.Shares[0].Group || len(n.Jobs) > 1 && job.Threads > 1 && job.Demands[0] > 0 {
			return false
		}
	}
	return len(quotasOf(n, make([]bursts, len(n.Jobs)))) == 0
}

// network returns the jobs as package gps takes them, with the shared resource first.
func (s *Sharing) network(jobs []loading.Vector, servers []int) *gps.Network {
	n := &gps.Network{Servers: s.first(servers), Groups: s.Groups}
	for j, v := range jobs {
		share := s.Shares[j]
		n.Jobs = append(n.Jobs, gps.Job{
			Demands: s.demands(v, len(servers)), Threads: s.threads(v),
			Weight: share.Weight, Limit: share.Limit, Burst: share.Burst, Group: share.Group,
		})
	}
	return n
}

// bursts returns how each job computes.
func (s *Sharing) bursts(jobs []loading.Vector) []bursts {
	all := make([]bursts, len(jobs))
	for j, v := range jobs {
		all[j] = s.burstsOf(j, v)
	}
	return all
}

func (s *Sharing) burstsOf(j int, v loading.Vector) bursts {
	mean := s.burst(v)
	if mean == 0 {
		return bursts{}
	}
	return bursts{mean, s.Shares[j].Quota}
}

// first returns values by resource with that of the shared one first.
func (s *Sharing) first(values []int) []int {
	ordered := []int{values[s.Resource]}
	for i, v := range values {
		if i != s.Resource {
			ordered = append(ordered, v)
		}
	}
	return ordered
}

// station returns where a resource stands in the network.
func (s *Sharing) station(resource int) int {
	switch {
	case resource == s.Resource:
		return 0
	case resource < s.Resource:
		return resource + 1
	default:
		return resource
	}
}

// threads returns how many threads a job has in package gps: those at the shared resource, or at another one if it needs that one only.
func (s *Sharing) threads(v loading.Vector) int {
	if s.Resource < len(v) && v[s.Resource].Loading > 0 {
		return v[s.Resource].ThreadCount()
	}
	most := 1
	for _, d := range v {
		if d.Loading > 0 {
			most = max(most, d.ThreadCount())
		}
	}
	return most
}

// demands returns those of each of these threads, by station. Where fewer or more of the job's threads are at another resource, they are there for
// as long together, but for no more than all that the shared resource leaves of their time.
func (s *Sharing) demands(v loading.Vector, resources int) []float64 {
	demands := make([]float64, resources)
	threads, others := float64(s.threads(v)), 0.0
	for i, d := range v {
		demand := d.Loading
		if i != s.Resource {
			demand *= float64(d.ThreadCount()) / threads
			others += demand
		}
		demands[s.station(i)] = demand
	}
	if left := max(0, 1-demands[0]); others > left {
		floats.Scale(left/others, demands[1:])
	}
	return demands
}

// peersOf returns the network in which every thread has an equal share and no limit.
func peersOf(n *gps.Network) (equal *gps.Network, first []int) {
	equal = &gps.Network{Servers: n.Servers}
	for _, j := range n.Jobs {
		first = append(first, len(equal.Jobs))
		for range max(1, j.Threads) {
			equal.Jobs = append(equal.Jobs, gps.Job{Demands: j.Demands})
		}
	}
	return equal, first
}

// share corrects the dilations, and the inputs of the delays.
func (p *Prediction) share(n *gps.Network, s Sharing, options queueing.Options) error {
	together, throttled, err := throttle(n, s.bursts(p.inflated))
	if err != nil {
		return err
	}
	peers, first := peersOf(n)
	equal, err := gps.Solve(peers, gps.Options{})
	if err != nil {
		return err
	}
	p.sharing, p.delays = &s, make([][]float64, len(p.jobs))
	p.paces, p.throttling = make([]float64, len(p.jobs)), make([]float64, len(p.jobs))
	woken := s.woken(p.inflated, p.servers, together, throttled)
	singles := singles{sharing: &s, servers: p.servers, options: options, known: map[string]single{}}
	for j, v := range p.inflated {
		alone, held, err := singles.of(n, j, v)
		if err != nil {
			return fmt.Errorf("job %d alone: %w", j, err)
		}
		response, neutral, wait := 1+throttled[j], neutralTime(v, alone, held), 0.0
		p.delays[j] = make([]float64, len(p.servers))
		for i, d := range v {
			at := s.station(i)
			here := (1 + p.wait(j, i)) * together.Stretches[j][at] / equal.Stretches[first[j]][at]
			if at == 0 {
				here += woken[j]
			}
			response += d.Loading * (here - 1)
			if p.found(j, i) > 0 {
				p.delays[j][i] = d.Loading * max(0, here-alone[i])
			}
			wait += p.delays[j][i]
		}
		p.Dilations[j] = 1
		if wait > 0 {
			p.Dilations[j] = max(1, response/neutral)
		}
		for i := range p.delays[j] {
			if wait > 0 {
				p.delays[j][i] *= (p.Dilations[j] - 1) / wait
			}
		}
		p.paces[j] = 1 / math.Max(response, neutral)
		p.throttling[j] = max(1, neutral/p.alone[p.class[j]])
	}
	return p.slow(func(j int, v loading.Vector) (float64, error) {
		with := *n
		with.Jobs = slices.Clone(n.Jobs)
		with.Jobs[j].Demands = s.demands(v, len(p.servers))
		alone, held, err := singles.of(&with, j, v)
		return neutralTime(v, alone, held), err
	})
}

// singles are jobs alone, equal ones being solved once.
type singles struct {
	sharing *Sharing
	servers []int
	options queueing.Options
	known   map[string]single
}

// single is the result of [Sharing.alone].
type single struct {
	alone     []float64
	throttled float64
}

// of returns the result of job j of a network alone; its vector is v.
func (s *singles) of(n *gps.Network, j int, v loading.Vector) (alone []float64, throttled float64, err error) {
	share := s.sharing.Shares[j]
	key := binary.AppendUvarint(binary.AppendUvarint(nil, uint64(len(v))), uint64(share.Group))
	for _, value := range []float64{share.Limit, share.Quota, share.Burst, s.sharing.burst(v)} {
		key = loading.AppendFloat(key, value)
	}
	key = v.AppendQueueKey(key)
	found, known := s.known[string(key)]
	if !known {
		if found.alone, found.throttled, err = s.sharing.alone(n, j, v, s.servers, s.options); err != nil {
			return nil, 0, err
		}
		s.known[string(key)] = found
	}
	return found.alone, found.throttled, nil
}

// neutralTime returns the time of a job alone, in own times: alone holds the factor by which it is longer than the demand at each
// resource, and throttled the time for which it is throttled.
func neutralTime(v loading.Vector, alone []float64, throttled float64) float64 {
	neutral := 1 + throttled
	for i, times := range alone {
		neutral += v[i].Loading * (times - 1)
	}
	return neutral
}

// Throttling returns the factor by which its own limit lengthens the time of job j alone, at least 1. That is no dilation, which is
// relative to the time with the limit.
func (p *Prediction) Throttling(j int) float64 {
	if p.throttling == nil {
		return 1
	}
	return p.throttling[j]
}

// alone returns the ratio of the time of a job alone at each resource to its demand there, and the time for which it is throttled,
// in own times.
func (s *Sharing) alone(n *gps.Network, j int, v loading.Vector, servers []int, options queueing.Options) (alone []float64, throttled float64, err error) {
	alone = make([]float64, len(v))
	limited, held, err := throttle(n.Alone(j), []bursts{s.burstsOf(j, v)})
	if err != nil {
		return nil, 0, err
	}
	if v.ThreadsAt(s.Resource) == 1 && !v.Oversubscribes(servers) {
		for i := range v {
			alone[i] = limited.Stretches[0][s.station(i)]
		}
		return alone, held[0], nil
	}
	single, err := Predict([]loading.Vector{v}, servers, options)
	if err != nil {
		return nil, 0, err
	}
	peers, _ := peersOf(n.Alone(j))
	equal, err := gps.Solve(peers, gps.Options{})
	if err != nil {
		return nil, 0, err
	}
	for i := range v {
		at := s.station(i)
		alone[i] = (1 + single.Wait(0, i)) * limited.Stretches[0][at] / equal.Stretches[0][at]
	}
	if s.Resource < len(v) {
		alone[s.Resource] += s.woken([]loading.Vector{v}, servers, limited, held)[0]
	}
	return alone, held[0], nil
}

// Distinct returns the shares as if there were no groups, and for each job the index of the first job that is equal to it and has
// an equal share.
func (s *Sharing) Distinct(jobs []loading.Vector) (shares []loading.Share, first []int) {
	shares, first = s.flat(), make([]int, len(jobs))
	known := map[string]int{}
	var key []byte
	for j, share := range shares {
		key = loading.AppendFloat(loading.AppendFloat(jobs[j].AppendKey(key[:0]), share.Weight), share.Limit)
		key = loading.AppendFloat(key, s.burst(jobs[j]))
		at, is := known[string(key)]
		if !is {
			at = j
			known[string(key)] = at
		}
		first[j] = at
	}
	return shares, first
}

// flat returns the shares as if there were no groups: a job gets its part of its group's weight, in proportion to its weight among
// the members, all of which are taken to want the resource.
func (s *Sharing) flat() []loading.Share {
	members := make([]float64, max(1, len(s.Groups))) // Σ weights
	for _, share := range s.Shares {
		members[share.Group] += share.EffectiveWeight()
	}
	parent := func(g int) int { return s.Groups[g].Parent }
	for g := len(s.Groups) - 1; g > 0; g-- {
		if members[g] > 0 {
			members[parent(g)] += s.Groups[g].Weight
		}
	}
	weights := make([]float64, len(members)) // that a weight of 1 in the group is worth
	weights[0] = 1
	for g := 1; g < len(s.Groups); g++ {
		if members[g] > 0 {
			weights[g] = weights[parent(g)] * s.Groups[g].Weight / members[g]
		}
	}
	flat := slices.Clone(s.Shares)
	for j := range flat {
		flat[j].Weight, flat[j].Group = flat[j].EffectiveWeight()*weights[flat[j].Group], 0
	}
	return flat
}

// Prepare validates the jobs and their shares, and returns the jobs with the threads that count, with a separate resource for each
// device, and the servers of these resources.
func (s *Sharing) Prepare(jobs []loading.Vector, servers []int) ([]loading.Vector, []int, error) {
	if err := loading.ValidateServers(servers); err != nil {
		return nil, nil, err
	}
	for j, v := range jobs {
		if err := v.ValidateOn(servers); err != nil {
			return nil, nil, fmt.Errorf("job %d: %w", j, err)
		}
	}
	if err := s.validate(jobs, servers); err != nil {
		return nil, nil, err
	}
	_, jobs, servers = loading.SplitDevices(jobs, servers)
	return loading.InEffect(jobs, servers), servers, nil
}
