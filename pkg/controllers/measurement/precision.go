package measurement

import (
	"fmt"
	"math"
	"strconv"
	"strings"

	"k8s.io/apimachinery/pkg/api/resource"

	"loadline.dev/loadline/apis/loadline/v1alpha1"
	"loadline.dev/loadline/pkg/model/experiment"
	"loadline.dev/loadline/pkg/model/probing"
)

// reportedError returns a half width for a result: in thousandths, rounded up, so that none looks
// more precise than it is. The reported number is the one compared with the precision asked for.
func reportedError(e probing.Estimate) float64 { return math.Ceil(e.Error*1000-1e-6) / 1000 }

// precise reports whether a result is as precise as was asked for after a number of rounds.
func (s *settings) precise(result experiment.Result, rounds int32) bool {
	if rounds < s.minRounds() || len(result.Components) == 0 {
		return false
	}
	for _, c := range result.Components {
		for _, e := range []probing.Estimate{c.Loading, c.Pressure} {
			if e.Taken() && wider(reportedError(e), s.precision) {
				return false
			}
		}
	}
	for _, i := range result.Interference {
		for _, e := range i.Sensitivity.Inflations {
			if wider(reportedError(e)/e.Value, s.precision) {
				return false
			}
		}
	}
	return true
}

// wider reports whether a reported error is more than the precision asked for.
func wider(reported, precision float64) bool { return reported > precision+1e-6 }

// interval is a measured number with the half width of its 95 % confidence interval, +Inf
// where that is not known.
type interval struct{ value, err float64 }

func newInterval(value, err *resource.Quantity) interval {
	i := interval{value.AsApproximateFloat64(), math.Inf(1)}
	if err != nil {
		i.err = err.AsApproximateFloat64()
	}
	return i
}

// minDigits is how many decimals numbers have at least, which suffices for most.
const minDigits = 2

// String returns "0.58 ± 0.02". An error that is not 0 does not look like it.
func (i interval) String() string {
	digits := minDigits
	for i.err > 0 && digits < 9 && strings.Trim(decimal(i.err, digits), "0.") == "" {
		digits++
	}
	return i.text(digits)
}

func (i interval) text(digits int) string {
	if math.IsInf(i.err, 1) {
		return decimal(i.value, digits) + " ± unknown"
	}
	return decimal(i.value, digits) + " ± " + decimal(i.err, digits)
}

func decimal(x float64, digits int) string { return strconv.FormatFloat(x, 'f', digits, 64) }

// shortfall is an interval that is wider than it was to be.
type shortfall struct {
	what string // such as "the pressure of cpu"
	interval
}

// shortfalls returns the components of a result that are less precise than asked for. A loading
// that equals the pressure, as of a service, is named once.
func shortfalls(m *v1alpha1.MeasuredVector, precision float64) []shortfall {
	var all []shortfall
	for _, r := range m.Resources {
		loading, pressure := newInterval(r.Loading, r.LoadingError), newInterval(r.Pressure, r.PressureError)
		if wider(loading.err, precision) {
			all = append(all, shortfall{"the loading of " + r.Name, loading})
		}
		if wider(pressure.err, precision) && pressure != loading {
			all = append(all, shortfall{"the pressure of " + r.Name, pressure})
		}
	}
	return all
}

// lessPrecise names the components that are wider than the precision asked for, with enough digits
// to distinguish each from it: "the pressure of cpu, 0.94 ± 0.07, is less precise than ± 0.05".
func lessPrecise(all []shortfall, precision float64) string {
	digits := minDigits
	for digits < 9 && math.Abs(math.Round(precision*math.Pow10(digits))-precision*math.Pow10(digits)) > 1e-6 {
		digits++ // the precision prints as the user wrote it
	}
	for _, s := range all {
		for wider(s.err, precision) && digits < 9 && decimal(s.err, digits) == decimal(precision, digits) {
			digits++
		}
	}
	parts := make([]string, len(all))
	for i, s := range all {
		parts[i] = fmt.Sprintf("%s, %s,", s.what, s.text(digits))
	}
	verb := "is"
	if len(all) > 1 {
		verb = "are"
	}
	return fmt.Sprintf("%s %s less precise than ± %s", strings.Join(parts, " and "), verb, decimal(precision, digits))
}
