package experiment

import (
	"math"
	"testing"
)

// A target that is alone for 10 s and computes for 6 s of it, beside a probe that dilates
// it 1.6 times on processors that are slower by then.
func TestSlowerProcessorsAreNoContention(t *testing.T) {
	t.Parallel()
	const alone, computing, dilation = 10e9, 6e9, 1.6
	for name, test := range map[string]struct {
		cpu     bool
		threads int
		ran     float64 // beside the probe
		neutral float64 // there
	}{
		"as fast":                   {true, 1, computing, alone},
		"slower":                    {true, 1, 1.1 * computing, alone + 0.1*computing},
		"faster":                    {true, 1, 0.9 * computing, alone - 0.1*computing},
		"several threads at once":   {true, 2, 1.1 * computing, alone + 0.05*computing},
		"more than frequencies do":  {true, 1, 1.5 * computing, alone},
		"what memory slows counts":  {false, 1, 1.1 * computing, alone},
		"not known of all its work": {true, 1, 0, alone},
	} {
		samples := []Sample{
			{Round: 1, Step: Alone, TargetNanos: alone, TargetCPUNanos: computing},
			{Round: 1, Step: Beside("it"), TargetNanos: dilation * test.neutral, TargetCPUNanos: test.ran, ProbeDilation: 1.6},
			{Round: 2, Step: Alone, TargetNanos: alone, TargetCPUNanos: computing},
		}
		told, err := Resource{Name: "it", CPU: test.cpu, Servers: 1, Threads: test.threads}.dilations(samples, 1, nil)
		if err != nil || len(told) != 1 {
			t.Fatalf("%s: %v, %v", name, told, err)
		}
		if got := told[0].Target; math.Abs(got-dilation) > 1e-9 {
			t.Errorf("%s: dilated %v times, want %v", name, got, dilation)
		}
	}
}
