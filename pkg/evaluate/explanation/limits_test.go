package explanation

import (
	"testing"

	"loadline.dev/loadline/apis/config"
	"loadline.dev/loadline/apis/loadline/v1alpha1"
	"loadline.dev/loadline/test/given"
)

// limited is twoJobs with a profile that promises the first pod as little as can be, and has all importance there is.
func limited(t *testing.T, limits config.Limits) *Answer {
	t.Helper()
	in := twoJobs(t)
	spec := &in.Workloads[0].Spec
	spec.SLA, spec.Importance = &v1alpha1.SLA{MaxDilation: given.Quantity("1")}, given.Quantity("100")
	in.Limits = limits
	e, err := OfPod(asked(t, in))
	if err != nil {
		t.Fatal(err)
	}
	return e
}

func TestTheOperatorLimitsWhatAProfileAsksFor(t *testing.T) {
	t.Parallel()
	free := limited(t, config.Limits{})
	if *free.MaxDilation != 1 || free.MaxDilationReason != "" || *free.Importance != 100 || free.ProfileImportance != nil {
		t.Errorf("without limits: %v (%s), %v of %v", *free.MaxDilation, free.MaxDilationReason, *free.Importance, free.ProfileImportance)
	}
	e := limited(t, config.Limits{MinMaxDilation: 1.25, MaxImportance: 1})
	const why = "the scheduler's lowest, 1.25×, in place of its profile's 1.00×"
	if *e.MaxDilation != 1.25 || e.MaxDilationReason != why || *e.Importance != 1 || *e.ProfileImportance != 100 {
		t.Errorf("with limits: %v (%s), %v of %v", *e.MaxDilation, e.MaxDilationReason, *e.Importance, *e.ProfileImportance)
	}
	if *free.Dilation != *e.Dilation || free.Nodes[1].Cost <= e.Nodes[1].Cost {
		t.Errorf("dilated %v and %v, at a cost of %v and %v", *free.Dilation, *e.Dilation, free.Nodes[1].Cost, e.Nodes[1].Cost)
	}
}

// On one processor the threads of a pod wait for each other alone, too; on four they would not.
func TestALimitIsThatOfTheNode(t *testing.T) {
	t.Parallel()
	for processors, want := range map[string]float64{"1": 1.5, "2": 3, "64": 6} {
		in := twoJobs(t)
		in.Workloads[0].Spec.Resources[0].Threads = new(int32(4))
		for i := range in.Nodes {
			in.Nodes[i].Status.Allocatable = cores(processors)
		}
		if e, err := OfPod(asked(t, in)); err != nil || *e.MaxDilation != want {
			t.Errorf("on %s: %v, %v", processors, *e.MaxDilation, err)
		}
	}
}
