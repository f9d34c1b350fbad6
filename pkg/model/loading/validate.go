package loading

import (
	"errors"
	"fmt"
	"math"
)

// A DemandError says which demand of a vector is invalid and why.
type DemandError struct {
	Resource int     // index into the vector; −1 for a rule on the whole vector
	Field    string  // such as "loading" or "effect.curve[1].inflation"
	Value    float64 // the value found
	Rule     string  // the rule that it breaks
}

func (e *DemandError) Error() string {
	if e.Resource < 0 {
		return fmt.Sprintf("%s: %v %s", e.Field, e.Value, e.Rule)
	}
	return fmt.Sprintf("resource %d: %s: %v %s", e.Resource, e.Field, e.Value, e.Rule)
}

// sumTolerance is the allowed excess over 1 of the sum of a vector's loadings: decimal fractions such as 0.58 and
// 0.42 are not exact in binary.
const sumTolerance = 1e-9

// Validate returns nil, or a [DemandError] for the first rule that v breaks:
// loadings, pressures and sensitivities are fractions from 0 to 1, the loadings
// add up to at most 1 (Eq. (2) of the D-factor paper; the rest is idle time), and
// threads are between 1 (or 0, which means 1) and [MaxThreads]. Effects are valid, and at resources without a queue.
func (v Vector) Validate() error {
	sum := 0.0
	for i, d := range v {
		if !(d.Loading >= 0 && d.Loading <= 1) { // also catches NaN
			return &DemandError{i, "loading", d.Loading, "is not a fraction from 0 to 1"}
		}
		if !(d.Pressure >= 0 && d.Pressure <= 1) {
			return &DemandError{i, "pressure", d.Pressure, "is not a fraction from 0 to 1"}
		}
		if !(d.Sensitivity >= 0 && d.Sensitivity <= 1) {
			return &DemandError{i, "sensitivity", d.Sensitivity, "is not a fraction from 0 to 1"}
		}
		if d.Threads < 0 || d.Threads > MaxThreads {
			return &DemandError{i, "threads", float64(d.Threads), fmt.Sprintf("is not between 1 and %d", MaxThreads)}
		}
		if !(d.Burst >= 0) || math.IsInf(d.Burst, 1) {
			return &DemandError{i, "burst", d.Burst, "is not at least 0 and finite"}
		}
		if d.Device < 0 || d.Device > MaxDevices {
			return &DemandError{i, "device", float64(d.Device), fmt.Sprintf("is not between 1 and %d", MaxDevices)}
		}
		if err := v.validateEffect(i); err != nil {
			return err
		}
		sum += d.Loading
	}
	if sum > 1+sumTolerance {
		return &DemandError{-1, "loading", math.Round(sum*1e9) / 1e9, "in all is more than 1: loadings are fractions of the neutral time"}
	}
	return nil
}

// validateEffect returns a [DemandError] for an effect that is invalid or out of place.
func (v Vector) validateEffect(resource int) error {
	d := v[resource]
	if d.Effect == nil {
		return nil
	}
	of := d.Effect.Of
	switch {
	case of < 0 || of < len(v) && v[of].Effect != nil:
		return &DemandError{resource, "effect.of", float64(of), "is not the index of a resource with a queue"}
	case d.Loading != 0:
		return &DemandError{resource, "loading", d.Loading, "is at a resource that is shared without a queue"}
	case !d.Idle() || d.Sensitivity != 0:
		return &DemandError{resource, "pressure", max(d.Pressure, d.Sensitivity), "is at a resource that is shared without a queue: it belongs to the effect"}
	}
	if field, value, rule := d.Effect.validate(); rule != "" {
		return &DemandError{resource, "effect." + field, value, rule}
	}
	return nil
}

// ValidateOn returns an error for a vector that is invalid, or too long for the
// resources of a node.
func (v Vector) ValidateOn(servers []int) error {
	if err := v.Validate(); err != nil {
		return err
	}
	if len(v) > len(servers) {
		return fmt.Errorf("%d demands for %d resources", len(v), len(servers))
	}
	for i, d := range v {
		if d.Effect != nil && d.Effect.Of >= len(servers) {
			return &DemandError{i, "effect.of", float64(d.Effect.Of), fmt.Sprintf("is not the index of one of %d resources", len(servers))}
		}
	}
	return nil
}

// ErrServers is wrapped by the error that [ValidateServers] returns.
var ErrServers = errors.New("invalid number of servers")

// ValidateServers returns an error that wraps [ErrServers] unless every
// resource has between 1 and [MaxServers] servers.
func ValidateServers(servers []int) error {
	for i, c := range servers {
		if c < 1 || c > MaxServers {
			return fmt.Errorf("resource %d: %w: %d is not between 1 and %d", i, ErrServers, c, MaxServers)
		}
	}
	return nil
}
