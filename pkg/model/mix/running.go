package mix

import (
	"math"
	"slices"
)

// Running holds the jobs that run on one node and the remaining work of each. While no job starts
// or ends (an epoch), each progresses at 1/λ of its neutral speed, λ its dilation in the mix. It
// holds durations only; the caller keeps the clock. It is not safe for concurrent use.
type Running struct {
	mix *Mix
	// In the order of the parts of the mix.
	left []float64 // neutral time on this node
	ids  []int
	next float64 // until the first of them completes, if none arrives; +Inf if there are none

	trajectories []trajectory // that were asked for since the last change
}

// NewRunning returns an empty node of a class.
func NewRunning(mixes *Mixes) *Running {
	return &Running{mix: mixes.Empty(), next: math.Inf(1)}
}

// Mix returns the jobs that run.
func (r *Running) Mix() *Mix { return r.mix }

// Next returns how long it takes until a job completes if none comes, +Inf if
// none runs.
func (r *Running) Next() float64 { return r.next }

// Start starts a job with its type, its own time on a node of speed 1, at least 0, and the caller's
// number for it.
func (r *Running) Start(t *JobType, own float64, id int) {
	r.insert(t, own*r.mix.of.Stretch(t), id)
	r.look()
}

// insert puts a job behind those of its type.
func (r *Running) insert(t *JobType, left float64, id int) {
	r.mix = r.mix.With(t)
	at := r.mix.first(t) + r.mix.part(t).Copies - 1
	r.left = slices.Insert(r.left, at, left)
	r.ids = slices.Insert(r.ids, at, id)
}

// Advance lets some time pass, at most Next, and appends the numbers of the jobs
// that complete to done. Those that have equally much left complete together.
func (r *Running) Advance(time float64, done []int) []int {
	r.mix.solve()
	mix, k, kept := r.mix, 0, 0
	for _, p := range mix.parts {
		for range p.Copies {
			left, id := r.left[k], r.ids[k]
			k++
			if left*p.dilation <= time {
				r.mix = r.mix.Without(p.JobType)
				done = append(done, id)
				continue
			}
			r.left[kept], r.ids[kept] = left-time/p.dilation, id
			kept++
		}
	}
	r.left, r.ids = r.left[:kept], r.ids[:kept]
	r.look()
	return done
}

// look finds out when the next job completes.
func (r *Running) look() {
	r.trajectories = r.trajectories[:0]
	r.mix.solve()
	r.next = math.Inf(1)
	k := 0
	for _, p := range r.mix.parts {
		least := math.Inf(1)
		for range p.Copies {
			least = min(least, r.left[k])
			k++
		}
		r.next = min(r.next, least*p.dilation)
	}
}

// Left returns the neutral time that all jobs together have left after some time,
// at most Next.
func (r *Running) Left(after float64) float64 {
	sum, k := 0.0, 0
	for _, p := range r.mix.parts {
		for range p.Copies {
			sum += max(0, r.left[k]-after/p.dilation)
			k++
		}
	}
	return sum
}

// CopyFrom makes r an independent copy of other.
func (r *Running) CopyFrom(other *Running) {
	r.mix, r.next = other.mix, other.next
	r.left = append(r.left[:0], other.left...)
	r.ids = append(r.ids[:0], other.ids...)
	r.trajectories = r.trajectories[:0]
}

// Recall replaces the mix after the [Mixes] it is of forgot it.
func (r *Running) Recall(mixes *Mixes) {
	before := *r
	*r = Running{mix: mixes.Recall(before.mix), left: make([]float64, len(before.left)), ids: make([]int, len(before.ids))}
	// Types of equal vectors may have changed places.
	from := 0
	for _, p := range before.mix.parts {
		to := r.mix.first(p.JobType)
		copy(r.left[to:], before.left[from:from+p.Copies])
		copy(r.ids[to:], before.ids[from:from+p.Copies])
		from += p.Copies
	}
	r.look()
}
