package result

import "fmt"

// PressureCalibration is how much a standard job at an interference resource, the bubble, slows another of its kind down,
// the reporter, on another processor of the same domain. What slows the reporter down as much has the same pressure.
type PressureCalibration struct {
	Version int `json:"version"`
	// Job is one of [Jobs] for which [InterferenceResource] names a resource.
	Job string `json:"job"`
	// BootID is the kernel's boot id.
	BootID string `json:"bootID"`
	// Domains is how many the node has of the resource, at least 1.
	Domains int `json:"domains"`
	// Processors are that of the reporter and that of the bubble.
	Processors []int `json:"processors"`
	// Rounds is how many times each level was measured.
	Rounds int `json:"rounds"`
	// NanosPerUnit is the processor time of a unit of the reporter alone, in nanoseconds.
	NanosPerUnit float64 `json:"nanosPerUnit"`
	// Curve holds the levels, by pressure.
	Curve []PressurePoint `json:"curve"`
	// Shows says that the bubble at full pressure slows its reporter down by more than the error: else the reporter tells
	// nothing of others.
	Shows bool `json:"shows"`
}

// PressurePoint is a level of a calibration.
type PressurePoint struct {
	// Pressure is the fraction of its time that the bubble presses, above 0 and at most 1.
	Pressure float64 `json:"pressure"`
	// Inflation is the reporter's processor time per unit beside the bubble over that without it, at least 1, and Error
	// half the width of its 95 % confidence interval.
	Inflation float64 `json:"inflation"`
	Error     float64 `json:"error"`
}

// clearly is up to which error an inflation of about 1 says that a single core cannot saturate the resource.
const clearly = 0.1

// Finding returns in a sentence what the node shows at the resource. The curve must not be empty.
func (c PressureCalibration) Finding() string {
	last := c.Curve[len(c.Curve)-1]
	slows := fmt.Sprintf("%s at full pressure slows another down by %.2f ± %.2f", c.Job, last.Inflation, last.Error)
	switch {
	case c.Shows:
		return slows
	case last.Error > clearly:
		return "noise hides what happens at " + c.resource() + " here, measure for longer: " + slows
	default:
		return "a single core cannot saturate " + c.resource() + " here: " + slows
	}
}

// resource returns the name of the interference resource.
func (c PressureCalibration) resource() string {
	resource, _ := InterferenceResource(c.Job)
	return resource
}

func (c PressureCalibration) validate() error {
	var rules rules
	rules.job("job", c.Job)
	rules.require(c.resource() != "", "job: %q presses at no interference resource", c.Job)
	rules.bootID(c.BootID)
	rules.require(c.Domains >= 1, "domains: %d is not at least 1", c.Domains)
	rules.require(len(c.Processors) == 2, "processors: there are %d, not 2", len(c.Processors))
	rules.require(c.Rounds >= 1, "rounds: %d is not at least 1", c.Rounds)
	rules.amount("nanosPerUnit", c.NanosPerUnit)
	rules.require(len(c.Curve) > 0, "curve: there is no level")
	before := PressurePoint{0, 1, 0}
	for i, p := range c.Curve {
		field := fmt.Sprintf("curve[%d].", i)
		rules.require(p.Pressure > before.Pressure && p.Pressure <= 1, "%spressure: %v is not above the one before and at most 1", field, p.Pressure)
		rules.require(p.Inflation >= before.Inflation, "%sinflation: %v is not at least %v, that of the one before", field, p.Inflation, before.Inflation)
		rules.amount(field+"inflation", p.Inflation)
		rules.amount(field+"error", p.Error)
		before = p
	}
	return rules.err()
}
