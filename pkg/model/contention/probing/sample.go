package probing

import (
	"fmt"
	"math"
)

// Sample is one round of a measurement: a probe and its target, alone and beside
// each other. What was not taken is 0.
type Sample struct {
	// Probe is the dilation of the probe: its rate alone over its rate beside the
	// target, from [LeastDilation] to [MostDilation].
	Probe float64
	// Neutral and Beside are the completion times of the target alone and beside
	// the probe, in the same unit. A round has both or the target was not measured
	// in it. Their ratio is as that of the rates.
	Neutral, Beside float64
}

func (s Sample) hasProbe() bool  { return s.Probe != 0 }
func (s Sample) hasTarget() bool { return s.Neutral != 0 && s.Beside != 0 }

// validate returns an error that names the field, the value and the rule.
func (s Sample) validate() error {
	if rule := dilationRule(s.Probe); s.hasProbe() && rule != "" {
		return fmt.Errorf("probe: %v %s", s.Probe, rule)
	}
	for _, time := range []struct {
		field string
		value float64
	}{{"neutral", s.Neutral}, {"beside", s.Beside}} {
		if !(time.value >= 0) || math.IsInf(time.value, 1) {
			return fmt.Errorf("%s: %v is not a completion time: a positive, finite number, or 0 where it was not taken", time.field, time.value)
		}
	}
	if rule := dilationRule(s.Beside / s.Neutral); s.hasTarget() && rule != "" {
		return fmt.Errorf("beside: %v over neutral %v: %.4g %s", s.Beside, s.Neutral, s.Beside/s.Neutral, rule)
	}
	return nil
}
