package trend

import (
	"math"
	"slices"
	"time"

	"gonum.org/v1/gonum/stat"
	"gonum.org/v1/gonum/stat/distuv"
)

// confidence is that of intervals.
const confidence = 0.95

// maxCorrelation is the highest correlation with the value before that is corrected for: with a higher one the values are a random walk,
// whose slope no number of them says.
const maxCorrelation = 0.95

// Slope is how fast a series grows a day, with a 95 % interval.
type Slope struct {
	PerDay, Low, High float64
	// Correlation is that of the values' distances from the line with those before them, as it was corrected for.
	Correlation float64
}

// slope returns the slope of points, which are at least three at different times, for days of some length.
func slope(points []Point, day time.Duration) Slope {
	n := len(points)
	slopes := make([]float64, 0, n*(n-1)/2)
	for i := range points {
		for j := range i {
			slopes = append(slopes, (points[i].Value-points[j].Value)/days(points[i], points[j], day))
		}
	}
	slices.Sort(slopes)
	middle := median(slopes)
	s := Slope{PerDay: middle, Correlation: correlation(points, middle, day)}
	z := distuv.UnitNormal.Quantile((1 + confidence) / 2)
	half := z * math.Sqrt(variance(points)*inflation(n, s.Correlation)) / 2
	count := float64(len(slopes)) / 2
	s.Low, s.High = ranked(slopes, count-half), ranked(slopes, count+half+1)
	return s
}

// days returns how many days a point is after another one.
func days(later, earlier Point, day time.Duration) float64 {
	return float64(later.At-earlier.At) / float64(day)
}

// median returns the median of sorted values.
func median(sorted []float64) float64 {
	return (sorted[(len(sorted)-1)/2] + sorted[len(sorted)/2]) / 2
}

// ranked returns the value of a rank, from 1 on, between those of the ranks beside it; the first and the last beyond them.
func ranked(sorted []float64, rank float64) float64 {
	low := math.Floor(rank)
	at := func(k float64) float64 { return sorted[min(max(int(k)-1, 0), len(sorted)-1)] }
	return at(low) + (rank-low)*(at(low+1)-at(low))
}

// variance returns that of Kendall's S where the values are independent, with the correction for ties (Kendall 1975, Eq. 4.9).
func variance(points []Point) float64 {
	of := func(n float64) float64 { return n * (n - 1) * (2*n + 5) / 18 }
	values := make([]float64, len(points))
	for i, p := range points {
		values[i] = p.Value
	}
	slices.Sort(values)
	v, tied := of(float64(len(values))), 1
	for i := 1; i <= len(values); i++ {
		if i < len(values) && values[i] == values[i-1] {
			tied++
			continue
		}
		v -= of(float64(tied))
		tied = 1
	}
	return v
}

// correlation returns that of the distances of points from a line of some slope with the ones before them. It is corrected for its bias
// after a line was taken out, (2 + 4ρ)/n (Kendall 1954), and is at least 0: a negative one would make the interval narrower.
func correlation(points []Point, perDay float64, day time.Duration) float64 {
	n := float64(len(points))
	rest := make([]float64, len(points))
	for i, p := range points {
		rest[i] = p.Value - perDay*days(p, points[0], day)
	}
	mean, variance := stat.PopMeanVariance(rest, nil)
	if variance == 0 || n < 6 {
		return 0
	}
	var sum float64
	for i := 1; i < len(rest); i++ {
		sum += (rest[i] - mean) * (rest[i-1] - mean)
	}
	r := sum / (n * variance)
	return min(max((n*r+2)/(n-4), 0), maxCorrelation)
}

// inflation returns how many times as large the variance of Kendall's S is for n values of which each is correlated with the one before it
// (Eq. 8 of Hamed and Rao, J. Hydrology 204, 1998). The correlation of ranks is (6/π) arcsin(ρ/2) for normal values.
func inflation(n int, correlation float64) float64 {
	sum := 0.0
	for k := 1; k < n; k++ {
		ranks := 6 / math.Pi * math.Asin(math.Pow(correlation, float64(k))/2)
		sum += float64(n-k) * float64(n-k-1) * float64(n-k-2) * ranks
	}
	return 1 + 2*sum/(float64(n)*float64(n-1)*float64(n-2))
}
