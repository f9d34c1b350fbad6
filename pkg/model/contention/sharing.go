package contention

import (
	"cmp"
	"encoding/binary"
	"fmt"
	"math"
	"slices"

	"loadline.dev/loadline/pkg/model/gps"
	"loadline.dev/loadline/pkg/model/queueing"
)

// Share is a job's claim on a resource that is shared by weights and limits. The zero value is one of weight 1.
type Share struct {
	// Weight is what the job gets in proportion to among its siblings, finite and above 0; 0 means 1. Its threads
	// share it.
	Weight float64
	// Limit is how many servers the job may use on average, finite and at least 0; 0 means no limit. It is a quota for
	// periods that are long beside bursts: a job that would use less is not held back, and one that would use more is
	// throttled until it does not.
	Limit float64
	// Burst is how long the job is served there per visit, on average, in a unit that is the same for all jobs; 0
	// means 1. It matters where weights are unequal.
	Burst float64
	// Group is the job's group in [Sharing].
	Group int
}

// Sharing says how a resource is shared among jobs, where not equally: the processor of a node, by control groups.
type Sharing struct {
	// Resource is the index of the resource.
	Resource int
	// Groups are the inner nodes of the tree of shares; see [gps.Network]. Their limits are as those of jobs.
	Groups []gps.Group
	// Shares holds the share of each job.
	Shares []Share
}

// EqualShares returns how a number of jobs share a resource that all have an equal claim on: each by the same weight, which its
// threads share. That is how pods of one request share a processor, since each has a control group. [Predict] instead gives
// every thread an equal share, as a device with one queue does.
func EqualShares(resource, jobs int) Sharing {
	return Sharing{Resource: resource, Shares: make([]Share, jobs)}
}

// PredictSharing returns what [Predict] does for jobs that share one resource by weights and limits.
//
// The dilations by equal shares are corrected by what weights and limits change in a model that knows both, package
// gps: what a job takes at each resource, over what it takes there with equal shares and no limit. So equal weights
// of jobs with a thread each, without limits, give the answer of Predict to the last digit, and the errors that both solutions of that model have
// in common cancel. What a job is throttled alone, by its own limit, is part of its neutral time; among others it is
// throttled for less, as it waits for them instead.
//
// The error is that of Predict, or names the first invalid share.
func PredictSharing(jobs []Vector, servers []int, sharing Sharing, options queueing.Options) (*Prediction, error) {
	if _, _, err := sharing.prepare(jobs, servers); err != nil {
		return nil, err
	}
	p, err := predict(sharing.affordable(jobs, servers), servers, &sharing, options)
	if err != nil {
		return nil, err
	}
	n := sharing.network(p.inflated, p.servers)
	if sharing.equal(n) {
		return p, nil
	}
	if err := p.share(n, sharing, options); err != nil {
		return nil, err
	}
	return p, nil
}

// validate returns an error unless there is a valid share for each job, of one of the resources.
func (s *Sharing) validate(jobs []Vector, servers []int) error {
	if len(s.Shares) != len(jobs) {
		return fmt.Errorf("shares: %d for %d jobs", len(s.Shares), len(jobs))
	}
	if s.Resource < 0 || s.Resource >= len(servers) {
		return fmt.Errorf("resource: %d is not one of %d", s.Resource, len(servers))
	}
	return s.network(jobs, servers).Validate()
}

// equal reports whether all jobs of a network are siblings of one weight and one thread, of which no limit asks for
// less. The threads of a job share its weight, so that those of jobs with several do not get what others do.
func (s *Sharing) equal(n *gps.Network) bool {
	for j, share := range s.Shares {
		if share.Weight != s.Shares[0].Weight || share.Group != s.Shares[0].Group || len(n.Jobs) > 1 && n.Jobs[j].Threads > 1 {
			return false
		}
	}
	return len(quotasOf(n)) == 0
}

