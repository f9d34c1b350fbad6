package measurement

import (
	"math"
	"testing"

	"loadline.dev/loadline/apis/loadline/v1alpha1"
)

// A resource that favours the target: this waits less than its share, and presses more.
// The loading is the work that was done for it, 1.4 · (1 − 1/1.8), but for memory, which
// need not do as much.
func TestTheLoadingIsTheWorkOfResourcesThatConserveIt(t *testing.T) {
	t.Parallel()
	const slower, probeSlower = 1.4, 1.8
	for job, want := range map[string]float64{
		v1alpha1.ProbeCPU:             slower * (1 - 1/probeSlower),
		v1alpha1.ProbeDiskRead:        slower * (1 - 1/probeSlower),
		v1alpha1.ProbeDiskWrite:       slower * (1 - 1/probeSlower),
		v1alpha1.ProbeNetwork:         slower * (1 - 1/probeSlower),
		v1alpha1.ProbeMemoryBandwidth: slower - 1,
	} {
		in := &input{
			profile:  filecomp(),
			settings: &settings{resources: []probed{{Name: "it", Job: job, Threads: 1}}},
		}
		in.profile.Status.Measuring = &v1alpha1.MeasurementProgress{Node: "gone"}
		for round := range int32(3) {
			in.profile.Status.Measuring.Samples = append(in.profile.Status.Measuring.Samples,
				v1alpha1.MeasurementSample{Round: new(round + 1), Step: "alone", TargetNanos: new(int64(10e9))},
				v1alpha1.MeasurementSample{Round: new(round + 1), Step: "beside-it", TargetNanos: new(int64(slower * 10e9)), ProbeDilation: quantity(probeSlower)})
		}
		e, err := in.estimate(3)
		if err != nil || len(e.resources) != 1 {
			t.Fatalf("%s: %+v, %v", job, e, err)
		}
		if got := e.resources[0]; math.Abs(got.Loading.Value-want) > 1e-9 || math.Abs(got.Pressure.Value-(probeSlower-1)) > 1e-9 {
			t.Errorf("%s: loading %v and pressure %v, want %.4f and %.4f", job, got.Loading, got.Pressure, want, probeSlower-1)
		}
	}
}

// A target that is alone for 10 s and computes for 6 s of it, beside a probe that dilates
// it 1.6 times on processors that are slower by then.
func TestSlowerProcessorsAreNoContention(t *testing.T) {
	t.Parallel()
	const alone, computing, dilation = 10e9, 6e9, 1.6
	for name, test := range map[string]struct {
		job     string
		threads int
		ran     float64 // beside the probe
		neutral float64 // there
	}{
		"as fast":                   {v1alpha1.ProbeCPU, 1, computing, alone},
		"slower":                    {v1alpha1.ProbeCPU, 1, 1.1 * computing, alone + 0.1*computing},
		"faster":                    {v1alpha1.ProbeCPU, 1, 0.9 * computing, alone - 0.1*computing},
		"several threads at once":   {v1alpha1.ProbeCPU, 2, 1.1 * computing, alone + 0.05*computing},
		"more than frequencies do":  {v1alpha1.ProbeCPU, 1, 1.5 * computing, alone},
		"what memory slows counts":  {v1alpha1.ProbeMemoryBandwidth, 1, 1.1 * computing, alone},
		"not known of all its work": {v1alpha1.ProbeCPU, 1, 0, alone},
	} {
		samples := []v1alpha1.MeasurementSample{
			{Round: new(int32(1)), Step: "alone", TargetNanos: new(int64(alone)), TargetCPUNanos: new(int64(computing))},
			{Round: new(int32(1)), Step: "beside-it", TargetNanos: new(int64(dilation * test.neutral)), ProbeDilation: quantity(1.6)},
			{Round: new(int32(2)), Step: "alone", TargetNanos: new(int64(alone)), TargetCPUNanos: new(int64(computing))},
		}
		if test.ran > 0 {
			samples[1].TargetCPUNanos = new(int64(test.ran))
		}
		told, err := pairs(&probed{Name: "it", Job: test.job, Threads: test.threads}, samples, 1, nil, 1)
		if err != nil || len(told) != 1 {
			t.Fatalf("%s: %v, %v", name, told, err)
		}
		if got := told[0].Target; math.Abs(got-dilation) > 1e-9 {
			t.Errorf("%s: dilated %v times, want %v", name, got, dilation)
		}
	}
}
