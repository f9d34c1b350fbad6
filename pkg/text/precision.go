package text

import (
	"math"
	"strconv"
	"strings"
)

// ExactPercent writes a finite fraction from a manifest with all of its digits:
// "95.0%" or "99.75%".
func ExactPercent(fraction float64) string {
	const dust = 1e9 // the rounding error of a percentage lies below its inverse
	return withDecimal(strconv.FormatFloat(math.Round(100*fraction*dust)/dust, 'f', -1, 64)) + "%"
}

// Duration writes a finite time from a manifest with all of its digits: "3.0s", "1.25s" or "250ms".
func Duration(seconds float64) string {
	if seconds < 1 {
		return strconv.FormatFloat(seconds*1000, 'g', 6, 64) + "ms"
	}
	return grouped(withDecimal(strconv.FormatFloat(seconds, 'f', -1, 64))) + "s"
}

// withDecimal gives whole numbers a decimal.
func withDecimal(number string) string {
	if strings.Contains(number, ".") {
		return number
	}
	return number + ".0"
}

// PercentBeside is Percent with as many more decimals (eight at most) as it takes to
// tell on which side of another fraction the fraction is.
func PercentBeside(fraction, other float64) string {
	if !isFinite(fraction) {
		return Absent
	}
	const most = 8
	text := Percent(fraction)
	for decimals := 2; decimals <= most && !isOnItsSide(text, fraction, other); decimals++ {
		text = Decimal(100*fraction, decimals) + "%"
	}
	return text
}

// isOnItsSide reports whether the text of a percentage is on the side of another fraction
// that the fraction is on: not below where it is not below.
func isOnItsSide(text string, fraction, other float64) bool {
	const dust = 1e-12
	percent, err := strconv.ParseFloat(strings.TrimSuffix(text, "%"), 64)
	return err != nil || (percent/100 >= other-dust) == (fraction >= other)
}

// Apart writes a finite number and a larger one with as many decimals as it takes to see
// how far they are apart. The larger one is rounded down, for it is a limit.
func Apart(now, most float64) (nowText, mostText string) {
	const fewest, digits = 2, 6
	decimals := digits
	if room := most - now; room > 0 {
		decimals = int(min(max(math.Ceil(-math.Log10(room))+1, 0), digits))
	}
	if now < 100 {
		decimals = max(decimals, fewest)
	}
	unit := math.Pow10(decimals)
	return Decimal(now, decimals), Decimal(math.Floor(most*unit*(1+1e-12))/unit, decimals)
}
