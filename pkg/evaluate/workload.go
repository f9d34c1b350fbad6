package evaluate

import "errors"

// ErrNoVector says that a profile leaves its vector to a measurement or to observations
// that are not there.
var ErrNoVector = errors.New("has no loading vector yet: list it in spec.resources, or wait until status.measurements holds what was measured, or status.observations what is recommended")