// network returns the jobs as package gps takes them, with the shared resource first.
func (s *Sharing) network(jobs []Vector, servers []int) *gps.Network {
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

func (s *Sharing) demands(v Vector, resources int) []float64 {
	demands := make([]float64, resources)
	for i, d := range v {
		demands[s.station(i)] = d.Loading
	}
	return demands
}

func (s *Sharing) threads(v Vector) int {
	if s.Resource >= len(v) {
		return 1
	}
	return v[s.Resource].threads()
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

// share corrects the dilations, and what the delays come from.
func (p *Prediction) share(n *gps.Network, s Sharing, options queueing.Options) error {
	together, throttled, err := throttle(n)
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
	return p.slow(func(j int, v Vector) (float64, error) {
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

// single is what [Sharing.alone] returns.
type single struct {
	alone     []float64
	throttled float64
}

// of returns how job j of a network, whose vector is v, fares alone.
func (s *singles) of(n *gps.Network, j int, v Vector) (alone []float64, throttled float64, err error) {
	share := s.sharing.Shares[j]
	key := binary.AppendUvarint(binary.AppendUvarint(nil, uint64(len(v))), uint64(share.Group))
	key = v.appendQueueKey(appendFloat(appendFloat(key, share.Limit), share.Burst))
	found, known := s.known[string(key)]
	if !known {
		if found.alone, found.throttled, err = s.sharing.alone(n, j, v, s.servers, s.options); err != nil {
			return nil, 0, err
		}
		s.known[string(key)] = found
	}
	return found.alone, found.throttled, nil
}

// neutralTime returns what a job takes alone, in own times, that is so many times longer than its demand at each resource
// and throttled for some time.
func neutralTime(v Vector, alone []float64, throttled float64) float64 {
	neutral := 1 + throttled
	for i, times := range alone {
		neutral += v[i].Loading * (times - 1)
	}
	return neutral
}

// Throttling returns by how much its own limit lengthens what job j takes alone, at least 1. That is no dilation, which is
// relative to the time with the limit.
func (p *Prediction) Throttling(j int) float64 {
	if p.throttling == nil {
		return 1
	}
	return p.throttling[j]
}

// alone returns by how much longer than its demand at each resource a job alone is there, and how long it is
// throttled, in own times.
func (s *Sharing) alone(n *gps.Network, j int, v Vector, servers []int, options queueing.Options) (alone []float64, throttled float64, err error) {
	alone = make([]float64, len(v))
	limited, held, err := throttle(n.Alone(j))
	if err != nil {
		return nil, 0, err
	}
	if s.threads(v) == 1 && !v.crowds(servers) {
		for i := range v {
			alone[i] = limited.Stretches[0][s.station(i)]
		}
		return alone, held[0], nil
	}
	single, err := Predict([]Vector{v}, servers, options)
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
	return alone, held[0], nil
}

// CompletionsSharing returns what [CompletionsBy] does for jobs that share one resource by weights and limits: it holds
// the share of each run. Each start and completion takes a solution, unless all share it alike as jobs of one thread.
func CompletionsSharing(runs []Run, servers []int, sharing Sharing, options queueing.Options) ([]float64, error) {
	if len(sharing.Shares) != len(runs) {
		return nil, fmt.Errorf("shares: %d for %d runs", len(sharing.Shares), len(runs))
	}
	for j, r := range runs {
		if err := r.validate(servers); err != nil {
			return nil, fmt.Errorf("run %d: %w", j, err)
		}
	}
	if sharing.byThreads(runs) {
		return CompletionsBy(runs, servers, options)
	}
	runs, servers = splitRuns(runs, servers)
	left, ends := make([]float64, len(runs)), make([]float64, len(runs))
	waiting := make([]int, len(runs))
	for j := range runs {
		left[j], waiting[j] = runs[j].Neutral, j
	}
	slices.SortStableFunc(waiting, func(a, b int) int { return cmp.Compare(runs[a].Start, runs[b].Start) })
	now := 0.0
	for running := []int(nil); len(waiting) > 0 || len(running) > 0; {
		if len(running) == 0 {
			now = runs[waiting[0]].Start
		}
		for len(waiting) > 0 && runs[waiting[0]].Start <= now {
			running, waiting = append(running, waiting[0]), waiting[1:]
		}
		dilations, err := sharing.among(running).dilations(runs, running, servers, options)
		if err != nil {
			return nil, err
		}
		next := math.Inf(1) // event
		if len(waiting) > 0 {
			next = runs[waiting[0]].Start
		}
		for k, j := range running {
			next = min(next, now+left[j]*dilations[k])
		}
		rest := running[:0]
		for k, j := range running {
			if done := now + left[j]*dilations[k]; done <= next+completionRounding*(next-now) {
				ends[j] = next
				continue
			}
			left[j] -= (next - now) / dilations[k]
			rest = append(rest, j)
		}
		running, now = rest, next
	}
	return ends, nil
}

// byThreads reports whether runs share the resource as [Predict] has it: as siblings of one weight that have a thread each, and
// no limit.
func (s *Sharing) byThreads(runs []Run) bool {
	for j, r := range runs {
		share := s.Shares[j]
		if share.weight() != s.Shares[0].weight() || share.Group != s.Shares[0].Group || share.Limit > 0 || s.threads(r.Vector) > 1 {
			return false
		}
	}
	return !slices.ContainsFunc(s.Groups, func(g gps.Group) bool { return g.Limit > 0 })
}

// completionRounding is the fraction of the time between two events within which completions are one event, so that
// equal jobs are done together.
const completionRounding = 1e-9

// among returns the sharing of some of the jobs.
func (s *Sharing) among(jobs []int) *Sharing {
	some := &Sharing{Resource: s.Resource, Groups: s.Groups}
	for _, j := range jobs {
		some.Shares = append(some.Shares, s.Shares[j])
	}
	return some
}

func (s *Sharing) dilations(runs []Run, running, servers []int, options queueing.Options) ([]float64, error) {
	var jobs []Vector
	for _, j := range running {
		jobs = append(jobs, runs[j].Vector)
	}
	p, err := PredictSharing(jobs, servers, *s, options)
	if err != nil {
		return nil, err
	}
	return p.Dilations, nil
}
