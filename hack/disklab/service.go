package main

import (
	"math"
	"slices"
)

// class is a kind of operation with service times of its own.
type class int

const (
	reads class = iota
	writes
	durable // writes that last: with O_DSYNC or fdatasync
	classes
)

func (c class) String() string { return [...]string{"reads", "writes", "durable writes"}[c] }

func (s spec) class() class {
	switch {
	case s.Operation == read:
		return reads
	case s.Sync == "":
		return writes
	}
	return durable
}

// service is what a device needs for operations, by what it did with one kind of them at a time.
type service struct {
	quiet  [classes]line // an operation by itself, by the clock of the job
	await  [classes]line // the same by /proc/diskstats
	demand [classes]line // what each adds to the others: the inverse of the throughput of many
	points [classes][]point
}

// point is what a size came to.
type point struct {
	bytes                float64
	quiet, await, demand float64 // seconds
	parallelism          float64 // quiet / demand
}

// line is fixed seconds, and some for each byte.
type line struct{ fixed, perByte float64 }

func (l line) at(bytes float64) float64 { return l.fixed + l.perByte*bytes }

// learn returns the service of a sweep: of each size the latency at depth 1, and the highest throughput over the depths.
func learn(sweep []run) service {
	var s service
	for c := range classes {
		bySize := map[int64]*point{}
		for _, r := range sweep {
			if r.Job == nil || r.Job.class() != c || r.Pods[0].Units == 0 {
				continue
			}
			p := bySize[r.Job.Bytes]
			if p == nil {
				p = &point{bytes: float64(r.Job.Bytes), demand: math.Inf(1)}
				bySize[r.Job.Bytes] = p
			}
			if r.Job.Depth == 1 {
				p.quiet = r.Pods[0].Latency
				p.await = r.Device.await(c)
			}
			p.demand = min(p.demand, 1/r.rate(0))
		}
		for _, p := range bySize {
			p.parallelism = p.quiet / p.demand
			s.points[c] = append(s.points[c], *p)
		}
		slices.SortFunc(s.points[c], func(a, b point) int { return int(a.bytes - b.bytes) })
		s.quiet[c] = fitLine(s.points[c], func(p point) float64 { return p.quiet })
		s.await[c] = fitLine(s.points[c], func(p point) float64 { return p.await })
		s.demand[c] = fitLine(s.points[c], func(p point) float64 { return p.demand })
	}
	return s
}

// fitLine returns the line with the least sum of squares of relative errors.
func fitLine(points []point, y func(point) float64) line {
	var w, wx, wxx, wy, wxy float64
	for _, p := range points {
		if y(p) <= 0 {
			continue
		}
		weight := 1 / (y(p) * y(p))
		w, wx, wxx = w+weight, wx+weight*p.bytes, wxx+weight*p.bytes*p.bytes
		wy, wxy = wy+weight*y(p), wxy+weight*p.bytes*y(p)
	}
	det := w*wxx - wx*wx
	if det <= 0 {
		return line{}
	}
	l := line{fixed: (wxx*wy - wx*wxy) / det, perByte: (w*wxy - wx*wy) / det}
	if l.fixed < 0 {
		return line{perByte: wxy / wxx}
	}
	return l
}

// relative returns the mean and the largest relative error of a line.
func (l line) relative(points []point, y func(point) float64) (mean, worst float64) {
	for _, p := range points {
		e := math.Abs(l.at(p.bytes)/y(p) - 1)
		mean, worst = mean+e/float64(len(points)), max(worst, e)
	}
	return mean, worst
}
