package queueing_test

import (
	"math"
	"math/rand/v2"
	"slices"

	"gonum.org/v1/gonum/stat"
	"gonum.org/v1/gonum/stat/distuv"

	"loadline.dev/loadline/pkg/model/queueing"
)

// simulation plays a queue event by event. It is independent of the code that it checks.
type simulation struct {
	servers    int
	classes    []queueing.Stream // of the highest priority first
	prioritize bool              // or first come first served
	jobs       int               // counted, after a tenth of that number that are not
}

// result has a series of batches per statistic: batch means of a long run are
// independent for all practical purposes.
type result struct {
	mean   [][]float64   // [class][batch] response time
	beyond [][][]float64 // [class][threshold][batch] fraction of responses beyond
	busy   []float64     // [batch] fraction of arrivals that found all servers busy
	queued []float64     // [batch] mean number of jobs found waiting
	square []float64     // [batch] mean square of that
}

const batches = 50

type job struct {
	class           int
	arrived, needed float64
	order           int
}

// waiting is a heap of jobs: that of package container/heap boxes every job.
type waiting struct {
	jobs       []job
	prioritize bool
}

func (w *waiting) before(a, b job) bool {
	if w.prioritize && a.class != b.class {
		return a.class < b.class
	}
	return a.order < b.order
}

func (w *waiting) push(j job) {
	w.jobs = append(w.jobs, j)
	for i := len(w.jobs) - 1; i > 0 && w.before(w.jobs[i], w.jobs[(i-1)/2]); i = (i - 1) / 2 {
		w.jobs[i], w.jobs[(i-1)/2] = w.jobs[(i-1)/2], w.jobs[i]
	}
}

func (w *waiting) pop() job {
	first, last := w.jobs[0], len(w.jobs)-1
	w.jobs[0] = w.jobs[last]
	w.jobs = w.jobs[:last]
	for i := 0; ; {
		least := i
		for child := 2*i + 1; child <= 2*i+2 && child < last; child++ {
			if w.before(w.jobs[child], w.jobs[least]) {
				least = child
			}
		}
		if least == i {
			return first
		}
		w.jobs[i], w.jobs[least] = w.jobs[least], w.jobs[i]
		i = least
	}
}

// sampler returns a source of service times.
func sampler(s queueing.Stream, r *rand.Rand) func() float64 {
	switch {
	case s.SCV == 0:
		return func() float64 { return 1 / s.Service }
	case s.SCV < 1:
		unit := distuv.Gamma{Alpha: 1 / s.SCV, Beta: s.Service / s.SCV, Src: r}
		return unit.Rand
	case s.SCV == 1:
		return func() float64 { return r.ExpFloat64() / s.Service }
	}
	p := (1 + math.Sqrt((s.SCV-1)/(s.SCV+1))) / 2
	return func() float64 {
		if r.Float64() < p {
			return r.ExpFloat64() / (2 * p * s.Service)
		}
		return r.ExpFloat64() / (2 * (1 - p) * s.Service)
	}
}

// run simulates; thresholds are per class.
func (s simulation) run(seed uint64, thresholds [][]float64) result {
	r := rand.New(rand.NewPCG(seed, 1))
	total := 0.0
	services := make([]func() float64, len(s.classes))
	for k, class := range s.classes {
		total += class.Arrival
		services[k] = sampler(class, r)
	}
	out := result{mean: make([][]float64, len(s.classes)), beyond: make([][][]float64, len(s.classes))}
	counts := make([]float64, len(s.classes))
	sums := make([]float64, len(s.classes))
	late := make([][]float64, len(s.classes))
	for k := range s.classes {
		late[k] = make([]float64, len(thresholds[k]))
		out.beyond[k] = make([][]float64, len(thresholds[k]))
	}
	queue := &waiting{prioritize: s.prioritize}
	serving := make([]job, 0, s.servers) // needed: when it completes
	next := func() (least int) {
		for i := range serving {
			if serving[i].needed < serving[least].needed {
				least = i
			}
		}
		return least
	}
	found, line, square, seen := 0.0, 0.0, 0.0, 0.0
	warm, size := s.jobs/10, s.jobs/batches
	var now float64
	arrival := r.ExpFloat64() / total
	for completed, arrived := 0, 0; completed < warm+s.jobs; {
		first := -1
		if len(serving) > 0 {
			first = next()
		}
		if first < 0 || arrival < serving[first].needed {
			now = arrival
			arrival += r.ExpFloat64() / total
			pick, k := r.Float64()*total, 0
			for k < len(s.classes)-1 && pick >= s.classes[k].Arrival {
				pick -= s.classes[k].Arrival
				k++
			}
			j := job{class: k, arrived: now, needed: services[k](), order: arrived}
			arrived++
			seen++
			line += float64(len(queue.jobs))
			square += float64(len(queue.jobs)) * float64(len(queue.jobs))
			if len(serving) < s.servers {
				j.needed += now
				serving = append(serving, j)
				continue
			}
			found++
			queue.push(j)
			continue
		}
		done := serving[first]
		now = done.needed
		if len(queue.jobs) > 0 {
			j := queue.pop()
			j.needed += now
			serving[first] = j
		} else {
			serving[first] = serving[len(serving)-1]
			serving = serving[:len(serving)-1]
		}
		completed++
		if completed > warm {
			counts[done.class]++
			sums[done.class] += now - done.arrived
			for i, x := range thresholds[done.class] {
				if now-done.arrived > x {
					late[done.class][i]++
				}
			}
			if (completed-warm)%size != 0 {
				continue
			}
		} else if completed < warm {
			continue
		}
		if completed > warm {
			for k := range s.classes {
				out.mean[k] = append(out.mean[k], sums[k]/counts[k])
				for i := range late[k] {
					out.beyond[k][i] = append(out.beyond[k][i], late[k][i]/counts[k])
				}
			}
			out.busy = append(out.busy, found/seen)
			out.queued = append(out.queued, line/seen)
			out.square = append(out.square, square/seen)
		}
		clear(counts)
		clear(sums)
		for k := range late {
			clear(late[k])
		}
		found, line, square, seen = 0, 0, 0, 0
	}
	return out
}

// estimate is a mean of batches and its standard error.
type estimate struct{ mean, deviation float64 }

func estimated(series []float64) estimate {
	mean, deviation := stat.MeanStdDev(series, nil)
	return estimate{mean, deviation / math.Sqrt(float64(len(series)))}
}

// controlled returns the estimate less the part that the controls, series whose means are known,
// explain: linear regression on one control after the other.
func controlled(series []float64, controls ...control) estimate {
	series = slices.Clone(series)
	var before []control
	for _, c := range controls {
		x := slices.Clone(c.series)
		for i := range x {
			x[i] -= c.mean
		}
		for _, b := range before {
			slope := stat.Covariance(x, b.series, nil) / stat.Variance(b.series, nil)
			for i := range x {
				x[i] -= slope * b.series[i]
			}
		}
		slope := stat.Covariance(series, x, nil) / stat.Variance(x, nil)
		for i := range series {
			series[i] -= slope * x[i]
		}
		before = append(before, control{x, 0})
	}
	return estimated(series)
}

type control struct {
	series []float64
	mean   float64
}
