package contention

import (
	"fmt"
	"math"

	"loadline.dev/loadline/pkg/model/queueing"
)

// Run is one job on a node: when it starts and how long it would take alone.
type Run struct {
	Start   float64 // when it starts, in any unit of time, finite
	Neutral float64 // its neutral time, in the same unit, at least 0
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
// in that mix as [Predict] has it with the options. Each mix starts from the
// solution of the one before; a Start in the options serves for the first.
//
// There are at most two events per run. The error names the first invalid run, or
// is that of Predict.
func CompletionsBy(runs []Run, servers []int, options queueing.Options) ([]float64, error) {
	if err := ValidateServers(servers); err != nil {
		return nil, err
	}
	for j, r := range runs {
		if math.IsNaN(r.Start) || math.IsInf(r.Start, 0) {
			return nil, fmt.Errorf("run %d: start: %v is not a finite time", j, r.Start)
		}
		if !(r.Neutral >= 0) || math.IsInf(r.Neutral, 0) {
			return nil, fmt.Errorf("run %d: neutral: %v is not a finite time of at least 0", j, r.Neutral)
		}
		if err := r.Vector.validateOn(servers); err != nil {
			return nil, fmt.Errorf("run %d: %w", j, err)
		}
	}
	s := newSchedule(runs, servers, options)
	for len(s.running) > 0 || len(s.waiting) > 0 {
		if err := s.step(); err != nil {
			return nil, err
		}
	}
	return s.completions, nil
}

// schedule is a node on its way from event to event.
type schedule struct {
	runs        []Run
	servers     []int
	options     queueing.Options
	now         float64
	left        []float64 // neutral time left, per run
	waiting     []int     // runs that have not started, in no order
	running     []int     // runs on the node, in order of start
	completions []float64
}

func newSchedule(runs []Run, servers []int, options queueing.Options) *schedule {
	s := &schedule{
		runs:        runs,
		servers:     servers,
		options:     options,
		now:         math.Inf(-1),
		left:        make([]float64, len(runs)),
		completions: make([]float64, len(runs)),
	}
	for j, r := range runs {
		s.left[j] = r.Neutral
		s.waiting = append(s.waiting, j)
	}
	return s
}

// dilations returns the dilation of each running job.
func (s *schedule) dilations() ([]float64, error) {
	mix := make([]Vector, len(s.running))
	for r, j := range s.running {
		mix[r] = s.runs[j].Vector
	}
	prediction, err := Predict(mix, s.servers, s.options)
	if err != nil {
		return nil, err
	}
	s.options.Start = prediction.Solution
	return prediction.Dilations, nil
}

// step moves on to the next event and carries out all that happens then.
func (s *schedule) step() error {
	dilations, err := s.dilations()
	if err != nil {
		return err
	}
	next := math.Inf(1)
	for _, j := range s.waiting {
		next = min(next, s.runs[j].Start)
	}
	for r, j := range s.running {
		next = min(next, s.now+s.left[j]*dilations[r])
	}

	stay := s.running[:0]
	for r, j := range s.running {
		// The job whose completion is the event has nothing left, whatever
		// rounding says.
		if s.now+s.left[j]*dilations[r] <= next {
			s.completions[j] = next
			continue
		}
		s.left[j] -= (next - s.now) / dilations[r]
		stay = append(stay, j)
	}
	s.running = stay
	s.now = next

	later := s.waiting[:0]
	for _, j := range s.waiting {
		if s.runs[j].Start > next {
			later = append(later, j)
			continue
		}
		s.running = append(s.running, j)
	}
	s.waiting = later
	return nil
}
