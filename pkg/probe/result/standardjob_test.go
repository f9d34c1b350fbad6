package result

import (
	"testing"

	"github.com/google/go-cmp/cmp"
)

func TestAResourceIsKeptBusyByItsFirstJobOrByTheOneOfItsName(t *testing.T) {
	t.Parallel()
	for resource, want := range map[string]string{
		"cpu": CPU, "disk": DiskRead, "network": Network, "memory-bandwidth": MemoryBandwidth, "llc": LLC, "tape": "tape",
	} {
		if got := DefaultJob(resource); got != want {
			t.Errorf("%s is kept busy by %s, want %s", resource, got, want)
		}
	}
}

func TestAJobOfAnotherNameIsNoStandardJob(t *testing.T) {
	t.Parallel()
	job, ok := FindJob("tape")
	if diff := cmp.Diff(StandardJob{Name: "tape", Conserving: true}, job); diff != "" || ok {
		t.Errorf("it is found: %v (-want +got):\n%s", ok, diff)
	}
}
