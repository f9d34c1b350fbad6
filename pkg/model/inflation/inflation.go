package inflation

import (
	"errors"
	"fmt"
	"math"
	"slices"
)

const (
	// MaxIntervals bounds the length of a series.
	MaxIntervals = 4096
	// MaxNeighbours bounds how many neighbours it has.
	MaxNeighbours = 64
	// MaxPods bounds how many pods it is of.
	MaxPods = 256
	// MinSlots is how many slots of time a series must have for an estimate.
	MinSlots = 15
	// MinTested is how many it must have for a neighbour to be named.
	MinTested = 30
	// Recent is how many slots, the last ones, are now.
	Recent = 5
	// Noticeable is the least effect that is named: by how much of the quiet value a neighbour adds while it is there.
	Noticeable = 0.03
	// Confidence is that of the intervals of values.
	Confidence = 0.95
	// NamedConfidence is that of the intervals of all effects of neighbours together.
	NamedConfidence = 0.99
)

var (
	// ErrTooFew is returned for a series that is too short to say anything: its values are not known.
	ErrTooFew = errors.New("too few intervals")
	// ErrUnrelated is returned where CPU time does not rise with the work that is counted: the counter is not of what the pods compute.
	ErrUnrelated = errors.New("CPU time does not go with the units of work")
)

// Interval is what a pod did for some time.
type Interval struct {
	// Slot is the number of the time slot in which it lies: of all pods the intervals of one slot are at about the same time. Pod is a number
	// for the pod, from 0 to MaxPods − 1.
	Slot int64
	Pod  int
	// Seconds is its length, above 0.
	Seconds float64
	// CPU is how many CPU seconds the pod used, and Units how many units of work it did, both at least 0.
	CPU, Units float64
	// Neighbours is how many processors each neighbour used, at least 0, in the same order in all intervals. Neighbours of pods on different
	// nodes are one neighbour where they are of one workload.
	Neighbours []float64
}

// Value is an estimate with its interval.
type Value struct{ Value, Low, High float64 }

// Estimate is what a series says.
type Estimate struct {
	// Quiet is how many CPU seconds a unit takes at the present rate without the effects of the neighbours that are named, above 0. It is
	// Overhead/r + PerUnit at r units a second for each pod.
	Quiet Value
	// Overhead is how many CPU seconds a second a pod uses without any work, at least 0, and PerUnit how many a unit adds, above 0.
	Overhead, PerUnit float64
	// Rate is how many units a second a pod does now, on average, and Now how many CPU seconds a unit takes; both are 0 without work now.
	Rate, Now float64
	// Inflation is how many times as many CPU seconds as when quiet are used now. It is not known, and 0, where nothing is done now.
	Inflation Value
	// Pods has the inflations of the pods, by their numbers, 0 for those that do nothing now.
	Pods []float64
	// Effects are those of the groups of neighbours that were tested, those that add most now first.
	Effects []Effect
	// Untested says of each neighbour why it is in no effect.
	Untested map[int]Untested
	// Slots is how many slots of time the series has.
	Slots int
}

// Effect is what goes with a group of neighbours that cannot be told apart.
type Effect struct {
	// Neighbours are the numbers of those of the group, in order.
	Neighbours []int
	// PerCPU is by how much the inflation rises with each processor that they use, with an interval that holds for all groups together.
	PerCPU Value
	// CPUs is how many processors they use now, and Adds what they add to the inflation now.
	CPUs float64
	Adds Value
	// Named reports whether the evidence is enough to say that the inflation goes with the group.
	Named bool
}

// Untested is why a neighbour was not tested.
type Untested int

// Reasons.
const (
	// Constant means that it hardly changed, so that nothing can go with it.
	Constant Untested = iota + 1
	// WithLoad means that it came and went with the load of the pods themselves.
	WithLoad
	// Staying means that it was never away, so that it cannot be told from one that is slowed down itself.
	Staying
	// TooMany means that others varied more.
	TooMany
)

// Analyze is AnalyzeAfter of a series with nothing before it.
func Analyze(series []Interval) (*Estimate, error) { return AnalyzeAfter(series, nil) }

// AnalyzeAfter returns what a series says, after what was known before it, nil for nothing. The error wraps [ErrTooFew] or [ErrUnrelated] where
// that is nothing, and otherwise names the interval or the value that breaks a rule.
func AnalyzeAfter(series []Interval, before *Before) (*Estimate, error) {
	if err := check(series); err != nil {
		return nil, err
	}
	if before != nil {
		if err := before.check(); err != nil {
			return nil, err
		}
	}
	s := arrange(series)
	if s.slots < MinSlots {
		return nil, fmt.Errorf("%w: %d slots of time, of at least %d", ErrTooFew, s.slots, MinSlots)
	}
	r, whole := &reference{}, s.after(before)
	if err := r.fit(whole, nil); err != nil {
		return nil, err
	}
	e := &Estimate{Slots: s.slots, Untested: map[int]Untested{}}
	named := []*group{}
	for range 3 { // the reference is of what the named neighbours leave, and the effects are parts of the reference
		groups := s.attribute(r.of(s), e.Untested)
		named = slices.DeleteFunc(slices.Clone(groups), func(g *group) bool { return !g.named })
		if err := r.fit(whole, named); err != nil {
			return nil, err
		}
		e.Effects = effectsOf(s, groups)
		if len(named) == 0 {
			break
		}
	}
	e.Overhead, e.PerUnit = r.overhead, r.perUnit
	s.now(r.of(s), named, before, e)
	return e, nil
}

