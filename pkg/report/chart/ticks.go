package chart

import (
	"math"
	"strconv"

	"gonum.org/v1/plot"

	"loadline.dev/loadline/pkg/text"
)

// linearTicks marks multiples of 1, 2 or 5 times a power of ten, three to ten
// of them.
func linearTicks(low, high float64) []plot.Tick {
	step := niceStep((high - low) / 9)
	decimals := max(0, int(-math.Floor(math.Log10(step)+1e-9)))
	var ticks []plot.Tick
	for n := math.Ceil(low/step - 1e-9); n*step <= high+step*1e-9; n++ {
		ticks = append(ticks, plot.Tick{Value: n * step, Label: tickLabel(n*step, decimals)})
	}
	return ticks
}

// logTicks marks round factors of the powers of ten, the fewer the more powers
// there are. An axis that spans less than a factor of three has the ticks of a
// linear one.
func logTicks(low, high float64) []plot.Tick {
	var factors []float64
	switch span := high / low; {
	case span < 3:
		return linearTicks(low, high)
	case span < 20:
		factors = []float64{1, 1.5, 2, 3, 5, 7}
	case span < 1e4:
		factors = []float64{1, 2, 5}
	default:
		factors = []float64{1}
	}
	first, last := math.Floor(math.Log10(low)), math.Ceil(math.Log10(high))
	every := math.Max(1, math.Ceil((last-first)/12))
	var ticks []plot.Tick
	for exponent := first; exponent <= last; exponent += every {
		for _, factor := range factors {
			x := rounded(factor * math.Pow(10, exponent))
			if x < low*(1-1e-9) || x > high*(1+1e-9) {
				continue
			}
			ticks = append(ticks, plot.Tick{Value: x, Label: compactTick(x)})
		}
	}
	return ticks
}

// tickLabel writes a tick without an exponent unless that takes too long.
func tickLabel(x float64, decimals int) string {
	if decimals > 6 || math.Abs(x) >= 1e9 {
		return text.Compact(x)
	}
	return text.Decimal(x, decimals)
}

// compactTick is tickLabel for ticks that need different numbers of decimals.
func compactTick(x float64) string {
	if x < 1e-4 || x >= 1e9 {
		return text.Compact(x)
	}
	return text.Exact(x)
}

// niceStep is the least of 1, 2 and 5 times a power of ten that is not below
// the given step.
func niceStep(step float64) float64 {
	power := math.Pow(10, math.Floor(math.Log10(step)))
	for _, factor := range []float64{1, 2, 5} {
		if factor*power >= step*(1-1e-9) {
			return factor * power
		}
	}
	return 10 * power
}

// rounded takes the binary dust off a product that is a short decimal.
func rounded(x float64) float64 {
	short, err := strconv.ParseFloat(text.Compact(x), 64)
	if err != nil {
		return x
	}
	return short
}

// percentTicks marks fractions and labels them in percent.
func percentTicks(fractions ...float64) plot.ConstantTicks {
	ticks := make(plot.ConstantTicks, len(fractions))
	for i, fraction := range fractions {
		ticks[i] = plot.Tick{Value: fraction, Label: text.Decimal(100*fraction, 0) + "%"}
	}
	return ticks
}
