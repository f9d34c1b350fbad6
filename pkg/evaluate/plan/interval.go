package plan

import "math"

// Interval is a number that is known within bounds: its 95 % confidence interval.
type Interval struct {
	Value float64 `json:"value"`
	Low   float64 `json:"low"`
	High  float64 `json:"high"`
}

// short returns by how much of the number it may be less.
func (i Interval) short() float64 {
	if i.Value == 0 {
		return 0
	}
	return max(0, i.Value-i.Low) / math.Abs(i.Value)
}

// Record is what changes of each kind won, of what was predicted.
type Record map[Action]Kept

// Kept sums up the changes of a kind: how many there were, and the sums of what each won over what was predicted, and of the squares of
// that.
type Kept struct {
	Changes      int
	Sum, Squares float64
}

// Add adds a change that won a part of what was predicted, which may be below 0 or above 1.
func (r Record) Add(a Action, part float64) {
	k := r[a]
	k.Changes++
	k.Sum += part
	k.Squares += part * part
	r[a] = k
}

const (
	// expected is the part of a predicted win that comes true by a model that is right on average, expectedSpread its standard deviation
	// by what remedies won that were carried out (test/observed), and presumed how many changes of the record that is worth.
	expected, expectedSpread, presumed = 1, 0.25, 4
	// normal is the half width of a 95 % confidence interval, in standard deviations.
	normal = 1.96
)

// part returns the mean and the standard deviation of the part of a predicted win of a kind that comes true.
func (r Record) part(a Action) (mean, deviation float64) {
	k := r[a]
	n := float64(presumed + k.Changes)
	mean = (presumed*expected + k.Sum) / n
	squares := presumed*(expectedSpread*expectedSpread+expected*expected) + k.Squares
	return mean, math.Sqrt(max(0, squares/n-mean*mean))
}

// interval returns a win of a kind with its bounds, given the standard deviation that comes from the load.
func (r Record) interval(a Action, win, load float64) Interval {
	mean, deviation := r.part(a)
	half := normal * math.Hypot(deviation*win, load)
	return Interval{win, mean*win - half, mean*win + half}
}

// deviation returns the standard deviation of some values.
func deviation(values []float64) float64 {
	mean, squares := 0.0, 0.0
	for _, v := range values {
		mean += v / float64(len(values))
	}
	for _, v := range values {
		squares += (v - mean) * (v - mean)
	}
	return math.Sqrt(squares / float64(len(values)-1))
}