// check returns an error that names the first interval that breaks a rule.
func check(series []Interval) error {
	if len(series) > MaxIntervals {
		return fmt.Errorf("intervals: %d are more than %d", len(series), MaxIntervals)
	}
	for i := range series {
		v := &series[i]
		switch {
		case v.Pod < 0 || v.Pod >= MaxPods:
			return fmt.Errorf("intervals[%d].pod: %d is not from 0 to %d", i, v.Pod, MaxPods-1)
		case !(v.Seconds > 0) || math.IsInf(v.Seconds, 0):
			return fmt.Errorf("intervals[%d].seconds: %v is not a length above 0", i, v.Seconds)
		case !natural(v.CPU):
			return fmt.Errorf("intervals[%d].cpu: %v is not a time of at least 0", i, v.CPU)
		case !natural(v.Units):
			return fmt.Errorf("intervals[%d].units: %v is not a number of at least 0; a counter that was reset makes no interval", i, v.Units)
		case len(v.Neighbours) > MaxNeighbours:
			return fmt.Errorf("intervals[%d].neighbours: %d are more than %d", i, len(v.Neighbours), MaxNeighbours)
		case len(v.Neighbours) != len(series[0].Neighbours):
			return fmt.Errorf("intervals[%d].neighbours: there are %d, and %d in the first interval", i, len(v.Neighbours), len(series[0].Neighbours))
		}
		for j, n := range v.Neighbours {
			if !natural(n) {
				return fmt.Errorf("intervals[%d].neighbours[%d]: %v is not a number of processors of at least 0", i, j, n)
			}
		}
	}
	return nil
}

// largest bounds the numbers of a series, so that their squares are finite.
const largest = 1e18

func natural(f float64) bool { return f >= 0 && f <= largest }

// series is a series in order of time, with rates in place of sums.
type series struct {
	slots int
	// slot is the rank of the slot of each interval, from 0, and pod its pod.
	slot, pod []int
	pods      int
	// seconds are lengths over their mean; cpu and rate are CPU seconds and units a second.
	seconds, cpu, rate []float64
	// neighbours are processors, by neighbour and interval.
	neighbours [][]float64
	// before is how many of the intervals, the last ones, stand for what was before the series, and standsFor for how many others each does. They
	// have no neighbours.
	before    int
	standsFor float64
}

// count returns how many intervals one stands for.
func (s *series) count(i int) float64 {
	if i < len(s.cpu)-s.before {
		return 1
	}
	return s.standsFor
}

func arrange(from []Interval) *series {
	sorted := slices.Clone(from)
	slices.SortStableFunc(sorted, func(a, b Interval) int {
		if a.Slot != b.Slot {
			if a.Slot < b.Slot {
				return -1
			}
			return 1
		}
		return a.Pod - b.Pod
	})
	s := &series{}
	if len(sorted) == 0 {
		return s
	}
	s.neighbours = make([][]float64, len(sorted[0].Neighbours))
	mean := 0.0
	for i := range sorted {
		mean += sorted[i].Seconds / float64(len(sorted))
	}
	for i := range sorted {
		v := &sorted[i]
		if i == 0 || v.Slot != sorted[i-1].Slot {
			s.slots++
		}
		s.slot, s.pod, s.pods = append(s.slot, s.slots-1), append(s.pod, v.Pod), max(s.pods, v.Pod+1)
		s.seconds = append(s.seconds, v.Seconds/mean)
		s.cpu, s.rate = append(s.cpu, v.CPU/v.Seconds), append(s.rate, v.Units/v.Seconds)
		for j, n := range v.Neighbours {
			s.neighbours[j] = append(s.neighbours[j], n)
		}
	}
	return s
}

// median returns the median of numbers, 0 of none.
func median(of []float64) float64 { return quantile(of, 0.5) }

// quantile returns a quantile of numbers, linear between two of them, and 0 of none.
func quantile(of []float64, p float64) float64 {
	if len(of) == 0 {
		return 0
	}
	sorted := slices.Sorted(slices.Values(of))
	at := p * float64(len(sorted)-1)
	k := int(at)
	if k+1 == len(sorted) {
		return sorted[k]
	}
	return sorted[k] + (at-float64(k))*(sorted[k+1]-sorted[k])
}
