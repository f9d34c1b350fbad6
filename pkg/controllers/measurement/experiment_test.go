package measurement

import (
	"math"
	"testing"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

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
		in := newInput(filecomp(), nil, metav1.Time{})
		in.settings = &settings{resources: []probed{{Name: "it", Job: job, Threads: 1}}}
		in.profile.Status.Measuring = &v1alpha1.MeasurementProgress{Node: "gone"}
		for round := range int32(3) {
			in.profile.Status.Measuring.Samples = append(in.profile.Status.Measuring.Samples,
				v1alpha1.MeasurementSample{Round: new(round + 1), Step: "alone", TargetNanos: new(int64(10e9))},
				v1alpha1.MeasurementSample{Round: new(round + 1), Step: "beside-it", TargetNanos: new(int64(slower * 10e9)), ProbeDilation: quantity(probeSlower)})
		}
		result, err := (&measuring{in}).estimate(in.profile.Status.Measuring.Samples, 3)
		if err != nil || len(result.Components) != 1 {
			t.Fatalf("%s: %+v, %v", job, result, err)
		}
		if got := result.Components[0]; math.Abs(got.Loading.Value-want) > 1e-9 || math.Abs(got.Pressure.Value-(probeSlower-1)) > 1e-9 {
			t.Errorf("%s: loading %v and pressure %v, want %.4f and %.4f", job, got.Loading, got.Pressure, want, probeSlower-1)
		}
	}
}
