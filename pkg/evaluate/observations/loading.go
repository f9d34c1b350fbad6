package observations

import "math"

// MinMinutes is in how many minutes of the window a loading must have been observed to say anything.
const MinMinutes = 5

// Loading is what was observed of a fraction of time of pods. The zero Loading is one of which nothing is known.
type Loading struct {
	// Mean is over pods and time, from 0 to 1, and Spread the standard deviation between pods and moments: the samples.
	Mean, Spread float64
	// Minutes is in how many minutes of the window it was observed.
	Minutes int
	// Number is how many samples there are, of like weight: (Σw)²/Σw².
	Number float64
}

// Enough reports whether a loading was observed for long enough to say anything.
func (l *Loading) Enough() bool { return l.Minutes >= MinMinutes }

// Margin returns the half width of an interval around the mean: the given number of standard errors, as if samples were
// independent. With a single sample it is 1, so that the interval has every loading.
func (l *Loading) Margin(standardErrors float64) float64 {
	if l.Number <= 1 {
		return 1
	}
	return standardErrors * l.Spread / math.Sqrt(l.Number)
}

// moments are sums over samples of a loading, by which its mean and its variance follow. The weight of a sample is its time in seconds.
type moments struct {
	weight, weightSquare, sum, square float64
	minutes                           int // of which there are samples
}

// sample adds a sample of a weight, at least 0, to those of a minute.
func (m *moments) sample(weight, loading float64) {
	if weight <= 0 {
		return
	}
	m.minutes = 1
	m.weight += weight
	m.weightSquare += weight * weight
	m.sum += weight * loading
	m.square += weight * loading * loading
}

// add adds those of another minute.
func (m *moments) add(other *moments) {
	m.minutes += other.minutes
	m.weight += other.weight
	m.weightSquare += other.weightSquare
	m.sum += other.sum
	m.square += other.square
}

// loading returns what the samples say.
func (m *moments) loading() Loading {
	if m.weight <= 0 {
		return Loading{}
	}
	mean := m.sum / m.weight
	l := Loading{Mean: min(1, mean), Minutes: m.minutes, Number: m.weight * m.weight / m.weightSquare}
	if l.Number > 1 {
		l.Spread = math.Sqrt(max(0, m.square/m.weight-mean*mean) * l.Number / (l.Number - 1))
	}
	return l
}
