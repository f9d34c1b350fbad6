package mix

import (
	"math"
	"slices"
)

// Completion predicts the time that a job takes that starts some time from now, at most Next, if no
// other starts; and a lower bound for the time from then until all jobs are done. Both are exact
// except for rounding. The job is given as for [Running.Start].
//
// The first call after a change takes O(k·(m + log k)) time for k jobs of m types,
// further ones for jobs of the same type a few multiplications for each completion
// before theirs: see trajectory.
func (r *Running) Completion(after float64, t *JobType, own float64) (job, all float64) {
	y := r.trajectory(t)
	if after >= y.from {
		if job, all, ok := y.completion(after-y.from, own); ok {
			return job, all
		}
	}
	y.follow(r, after)
	job, all, _ = y.completion(0, own)
	return job, all
}

// maxTrajectories bounds the memory of a node on which jobs of many types might start.
const maxTrajectories = 16

// trajectory returns that of a job of some type; one that is new has to be followed.
func (r *Running) trajectory(t *JobType) *trajectory {
	for i := range r.trajectories {
		if r.trajectories[i].job == t {
			return &r.trajectories[i]
		}
	}
	n := len(r.trajectories)
	if n == maxTrajectories {
		n = 0 // and forget the others
	}
	r.trajectories = slices.Grow(r.trajectories[:n], 1)[:n+1]
	y := &r.trajectories[n]
	*y = trajectory{job: t, from: math.Inf(1), progress: y.progress, epochs: y.epochs}
	return y
}

// trajectory is the progress of a job that starts among the running ones.
//
// Until it completes, the others complete one after the other at times that do not depend on the
// size of its work. While they do so in the same order, these times and the remaining work of each
// job are linear functions of the job's start time, because all progress at constant speeds between
// completions. So the epochs are found once for all jobs of a type, and again only when the order
// changes.
type trajectory struct {
	job  *JobType
	from float64 // the earliest start for which the following holds

	progress []line  // of the job at each completion of another, in own time
	epochs   []epoch // before, between and after these completions
}

// epoch is the time between two completions of other jobs. Lines are over how long
// after from the job starts.
type epoch struct {
	until    float64 // where the order of the completions changes, up to that which ends the epoch
	dilation float64 // of the job, in relation to its own time
	elapsed  line    // from the start of the job to the epoch, less its progress times its dilation
	// What the longest of the other jobs has left, in neutral time, when the job
	// completes: so much if the job has no work, and less by slope for each second of
	// its own time.
	longest line
	slope   float64
}

// completion returns the same as [Running.Completion] for a job of the given own time, and whether
// the order of completions is unchanged.
func (y *trajectory) completion(x, own float64) (job, all float64, ok bool) {
	k := 0
	for k < len(y.progress) && y.progress[k].at(x) <= own {
		k++
	}
	e := &y.epochs[k]
	job = e.elapsed.at(x) + own*e.dilation
	// From then on no job is faster than alone.
	return job, job + max(0, e.longest.at(x)-own*e.slope), x <= e.until
}

// follow finds the epochs for a job that starts after some time or a little later.
func (y *trajectory) follow(r *Running, after float64) {
	w := &r.mix.of.walk
	w.start(r, after, y.job)
	y.from, y.progress, y.epochs = after, y.progress[:0], y.epochs[:0]
	for {
		y.epochs = append(y.epochs, epoch{})
		if !w.pass(&y.epochs[len(y.epochs)-1]) {
			return
		}
		y.progress = append(y.progress, w.progress)
	}
}

// walk goes from epoch to epoch.
type walk struct {
	mix     *Mix      // of the next epoch, with the job
	stretch float64   // from the job's own to its neutral time
	others  []others  // per part of the mix
	left    []float64 // others' indices refer to it

	until             float64 // where the order of the completions so far changes
	elapsed, progress line    // of the job at the end of the epoch
}

// others are the jobs of one type besides the job itself.
type others struct {
	from, to int  // in left: their remaining work before the walk, in ascending order
	change   line // of the remaining work of each
	job      bool // whether the job is of the same type
}

// next returns the remaining work of the first of them to complete.
func (o *others) next(left []float64) line { return o.change.plus(line{value: left[o.from]}) }

// last returns the remaining work of the last of them to complete.
func (o *others) last(left []float64) line { return o.change.plus(line{value: left[o.to-1]}) }

// start begins a walk for a job of a type that starts after some time.
func (w *walk) start(r *Running, after float64, t *JobType) {
	*w = walk{
		mix: r.mix.With(t), stretch: r.mix.of.Stretch(t), until: math.Inf(1),
		others: w.others[:0], left: append(w.left[:0], r.left...),
	}
	from := 0
	for _, p := range r.mix.parts {
		to, speed := from+p.Copies, 1/p.dilation
		slices.Sort(w.left[from:to])
		w.others = append(w.others, others{from: from, to: to, change: line{-after * speed, -speed}})
		from = to
	}
	own := w.mix.find(t)
	if len(w.others) < len(w.mix.parts) { // no other job is of the type
		w.others = slices.Insert(w.others, own, others{})
	}
	w.others[own].job = true
}

// pass fills in the next epoch and reports whether a completion of another job ends it.
func (w *walk) pass(e *epoch) bool {
	w.mix.solve()
	never := line{math.Inf(1), math.Inf(-1)}
	length, first := never, 0
	longest, slowness := line{}, 1.0
	for k := range w.others {
		o, dilation := &w.others[k], w.mix.parts[k].dilation
		if o.job {
			e.dilation = w.stretch * dilation
		}
		if o.from == o.to {
			continue
		}
		if next := o.next(w.left).times(dilation); next.before(length) {
			length, first = next, k
		}
		if last := o.last(w.left); last.value > longest.value {
			longest, slowness = last, dilation
		}
	}
	e.elapsed = w.elapsed.plus(w.progress.times(-e.dilation))
	e.slope = e.dilation / slowness
	e.longest = longest.plus(w.progress.times(e.slope))
	if length != never {
		w.elapsed, w.progress = w.elapsed.plus(length), w.progress.plus(length.times(1/e.dilation))
		w.complete(first, length)
	}
	e.until = w.until
	return length != never
}

// complete ends the epoch with the first completion of one part.
func (w *walk) complete(first int, length line) {
	for k := range w.others {
		o, dilation := &w.others[k], w.mix.parts[k].dilation
		if o.from < o.to {
			w.until = min(w.until, length.meets(o.next(w.left).times(dilation)))
		}
		o.change = o.change.plus(length.times(-1 / dilation))
	}
	w.mix = w.mix.Without(w.mix.parts[first].JobType)
	o := &w.others[first]
	if o.from++; o.from == o.to && !o.job {
		w.others = slices.Delete(w.others, first, first+1)
	}
}

// line is a linear function.
type line struct{ value, slope float64 }

func (l line) at(x float64) float64 { return l.value + l.slope*x }
func (l line) plus(m line) line     { return line{l.value + m.value, l.slope + m.slope} }
func (l line) times(a float64) line { return line{l.value * a, l.slope * a} }

// before reports whether a line is below another for small arguments.
func (l line) before(m line) bool {
	return l.value < m.value || l.value == m.value && l.slope < m.slope
}

// meets returns from where on a line that is before another is so no more.
func (l line) meets(m line) float64 {
	if l.slope <= m.slope {
		return math.Inf(1)
	}
	return (m.value - l.value) / (l.slope - m.slope)
}
