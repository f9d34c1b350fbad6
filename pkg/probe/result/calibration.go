package result

import "fmt"

// Calibration is how many requests a resource of a node serves at once: the least
// intensity at which two copies of a standard job slow each other down to half their
// speed.
type Calibration struct {
	Version int `json:"version"`
	// Job is one of [Jobs].
	Job string `json:"job"`
	// BootID is the kernel's boot id.
	BootID string `json:"bootID"`
	// Servers is that intensity, 0 if no intensity that was tried saturates the
	// resource.
	Servers int `json:"servers"`
	// UnitsPerSecond is the speed of one copy alone at that intensity, or at the
	// highest that was tried.
	UnitsPerSecond float64 `json:"unitsPerSecond"`
	// Dilation is how many times slower each of two such copies is, DilationError half
	// the width of its 95 % confidence interval.
	Dilation      float64 `json:"dilation"`
	DilationError float64 `json:"dilationError"`
	// Curve holds every intensity that was tried, in order of intensity.
	Curve []Point `json:"curve"`
}

// Point is the dilation of each of two copies of a job at an intensity.
type Point struct {
	Intensity int     `json:"intensity"`
	Dilation  float64 `json:"dilation"`
}

// ParseCalibration reads what [Encode] made of a calibration. Its errors name the
// field, or are [ErrTruncated].
func ParseCalibration(message string) (Calibration, error) { return parse[Calibration](message) }

func (c Calibration) validate() error {
	var rules rules
	rules.job("job", c.Job)
	rules.bootID(c.BootID)
	rules.notNegative("servers", int64(c.Servers))
	rules.amount("unitsPerSecond", c.UnitsPerSecond)
	rules.amount("dilation", c.Dilation)
	rules.amount("dilationError", c.DilationError)
	for i, p := range c.Curve {
		rules.require(p.Intensity >= 1, "curve[%d].intensity: %d is not at least 1", i, p.Intensity)
		rules.require(i == 0 || p.Intensity > c.Curve[i-1].Intensity, "curve[%d].intensity: %d is not above the one before", i, p.Intensity)
		rules.amount(fmt.Sprintf("curve[%d].dilation", i), p.Dilation)
	}
	return rules.err()
}
