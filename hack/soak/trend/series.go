package trend

import (
	"cmp"
	"math"
	"slices"
	"time"
)

// Point is what was sampled at a time since the series' beginning, or of a counter what was counted until then.
type Point struct {
	At    time.Duration
	Value float64
}

// finite returns the points whose values are numbers, in the order of their times.
func finite(points []Point) []Point {
	all := slices.DeleteFunc(slices.Clone(points), func(p Point) bool { return math.IsNaN(p.Value) || math.IsInf(p.Value, 0) })
	slices.SortStableFunc(all, func(a, b Point) int { return cmp.Compare(a.At, b.At) })
	return all
}

// PerMinute returns how fast a counter went up between each point and the one before it, per minute, at the time of the later one; and how
// often it was reset, that is, was less than before: then it has counted from 0 on.
func PerMinute(counter []Point) (rates []Point, resets int) {
	counter = finite(counter)
	for i := 1; i < len(counter); i++ {
		more, took := counter[i].Value-counter[i-1].Value, counter[i].At-counter[i-1].At
		if took <= 0 {
			continue
		}
		if more < 0 {
			resets++
			more = counter[i].Value
		}
		rates = append(rates, Point{At: counter[i].At, Value: more / took.Minutes()})
	}
	return rates, resets
}

// Cycles returns the mean of the points of each period of the load, at its middle. Periods begin at 0; those that begin before the warm-up
// ends or end after the run does are left out, and so are those with fewer than half as many points as the period with the most has: what was
// not sampled evenly is not comparable.
func Cycles(points []Point, period, warmUp, length time.Duration) []Point {
	sums, numbers := map[int]float64{}, map[int]int{}
	most := 0
	for _, p := range finite(points) {
		if p.At < 0 {
			continue
		}
		k := int(p.At / period)
		sums[k] += p.Value
		numbers[k]++
		most = max(most, numbers[k])
	}
	var cycles []Point
	for k, n := range numbers {
		if begin := time.Duration(k) * period; begin >= warmUp && begin+period <= length && 2*n >= most {
			cycles = append(cycles, Point{At: begin + period/2, Value: sums[k] / float64(n)})
		}
	}
	return finite(cycles)
}
