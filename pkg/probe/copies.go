package probe

import (
	"context"
	"errors"
	"fmt"
	"math"
	"runtime"
	"slices"
	"time"
)

const (
	// MinCheck is the least time in which to find out how much two copies slow each other
	// down.
	MinCheck = 500 * time.Millisecond
	// pairs is how many times two copies are compared with one.
	pairs = 4
	// mostComputing is how much of its time a job may compute that waits for another
	// resource.
	mostComputing = 0.5
	// student is the 97.5 % quantile of Student's t distribution with pairs-1 degrees of
	// freedom.
	student = 3.182
)

// comparison is what two copies of a job do to each other.
type comparison struct {
	dilation       float64 // of each at the resource, at least about 1
	err            float64 // half the width of its 95 % confidence interval
	unitsPerSecond float64 // of one copy alone
}

// compareCopies alternates one and two copies of a job, each of n workers, in slices of
// the time: A B A B … A, after a slice of both to warm up, so that what drifts evenly
// cancels.
func compareCopies(ctx context.Context, a, b *workers, n int, within time.Duration) (comparison, error) {
	runtime.GC() // nothing collects garbage while it is measured
	one := a.units[:n]
	two := slices.Concat(one, b.units[:n])
	slice := within / (2*pairs + 2)
	if _, err := findPace(ctx, two, slice); err != nil {
		return comparison{}, err
	}
	before, err := findPace(ctx, one, slice)
	if err != nil {
		return comparison{}, err
	}
	var c comparison
	var dilations [pairs]float64
	for i := range dilations {
		both, err := findPace(ctx, two, slice)
		if err != nil {
			return comparison{}, err
		}
		after, err := findPace(ctx, one, slice)
		if err != nil {
			return comparison{}, err
		}
		alone := (before.unitsPerSecond + after.unitsPerSecond) / 2
		dilations[i] = 2 * alone / both.unitsPerSecond
		if a.waits {
			dilations[i] = atResource(dilations[i], (before.computing+after.computing)/2, n, runtime.NumCPU())
		}
		c.unitsPerSecond += alone / pairs
		before = after
	}
	c.dilation, c.err = mean(dilations[:])
	return c, nil
}

// atResource returns how much two copies would slow each other down that spend all their
// time at a resource, from how much those do of which each of n workers computes a
// fraction of its time alone: with few cores the copies are in each other's way there,
// too, and all the less at the resource, λ = 1 + a²·n/cores + (1 − a)²·(λ' − 1). A job that
// computes most of the time does not keep another resource busy, however much two of
// them slow each other down: 1.
func atResource(dilation, computing float64, n, cores int) float64 {
	if computing > mostComputing {
		return 1
	}
	processors := computing * computing * min(1, float64(n)/float64(cores))
	return 1 + (dilation-1-processors)/((1-computing)*(1-computing))
}

// mean returns the mean of the dilations, and half the width of its 95 % confidence
// interval.
func mean(dilations []float64) (mean, half float64) {
	n := float64(len(dilations))
	for _, d := range dilations {
		mean += d / n
	}
	squares := 0.0
	for _, d := range dilations {
		squares += (d - mean) * (d - mean)
	}
	return mean, student * math.Sqrt(squares/(n-1)/n)
}

// errTooSlow is the error of a slice in which nothing was done.
var errTooSlow = errors.New("no unit of work was done in the time: give it more")

// pace is how fast workers are together.
type pace struct {
	unitsPerSecond float64
	computing      float64 // the fraction of its time that each computes
}

// findPace finds how fast workers are, without the first tenth of the time, in which
// they start.
func findPace(ctx context.Context, units []unit, duration time.Duration) (pace, error) {
	w, err := work(ctx, units, limits{duration: duration}, duration/20)
	if err != nil {
		return pace{}, err
	}
	if err := ctx.Err(); err != nil {
		return pace{}, err
	}
	_, last := w.series.Span()
	rate, ok := w.series.Rate(w.series.Begin+duration.Nanoseconds()/10, last)
	if !ok || rate == 0 {
		return pace{}, fmt.Errorf("%w (%v)", errTooSlow, duration)
	}
	each := float64(w.cpuNanos) / 1e9 / float64(w.units) // processor time of a unit
	return pace{rate, each * rate / float64(len(units))}, nil
}
