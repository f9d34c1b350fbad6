package chart

import (
	"strings"

	"gonum.org/v1/plot"

	"loadline.dev/loadline/pkg/text"
)

// timeScale is the unit of a time axis.
type timeScale struct {
	unit    string
	seconds float64
}

// scaleFor is the unit that suits times up to the horizon.
func scaleFor(horizonSeconds float64) timeScale {
	switch {
	case horizonSeconds <= 2*3600:
		return timeScale{"s", 1}
	case horizonSeconds <= 4*86400:
		return timeScale{"hours", 3600}
	default:
		return timeScale{"days", 86400}
	}
}

// Ticks marks whole or round multiples of the unit; values are in seconds.
func (s timeScale) Ticks(low, high float64) []plot.Tick {
	ticks := linearTicks(low/s.seconds, high/s.seconds)
	for i := range ticks {
		ticks[i].Value *= s.seconds
	}
	return ticks
}

// instant writes a time: 290.56s on an axis of seconds, else 4h 12m; 0s on any.
func (s timeScale) instant(seconds float64) string {
	if s.seconds > 1 && seconds > 0 {
		return text.ElapsedSeconds(seconds)
	}
	return strings.TrimSuffix(strings.TrimRight(text.Decimal(seconds, 2), "0"), ".") + "s"
}
