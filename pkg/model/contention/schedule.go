package contention

import (
	"cmp"
	"fmt"
	"math"
	"slices"

	"loadline.dev/loadline/pkg/model/queueing"
)

// Run is one job on a node: when it starts and how long it would take alone.
type Run struct {
	Start   float64 // when it starts, in any unit of time, finite
	Neutral float64 // its neutral time on this node, in the same unit, at least 0
	Vector  Vector
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
// in that mix as [Predict] has it with the options: by threads. [CompletionsSharing] is for jobs that share by weights.
//
// There are at most two events per run. The error names the first invalid run, or
// is that of Predict.
func CompletionsBy(runs []Run, servers []int, options queueing.Options) ([]float64, error) {
	if err := ValidateServers(servers); err != nil {
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
	return r.Vector.validateOn(servers)
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
		key := string(r.Vector.appendKey(nil))
		if byKey[key] == nil {
			byKey[key] = &JobType{Name: fmt.Sprintf("run %d", j), Vector: r.Vector}
		}
		types[j] = byKey[key]
	}
	return types
}
