package profile

import (
	"errors"
	"fmt"
)

// ErrNoVector says that a profile leaves its vector to a measurement or to observations
// that are not there.
var ErrNoVector = errors.New("has no loading vector yet: list it in spec.resources, or wait until status.measurements holds what was measured, or status.observations what is recommended")

// NoVector returns why no vector of the workload is in use: [ErrNoVector], or that the measured one is too wide.
func (w *Workload) NoVector() error {
	if wide := w.TooWide(); len(wide) > 0 {
		return fmt.Errorf("has no loading vector: what was measured is not used, being wider than ± %.2f: %s; have it measured again, or list the vector in spec.resources",
			MaxError, TooWide(wide[0]))
	}
	return ErrNoVector
}
