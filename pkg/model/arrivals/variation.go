package arrivals

import (
	"errors"
	"math"

	"gonum.org/v1/gonum/stat"
	"gonum.org/v1/gonum/stat/distuv"
)

// Variation is how much recorded arrivals vary. Of a Poisson process, whose arrivals come at random, both SCV and Dispersion
// are 1; of bursts they are more, of arrivals at regular times less.
type Variation struct {
	// Rate is how many arrivals there are in a second.
	Rate float64
	// SCV is the squared coefficient of variation of the times between arrivals.
	SCV float64
	// Dispersion is the index of dispersion for counts, the variance of the number of arrivals in a window over its mean: unlike
	// SCV it counts, too, that short times follow each other. Windows is of how many windows it is, each of Window seconds.
	Dispersion float64
	Windows    int
	Window     float64
}

// minWindows is of how many windows a dispersion says anything, and minPerWindow how many arrivals a window has on average:
// counts that are nearly all 0 have a dispersion of 1 whatever the process.
const minWindows, minPerWindow = 10, 1

var errFewArrivals = errors.New("there are too few arrivals to tell how they vary: give at least 20, at different times")

// VariationOf returns how much arrivals vary, by the times between them in seconds, none below 0. Windows last atLeast
// seconds, or longer where fewer than one arrival is expected in one. The error says that there are too few arrivals.
//
// The index of dispersion is that of Cox and Lewis, The statistical analysis of series of events, 1966, chapter 4.
func VariationOf(gaps []float64, atLeast float64) (v Variation, err error) {
	mean, variance := stat.MeanVariance(gaps, nil)
	if len(gaps) < 2*minWindows || !(mean > 0) || math.IsInf(mean, 0) {
		return v, errFewArrivals
	}
	v.Rate, v.SCV = 1/mean, variance/(mean*mean)
	v.Window = max(atLeast, minPerWindow*mean)
	whole := mean * float64(len(gaps))
	if v.Windows = int(whole / v.Window); v.Windows < minWindows {
		v.Windows, v.Window = minWindows, whole/minWindows
	}
	counts, at := make([]float64, v.Windows), 0.0
	for _, gap := range gaps {
		if at += gap; at < float64(v.Windows)*v.Window {
			counts[int(at/v.Window)]++
		}
	}
	perWindow, spread := stat.MeanVariance(counts, nil)
	v.Dispersion = spread / perWindow
	return v, nil
}

// Bursty reports whether the arrivals vary more than those of a Poisson process: by a quarter at least, and by more than a Poisson
// process does once in a thousand times. By chance its (n − 1)·Dispersion of n windows is as χ² with n − 1 degrees of freedom.
func (v *Variation) Bursty() bool {
	const byAQuarter, oneInAThousand = 1.25, 0.999
	degrees := float64(v.Windows - 1)
	return v.Dispersion > byAQuarter && degrees*v.Dispersion > distuv.ChiSquared{K: degrees}.Quantile(oneInAThousand)
}
