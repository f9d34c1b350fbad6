package text

import (
	"fmt"
	"math"
	"strconv"
	"strings"
	"time"
)

// Absent stands where a table has no number to show.
const Absent = "-"

// Times writes a dilation or another factor: 1.18 is "1.18×". A factor that is
// not finite is [Absent].
func Times(factor float64) string {
	if !isFinite(factor) {
		return Absent
	}
	return Decimal(factor, 2) + "×"
}

// Added writes what is added to a dilation: 2.84 is "+2.84". What is not finite is [Absent].
func Added(part float64) string {
	if !isFinite(part) {
		return Absent
	}
	return "+" + Decimal(part, 2)
}

// TimesAbove writes a factor that is above a limit, rounded up to one decimal, and above 10 to none: "1.7×".
func TimesAbove(factor float64) string {
	unit := 10.0
	if factor > unit {
		unit = 1
	}
	return fmt.Sprintf("%v×", math.Ceil(factor*unit)/unit)
}

// TimesWithin writes a factor with the half width of its interval, as far as it has
// one: "1.42 ± 0.05×".
func TimesWithin(factor float64, halfWidth *float64) string {
	if halfWidth == nil {
		return Times(factor)
	}
	return strings.TrimSuffix(Times(factor), "×") + fmt.Sprintf(" ± %.2f×", *halfWidth)
}

// Percent writes a fraction: 0.95 is "95.0%". One decimal, and as many more
// (four at most) as it takes not to round less than everything up to 100%, or
// more than nothing down to 0%: 0.9999 is "99.99%". Closer than that it is
// "99.9999%", or "0.0001%". A fraction that is not finite is [Absent].
func Percent(fraction float64) string {
	if !isFinite(fraction) {
		return Absent
	}
	const fewest, most = 1, 4
	percent := 100 * fraction
	for decimals := fewest; decimals <= most; decimals++ {
		unit := math.Pow10(decimals)
		rounded := math.Round(percent*unit) / unit
		claimsAll := rounded == 100 && fraction < 1
		claimsNone := rounded == 0 && fraction != 0
		if !claimsAll && !claimsNone {
			return Decimal(percent, decimals) + "%"
		}
	}
	unit := math.Pow10(-most)
	if percent > unit {
		return Decimal(100-unit, most) + "%"
	}
	return Decimal(math.Copysign(unit, percent), most) + "%"
}

// Seconds writes seconds with a fixed number of decimals, for columns that
// people compare: Seconds(290.56, 2) is "290.56s". Seconds that are not finite
// are [Absent].
func Seconds(seconds float64, decimals int) string {
	if !isFinite(seconds) {
		return Absent
	}
	return Decimal(seconds, decimals) + "s"
}

// Elapsed writes a duration to about three digits in the units people use for
// its size: "350µs", "12ms", "78.1s", "13m 05s", "4h 12m", "6d 04:12" (days,
// hours and minutes).
func Elapsed(d time.Duration) string {
	if d < 0 {
		// The most negative duration has no positive counterpart.
		return "-" + Elapsed(max(-d, -(d+1)))
	}
	const day = 24 * time.Hour
	switch {
	case d.Round(time.Microsecond) < time.Millisecond:
		return strconv.FormatInt(d.Round(time.Microsecond).Microseconds(), 10) + "µs"
	case d.Round(time.Millisecond) < time.Second:
		return strconv.FormatInt(d.Round(time.Millisecond).Milliseconds(), 10) + "ms"
	case d.Round(100*time.Millisecond) < 10*time.Minute:
		return Decimal(d.Seconds(), 1) + "s"
	case d.Round(time.Second) < time.Hour:
		d = d.Round(time.Second)
		return strconv.Itoa(int(d.Minutes())) + "m " + twoDigits(d%time.Minute/time.Second) + "s"
	case d.Round(time.Minute) < day:
		d = d.Round(time.Minute)
		return strconv.Itoa(int(d.Hours())) + "h " + twoDigits(d%time.Hour/time.Minute) + "m"
	default:
		d = d.Round(time.Minute)
		return strconv.Itoa(int(d/day)) + "d " + twoDigits(d%day/time.Hour) + ":" + twoDigits(d%time.Hour/time.Minute)
	}
}

// Ago writes how long before now something was, in minutes: 12.5 min ago, now.
func Ago(d time.Duration) string {
	if d == 0 {
		return "now"
	}
	return Compact(d.Minutes()) + " min ago"
}

// ElapsedSeconds writes seconds as [Elapsed] does, or all of them where they are more
// than a [time.Duration] holds. Seconds that are not finite are [Absent].
func ElapsedSeconds(seconds float64) string {
	const longest = 9e9
	if !(math.Abs(seconds) < longest) {
		return Seconds(seconds, 0)
	}
	return Elapsed(time.Duration(seconds * float64(time.Second)))
}

// Count writes a whole number with thousands separators: 88120 is "88,120".
func Count(n int64) string { return grouped(strconv.FormatInt(n, 10)) }

// Value writes a measurement with three or four significant digits, as charts
// label them: 1.31, 41.2, 181, 12,346. A value that is not finite is [Absent].
func Value(x float64) string {
	switch size := math.Abs(x); {
	case !isFinite(x):
		return Absent
	case size >= 1e15:
		return strconv.FormatFloat(x, 'e', 2, 64)
	case size >= 999.5:
		return Decimal(x, 0)
	case size >= 9.995:
		return Decimal(x, 1)
	case size >= 0.9995, x == 0:
		return Decimal(x, 2)
	default:
		return strconv.FormatFloat(x, 'g', 3, 64)
	}
}

// Amount writes a number that is mostly whole: as a count if it is, else as
// [Value] does.
func Amount(x float64) string {
	if x == math.Trunc(x) && math.Abs(x) < 1e15 {
		return Decimal(x, 0)
	}
	return Value(x)
}

func isFinite(x float64) bool { return !math.IsNaN(x) && !math.IsInf(x, 0) }

// Decimal writes a finite x with that many decimals, with thousands separators
// and never as "-0".
func Decimal(x float64, decimals int) string {
	s := strconv.FormatFloat(x, 'f', decimals, 64)
	if strings.Trim(s, "-0.") == "" {
		s = strings.TrimPrefix(s, "-")
	}
	return grouped(s)
}

// Exact writes a finite x with all of its digits and thousands separators.
func Exact(x float64) string { return grouped(strconv.FormatFloat(x, 'f', -1, 64)) }

// grouped puts commas between the thousands of a decimal number.
func grouped(number string) string {
	sign := ""
	if strings.HasPrefix(number, "-") {
		sign, number = "-", number[1:]
	}
	whole, fraction, hasFraction := strings.Cut(number, ".")
	for i := len(whole) - 3; i > 0; i -= 3 {
		whole = whole[:i] + "," + whole[i:]
	}
	if hasFraction {
		return sign + whole + "." + fraction
	}
	return sign + whole
}

func twoDigits(n time.Duration) string {
	if n < 10 {
		return "0" + strconv.Itoa(int(n))
	}
	return strconv.Itoa(int(n))
}

// Compact writes a finite x with up to four significant digits, with an exponent if that
// is shorter, and never as "-0".
func Compact(x float64) string {
	if x == 0 {
		return "0"
	}
	return strconv.FormatFloat(x, 'g', 4, 64)
}
