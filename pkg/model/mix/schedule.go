package mix

import (
	"cmp"
	"fmt"
	"math"
	"slices"

	"loadline.dev/loadline/pkg/model/contention"
	"loadline.dev/loadline/pkg/model/gps"
	"loadline.dev/loadline/pkg/model/loading"
	"loadline.dev/loadline/pkg/model/queueing"
)

// Run is one job on a node: when it starts and how long it would take alone.
type Run struct {
	Start   float64 // when it starts, in any unit of time, finite
	Neutral float64 // its neutral time on this node, in the same unit, at least 0
	Vector  loading.Vector
}

// Completions returns when each of the runs that share a node completes, in
// their order, by first-order dilations: see [CompletionsBy]. For two jobs that
// start together this is the two-job formula of section 5 of the D-factor paper;
// for any number of partially overlapping jobs it is the algorithm that the paper
// leaves open (Remark 4).
func Completions(runs []Run, servers []int) ([]float64, error) {
	return CompletionsBy(runs, servers, queueing.Options{Solver: queueing.FirstOrder})
}

// CompletionsBy returns when each of the runs that share a node completes, in
// their order. Between two events (a start or a completion) the mix of running
// jobs is constant, so each progresses at 1/λ of its neutral speed, λ its dilation
// in that mix as [contention.Predict] has it with the options: by threads. [CompletionsSharing] is for jobs that share by weights.
//
// There are at most two events per run. The error names the first invalid run, or
// is that of Predict.
func CompletionsBy(runs []Run, servers []int, options queueing.Options) ([]float64, error) {
	if err := loading.ValidateServers(servers); err != nil {
		return nil, err
	}
	for j, r := range runs {
		if err := r.validate(servers); err != nil {
			return nil, fmt.Errorf("run %d: %w", j, err)
		}
	}
	runs, servers = splitRuns(runs, servers)
	mixes, err := NewMixes(NodeClass{Servers: servers, Processor: -1}, options)
	if err != nil {
		return nil, err
	}
	ends := completions(runs, NewRunning(mixes))
	return ends, mixes.Err()
}

func (r Run) validate(servers []int) error {
	if math.IsNaN(r.Start) || math.IsInf(r.Start, 0) {
		return fmt.Errorf("start: %v is not a finite time", r.Start)
	}
	if !(r.Neutral >= 0) || math.IsInf(r.Neutral, 0) {
		return fmt.Errorf("neutral: %v is not a finite time of at least 0", r.Neutral)
	}
	return r.Vector.ValidateOn(servers)
}

// completions runs the jobs on an empty node.
func completions(runs []Run, node *Running) []float64 {
	types, ends := jobTypes(runs), make([]float64, len(runs))
	waiting := make([]int, len(runs))
	for j := range runs {
		waiting[j] = j
	}
	slices.SortStableFunc(waiting, func(a, b int) int { return cmp.Compare(runs[a].Start, runs[b].Start) })
	var done []int
	now := math.Inf(-1) // of the last event
	for len(waiting) > 0 || node.Mix().Jobs() > 0 {
		elapsed, event := node.Next(), math.Inf(1)
		if node.Mix().Jobs() > 0 {
			event = now + elapsed
		}
		starts := len(waiting) > 0 && runs[waiting[0]].Start < event
		if starts {
			event = runs[waiting[0]].Start
			elapsed = event - now
		}
		if node.Mix().Jobs() > 0 {
			done = node.Advance(elapsed, done[:0])
			for _, j := range done {
				ends[j] = event
			}
		}
		if starts {
			t := types[waiting[0]]
			node.Start(t, runs[waiting[0]].Neutral/node.mix.of.Stretch(t), waiting[0])
			waiting = waiting[1:]
		}
		now = event
	}
	return ends
}

// jobTypes returns the type of each run; equal vectors have one.
func jobTypes(runs []Run) []*JobType {
	types, byKey := make([]*JobType, len(runs)), map[string]*JobType{}
	for j, r := range runs {
		key := string(r.Vector.AppendKey(nil))
		if byKey[key] == nil {
			byKey[key] = &JobType{Name: fmt.Sprintf("run %d", j), Vector: r.Vector}
		}
		types[j] = byKey[key]
	}
	return types
}

// CompletionsSharing returns the same as [CompletionsBy] for jobs that share one resource by weights and limits: sharing holds
// the share of each run. Each start and completion takes a solution, unless all share the resource alike as jobs of one thread.
func CompletionsSharing(runs []Run, servers []int, sharing contention.Sharing, options queueing.Options) ([]float64, error) {
	if len(sharing.Shares) != len(runs) {
		return nil, fmt.Errorf("shares: %d for %d runs", len(sharing.Shares), len(runs))
	}
	for j, r := range runs {
		if err := r.validate(servers); err != nil {
			return nil, fmt.Errorf("run %d: %w", j, err)
		}
	}
	if byThreads(&sharing, runs) {
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
		dilations, err := dilations(&sharing, runs, running, servers, options)
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

// byThreads reports whether runs share the resource as [contention.Predict] has it: as siblings of one weight that have a thread each, and
// no limit.
func byThreads(s *contention.Sharing, runs []Run) bool {
	for j, r := range runs {
		share := s.Shares[j]
		if share.EffectiveWeight() != s.Shares[0].EffectiveWeight() || share.Group != s.Shares[0].Group || share.Limit > 0 || r.Vector.ThreadsAt(s.Resource) > 1 {
			return false
		}
	}
	return !slices.ContainsFunc(s.Groups, func(g gps.Group) bool { return g.Limit > 0 })
}

// completionRounding is the fraction of the time between two events within which completions are one event, so that
// equal jobs are done together.
const completionRounding = 1e-9

// dilations returns those of the runs that are running.
func dilations(s *contention.Sharing, runs []Run, running, servers []int, options queueing.Options) ([]float64, error) {
	some := contention.Sharing{Resource: s.Resource, Groups: s.Groups}
	var jobs []loading.Vector
	for _, j := range running {
		some.Shares, jobs = append(some.Shares, s.Shares[j]), append(jobs, runs[j].Vector)
	}
	p, err := contention.PredictSharing(jobs, servers, some, options)
	if err != nil {
		return nil, err
	}
	return p.Dilations, nil
}

// splitRuns is [loading.SplitDevices] for the vectors of runs.
func splitRuns(runs []Run, servers []int) ([]Run, []int) {
	vectors := make([]loading.Vector, len(runs))
	for j := range runs {
		vectors[j] = runs[j].Vector
	}
	_, vectors, servers = loading.SplitDevices(vectors, servers)
	split := slices.Clone(runs)
	for j := range split {
		split[j].Vector = vectors[j]
	}
	return split, servers
}
