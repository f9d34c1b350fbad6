package probing

import "fmt"

// The range of one measured dilation. Noise takes those near 1 a little below it; a value outside
// the range was disturbed, or is another quantity.
const (
	MinDilation = 0.8
	MaxDilation = 1e6
)

// Dilations are those of one round: of a probe and its target beside each other. Each is
// a time beside the other over a time without it, or the ratio of such rates, from
// [MinDilation] to [MaxDilation]. What was not measured is 0.
type Dilations struct {
	Probe, Target float64
}

// validate returns an error that names the field, the value and the rule.
func (d Dilations) validate() error {
	if rule := dilationRule(d.Probe); d.Probe != 0 && rule != "" {
		return fmt.Errorf("probe: %v %s", d.Probe, rule)
	}
	if rule := dilationRule(d.Target); d.Target != 0 && rule != "" {
		return fmt.Errorf("target: %v %s", d.Target, rule)
	}
	return nil
}

// dilationRule returns the rule that a measured dilation breaks, or nothing.
func dilationRule(dilation float64) string {
	if !(dilation >= MinDilation && dilation <= MaxDilation) { // also catches NaN
		return fmt.Sprintf("is not between %v and %v: a dilation is the time taken in company over the time taken alone, and noise takes it no further below 1",
			MinDilation, float64(MaxDilation))
	}
	return ""
}
